"""Seams: change points of the table from one position to the next."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Published, Result, Results, Subject
from generator.contracts.form_analysis import compute_alone
from generator.contracts.published import COSINES, DISTILBERT
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.lines import Point, label_points, legend_below, with_line_styles
from generator.figures.panels import panels
from generator.figures.style import PAPER
from generator.numerics.arrays import FLAT, Floats, finite, row_norms
from generator.numerics.change_points import (
    WINDOW,
    adjacent_cosines,
    break_depths,
    norm_steps,
    seams,
    significant_breaks,
    variation,
    window_medians,
)
from generator.text import rounded, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST = 2 * WINDOW + 3  # positions: two full windows around at least two pairs
LEAST = 0.1  # Depth from which a break is worth a sentence.
APART = 0.4  # Difference from the median cosine from which an end is worth a sentence.
CUTOFF = 6.0  # times the local variation; 60 random tables of 1,024 × 64 stay below
MOST_NAMED = 2  # tables in one figure up to which seams are labelled
STEP = 1.5  # A ratio of norms from here on is worth a sentence.
VIEW = (-0.5, 1.02)
LENGTH_128 = (
    "BERT was trained on sequences of 128 tokens, the last at position 127, for 90 % of the steps (Devlin et al. 2019, appendix A.2). "
    "A model trained like it, or made from it, saw positions from 128 on far less often."
)


def compute(subject: Subject[PositionTable]) -> Result:
    """Cosine of neighbouring positions, where it drops (seams), and where the norm changes.

    arrays: adjacent (n_positions − 1,), cosine with the next position; depth (n_positions − 1,), of a break, NaN near the ends; norm_steps
    (n_positions − 1,), log ratio of the norms after and before; seams (n_seams, 2), int, first and last pair of each
    errors: NotApplicableError when positions form a grid, are too few, or are mostly zero, or the table is not finite
    """
    form = subject.encoding.form
    if form.grid is not None:
        raise NotApplicableError("its positions lie on a grid, and reading order jumps from the end of each row to the next")
    vectors = finite(form.vectors, "the table")
    if len(vectors) < FEWEST:
        raise NotApplicableError(f"{len(vectors)} positions are too few; it takes at least {FEWEST}")
    cosines = adjacent_cosines(vectors)
    depth = break_depths(cosines)
    if np.isnan(depth).all():
        raise NotApplicableError("vectors of zeros leave no stretch of neighbours that have a direction")
    bounds = seams(depth, significant_breaks(depth, LEAST, CUTOFF))
    steps = norm_steps(row_norms(vectors / np.abs(vectors).max()))
    metrics = (
        Metric("typical", "Median cosine of neighbours", float(np.median(cosines[~np.isnan(cosines)]))),
        Metric("seams", "Seams", float(len(bounds))),
        *_deepest(depth, bounds[0][0] if bounds else int(np.nanargmax(depth))),
        _end("first", "Cosine of the first two positions", float(cosines[0])),
        _end("last", "Cosine of the last two", float(cosines[-1])),
        *_largest_step(steps),
    )
    arrays = {"adjacent": cosines, "depth": depth, "norm_steps": steps, "seams": np.array(bounds, dtype=np.int64).reshape(-1, 2)}
    return Result(metrics, arrays, (*_of_seams(bounds, cosines), *_of_ends(metrics, len(vectors)), *_of_norm(steps)))


def _deepest(depth: Floats, index: int) -> tuple[Metric, ...]:
    """Position and depth of the strongest break; no position where the depth is rounding.

    depth: (n_pairs,); index: first pair of the strongest seam, or the deepest pair when there is no seam
    """
    reason = None if depth[index] > FLAT else "one step is like another all along the table"
    return (
        Metric("at", "Last position before the strongest break", None if reason else float(index), "", reason),
        Metric("depth", "Depth of the strongest break (cosine)", 0.0 if reason else float(depth[index])),
        Metric("contrast", "The same in units of the typical variation", 0.0 if reason else float(depth[index] / variation(depth)[index])),
    )


def _largest_step(steps: Floats) -> tuple[Metric, ...]:
    """Position and ratio of the largest change of the norm.

    steps: (n_pairs,), log ratios
    """
    index = int(np.nanargmax(np.abs(steps)))
    reason = None if abs(steps[index]) > FLAT else "all vectors are equally long"
    return (
        Metric("norm_at", "Last position before the largest step of the norm", None if reason else float(index), "", reason),
        Metric("norm_step", "Ratio of the norms there, after by before", 1.0 if reason else float(np.exp(steps[index]))),
    )


def _end(key: str, title: str, value: float) -> Metric:
    return Metric(key, title, None, reason="one of the two is all zeros") if np.isnan(value) else Metric(key, title, value)


def _of_seams(bounds: list[tuple[int, int]], cosines: Floats) -> tuple[Finding, ...]:
    """One finding per seam.

    bounds: first and last pair of each seam; cosines: (n_pairs,)
    """
    before, after = window_medians(cosines)
    findings = []
    for rank, (first, last) in enumerate(bounds):
        median_before, median_after, lowest = before[first], after[last], cosines[first : last + 1].min()
        of_pair = f"the cosine of {first} and {first + 1} is {_cosine(cosines[first])}"
        if min(median_before, median_after) > (max(median_before, median_after) + lowest) / 2.0:
            opening = f"A seam lies between positions {first} and {first + 1}: {of_pair}"
            if last > first:
                opening = f"Neighbours from position {first} to {last + 1} are unlike: their cosines fall to {_cosine(lowest)}"
            if last == first + 1:
                opening = f"Position {last} stands apart: its cosine with {first} is {_cosine(cosines[first])} and with {last + 1} {_cosine(cosines[last])}"
            text = f"{opening}, against {_cosine(median_before)} before and {_cosine(median_after)} after."
        else:
            more = "less" if median_after < median_before else "more"
            text = f"From position {first + 1} on, neighbouring positions are {more} alike: {of_pair}, the median of those before it {_cosine(median_before)}, of those after it {_cosine(median_after)}."
        lengths = range(first + 1, last + 2)  # at which training sequences may have ended
        weight = 1.0 if any(length & (length - 1) == 0 for length in lengths) else 0.9 if rank == 0 else 0.6
        findings.append(Finding(text, ("seams",) if rank else ("seams", "at", "depth"), weight, LENGTH_128 if 128 in lengths else ""))
    return tuple(findings)


def _cosine(value: float) -> str:
    return rounded(value, 2, 1.0, -1.0)


def _of_ends(metrics: tuple[Metric, ...], n_positions: int) -> tuple[Finding, ...]:
    values = {metric.key: metric.value for metric in metrics}
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
    index = int(np.nanargmax(np.abs(steps)))
    ratio = float(np.exp(steps[index]))
    if 1.0 / STEP < ratio < STEP:
        return ()
    change = f"grow {significant(ratio, 2)}-fold" if ratio > 1.0 else f"shrink to {rounded(100.0 * ratio, 0, 0.0, 100.0)} %"
    return (Finding(f"Vectors {change} around position {index + 1}, by the medians of the {WINDOW} before it and from it on.", ("norm_at", "norm_step"), 0.6),)  # fmt: skip


def draw(results: Results) -> "Figure":
    """Cosine of each position with the next, one line per table, with its seams marked."""
    figure, (axes,) = panels(1, height=3.4)
    points: list[Point] = []
    for label, result, dash in with_line_styles(results):
        cosines, bounds = result.arrays["adjacent"], result.arrays["seams"]
        axes.plot(np.arange(cosines.size) + 0.5, cosines, color=label.colour, linestyle=dash, label=label.title, linewidth=0.9)
        ends = np.unique(bounds)
        axes.plot(ends + 0.5, cosines[ends], "o", color=label.colour, markersize=4.5, markerfacecolor=PAPER)
        if len(results) <= MOST_NAMED:
            points += [Point(f"{pair}|{pair + 1}", pair + 0.5, cosines[pair], label.colour) for pair in bounds[:, 0]]
    label_points(axes, points)
    axes.set(xlabel="position", ylabel="cosine with the next position", ylim=VIEW)
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def alt(results: Results) -> str:
    """Alternative text: median cosine and seams of each table."""
    summaries = (
        f"{label.title}: median {_cosine(float(np.nanmedian(result.arrays['adjacent'])))}, "
        + (", ".join(f"seam at {pair}|{pair + 1}" for pair in result.arrays["seams"][:, 0]) or "no seam")
        for label, result in results.items()
    )
    return "Cosine of each position with the next, as lines with seams marked. " + "; ".join(summaries) + "."


def _to_123_and_from_130(form: PositionTable) -> list[float]:
    """Mean cosine of neighbours from position 1 to 123, and from 130 on."""
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
            ("0.7027", "0.4071"),
            COSINES,
            _to_123_and_from_130,
            sha256=DISTILBERT,
        ),
    ),
)
