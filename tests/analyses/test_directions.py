"""Ranks and principal components, against theorems, other code and small cases by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA

from generator.analyses import principal_components, rank
from generator.contracts import Finding
from generator.encodings import PositionTable, tables
from generator.errors import NotApplicableError
from generator.numerics.arrays import Floats, frozen
from tests.analyses.on import result_of, texts_of, values_of
from tests.support import LABELS, close

rng = np.random.default_rng(0)
NOISE = rng.normal(size=(60, 20))
ANGLES = np.arange(200) * 2.0 * np.pi / 40.0  # five turns
HELIX = np.stack(
    [np.cos(ANGLES), np.sin(ANGLES), np.linspace(-1.0, 1.0, 200), *np.zeros((5, 200))], axis=1
)


def findings_of(module: Any, table: Any, grid: tuple[int, int] | None = None) -> list[Finding]:
    return list(result_of(module, table, grid).findings)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        # σ = (1, 1, 1): Σσ²/σ₁² = 3, e^(ln 3) = 3 (Roy and Vetterli 2007, property 1).
        (np.eye(3), {"stable": 3.0, "effective": 3.0}),
        # σ = (2, 1): 5/4; p = (2/3, 1/3), H = ln 3 − (2/3) ln 2; the first holds 4/5.
        (
            np.diag([2.0, 1.0]),
            {"stable": 1.25, "effective": 3.0 / 2.0 ** (2.0 / 3.0), "for_90": 2, "most": 2},
        ),
        (np.ones((20, 8)), {"stable": 1.0, "centred_stable": None}),
    ],
)
def test_ranks_by_hand(table: Floats, expected: dict[str, float | None]) -> None:
    values = values_of(result_of(rank, table))
    assert {key: values[key] for key in expected} == pytest.approx(expected)


@given(st.integers(1, 6), st.integers(0, 9))
def test_no_measure_exceeds_the_true_rank(true_rank: int, seed: int) -> None:
    """1 ≤ stable rank ≤ rank, 1 ≤ effective rank ≤ rank."""
    random = np.random.default_rng(seed)
    values = values_of(
        result_of(rank, random.normal(size=(30, true_rank)) @ random.normal(size=(true_rank, 12)))
    )
    assert all(
        1.0 - 1e-9 <= (values[key] or 0.0) <= true_rank + 1e-6
        for key in ("stable", "effective", "for_99")
    )


def test_components_for_a_share_are_those_of_scikit_learn() -> None:
    table = NOISE * 0.7 ** np.arange(20) + 3.0
    theirs = [PCA(n_components=share).fit(table).n_components_ for share in (0.90, 0.95, 0.99)]
    values = values_of(result_of(rank, table))
    assert [values[f"centred_for_{share}"] for share in (90, 95, 99)] == theirs
    # ‖P‖² = ‖P − mean‖² + n |mean|².
    table = NOISE + 2.0
    held = 1.0 - np.sum((table - table.mean(axis=0)) ** 2) / np.sum(table**2)
    assert values_of(result_of(rank, table))["in_mean"] == pytest.approx(100.0 * held)


def test_findings_follow_ranks_components_and_mean() -> None:
    low = np.outer(np.arange(40.0), NOISE[0]) + 1e-3 * rng.normal(size=(40, 20))
    finding = findings_of(rank, low)[0]
    assert finding.text.startswith("One of 20 directions accounts for 90% of the differences")
    assert "spread over most of their directions" in findings_of(rank, NOISE)[0].text
    assert finding.weight > findings_of(rank, NOISE)[0].weight
    # Three columns of about equal variance hold nearly all of it, two of them about two thirds.
    (found,) = findings_of(principal_components, NOISE * np.where(np.arange(20) < 3, 1.0, 1e-3))
    assert found.text.startswith("The first three principal components account for ")
    assert findings_of(rank, NOISE * np.where(np.arange(20) < 3, 1.0, 1e-3)) == []
    text = "in its mean vector, which is the same at every position"
    assert [text in " ".join(texts_of(result_of(rank, NOISE + mean))) for mean in (3.0, 0.0)] == [
        True,
        False,
    ]


@pytest.mark.parametrize("module", [rank, principal_components])
def test_a_table_beyond_the_limit_is_left(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_SHORT", 30)
    with pytest.raises(NotApplicableError, match="a table of 31 × 40 is too large to decompose"):
        result_of(module, np.ones((31, 40)))


@pytest.mark.parametrize("shape", [(60, 20), (20, 60), (20, 20)])
def test_a_large_table_has_the_numbers_of_numpy(shape: tuple[int, int], monkeypatch: Any) -> None:
    monkeypatch.setattr(tables, "MOST_VALUES", 0)
    table = np.random.default_rng(5).normal(size=shape) * 0.7 ** np.arange(shape[1]) + 1.0
    form, largest = PositionTable(frozen(table)), np.abs(table).max()
    theirs = np.linalg.svd(table / largest, compute_uv=False)
    close(form.singular_values, theirs, 1e-7 * theirs[0])
    left, values, _ = np.linalg.svd((table - table.mean(axis=0)) / largest, full_matrices=False)
    close(form.components.values, values, 1e-7 * values[0])
    close(np.abs(form.components.left), np.abs(left[:, :3]), 1e-9)


def test_a_large_table_of_low_rank_has_its_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_VALUES", 0)
    values = values_of(result_of(rank, np.outer(np.arange(20.0), np.ones(8))))
    assert [values["stable"], values["for_99"]] == pytest.approx([1.0, 1.0])


def test_components_are_those_of_scikit_learn() -> None:
    table = NOISE * 0.7 ** np.arange(20)
    theirs = PCA(svd_solver="full").fit(table)
    result = result_of(principal_components, table)
    placed = result.arrays["coordinates"]
    close(result.arrays["shares"], theirs.explained_variance_ratio_, 1e-12)
    scale = np.sqrt(np.mean(np.sum((table - table.mean(axis=0)) ** 2, axis=1)))
    close(np.abs(placed), np.abs(theirs.transform(table)[:, :3]) / scale, 1e-9)
    assert values_of(result)["first_2"] == pytest.approx(
        100.0 * theirs.explained_variance_ratio_[:2].sum()
    )


@pytest.mark.parametrize("shape", [(60, 20), (20, 60), (20, 20)])
def test_components_without_outliers_are_those_of_scikit_learn(shape: tuple[int, int]) -> None:
    table = np.random.default_rng(4).normal(size=shape) * 0.7 ** np.arange(shape[1])
    theirs = PCA(svd_solver="full").fit(table)
    placed, shares = principal_components.placed_by_components(1e200 * table)
    close(shares, theirs.explained_variance_ratio_, 1e-12)
    scale = np.sqrt(np.mean(np.sum((table - table.mean(axis=0)) ** 2, axis=1)))
    close(np.abs(placed), np.abs(theirs.transform(table)[:, :3]) / scale, 1e-9)


def test_the_sign_of_a_component_follows_its_first_large_value_whatever_that_of_the_table() -> None:
    column = np.array([[0.1], [-1.0], [0.0], [1.0], [-0.1]])
    assert_array_equal(principal_components.oriented(column), -column)
    once, mirrored = (
        result_of(principal_components, values).arrays["coordinates"] for values in (NOISE, -NOISE)
    )
    close(once, mirrored, 1e-9)


def test_a_helix_is_reported_with_its_turns() -> None:
    (finding,) = findings_of(principal_components, HELIX)
    assert finding.text == (
        "The table is a helix of 4.88 turns, one about every 40.8 positions. The rate is nearly"
        " even: the fastest eighth of the path turns 1.25 times as fast as the slowest. The first"
        " three principal components account for 100% of the variance."
    )
    assert "100% of the steps turn the same way, in random numbers of the same" in finding.context
    # Its axis is a little askew: five whole turns lean on it.
    turns = result_of(principal_components, HELIX).value("turns")
    assert turns == pytest.approx(5.0, abs=0.15)
    assert (finding.weight, "the same turn and shift" in finding.context) == (1.0, True)


@pytest.mark.parametrize(("width", "noise", "opening", "end"), [
    (4, 0.2, "The positions run round a circle, one lap ", "the slowest. The first two"),
    (400, 0.12, "The positions run round a circle in the plane", "every 40 positions (4.98 laps)."),
])  # fmt: skip
def test_a_circle_is_no_helix(width: int, noise: float, opening: str, end: str) -> None:
    beside = noise * np.random.default_rng(1).normal(size=(200, width))
    (found,) = findings_of(principal_components, np.hstack([HELIX[:, :2], beside]))
    assert (found.text.startswith(opening), end in found.text) == (True, True)
    assert "In random numbers of the same size, at most 5" in found.context


@pytest.mark.parametrize(
    ("noise", "opening", "weight"),
    [
        (0.01, "The table is a helix of ", 1.0),
        (0.12, "The first three principal components show a helix of ", 0.6),
    ],
)
def test_a_helix_holds_most_of_the_variance(noise: float, opening: str, weight: float) -> None:
    (finding,) = findings_of(
        principal_components, np.hstack([HELIX[:, :3], noise * rng.normal(size=(200, 400))])
    )
    assert finding.text.startswith(opening)
    assert (finding.weight, "even helix" in finding.context) == (weight, weight == 1.0)


@pytest.mark.parametrize(
    ("values", "grid"),
    [(HELIX[np.random.default_rng(2).permutation(200)], None), (NOISE, None), (HELIX, (10, 20))],
    ids=["shuffled", "noise", "patches in reading order"],
)
def test_without_a_path_there_is_no_circle(values: Floats, grid: tuple[int, int] | None) -> None:
    text = " ".join(texts_of(result_of(principal_components, values, grid)))
    assert ("circle" in text, "helix" in text) == (False, False)


def test_of_random_numbers_half_of_the_steps_turn_one_way() -> None:
    """With n rows of d, the largest eigenvalues approach (√n + √d)² (Johnstone 2001), of which two
    are at most 2 (√n + √d)² / (n d) of all; of signs that are drawn, less than 1 in 1,000 tables
    has over half plus 1.65 / √n of one kind.
    """
    n, d = 508, 384
    steady, share = principal_components.of_noise(np.arange(n), d)
    assert 0.5 < steady < 0.5 + 1.65 / np.sqrt(n)
    assert share == pytest.approx(2.0 * (np.sqrt(n) + np.sqrt(d)) ** 2 / (n * d), rel=0.04)


def test_a_circle_that_holds_no_more_than_random_numbers_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(principal_components, "of_noise", lambda *_: (0.55, 1.0))
    result = result_of(principal_components, HELIX)
    assert [text.partition(" account")[0] for text in texts_of(result)] == [
        "The first three principal components"
    ]
    assert principal_components.brief(result, "token") == ""


def test_fewer_than_four_positions_or_dimensions_have_no_three_components() -> None:
    with pytest.raises(NotApplicableError, match="three components need at least 4 × 4"):
        result_of(principal_components, rng.normal(size=(20, 3)))


def uneven(ratio: float) -> Floats:
    """Twelve turns and a drift, the last half ``ratio`` times as fast as the first: (200, 8)."""
    angles = (
        24.0
        * np.pi
        * np.cumsum(np.where(np.arange(200) < 100, 1.0, ratio))
        / (100.0 * (1.0 + ratio))
    )
    return np.stack(
        [np.cos(angles), np.sin(angles), np.linspace(-0.5, 0.5, 200), *np.zeros((5, 200))], axis=1
    )


@pytest.mark.parametrize(("ratio", "is_helix"), [(1.25, True), (3.0, False)])
def test_a_helix_turns_at_an_even_rate(ratio: float, is_helix: bool) -> None:
    (finding,) = findings_of(principal_components, uneven(ratio))
    assert values_of(result_of(principal_components, uneven(ratio)))["rate"] == pytest.approx(
        ratio, rel=0.05
    )
    assert ("helix" in finding.text, "even helix" in finding.context) == (is_helix, is_helix)
    assert is_helix or "times as fast as the slowest" in finding.text


@pytest.mark.parametrize(("steps", "expected"), [
    ([10.0] * 16 + [30.0] * 16, (640.0 / 360.0, 1.0, 3.0)),
    ([10.0] * 29 + [-10.0] * 19, (100.0 / 360.0, 29 / 48, None)),
])  # fmt: skip
def test_the_rate_of_a_path_by_hand(steps: list[float], expected: tuple[float | None, ...]) -> None:
    """Of the first, the fastest eighth turns three times as fast; the second turns back."""
    angles = np.radians(np.append(0.0, np.cumsum(steps)))
    path = principal_components.around(np.cos(angles), np.sin(angles), np.arange(angles.size))
    assert (path.turns, path.steady, path.rate) == pytest.approx(expected)


@pytest.mark.parametrize("rows", [[0], [0, 1, 2, 199]])
def test_outliers_do_not_change_the_path(rows: list[int]) -> None:
    """The other positions are those of the helix; with them, components would point at them."""
    table = HELIX + 0.01 * np.random.default_rng(3).normal(size=HELIX.shape)
    odd = table.copy()
    odd[rows] = 60.0 * np.eye(8)[4]
    kept = np.delete(np.arange(200), rows)
    result, expected = (result_of(principal_components, rows) for rows in (odd, table[kept]))
    assert [
        result.value(key) for key in ("turns", "steady", "evenness", "rate", "within_3", "left_out")
    ] == pytest.approx(
        [expected.value(key) for key in ("turns", "steady", "evenness", "rate", "within_3")]
        + [len(rows)]
    )
    close(result.arrays["coordinates"][kept], expected.arrays["coordinates"], 1e-9)
    assert np.isnan(result.arrays["coordinates"][rows]).all()
    assert (expected.value("first_1") or 0.0) < 60.0 < (result.value("first_1") or 0.0)


@pytest.mark.parametrize(("count", "appeals"), [(15, False), (16, True)])
def test_a_figure_appeals_where_a_finding_says_that_it_winds(count: int, appeals: bool) -> None:
    angles = np.arange(count) * np.pi / 4.0
    circle = np.stack([np.cos(angles), np.sin(angles), *np.zeros((6, count))], axis=1)
    result = result_of(principal_components, circle)
    assert result.value("lap") == pytest.approx(8.0, rel=0.05)
    assert (result.value("onwards"), result.metric("onwards").reason) == (
        None, "component 3 is rounding",
    )  # fmt: skip
    assert (principal_components.appeal(result) > 0.0) == appeals


def test_places_that_differ_by_rounding_share_their_rank() -> None:
    from scipy.stats import spearmanr

    values = np.repeat([0.0, 1.0, 0.0, 1.0], [5, 4, 3, 9])
    noise = np.random.default_rng(1).normal(size=values.size) * 1e-14
    found = principal_components.rank_correlation(values + noise, 1.0)
    assert found == pytest.approx(abs(spearmanr(values, np.arange(values.size)).statistic))


def test_patches_on_a_grid_make_no_path() -> None:
    result = result_of(principal_components, HELIX, grid=(10, 20))
    for key in ("turns", "steady", "rate", "evenness", "onwards"):
        assert "end of each row" in (result.metric(key).reason or "")
    figure = principal_components.draw({LABELS[0]: result})
    drawn = [np.asarray(line.get_xydata()) for axes in figure.axes[:3] for line in axes.lines]
    assert all(np.isnan(points[2::3]).all() for points in drawn)  # Each dot is a stroke of its own.
