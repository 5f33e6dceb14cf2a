"""Cosine similarity of positions by their offset."""

from collections.abc import Iterator, Mapping
from math import inf, sqrt

import numpy as np

from generator.contracts import (
    Analysis,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Label,
    Metric,
    Oracle,
    Overlay,
    Result,
    Spot,
    Subject,
)
from generator.contracts.oracles import COSINES, array, metrics, paper_sinusoid
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.charts import Curves
from generator.figures.scene import Band
from generator.numerics.arrays import (
    FLAT,
    Array,
    Floats,
    cosine_matrix,
    finite,
    local_monotonicity,
    mean_by_distance,
    off_diagonal,
    offsets_between,
    translation_invariance,
)
from generator.numerics.shapes import half_distance

WORDING = Wording("analyses/similarity_by_distance.md.jinja")
MOST_POSITIONS = 2048  # The matrix of a longer table would take gigabytes.
FEWEST = 3
STEPS = 20  # Largest width of local monotonicity, in positions.
INVARIANT = 0.99
CLEAR = 3.0  # standard errors of a step that is no chance
ALIKE = 0.1  # A difference of cosines from here on is worth a sentence.
VIEW = (-1.0, 1.02)


def compute(subject: Subject[PositionTable]) -> Result:
    """Mean and spread of the cosine similarity by offset, up to ``MOST_POSITIONS`` and without
    outliers, and how it decays.

    Translation invariance and local monotonicity after Wang B. et al. 2021.
    arrays: profile, spread (n_positions,), index = offset in positions
    errors: NotApplicableError when positions form a grid, are too few, are zero but for one, or do
        not differ in direction, or the table is not finite
    """
    form = subject.encoding.form
    cosines = _cosines(form)
    profile, mean = mean_by_distance([cosines]), float(off_diagonal(cosines).mean())
    half, rise = half_of_fall(profile, mean), first_rise(profile)
    invariance = translation_invariance(cosines, offsets_between(len(cosines)))
    falls = local_monotonicity([cosines], STEPS)
    measured = (
        Metric(
            "half_fall",
            "Distance at which the mean cosine is halfway from 1 to its overall mean",
            half,
            "positions",
        ),
        Metric(
            "half",
            "Distance at which the mean cosine falls below ½",
            half_distance(np.arange(profile.size), profile),
            "positions",
            "it never falls below ½",
        ),
        Metric(
            "rise",
            "Distance at which the mean cosine first rises",
            rise,
            "positions",
            "it never rises",
        ),
        Metric(
            "invariance",
            "Translation invariance (share of the variance that distance explains)",
            invariance,
            reason="all pairs of different positions have the same cosine",
        ),
        Metric(
            "invariance_noise",
            "Translation invariance of random vectors",
            2.0 / (np.count_nonzero(~np.isnan(np.diagonal(cosines))) + 1),
        ),
        Metric(
            "monotonicity",
            f"Local monotonicity (share of the steps, {STEPS} at most, at which the cosine falls)",
            None if falls is None else 100.0 * falls,
            "%",
            "no two adjacent positions both have a nonzero vector",
        ),
        Metric("mean", "Mean cosine of all positions", mean),
        Metric("positions", "Positions compared", len(cosines)),
        Metric("left_out", "Outliers left out", (form.outliers < MOST_POSITIONS).sum()),
    )
    values = {metric.key: metric.value for metric in measured}
    is_clear = rise is not None and is_clear_rise(cosines, int(rise))
    findings = (*of_fall(values, profile, is_clear=is_clear), *_of_invariance(invariance))
    return Result(measured, {"profile": profile, "spread": spread_by_offset(cosines)}, findings)


def _cosines(form: PositionTable) -> Floats:
    """Cosine of every two of the first ``MOST_POSITIONS`` positions, (n, n), NaN for outliers and
    vectors of zeros. errors: as ``compute``
    """
    if form.grid is not None:
        raise NotApplicableError("its positions form a grid, where an offset has two components")
    finite(form.vectors, "the table")
    vectors = form.inliers.vectors[:MOST_POSITIONS]
    if len(vectors) < FEWEST:
        raise NotApplicableError(
            f"{len(vectors)} positions are too few; a profile needs at least {FEWEST}"
        )
    cosines = cosine_matrix(vectors)
    pairs = off_diagonal(cosines)
    if not pairs.size:
        raise NotApplicableError("fewer than two positions have a nonzero vector")
    if np.ptp(pairs) <= FLAT and pairs[0] >= 1.0 - FLAT:
        raise NotApplicableError("all vectors have the same direction")
    return cosines


def spread_by_offset(matrix: Floats) -> Floats:
    """Standard deviation along each diagonal, from the main one outwards; NaN where no entry is
    defined.

    matrix: (n, n)
    returns: (n,), index = offset in positions, in the unit of ``matrix``
    """
    spreads = np.full(len(matrix), np.nan)
    for offset in range(len(matrix)):
        diagonal = np.diagonal(matrix, offset)
        defined = diagonal[~np.isnan(diagonal)]
        if defined.size:
            spreads[offset] = defined.std()
    return spreads


