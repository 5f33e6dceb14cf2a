from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from generator.schemes.deberta import buckets, find
from tests.listening import WAVES, as_numbers, by_pair, made, read
from tests.support import close

N = 40  # Farther than any of the spans below.
WIDTHS = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
          "intermediate_size": 16}  # fmt: skip
ASKED = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_position_embeddings": 24,
         "position_biased_input": False}  # fmt: skip
SIZE: dict[str, Any] = {**WIDTHS, **ASKED}
BUCKETED = {**SIZE, "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True}
MODELS: list[tuple[str, dict[str, Any]]] = [
    ("DebertaModel", SIZE),
    ("DebertaModel", {**SIZE, "max_relative_positions": 10}),
    ("DebertaV2Model", SIZE),
    ("DebertaV2Model", BUCKETED),
    ("DebertaV2Model",
     {**BUCKETED, "norm_rel_ebd": "none", "max_relative_positions": 12, "share_att_key": False}),
    ("SEWDModel", {**WAVES, **BUCKETED, "squeeze_factor": 1}),
]  # fmt: skip


def encoder_of(model: Any) -> Any:
    return model.encoder if hasattr(model.encoder, "rel_embeddings") else model.encoder.encoder


@pytest.mark.parametrize(
    ("n_buckets", "max_position"), [(256, 512), (8, 24), (10, 12), (32, 1000), (255, 4096)]
)
def test_buckets_equal_those_of_transformers(n_buckets: int, max_position: int) -> None:
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    offsets = np.arange(-max_position, max_position + 1)
    theirs = (
        make_log_bucket_position(torch.from_numpy(offsets), n_buckets, max_position).long().numpy()
    )
    assert_array_equal(buckets(offsets, n_buckets, max_position), theirs)


@pytest.mark.parametrize(("name", "options"), MODELS)
def test_each_pair_has_the_vector_of_the_model(name: str, options: Any, tmp_path: Path) -> None:
    model = made(name, **options)
    (encoding,) = read(find, model, tmp_path).values()
    encoder = encoder_of(model.double())
    relative = encoder.get_rel_pos(torch.zeros(1, N, 16))[0]
    rows = encoder.get_rel_embedding()
    theirs = as_numbers(rows[torch.clamp(relative + len(rows) // 2, 0, len(rows) - 1)])
    close(by_pair(encoding, N), theirs, 1e-12)


@pytest.mark.parametrize("version", [1, 2])
def test_the_attention_adds_products_with_these_vectors(version: int, tmp_path: Path) -> None:
    sizes = {**BUCKETED, "share_att_key": False} if version == 2 else SIZE
    model = made("DebertaV2Model" if version == 2 else "DebertaModel", **sizes)
    (encoding,) = read(find, model, tmp_path).values()
    attention, encoder = model.double().encoder.layer[0].attention.self, model.encoder
    query, key = torch.randn(2, 2, N, 8, dtype=torch.float64)  # heads, positions, width
    tables = encoder.get_rel_pos(torch.zeros(1, N, 16)), encoder.get_rel_embedding()
    if version == 2:
        theirs = attention.disentangled_attention_bias(query, key, *tables, 3)
        names, divided = ("pos_key_proj", "pos_query_proj"), (1, 1)
    else:
        theirs = attention.disentangled_att_bias(query[None], key[None], *tables, 3)[0]
        names, divided = ("pos_proj", "pos_q_proj"), (0, 1)
    vectors, scale = torch.tensor(by_pair(encoding, N)), (3 * 8) ** 0.5
    towards, away = (
        getattr(attention, name)(vectors).view(N, N, 2, 8) / scale**power
        for name, power in zip(names, divided, strict=True)
    )
    ours = torch.einsum("hqd,qkhd->hqk", query, towards) + torch.einsum("hkd,qkhd->hqk", key, away)
    # It takes √ in single precision.
    close(ours, theirs)
