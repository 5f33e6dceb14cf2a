from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.encodings import PositionTable
from generator.errors import RowError
from generator.schemes import axial
from generator.schemes.axial import composed, find
from tests.listening import as_numbers, made, read
from tests.support import DictFiles, form_of

FIRST, SECOND = (
    "reformer.embeddings.position_embeddings.weights.0",
    "reformer.embeddings.position_embeddings.weights.1",
)
SIZE: dict[str, Any] = {
    "vocab_size": 40, "hidden_size": 16, "num_attention_heads": 2, "attention_head_size": 8,
    "feed_forward_size": 16, "attn_layers": ["local"],
    "axial_pos_shape": (4, 8), "axial_pos_embds_dim": (6, 10), "local_attn_chunk_length": 4,
    "is_decoder": True,
}  # fmt: skip
BAD = [
    ((4, 1, 6), (8, 10)),
    ((4, 2, 6), (1, 8, 10)),
    ((4, 1, 6), (2, 8, 10)),
    ((4, 6), (1, 8, 10)),
    ((0, 1, 6), (1, 8, 10)),
]


def test_a_grid_of_two_by_two_by_hand() -> None:
    table = composed(np.array([[[1.0]], [[2.0]]]), np.array([[[3.0], [4.0]]]))
    assert table.tolist() == [[1.0, 3.0], [1.0, 4.0], [2.0, 3.0], [2.0, 4.0]]


def test_the_table_equals_what_reformer_adds(tmp_path: Path) -> None:
    import torch

    model = made("ReformerModel", **SIZE)
    (encoding,) = read(find, model, tmp_path).values()
    form = form_of(encoding, PositionTable)
    assert (form.grid, encoding.record.is_of_words) == ((4, 8), True)
    theirs = as_numbers(model.embeddings.position_embeddings(torch.arange(32)[None]))[0]
    np.testing.assert_allclose(form.vectors, theirs, rtol=0, atol=1e-6)


def test_a_long_table_is_cut_to_whole_rows_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axial, "MOST_VALUES", 300)
    (encoding,) = find(DictFiles({}, {FIRST: np.zeros((4, 1, 6)), SECOND: np.zeros((1, 8, 10))}))
    assert form_of(encoding, PositionTable).vectors.shape == (16, 16)
    assert "Only the first 16 of 32 positions are shown." in encoding.notes


def test_a_row_that_is_too_long_is_a_row_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axial, "MOST_VALUES", 100)
    with pytest.raises(RowError, match=r"test: .*expected at most"):
        find(DictFiles({}, {FIRST: np.zeros((4, 1, 6)), SECOND: np.zeros((1, 8, 10))}))


@pytest.mark.parametrize(("first", "second"), BAD)
def test_a_mismatch_of_tensors_and_config_is_a_row_error(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    with pytest.raises(RowError, match=r"test: .*expected"):
        find(DictFiles({}, {FIRST: np.zeros(first), SECOND: np.zeros(second)}))


def test_a_first_tensor_without_its_second_is_a_row_error() -> None:
    with pytest.raises(RowError, match=r"test: .*expected"):
        find(DictFiles({}, {FIRST: np.zeros((4, 1, 6))}))


def test_a_config_without_axial_positions_has_no_table() -> None:
    assert find(DictFiles({"axial_pos_embds": False}, {FIRST: np.zeros((4, 1, 6))})) == []
