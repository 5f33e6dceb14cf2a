"""All limits on the length of a text that the files of a checkpoint state."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.model.limits import limits, no_lengths
from generator.contracts import Limit
from generator.reading.find import find
from tests.support import save_folder

LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4,
    "vocab_size": 100, "max_position_embeddings": 64,
}  # fmt: skip
BERT: dict[str, Any] = {**LLAMA, "model_type": "roberta", "pad_token_id": 1}
TABLE = "roberta.embeddings.position_embeddings.weight"


def of(path: Path, settings: dict[str, Any], tensors: Any = None, **beside: Any) -> list[Limit]:
    texts = {f"{name}.json": json.dumps(content) for name, content in beside.items()}
    save_folder(path, settings, tensors or {"other": np.zeros(1)}, texts)
    files = FolderFiles(path, "own", Choice(name="model.safetensors"))
    return list(limits(files, find(files)))


def test_each_stands_beside_its_file_and_key_the_least_first(tmp_path: Path) -> None:
    """RoBERTa's table has two rows for padding and the offset."""
    found = of(
        tmp_path, BERT, {TABLE: np.random.default_rng(0).normal(size=(64, 64))},
        tokenizer_config={"model_max_length": 512}, sentence_bert_config={"max_seq_length": 48},
        tokenizer={"version": "1.0", "truncation": {"direction": "Right", "max_length": 32}},
        generation_config={"max_length": 20}, preprocessor_config={"max_length": True},
    )  # fmt: skip
    assert [(one.length, one.file, one.key) for one in found] == [
        (20, "generation_config.json", "max_length"),
        (32, "tokenizer.json", "truncation.max_length"),
        (48, "sentence_bert_config.json", "max_seq_length"),
        (62, "model.safetensors", TABLE),
        (64, "config.json", "max_position_embeddings"),
        (512, "tokenizer_config.json", "model_max_length"),
    ]
    assert found[3].text == f"62 by the rows of {TABLE}"


def test_a_length_that_no_text_has_is_no_limit(tmp_path: Path) -> None:
    *_, last = of(tmp_path, LLAMA, tokenizer_config={"model_max_length": 10**30})
    assert (last.length, last.text) == (
        None,
        "no limit by model_max_length in tokenizer_config.json",
    )


CUT: dict[str, Any] = {
    "direction": "Right", "max_length": 32, "strategy": "LongestFirst", "stride": 0
}  # fmt: skip
WORDS: dict[str, Any] = {"added_tokens": [], "model": {"type": "WordLevel", "vocab": {"a": 0},
                         "unk_token": "a"}}  # fmt: skip
NAMED = {"id": 0, "content": '"truncation":{"max_length":7}', "single_word": False, "lstrip": False,
         "rstrip": False, "normalized": False, "special": True}  # fmt: skip
# Texts of tokenizer.json that the library takes.
TOKENIZERS = {
    "none": json.dumps({"version": "1.0", "truncation": None, **WORDS}),
    "no such key": json.dumps({"version": "1.0", **WORDS}),
    "second": json.dumps({"version": "1.0", "truncation": CUT, **WORDS}),
    "last": json.dumps({"version": "1.0", **WORDS, "truncation": CUT}),
    "escaped": json.dumps({"truncation": CUT, **WORDS}).replace("trunc", "\\u0074runc"),
    "after others": json.dumps({"truncation": {"a": {"max_length": 3}, **CUT}, **WORDS}),
    "named by a token": json.dumps({**WORDS, "added_tokens": [NAMED]}),
    "and by a token before it": json.dumps({**WORDS, "added_tokens": [NAMED], "truncation": CUT}),
    "far behind": " " * 9999 + json.dumps({**WORDS, "truncation": CUT}),
    "0": json.dumps({"truncation": {**CUT, "max_length": 0}, **WORDS}),
    "the most": json.dumps({"truncation": {**CUT, "max_length": 2**64 - 1}, **WORDS}),
}  # fmt: skip


@pytest.mark.parametrize("case", TOKENIZERS)
def test_a_tokenizer_cuts_where_its_library_says(tmp_path: Path, case: str) -> None:
    from tokenizers import Tokenizer

    cut = (Tokenizer.from_str(TOKENIZERS[case]).truncation or {}).get("max_length")
    save_folder(tmp_path, LLAMA, {"other": np.zeros(1)}, {"tokenizer.json": TOKENIZERS[case]})
    files = FolderFiles(tmp_path, "own", Choice(name="model.safetensors"))
    found = [one.length for one in limits(files, find(files)) if one.file == "tokenizer.json"]
    assert found == ([cut if cut < 10**8 else None] if cut else [])
    assert [*no_lengths(files)] == (
        [("tokenizer.json", "truncation.max_length", 0)] if cut == 0 else []
    )


@pytest.mark.parametrize("length", [1e-300, 1.5, -1, 2**64, True, None, "32", [32]])
def test_what_no_tokenizer_takes_for_a_length_is_none(tmp_path: Path, length: Any) -> None:
    found = of(tmp_path, LLAMA, tokenizer={**WORDS, "truncation": {**CUT, "max_length": length}})
    assert [one.length for one in found] == [64]


def test_a_part_of_a_token_is_no_length(tmp_path: Path) -> None:
    found = of(tmp_path, LLAMA, tokenizer_config={"model_max_length": 0.5})
    assert [one.length for one in found] == [64]


@pytest.mark.parametrize(
    ("scaling", "lengths"),
    [({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
      [("rope_scaling.original_max_position_embeddings", 32), ("original × factor", 128)]),
     # Their code in transformers multiplies the context itself.
     ({"rope_type": "dynamic", "factor": 2.0}, [("context × dynamic factor", 128)]),
     ({"rope_type": "linear", "factor": 2.0}, [("context × linear factor", 128)]),
     # Meta's factor of 8 goes from 8,192 to 131,072: it multiplies no length.
     ({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
       "original_max_position_embeddings": 32},
      [("rope_scaling.original_max_position_embeddings", 32)])],
)  # fmt: skip
def test_a_scaling_multiplies_what_its_code_does(
    tmp_path: Path, scaling: dict[str, Any], lengths: list[tuple[str, int]]
) -> None:
    found = of(tmp_path, {**LLAMA, "rope_scaling": scaling})
    others = [(one.key, one.length) for one in found if one.key != "max_position_embeddings"]
    assert others == lengths


@pytest.mark.parametrize("text", ["[", "[]", "null", "[" * 10**5])
def test_a_file_of_another_kind_states_none(tmp_path: Path, text: str) -> None:
    save_folder(tmp_path, LLAMA, {"other": np.zeros(1)}, {"tokenizer_config.json": text})
    files = FolderFiles(tmp_path, "own", Choice(name="model.safetensors"))
    assert [one.length for one in limits(files, find(files))] == [64]


def test_no_tensor_of_an_axial_table_has_a_row_for_each_position(tmp_path: Path) -> None:
    sizes = {"axial_pos_shape": [4, 16], "axial_pos_embds_dim": [16, 48]}
    values = np.random.default_rng(0)
    tables = {
        f"embeddings.position_embeddings.weights.{index}": values.normal(size=shape)
        for index, shape in enumerate([(4, 1, 16), (1, 16, 48)])
    }
    found = of(tmp_path, {**LLAMA, "model_type": "reformer", **sizes}, tables)
    assert [one.key for one in found] == ["max_position_embeddings"]
