"""What is known of rows that were not reached, from the configs that the program has."""

from dataclasses import replace

import pytest

from generator.contracts import Maker, Outcome
from generator.encyclopedia.known_models import known_model
from generator.pipeline.not_reached import described
from generator.pipeline.packing import pack
from tests.support import checkpoint

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


@pytest.mark.parametrize(("hub_id", "is_checked"), [
    ("google-bert/bert-base-uncased", True), ("ibm-granite/granite-20b-code-base", False),
])  # fmt: skip
def test_settings_that_nobody_checked_say_so(hub_id: str, is_checked: bool) -> None:
    model = known_model(hub_id)
    assert model is not None
    (known,) = described([not_reached(hub_id)], now)
    mark = "entered from knowledge, not checked against the published file; "
    assert known.described_by == ("" if is_checked else mark) + model.source


@pytest.mark.parametrize("hub_id", ["Qwen/Qwen3-8B", "google/recurrentgemma-2b"])
def test_a_row_whose_settings_give_numbers_is_left_as_it_is(hub_id: str) -> None:
    (outcome,) = described([before := not_reached(hub_id)], now)
    assert pack(outcome) == pack(before)


@pytest.mark.parametrize("hub_id", ["google-bert/bert-large-cased", "gpt2", "../models/x", ""])
def test_another_id_says_nothing_of_a_model(hub_id: str) -> None:
    (outcome,) = described([before := not_reached(hub_id)], now)
    assert pack(outcome) == pack(before)


def test_a_folder_of_the_same_name_says_nothing() -> None:
    row = checkpoint(id="openai-community/gpt2", place="openai-community/gpt2")
    (outcome,) = described([before := Outcome(row, "not reached", "x")], now)
    assert outcome is before


def test_what_an_earlier_build_read_is_left_as_it_is() -> None:
    stale = replace(not_reached("openai-community/gpt2"), status="ok", stale="no answer")
    assert described([stale], now) == (stale,)
