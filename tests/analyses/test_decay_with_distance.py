from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from generator.analyses.decay_with_distance import (
    ANALYSIS,
    Shaped,
    _dots,
    compute,
    overview,
)
from generator.contracts import (
    Encoding,
    Label,
    Outcome,
    Provenance,
    Reading,
    Result,
    Subject,
)
from generator.encodings import (
    Convolution,
    OffsetBias,
    PositionTable,
    RelativeTable,
    Rotation,
    WindowBias,
    sinusoid,
)
from generator.encodings.kernels import profile_of
from generator.errors import NotApplicableError
from generator.figures.profiles import draw_bases, draw_profiles, draw_strip
from generator.numerics.arrays import cosine_matrix, frozen, local_monotonicity, mean_by_distance
from generator.numerics.floors import BasedRotation, lifts_the_floor
from generator.numerics.shapes import decay_scaled, far_level, half_distance
from tests.analyses.on import drifting
from tests.support import LABELS, checkpoint, close, subject

OFFSETS = frozen(np.arange(-128, 1))
ALIBI = OffsetBias(frozen(np.outer([0.5, 0.25], OFFSETS)), OFFSETS, causal=True, beyond="linear")
BOTH_SIDES = frozen(np.arange(-2, 3))
BY_CONSTRUCTION: dict[str, Shaped] = {
    "bias": OffsetBias(frozen(np.random.default_rng(0).normal(size=(3, 41))),
                       frozen(np.arange(-20, 21)), False, "constant"),
    "causal bias": ALIBI,
    "rotation": Rotation(10_000.0, 64, 64, 2048),
    "vectors by offset": RelativeTable(frozen(np.random.default_rng(1).normal(size=(17, 8))),
                                       frozen(np.arange(-8, 9))),
    "window": WindowBias(frozen(np.random.default_rng(4).normal(size=(2, 7, 9)))),
    "convolution": Convolution(frozen(np.random.default_rng(2).normal(size=(4, 2, 9))),
                               frozen(np.arange(-4, 5))),
}  # fmt: skip
CONSTANT: dict[str, Shaped] = {
    "bias": OffsetBias(frozen(np.full((2, 5), 3.0)), BOTH_SIDES, False, "constant"),
    "bias of zeros": OffsetBias(frozen(np.zeros((2, 5))), BOTH_SIDES, False, "constant"),
    "table": PositionTable(frozen(np.full((20, 8), 0.1))),
    "table of zeros": PositionTable(frozen(np.zeros((20, 8)))),
    "vectors by offset": RelativeTable(frozen(np.ones((5, 3))), BOTH_SIDES),
}


def result_of(form: Shaped) -> Result:
    return compute(subject(form))


def value(form: Shaped, key: str) -> float | None:
    return result_of(form).value(key)


def reason(form: Shaped, key: str) -> str:
    return result_of(form).metric(key).reason or ""


