"""Records of programs give what the programs themselves take from small configs, made from
published ones whose keys are moved, renamed and dropped.

`python -m benchmarks.readers_oracle` ran them: transformers 4.57.6 and 5.23.0, mlx-lm 0.32.2, and
the converter of llama.cpp at 0c1e5709.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.reading.taken import Taken, all_readers, taken_by

FOLDER = Path(__file__).parent
READERS = ("transformers4", "transformers5", "mlx-lm", "llama-cpp")
LEAST = 60  # configs of each
STEP = 9  # One in so many is a test of every run.
SEEN = 24  # tokens that were read: a longer window was not seen


def of_program(reader: str) -> list[tuple[dict[str, Any], Any]]:
    """Configs with what the program takes: for transformers the number, sum and last of the
    frequencies, the factor and the length; None where it fails.
    """
    file = FOLDER / f"{reader.replace('-', '_')}.json"
    every: list[tuple[dict[str, Any], Any]] = json.loads(file.read_text(encoding="utf-8"))
    return every


def forms(one: Taken) -> list[list[float]]:
    """Of each rotation the number of pairs, sum and last of frequencies, and the factor, each once;
    of LongRoPE those for short texts.
    """
    every = {
        (len(form.frequencies), form.frequencies.sum(), form.frequencies[-1], form.attention_factor)
        for part, form in one.rotations.items()
        if not part.startswith("vision")
    }
    return sorted(map(list, every))


def check(reader: str, settings: Mapping[str, Any], expected: Any) -> None:
    record = next(one for one in all_readers() if one.key == reader)
    one = taken_by(record, settings, "own", {})
    if expected is None or not one.is_known:
        assert one.refused or not one.is_known
        return
    assert not one.refused
    if isinstance(expected, list):
        *values, length = expected
        expected = {"forms": [values], "limit": length}
    np.testing.assert_allclose(forms(one), expected["forms"], rtol=3e-4)
    if "limit" in expected:
        assert one.limit == expected["limit"]
    if "window" in expected:
        assert {size for size in one.windows if size} == {expected["window"]} - {None}
    if "windows" in expected:
        seen = [size if size and size < SEEN else None for size in one.windows]
        assert [size for size in seen if size] == [size for size in expected["windows"] if size]
    if expected.get("pairs") and one.pair_order:
        assert one.pair_order == expected["pairs"]


def failing(reader: str, step: int) -> list[str]:
    found = []
    for settings, expected in of_program(reader)[::step]:
        try:
            check(reader, settings, expected)
        except AssertionError as error:
            found.append(f"{json.dumps(settings)}: {error}")
    return found


@pytest.mark.parametrize("reader", READERS)
def test_a_record_gives_what_its_program_takes(reader: str) -> None:
    assert len(of_program(reader)) >= LEAST
    assert failing(reader, STEP) == []


@pytest.mark.thorough
@pytest.mark.parametrize("reader", READERS)
def test_a_record_gives_what_its_program_takes_from_every_config(reader: str) -> None:
    assert failing(reader, 1) == []
