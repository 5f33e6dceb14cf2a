"""How fast the dimensions swing from position to position."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results, Subject
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.lines import legend_below, with_line_styles
from generator.figures.panels import logarithmic, panels
from generator.figures.style import MUTED
from generator.numerics.arrays import FLAT, Array, Floats, finite
from generator.text import rounded, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST = 16
SEED = 0
SLOW = 10  # A tenth of the frequencies, the lowest; of a shuffled table they hold about a tenth of the energy.
ABOVE = 2.0  # times the median of the neighbours
NEIGHBOURS = range(2, 7)  # frequencies to either side that a peak is held against; the next one may share it
MOST_NAMED = 4
LOW = 0.5  # At least this much is shown, so that low spectra look low.
MOSTLY, HARDLY = 80.0, 20.0  # per cent


def power(vectors: Floats) -> Floats:
    """|DFT|² of each column over positions less its mean, both signs of a frequency together, no window.

    vectors: (n_positions, d_model)
    returns: (n_positions // 2 + 1, d_model); by Parseval, columns sum to n_positions times that of the squares
    """
    squares = np.abs(np.fft.rfft(vectors - vectors.mean(axis=0), axis=0)) ** 2
    squares[1 : (len(vectors) + 1) // 2] *= 2.0
    return np.asarray(squares)


def amplitudes(squares: Floats, n_positions: int) -> Floats:
    """Of the sine of each frequency in each column, by the root mean square of the table less its mean row: as ``power`` returns ``squares``."""
    both = np.full(len(squares), 2.0)
    both[1 : (n_positions + 1) // 2] = 1.0  # A sine's power n²a²/4 is there twice; that of n/2 once, as n²a².
    whole = squares.sum() / n_positions / (n_positions * squares.shape[1])
    return np.asarray(np.sqrt(2.0 * squares / both[:, None] / whole) / n_positions)


def peaks(mean: Floats, highest: float) -> Array:
    """Frequencies, from 2, that stand out of ``mean`` (n_frequencies,): above both neighbours, above ``highest``, and above twice the
    median of those around; the strongest first."""
    found = []
    for place in range(2, mean.size - 1):
        around = [place + side * step for step in NEIGHBOURS for side in (-1, 1) if 1 <= place + side * step < mean.size]
        usual = float(np.median(mean[around])) if around else np.inf
        if mean[place] > max(mean[place - 1], highest, ABOVE * usual) and mean[place] >= mean[place + 1]:
            found.append(place)
    return np.array(sorted(found, key=lambda place: -mean[place]), dtype=np.int64)


def compute(subject: Subject[PositionTable]) -> Result:
    form = subject.encoding.form
    if form.grid is not None:
        raise NotApplicableError("its positions lie on a grid, and reading order jumps from the end of each row to the next")
    vectors = finite(form.vectors, "the table")
    n_positions = len(vectors)
    if n_positions < FEWEST:
        raise NotApplicableError(f"{n_positions} positions are too few for a spectrum; it takes at least {FEWEST}")
    scaled = vectors / (float(np.abs(vectors).max()) or 1.0)
    if np.ptp(scaled, axis=0).max() <= FLAT:
        raise NotApplicableError("all positions have the same vector, so nothing swings")
    squares, shuffled = power(scaled), power(np.random.default_rng(SEED).permutation(scaled))
    found = amplitudes(squares, n_positions)[1:]  # (n_frequencies, d_model), frequency 1 first
    control = amplitudes(shuffled, n_positions)[1:].mean(axis=1)
    slow, strongest = max(n_positions // (2 * SLOW), 1), int(squares[1:].sum(axis=1).argmax()) + 1
    periods = n_positions / np.arange(1, n_positions // 2 + 1)
    stand_out = peaks(np.append(0.0, found.mean(axis=1)), float(control.max()))
    measured = (
        Metric("strongest", "Period with the most energy", n_positions / strongest, "positions"),
        Metric("slow", "Energy in the slowest tenth of the frequencies", _share(squares, slow), "%"),
        Metric("slow_control", "The same with positions shuffled", _share(shuffled, slow), "%"),
        Metric("peaks", "Periods that stand out", float(stand_out.size)),
    )
    arrays = {
        "periods": periods,
        "mean": found.mean(axis=1),
        "quartiles": np.quantile(found, (0.25, 0.75), axis=1),
        "control": control,
        "peaks": n_positions / np.maximum(stand_out, 1),
    }
    return Result(measured, arrays, _findings(arrays["peaks"], measured[1], measured[2], n_positions / slow))


def _share(squares: Floats, slow: int) -> float:
    """How much of the energy, in %, lies in the ``slow`` lowest frequencies, of which 0 is none."""
    energy = squares[1:].sum(axis=1)
    return 100.0 * float(energy[:slow].sum() / energy.sum())


def _findings(stand_out: Floats, slow: Metric, control: Metric, period: float) -> tuple[Finding, ...]:
    said = []
    if stand_out.size:
        *named, last = (significant(one, 3) for one in stand_out[:MOST_NAMED])
        if stand_out.size > MOST_NAMED:
            named, last = [*named, last], f"{stand_out.size - MOST_NAMED} more"
        listed = f"periods of {', '.join(named)} and {last}" if named else f"a period of {last}"
        said.append(
            Finding(
                f"Many dimensions swing together in {listed}{' positions' if 'more' not in last else ' (in positions)'}.", ("peaks",), 0.6
            )
        )
    shares = f"{rounded(slow.value, 0)} % of their energy lies in periods of {significant(period, 3)} positions and more ({rounded(control.value, 0)} % if positions are shuffled)"
    rests_on = (slow.key, control.key)
    if slow.value is not None and slow.value >= MOSTLY:
        said.append(Finding(f"Dimensions change slowly: {shares}.", rests_on, 0.4))
    elif slow.value is not None and slow.value <= HARDLY:
        said.append(Finding(f"Dimensions follow no rhythm: {shares}.", rests_on, 0.5))
    return tuple(said)


def draw(results: Results) -> "Figure":
    figure, (axes,) = panels(1, height=3.6)
    for label, result, dash in with_line_styles(results):
        arrays = result.arrays
        low, high = arrays["quartiles"]
        axes.fill_between(arrays["periods"], low, high, color=label.colour, alpha=0.16, linewidth=0)
        axes.plot(arrays["periods"], arrays["mean"], color=label.colour, linestyle=dash, label=label.title, linewidth=1.0)
        axes.plot(arrays["periods"], arrays["control"], color=label.colour, linestyle=dash, linewidth=0.5, alpha=0.6)
        stand_out = np.isin(arrays["periods"], arrays["peaks"])
        axes.plot(arrays["periods"][stand_out], arrays["mean"][stand_out], "o", color=label.colour, markersize=3.5)
    highest = max(float(max(result.arrays["mean"].max(), result.arrays["quartiles"].max())) for result in results.values())
    logarithmic(axes, "x")
    axes.axvline(2.0, color=MUTED, linewidth=0.6)
    axes.set(xlabel="period (positions)", ylabel="amplitude ÷\nroot mean square of the table", ylim=(0.0, max(LOW, 1.05 * highest)))
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def alt(results: Results) -> str:
    said = (
        f"{label.title}: most energy at a period of {significant(result.value('strongest'), 3)} positions, {rounded(result.value('slow'), 0)} % in the slowest tenth of the frequencies, "
        f"{rounded(result.value('peaks'), 0)} periods stand out"
        for label, result in results.items()
    )
    return "Mean amplitude of the dimensions by period, with quartiles, over the same with shuffled positions. " + "; ".join(said) + "."


ANALYSIS = Analysis(
    key="spectrum",
    title="Spectrum",
    question="How fast do the dimensions swing from position to position?",
    source="Discrete Fourier transform; shuffled positions as the control are ours.",
    stage="measure",
    order=45,
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            key="periods",
            caption="Amplitude of the sine of each period in the dimensions of the table: the mean, the middle half (band), and the same table with its positions shuffled (thin line).",
            how_to_read=(
                "A dimension that rises and falls once every 100 positions adds to the line at 100. Height far above the thin line is order: a shuffled table, like a list of words, has the same "
                "height everywhere. A hill at the right means slow waves; a dot marks a period that stands out from those around it, where many dimensions swing together."
            ),
            alt=alt,
            draw=draw,
        ),
    ),
    per_figure=6,
)
