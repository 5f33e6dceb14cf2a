"""The settings of GGUF files as those of a config.json, and the scaling of a rotation that is
stored as a tensor.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import CONFIG_MAPPING
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.formats.gguf import architectures
from generator.checkpoints.files.formats.gguf.header import Header, Span, Unread
from generator.checkpoints.files.formats.gguf.rope import recognised
from generator.checkpoints.files.formats.gguf.settings import NAMES, config
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import ModelConfig
from generator.encodings import Rotation
from generator.errors import RowError
from generator.reading.find import find, look
from generator.reading.questions import unresolved
from generator.schemes.rotary import SCHEME
from tests.gguf_files import write

Settings = dict[str, Any]
# Architectures of which transformers reads the settings, and what a file of each says.
SMALL = {
    "block_count": 6, "context_length": 256, "embedding_length": 64, "attention.head_count": 4,
    "attention.head_count_kv": 2,
}  # fmt: skip
ROTARY = {
    **SMALL, "rope.freq_base": 50_000.0, "feed_forward_length": 96,
    "attention.layer_norm_rms_epsilon": 1e-6, "vocab_size": 100,
}  # fmt: skip
OF_WORDS = {**SMALL, "vocab_size": 100}
WIDE_HEADS = {**ROTARY, "attention.key_length": 32}
READ_BY_TRANSFORMERS: dict[str, Settings] = {
    "llama": {**ROTARY, "rope.dimension_count": 16},
    "qwen2": ROTARY,
    "qwen2moe": ROTARY,
    "qwen3": ROTARY,
    "qwen3moe": WIDE_HEADS,
    "falcon": ROTARY,
    "phi3": {**ROTARY, "rope.dimension_count": 16, "attention.sliding_window": 0},
    "bloom": OF_WORDS,
    "t5": {**OF_WORDS, "attention.key_length": 16, "attention.relative_buckets_count": 16},
    "stablelm": {**SMALL, "rope.dimension_count": 4, "vocab_size": 100},
    "gpt2": OF_WORDS,
    "starcoder2": SMALL,
    "mamba": OF_WORDS,
    "nemotron": {**ROTARY, "rope.dimension_count": 8},
    "gemma2": {**WIDE_HEADS, "attention.sliding_window": 32},
    "gemma3": {**WIDE_HEADS, "attention.sliding_window": 32},
    "gpt-oss": {**ROTARY, "attention.sliding_window": 32},
    "lfm2": {**ROTARY, "attention.head_count_kv": [0, 0, 2, 0, 0, 2]},
    "minimax-m2": {**WIDE_HEADS, "rope.dimension_count": 16},
}
COMPARED = (
    "num_hidden_layers", "hidden_size", "num_attention_heads", "max_position_embeddings",
    "vocab_size", "head_dim",
)  # fmt: skip
# transformers 5 has the former as n_ctx, which its config class ignores, and takes the latter of
# its class, where llama.cpp divides the width by the heads.
NOT_COMPARED = {
    "gpt2": {"max_position_embeddings"},
    **{family: {"head_dim"} for family in ("qwen3", "gpt-oss")},
}


@pytest.mark.parametrize("architecture", READ_BY_TRANSFORMERS)
def test_sizes_are_those_that_transformers_reads(architecture: str, tmp_path: Path) -> None:
    given = {
        **READ_BY_TRANSFORMERS[architecture],
        "general.name": "small",
        "tokenizer.ggml.tokens": [str(index) for index in range(100)],
    }
    tensors = {"output.weight": np.zeros((2, 2), dtype=np.float32)}
    path = write(tmp_path / "x.gguf", architecture, given, tensors)
    theirs = dict(load_gguf_checkpoint(path)["config"])
    ours = FolderFiles(Folder(tmp_path, "here"), "here").config
    assert ours.family == theirs["model_type"]
    their_class = CONFIG_MAPPING[ours.family].from_dict(theirs)
    our_class = CONFIG_MAPPING[ours.family].from_dict(dict(ours.settings))
    for name in COMPARED:
        if name not in NOT_COMPARED.get(architecture, ()) and hasattr(their_class, name):
            assert getattr(our_class, name) == getattr(their_class, name), name
    if "rope.freq_base" in given and architecture != "gemma3":
        bases = [each.rope_parameters["rope_theta"] for each in (our_class, their_class)]
        assert bases == [50_000.0] * 2
    assert getattr(our_class, "layer_types", None) == getattr(their_class, "layer_types", None)


def settings_of(
    tmp_path: Path, architecture: str, given: Settings, tensors: dict[str, Any] | None = None
) -> ModelConfig:
    """The config that a file says."""
    write(tmp_path / "x.gguf", architecture, given, tensors)
    return FolderFiles(Folder(tmp_path, "here"), "here").config


def test_an_unknown_architecture_keeps_its_name_and_its_sizes(tmp_path: Path) -> None:
    config = settings_of(tmp_path, "unheard-of", {**ROTARY, "rope.dimension_count": 8})
    sizes = [config.size("d_model"), config.size("n_layers"), config.size("n_positions")]
    assert (config.family, sizes) == ("unheard-of", [64, 6, 256])
    [encoding] = find(FolderFiles(Folder(tmp_path, "here"), "here"))
    form = encoding.form
    assert isinstance(form, Rotation)
    assert (form.base, form.rotary_dim, form.head_dim) == (50_000.0, 8, 16)


WORDS = {"token_embd.weight": np.zeros((7, 4), dtype=np.float32)}
ONES = {"rope_freqs.weight": np.ones(8, dtype=np.float32)}
BY_LAYER = {"attention.head_count": [4, 8, 6], "attention.head_count_kv": [1, 2, 2]}
# Architecture, settings and tensors of a file, and settings of config.json that they make.
SAID: list[tuple[str, Settings, dict[str, Any], Settings]] = [
    ("", {"tokenizer.ggml.tokens": ["a", "b"]}, {}, {"model_type": "", "vocab_size": 2}),
    ("openelm", {**SMALL, **BY_LAYER}, {}, {"num_attention_heads": 8, "num_key_value_heads": 2}),
    ("llama", {}, WORDS, {"vocab_size": 7}),
    ("llama", {"tokenizer.ggml.tokens": ["a"] * 5}, WORDS, {"vocab_size": 5}),
    ("llama", {**ROTARY, "rope.scale_linear": 4.0}, {},
     {"rope_parameters": {"rope_theta": 50_000.0, "partial_rotary_factor": 1.0,
                          "rope_type": "linear", "factor": 4.0}}),
    ("llama", ROTARY, ONES,
     {"rope_parameters": {"rope_theta": 50_000.0, "partial_rotary_factor": 1.0,
                          "rope_type": "default"}}),
]  # fmt: skip


def test_settings_are_those_that_a_file_says(tmp_path: Path) -> None:
    for architecture, said, tensors, expected in SAID:
        config = settings_of(tmp_path, architecture, said, tensors)
        assert {name: config.settings.get(name) for name in expected} == expected


def test_a_tokenizer_in_the_file_is_read(tmp_path: Path) -> None:
    write(tmp_path / "x.gguf", "llama", {"tokenizer.huggingface.json": '{"version": "1.0"}'})
    files = FolderFiles(Folder(tmp_path, "here"), "here")
    assert files.read("tokenizer.json") == b'{"version": "1.0"}'


def test_a_t5_with_a_bias_in_every_layer_is_umt5(tmp_path: Path) -> None:
    bias = np.zeros((32, 4), dtype=np.float32)
    tensors = {
        f"{stack}.blk.{layer}.attn_rel_b.weight": bias
        for stack in ("enc", "dec")
        for layer in range(2)
    }
    assert settings_of(tmp_path, "t5", SMALL, tensors).family == "umt5"
    parts = [encoding.part for encoding in find(FolderFiles(Folder(tmp_path, "here"), "here"))]
    assert parts == ["encoder layer 0", "encoder layer 1", "decoder layer 0", "decoder layer 1"]
    write(tmp_path / "x.gguf", "t5encoder", SMALL, {"enc.blk.0.attn_rel_b.weight": bias})
    [encoding] = find(FolderFiles(Folder(tmp_path, "here"), "here"))
    assert (encoding.part, encoding.stack, encoding.scheme) == ("encoder", "encoder", "t5_bias")
    files = FolderFiles(Folder(tmp_path, "here"), "here")
    layers = layer_map(files, [encoding])
    assert {(layer.part, layer.before, layer.after) for layer in layers} == {
        ("encoder", None, None)
    }
    assert list(unresolved(files, look(files))) == []


# Scaling of Llama 3: factor, edges, number of pairs.
SCALED = {
    "Llama 3.1": (8.0, 1.0, 4.0, 64),
    "Llama 3.2": (32.0, 1.0, 4.0, 32),
    "Llama 4": (16.0, 1.0, 1.0, 64),
}


@pytest.mark.parametrize(("factor", "low", "high", "n_pairs"), SCALED.values(), ids=SCALED)
def test_stored_factors_of_llama_3_are_recognised(
    factor: float, low: float, high: float, n_pairs: int
) -> None:
    parameters = {
        "rope_type": "llama3", "factor": factor, "low_freq_factor": low, "high_freq_factor": high,
    }  # fmt: skip
    sizes = (500_000.0, 2 * n_pairs, 2 * n_pairs, 131_072)
    given = Rotation(*sizes, {**parameters, "original_max_position_embeddings": 8192})
    factors = given.unscaled_frequencies / given.frequencies
    stored = np.asarray(factors, dtype=np.float32).astype(np.float64)
    stored[np.abs(stored - 1.0) < 1e-6] = 1.0  # The converter writes 1 for these.
    found = recognised(stored, 500_000.0, 8192)
    assert found["rope_type"] == "llama3"
    np.testing.assert_allclose(Rotation(*sizes, found).frequencies, given.frequencies, rtol=2e-5)
    expected = {**parameters, "factor": pytest.approx(factor, rel=1e-6)}
    assert {key: found[key] for key in parameters} == expected


def test_factors_that_no_rule_explains_are_taken_as_they_are(tmp_path: Path) -> None:
    stored = np.random.default_rng(0).uniform(1.0, 9.0, 8).astype(np.float32)
    settings = {**ROTARY, "rope.dimension_count": 16}
    write(tmp_path / "x.gguf", "llama", settings, {"rope_freqs.weight": stored})
    [encoding] = find(FolderFiles(Folder(tmp_path, "here"), "here"))
    assert isinstance(encoding.form, Rotation)
    assert encoding.form.rope_type == "stored"
    expected = 50_000.0 ** -(np.arange(8) / 8)
    np.testing.assert_allclose(encoding.form.frequencies * stored, expected, rtol=1e-12)
    assert "is divided by its factor in rope_freqs.weight; all 16" in encoding.notes[0]


@pytest.mark.parametrize("shape", [(0,), (2, 2), (2**16 + 1,)])
def test_factors_of_another_shape_are_refused(shape: tuple[int, ...], tmp_path: Path) -> None:
    stored = {"rope_freqs.weight": np.ones(shape, dtype=np.float32)}
    with pytest.raises(RowError, match="expected a number for each pair"):
        settings_of(tmp_path, "llama", ROTARY, stored)


# Settings and stored factors of a rotation that cannot be.
NO_ROTATIONS: dict[str, tuple[Settings, int]] = {
    '"stored"': ({}, 5),
}
UNKNOWN_ROTATIONS: dict[str, tuple[Settings, int]] = {
    "unheard of": ({"rope.scaling.type": "unheard of", "rope.scaling.factor": 2.0}, 0),
    "linear and stored": ({"rope.scaling.type": "linear", "rope.scaling.factor": 2.0}, 8),
}


def _scaled(folder: Path, scaling: Settings, n_factors: int) -> FolderFiles:
    stored = np.linspace(1.0, 9.0, n_factors, dtype=np.float32)
    tensors = {"rope_freqs.weight": stored} if n_factors else {}
    write(folder / "x.gguf", "llama", {**ROTARY, "rope.dimension_count": 16, **scaling}, tensors)
    return FolderFiles(Folder(folder, "here"), "here")


@pytest.mark.parametrize(("kind", "case"), UNKNOWN_ROTATIONS.items())
def test_a_scaling_that_is_not_known_is_not_shown_as_another(
    kind: str, case: tuple[Settings, int], tmp_path: Path
) -> None:
    files = _scaled(tmp_path, *case)
    assert find(files) == []
    assert [kind in question for question in SCHEME.asks(files)] == [True]


@pytest.mark.parametrize(("message", "case"), NO_ROTATIONS.items())
def test_a_scaling_that_does_not_fit_is_not_shown_as_another(
    message: str, case: tuple[Settings, int], tmp_path: Path
) -> None:
    with pytest.raises(RowError, match=f"^here: .*{message}"):
        find(_scaled(tmp_path, *case))


KEYS = [
    *sorted({*NAMES, *(key for names in architectures.OWN_NAMES.values() for key in names)}),
    "attention.causal", "attention.max_alibi_bias", "attention.q_lora_rank",
    "attention.key_length_mla", "attention.sliding_window_pattern",
    "attention.temperature_scale", "expert_gating_func", "rope.dimension_count",
    "rope.dimension_sections", "rope.freq_base",
    "rope.freq_base_swa", "rope.scaling.finetuned", "rope.scale_linear",
    "rope.scaling.attn_factor", "rope.scaling.factor",
    "rope.scaling.original_context_length",
    "rope.scaling.type", "rope.scaling.yarn_attn_factor", "rope.scaling.yarn_log_multiplier",
]  # fmt: skip
words = st.sampled_from(["", "linear", "yarn", "longrope", "none"])
scalars = st.booleans() | st.integers(-(2**63), 2**64) | st.floats() | words
elements = (st.integers(-9, 9), st.floats(), st.booleans())
lists = st.one_of(*(st.lists(each, max_size=4) for each in elements)).map(tuple)
any_value = scalars | lists | st.builds(Unread, st.integers(0, 9))
any_numbers = st.lists(st.floats(), min_size=1, max_size=9)
ARCHITECTURES = sorted({
    *architectures.MODEL_TYPES, *architectures.OWN, *architectures.UNSAID,
    *architectures.OWN_NAMES, *architectures.BY_KIND,
    *architectures.PERIODS, "llama", "qwen2",
})  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(ARCHITECTURES),
    st.dictionaries(st.sampled_from(KEYS), any_value),
    any_numbers,
    st.booleans(),
)
def test_settings_of_any_value_make_a_config(
    architecture: str, given: Settings, numbers: list[float], is_short: bool
) -> None:
    two = ("rope_factors_short.weight", "rope_factors_long.weight")
    names = two if is_short else ("rope_freqs.weight",)
    spans = {name: Span("F32", (len(numbers),), 0, 0) for name in names}
    keys = {f"{architecture}.{key}": value for key, value in given.items()}
    keys["general.architecture"] = architecture
    made = config(Header(keys, spans), lambda _: np.array(numbers))
    assert isinstance(json.loads(json.dumps(made)), dict)


def test_settings_within_a_file_of_weights_are_said_to_come_from_it(tmp_path: Path) -> None:
    write(tmp_path / "model.gguf", "llama", ROTARY)
    [encoding] = find(FolderFiles(Folder(tmp_path, "here"), "here"))
    assert encoding.provenance.file == "model.gguf"
    assert encoding.notes[0].startswith("No tensor is stored; all 16 components")
    assert encoding.provenance.file == "model.gguf"


def test_a_config_that_a_row_gives_takes_the_place_of_the_settings_within_a_file(
    tmp_path: Path,
) -> None:
    write(tmp_path / "model.gguf", "llama", ROTARY)
    given = json.dumps({"model_type": "gpt2", "n_positions": 8})
    choice = Choice(name="model.gguf")
    config = FolderFiles(Folder(tmp_path, "here"), "here", choice, config=given).config
    assert (config.family, config.source) == ("gpt2", "config.json")


@pytest.mark.parametrize(
    ("architecture", "beside", "said"),
    [
        ("llama", {"rope.dimension_count": 20}, "is 20, and a head has 16 components; expected as"),
        ("llama", {"rope.dimension_count": 8}, "is 8, and a head has 16 components; expected as"),
        ("qwen3", {"rope.dimension_count": 40, "attention.key_length": 32}, "expected at most as"),
    ],
)
def test_more_rotated_components_than_a_head_has_are_refused(
    architecture: str, beside: Settings, said: str, tmp_path: Path
) -> None:
    """llama-model.cpp of llama.cpp ("invalid n_rot"), and ggml_compute_forward_rope."""
    path = write(tmp_path / "model.gguf", architecture, {**ROTARY, **beside})
    with pytest.raises(RowError, match=said):
        FolderFiles(tmp_path, "own", Choice(name=path.name))
