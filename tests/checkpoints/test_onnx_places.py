"""Tensors that an export has renamed or folded, identified by their place in the graph."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper

from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Encoding
from generator.encodings import Form
from generator.numerics.arrays import Array
from generator.reading.find import find
from tests.checkpoints.onnx_files import exported, model, opened, tensors_of

RANDOM = np.random.default_rng(0)
WORDS = RANDOM.normal(size=(12, 4)).astype(np.float32)
TABLE = RANDOM.normal(size=(8, 4)).astype(np.float32)
IDS = {"input_ids": TensorProto.INT64}
node = helper.make_node
NUMBERS = {"zero": np.array(0), "one": np.array(1), "two": np.array(2)}
ROWS = node("Gather", ["words", "input_ids"], ["rows"])
PART = node("Add", ["rows", "part"], ["sum"])


def found(
    folder: Path, nodes: Sequence[Any], inputs: dict[str, int] | None = None, **arrays: Array
) -> FolderFiles:
    """The files of a graph with a word table, a few numbers, and ``arrays`` under names that begin
    with onnx::.
    """
    named = {name.replace("__", "::"): array for name, array in arrays.items()}
    initialisers = tensors_of({"words": WORDS, **NUMBERS, **named})
    return opened(folder, model(nodes, initialisers, inputs or IDS))


def table_of(files: FolderFiles) -> Array | None:
    """The only table of positions; None without one."""
    [*tables] = [name for name in files.tensors if "position_embeddings" in name]
    assert len(tables) < 2
    return files.tensor(tables[0]) if tables else None


# Ways in which rows by position reach the sum with the rows of the words.
ADDED: dict[str, list[Any]] = {
    "whole": [node("Add", ["rows", "onnx::T"], ["sum"])],
    "first": [node("Add", ["onnx::T", "rows"], ["sum"])],
    "a slice of it": [node("Slice", ["onnx::T", "zero", "two"], ["part"]), PART],
    "times √d before": [
        node("Mul", ["rows", "two"], ["scaled"]),
        node("Add", ["scaled", "onnx::T"], ["sum"]),
    ],
    "after the types": [
        node("Gather", ["words", "zero"], ["type"]),
        node("Add", ["rows", "type"], ["typed"]),
        node("Add", ["typed", "onnx::T"], ["sum"]),
    ],
}


@pytest.mark.parametrize("nodes", ADDED.values(), ids=ADDED)
def test_the_table_that_is_added_to_words_is_found(nodes: list[Any], tmp_path: Path) -> None:
    files = found(tmp_path, [ROWS, *nodes], onnx__T=TABLE)
    np.testing.assert_array_equal(table_of(files), TABLE)
    [note] = files.notes("embeddings.position_embeddings.weight")
    assert "added to the rows of the word table. The file calls it “onnx::T”." in note


class FixedLength(torch.nn.Module):
    """A model whose positions an export of one length folds to a tensor of that many rows."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.wpe = torch.nn.Embedding(12, 16), torch.nn.Embedding(24, 16)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.words(values) + self.wpe(torch.arange(values.shape[1])))


def test_rows_that_an_export_of_one_length_has_folded_are_those_of_the_table(
    tmp_path: Path,
) -> None:
    inner, made = FixedLength(), tmp_path / "made.onnx"
    with warnings.catch_warnings(action="ignore"):  # Of the exporter's age.
        torch.onnx.export(inner, (torch.arange(8)[None],), made, dynamo=False, input_names=["ids"])
    stored = table_of(opened(tmp_path, made.read_bytes()))
    np.testing.assert_array_equal(stored, inner.wpe.weight[:8].detach().double())


# The same places with something else in them, or with two tensors that can be it.
NOT_ADDED: dict[str, list[Any]] = {
    "two candidates": [
        node("Add", ["rows", "onnx::T"], ["typed"]),
        node("Add", ["typed", "onnx::U"], ["sum"]),
    ],
    "multiplied": [node("Mul", ["rows", "onnx::T"], ["sum"])],
    "times a number": [node("Mul", ["onnx::T", "two"], ["part"]), PART],
    "after a product": [
        node("MatMul", ["rows", "square"], ["other"]),
        node("Add", ["other", "onnx::T"], ["sum"]),
    ],
    "another width": [node("Add", ["rows", "onnx::W"], ["sum"])],
}


