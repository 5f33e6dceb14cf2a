"""Metrics and arrays of single analyses, against independent expressions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import cosine_similarity

from generator.analyses import (
    bias_by_offset,
    rotation_by_offset,
    similarity_of_dimensions,
    similarity_of_positions,
    single_dimensions,
    single_positions,
    whole_table,
)
from generator.contracts import InputLayer, Sentence, Subject
from generator.encodings import OffsetBias, PositionTable, Rotation, sinusoid, sinusoid_formula
from generator.numerics import arrays
from generator.numerics.arrays import Floats, frozen
from generator.schemes.alibi import slopes
from tests.analyses.on import result_of
from tests.support import LABELS, close, subject

TABLE = np.random.default_rng(0).normal(0.0, 0.02, (50, 12))


def table_of(values: Any) -> Subject[PositionTable]:
    return subject(PositionTable(frozen(values)))


def with_words(
    of_positions: Subject[PositionTable], words: Floats, word_scale: float = 1.0
) -> Subject[PositionTable]:
    """The subject with a sentence whose first token is reserved. words: (n_tokens, d_model)"""
    tokens = tuple(f"t{index}" for index in range(len(words)))
    sentence = Sentence(
        tokens,
        tuple(range(len(words))),
        tuple(index == 0 for index in range(len(words))),
        frozen(words),
    )
    return replace(of_positions, input=InputLayer(sentence, sentence, "wte.weight", word_scale))


def test_root_mean_square_and_largest_value_of_a_table() -> None:
    result = result_of(whole_table, TABLE)
    assert result.value("rms") == pytest.approx(np.sqrt(np.mean(TABLE**2)))
    assert result.value("largest") == np.abs(TABLE).max()
    # One value of 100 is 10 times the root mean square; the others are zero.
    assert result_of(whole_table, np.pad([[1.0]], (0, 9))).value("beyond") == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("outlier", "text"),
    [(-3.0, "3"), (1.874, "1.87"), (0.00412, "0.0041"), (-2.5e-9, "2.5 × 10⁻⁹")],
)
def test_an_outlying_value_is_reported_however_small(outlier: float, text: str) -> None:
    finding, *others = result_of(whole_table, np.pad([[outlier]], ((4, 15), (7, 12)))).findings
    sign = "−" if outlier < 0 else ""
    assert [other.text for other in others] == ["The vectors of positions 0–3, 5–19 are zero."]
    assert finding.text.startswith("The table's value furthest from zero is 20 times its RMS")
    assert finding.text.endswith(f": {sign}{text} at position 4 and dimension 7.")


def test_cosines_equal_those_of_scikit_learn() -> None:
    result = result_of(similarity_of_positions, TABLE)
    theirs = cosine_similarity(TABLE)
    close(result.derived["cosines"], theirs, 1e-12)
    assert result.value("adjacent") == pytest.approx(np.diagonal(theirs, 1).mean())
    assert result.value("mean") == pytest.approx(theirs[~np.eye(50, dtype=bool)].mean())
    assert result.value("lowest") == pytest.approx(theirs.min())
    result = result_of(similarity_of_positions, np.eye(5) * (np.arange(5) % 2 == 0)[:, None])
    assert (result.value("adjacent"), result.value("mean")) == (None, 0.0)


def test_cosines_of_dimensions_equal_those_of_scikit_learn() -> None:
    result = result_of(similarity_of_dimensions, TABLE)
    theirs = cosine_similarity(TABLE.T)
    close(result.derived["cosines"], theirs, 1e-12)
    assert result.value("size") == pytest.approx(np.abs(theirs[~np.eye(12, dtype=bool)]).mean())


def test_cosines_of_many_dimensions_are_taken_in_blocks_and_drawn_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Columns that turn once over the index: their angles are known, and a few are zero."""
    monkeypatch.setattr(similarity_of_dimensions, "MOST_DRAWN", 225)
    monkeypatch.setattr(arrays, "BLOCK", 400)
    angles = np.linspace(0.0, np.pi, 1100)
    columns = np.vstack([np.cos(angles), np.sin(angles)])
    columns[:, [7, 600]] = 0.0
    result = result_of(similarity_of_dimensions, columns)
    between = np.abs(np.cos(angles[:, None] - angles))[
        np.ix_(keep := np.delete(np.arange(1100), [7, 600]), keep)
    ]
    pairs = between[~np.eye(1098, dtype=bool)]
    assert result.value("size") == pytest.approx(pairs.mean(), rel=1e-12)
    assert result.value("strong") == pytest.approx(100.0 * np.mean(pairs > 0.9), rel=1e-12)
    assert (result.derived["cosines"].shape, int(result.arrays["every"])) == ((220, 220), 5)
    assert result.derived["cosines"][0, 1] == pytest.approx(np.cos(angles[5]))
    assert np.isnan(result.derived["cosines"][120]).all()


