"""What is known of rows that were not reached, from the configs that the program has."""

import json
from dataclasses import replace

import pytest

from generator.checkpoints.hub.published_configs import FOLDER, SOURCE, published_config
from generator.contracts import Maker, Outcome
from generator.pipeline.find import look
from generator.pipeline.known import described
from tests.built import ROOT
from tests.support import checkpoint

NAMES = sorted(path.stem for path in FOLDER.iterdir())
SHAPES = {
    "google-bert/bert-base-uncased": ("learned", (512, 768)),  # Devlin et al. 2019, appendix A.2
    "openai-community/gpt2": ("learned", (1024, 768)),  # Radford et al. 2019, section 2.3
    "google-t5/t5-small": ("t5_bias", (32, 8)),  # Raffel et al. 2020, section 2.1
}


def now(_: str, make: Maker) -> Maker:
    return make


def not_reached(hub_id: str) -> Outcome:
    row = checkpoint(source="hub", id=hub_id, place=hub_id)
    return Outcome(row, "not reached", "the Hub did not answer")


@pytest.mark.parametrize("name", NAMES)
def test_a_config_is_the_one_in_the_benchmarks_of_the_same_id(name: str) -> None:
    ours = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    record = json.loads((ROOT / f"benchmarks/configs/{name}.json").read_text(encoding="utf-8"))
    assert record["id"] == name.replace("--", "/")
    assert ours == {SOURCE: record["source"], **record["config"]}


@pytest.mark.parametrize("name", NAMES)
def test_all_encodings_of_a_config_are_in_weights_so_that_no_number_is_left_out(name: str) -> None:
    known = published_config(name.replace("--", "/"))
    assert known is not None
    found = look(known[0])
    assert (found.measured, found.question, found.is_complete) == ([], "", True)


@pytest.mark.parametrize("hub_id", SHAPES)
def test_a_row_that_was_not_reached_has_scheme_and_shape(hub_id: str) -> None:
    (known,) = described([not_reached(hub_id)], now)
    assert {(record.scheme, record.provenance.shape) for record in known.unmeasured} == {
        SHAPES[hub_id]
    }
    assert known.described_by
    assert known.layers
    assert known.facts
    assert (known.status, known.readings) == ("not reached", ())


@pytest.mark.parametrize("hub_id", ["google-bert/bert-base-cased", "gpt2", "../configs/x", ""])
def test_another_id_says_nothing_of_a_model(hub_id: str) -> None:
    (outcome,) = described([before := not_reached(hub_id)], now)
    assert outcome is before


def test_a_folder_of_the_same_name_says_nothing() -> None:
    row = checkpoint(id="openai-community/gpt2", place="openai-community/gpt2")
    (outcome,) = described([before := Outcome(row, "not reached", "x")], now)
    assert outcome is before


def test_what_an_earlier_build_read_is_left_as_it_is() -> None:
    stale = replace(not_reached("openai-community/gpt2"), status="ok", stale="no answer")
    assert described([stale], now) == (stale,)
