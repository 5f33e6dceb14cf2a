"""Linear probe for the absolute position."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.contracts import (
    Analysis,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Recomputed,
    Result,
    Results,
    Subject,
)
from generator.contracts.oracles import GPT2, SPLITS, cases, paper_sinusoid
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.figures.canvas import Axes, Figure
from generator.figures.charts import Curves, of_arrays
from generator.figures.panels import panels, wrapped
from generator.figures.scene import Dots, Line, add
from generator.figures.style import MUTED
from generator.numerics.arrays import Array, Floats
from generator.numerics.linear_probes import (
    DRAWS,
    PositionProbe,
    compact,
    compact_noise,
    predict_positions,
    probed_rows,
    ridge_predictions,
)
from generator.text import measured

WORDING = Wording("analyses/position_probe.md.jinja")
PROTOCOL = Recomputed(
    "scikit-learn",
    "LinearRegression and cross_val_predict, after Wang and Chen 2020 (arXiv 2010.04903)",
)
READABLE, UNREADABLE = 0.05, 0.5  # of the error of a constant guess, or of random numbers
RIDGE_DRAWS = 4
# Margin of the figure beyond the first and last position, as a share of all positions.
MARGIN = 0.1


def compute(subject: Subject[PositionTable]) -> Result:
    """Cross-validated error of linear regression of the position on its vector.

    By ridge regression without outliers, over ``RIDGE_DRAWS`` random splits, beside random numbers
    of the same size; and by least squares over ``DRAWS``.

    Least squares are the protocol of Wang and Chen 2020 (arXiv 2010.04903, section 3). They explode
    where the width is near the number of training rows, so that tables of different widths compare
    by the ridge alone. Both on the first ``MOST_POSITIONS`` positions of the table.
    arrays: read (n_positions,), predictions of the first split by the ridge, in positions; wrong
        (n_positions,), mean absolute error at each position over its splits, both NaN for outliers;
        errors (n_splits,), mean absolute error of each split by least squares
    errors: NotApplicableError when positions form a grid, are too few, or the table is not finite
    """
    form = subject.encoding.form
    rows = probed_rows(form.vectors, form.grid)
    positions = np.arange(len(rows))
    inliers = np.setdiff1d(positions, form.outliers)
    ridge = _by_ridge(rows, inliers)
    deviations = np.abs(np.round(ridge) - inliers)  # (n_splits, n_inliers)
    noise = ridge_predictions(compact_noise(inliers.size, rows.shape[1]), inliers, 0)
    of_noise = float(np.mean(np.abs(np.round(noise) - inliers)))
    of_splits = deviations.mean(axis=1)
    middle = float(np.mean(np.abs(positions - round(float(positions.mean())))))
    metrics, errors = _by_least_squares(rows)
    first = len(rows) if len(rows) < len(form.vectors) else None
    return Result(
        metrics=(
            Metric(
                "ridge",
                "Mean error of the predicted position",
                of_splits.mean(),
                "positions",
            ),
            Metric("left_out", "Outliers left out", len(rows) - inliers.size),
            Metric(
                "ridge_spread",
                f"Standard deviation of that error over {RIDGE_DRAWS} splits",
                of_splits.std(ddof=1),
                "positions",
            ),
            Metric("of_noise", "Mean error from random numbers", of_noise, "positions"),
            *metrics,
            Metric("middle", "Mean error of always guessing the middle", middle, "positions"),
            Metric("probed", "Length of the table, as probed", len(rows), "positions"),
        ),
        arrays={
            "read": _placed(ridge[0], inliers, len(rows)),
            "wrong": _placed(deviations.mean(axis=0), inliers, len(rows)),
            "errors": errors,
        },
        findings=tuple(_findings(of_splits, of_noise, middle, first, len(rows) - inliers.size)),
    )


def _by_ridge(rows: Floats, inliers: Array) -> Floats:
    """Predicted positions of the rows ``inliers`` (n_inliers,), over ``RIDGE_DRAWS`` splits:
    (n_splits, n_inliers), unrounded.
    """
    features = compact(rows[inliers] if inliers.size < len(rows) else rows)
    return np.array([ridge_predictions(features, inliers, seed) for seed in range(RIDGE_DRAWS)])


def _by_least_squares(rows: Floats) -> tuple[tuple[Metric, ...], Floats]:
    """The metrics of Wang and Chen's protocol, and the mean absolute error of each of its splits:
    (n_splits,), in positions.
    """
    probe = PositionProbe.of(rows)
    splits = [predict_positions(probe, seed) for seed in range(DRAWS)]
    # (n_splits, n_positions)
    deviations = np.abs(np.round([predicted for predicted, _ in splits]) - np.arange(len(rows)))
    mean_errors = deviations.mean(axis=0)  # (n_positions,)
    worst = int(mean_errors.argmax())
    exact = 100.0 * float(np.mean(deviations == 0.0))
    errors = np.array([error for _, error in splits])
    return (
        Metric("error", "Mean error, least squares", errors.mean(), "positions"),
        Metric(
            "spread",
            f"Standard deviation over {DRAWS} splits, least squares",
            errors.std(ddof=1),
            "positions",
        ),
        Metric("exact", "Positions predicted exactly, least squares", exact, "%"),
        Metric(
            "worst",
            "Largest mean error at a position, least squares",
            mean_errors[worst],
            "positions",
        ),
        Metric(
            "worst_at",
            "Position of the largest error, least squares",
            worst if mean_errors[worst] else None,
            reason="all positions are predicted exactly",
        ),
    ), errors


def _placed(values: Floats, at: Array, n_positions: int) -> Floats:
    """``values`` (n,) at the positions ``at`` (n,): (n_positions,), NaN at others."""
    placed = np.full(n_positions, np.nan)
    placed[at] = values
    return placed


def _findings(
    of_splits: Floats, of_noise: float, middle: float, first: int | None, n_outliers: int
) -> Iterator[Finding]:
    """A finding where the probe does better than with random numbers, and than a constant guess.

    of_splits: (n_splits,), mean absolute error of each split; first: positions probed, None for
        all; n_outliers: of them, left out
    """
    error = float(of_splits.mean())
    if error > UNREADABLE * min(of_noise, middle):
        return
    roughly = error > READABLE * middle
    values = {"error": error, "of_noise": of_noise, "first": first}
    text = WORDING("position", roughly=roughly, n_outliers=n_outliers, **values)
    yield Finding(
        text,
        ("ridge", "of_noise", "middle", "probed", "left_out"),
        0.4 if roughly else 0.6,
    )


def draw(results: Results) -> Figure:
    """Predicted against true position, one panel per table."""
    figure, axes = panels(len(results), height=3.5)
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        predicted = result.arrays["read"]
        last = predicted.size - 1
        low, high = -MARGIN * last, (1.0 + MARGIN) * last
        add(ax, Line([0, last], [0, last], colour=MUTED, width=0.8, is_aside=True))
        _draw_dots(ax, predicted, (low, high), label.colour)
        ax.set(xlabel="position", ylabel="predicted position")
        ax.set(xlim=(low, high), ylim=(low, high))
        ax.set_title(f"{wrapped(label.title)}\nmean error {measured(result.value('ridge'))}")
        ax.set_box_aspect(1)
    return figure


def _draw_dots(axes: Axes, values: Floats, limits: tuple[float, float], colour: str) -> None:
    """Points as strokes too short to see, since matplotlib drops strokes of length 0: one path, a
    third of the bytes of markers.

    values: (n_positions,), vertical coordinates; those beyond the limits stand at the edge
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    known = np.flatnonzero(~np.isnan(values))
    ends = known[:, None] + np.array([0.0, 1e-3 * values.size])  # (n_known, 2)
    vertices = np.stack([ends.ravel(), np.repeat(np.clip(values[known], *limits), 2)], axis=1)
    path = Path(vertices, np.tile([Path.MOVETO, Path.LINETO], known.size))
    axes.add_patch(PathPatch(path, edgecolor=colour, fill=False, linewidth=2.4, capstyle="round"))
    points = np.stack([np.arange(values.size, dtype=np.float64), values], axis=1)
    add(axes, Dots(points, is_joined=False, colour=colour))


