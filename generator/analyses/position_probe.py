"""Linear probe for the absolute position."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import (
    Analysis,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Published,
    Recomputed,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.published import GPT2, SPLITS, metrics, paper_sinusoid
from generator.encodings import PositionTable
from generator.figures.lines import legend_below, with_line_styles
from generator.figures.panels import panels, wrapped
from generator.figures.style import MUTED, STATIC
from generator.numerics.arrays import Floats
from generator.numerics.linear_probes import (
    DRAWS,
    FOLDS,
    PositionProbe,
    predict_positions,
    probed_rows,
)
from generator.text import rounded, significant, uncertain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PROTOCOL = Recomputed(
    "scikit-learn",
    "LinearRegression and cross_val_predict, after Wang and Chen 2020 (arXiv 2010.04903)",
)
READABLE, UNREADABLE = 0.05, 0.9  # of the error of a constant guess, the middle
ALONE = 0.25  # Share of the total error from which a single position is worth a sentence.
# Margin of the figure beyond the first and last position, as a share of all positions.
MARGIN = 0.1


def compute(subject: Subject[PositionTable]) -> Result:
    """Cross-validated error of linear regression of the position on its vector, over ``DRAWS``
    random splits.

    The protocol of Wang and Chen 2020 (arXiv 2010.04903, section 3) on the first ``MOST_POSITIONS``
    positions of the table.
    arrays: read (n_positions,), predictions of the first split, in positions; wrong (n_positions,),
        mean absolute error at each position over all splits; errors (n_splits,), mean absolute
        error of each split
    errors: NotApplicableError when positions form a grid, are too few, or the table is not finite
    """
    form = subject.encoding.form
    rows = probed_rows(form.vectors, form.grid)
    probe = PositionProbe.of(rows)
    splits = [predict_positions(probe, seed) for seed in range(DRAWS)]
    positions = np.arange(len(rows))
    # (n_splits, n_positions)
    deviations = np.abs(np.round([predicted for predicted, _ in splits]) - positions)
    mean_errors = deviations.mean(axis=0)  # (n_positions,)
    worst = int(mean_errors.argmax())
    errors = np.array([error for _, error in splits])
    middle = float(np.mean(np.abs(positions - round(float(positions.mean())))))
    error, spread = float(errors.mean()), float(errors.std(ddof=1))
    return Result(
        metrics=(
            Metric("error", "Mean error of the predicted position", error, "positions"),
            Metric("spread", f"Standard deviation over {DRAWS} random splits", spread, "positions"),
            Metric(
                "exact",
                "Positions predicted exactly",
                100.0 * float(np.mean(deviations == 0.0)),
                "%",
            ),
            Metric(
                "worst", "Mean error at the worst position", float(mean_errors[worst]), "positions"
            ),
            _worst_position(mean_errors, worst),
            Metric("middle", "Mean error of always guessing the middle", middle, "positions"),
            Metric("probed", "Positions probed", float(len(rows)), "positions"),
        ),
        arrays={"read": splits[0][0], "wrong": mean_errors, "errors": errors},
        findings=(_finding(error, spread, middle, len(rows)), *_of_worst(mean_errors, worst)),
    )


def _worst_position(mean_errors: Floats, worst: int) -> Metric:
    title = "Worst position"
    return (
        Metric("worst_at", title, float(worst))
        if mean_errors[worst]
        else Metric("worst_at", title, None, reason="all positions are predicted exactly")
    )


def _finding(error: float, spread: float, middle: float, n_positions: int) -> Finding:
    rests_on = ("error", "spread", "middle", "probed")
    deviation = uncertain(error, spread, 2 if error < 10 else 0)
    summary = (
        f"over the first {n_positions}, its mean held-out error is {deviation} positions. Always"
        f" guessing the middle gives {rounded(middle, 0)}"
    )
    if error <= READABLE * middle:
        return Finding(f"A linear probe predicts the position: {summary}.", rests_on, 0.6)
    if error >= UNREADABLE * middle:
        return Finding(f"A linear probe cannot predict the position: {summary}.", rests_on, 0.7)
    return Finding(f"A linear probe predicts the position only roughly: {summary}.", rests_on, 0.4)


def _of_worst(mean_errors: Floats, worst: int) -> tuple[Finding, ...]:
    """A finding when a single position dominates the error.

    mean_errors: (n_positions,), mean absolute error at each position
    """
    if mean_errors[worst] < ALONE * mean_errors.sum() or mean_errors[worst] < 1.0:
        return ()
    others = float(np.delete(mean_errors, worst).mean())
    text = (
        f"Position {worst} alone causes"
        f" {rounded(100.0 * mean_errors[worst] / mean_errors.sum(), 0)} % of the probe's error: it"
        f" is {rounded(mean_errors[worst], 0)} positions off on average, the others"
        f" {rounded(others, 2, 0.0)}."
    )
    spot = Spot("by_position", float(worst), float(mean_errors[worst]))
    return (Finding(text, ("worst", "worst_at", "error"), 0.5, spots=(spot,)),)


def draw(results: Results) -> "Figure":
    """Predicted against true position, one panel per table."""
    figure, axes = panels(len(results), height=3.5)
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        predicted = result.arrays["read"]
        last = predicted.size - 1
        low, high = -MARGIN * last, (1.0 + MARGIN) * last
        ax.plot([0, last], [0, last], color=MUTED, linewidth=0.8)
        _draw_dots(ax, predicted, (low, high), label.colour)
        ax.set(xlabel="position", ylabel="predicted position")
        ax.set(xlim=(low, high), ylim=(low, high))
        ax.set_title(f"{wrapped(label.title)}\nmean error {significant(result.value('error'), 3)}")
        ax.set_box_aspect(1)
    return figure


def _draw_dots(axes: "Axes", values: Floats, limits: tuple[float, float], colour: str) -> None:
    """Points as strokes too short to see, since matplotlib drops strokes of length 0: one path, a
    third of the bytes of markers.

    values: (n_positions,), vertical coordinates; those beyond the limits stand at the edge
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    from generator.figures.live import Mark

    ends = np.arange(values.size)[:, None] + np.array([0.0, 1e-3 * values.size])  # (n_positions, 2)
    vertices = np.stack([ends.ravel(), np.repeat(np.clip(values, *limits), 2)], axis=1)
    path = Path(vertices, np.tile([Path.MOVETO, Path.LINETO], values.size))
    axes.add_patch(
        PathPatch(path, edgecolor=colour, fill=False, linewidth=2.4, capstyle="round", label=STATIC)
    )
    axes.add_artist(
        Mark(
            np.stack([np.arange(values.size, dtype=np.float64), values], axis=1),
            joined=False,
            colour=colour,
        )
    )


