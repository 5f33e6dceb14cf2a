"""Norms of position vectors and of dimensions, and their outliers."""

from collections.abc import Iterator
from math import exp, lgamma, sqrt

import numpy as np

from generator.contracts import (
    Analysis,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Oracle,
    Result,
    Spot,
    Subject,
)
from generator.contracts.oracles import GPT2, NORMS, array, metrics, paper_sinusoid
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.charts import Curves, diagonal
from generator.figures.scene import StraightLine
from generator.numerics.arrays import FLAT, Array, Floats, finite, largest, row_norms
from generator.numerics.outliers import NORMAL, outliers
from generator.numerics.structure import two_sided

WORDING = Wording("analyses/vector_norms.md.jinja")
TOP = 3.0  # median norms; the upper limit of the figure on every page
# Share of random tables in which any norm may be called unusual; the median deviation of few norms
# scatters by about this over their number.
ALARM, SCATTER = 0.01, 12.0
ALIKE = 1e-6  # Spread below which norms are equal up to single precision.
FEW = 0.1  # Share of the dimensions; when so few hold half of the energy, it is worth a sentence.


def compute(subject: Subject[PositionTable]) -> Result:
    """Norms of positions and of dimensions, their spread and outliers, and how few dimensions hold
    half of the energy.

    arrays: norms (n_positions,); dimension_norms (d_model,); positions_out, dimensions_out
        (n_outliers,), indices of outliers, none where more than a tenth would be
    errors: NotApplicableError when the table is not finite, or is zero
    """
    form = subject.encoding.form
    vectors = finite(form.vectors, "the table")
    unit = largest(vectors)
    if unit == 0.0:
        raise NotApplicableError("every value of the table is zero")
    norms, columns = row_norms(vectors), row_norms(vectors.T, unit)
    rows_out, columns_out = outliers(norms), outliers(columns)
    _, share = _half(columns)
    within = row_norms(form.without_outliers.vectors.T, unit) if form.outliers.size else columns
    half, share_within = _half(within)
    median = float(np.median(norms))
    positions, dimensions = (
        np.array([], dtype=np.int64) if out is None else out for out in (rows_out, columns_out)
    )
    many = "more than a tenth of the norms would be unusual"
    counts = {
        "positions": None if rows_out is None else rows_out.size,
        "dimensions": None if columns_out is None else columns_out.size,
    }
    return Result(
        metrics=(
            Metric("median", "Median norm", median),
            Metric("longest", "Largest norm", norms.max()),
            Metric("shortest", "Smallest norm", norms.min()),
            Metric("spread", "Spread of the norms (standard deviation ÷ mean)", spread(norms)),
            Metric(
                "spread_noise",
                "Spread of the norms of random vectors of the same width",
                _spread_of_noise(vectors.shape[1]),
            ),
            Metric(
                "spread_within",
                "Spread of the norms, without unusual ones",
                spread(np.delete(norms, positions)),
            ),
            *(
                Metric(f"{what}_out", f"{what.capitalize()} with an unusual norm", count, "", many)
                for what, count in counts.items()
            ),
            Metric(
                "extreme",
                "Most unusual norm ÷ median",
                norms[_farthest(norms, positions)] / median if positions.size and median else None,
                reason="no norm is unusual, or the median is 0",
            ),
            Metric("top_share", "Energy in the strongest dimension", 100.0 * share[0], "%"),
            Metric("half", "Dimensions that account for half of the energy", half),
        ),
        arrays={
            "norms": norms,
            "dimension_norms": columns * unit,
            "positions_out": positions,
            "dimensions_out": dimensions,
        },
        findings=(
            *_of_positions(norms, rows_out),
            *_of_dimensions(half, share_within, form.outliers.size),
        ),
    )


def relative_norms(result: Result) -> tuple[Array, Array]:
    """Positions, and their norms ÷ median norm."""
    norms = result.arrays["norms"]
    return np.arange(norms.size), norms / (float(np.median(norms)) or float(norms.max()))


def _cumulative_energy(result: Result) -> tuple[Array, Array]:
    """Shares of the dimensions, strongest first, and of the energy that they hold, in %."""
    norms = np.sort(result.arrays["dimension_norms"])[::-1]
    energy = np.cumsum((norms / norms[0]) ** 2)
    return (
        100.0 * (np.arange(norms.size + 1) / norms.size),
        100.0 * np.append(0.0, energy / energy[-1]),
    )


def deviations_of(norms: Floats) -> Floats:
    """Modified z-scores of ``norms`` (n,), by their median absolute deviation: (n,)."""
    deviations = np.abs(norms - np.median(norms))
    scale = float(np.median(deviations)) / NORMAL
    return np.asarray(deviations / max(scale, 1e-12 * float(norms.max())))


def spread(norms: Floats) -> float:
    """Standard deviation of ``norms`` (n,) relative to their mean; 0 when all are equal."""
    scaled = norms / (float(norms.max()) or 1.0)
    return float(scaled.std() / (scaled.mean() or 1.0)) if np.ptp(scaled) > FLAT else 0.0