def _logarithmic_above_1(axes: Axes, results: Results) -> None:
    largest = max(np.nanmax(result.arrays["wrong"]) for result in results.values())
    axes.set_yscale("symlog", linthresh=1.0, linscale=0.6)
    axes.set_ylim(-0.08, max(1.5 * largest, 1.0))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.01)


def _summary(result: Result) -> dict[str, Any]:
    errors = result.arrays["wrong"]
    ends = np.flatnonzero(~np.isnan(errors))[[0, -1]]
    worst = np.nanargmax(errors)
    return {
        "ends": list(zip(ends, errors[ends], strict=True)),
        "median": np.nanmedian(errors),
        "largest": errors[worst],
        "worst": worst,
    }


ANALYSIS = Analysis(
    key="position_probe",
    feels_steps=True,
    stage="measure",
    after="principal_components",
    headlines=(
        Headline(
            "ridge", WORDING, chance=Chance("of_noise", samples=("ridge_spread", RIDGE_DRAWS))
        ),
    ),
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            "read",
            WORDING.figure("read"),
            draw,
            python=('plt.plot(arrays["position_probe.read"], ".")'),
        ),
        FigureSpec(
            "by_position",
            WORDING.figure("by_position", _summary),
            Curves(
                of_arrays("", "wrong"),
                x="position",
                y="mean error (positions)",
                height=3.4,
                style={"width": 0.9},
                finish=_logarithmic_above_1,
            ),
            python=('plt.plot(arrays["position_probe.wrong"])'),
            overlays=True,
        ),
    ),
    per_figure=4,
    oracles=(
        *cases(
            compute,
            PROTOCOL,
            paper_sinusoid,
            {"Mean error on the sinusoid, 512 × 768": {"error": "0.0000"}},
            unit="positions",
        ),
        *cases(
            compute,
            PROTOCOL,
            GPT2,
            {"Mean error on the first 512 rows of GPT-2's table": {"error": "1.01"}},
            unit="positions",
            margin=0.06,
            allowance=SPLITS,
        ),
    ),
)
