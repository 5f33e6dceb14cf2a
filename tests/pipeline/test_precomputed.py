"""Artifacts that are shipped."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from generator.cache import precomputed
from generator.checkpoints.hub.known_models import known_models
from generator.libraries import config_classes
from generator.pipeline import model_details, models
from generator.reading import find

SOME, SOME_MODELS = 80, 10  # Every so many types, or models, are looked at where not all are.


@pytest.mark.parametrize("name", precomputed.LIBRARIES)
def test_an_artifact_is_shipped_for_the_installed_versions(name: str) -> None:
    assert precomputed.shipped(name) == (precomputed.FOLDER / f"{name}.json").read_bytes()


@pytest.mark.parametrize("name", precomputed.LIBRARIES)
def test_no_artifact_is_shipped_for_another_version_of_any_of_its_libraries(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_with = dict(precomputed._made_with())
    for library in precomputed.LIBRARIES[name]:
        monkeypatch.setattr(
            precomputed, "_made_with", lambda library=library: {**made_with, library: "0.0"}
        )
        assert precomputed.shipped(name) is None


@pytest.mark.parametrize("name", ["other", precomputed.VERSIONS, "../__init__"])
def test_nothing_else_is_shipped(name: str) -> None:
    assert precomputed.shipped(name) is None


def test_the_local_part_of_a_version_says_nothing_of_what_it_makes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        precomputed, "version", lambda library: f"{precomputed._made_with()[library]}+local"
    )
    assert precomputed.shipped(precomputed.PUBLISHED) is not None


def test_what_is_written_is_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precomputed, "FOLDER", tmp_path)
    precomputed._made_with.cache_clear()
    precomputed.write({name: name.encode() for name in precomputed.LIBRARIES})
    shipped = {name: precomputed.shipped(name) for name in precomputed.LIBRARIES}
    precomputed._made_with.cache_clear()
    assert shipped == {name: name.encode() for name in precomputed.LIBRARIES}


def test_the_shipped_details_are_those_of_every_config_and_of_a_sample_as_it_is_made() -> None:
    every = list(known_models())
    assert [model.id for model in every if model_details.of(model) is model_details.NOTHING] == []
    for model in every[::SOME]:
        assert model_details.of(model) == model_details.made(model)


def test_the_shipped_table_of_models_has_the_rows_of_a_sample() -> None:
    shipped = json.loads(precomputed.shipped(precomputed.MODELS) or b"{}")["models"]
    every = list(known_models())
    made = json.loads(models.table(every[::SOME_MODELS]))["models"]
    assert (len(shipped), shipped[::SOME_MODELS]) == (len(every), made)


@pytest.mark.thorough
def test_the_shipped_table_of_models_is_the_one_that_is_made() -> None:
    assert precomputed.shipped(precomputed.MODELS) == models.make()


def test_the_shipped_types_without_a_trained_encoding_are_those_of_a_sample() -> None:
    shipped = json.loads(precomputed.shipped(precomputed.UNTRAINED) or b"[]")
    sample = sorted(config_classes())[::SOME]
    assert [name for name in sample if find.has_untrained_code(name)] == [
        name for name in sample if name in shipped
    ]


@pytest.mark.thorough
def test_the_shipped_types_without_a_trained_encoding_are_the_ones_that_are_found() -> None:
    assert precomputed.shipped(precomputed.UNTRAINED) == find.untrained()


def test_the_program_imports_no_transformers_before_a_table_is_made() -> None:
    code = "import sys, generator.pipeline.build; print('transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