def test_similar_dimensions_are_drawn_side_by_side_and_empty_ones_last() -> None:
    """Copies of three waves, some upside down, in a random order."""
    rng = np.random.default_rng(0)
    kinds = rng.permutation(np.repeat([1, -1, 2, 3, 0], 4))
    waves = np.sin(np.arange(1.0, 4.0)[:, None] * np.pi * np.arange(40) / 20)
    columns = np.array([np.sign(k) * waves[abs(k) - 1] if k else 0 * waves[0] for k in kinds])
    noise = 0.01 * rng.normal(size=columns.shape) * (kinds != 0)[:, None]
    order = result_of(similarity_of_dimensions, (columns + noise).T).arrays["order"]
    assert sorted(order) == list(range(20))
    ordered = kinds[order]
    assert np.count_nonzero(np.diff(ordered)) == 4
    assert ordered[-1] == 0


def test_dimensions_of_a_formula_keep_their_order() -> None:
    form = PositionTable(sinusoid_formula(40, 12))
    order = similarity_of_dimensions.compute(subject(form)).arrays["order"]
    assert order.tolist() == list(range(12))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        # The variance of a difference of independent values is twice theirs.
        (np.random.default_rng(0).normal(size=(2000, 50)), np.sqrt(2.0)),
        (np.ones((9, 3)), 0.0),
        (np.ones((9, 3)) * (-1.0) ** np.arange(9)[:, None], 2.0),
    ],
    ids=["noise", "constant", "alternating"],
)
def test_the_roughness_of_a_table_in_closed_form(table: Floats, expected: float) -> None:
    assert result_of(single_dimensions, table).value("roughness") == pytest.approx(
        expected, rel=0.01
    )


def test_the_dimensions_drawn_vary_most_in_their_group() -> None:
    """The even of 40 columns vary, equally fast: eight groups of two and four of one."""
    waves = np.sin(np.arange(60.0))[:, None] * np.where(
        np.arange(40) % 2 == 0, np.arange(40), 0.0
    ) + 1000.0 * (np.arange(40) == 3)
    odd = waves.copy()
    odd[0, 5] = 1e6
    for result in (result_of(single_dimensions, waves), result_of(single_dimensions, odd)):
        drawn = [*range(2, 32, 4), *range(32, 40, 2)]
        assert result.arrays["dimensions"].tolist() == drawn
        of_all = np.sum(np.arange(0.0, 40.0, 2.0) ** 2)
        assert result.value("drawn") == pytest.approx(100.0 * np.sum(np.square(drawn)) / of_all)


def test_the_dimensions_drawn_of_waves_are_of_all_speeds() -> None:
    """A wave of angular frequency w steps by 2 sin(w/2) of its standard deviation."""
    places, turns = np.arange(1200.0), 5.0 * np.arange(1.0, 25.0)
    # With phases, so that no position stands out.
    waves = np.sin(2.0 * np.pi * turns * places[:, None] / 1200.0 + turns**2)
    table = np.concatenate([waves[:, ::-1], np.full((1200, 24), 0.3)], axis=1)
    arrays = result_of(single_dimensions, table).arrays
    frequencies = 2.0 * np.pi * turns[23 - arrays["dimensions"]] / 1200.0
    assert len(frequencies) == 12
    assert np.all(np.diff(frequencies) > 0.0)
    assert_allclose(arrays["speeds"], 2.0 * np.sin(frequencies / 2.0), rtol=0.002)


def test_each_dimension_is_drawn_on_its_own_scale_and_outliers_are_cut() -> None:
    table = np.sin(np.arange(60.0))[:, None] * np.array([1.0, 1e-4])
    table[7] = [50.0, -50.0]
    figure = single_dimensions.draw({LABELS[0]: result_of(single_dimensions, table)})
    every = [np.asarray(line.get_ydata()) for line in figure.axes[0].lines]
    lines = [line for line in every if line.size == 60]  # The others are baselines.
    heights = [
        (line.max() - middle, middle - line.min())
        for line, middle in zip(lines, (0.0, 1.0), strict=True)
    ]
    assert_allclose(heights, single_dimensions.FILLED, rtol=0.1)


