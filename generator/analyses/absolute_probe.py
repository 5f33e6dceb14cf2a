"""How well a straight line reads the position off its vector."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Published, Result, Results, Subject
from generator.contracts.published import GPT2, OTHER_CODE, PROTOCOL, STORED, metrics, paper_sinusoid
from generator.encodings import PositionTable
from generator.figures.lines import legend_below, with_line_styles
from generator.figures.panels import panels, wrapped
from generator.figures.style import MUTED
from generator.numerics.arrays import Floats
from generator.numerics.linear_probes import DRAWS, FOLDS, PositionProbe, predict_positions, probed_rows
from generator.text import rounded, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch

READABLE, UNREADABLE = 0.05, 0.9  # of the error of guessing the middle
ALONE = 0.25  # of the whole error
MARGIN = 0.1  # How far the picture goes beyond the first and the last position, as a share of all.


def compute(subject: Subject[PositionTable]) -> Result:
    form = subject.encoding.form
    rows = probed_rows(form.vectors, form.grid)
    reader = PositionProbe.of(rows)
    draws = [predict_positions(reader, seed) for seed in range(DRAWS)]
    positions = np.arange(len(rows))
    off = np.abs(np.round([read for read, _ in draws]) - positions)  # (draws, n_positions)
    wrong = off.mean(axis=0)
    worst = int(wrong.argmax())
    errors = np.array([error for _, error in draws])
    middle = float(np.mean(np.abs(positions - round(float(positions.mean())))))
    error, spread = float(errors.mean()), float(errors.std(ddof=1))
    return Result(
        metrics=(
            Metric("error", "Mean error of the position read", error, "positions"),
            Metric("spread", f"Standard deviation of it over {DRAWS} draws of the folds", spread, "positions"),
            Metric("exact", "Positions read exactly", 100.0 * float(np.mean(off == 0.0)), "%"),
            Metric("worst", "Mean error at the position read worst", float(wrong[worst]), "positions"),
            _place(wrong, worst),
            Metric("middle", "Mean error of always guessing the middle", middle, "positions"),
            Metric("probed", "Positions probed, from the first", float(len(rows)), "positions"),
        ),
        arrays={"read": draws[0][0], "wrong": wrong, "errors": errors},
        findings=(_finding(error, spread, middle, len(rows)), *_of_worst(wrong, worst)),
    )


def _place(wrong: Floats, worst: int) -> Metric:
    title = "Position read worst"
    return Metric("worst_at", title, float(worst)) if wrong[worst] else Metric("worst_at", title, None, reason="all are read exactly")


def _finding(error: float, spread: float, middle: float, n_positions: int) -> Finding:
    rests_on = ("error", "spread", "middle", "probed")
    found = f"{rounded(error, 2, 0.0)} ± {rounded(spread, 2, 0.0)}" if error < 10 else f"{rounded(error, 0)} ± {rounded(spread, 0)}"
    told = f"fitted to four fifths of the first {n_positions} vectors, it misses the others by {found} positions on average"
    if error <= READABLE * middle:
        return Finding(
            f"A straight line reads the position off the vector: {told} (always guessing the middle: {rounded(middle, 0)}).", rests_on, 0.6
        )
    if error >= UNREADABLE * middle:
        return Finding(
            f"A straight line cannot read the position off the vector: {told}, and always guessing the middle by {rounded(middle, 0)}.",
            rests_on,
            0.7,
        )
    return Finding(
        f"A straight line reads only part of the position off the vector: {told} (always guessing the middle: {rounded(middle, 0)}).",
        rests_on,
        0.4,
    )


def _of_worst(wrong: Floats, worst: int) -> tuple[Finding, ...]:
    """wrong: (n_positions,), the mean error at each."""
    if wrong[worst] < ALONE * wrong.sum() or wrong[worst] < 1.0:
        return ()
    others = float(np.delete(wrong, worst).mean())
    text = (
        f"Position {worst} is read worst, {rounded(wrong[worst], 0)} positions off on average, which alone makes {rounded(100.0 * wrong[worst] / wrong.sum(), 0)} % of "
        f"the error; all others are {rounded(others, 2, 0.0)} off."
    )
    return (Finding(text, ("worst", "worst_at", "error"), 0.5),)


def draw(results: Results) -> "Figure":
    figure, axes = panels(len(results), height=3.5)
    for each, (label, result) in zip(axes, results.items(), strict=True):
        read = result.arrays["read"]
        last = read.size - 1
        low, high = -MARGIN * last, (1.0 + MARGIN) * last
        each.plot([0, last], [0, last], color=MUTED, linewidth=0.8)
        each.add_patch(_dots(np.clip(read, low, high), label.colour))
        each.set(xlabel=f"position (mean error {significant(result.value('error'), 3)})", ylabel="position read off the vector")
        each.set(xlim=(low, high), ylim=(low, high))
        each.set_title(wrapped(label.title), color=label.colour)
        each.set_box_aspect(1)
    return figure


def _dots(values: Floats, colour: str) -> "PathPatch":
    """Points as strokes too short to be seen, since matplotlib leaves out those without length: one path, a third of the bytes of markers."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    ends = np.arange(values.size)[:, None] + np.array([0.0, 1e-3 * values.size])  # (n_positions, 2)
    places = np.stack([ends.ravel(), np.repeat(values, 2)], axis=1)
    path = Path(places, np.tile([Path.MOVETO, Path.LINETO], values.size))
    return PathPatch(path, edgecolor=colour, fill=False, linewidth=2.4, capstyle="round")