@pytest.mark.parametrize("nodes", NOT_ADDED.values(), ids=NOT_ADDED)
def test_no_table_is_taken_from_an_ambiguous_place_or_another_one(
    nodes: list[Any], tmp_path: Path
) -> None:
    arrays: dict[str, Any] = {
        "onnx__T": TABLE, "onnx__U": TABLE * 2, "onnx__W": TABLE[:, :3]
    }  # fmt: skip
    assert table_of(found(tmp_path, [ROWS, *nodes], **arrays)) is None


def test_rows_that_are_all_the_same_are_no_positions(tmp_path: Path) -> None:
    nodes = [ROWS, node("Add", ["rows", "onnx::U"], ["typed"])]
    nodes.append(node("Add", ["typed", "onnx::T"], ["sum"]))
    files = found(tmp_path, nodes, onnx__T=TABLE, onnx__U=TABLE[[0] * 8])
    np.testing.assert_array_equal(table_of(files), TABLE)


def test_a_name_that_schemes_know_stays(tmp_path: Path) -> None:
    arrays = tensors_of({"words": WORDS, "my.wpe.weight": TABLE})
    files = opened(tmp_path, model([ROWS, node("Add", ["rows", "my.wpe.weight"], ["sum"])], arrays))
    assert set(files.tensors) == {"words", "my.wpe.weight"}
    assert files.notes("my.wpe.weight") == ()


def only(files: FolderFiles) -> Encoding[Form]:
    [encoding] = find(files)
    return encoding


def test_two_tables_in_places_of_one_name_are_both_kept(tmp_path: Path) -> None:
    stem = "rotary_emb.cos_cached"
    cosines, sines = turned(10_000.0)
    fused = node("RotaryEmbedding", ["query", "onnx::cos", "onnx::sin", "position_ids"], ["out"])
    tensors = tensors_of({"onnx::cos": cosines, "onnx::sin": sines, stem: cosines * 2})
    kept = set(opened(tmp_path, model([fused], tensors)).tensors)
    assert kept == {"onnx::cos", "rotary_emb.sin_cached", stem}


def test_the_table_of_patches_that_dinov2_resizes_is_the_stored_one(tmp_path: Path) -> None:
    from transformers import Dinov2Config, Dinov2Model

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    inner = Dinov2Model(Dinov2Config(**sizes, image_size=48, patch_size=8))
    # 6 × 6 stored, and an image of 4 × 4.
    encoding = only(opened(tmp_path, exported(inner, torch.zeros(1, 3, 32, 32))))
    assert encoding.form.grid == (6, 6)
    stored = inner.embeddings.position_embeddings[0, 1:].detach().double().numpy()
    np.testing.assert_array_equal(encoding.form.numbers, stored)


@pytest.mark.parametrize("strides", [2, [2.0, 2.0], "2", [2], [4, 4]])
def test_a_convolution_whose_steps_are_not_its_kernel_cuts_no_patches(
    strides: Any, tmp_path: Path
) -> None:
    nodes = [
        node("Conv", ["pixels", "kernel"], ["grid"], strides=strides),
        node("Reshape", ["grid", "shape"], ["line"]),
        node("Transpose", ["line"], ["patches"], perm=[0, 2, 1]),
        node("Add", ["patches", "onnx::T"], ["sum"]),
    ]
    arrays = {"onnx__T": TABLE[None], "kernel": np.ones((4, 3, 2, 2), np.float32)}
    assert table_of(found(tmp_path, nodes, {"pixels": TensorProto.FLOAT}, **arrays)) is None
    nodes[0] = node("Conv", ["pixels", "kernel"], ["grid"], strides=[2, 2])
    assert table_of(found(tmp_path, nodes, {"pixels": TensorProto.FLOAT}, **arrays)) is not None