def test_an_outlier_does_not_change_the_roughness() -> None:
    table = sinusoid(200, 16).copy()
    plain = result_of(single_dimensions, table).value("roughness")
    table[0] *= 100.0
    assert result_of(single_dimensions, table).value("roughness") == pytest.approx(plain, rel=0.02)


ROWS = np.array([[1.0, 0.0], [0.8, 0.6], [-1.0, 0.0], [-0.8, 0.6]])


@pytest.mark.parametrize(
    ("grid", "expected"), [((2, 2), (0.8 + 0.8 - 1.0 - 0.28) / 4), (None, (0.8 - 0.8 + 0.8) / 3)]
)
def test_neighbours_on_a_grid_are_beside_or_above(grid: Any, expected: float) -> None:
    """Two rows of two: 0.8, 0.8 beside; −1, −0.28 above. In reading order, −0.8 would count."""
    result = result_of(similarity_of_positions, ROWS, grid)
    assert result.value("adjacent") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("grid", "mean_square"), [((2, 2), (9.0 + 9.0 + 16.0 + 4.0) / 4), (None, (9.0 + 1.0 + 9.0) / 3)]
)
def test_roughness_takes_no_step_from_row_to_row(grid: Any, mean_square: float) -> None:
    """Rows 0, 3 and 4, 1: steps 3, 3 beside, 4, 2 above; in reading order 3, 1, 3."""
    result = result_of(single_dimensions, [[0.0], [3.0], [4.0], [1.0]], grid)
    rms = np.sqrt((9.0 + 16.0 + 1.0) / 4)
    assert result.value("roughness") == pytest.approx(np.sqrt(mean_square) / rms)


def test_every_position_is_drawn_over_the_word_on_one_scale() -> None:
    table = np.random.default_rng(0).normal(size=(20, 60))
    table[1, 2] = 90.0
    words = np.random.default_rng(1).normal(size=(3, 60))
    result = single_positions.compute(with_words(table_of(table), words))
    figure = single_positions.draw({LABELS[0]: result})
    drawn = np.concatenate([table[[0, 1, 2, 10]], np.tile(words[1], (4, 1))])
    low, high = np.percentile(drawn, [1, 99])
    for axes, position in zip(figure.axes, (0, 1, 2, 10), strict=True):
        assert axes.get_title() == f"position {position}"
        for line, values in zip(axes.lines, (words[1], table[position]), strict=True):
            assert_allclose(np.asarray(line.get_ydata()), values)
        assert_allclose(axes.get_ylim(), (1.06 * low - 0.06 * high, 1.06 * high - 0.06 * low))


def test_sines_and_cosines_are_two_lines() -> None:
    result = single_positions.compute(subject(PositionTable(sinusoid_formula(20, 8))))
    axes = single_positions.draw({LABELS[0]: result}).axes[3]
    for line, first in zip(axes.lines, (0, 1), strict=True):
        assert_array_equal(line.get_xdata(), np.arange(first, 8, 2))
        assert_array_equal(line.get_ydata(), sinusoid(20, 8)[10, first::2])


def test_a_sinusoid_alone_has_its_own_values_and_marks_four_waves() -> None:
    result = whole_table.compute(subject(PositionTable(sinusoid_formula(200, 32))))
    left, right, *_ = whole_table.draw({LABELS[0]: result}).axes
    assert left.images[0].get_clim() == (-1.0, 1.0)
    marked = [np.asarray(line.get_xdata())[0] for line in left.lines]
    assert marked == [4, 8, 12, 16]
    assert [label.get_text() for label in right.get_yticklabels()] == ["4", "8", "12", "16"]
    lines = [np.asarray(line.get_ydata()) for line in right.lines]
    drawn = np.array([line for line in lines if line.size == 200])
    assert_allclose(drawn, sinusoid(200, 32)[:, marked].T + 2.4 * np.arange(4)[:, None])


def test_vectors_are_those_of_the_positions_in_the_notebooks() -> None:
    places, result = [0, 1, 2, 10, 100, 200, 300], result_of(single_positions, sinusoid(350, 8))
    assert result.arrays["positions"].tolist() == places
    assert_array_equal(result.derived["vectors"], sinusoid(350, 8)[places])


