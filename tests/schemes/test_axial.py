from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from generator.encodings import PositionTable
from generator.schemes import axial
from generator.schemes.axial import find
from tests.listening import as_numbers, made, read
from tests.support import DictFiles, close, form_of

FIRST, SECOND = ("reformer.embeddings.position_embeddings.weights.0",
                 "reformer.embeddings.position_embeddings.weights.1")  # fmt: skip
SIZE: dict[str, Any] = {
    "vocab_size": 40, "hidden_size": 16, "num_attention_heads": 2, "attention_head_size": 8,
    "feed_forward_size": 16, "attn_layers": ["local"],
    "axial_pos_shape": (4, 8), "axial_pos_embds_dim": (6, 10), "local_attn_chunk_length": 4,
    "is_decoder": True,
}  # fmt: skip


def test_the_table_equals_what_reformer_adds(tmp_path: Path) -> None:
    model = made("ReformerModel", **SIZE)
    (encoding,) = read(find, model, tmp_path).values()
    form = form_of(encoding, PositionTable)
    assert (form.grid, encoding.record.is_of_words) == ((4, 8), True)
    theirs = as_numbers(model.embeddings.position_embeddings(torch.arange(32)[None]))[0]
    close(form.vectors, theirs)


def test_a_long_table_is_cut_to_whole_rows_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axial, "MOST_VALUES", 300)
    (encoding,) = find(DictFiles({}, {FIRST: np.zeros((4, 1, 6)), SECOND: np.zeros((1, 8, 10))}))
    assert form_of(encoding, PositionTable).vectors.shape == (16, 16)
    assert "Only the first 16 of 32 positions are shown." in encoding.notes
