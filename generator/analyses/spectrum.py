"""Spectrum of the dimensions over position."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from generator.contracts import (
    Analysis,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Label,
    Metric,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.charts import Curves
from generator.figures.scene import Band, Dash, Line, StraightLine
from generator.numerics.arrays import FLAT, Array, Floats, blocks, finite, largest
from generator.text import plural

WORDING = Wording("analyses/spectrum.md.jinja")
FEWEST = 16
SEED = 0
# The slowest tenth of the frequencies; in a shuffled table it holds about a tenth of the energy.
SLOW = 10
ABOVE = 2.0  # times the median of the neighbours
# frequencies on either side with which a peak is compared; the adjacent one may share it
NEIGHBOURS = range(2, 7)
MOST_NAMED = 4
LOW = 0.5  # Smallest upper limit of the figure, so that low spectra look low.
MOSTLY = 80.0  # per cent


def power(
    vectors: Floats,
    unit: float = 1.0,
    arranged: Callable[[Floats], Floats] = lambda columns: columns,
) -> Floats:
    """|DFT|² of each mean-centred column over positions, one-sided, without a window.

    By Parseval, columns sum to n_positions times their sum of squares.
    vectors: (n_positions, d_model); unit: by which they are divided first; arranged: applied to
        some columns at a time, (n_positions, any)
    returns: (n_positions // 2 + 1, d_model)
    """
    squares = np.empty((len(vectors) // 2 + 1, vectors.shape[1]))
    for part in blocks(vectors.shape[1], len(vectors)):
        block = arranged(vectors[:, part]) / unit
        squares[:, part] = np.abs(np.fft.rfft(block - block.mean(axis=0), axis=0)) ** 2
    squares[1 : (len(vectors) + 1) // 2] *= 2.0
    return squares


def amplitudes(squares: Floats, n_positions: int) -> Floats:
    """Amplitude of the sine of each frequency in each column, relative to the root mean square of
    the centred table.

    squares: (n_positions // 2 + 1, d_model), as ``power`` returns; the result has the same shape,
        dimensionless
    """
    divisors = np.full(len(squares), 2.0)
    # A sine's power n²a²/4 is there twice; that of n/2 once, as n²a².
    divisors[1 : (n_positions + 1) // 2] = 1.0
    variance = squares.sum() / n_positions / (n_positions * squares.shape[1])
    sizes = squares / (divisors[:, None] / 2.0 * variance)
    np.sqrt(sizes, out=sizes)
    sizes /= n_positions
    return np.asarray(sizes)


def peaks(mean: Floats, highest: float) -> Array:
    """Frequencies of spectral peaks, in cycles per table, the strongest first: (n_peaks,), int,
    from 2.

    A peak lies above both frequencies beside it, above ``highest``, and above ``ABOVE`` times the
    median of its neighbours.
    mean: (n_frequencies,), amplitudes from frequency 0
    """
    frequencies = []
    for frequency in range(2, mean.size - 1):
        neighbours = [
            frequency + side * step
            for step in NEIGHBOURS
            for side in (-1, 1)
            if 1 <= frequency + side * step < mean.size
        ]
        median = float(np.median(mean[neighbours])) if neighbours else np.inf
        beside = mean[frequency - 1], mean[frequency + 1]
        if mean[frequency] > max(*beside, highest, ABOVE * median):
            frequencies.append(frequency)
    return np.array(sorted(frequencies, key=lambda frequency: -mean[frequency]), dtype=np.int64)


def compute(subject: Subject[PositionTable]) -> Result:
    """Amplitudes of the dimensions by period, against a control with shuffled positions (fixed
    seed).

    arrays: periods (n_frequencies,), in positions, longest first; mean, control (n_frequencies,),
        quartiles (2, n_frequencies), amplitudes relative to the root mean square of the centred
        table; peaks (n_peaks,), in positions
    errors: NotApplicableError when positions form a grid or are too few, or the table is not finite
        or is constant
    """
    form = subject.encoding.form
    if form.grid is not None:
        raise NotApplicableError(
            "its positions form a grid, where reading order jumps at the end of each row"
        )
    finite(form.vectors, "the table")
    vectors = form.bridged(form.vectors)
    n_positions = len(vectors)
    if n_positions < FEWEST:
        raise NotApplicableError(
            f"its table has {plural(n_positions, 'position')}, but a spectrum needs at least"
            f" {FEWEST}"
        )
    unit = largest(vectors) or 1.0
    if np.ptp(vectors, axis=0).max() <= FLAT * unit:
        raise NotApplicableError("all positions have the same vector")
    shuffled = partial(_shuffled, form)
    _, control, _ = _by_frequency(power(form.vectors, unit, shuffled), n_positions)
    energy, mean, quartiles = _by_frequency(power(vectors, unit), n_positions)
    slow, strongest = max(n_positions // (2 * SLOW), 1), int(energy.argmax()) + 1
    periods = n_positions / np.arange(1, n_positions // 2 + 1)
    frequencies = peaks(np.append(0.0, mean), float(control.max()))
    shares = 100.0 * float(energy[:slow].sum() / energy.sum()), 100.0 * _expected(form, slow)
    metrics = (
        Metric("strongest", "Period with the most energy", n_positions / strongest, "positions"),
        Metric("slow", "Energy in the slowest tenth of the frequencies", shares[0], "%"),
        Metric(
            "slow_control",
            "Energy in the slowest tenth, with shuffled positions (expected)",
            shares[1],
            "%",
        ),
        Metric("slow_period", "Shortest period of that tenth", n_positions / slow, "positions"),
        Metric("peaks", "Spectral peaks", frequencies.size),
        Metric("left_out", "Outliers interpolated", form.outliers.size),
    )
    arrays = {
        "periods": periods,
        "mean": mean,
        "quartiles": quartiles,
        "control": control,
        "peaks": n_positions / np.maximum(frequencies, 1),
    }
    spots = tuple(
        Spot("periods", float(periods[peak - 1]), float(arrays["mean"][peak - 1]))
        for peak in frequencies[:MOST_NAMED]
    )
    findings = _findings(arrays["peaks"], spots, shares, n_positions / slow, form.outliers.size)
    return Result(metrics, arrays, tuple(findings))


def _shuffled(form: PositionTable, columns: Floats) -> Floats:
    """Columns in a random order (fixed seed), outliers in their places, and bridged there."""
    order = np.arange(form.extent)
    others = np.delete(order, form.outliers)
    order[others] = np.random.default_rng(SEED).permutation(others)
    return form.bridged(columns[order])


def _expected(form: PositionTable, slow: int) -> float:
    """The share of the energy in the lowest ``slow`` frequencies, on average over all orders of the
    vectors. Every frequency has the same without outliers; lines between others have slow waves.
    """
    n_positions, n_outliers = form.extent, form.outliers.size
    if not n_outliers:
        return 2.0 * slow / (n_positions - 1)
    others = np.delete(np.arange(n_positions), form.outliers)
    energy = np.zeros(n_positions // 2)
    # In a random order, any two vectors have the same covariance: that of centred unit vectors.
    for part in blocks(others.size, n_positions):
        units = np.zeros((n_positions, others[part].size))
        units[others] -= 1.0 / others.size
        units[others[part], np.arange(others[part].size)] += 1.0
        energy += power(form.bridged(units))[1:].sum(axis=1)
    return float(energy[:slow].sum() / energy.sum())


def _by_frequency(squares: Floats, n_positions: int) -> tuple[Floats, Floats, Floats]:
    """Energy of each frequency from 1 on, and mean and quartiles of its amplitude over the
    dimensions.

    squares: (n_positions // 2 + 1, d_model), as ``power`` returns
    returns: (n_frequencies,), (n_frequencies,) and (2, n_frequencies)
    """
    sizes = amplitudes(squares, n_positions)[1:]  # (n_frequencies, d_model)
    quartiles = [np.quantile(sizes[part], (0.25, 0.75), axis=1) for part in blocks(*sizes.shape)]
    return squares[1:].sum(axis=1), sizes.mean(axis=1), np.hstack(quartiles)


def _findings(
    peak_periods: Floats,
    spots: tuple[Spot, ...],
    shares: tuple[float, float],
    period: float,
    n: int,
) -> Iterator[Finding]:
    """shares: of slow waves, and as expected of shuffled positions, in %; period: of the fastest of
    them; n: outliers
    """
    if peak_periods.size:
        named = peak_periods[:MOST_NAMED].tolist()
        n_more = peak_periods.size - len(named)
        text = WORDING("peaks", periods=named, n_more=n_more, n_outliers=n)
        yield Finding(text, ("peaks",), 0.6, spots=spots)
    slow, control = shares
    energy = {"share": slow, "control": control, "period": period, "n_outliers": n}
    rests_on = ("slow", "slow_control", "slow_period")
    if slow >= MOSTLY:
        yield Finding(WORDING("change_slowly", **energy), rests_on, 0.4)


def spectrum_of(result: Result) -> tuple[Array, Array]:
    """Periods, the longest first, and mean amplitudes."""
    return result.arrays["periods"], result.arrays["mean"]


def _quartiles(label: Label, result: Result, _: int) -> tuple[Band]:
    periods, (low, high) = result.arrays["periods"], result.arrays["quartiles"]
    return (Band(periods, low, high, colour=label.colour, alpha=0.16),)


def _control_and_peaks(label: Label, result: Result, dash: Dash) -> Iterator[Line]:
    periods, mean = spectrum_of(result)
    style: dict[str, Any] = {"dash": dash, "width": 0.5, "alpha": 0.6}
    name = f"_{label.title}, shuffled"
    yield Line(periods, result.arrays["control"], colour=label.colour, name=name, **style)
    is_peak = np.isin(periods, result.arrays["peaks"])
    style = {"marker": "o", "size": 3.5, "is_joined": False, "is_aside": True}
    yield Line(periods[is_peak], mean[is_peak], colour=label.colour, **style)


def _fastest(_: Results) -> tuple[StraightLine]:
    return (StraightLine("x", 2.0),)


def _limits(results: Results) -> tuple[float, float]:
    drawn = (result.arrays[name] for result in results.values() for name in ("mean", "quartiles"))
    return 0.0, max(LOW, 1.05 * max(float(values.max()) for values in drawn))


AMPLITUDES = Curves(
    spectrum_of,
    x="period (positions)",
    y="amplitude ÷ RMS of the table",
    log="x",
    ylim=_limits,
    height=3.6,
    style={"width": 1.0},
    ascending=False,
    below=_quartiles,
    above=_control_and_peaks,
    last=_fastest,
)


ANALYSIS = Analysis(
    key="spectrum",
    stage="measure",
    after="single_dimensions",
    answer=Headline("slow", WORDING, chance=Chance("slow_control", 100.0)),
    forms=(PositionTable,),
    compute=compute,
    follows=frozenset({"periods", "mean", "quartiles", "control"}),
    figures=(
        FigureSpec(
            "periods",
            WORDING.figure("periods"),
            AMPLITUDES,
            python=(
                'places, out = np.arange(len(vectors)), arrays["decay_with_distance.left_out"]\n'
                "kept = np.delete(places, out)\n"
                "rows = np.stack([np.interp(places, kept, line) for line in vectors[kept].T], "
                "axis=1)\n"
                "rows = rows - rows.mean(axis=0)\n"
                "waves = 2 * np.abs(np.fft.rfft(rows, axis=0))[1:].mean(axis=1) / len(rows) / "
                "rows.std()\n"
                "waves[-1] /= 2 - len(rows) % 2\n"
                "plt.loglog(len(rows) / np.arange(1, len(waves) + 1), waves)"
            ),
            overlays=True,
        ),
    ),
    per_figure=6,
    overlay=AMPLITUDES.overlay(),
)