def bias(*heads: list[float], causal: bool = False) -> OffsetBias:
    """A bias of these heads, at offsets up to 0 if causal, else around it."""
    values = frozen(heads)
    offsets = np.arange(values.shape[1]) - (values.shape[1] - 1 if causal else values.shape[1] // 2)
    return OffsetBias(values, frozen(offsets), causal, "constant")


def test_the_sinusoid_is_translation_invariant_and_falls_to_offset_43() -> None:
    """sin and cos of a sum: P[p] · P[q] = Σ cos(θ (p − q)), and every row has the same length.

    It falls strictly to offset 43, and steps beyond 20 do not count.
    """
    result = result_of(PositionTable(sinusoid(512, 768)))
    assert result.value("invariance") == pytest.approx(1.0, abs=5e-6)
    assert np.flatnonzero(np.diff(result.arrays["profile"]) >= 0.0)[0] == 43
    assert result.value("monotonicity") == 100.0


@pytest.mark.parametrize("name", BY_CONSTRUCTION)
def test_forms_of_the_offset_are_translation_invariant(name: str) -> None:
    assert value(BY_CONSTRUCTION[name], "invariance") == pytest.approx(1.0, abs=1e-12)


def test_alibi_decays_linearly_with_any_slopes() -> None:
    """Far from 96 on, with 32 … 1 pairs: at a mean distance of 128 − Σ m² / Σ m = 128 − 65 / 3."""
    far = 128.0 - 65.0 / 3.0
    close(result_of(ALIBI).arrays["profile"], 1.0 - np.arange(128) / far, 1e-12)
    assert value(ALIBI, "half") is None
    assert "straight line" in reason(ALIBI, "half")
    assert value(ALIBI, "monotonicity") == 100.0
    [finding] = result_of(ALIBI).findings
    assert finding.text.startswith("The bias falls in a straight line, so where it is half way to")


def test_the_arrays_of_three_positions_by_hand() -> None:
    result = result_of(bias([0.0, 2.0, 4.0, 1.0, 0.0]))
    expected = [[1, 0.25, 0], [0.5, 1, 0.25], [0, 0.5, 1]]
    assert_allclose(result.derived["matrix"], expected)
    assert_allclose(result.arrays["profile"], [1.0, 0.375, 0.0])


LINE, FLAT, RISING = [0.0, 1.0, 2.0, 3.0, 4.0], [7.0] * 5, [4.0, 3.0, 2.0, 1.0, 0.0]
HALF_OF_LINE = 5 / 3  # Far are two pairs of 1 and one of 0: half of the fall from 4 to 2/3.
BY_HAND: dict[str, tuple[Shaped, dict[str, float]]] = {
    # Means by distance 4, 1½, 0; steps 4 > 2, 2 > 0 and 4 > 1, 1 > 0 all fall. A − Aᵀ has ±1 four
    # times, norm 2; A has 4 three times, 2 and 1 twice each, norm √58.
    "three positions": (
        bias([0.0, 2.0, 4.0, 1.0, 0.0]),
        {"half": 0.8, "monotonicity": 100.0, "symmetry": 1.0 - 1.0 / np.sqrt(58.0)},
    ),
    "antisymmetric": (bias([-2.0, -1.0, 0.0, 1.0, 2.0]), {"symmetry": 0.0}),
    # Cosines 0, 0 at distance 1 would be invariant; here they are 1 and 0, and 0 at distance 2:
    # 1 − 1 / (4/3).
    "a table of three": (
        PositionTable(frozen([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])),
        {"invariance": 0.25},
    ),
    # From distance 0 on: −9, 4, 2, 1, 0; far are two pairs of 1 and one of 0, so that half of the
    # fall from 4 is done at 7/3.
    "a maximum beside the query": (
        bias([0.0, 1.0, 2.0, 4.0, -9.0], causal=True),
        {"half": 1.0 + (4.0 - 7.0 / 3.0) / 2.0},
    ),
    "a flat step": (bias([0.0, 0.0, 1.0], causal=True), {"monotonicity": 200.0 / 3.0}),
    "a falling head": (bias(LINE, causal=True), {"half": HALF_OF_LINE, "constant": 0}),
    "constant heads beside it": (
        bias(LINE, FLAT, FLAT, causal=True),
        {"half": HALF_OF_LINE, "constant": 2, "rising": 0},
    ),
    "a head beside it that favours the farthest": (
        bias(LINE, RISING, causal=True),
        {"half": HALF_OF_LINE, "constant": 0, "rising": 1},
    ),
}


@pytest.mark.parametrize(("form", "expected"), BY_HAND.values(), ids=BY_HAND)
def test_the_measures_by_hand(form: Shaped, expected: dict[str, float]) -> None:
    assert {key: value(form, key) for key in expected} == pytest.approx(expected)


def test_without_a_falling_head_there_is_no_half_distance() -> None:
    assert reason(bias(RISING, causal=True), "half") == "it does not fall by 5% of its range"
    text = result_of(bias(RISING, causal=True)).findings[0].text
    assert "does not fall by 5% of its range with distance" in text


ENDING = np.random.default_rng(4).normal(size=(11, 8)) * (np.arange(11) % 10 > 0)[:, None]
NOT_SHAPED: list[tuple[Shaped, str]] = [
    *((form, "all pairs of positions have the same value") for form in CONSTANT.values()),
    (PositionTable(frozen([[1.0, 0.0], [0.0, 1.0]])), "it covers 2 positions"),
    (PositionTable(frozen([[1.0, 0.0], [np.nan, 1.0], [1.0, 1.0]])), "NaN or infinite"),
    (PositionTable(frozen([[1.0, 0.0], [np.inf, 1.0], [1.0, 1.0]])), "NaN or infinite"),
    (WindowBias(frozen(np.random.default_rng(8).normal(size=(1, 3, 3)))), "it covers 2 positions"),
    # As those of VITS, which has no vector for more than four positions.
    (RelativeTable(frozen(ENDING), frozen(np.arange(-5, 6))), "far positions have no value"),
]


@pytest.mark.parametrize(("form", "why"), NOT_SHAPED)
def test_what_has_no_profile_is_not_applicable(form: Shaped, why: str) -> None:
    with pytest.raises(NotApplicableError, match=why):
        result_of(form)


@pytest.mark.parametrize(("n_rows", "compared"), [(514, 128), (64, 64)])
def test_at_most_128_positions_are_compared(n_rows: int, compared: int) -> None:
    assert value(PositionTable(sinusoid(n_rows, 8)), "positions") == compared


def test_a_grid_that_adds_a_row_and_a_column_halves_as_either_alone() -> None:
    """Vectors (row's, column's) of equal length: within a row the cosine is ½ + ½ the columns'."""
    line = sinusoid(12, 16)
    grid = np.hstack([np.repeat(line, 12, axis=0), np.tile(line, (12, 1))])
    of_line, of_grid = (
        result_of(form).arrays["profile"]
        for form in (PositionTable(line), PositionTable(frozen(grid), grid=(12, 12)))
    )
    close(of_grid, of_line, 1e-12)
    assert value(PositionTable(frozen(grid), grid=(12, 12)), "invariance") == pytest.approx(
        1.0, abs=1e-9
    )


def test_a_window_of_three_by_three_by_hand() -> None:
    """Means 4, 2, 1; of 12 kinds of step, only that from 1 to 2 upwards does not fall."""
    values = np.zeros((5, 5))
    values[2], values[:, 2] = [0.0, 1.0, 4.0, 3.0, 2.0], [2.0, 1.0, 4.0, 3.0, 0.0]
    form = WindowBias(frozen(values[None]))
    assert_allclose(result_of(form).arrays["profile"], [1.0, (2.0 - 1.0) / 3.0, 0.0])
    assert value(form, "half") == pytest.approx(0.75)
    assert value(form, "monotonicity") == pytest.approx(1100.0 / 12)


def result_of_image(form: Shaped) -> Result:
    return compute(
        Subject(
            Encoding("vision rows", "made for a test", form, Provenance(""), modality="image"),
            no_input="no sentence was given",
        )
    )


@pytest.mark.parametrize(
    ("form", "of_image", "of_text"),
    [
        (Rotation(100.0, 32, 64, 14), 14, 128),
        (Rotation(10_000.0, 32, 64, 64), 16, 128),
        (
            RelativeTable(
                frozen(np.random.default_rng(9).normal(size=(13, 4))), frozen(np.arange(-6, 7))
            ),
            7,
            128,
        ),
    ],
)
def test_a_side_of_an_image_has_its_own_length(form: Shaped, of_image: int, of_text: int) -> None:
    assert len(result_of_image(form).arrays["profile"]) == of_image
    assert len(result_of(form).arrays["profile"]) == of_text
    assert (
        f"along rows and columns of up to {of_image}" in result_of_image(form).findings[0].text
        or "does not fall" in result_of_image(form).findings[0].text
    )


def test_words_and_patches_have_separate_panels() -> None:
    """Words are up to 127 apart, patches up to 15: on one axis either would be a smear."""
    line, grid = PositionTable(sinusoid(128, 8)), PositionTable(sinusoid(16, 8), grid=(4, 4))
    figure = draw_profiles({LABELS[0]: result_of(line), LABELS[1]: result_of(grid)})
    limits = [axes.get_xlim() for axes in figure.axes]
    assert limits == [(0.0, 127.0), (1.0, 127.0), (0.0, 3.0), (1.0, 3.0)]
    assert len(draw_profiles({LABELS[0]: result_of(line), LABELS[1]: result_of(line)}).axes) == 2
    of_image = result_of_image(PositionTable(sinusoid(40, 8)))
    assert str(of_image.arrays["unit"]) == "positions"  # Without a grid.


@pytest.mark.parametrize(
    ("n", "steps", "chance"), [(128, 20, 52.7), (512, 20, 52.5), (16, 15, 56.25)]
)
def test_the_share_of_falling_steps_of_a_random_table(n: int, steps: int, chance: float) -> None:
    """The first step outwards always falls, half of the others do; and so in random tables."""
    first, every = n - 1, sum(n - 1 - distance for distance in range(steps))
    assert 100.0 * (first + 0.5 * (every - first)) / every == pytest.approx(chance, abs=0.05)
    rng = np.random.default_rng(3)
    shares = [
        local_monotonicity([cosine_matrix(rng.normal(size=(n, 64)))], 20)
        for _ in range(12 if n > 16 else 200)
    ]
    assert 100.0 * float(
        np.mean([share for share in shares if share is not None])
    ) == pytest.approx(chance, abs=0.5)


@pytest.mark.parametrize(("chosen", "heads"), [
    ([0, 1], "In head 0 of 2, the"),
    ([0], "The"),
    ([0, 0, 1], "In heads 0–1 of 3, the"),
    ([1, 0, 1, 0], "In heads 1, 3 of 4, the"),
    ([0, 0], "In each of 2 heads, the"),
])  # fmt: skip
def test_heads_that_do_not_decay_are_not_in_the_finding(chosen: list[int], heads: str) -> None:
    values = np.stack([-np.abs(np.arange(-9, 10.0)), np.abs(np.arange(-9, 10.0))])[chosen]
    form = OffsetBias(frozen(values), frozen(np.arange(-9, 10)), causal=False, beyond="constant")
    text = (
        f"{heads} bias falls halfway from its highest value to its far level within 3.83 positions"
    )
    assert text in result_of(form).findings[0].text


@pytest.mark.parametrize(("depth", "expected"), [(0.4, "In head 0 of 2"), (0.6, "In each of 2")])
def test_a_head_that_hardly_falls_is_not_in_the_finding(depth: float, expected: str) -> None:
    """Its later keys are 10 above the earlier ones; their mean falls by ``depth`` in one step."""
    offsets = np.arange(-9, 10)
    level = 10.0 * (offsets > 0) + np.where(offsets == 0, 5.0 + depth, 0.0)
    heads = frozen(np.stack([-np.abs(offsets.astype(float)), level]))
    form = OffsetBias(heads, frozen(offsets), causal=False, beyond="constant")
    result = result_of(form)
    assert result.findings[0].text.startswith(
        f"{expected}{'' if depth < 0.5 else ' heads'}, the bias, averaged over earlier and later"
        " keys, falls halfway"
    )
    assert result.value("rising") == float(depth < 0.5)


def test_a_half_distance_is_marked_only_where_the_mean_line_crosses_one_half() -> None:
    """The mean over heads is far from where their mean line is half way."""
    distance = np.abs(np.arange(-63, 64.0))
    steep, flat = -np.minimum(distance, 1.0), -distance
    for heads, n_spots in (([flat], 1), ([steep, flat], 0)):
        form = OffsetBias(
            frozen(np.stack(heads)), frozen(np.arange(-63, 64)), causal=False, beyond="constant"
        )
        assert len(result_of(form).findings[0].spots) == n_spots


STEADY = ("half", "monotonicity", "invariance", "half_context")


@pytest.mark.parametrize("position", [0, 5, 300, 511])
@pytest.mark.parametrize("factor", [1.0, 30.0])
def test_an_odd_row_in_a_sinusoid_changes_no_measure(position: int, factor: float) -> None:
    """Every offset has one cosine, so that pairs left out change only the far level."""
    table = sinusoid(512, 64).copy()
    table[position] = factor * np.linalg.norm(table[0]) * np.eye(64)[3]
    plain, odd = (result_of(PositionTable(rows)) for rows in (sinusoid(512, 64), table))
    assert odd.value("left_out") == 1
    assert [odd.value(key) for key in STEADY] == pytest.approx(
        [plain.value(key) for key in STEADY], rel=2e-3
    )
    assert f"Position {position} is an outlier and is left out." in [
        each.text for each in odd.findings
    ]


def test_a_walk_halves_where_its_correlation_does_in_every_window() -> None:
    """0.9^k falls halfway from 1 to 0 at ln ½ / ln 0.9 = 6.58."""
    result = result_of(PositionTable(frozen(drifting(1000, 0.9, 768, 1))))
    for key in ("half", "half_low", "half_high", "half_context"):
        assert result.value(key) == pytest.approx(np.log(0.5) / np.log(0.9), rel=0.1)
    assert (
        "In different parts of the table, it is half way within 6.49 to 6.64 positions."
        in result.findings[0].text
    )


def test_where_windows_disagree_there_is_no_half_distance_but_the_reason() -> None:
    """Smooth at the start, noise from the middle on."""
    table = np.vstack(
        [drifting(200, 0.98, 768, 1), np.random.default_rng(2).normal(size=(400, 768))]
    )
    result = result_of(PositionTable(frozen(table)))
    assert result.value("half") is None
    assert "differs along the table: 29.6 at the start, 0.50 in the middle and 0.50 at the end" in (
        result.metric("half").reason or ""
    )
    assert result.findings[0].text.endswith(
        " within 29.6 positions there, but within a single step in the middle and at the end."
    )
    assert (result.value("half_high") or 0.0) > 50 * (result.value("half_low") or 1.0)
    assert "differs along" in (result.metric("monotonicity").reason or "")


@pytest.mark.parametrize(
    ("correlation", "times", "half"),
    [(0.945, 1.8, pytest.approx(8.2, rel=0.05)), (0.955, 2.2, None)],
)
def test_half_distances_have_a_mean_if_alike(correlation: float, times: float, half: Any) -> None:
    """A walk that halves near ln ½ / ln 0.9 = 6.6, and farther at the start."""
    table = np.vstack([drifting(200, correlation, 768, 2), drifting(400, 0.9, 768, 12)])
    result = result_of(PositionTable(frozen(table)))
    assert (result.value("half_high") or 0.0) / (result.value("half_low") or 1.0) == pytest.approx(
        times, abs=0.05
    )
    assert result.value("half") == half


@pytest.mark.parametrize(
    ("n_positions", "grid", "windows"),
    [(100, None, 1), (256, (16, 16), 1), (60, (12, 5), 1), (360, (20, 18), 3)],
)
def test_large_grids_have_three_windows(n_positions: int, grid: Any, windows: int) -> None:
    result = result_of(PositionTable(sinusoid(n_positions, 16), grid=grid))
    assert len(result.arrays["halves"]) == windows
    assert ("half_low" in {metric.key for metric in result.metrics}) == (windows > 1)


@pytest.mark.parametrize("grid", [None, (20, 30), (600, 1)])
def test_the_profile_of_all_positions_is_that_of_the_cosine_matrix(grid: Any) -> None:
    form = PositionTable(frozen(drifting(600, 0.9, 768, 3)), grid=grid)
    rows, columns = grid or (1, 600)
    patches = np.arange(600).reshape(rows, columns)
    cosines = cosine_matrix(form.vectors)
    lines = [cosines[np.ix_(line, line)] for line in (*patches, *patches.T)]
    profile = profile_of(form, 16, of_patches=False)
    close(profile.values[0], mean_by_distance(lines)[profile.distances], 1e-12)
    assert profile.far[0] == pytest.approx(far_level(lines), abs=1e-12)
    assert (profile.distances[0], profile.distances[-1]) == (0, max(rows, columns) - 1)


@pytest.mark.parametrize("form", [
    Rotation(10_000.0, 64, 64, 2048),
    Rotation(1e7, 32, 64, 2048),
    Rotation(1e6, 8, 8, 2048, step=0.002),
    PositionTable(frozen(drifting(600, 0.98, 768, 3))),
])  # fmt: skip
def test_the_half_distance_over_all_is_that_of_the_matrix(form: Rotation | PositionTable) -> None:
    """Whichever distances are drawn."""
    matrix = form.kernel(2048)[0]
    decay = decay_scaled(mean_by_distance([matrix]), far_level([matrix]))
    assert decay is not None
    assert value(form, "half_context") == pytest.approx(
        half_distance(np.arange(decay.size), decay), rel=1e-9
    )


def test_the_half_distance_of_a_ripple_is_the_first_of_its_falls() -> None:
    """Between distances that are drawn, and beyond those that are looked at together first."""
    form = Rotation(
        1.0,
        20,
        20,
        20_000,
        rescaled=(frozen([*[2e-4] * 9, 2.0]), 1.0),
        scaling={"rope_type": "stored"},
    )
    every = form.by_offset(20_000)
    far = float(np.average(every[15_000:], weights=5_000 - np.arange(5_000)))
    expected = half_distance(np.arange(20_000), (every - far) / (1.0 - far))
    drawn = profile_of(form, 16, of_patches=False).distances
    assert expected is not None
    assert 4096 < expected < drawn[np.searchsorted(drawn, expected)] - 1
    assert value(form, "half_context") == pytest.approx(expected, rel=1e-9)


def test_a_rotation_without_a_turn_does_not_fall() -> None:
    form = Rotation(1.0, 2, 2, 4096, {"rope_type": "stored"}, rescaled=(frozen([1e-13]), 1.0))
    assert np.isnan(profile_of(form, 16, of_patches=False).halves).all()


def rotation(base: float, width: int = 128) -> Rotation:
    return Rotation(base, width, width, 4096)


@pytest.mark.parametrize(("base", "far"), [(1e4, 0.42), (5e5, 0.59), (1e6, 0.60), (1e7, 0.66)])
def test_a_base_moves_the_far_level_and_not_the_distance_half_way(base: float, far: float) -> None:
    """Of evenly spread wavelengths, the mean cosine at δ is 1 − (ln δ + γ) / ln base, so that half
    of the fall to the level at 107, the middle of the far pairs, is done at √107 · e^(−γ/2) = 7.75.
    """
    result = result_of(rotation(base))
    assert result.value("far") == pytest.approx(far, abs=0.01)
    in_theory = 1.0 - (np.log(107.0) + np.euler_gamma) / np.log(base)
    assert result.value("far") == pytest.approx(in_theory, abs=0.02)
    assert result.value("half") == pytest.approx(np.sqrt(107.0 / np.exp(np.euler_gamma)), rel=0.06)


def test_a_sentence_says_from_where_to_where_and_counts_the_steps() -> None:
    """By hand: the mean of cos(δ · 10,000^(−j/64)) over j."""
    offsets = np.arange(128.0)
    cosines = np.cos(np.outer(offsets, 1e4 ** (-np.arange(64) / 64.0))).mean(axis=1)
    far = np.average(cosines[96:], weights=np.arange(32, 0, -1))
    falls = np.count_nonzero(np.diff(cosines[:21]) < 0.0)
    assert result_of(rotation(1e4)).findings[0].text == (
        "The mean cosine of the angles falls halfway to its far level (from 1 to"
        f" {(1.0 + far) / 2.0:.2f}) within 8.14 positions (measured over 128). Its far level, the"
        f" mean over all pairs of positions 96 to 127 apart, is {far:.2f}. It falls in {falls} of"
        " the first 20 steps."
    )


def test_random_vectors_have_a_far_level_of_0_half_way_at_a_step() -> None:
    noise = np.random.default_rng(5).normal(size=(512, 384))
    result = result_of(PositionTable(frozen(noise)))
    assert result.value("far") == pytest.approx(0.0, abs=0.01)
    assert result.value("half") == pytest.approx(0.5, abs=0.02)
    assert result.findings[0].text.endswith(
        "It falls at 53% of all steps within distance 20, against 53% by chance."
    )


def test_a_shared_component_lifts_the_far_level_alone() -> None:
    """A constant of the same energy: every cosine c becomes (1 + c) / 2."""
    walk = drifting(1000, 0.9, 768, 1)
    lifted = np.hstack([walk, np.linalg.norm(walk, axis=1)[:, None]])
    plain, other = (result_of(PositionTable(frozen(rows))) for rows in (walk, lifted))
    assert other.value("far") == pytest.approx((1.0 + (plain.value("far") or 0.0)) / 2.0, abs=1e-9)
    assert other.value("half") == pytest.approx(plain.value("half"), rel=1e-9)


def test_windows_with_different_levels_have_no_common_one() -> None:
    shared = np.append(np.full(200, 3.0), np.zeros(400))[:, None]
    noise = np.random.default_rng(6).normal(size=(600, 99)) / 10.0
    result = result_of(PositionTable(frozen(np.hstack([shared, noise]))))
    assert result.value("far") is None
    assert "differs along the table: 0.9" in reason_of(result, "far")
    assert (result.value("far_high") or 0.0) > 0.8
    assert (result.value("far_low") or 1.0) < 0.1


def reason_of(result: Result, key: str) -> str:
    return result.metric(key).reason or ""


@pytest.mark.parametrize("name", ["bias", "window", "convolution"])
def test_what_is_no_cosine_has_no_far_level(name: str) -> None:
    result = result_of(BY_CONSTRUCTION[name])
    assert result.value("far") is None
    assert "no cosine" in reason_of(result, "far")
    assert "far_levels" not in result.arrays


def member(slug: str, encoding: Encoding[Any]) -> tuple[Outcome, Reading]:
    result = compute(Subject(encoding, no_input="no sentence was given"))
    reading = Reading.of(encoding, Label(slug, "#3d7fd6"), {ANALYSIS.key: result}, {}, {})
    return Outcome(checkpoint(slug=slug), "ok", readings=(reading,)), reading


def rotary(base: float, width: int = 128, **more: Any) -> Encoding[Any]:
    form = Rotation(base, width, width, 4096, **more)
    return Encoding("decoder", "rotary", form, Provenance("config.json"))


def test_a_larger_base_lifts_the_floor_where_the_rotations_show_it() -> None:
    members = [
        member(f"m{place}", rotary(base, width))
        for place, (base, width) in enumerate(
            [(1e4, 128), (1e4, 256), (1e5, 64), (1e6, 128), (5e6, 128), (1e7, 64)]
        )
    ]
    assert overview(members).sentence == (
        "A base at least ten times as large raises the far level, but does not widen the peak above"
        " it: over 128 positions, of the 6 different unscaled rotations for text here, the one with"
        " such a base has the higher far level of any two (0.42 at base 10,000, 0.64 at base"
        " 10,000,000), while all are half way to it within 7.41 to 8.32 positions."
    )
    assert overview(members[:4]).sentence == ""
    assert overview(members[:2] * 3).sentence == ""  # Two rotations, however often they are listed.


def test_of_shuffled_far_levels_fewer_than_one_in_a_hundred_are_said_to_rise() -> None:
    rotations = [
        BasedRotation(10.0**base, 64, 8.0, far)
        for base, far in enumerate((0.42, 0.48, 0.53, 0.59, 0.66))
    ]
    assert lifts_the_floor(rotations)
    assert not lifts_the_floor([*rotations[:4], replace(rotations[4], half=12.0)])
    draws, n_said = np.random.default_rng(0), 0
    for _ in range(300):
        fars = draws.permutation([one.far for one in rotations])
        shuffled = [replace(one, far=far) for one, far in zip(rotations, fars, strict=True)]
        n_said += lifts_the_floor(shuffled)
    assert n_said <= 6


def test_layers_of_a_model_are_one_dot_and_biases_stand_apart() -> None:
    random = np.random.default_rng(7)
    layers = []
    for number in range(1, 4):
        form = OffsetBias(
            frozen(np.stack([-np.abs(np.arange(-9, 10.0)) - random.random(19)])),
            frozen(np.arange(-9, 10)), causal=False, beyond="constant",
        )  # fmt: skip
        stored = Provenance("model.safetensors", f"layers.{number}.bias")
        layers.append(member("t5", Encoding(f"layer {number}", "t5_bias", form, stored)))
    dots = _dots([*layers, member("llama", rotary(1e4)), member("llama", rotary(1e4))])
    assert [(dot.row, dot.name) for dot in dots] == [
        ("Rotary", "llama"), ("Learned relative bias (logits)", "t5, median of 3 encodings"),
    ]  # fmt: skip
    halves = [reading.results[ANALYSIS.key].value("half") for _, reading in layers]
    assert dots[1].half == np.median([half or 0.0 for half in halves])
    figure = draw_strip(dots, {})
    assert [len(axes.lines) for axes in figure.axes] == [4, 2]  # A line for each row, and dots.


def drawn(axes: Any) -> list[Any]:
    """x and y of the lines of a panel, as arrays."""
    return [np.asarray(line.get_xydata()).T for line in axes.lines]


def test_the_first_figure_has_four_bases_near_and_far() -> None:
    near, far = (drawn(axes) for axes in draw_bases({}).axes)
    curves = [y for x, y in near if x.size == 128]
    levels = [y[0] for x, y in near if x.size == 2]
    assert [len(curves), len(levels), len(far)] == [4, 4, 4]
    assert levels == sorted(levels)
    assert {x[-1] for x, _ in far} == {131_072}
    for curve, base in zip(curves, (1e4, 1e5, 1e6, 1e7), strict=True):
        close(curve, rotation(base).by_offset(128), 1e-12)


FAR_OFFSETS = np.arange(-19, 20)
UP_AND_DOWN, APART = [1.0, *np.arange(19) % 2], np.arange(20) / 19


@pytest.mark.parametrize(("heads", "start", "end"), [
    ([UP_AND_DOWN], "The bias shows no clear fall with distance over", " against 50% by chance."),
    ([1 - APART], "The bias falls halfway from its highest value", "of the first 19 steps."),
    ([*[UP_AND_DOWN] * 9, 1 - APART, APART],
     "Together, heads 0–9 of 11, which alone have their highest value well above their far level,",
     " against 50% by chance (single heads 53 to 100%)."),
])  # fmt: skip
def test_a_bias_that_goes_up_and_down_shows_no_clear_fall(heads: Any, start: str, end: str) -> None:
    by_offset = frozen(np.array(heads)[:, np.abs(FAR_OFFSETS)])
    form = OffsetBias(by_offset, frozen(FAR_OFFSETS), causal=False, beyond="constant")
    (finding,) = result_of(form).findings
    assert (finding.text[: len(start)], finding.text[-len(end) :]) == (start, end)
