"""Which rows of the table of models the code of transformers confirms."""

import json
from dataclasses import replace
from importlib.metadata import version

import pytest

from benchmarks.layers_coverage import by_config_alone, compare, with_tensors
from generator.encyclopedia import made, observed, table
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import known_model, known_models

SHIPPED = {model.id: made.made(model.id)["check"] for model in known_models()}


@pytest.mark.parametrize(
    "name", ["EleutherAI/pythia-70m", "google-t5/t5-small", "allenai/longformer-base-4096"]
)
def test_the_outcome_of_small_models_is_found_again(name: str) -> None:
    model = known_model(name)
    assert model is not None
    row = compare(name, model.settings, with_tensors, by_config_alone)
    assert (row.problem, row.differences) == ("", ())
    assert SHIPPED[name]["outcome"] == row.outcome == "agrees"


def test_without_code_in_transformers_nothing_is_checked() -> None:
    for name in ("Qwen/Qwen-7B", "jinaai/jina-embeddings-v3", "state-spaces/mamba-130m"):
        model = known_model(name)
        assert model is not None
        assert compare(name, model.settings).outcome == "no code"
        assert SHIPPED[name]["outcome"] == "no code"


def test_an_outcome_holds_for_its_config_and_its_row_alone() -> None:
    name = "EleutherAI/pythia-70m"
    settings, position = {"model_type": "gpt_neox"}, {"layers": 6}
    assert observed.check(name, settings, position) is None
    model = known_model(name)
    assert model is not None
    assert SHIPPED[name]["of"] == table.digest(model)
    changed = table.row(replace(model, settings={**model.settings, "x": 1}))
    assert table.row(model)["check"] == {
        "outcome": "agrees",
        "transformers": SHIPPED[name]["transformers"],
        "why": None,
    }
    assert changed["check"] is None


def test_every_row_has_an_outcome_of_the_installed_version() -> None:
    """Else run ``python -m benchmarks.made``."""
    shipped = json.loads(GUEST.shipped() or "{}")["models"]
    assert [row["id"] for row in shipped if row["check"] is None] == []
    used = {one["transformers"] for one in SHIPPED.values()}
    assert used == {version("transformers")}


def test_what_differs_says_why_and_nothing_else_does() -> None:
    outcomes = SHIPPED.values()
    assert {row["outcome"] for row in outcomes} == {"agrees", "differs", "no code", "not run"}
    assert all((row["outcome"] == "differs") == bool(row["why"]) for row in outcomes)
