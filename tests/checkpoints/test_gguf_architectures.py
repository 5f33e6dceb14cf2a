"""What the code of llama.cpp says of an architecture beside the settings of a file: the model type
that it stands for, which layers have windows, and which are rotated, and how.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf.constants import MODEL_ARCH_NAMES
from transformers import CONFIG_MAPPING

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.formats.gguf.architectures import MODEL_TYPES
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.families import TURN_NEIGHBOURS_IN_GGUF
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.pair_order import pair_order
from generator.contracts import Encoding
from generator.encodings import Rotation
from generator.reading.evidence import look_closely
from generator.reading.find import find
from generator.reading.questions import unresolved
from tests.gguf_files import write

Settings = dict[str, Any]
# Architectures of the gguf package that no config class of transformers stands for.
WITHOUT_CLASS = frozenset(
    {"arctic", "arwkv7", "baichuan", "bailingmoe", "bailingmoe2", "clip", "codeshell", "cogvlm",
     "deci", "deepseek", "deepseek2-ocr", "dream", "grok", "grovemoe", "internlm2",
     "jais", "llada", "llada-moe", "maincoder", "minicpm", "neo-bert", "openelm", "orion",
     "pangu-embedded", "plamo", "plamo2", "plamo3", "plm", "qwen", "refact", "rnd1", "rwkv6",
     "rwkv6qwen2", "rwkv7", "smallthinker", "wavtokenizer-dec", "xverse"}
)  # fmt: skip
SIZES: Settings = {
    "block_count": 8, "context_length": 256, "embedding_length": 64, "attention.head_count": 4,
    "attention.key_length": 16, "rope.freq_base": 1e6, "vocab_size": 100,
}  # fmt: skip
WINDOW: Settings = {"attention.sliding_window": 32}
PATTERN = "attention.sliding_window_pattern"
YARN: Settings = {
    "rope.scaling.type": "yarn", "rope.scaling.factor": 8.0,
    "rope.scaling.original_context_length": 64,
}  # fmt: skip


def files_of(
    folder: Path, architecture: str, given: Settings, tensors: dict[str, Any] | None = None
) -> FolderFiles:
    write(folder / "x.gguf", architecture, {**SIZES, **given}, tensors)
    return FolderFiles(Folder(folder, "here"), "here")


def encodings(files: FolderFiles) -> list[Encoding[Any]]:
    return list(find(files))


def asked(files: FolderFiles) -> tuple[str, ...]:
    return unresolved(files, look_closely(files))


def rotations(files: FolderFiles) -> dict[str, Encoding[Any]]:
    """By the kind of their layers."""
    return {one.part.partition(" ")[2]: one for one in encodings(files) if one.scheme == "rotary"}


# Architectures of llama.cpp at 0c1e5709 that the library gguf does not know.
NEWER = {"deepseek32", "muse-glimmer", "nanbeige"} - {*MODEL_ARCH_NAMES.values()}


def test_every_architecture_is_of_a_config_class_or_known_to_be_of_none() -> None:
    types = {name: MODEL_TYPES.get(name, name) for name in MODEL_ARCH_NAMES.values()}
    assert {name for name, kind in types.items() if kind not in CONFIG_MAPPING} == WITHOUT_CLASS


def test_pairs_of_neighbours_are_of_architectures_that_there_are() -> None:
    """Of a file of DeepSeek-V3, of the architecture deepseek2, another setting tells the type."""
    names = {*MODEL_ARCH_NAMES.values(), *NEWER}
    types = {MODEL_TYPES.get(name, name) for name in names}
    assert types | {"deepseek_v3"} >= TURN_NEIGHBOURS_IN_GGUF


# Layers without a window, of eight: load_arch_hparams of each architecture in src/models, and
# set_swa_pattern in src/llama-hparams.cpp.
DENSE: list[tuple[str, Settings, set[int]]] = [
    ("gemma2", {}, {1, 3, 5, 7}),
    ("gpt-oss", {}, {1, 3, 5, 7}),
    *((name, {}, {3, 7}) for name in ("afmoe", "cohere2", "exaone4", "exaone-moe", "olmo2")),
    ("gemma3n", {}, {4}),
    *((name, {}, {5}) for name in ("gemma3", "gemma-embedding")),
    ("laguna", {}, {0, 4}),
    ("laguna", {PATTERN: 3}, {0, 3, 6}),
    *((name, {PATTERN: 3}, {2, 5}) for name in ("gemma2", "gemma3", "cohere2", "exaone4", "olmo2")),
    ("cohere2", {PATTERN: 1}, set(range(8))),
    ("gemma2", {PATTERN: 0}, set()),
    ("gemma3", {PATTERN: [True, False] * 4}, {1, 3, 5, 7}),
    ("plamo3", {PATTERN: 4}, {3, 7}),
    ("smallthinker", {}, {0, 4}),
]  # fmt: skip


@pytest.mark.parametrize(("architecture", "given", "expected"), DENSE)
def test_layers_with_a_window_are_those_of_a_number_in_the_file_or_the_code(
    architecture: str, given: Settings, expected: set[int], tmp_path: Path
) -> None:
    files = files_of(tmp_path, architecture, {**WINDOW, **given})
    layers = layer_map(files, find(files))
    assert {one.index for one in layers if "sliding" not in one.mixers} == expected


@pytest.mark.parametrize("architecture", ["olmo2", "laguna"])
def test_a_scaling_is_of_the_layers_without_a_window_alone(
    architecture: str, tmp_path: Path
) -> None:
    """freq_scale 1, ext_factor 0 in src/models/olmo2.cpp and laguna.cpp."""
    found = rotations(files_of(tmp_path, architecture, {**WINDOW, **YARN}))
    assert {name: (one.form.base, one.form.rope_type) for name, one in found.items()} == {
        "full attention": (1e6, "yarn"),
        "sliding attention": (1e6, "default"),
    }


def test_olmo_2_without_windows_is_scaled_everywhere(tmp_path: Path) -> None:
    files = files_of(tmp_path, "olmo2", YARN)
    [encoding] = encodings(files)
    assert (files.config.family, encoding.form.rope_type) == ("olmo2", "yarn")
    assert encoding.layers == tuple(range(8))


@pytest.mark.parametrize(("given", "local"), [({"rope.freq_base_swa": 2e4}, 2e4), ({}, 1e4)])
def test_plamo_3_has_a_base_for_each_kind_of_layer(
    given: Settings, local: float, tmp_path: Path
) -> None:
    """Without a window there is one (src/models/plamo3.cpp)."""
    found = rotations(files_of(tmp_path, "plamo3", {**WINDOW, PATTERN: 4, **given}))
    assert {one.form.base for one in found.values()} == {1e6, local}
    kinds = files_of(tmp_path, "plamo3", WINDOW).config.listed("layer_types")
    assert kinds.index("full_attention") == 7
    [encoding] = encodings(files_of(tmp_path, "plamo3", {}))
    assert encoding.form.base == 1e6


def test_layers_of_step_3_5_without_a_window_turn_half_of_a_head(tmp_path: Path) -> None:
    """n_rot_full / 2, and the first factors of the shared tensor (src/models/step35.cpp)."""
    given = {**WINDOW, PATTERN: [True, True, True, False] * 2, "rope.freq_base_swa": 1e4}
    stored = {"rope_freqs.weight": np.linspace(1.0, 8.0, 8, dtype=np.float32)}
    found = rotations(files_of(tmp_path, "step35", {**given, "rope.dimension_count": 16}, stored))
    full, local = found["full attention"].form, found["sliding attention"].form
    assert (full.base, full.rotary_dim, local.base, local.rotary_dim) == (1e6, 8, 1e4, 16)
    np.testing.assert_allclose(full.frequencies, 1e6 ** -(np.arange(4) / 4) / [1, 2, 3, 4])
    assert local.rope_type == "default"


@pytest.mark.parametrize("architecture", ["granite", "granitemoe", "granitehybrid"])
@pytest.mark.parametrize("is_rotated", [True, False, None])
def test_a_setting_of_granite_switches_the_rotation(
    architecture: str, is_rotated: bool | None, tmp_path: Path
) -> None:
    """rope_finetuned in src/models/granite.cpp and granite-hybrid.cpp; true by default."""
    given = {} if is_rotated is None else {"rope.scaling.finetuned": is_rotated}
    heads = [0, 0, 0, 2] * 2 if architecture == "granitehybrid" else 2
    files = files_of(tmp_path, architecture, {**given, "attention.head_count_kv": heads})
    layers = {one.layers for one in rotations(files).values()}
    rotated = (3, 7) if architecture == "granitehybrid" else tuple(range(8))
    assert layers == (set() if is_rotated is False else {rotated})


def test_a_window_of_0_turns_off_the_chunks_of_llama_4(tmp_path: Path) -> None:
    """src/models/llama4.cpp; any other has chunks of 8192."""
    [encoding] = encodings(files_of(tmp_path, "llama4", {"attention.sliding_window": 0}))
    assert (encoding.layers, encoding.form.window) == (tuple(range(8)), None)
    found = {one.scheme: one for one in encodings(files_of(tmp_path, "llama4", {}))}
    assert found["rotary"].layers == (0, 1, 2, 4, 5, 6)
    assert found["rotary"].form.window == 8192


@pytest.mark.parametrize("architecture", ["dream", "llada", "llada-moe", "rnd1"])
def test_language_models_of_diffusion_see_both_sides(architecture: str, tmp_path: Path) -> None:
    """causal_attn in src/models."""
    [encoding] = encodings(files_of(tmp_path, architecture, {}))
    assert encoding.stack == "encoder"


def test_text_models_of_vision_models_are_not_the_whole(tmp_path: Path) -> None:
    """A fourth axis is one of hunyuan_vl, whose sections are of all pairs together."""
    [encoding] = encodings(
        files_of(tmp_path, "hunyuan_vl", {"rope.dimension_sections": [2, 2, 2, 2]})
    )
    assert encoding.form.scaling["mrope_section"] == [2, 2, 2, 2]
    [encoding] = encodings(
        files_of(tmp_path, "paddleocr", {"rope.dimension_sections": [2, 3, 3, 0]})
    )
    assert encoding.form.scaling["mrope_section"] == [2, 3, 3]


ENCODER: Settings = {
    "clip.has_vision_encoder": True, "clip.vision.block_count": 4, "clip.vision.patch_size": 14,
    "clip.vision.embedding_length": 64, "clip.vision.attention.head_count": 4,
    "clip.vision.image_size": 224, "clip.vision.feed_forward_length": 128,
}  # fmt: skip
PATCHES = {"v.patch_embd.weight": np.zeros((64, 3, 14, 14), dtype=np.float32)}
TABLE = {
    "v.position_embd.weight": np.random.default_rng(0).normal(size=(256, 64)).astype(np.float32)
}
# tools/mtmd/models of llama.cpp; pixtral turns rows and columns apart.
PROJECTORS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("mlp", TABLE, ["learned"]),
    ("gemma3", TABLE, ["learned"]),
    ("pixtral", {}, ["rotary_2d", "rotary_2d"]),
    ("qwen2vl_merger", {}, ["rotary_2d"]),
    ("qwen2.5vl_merger", {}, ["rotary_2d"]),
    ("qwen3vl_merger", TABLE, ["learned", "rotary_2d"]),
    ("llama4", TABLE, ["learned", "rotary_2d"]),
]


@pytest.mark.parametrize(("projector", "table", "schemes"), PROJECTORS)
@pytest.mark.parametrize("key", ["clip.projector_type", "clip.vision.projector_type"])
def test_an_encoder_of_images_is_that_of_its_projector(
    key: str, projector: str, table: dict[str, Any], schemes: list[str], tmp_path: Path
) -> None:
    """All that rotate have base 10,000."""
    write(tmp_path / "x.gguf", "clip", {**ENCODER, key: projector}, {**PATCHES, **table})
    files = FolderFiles(Folder(tmp_path, "here"), "here")
    found = encodings(files)
    assert sorted(one.scheme for one in found) == schemes
    assert {(one.modality, one.stack) for one in found} == {("image", "encoder")}
    rotated = [one.form for one in found if one.scheme == "rotary_2d"]
    assert {(form.base, form.head_dim) for form in rotated} <= {(1e4, 16)}
    assert not any("not ruled out" in sentence for sentence in asked(files))


@pytest.mark.parametrize("table", [TABLE, {}])
def test_of_an_encoder_of_another_projector_a_rotation_is_not_ruled_out(
    table: dict[str, Any], tmp_path: Path
) -> None:
    settings = {**ENCODER, "clip.projector_type": "kimivl"}
    write(tmp_path / "x.gguf", "clip", settings, {**PATCHES, **table})
    files = FolderFiles(Folder(tmp_path, "here"), "here")
    assert any("a rotation of queries and keys is not ruled out" in one for one in asked(files))


def test_whole_images_are_seen_by_one_layer_in_so_many(tmp_path: Path) -> None:
    """n_wa_pattern in tools/mtmd/models/qwen2vl.cpp; none has a window without it."""
    kind = {**ENCODER, "clip.projector_type": "qwen2.5vl_merger"}
    for given, whole in (({"clip.vision.n_wa_pattern": 2}, [1, 3]), ({}, [0, 1, 2, 3])):
        write(tmp_path / "x.gguf", "clip", {**kind, **given}, PATCHES)
        config = FolderFiles(Folder(tmp_path, "here"), "here").config
        assert config.settings["fullatt_block_indexes"] == whole


@pytest.mark.parametrize("architecture", sorted(MODEL_ARCH_NAMES.values()))
def test_what_a_file_leaves_out_is_of_llama_cpp(architecture: str, tmp_path: Path) -> None:
    """Base 10,000 for each architecture that rotates (load_hparams in src/llama-model.cpp), and a
    question on each that is not known.
    """
    sizes = {**SIZES, "embedding_length": 256, "attention.key_length": 64}
    del sizes["rope.freq_base"]
    write(tmp_path / "x.gguf", architecture, sizes)
    files = FolderFiles(Folder(tmp_path, "here"), "here")
    found = look_closely(files)
    rotations = [one for one in found.measured if isinstance(one.form, Rotation)]
    assert {form.base for one in rotations if isinstance(form := one.form, Rotation)} <= {1e4}
    origins = {one.origins["base"].default_of for one in rotations if "base" in one.origins}
    assert origins <= {"llama.cpp"}
    assert found.all or asked(files)


def test_heads_of_a_drafter_of_gemma_4_are_of_two_sizes(tmp_path: Path) -> None:
    """``n_embd_head_k_swa`` in src/llama-hparams.cpp."""
    own = {"attention.key_length": 32, "attention.key_length_swa": 16, "rope.freq_base_swa": 1e4}
    pattern = {**WINDOW, PATTERN: [True, True, True, False] * 2}
    found = rotations(files_of(tmp_path, "gemma4-assistant", {**own, **pattern}))
    assert {part: one.form.head_dim for part, one in found.items()} == {
        "sliding attention": 16,
        "full attention": 32,
    }


@pytest.mark.parametrize("architecture", ["chatglm", "gemma", "qwen3", "glm4"])
def test_heads_without_a_size_are_the_width_by_their_number(
    architecture: str, tmp_path: Path
) -> None:
    """``n_embd_head_k_full`` in src/llama-model.cpp, whatever the class in transformers has."""
    sizes = {name: value for name, value in SIZES.items() if name != "attention.key_length"}
    write(tmp_path / "x.gguf", architecture, {**sizes, "rope.dimension_count": 8})
    files = FolderFiles(Folder(tmp_path, "here"), "here")
    [one] = [one.form for one in encodings(files) if isinstance(one.form, Rotation)]
    assert (one.rotary_dim, one.head_dim) == (8, 16)


def test_layers_with_n_grams_of_qwen_have_a_convolution_too(tmp_path: Path) -> None:
    """conversion/qwen4exp.py"""
    layers = [layer % 4 < 3 for layer in range(8)]
    own = {"ple.layers": [1], "ple.conv_kernel": 4, "ple.eos_token_id": 2}
    given = {**own, "attention.recurrent_layers": layers, "full_attention_interval": 4}
    files = files_of(tmp_path, "qwen4exp", given)
    mixers = [layer.mixers for layer in layer_map(files, find(files))]
    assert [index for index, each in enumerate(mixers) if "convolution" in each] == [1]


@pytest.mark.parametrize(
    ("heads", "attend"),
    [([0, 0, 2, 0] * 2, [2, 6]), ([0] * 5 + [2, 0, 0], [5]), ([0, 2, 0, 2] * 2, [1, 3, 5, 7])],
)
def test_layers_of_jamba_attend_where_they_have_heads_for_keys(
    heads: list[int], attend: list[int], tmp_path: Path
) -> None:
    """conversion/jamba.py"""
    files = files_of(tmp_path, "jamba", {"attention.head_count_kv": heads})
    layers = layer_map(files, find(files))
    assert [one.index for one in layers if "full" in one.mixers] == attend


# Architectures whose code is llama.cpp's own or an engine's: the components that turn, the layers
# that do, and the order of pairs (llama_model_rope_type in src/llama-model.cpp).
@pytest.mark.parametrize(
    ("architecture", "given", "expected"),
    [
        ("openelm", {"attention.head_count": [4] * 8}, (16, range(8), "halves")),
        ("grovemoe", {}, (16, range(8), "halves")),
        (
            "plm",
            {"attention.kv_lora_rank": 16, "rope.dimension_count": 8},
            (8, range(8), "adjacent"),
        ),
        ("smallthinker", WINDOW, (16, (1, 2, 3, 5, 6, 7), "halves")),
        ("smallthinker", {}, (16, range(8), "halves")),
        ("eagle3", {"block_count": 1, "target_layers": [2, 4, 6]}, (16, (0,), "adjacent")),
        ("dflash", {"block_count": 2, "target_layers": [2, 4, 6]}, (16, (0, 1), None)),
        ("minimax-m3", {"rope.dimension_count": 8}, (8, range(8), None)),
    ],
)
def test_rotations_of_other_architectures(
    architecture: str, given: Settings, expected: tuple[Any, ...], tmp_path: Path
) -> None:
    turned, layers, order = expected
    files = files_of(tmp_path, architecture, given)
    [one] = [one for one in encodings(files) if isinstance(one.form, Rotation)]
    assert (one.form.rotary_dim, one.layers, one.form.base) == (turned, tuple(layers), 1e6)
    assert pair_order(files, [one]) == (order, False)
    assert not any("is unknown" in sentence for sentence in asked(files))


def test_layers_of_minimax_m3_choose_blocks_after_the_dense_ones(tmp_path: Path) -> None:
    given = {"leading_dense_block_count": 3, "rope.dimension_count": 8}
    files = files_of(tmp_path, "minimax-m3", given)
    kinds = [layer.type for layer in layer_map(files, find(files))]
    assert kinds == ["full attention"] * 3 + ["minimax m3 sparse"] * 5
