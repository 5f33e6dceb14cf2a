"""How many positions a text may have, against the classes of transformers, which fail at the next
token.
"""

import json
from typing import Any

import pytest
import torch
from transformers import CONFIG_MAPPING, AutoModel

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.facts import TITLES, facts
from generator.contracts import Atlas, Files, usable_length
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.model_rows import dated_models, rows
from generator.encyclopedia.reach import sight_rows
from generator.reading.find import all_schemes, look
from tests.encyclopedia.guests import guests

N_ROWS, WORD = 12, 5
SIZES = {
    "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
    "vocab_size": 40, "max_position_embeddings": N_ROWS,
}  # fmt: skip
OF_BOTH_SIDES = {
    "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16,
}  # fmt: skip
# By family: what it needs beside, and rows of ``max_position_embeddings`` that are no positions.
FAMILIES: dict[str, tuple[dict[str, Any], int]] = {
    **dict.fromkeys(
        ("roberta", "camembert", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "mpnet",
         "data2vec-text", "ibert"),
        ({}, 2),
    ),
    "longformer": ({"attention_window": [4]}, 2),
    "esm": ({"position_embedding_type": "absolute", "pad_token_id": 1}, 2),
    "luke": ({"entity_vocab_size": 5, "entity_emb_size": 4}, 2),
    "layoutlmv3": ({"coordinate_size": 2, "shape_size": 4}, 2),
    "markuplm": ({}, 1),
    "bert": ({}, 0),
    "bart": (OF_BOTH_SIDES, 0),
    "mbart": (OF_BOTH_SIDES, 0),
    "opt": ({"ffn_dim": 16, "word_embed_proj_dim": 16}, 0),
    "biogpt": ({}, 0),
}  # fmt: skip
# Positions and, where the config counts more rows, these.
PUBLISHED = {
    "FacebookAI/roberta-base": (512, 514), "FacebookAI/xlm-roberta-base": (512, 514),
    "almanach/camembert-base": (512, 514), "microsoft/mpnet-base": (512, 514),
    "sentence-transformers/all-mpnet-base-v2": (512, 514),
    "facebook/esm1b_t33_650M_UR50S": (1024, 1026), "BAAI/bge-m3": (8192, 8194),
    "allenai/longformer-base-4096": (4096, 4098), "facebook/bart-base": (1024, None),
    "google-bert/bert-base-uncased": (512, None), "facebook/opt-125m": (2048, None),
}  # fmt: skip
ROWS = {row["id"]: row for row in json.loads(GUEST.shipped() or "{}")["models"]}


def of(files: Files) -> int | None:
    return usable_length(files.config.size("n_positions"), look(files).all)


@pytest.mark.parametrize("family", FAMILIES)
def test_one_token_more_is_an_error_of_transformers(family: str) -> None:
    more, n_others = FAMILIES[family]
    config = CONFIG_MAPPING[family](**SIZES, **more)
    padding = {"pad_token_id": config.pad_token_id} if config.pad_token_id is not None else {}
    files = ConfigAlone({"model_type": family, **SIZES, **more, **padding}, family)
    length = N_ROWS - n_others
    assert of(files) == length
    model = AutoModel.from_config(config).eval()
    with torch.no_grad():
        model(torch.full((1, length), WORD))
        with pytest.raises((IndexError, RuntimeError), match=r"index|expanded size"):
            model(torch.full((1, length + 1), WORD))


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models_have_positions_and_not_rows(name: str) -> None:
    row, (length, rows) = ROWS[name], PUBLISHED[name]
    assert (row["context"], row["table_rows"]) == (length, rows)
    assert row["sees"] == length or "sliding" in row["kinds"]


def test_every_view_of_models_shows_positions() -> None:
    name = "FacebookAI/roberta-base"
    table = json.dumps({"models": [ROWS[name]]}).encode()
    atlas = Atlas((), (), all_schemes(), guests=guests(table))
    cell = next(one for one in rows(atlas)[0].cells if one.text == "512")
    assert (cell.value, cell.hint) == (512, "of 514 rows")
    [sight] = sight_rows(atlas)
    assert (sight.context, sight.sees, sight.note) == (512, 512, "of 514 rows")
    assert [bar.positions for bar in sight.bars] == [512]
    assert [model.context for model in dated_models(atlas)] == [512]


def test_a_rotation_has_no_rows() -> None:
    """ESM-2's config counts two more as well, but nothing of it is a table."""
    config = {"model_type": "esm", **SIZES, "position_embedding_type": "rotary", "pad_token_id": 1}
    assert of(ConfigAlone(config, "test")) == N_ROWS
    assert of(ConfigAlone({"model_type": "bert"}, "test")) is None


def test_the_fact_of_a_checkpoint_is_the_usable_length() -> None:
    files = ConfigAlone({"model_type": "roberta", **SIZES, "pad_token_id": 1}, "test")
    given = {fact.name: fact.value for fact in facts(files.resolved, look(files).all)}
    assert given[TITLES["n_positions"]] == N_ROWS - 2