def draw_by_position(results: Results) -> "Figure":
    figure, (axes,) = panels(1, height=3.4)
    for label, result, dash in with_line_styles(results):
        axes.plot(result.arrays["wrong"], color=label.colour, linestyle=dash, label=label.title, linewidth=0.9)
    most = max(result.arrays["wrong"].max() for result in results.values())
    axes.set_yscale("symlog", linthresh=1.0, linscale=0.6)
    axes.set(xlabel="position", ylabel="mean error (positions)", ylim=(-0.08, max(1.5 * most, 1.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y")
    axes.margins(x=0.01)
    legend_below(figure)
    return figure


def alt(results: Results) -> str:
    said = (
        f"{label.title}: mean error {significant(result.value('error'), 3)} of {result.arrays['read'].size} positions, "
        f"{rounded(result.value('exact'), 0)} % read exactly"
        for label, result in results.items()
    )
    return "Position as read off the vector against the true position, as points beside the diagonal. " + "; ".join(said) + "."


def alt_by_position(results: Results) -> str:
    said = []
    for label, result in results.items():
        wrong = result.arrays["wrong"]
        ends = f"at the first position {significant(wrong[0], 3)}, at the last {significant(wrong[-1], 3)}"
        said.append(
            f"{label.title}: {ends}, median {significant(np.median(wrong), 3)}, largest {significant(wrong.max(), 3)} at position {wrong.argmax()}"
        )
    return "Mean error of the position read, as a line over the position. " + "; ".join(said) + "."


ANALYSIS = Analysis(
    key="absolute_probe",
    title="Reading off the position",
    question="Can the position be read off its vector by a straight line?",
    source="Wang and Chen 2020 (arXiv 2010.04903), section 3, with the settings of the authors' code.",
    stage="measure",
    order=66,
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            key="read",
            caption=f"The position that linear regression reads off each vector without having seen it, for one draw of {FOLDS} folds.",
            how_to_read=(
                "Each point is one position: across, where it stands; upwards, where the regression puts it. Points on the grey diagonal are read "
                "rightly. A cloud without direction means that the vectors hold no position that a straight line could find, though they may "
                "well tell positions apart. Points beyond the frame are put at its edge."
            ),
            alt=alt,
            draw=draw,
        ),
        FigureSpec(
            key="by_position",
            caption=f"How far the position read is off at each position, mean of {DRAWS} draws of the folds.",
            how_to_read=(
                "Upwards is worse; the scale is logarithmic from 1 on, so that good and bad tables fit. The ends are hardest where the "
                "regression has to go beyond what it was fitted to; a rise from some position on means that the vectors there hold less."
            ),
            alt=alt_by_position,
            draw=draw_by_position,
        ),
    ),
    per_figure=4,
    published=(
        Published(
            "Mean error on the sinusoid, 512 × 768",
            ("0.0000",),
            OTHER_CODE + PROTOCOL + "LinearRegression",
            metrics(compute, "error"),
            paper_sinusoid,
            unit="positions",
        ),
        Published(
            "Mean error on the first 512 rows of GPT-2's table, 1.01 ± 0.06",
            ("1.01",),
            STORED + PROTOCOL + "LinearRegression",
            metrics(compute, "error"),
            sha256=GPT2,
            unit="positions",
            margin=0.06,
        ),
    ),
)
