"""What is shipped of published models is what is made."""

import json
from dataclasses import replace

import pytest

from benchmarks.made import read
from generator.encyclopedia import details, made, table
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import FOLDER, known_model, known_models

SOME, SOME_MODELS = 80, 10  # Every so many models are looked at where not all are.
SHIPPED = GUEST.shipped() or b"{}"


def test_the_details_are_those_of_every_config_and_of_a_sample_as_it_is_made() -> None:
    every = list(known_models())
    assert [model.id for model in every if details.of(model) is details.NOTHING] == []
    with_temperature = [model for model in every if details.of(model)["temperature"]]
    for model in (*every[::SOME], *with_temperature):
        found = json.loads(json.dumps(read(model)))
        assert details.of(model) == found["details"]
        assert made.made(model.id)["programs"] == found["programs"]


def test_the_table_has_the_rows_of_a_sample() -> None:
    shipped = json.loads(SHIPPED)["models"]
    every = list(known_models())
    made = json.loads(table.table(every[::SOME_MODELS]))["models"]
    assert (len(shipped), shipped[::SOME_MODELS]) == (len(every), made)


@pytest.mark.thorough
def test_the_table_is_the_one_that_is_made() -> None:
    assert table.table(known_models()) == SHIPPED


def test_each_published_config_has_one_file_of_what_follows() -> None:
    names = {path.name for path in made.FOLDER.glob("*.json")}
    assert names == {path.name for path in FOLDER.glob("*.json")}


def test_a_row_is_that_of_one_config_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    model = known_model("Qwen/Qwen3-8B")
    assert model is not None
    assert (row := made.row(model)) is not None
    other = replace(model, settings={**model.settings, "rope_theta": 5000.0})
    assert made.row(other) is None
    monkeypatch.setattr(made, "_version", lambda _: "0.0")
    assert (made.row(model), table.shipped()) == (None, None)
    assert table.row(model) == row
