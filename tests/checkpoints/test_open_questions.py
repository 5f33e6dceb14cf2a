"""What stays open about a checkpoint."""

from typing import Any

import numpy as np
import pytest

from generator.checkpoints.model.open_questions import open_questions
from generator.libraries import refusal
from generator.reading.find import all_schemes, find
from tests.support import DictFiles

BERT = {"model_type": "bert", "hidden_size": 64, "num_attention_heads": 2, "vocab_size": 100}
WEIGHTS = {"embeddings.position_embeddings.weight": np.eye(8, 4)}


def questions(config: dict[str, Any], arrays: dict[str, Any] | None = None) -> str:
    files = DictFiles(config, arrays or {})
    return " ".join(open_questions(files, find(files), all_schemes()))


def test_a_learned_encoding_without_weights_stays_open() -> None:
    assert "No weights were read" in questions(BERT)


def test_nothing_stays_open_where_a_table_was_read() -> None:
    assert questions({**BERT, "position_embedding_type": "absolute"}, WEIGHTS) == ""


@pytest.mark.parametrize(("word", "title"), [("relative_key", "Shaw"), ("sinusoidal", "Sinus")])
def test_a_scheme_that_is_named_and_not_found_stays_open(word: str, title: str) -> None:
    config = {**BERT, "position_embedding_type": word, "max_position_embeddings": 8}
    asked = questions(config, WEIGHTS)
    assert f"“{word}”" in asked
    assert title in asked


def test_a_config_that_its_family_refuses_stays_open() -> None:
    config = {**BERT, "model_type": "llama", "num_attention_heads": 3, "head_dim": 16}
    assert "rejects config.json" in questions({**config, "rope_theta": 1e4})
    of_text = {**config, "head_dim": 4, "num_attention_heads": "three"}
    assert "config.json (num_attention_heads has another type than it takes)" in questions(of_text)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (KeyError("Missing keys: {'c', 'a', 'b'}"), "Missing keys: 'a', 'b', 'c'"),
        (KeyError("silu_"), "it finds no “silu_”"),
        (TypeError("'<' not supported between 'float' and 'str'"),
         "a value has another type than it takes"),
        (ValueError(), "it gives no reason"),
    ],
)  # fmt: skip
def test_what_code_refuses_is_shown_without_the_words_of_python(
    error: Exception, shown: str
) -> None:
    assert refusal(error, 40) == shown
    assert len(refusal(ValueError("x" * 99), 40)) == 40


def test_no_encoding_is_not_claimed_beside_another() -> None:
    config = {**BERT, "model_type": "jamba", "layer_types": ["attention"] * 2}
    assert [encoding.scheme for encoding in find(DictFiles(config))] == ["none"]
    assert [
        encoding.scheme
        for encoding in find(DictFiles(config, {"embed_positions.weight": np.eye(8, 4)}))
    ] == ["learned"]


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"model_type": "mistral_large4_text"}, "logarithm of the position"),
        ({"model_type": "inkling2_text"}, "sink"),
        ({"model_type": "inkling2_loop_text"}, "several times"),
        (
            {"model_type": "chatglm", "num_layers": 2, "position_encoding_2d": True},
            "neither rotation was read",
        ),
    ],
)
def test_learned_numbers_that_no_scheme_reads_stay_open(
    settings: dict[str, Any], word: str
) -> None:
    assert word in questions({**BERT, **settings})
