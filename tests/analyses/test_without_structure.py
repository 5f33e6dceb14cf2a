"""What is said of random numbers, shuffled rows, tails that hold nothing, and rounded values."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.testing import assert_allclose

from generator.contracts import Encoding, Label, Provenance, Subject
from generator.encodings import PositionTable, sinusoid
from generator.numerics.arrays import Floats
from generator.numerics.structure import is_ordered, looks_random, steps
from generator.pipeline.evaluate import reading_of

UNTRAINED = "The table cannot be distinguished from random numbers, so it appears untrained."
SHAPES = [(512, 256), (2048, 128), (1024, 16), (64, 32), (20, 256), (512, 64)]
TRAINED = sinusoid(512, 64) + np.random.default_rng(7).normal(0.0, 0.1, (512, 64))


def noise(shape: tuple[int, int], seed: int = 0, size: float = 0.02) -> Floats:
    return np.random.default_rng(seed).normal(0.0, size, shape)


def sentences(rows: Floats) -> list[str]:
    """All that a page would say of a learned table."""
    encoding = Encoding("encoder", "learned", PositionTable(rows), Provenance(""))
    reading = reading_of(Subject(encoding, no_input="none"), Label("", ""))
    return [finding.text for result in reading.results.values() for finding in result.findings]


def draws(shape: tuple[int, int], count: int = 200) -> Sequence[Floats]:
    return [noise(shape, seed) for seed in range(count)]


@pytest.mark.parametrize("shape", SHAPES)
def test_random_numbers_get_one_sentence(shape: tuple[int, int]) -> None:
    assert sentences(noise(shape)) == [UNTRAINED]


@pytest.mark.parametrize("shape", [(512, 64), (1024, 16), (64, 32), (20, 256)])
def test_at_most_one_in_a_hundred_random_tables_is_taken_for_more(shape: tuple[int, int]) -> None:
    taken = sum(not looks_random(rows) for rows in draws(shape))
    assert taken <= 2


def test_uniform_and_shuffled_and_many_rows_are_random() -> None:
    rows = [np.random.default_rng(seed).uniform(-1.0, 1.0, (256, 64)) for seed in range(100)]
    assert sum(not looks_random(each) for each in rows) <= 1
    rows = [np.random.default_rng(seed).permutation(TRAINED[:128]) for seed in range(100)]
    assert sum(is_ordered(each) for each in rows) <= 3
    assert is_ordered(TRAINED[:128])
    assert looks_random(noise((100_000, 16)))


def test_an_odd_row_among_random_ones_or_zeros_is_named() -> None:
    rows = noise((512, 256)).copy()
    rows[7] *= 1000.0
    value, untrained, odd = sentences(rows)
    assert value.startswith("The table's value furthest from zero is ")
    assert ("−" in value.split(" at position ")[0]) == (rows.max() < -rows.min())
    assert untrained == UNTRAINED
    assert odd.startswith("Position 7 has the longest vector")
    rows = np.zeros((40, 16))
    rows[3, 2] = 1.0
    assert any(text.startswith("The vectors of positions 0–2") for text in sentences(rows))


@pytest.mark.parametrize("size", [0.3, 0.6])
def test_structure_is_found_under_noise(size: float) -> None:
    rows = sinusoid(512, 64) + noise((512, 64), size=size)
    assert UNTRAINED not in sentences(rows)


def test_shuffled_rows_are_said_to_show_no_order_and_nothing_else_of_it() -> None:
    first, *others = sentences(np.random.default_rng(3).permutation(TRAINED))
    assert first.startswith("The table's rows show no order")
    # How many directions the differences between positions take does not depend on their order.
    others = [text for text in others if "directions account for" not in text]
    assert [text for text in others if "position" in text.lower() or "distance" in text] == []


@pytest.mark.parametrize(("end", "sentence"), [
    (np.zeros((256, 64)),
     "The vectors of positions 256–511 are all zero, so the table does not distinguish these"
     " positions."),
    (np.ones((256, 64)),
     "Positions 256–511 all have the same vector, so the table does not distinguish them."),
    (noise((256, 64), size=0.7),
     "The vectors of positions 256–511 cannot be distinguished from random numbers, so they appear"
     " untrained."),
], ids=["zero", "copies", "random"])  # fmt: skip
def test_a_tail_that_holds_nothing_is_named_and_no_seam(end: Floats, sentence: str) -> None:
    said = sentences(np.vstack([TRAINED[:256], end]))
    assert said[0] == sentence
    assert [text for text in said if "seam" in text or text.startswith("Norms")] == []
    of_the_whole = ("alike", "probe", "half", "components", "energy", "share")
    assert [text for text in said if any(word in text for word in of_the_whole)] == []


def test_equal_vectors_are_counted() -> None:
    assert sentences(np.full((512, 64), 0.3)) == [
        "All 512 vectors are identical, so the table encodes no position."
    ]
    said = sentences(np.repeat(TRAINED[:256], 2, axis=0))
    assert any(
        text.startswith("256 of 512 vectors are exact copies of an earlier one") for text in said
    )


@pytest.mark.parametrize("shape", [(1, 64), (2, 64), (3, 8), (40, 1)])
def test_too_few_rows_or_columns_say_nothing(shape: tuple[int, int]) -> None:
    assert sentences(noise(shape)) == []


def test_a_norm_step_stands_where_neighbours_differ() -> None:
    rows = TRAINED.copy()
    rows[47:] *= 0.4
    (step,) = [text for text in sentences(rows) if ", the norm " in text]
    assert step.startswith("Around position 47, ")
    walk = np.cumsum(noise((512, 64)), axis=0)
    assert [text for text in sentences(walk) if ", the norm " in text] == []


def test_steps_are_those_of_the_rounding_and_none_of_floating_point() -> None:
    step = float(np.abs(TRAINED).max()) / 127
    found = steps(np.round(TRAINED / step) * step)
    assert found is not None
    assert_allclose(found, step)
    by_row = np.abs(TRAINED).max(axis=1, keepdims=True) / 127
    found = steps(np.round(TRAINED / by_row) * by_row)
    assert found is not None
    assert_allclose(np.median(found), np.median(by_row))
    assert steps(TRAINED) is None
    assert steps(TRAINED.astype(np.float16).astype(float)) is None


def test_measures_that_rounding_changes_warn() -> None:
    step = float(np.abs(TRAINED).max()) / 127
    warnings = [
        text
        for text in sentences(np.round(TRAINED / step) * step)
        if text.startswith("Values are stored in steps")
    ]
    assert len(warnings) >= 2
    assert not any("stored in steps" in text for text in sentences(TRAINED))