def draw_by_position(results: Results) -> "Figure":
    """Mean absolute error by position, one line per table."""
    figure, (axes,) = panels(1, height=3.4)
    for label, result, dash in with_line_styles(results):
        axes.plot(
            result.arrays["wrong"],
            color=label.colour,
            linestyle=dash,
            label=label.title,
            linewidth=0.9,
        )
    largest = max(result.arrays["wrong"].max() for result in results.values())
    axes.set_yscale("symlog", linthresh=1.0, linscale=0.6)
    axes.set(
        xlabel="position", ylabel="mean error (positions)", ylim=(-0.08, max(1.5 * largest, 1.0))
    )
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y")
    axes.margins(x=0.01)
    legend_below(figure)
    return figure


def alt(results: Results) -> str:
    """Alternative text: mean error and share of exact predictions of each table."""
    summaries = (
        f"{label.title}: mean error {significant(result.value('error'), 3)} of"
        f" {result.arrays['read'].size} positions, {rounded(result.value('exact'), 0)} % predicted"
        " exactly"
        for label, result in results.items()
    )
    return (
        "Predicted against true position, as points along a diagonal. " + "; ".join(summaries) + "."
    )


def alt_by_position(results: Results) -> str:
    """Alternative text: first, last, median and largest error of each table."""
    summaries = []
    for label, result in results.items():
        mean_errors = result.arrays["wrong"]
        ends = (
            f"at the first position {significant(mean_errors[0], 3)}, at the last"
            f" {significant(mean_errors[-1], 3)}"
        )
        summaries.append(
            f"{label.title}: {ends}, median {significant(np.median(mean_errors), 3)}, largest"
            f" {significant(mean_errors.max(), 3)} at position {mean_errors.argmax()}"
        )
    return "Mean error by position, as a line. " + "; ".join(summaries) + "."


ANALYSIS = Analysis(
    key="position_probe",
    title="Position probe",
    question="Can a linear probe predict the position from its vector?",
    source=(
        "Wang and Chen 2020 (arXiv 2010.04903), section 3, with the settings of the authors' code."
    ),
    stage="measure",
    order=66,
    headlines=(Headline("error", "Mean position error"),),
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            key="read",
            caption=(
                "Position that linear regression predicts for each held-out vector, in one random"
                f" split into {FOLDS} folds."
            ),
            how_to_read=(
                "Points on the grey diagonal are right. A shapeless cloud means that a linear probe"
                " does not find the position, though vectors may still differ. Points beyond the"
                " frame are drawn at its edge."
            ),
            alt=alt,
            draw=draw,
        ),
        FigureSpec(
            key="by_position",
            caption=f"Mean error at each position over {DRAWS} random splits.",
            how_to_read=(
                "Higher is worse; the scale is logarithmic above 1. Peaks at the ends are common,"
                " since the probe has to extrapolate there. A rise that lasts means that a linear"
                " probe finds less there."
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
            PROTOCOL,
            metrics(compute, "error"),
            paper_sinusoid,
            unit="positions",
        ),
        Published(
            "Mean error on the first 512 rows of GPT-2's table",
            ("1.01",),
            PROTOCOL,
            metrics(compute, "error"),
            sha256=GPT2,
            unit="positions",
            margin=0.06,
            allowance=SPLITS,
        ),
    ),
)
