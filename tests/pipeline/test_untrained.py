"""Configs whose model types are known to have no trained encoding, against the code of the
types.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from generator.cache import precomputed
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.code_files import code_files, is_built_as, is_built_as_by_default
from generator.contracts import Resolved
from generator.reading import plan
from generator.reading.find import find, is_untrained
from tests.built import ROOT
from tests.support import checkpoint
from tests.synthetic import NOTHING, ROTATION, WORDLESS, Contents, write_folder

TYPES = frozenset(json.loads((precomputed.FOLDER / "untrained.json").read_text(encoding="utf-8")))
PATHS = [
    *sorted((ROOT / "generator/encyclopedia/models").glob("*.json")),
    *sorted((ROOT / "references").glob("*/config.json")),
]
LLAMA = json.loads(ROTATION["config.json"])


def config(**settings: object) -> Resolved:
    """A config of ``ROTATION`` with these settings."""
    return ConfigAlone({**LLAMA, **settings}, "test").resolved


def read(path: Path) -> Resolved:
    document = json.loads(path.read_text(encoding="utf-8"))
    return ConfigAlone(document.get("config", document), path.stem).resolved


def sample() -> Mapping[str, Resolved]:
    """The last config of each family that is said to have no trained encoding, by its family."""
    return {one.given.family: one for one in map(read, PATHS) if is_untrained(one)}


def test_code_of_what_is_said_to_have_no_trained_encoding_has_none() -> None:
    configs = sample()
    assert len(configs) > 5
    for name, one in configs.items():
        code = code_files(one)
        assert code is not None, name
        assert [
            encoding.provenance.tensor for encoding in find(code) if encoding.provenance.tensor
        ] == [], name


def test_a_config_of_other_sizes_is_built_as_by_default() -> None:
    assert is_built_as_by_default(config())
    assert is_built_as_by_default(
        config(rope_theta=1e6, max_position_embeddings=77, sliding_window=5, unheard=True)
    )
    assert is_built_as_by_default(config(num_hidden_layers=128))
    assert is_built_as_by_default(config(model_type="qwen3", use_sliding_window=True))
    assert is_untrained(config())


# Settings with which a model may have other tensors than by default, or none that are known.
OTHERS: Mapping[str, Mapping[str, object]] = {
    "another boolean": {"attention_bias": True},
    "a number that is none": {"intermediate_size": 0},
    "more than 128 layers": {"num_hidden_layers": 129},
    "a refused config": {"hidden_size": "wide"},
    "an unknown type": {"model_type": "unheard"},
}


def test_a_config_that_differs_in_more_than_sizes_is_not() -> None:
    for settings in OTHERS.values():
        assert not is_built_as_by_default(config(**settings)), settings
        assert not is_untrained(config(**settings)), settings


def test_lists_may_differ_in_length_and_not_in_the_kinds_of_what_they_hold() -> None:
    default = {"layer_types": ["full_attention", "sliding_attention"], "sizes": [3]}
    assert is_built_as({"layer_types": ["full_attention"] * 5, "sizes": [1, 2]}, default)
    assert not is_built_as(
        {"layer_types": ["full_attention", "linear_attention"], "sizes": [3]}, default
    )
    assert not is_built_as({"layer_types": ["full_attention"], "sizes": [0]}, default)


def test_a_type_whose_code_trains_an_encoding_is_not_among_them() -> None:
    assert not TYPES & {"bert", "gpt2", "t5"}
    assert "llama" in TYPES


def test_without_the_shipped_types_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generator.reading.find.untrained", frozenset)
    assert not is_untrained(config())


# Files of a folder, and whether their evaluation may need models.
FOLDERS: Mapping[str, tuple[Contents, bool]] = {
    "config alone": (ROTATION, False),
    "no encoding": (NOTHING, False),
    "weights": (WORDLESS, True),
    "a pickle": ({**NOTHING, "pytorch_model.bin": b""}, True),
}


@pytest.mark.parametrize(("files", "expected"), FOLDERS.values(), ids=FOLDERS)
def test_models_may_be_needed_where_a_folder_has_weights(
    files: Contents, expected: bool, tmp_path: Path
) -> None:
    task = plan.Task(checkpoint(place=str(write_folder(tmp_path, files))), offline=True)
    assert plan.may_need_models(task) == expected


def test_models_may_be_needed_by_what_is_not_seen_yet_and_never_by_a_run(tmp_path: Path) -> None:
    (tmp_path / "one.safetensors").touch()
    rows = {
        "hub": checkpoint(source="hub", place="atlas/none"),
        "file": checkpoint(place=str(tmp_path), weights="one.safetensors"),
        "run": checkpoint(source="run", place=str(tmp_path / "run.json")),
    }
    found = {name: plan.may_need_models(plan.Task(row, offline=True)) for name, row in rows.items()}
    assert found == {"hub": True, "file": True, "run": False}
