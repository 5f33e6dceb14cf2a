"""Measures of patch grids and of windows, against theorems, other code and small cases by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from generator.analyses import bias_by_patch_offset, similarity_of_patches, whole_table
from generator.contracts import Encoding, Figure, Outcome, Provenance, Reading, Result
from generator.encodings import WindowBias, grid_sinusoid
from generator.errors import NotApplicableError
from generator.numerics.arrays import frozen
from tests.analyses.on import result_of, values_of
from tests.support import LABELS, checkpoint, close, subject

rng = np.random.default_rng(0)


def of_table(vectors: Any, rows: int, columns: int) -> Result:
    return result_of(similarity_of_patches, vectors, (rows, columns))


def of_window(bias: Any) -> Result:
    return bias_by_patch_offset.compute(subject(WindowBias(frozen(bias))))


def test_each_tile_is_the_cosine_map_of_its_patch() -> None:
    vectors = rng.normal(size=(15, 7))
    result = of_table(vectors, 3, 5)
    close(result.derived["tiles"][1, 2], cosine_similarity(vectors)[1 * 5 + 2].reshape(3, 5), 1e-12)
    assert result.derived["tiles"].shape == (3, 5, 3, 5)


def test_mean_cosines_equal_those_of_the_whole_matrix() -> None:
    vectors = rng.normal(size=(15, 7))
    matrix = cosine_similarity(vectors).reshape(3, 5, 3, 5)
    side_by_side = [matrix[row, column, row, column + 1] for row in range(3) for column in range(4)]
    above = [matrix[row, column, row + 1, column] for row in range(2) for column in range(5)]
    others = cosine_similarity(vectors)[~np.eye(15, dtype=bool)]
    values = values_of(of_table(vectors, 3, 5))
    assert [values[key] for key in ("across", "down", "mean")] == pytest.approx(
        [np.mean(side_by_side), np.mean(above), others.mean()], abs=1e-12
    )


@given(st.integers(2, 9), st.integers(2, 9), st.sampled_from([4, 8, 32]))
def test_the_sinusoid_of_a_grid_has_its_cosines(rows: int, columns: int, d_model: int) -> None:
    """Half of the vector is the row's; of the rest the cosine is mean_i cos(k 10000^(−4i/d))."""
    frequencies = 10_000.0 ** (-np.arange(d_model // 4) / (d_model // 4))
    result = of_table(grid_sinusoid((rows, columns), d_model), rows, columns)
    for key, count in (("across", columns), ("down", rows)):
        expected = (1.0 + np.cos(np.arange(count)[:, None] * frequencies).mean(axis=1)) / 2.0
        close(result.arrays[key], expected, 1e-12)
    assert values_of(result)["anisotropy"] == pytest.approx(0.0, abs=1e-12)


def test_a_table_of_rows_alone_has_cosine_one_along_rows_by_hand() -> None:
    values = values_of(of_table(np.repeat(np.eye(3), 3, axis=0), 3, 3))
    assert (values["across"], values["down"], values["anisotropy"]) == (1.0, 0.0, -1.0)


@pytest.mark.parametrize(("count", "indices"), [
    (2, [0, 1]),
    (14, range(14)),
    (15, range(0, 15, 2)),
    (16, range(0, 16, 2)),
    (32, range(0, 32, 3)),
])  # fmt: skip
def test_at_most_14_evenly_spaced_patches_per_side_are_selected(count: int, indices: Any) -> None:
    result = of_table(rng.normal(size=(count, 4)), 1, count)
    margin = (count - 1 - indices[-1]) // 2
    assert result.arrays["columns"].tolist() == [index + margin for index in indices]
    assert result.arrays["columns"].size <= 14


def test_a_vector_of_zeros_is_excluded_from_means_and_has_an_empty_tile() -> None:
    vectors = np.ones((4, 3))
    vectors[0] = 0.0
    result = of_table(vectors, 2, 2)
    assert values_of(result)["mean"] == pytest.approx(1.0)
    assert np.isnan(result.derived["tiles"][0]).sum() == 5


@pytest.mark.parametrize(("grid", "why"), [(None, "grid"), ((2, 2), "nonzero")])
def test_tiles_need_a_grid_and_vectors(grid: tuple[int, int] | None, why: str) -> None:
    with pytest.raises(NotApplicableError, match=why):
        result_of(similarity_of_patches, np.zeros((4, 3)), grid)


def bias(head: Any) -> Result:
    return of_window(np.array(head, dtype=float)[None])


def test_the_spread_is_taken_within_heads_by_hand() -> None:
    values = np.zeros((2, 3, 3))
    values[0, 0, 0], values[1] = 4.0, 100.0
    metrics = values_of(of_window(values))
    assert (metrics["spread"], metrics["widest"]) == (2.0, 4.0)


@pytest.mark.parametrize(
    ("down", "across", "share"),
    [(0, 0, 100.0), (-1, 1, 100.0), (1, 0, 100.0), (2, 0, 0.0), (0, -2, 0.0)],
)
def test_a_peak_next_to_the_centre_counts_as_near(down: int, across: int, share: float) -> None:
    head = np.zeros((5, 5))
    head[2 + down, 2 + across] = 1.0
    result = bias(head)
    assert values_of(result)["near_heads"] == share
    assert result.arrays["peaks"].tolist() == [[down, across]]


def test_peaks_and_symmetry_of_a_head() -> None:
    assert bias([[1, 0, 0], [0, 1, 0], [0, 0, 0]]).arrays["peaks"].tolist() == [[0, 0]]
    ramp = np.tile(np.arange(-2.0, 3.0), (5, 1))
    values = values_of(bias(ramp))
    assert [values["left_right"], values["up_down"]] == pytest.approx([0.0, 1.0])


@given(st.floats(-1e3, 1e3))
def test_a_constant_added_to_a_head_changes_no_metric(constant: float) -> None:
    head = rng.normal(size=(1, 5, 7))
    plain, moved = values_of(of_window(head)), values_of(of_window(head + constant))
    assert list(plain.values()) == pytest.approx(list(moved.values()), abs=1e-9)


def test_values_beyond_the_colour_limits_and_constant_heads() -> None:
    head = np.zeros((3, 3))
    head[0, 0], head[0, 1] = 9.0, -9.0
    assert values_of(bias(head))["beyond"] == pytest.approx(200.0 / 9.0)
    assert values_of(of_window(np.full((2, 3, 3), 7.0)))["left_right"] is None


def test_a_figure_has_a_caption_of_what_it_shows_of_one_or_of_several() -> None:
    """Heads of one encoding, means over the heads of several; a heat map is the same of both."""
    form = WindowBias(frozen(rng.normal(size=(2, 5, 5))))
    encoding: Encoding[Any] = Encoding("vision", "window_bias", form, Provenance(""))
    analysis = bias_by_patch_offset.ANALYSIS
    results = {analysis.key: of_window(form.numbers)}
    readings = [Reading.of(encoding, label, results, {}, {}) for label in LABELS]
    members = [(Outcome(checkpoint(), "ok"), reading) for reading in readings]
    captions = [
        Figure.comparing("path", analysis.figures[0], analysis, some, "data").spec.caption
        for some in (members[:1], members)
    ]
    assert captions == [
        "Bias by patch offset of each head, of the first 16 where there are more.",
        "Bias by patch offset of each encoding, the mean over its heads.",
    ]
    heat_map = whole_table.ANALYSIS.figures[0].texts
    assert heat_map.of_several.caption == heat_map.caption