def llama() -> Any:
    from transformers import LlamaConfig, LlamaModel

    sizes = {
        "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8,
        "vocab_size": 12,
    }  # fmt: skip
    return LlamaModel(LlamaConfig(**sizes, rope_theta=5e5, use_cache=False))


def test_the_frequencies_of_a_rotation_are_found_and_agree_with_the_config(tmp_path: Path) -> None:
    inner = llama()
    proto = exported(inner, torch.arange(5)[None], attention_mask=torch.zeros(1, 1, 5, 5))
    alone = only(opened(tmp_path / "a", proto))
    beside = only(opened(tmp_path / "b", proto, inner.config.to_dict()))
    theirs = inner.rotary_emb.inv_freq.double().numpy()
    np.testing.assert_allclose(alone.form.numbers, theirs, rtol=1e-6)
    assert alone.provenance.tensor == "model.rotary_emb.inv_freq"
    assert "same frequencies in “model.rotary_emb.inv_freq”; all 16 comp" in beside.notes[0]


def turned(base: float, n_positions: int = 40, n_pairs: int = 4) -> tuple[Array, Array]:
    """Cosines and sines in float32: (n_positions, n_pairs) each."""
    angles = np.arange(n_positions)[:, None] * base ** (-np.arange(n_pairs) / n_pairs)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def with_tables(folder: Path, cosines: Array, sines: Array) -> FolderFiles:
    """The files of a graph in which a query is multiplied by rows of two tables."""
    nodes = []
    for kind in ("cos", "sin"):
        nodes.append(node("Gather", [f"onnx::{kind}", "position_ids"], [f"{kind} rows"]))
        nodes.append(node("Mul", ["query", f"{kind} rows"], [f"{kind} out"]))
    inputs = {"query": TensorProto.FLOAT, "position_ids": TensorProto.INT64}
    return found(folder, nodes, inputs, onnx__cos=cosines, onnx__sin=sines)


@pytest.mark.parametrize(
    "spread",
    [
        lambda part: part,
        lambda part: np.hstack([part, part]),
        lambda part: np.repeat(part, 2, axis=1)[None, None],
    ],
)
def test_cached_cosines_and_sines_are_the_rotation_that_they_were_made_from(
    spread: Callable[[Array], Array], tmp_path: Path
) -> None:
    encoding = only(with_tables(tmp_path, *map(spread, turned(10_000.0))))
    assert (encoding.scheme, encoding.provenance.tensor) == ("rotary", "rotary_emb.cos_cached")
    assert encoding.form.parameters["base"] == 10_000.0
    assert encoding.form.extent == 40
    np.testing.assert_allclose(encoding.form.numbers, 10_000.0 ** (-np.arange(4) / 4), rtol=1e-6)


COSINES, SINES = turned(10_000.0)
NO_POWERS = np.arange(40)[:, None] * [1.0, 0.5, 0.4, 0.3]
NO_MULTIPLES = np.sqrt(np.arange(40))[:, None] * [1.0, 0.1]
NO_ROTATIONS = {
    "not on a circle": (COSINES * 0.9 + 0.1, SINES),
    "a sine elsewhere": (COSINES, SINES[::-1]),
    "not by powers of one base": (np.cos(NO_POWERS), np.sin(NO_POWERS)),
    "not by multiples": (np.cos(NO_MULTIPLES), np.sin(NO_MULTIPLES)),
}


@pytest.mark.parametrize(("cosines", "sines"), NO_ROTATIONS.values(), ids=NO_ROTATIONS)
def test_tables_that_are_no_rotation_are_not_shown_as_one(
    cosines: Array, sines: Array, tmp_path: Path
) -> None:
    assert find(with_tables(tmp_path, cosines.astype(np.float32), sines.astype(np.float32))) == []