def _spread_of_noise(width: int) -> float:
    """``spread`` of independent Gaussian numbers: their norms are distributed as chi, whose mean is
    √2 Γ((d + 1)/2) ÷ Γ(d/2) and whose mean square is d.
    """
    mean = sqrt(2.0) * exp(lgamma((width + 1) / 2) - lgamma(width / 2))
    return sqrt(max(width / mean**2 - 1.0, 0.0))


def _of_positions(norms: Floats, out: Array | None) -> Iterator[Finding]:
    median = float(np.median(norms))
    if norms.size > 1 and spread(norms) <= ALIKE:
        text = WORDING("alike", norm=median)
        yield Finding(text, ("median", "longest", "shortest"), 0.3)
        return
    if out is None or not median:
        return
    cutoff = two_sided(ALARM / norms.size) * (1.0 + SCATTER / norms.size)
    if not (deviations_of(norms)[out] > cutoff).any():  # Else they may be so by chance.
        return
    farthest = _farthest(norms, out)
    times = norms[farthest] / median
    text = WORDING("unusual", positions=out, n_positions=norms.size, farthest=farthest, times=times)
    weight = 0.8 if max(times, 1.0 / max(times, 1e-9)) >= 2.0 else 0.4
    spots = (Spot("lines", farthest, min(float(times), TOP)),)
    rests_on, rows = ("positions_out", "median", "extreme"), tuple(map(int, out))
    yield Finding(text, rests_on, weight, spots=spots, of_single_rows=True, rows=rows)


def _farthest(norms: Floats, out: Array) -> int:
    """The one of the positions ``out`` (n_outliers,), at least one, whose norm differs most from
    the median, by its logarithm.
    """
    median = float(np.median(norms)) or 1.0
    return int(out[np.argmax(np.abs(np.log((norms[out] + 1e-9 * median) / median)))])


def _half(columns: Floats) -> tuple[int, Floats]:
    """How few dimensions hold half of the energy, and the share of each, (d_model,), the largest
    first.

    columns: (d_model,), norms of the dimensions
    """
    energy = columns**2
    share = np.sort(energy)[::-1] / (energy.sum() or 1.0)
    return int(np.searchsorted(np.cumsum(share), 0.5)) + 1, share


def _of_dimensions(half: int, share: Floats, n_outliers: int) -> Iterator[Finding]:
    if share.size < 16 or half > FEW * share.size:
        return
    text = WORDING("few_hold_half", half=half, n_dimensions=share.size, n_outliers=n_outliers)
    at = Spot("energy", 100.0 * half / share.size, 100.0 * float(share[:half].sum()))
    # The figure shows the whole table.
    yield Finding(text, ("half",), 0.7, spots=() if n_outliers else (at,))


NORMS_BY_POSITION = Curves(
    relative_norms,
    x="position",
    y="norm ÷ median norm",
    ylim=(0.0, TOP),
    rules=(StraightLine("y", 1.0),),
    style={"width": 1.0},
    beyond=True,
)
ENERGY_BY_DIMENSIONS = Curves(
    _cumulative_energy,
    x="dimensions, strongest first (%)",
    y="cumulative energy (%)",
    xlim=(0.0, 100.0),
    ylim=(0.0, 101.0),
    grid="both",
    rules=(diagonal(0.6),),
)


ANALYSIS = Analysis(
    key="vector_norms",
    about="values",
    stage="measure",
    after="single_positions",
    headlines=(Headline("spread", WORDING, chance=Chance("spread_noise")),),
    forms=(PositionTable,),
    beside_reference=False,
    compute=compute,
    follows=frozenset({"norms", "dimension_norms"}),
    figures=(
        FigureSpec(
            "lines",
            WORDING.figure("lines"),
            NORMS_BY_POSITION,
            python=("norms = np.linalg.norm(vectors, axis=1)\nplt.plot(norms / np.median(norms))"),
            overlays=True,
            varies=lambda result: (result.value("spread") or 0.0) > ALIKE,
        ),
        FigureSpec(
            "energy",
            WORDING.figure("energy"),
            ENERGY_BY_DIMENSIONS,
            python=(
                "energy = np.sort(np.sum(vectors**2, axis=0))[::-1]\n"
                "plt.plot(100 * np.cumsum(energy) / energy.sum())"
            ),
            overlays=True,
        ),
    ),
    oracles=(
        Oracle(
            "Smallest and largest norm of the sinusoid, 512 × 768",
            ("19.5959",) * 2,
            NORMS,
            metrics(compute, "shortest", "longest"),
            paper_sinusoid,
        ),
        Oracle(
            "Norm of positions 0, 1, 2, 10, 63 and 1023 of GPT-2",
            ("9.876", "5.192", "4.585", "3.773", "3.354", "0.118"),
            NORMS,
            array(compute, "norms", 0, 1, 2, 10, 63, 1023),
            sha256=GPT2,
        ),
    ),
    overlay=NORMS_BY_POSITION.overlay(),
)