@pytest.mark.parametrize("word_scale", [1.0, 4.0])
def test_the_ratio_of_positions_and_words_by_hand(word_scale: float) -> None:
    with_sentence = with_words(table_of(np.full((9, 4), 6.0)), np.full((3, 4), 2.0), word_scale)
    assert single_positions.compute(with_sentence).value("word_ratio") == pytest.approx(
        3.0 / word_scale
    )


def test_the_word_is_the_first_that_is_not_reserved() -> None:
    words = np.arange(12.0).reshape(3, 4)
    arrays = single_positions.compute(with_words(table_of(TABLE[:, :4]), words)).arrays
    assert_array_equal(arrays["word"], words[1])
    assert str(arrays["token"]) == "t1"


@pytest.mark.parametrize(
    "words", [np.ones((3, 5)), np.zeros((3, 4)), np.full((3, 4), np.nan), np.full((3, 4), np.inf)]
)
def test_without_comparable_words_the_ratio_has_a_reason(words: Floats) -> None:
    result = single_positions.compute(with_words(table_of(TABLE[:, :4]), words))
    assert result.value("word_ratio") is None
    assert "word" not in result.arrays


def test_heads_that_favour_near_offsets() -> None:
    offsets = np.arange(-128, 1)
    form = OffsetBias(
        frozen(slopes(8)[:, None] * offsets), frozen(offsets), causal=True, beyond="linear"
    )
    result = bias_by_offset.compute(subject(form))
    metrics = {key: result.value(key) for key in ("near_heads", "largest", "smallest", "spread")}
    assert metrics == {"near_heads": 100.0, "largest": 0.0, "smallest": -64.0, "spread": 64.0}
    # Of the second head two offsets are highest, of which the nearest counts.
    values = [[9, 0, 0, 0, 0], [9, 9, 0, 0, 0], [0, 0, 9, 0, 0], [0, 0, 0, 0, 9]]
    form = OffsetBias(frozen(values), frozen(np.arange(-2, 3)), causal=False, beyond="constant")
    result = bias_by_offset.compute(subject(form))
    assert result.value("near_heads") == 50.0
    assert result.arrays["peaks"].tolist() == [-2, -1, 0, 2]


@pytest.mark.parametrize(
    ("values", "sides"), [([-0.5, 0.5], 2), ([-8.0, 0.5], 2), ([0.25, 0.5], 1), ([-0.5, -0.25], 1)]
)
def test_a_bias_of_less_than_a_logit_lies_within_the_limits(
    values: list[float], sides: int
) -> None:
    """Of one sign, it gets its side alone."""
    form = OffsetBias(frozen([values]), frozen([0, 1]), causal=False, beyond="constant")
    result = bias_by_offset.compute(subject(form))
    low, high = bias_by_offset.ANALYSIS.figures[0].draw({LABELS[0]: result}).axes[0].get_ylim()
    assert low < min(values)
    assert max(values) < high
    assert (low == -high) == (sides == 2)


@pytest.mark.parametrize(
    ("n_positions", "window", "size"),
    [(30, None, 30), (30, 8, 8), (4096, None, 4096), (131_072, None, 4096)],
)
def test_a_rotations_profile_ends_in_sight(n_positions: int, window: int | None, size: int) -> None:
    """Of 30 positions the first and the last are 29 apart."""
    form = Rotation(100.0, 4, 4, n_positions, window=window)
    assert rotation_by_offset.compute(subject(form)).arrays["profile"].size == size


def test_the_profile_of_a_rotation_is_the_mean_cosine_of_its_pairs() -> None:
    """As fast as the first 8 of 32 pairs, none of them slowed."""
    result = rotation_by_offset.compute(
        subject(Rotation(1e4, 16, 64, 4096, {"rope_type": "proportional"}))
    )
    assert (result.value("pairs"), result.value("slowed")) == (8, 0)
    assert_allclose(result.arrays["unscaled"], 2 * np.pi * 1e4 ** (np.arange(8) / 32), rtol=1e-6)
    profile = rotation_by_offset.compute(subject(Rotation(100.0, 4, 4, 30))).arrays["profile"]
    expected = [(np.cos(offset) + np.cos(offset / 10)) / 2 for offset in range(30)]
    close(profile, expected, 1e-12)