def test_biases_of_windows_that_an_export_has_unfolded_are_those_of_safetensors(
    tmp_path: Path,
) -> None:
    from transformers import SwinConfig, SwinModel

    torch.manual_seed(0)
    sizes = {"image_size": 32, "patch_size": 4, "embed_dim": 8, "window_size": 4}
    inner = SwinModel(SwinConfig(**sizes, depths=[2, 2], num_heads=[2, 4]))
    for name, parameter in inner.named_parameters():
        if name.endswith("table"):  # Zeros would be the same in all layers.
            torch.nn.init.normal_(parameter)
    inner.save_pretrained(tmp_path / "safe")
    ours = opened(tmp_path, exported(inner, torch.zeros(1, 3, 32, 32)), inner.config.to_dict())
    pairs = list(zip(find(ours), find(FolderFiles(tmp_path / "safe", "here")), strict=True))
    assert len(pairs) == 4
    for mine, theirs in pairs:
        assert (mine.part, mine.scheme) == (theirs.part, "window_bias")
        name = str(theirs.provenance.tensor).replace("attention.self", "attention")
        assert mine.provenance.tensor == f"model.{name}"
        np.testing.assert_array_equal(mine.form.numbers, theirs.form.numbers)
    assert "each of the 256 pairs of patches" in ours.notes(str(pairs[0][0].provenance.tensor))[1]


def bias_of(kind: str) -> Array:
    """Biases of two heads for 9 positions, query by key: by offset along a line, for itself alone
    by pair, and by offset in a square.
    """
    position, heads = np.arange(9), np.arange(1, 3)[:, None, None]
    offset = position[None, :] - position[:, None]
    square = np.exp(offset + 0.1 * (position[None, :] // 3 - position[:, None] // 3))
    kinds = {"line": np.exp(offset), "pairs": RANDOM.normal(size=(9, 9)), "square": square}
    return np.asarray(kinds[kind] * heads, dtype=np.float32)[None]


@pytest.mark.parametrize(("kind", "count"), [("line", 0), ("pairs", 0), ("square", 1)])
def test_only_what_depends_on_the_offset_in_a_square_is_a_bias_of_a_window(
    kind: str, count: int, tmp_path: Path
) -> None:
    names = [f"/layers.0/attention/{kind}_output_0" for kind in ("Add", "Softmax")]
    nodes = [node("Add", ["logits", "onnx::B"], names[:1]), node("Softmax", names[:1], names[1:])]
    values = {"onnx__B": np.round(bias_of(kind), 3)}
    assert len(find(found(tmp_path, nodes, {"logits": TensorProto.FLOAT}, **values))) == count


def by_microsoft(kind: str, *inputs: str) -> Any:
    return node(kind, inputs, ["out"], domain="com.microsoft")


TURN, PLACED = "RotaryEmbedding", ("onnx::cos", "onnx::sin")
FUSED: dict[str, tuple[Any, str]] = {
    "rotary_emb.cos_cached": (by_microsoft(TURN, "query", "position_ids", *PLACED), "rotary"),
    "rotary_emb.sin_cached": (node(TURN, ["query", *PLACED, "position_ids"], ["out"]), "rotary"),
}  # fmt: skip


def test_fused_operators_say_what_their_inputs_are(tmp_path: Path) -> None:
    cosines, sines = turned(10_000.0)
    for name, (operator, scheme) in FUSED.items():
        files = found(tmp_path / name, [operator], onnx__cos=cosines, onnx__sin=sines)
        assert name in files.tensors
        assert only(files).scheme == scheme, name


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0,), ()])
def test_tables_without_numbers_are_found_nowhere(shape: tuple[int, ...], tmp_path: Path) -> None:
    nodes = [
        node("RotaryEmbedding", ["query", "onnx::T", "onnx::T", "position_ids"], ["turned"]),
        node("Gather", ["onnx::T", "position_ids"], ["part"]),
        node("Add", ["query", "part"], ["sum"]),
    ]
    inputs = {"position_ids": TensorProto.INT64, "query": TensorProto.FLOAT, **IDS}
    files = found(tmp_path, nodes, inputs, onnx__T=np.zeros(shape, np.float32))
    assert set(files.tensors) == {"words", *NUMBERS, "onnx::T"}
