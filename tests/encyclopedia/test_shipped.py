"""The shipped tables of published models are those that are made."""

import json

import pytest

from benchmarks.precompute import details_of
from generator.cache import precomputed
from generator.encyclopedia import details, table
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import known_models

SOME, SOME_MODELS = 80, 10  # Every so many models are looked at where not all are.
SHIPPED = precomputed.shipped(GUEST.key, GUEST.shipped) or b"{}"


def test_the_details_are_those_of_every_config_and_of_a_sample_as_it_is_made() -> None:
    every = list(known_models())
    assert [model.id for model in every if details.of(model) is details.NOTHING] == []
    with_temperature = [model for model in every if details.of(model)["temperature"]]
    for model in (*every[::SOME], *with_temperature):
        assert details.of(model) == json.loads(json.dumps(details_of(model)))


def test_the_table_has_the_rows_of_a_sample() -> None:
    shipped = json.loads(SHIPPED)["models"]
    every = list(known_models())
    made = json.loads(table.table(every[::SOME_MODELS]))["models"]
    assert (len(shipped), shipped[::SOME_MODELS]) == (len(every), made)


@pytest.mark.thorough
def test_the_table_is_the_one_that_is_made() -> None:
    assert table.make() == SHIPPED
