"""Where from one position to the next the table breaks."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Published, Result, Results, Subject
from generator.contracts.form_analysis import compute_alone
from generator.contracts.published import DISTILBERT
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.lines import Place, legend_below, name_places, with_line_styles
from generator.figures.panels import panels
from generator.figures.style import PAPER
from generator.numerics.arrays import FLAT, Floats, finite, row_norms
from generator.numerics.change_points import WINDOW, adjacent, breaks, norm_steps, seams, stand_out, variation, windows
from generator.text import rounded, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST = 2 * WINDOW + 3  # positions: both windows, full, around at least two pairs
LEAST = 0.1  # Smaller breaks are not worth a sentence.
APART = 0.4  # So far below the usual cosine, an end is worth one.
CUTOFF = 6.0  # times the typical variation around; noise stays below, in each of 60 tables of 1,024 × 64 drawn by lot
MOST_NAMED = 2  # tables beside each other whose seams have their numbers in the figure
STEP = 1.5  # A ratio of norms from here on is worth a sentence.
VIEW = (-0.5, 1.02)
LENGTH_128 = (
    "BERT was trained on sequences of 128 tokens, the last at position 127, for 90 % of the steps (Devlin et al. 2019, appendix A.2). "
    "A model trained like it, or made from it, saw positions from 128 on far less often."
)


def compute(subject: Subject[PositionTable]) -> Result:
    form = subject.encoding.form
    if form.grid is not None:
        raise NotApplicableError("its positions lie on a grid, and reading order jumps from the end of each row to the next")
    vectors = finite(form.vectors, "the table")
    if len(vectors) < FEWEST:
        raise NotApplicableError(f"{len(vectors)} positions are too few; it takes at least {FEWEST}")
    cosines = adjacent(vectors)
    depth = breaks(cosines)
    if np.isnan(depth).all():
        raise NotApplicableError("vectors of zeros leave no stretch of neighbours that have a direction")
    found = seams(depth, stand_out(depth, LEAST, CUTOFF))
    steps = norm_steps(row_norms(vectors / np.abs(vectors).max()))
    measured = (
        Metric("typical", "Median cosine of neighbours", float(np.median(cosines[~np.isnan(cosines)]))),
        Metric("seams", "Seams", float(len(found))),
        *_deepest(depth, found[0][0] if found else int(np.nanargmax(depth))),
        _end("first", "Cosine of the first two positions", float(cosines[0])),
        _end("last", "Cosine of the last two", float(cosines[-1])),
        *_largest_step(steps),
    )
    arrays = {"adjacent": cosines, "depth": depth, "norm_steps": steps, "seams": np.array(found, dtype=np.int64).reshape(-1, 2)}
    return Result(measured, arrays, (*_of_seams(found, cosines), *_of_ends(measured, len(vectors)), *_of_norm(steps)))


def _deepest(depth: Floats, place: int) -> tuple[Metric, ...]:
    """Where the strongest break is, and how strong; no place where there is nothing but rounding."""
    reason = None if depth[place] > FLAT else "one step is like another all along the table"
    return (
        Metric("at", "Last position before the strongest break", None if reason else float(place), "", reason),
        Metric("depth", "Depth of the strongest break (cosine)", 0.0 if reason else float(depth[place])),
        Metric("contrast", "The same in units of the typical variation", 0.0 if reason else float(depth[place] / variation(depth)[place])),
    )


def _largest_step(steps: Floats) -> tuple[Metric, ...]:
    place = int(np.nanargmax(np.abs(steps)))
    reason = None if abs(steps[place]) > FLAT else "all vectors are equally long"
    return (
        Metric("norm_at", "Last position before the largest step of the norm", None if reason else float(place), "", reason),
        Metric("norm_step", "Ratio of the norms there, after by before", 1.0 if reason else float(np.exp(steps[place]))),
    )


def _end(key: str, title: str, value: float) -> Metric:
    return Metric(key, title, None, reason="one of the two is all zeros") if np.isnan(value) else Metric(key, title, value)


def _of_seams(found: list[tuple[int, int]], cosines: Floats) -> tuple[Finding, ...]:
    before, after = windows(cosines)
    findings = []
    for rank, (first, last) in enumerate(found):
        one, two, lowest = before[first], after[last], cosines[first : last + 1].min()
        here = f"the cosine of {first} and {first + 1} is {_cosine(cosines[first])}"
        if min(one, two) > (max(one, two) + lowest) / 2.0:
            where = f"A seam lies between positions {first} and {first + 1}: {here}"
            if last > first:
                where = f"Neighbours from position {first} to {last + 1} are unlike: their cosines fall to {_cosine(lowest)}"
            if last == first + 1:
                where = f"Position {last} stands apart: its cosine with {first} is {_cosine(cosines[first])} and with {last + 1} {_cosine(cosines[last])}"
            text = f"{where}, against {_cosine(one)} before and {_cosine(two)} after."
        else:
            more = "less" if two < one else "more"
            text = f"From position {first + 1} on, neighbouring positions are {more} alike: {here}, the median of those before it {_cosine(one)}, of those after it {_cosine(two)}."
        lengths = range(first + 1, last + 2)  # at which training inputs may have ended
        weight = 1.0 if any(length & (length - 1) == 0 for length in lengths) else 0.9 if rank == 0 else 0.6
        findings.append(Finding(text, ("seams",) if rank else ("seams", "at", "depth"), weight, LENGTH_128 if 128 in lengths else ""))
    return tuple(findings)


def _cosine(value: float) -> str:
    return rounded(value, 2, 1.0, -1.0)


def _of_ends(measured: tuple[Metric, ...], n_positions: int) -> tuple[Finding, ...]:
    values = {metric.key: metric.value for metric in measured}
    typical, findings = values["typical"] or 0.0, []
    for key, name, other in (("first", "The first position", "second"), ("last", f"The last position, {n_positions - 1},", "one before")):
        value = values[key]
        if value is not None and typical - value > APART:
            text = (
                f"{name} stands apart: its cosine with the {other} is {_cosine(value)}, where neighbours usually have {_cosine(typical)}."
            )
            findings.append(Finding(text, (key, "typical"), 0.7 if typical - value > 2.0 * APART else 0.4))
    return tuple(findings)


def _of_norm(steps: Floats) -> tuple[Finding, ...]:
    at = int(np.nanargmax(np.abs(steps)))
    ratio = float(np.exp(steps[at]))
    if 1.0 / STEP < ratio < STEP:
        return ()
    how = f"grow {significant(ratio, 2)}-fold" if ratio > 1.0 else f"shrink to {rounded(100.0 * ratio, 0, 0.0, 100.0)} %"
    return (Finding(f"Vectors {how} around position {at + 1}, by the medians of the {WINDOW} before it and from it on.", ("norm_at", "norm_step"), 0.6),)  # fmt: skip


def draw(results: Results) -> "Figure":
    figure, (axes,) = panels(1, height=3.4)
    named: list[Place] = []
    for label, result, dash in with_line_styles(results):
        cosines, found = result.arrays["adjacent"], result.arrays["seams"]
        axes.plot(np.arange(cosines.size) + 0.5, cosines, color=label.colour, linestyle=dash, label=label.title, linewidth=0.9)
        ends = np.unique(found)
        axes.plot(ends + 0.5, cosines[ends], "o", color=label.colour, markersize=4.5, markerfacecolor=PAPER)
        if len(results) <= MOST_NAMED:
            named += [Place(f"{at}|{at + 1}", at + 0.5, cosines[at], label.colour) for at in found[:, 0]]
    name_places(axes, named)
    axes.set(xlabel="position", ylabel="cosine with the next position", ylim=VIEW)
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def alt(results: Results) -> str:
    parts = (
        f"{label.title}: median {_cosine(float(np.nanmedian(result.arrays['adjacent'])))}, "
        + (", ".join(f"seam at {place}|{place + 1}" for place in result.arrays["seams"][:, 0]) or "no seam")
        for label, result in results.items()
    )
    return "Cosine of each position with the next, as lines with seams marked. " + "; ".join(parts) + "."


def _to_123_and_from_130(form: PositionTable) -> list[float]:
    cosines = compute_alone(compute, form).arrays["adjacent"]
    return [float(cosines[1:123].mean()), float(cosines[130:].mean())]


ANALYSIS = Analysis(
    key="seam",
    title="Seams",
    question="Does the table break somewhere between one position and the next?",
    source="Ours. For the length at which BERT was trained: Devlin et al. 2019 (arXiv 1810.04805), appendix A.2.",
    stage="measure",
    order=53,
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            key="neighbours",
            caption="Cosine similarity of each position with the next; circles mark seams, or the first and the last pair of one.",
            how_to_read=(
                "A line that stays level means that one step is like another all along the table. A sudden dip or fall is a seam: the two positions beside it are less alike than the neighbours around them. "
                "Seams often lie where the length of the training input ended. Dips at the very ends are common, and are told apart from seams."
            ),
            alt=alt,
            draw=draw,
        ),
    ),
    per_figure=6,
    published=(
        Published(
            "Mean cosine of neighbours of a DistilBERT's table from position 1 to 123, and from 130 on",
            ("0.72", "0.41"),
            "computed from the stored table, of 8 bits, by other code, to about ±0.02",
            _to_123_and_from_130,
            sha256=DISTILBERT,
            margin=0.02,
        ),
    ),
)