def half_of_fall(profile: Floats, mean: float) -> float | None:
    """Offset at which ``profile`` (n,) first falls below (1 + mean) / 2, interpolated linearly, in
    positions.

    mean: over all pairs of different positions, < 1; some offset lies at or below it
    """
    return half_distance(np.arange(profile.size), (profile - mean) / (1.0 - mean))


def first_rise(profile: Floats) -> float | None:
    """First offset at which ``profile`` (n,) rises by more than rounding, in positions; None if it
    never does.
    """
    rises = np.flatnonzero(np.diff(profile) > FLAT)
    return float(rises[0]) + 1.0 if rises.size else None


def is_clear_rise(matrix: Floats, offset: int) -> bool:
    """Whether the mean step of ``matrix`` (n, n) from ``offset`` − 1 to ``offset`` positions is
    more than ``CLEAR`` standard errors above 0.
    """
    steps = np.diagonal(matrix, offset) - np.diagonal(matrix, offset - 1)[: len(matrix) - offset]
    known = steps[~np.isnan(steps)]
    error = float(known.std(ddof=1)) / sqrt(known.size) if known.size > 1 else inf
    return bool(known.size and known.mean() > CLEAR * error + FLAT)


def of_fall(
    values: Mapping[str, float | None], profile: Floats, *, is_clear: bool
) -> Iterator[Finding]:
    """Finding on the decay of the cosine with distance; none when neighbours are hardly more
    similar than any two positions.

    values: of metrics, by their keys; profile: (n,), mean cosine by offset; is_clear: whether its
        first rise is
    """
    half, mean = values["half_fall"], values["mean"]
    if half is None or mean is None or not profile[1] - mean > ALIKE:
        return
    rise, never = values["rise"] if is_clear else None, values["rise"] is None
    n_outliers = int(values["left_out"] or 0)
    spots = tuple(
        Spot("lines", place, float(np.interp(place, np.arange(profile.size), profile)))
        for place in (half, rise)
        if place is not None
    )
    text = WORDING("fall", mean=mean, half=half, rise=rise, never=never, n_outliers=n_outliers)
    rests_on = ("half_fall", "rise", "mean", *(("left_out",) if n_outliers else ()))
    yield Finding(text, rests_on, 0.4 if never else 0.3, spots=spots)


def _of_invariance(invariance: float | None) -> Iterator[Finding]:
    if invariance is not None and invariance >= INVARIANT:
        yield Finding(WORDING("distance_alone", share=invariance), ("invariance",), 0.6)


def _profile(result: Result) -> tuple[Array, Array]:
    return np.arange(result.arrays["profile"].size), result.arrays["profile"]


def _spread(label: Label, result: Result, _: int) -> tuple[Band]:
    offsets, profile = _profile(result)
    low, high = profile - result.arrays["spread"], profile + result.arrays["spread"]
    return (Band(offsets, low, high, colour=label.colour, alpha=0.16),)


ANALYSIS = Analysis(
    key="similarity_by_distance",
    stage="measure",
    after="similarity_of_positions",
    answer=Headline("invariance", WORDING, chance=Chance("invariance_noise", 1.0)),
    forms=(PositionTable,),
    compute=compute,
    follows=frozenset({"profile", "spread"}),
    opening=Overlay("distance (positions)", "mean cosine", _profile),
    figures=(
        FigureSpec(
            "lines",
            WORDING.figure("lines"),
            Curves(
                _profile,
                x="distance (positions)",
                y="mean cosine similarity",
                ylim=VIEW,
                below=_spread,
            ),
            python=(
                "units = vectors[:2048] / np.linalg.norm(vectors[:2048], axis=1, "
                "keepdims=True)\n"
                'out = arrays["decay_with_distance.left_out"]\n'
                "units[out[out < len(units)]] = np.nan\n"
                "cosines = units @ units.T\n"
                "lines = [np.diagonal(cosines, k) for k in range(len(cosines))]\n"
                "lines = [line[~np.isnan(line)] for line in lines]\n"
                "plt.plot([line.mean() if line.size else np.nan for line in lines])"
            ),
            overlays=True,
        ),
    ),
    oracles=(
        Oracle(
            "Cosine of adjacent positions of the sinusoid, 512 × 768",
            ("0.97336",),
            COSINES,
            array(compute, "profile", 1),
            paper_sinusoid,
        ),
        Oracle(
            "Mean cosine of the sinusoid, 512 × 768, at distance 10",
            ("0.680",),
            COSINES,
            array(compute, "profile", 10),
            paper_sinusoid,
        ),
        Oracle(
            "Distance at which the mean cosine of the sinusoid, 512 × 768, first rises",
            ("44",),
            COSINES,
            metrics(compute, "rise"),
            paper_sinusoid,
        ),
        Oracle(
            "Translation invariance of the sinusoid, 512 × 768",
            ("1.00000",),
            COSINES,
            metrics(compute, "invariance"),
            paper_sinusoid,
        ),
    ),
)
