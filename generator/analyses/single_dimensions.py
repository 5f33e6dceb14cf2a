"""Single dimensions as curves over position."""

from collections.abc import Iterator
from math import sqrt

import numpy as np

from generator.contracts import (
    Analysis,
    Arrays,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Result,
    Results,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.canvas import Figure
from generator.figures.panels import panels, ridges, wrapped
from generator.numerics.arrays import (
    Array,
    Floats,
    blocks,
    finite,
    neighbours,
    root_mean_square,
    row_norms,
)

WORDING = Wording("analyses/single_dimensions.md.jinja")
COUNT = 12
FILLED = 0.45  # of the distance between baselines: half the height of a line
# Shares of the variance, and speeds, closer than this are equal, so that the choice is the same on
# every machine.
DIGITS = 9


def compute(subject: Subject[PositionTable]) -> Result:
    """``COUNT`` columns of the table from the slowest to the fastest, and its roughness from
    position to position, without outliers.

    arrays: dimensions (n_curves,), int; speeds (n_curves,), root mean square of the steps of each
        between neighbours, in multiples of its standard deviation, 0 for a constant; middles,
        scales (n_curves,), mean of each curve and largest deviation from it; line (), positions in
        a line of neighbours
    derived: curves (n_curves, n_positions)
    errors: NotApplicableError when the table is not finite, has fewer than three positions, or is
        zero
    """
    form = subject.encoding.form
    vectors = finite(form.vectors, "the table")
    if len(vectors) < 3:
        raise NotApplicableError("its table has fewer than three positions")
    inliers = np.delete(np.arange(len(vectors)), form.outliers)
    unit = float(row_norms(vectors)[inliers].max())
    if unit == 0.0:
        raise NotApplicableError("every value of the table is zero")
    columns = form.grid[1] if form.grid else len(vectors)
    pairs = _pairs(len(vectors), columns, form.outliers)
    variances, squares = np.concatenate(
        [
            _of_columns(vectors[:, part] / unit, inliers, pairs)
            for part in blocks(vectors.shape[1], len(vectors))
        ],
        axis=1,
    )
    shares = variances / (variances.sum() or 1.0)  # (d_model,)
    speeds = np.sqrt(squares / np.where(variances == 0.0, 1.0, variances))  # (d_model,)
    dimensions = spread_out(np.round(shares, DIGITS), np.round(speeds, DIGITS))
    ratio, drawn = roughness(vectors, columns, form.outliers), vectors[np.ix_(inliers, dimensions)]
    middles = drawn.mean(axis=0)
    energy = float(np.mean((row_norms(vectors)[inliers] / unit) ** 2))
    arrays = {
        "dimensions": dimensions,
        "speeds": speeds[dimensions],
        "middles": middles,
        "scales": np.max(np.abs(drawn - middles), axis=0),
        "line": np.array(columns),
    }
    return Result(
        metrics=(
            Metric("roughness", "Roughness (step between adjacent positions ÷ RMS)", ratio),
            Metric(
                "roughness_shuffled",
                "Roughness with shuffled positions (expected)",
                sqrt(2.0 * inliers.size / (inliers.size - 1) * variances.sum() / energy),
            ),
            Metric(
                "drawn",
                f"Variance in the {dimensions.size} dimensions drawn",
                100.0 * shares[dimensions].sum(),
                "%",
            ),
            Metric("left_out", "Outliers left out", form.outliers.size),
        ),
        arrays=arrays,
        findings=tuple(_findings(ratio)),
        derived={"curves": curves(form, arrays)},
    )


def _findings(ratio: float) -> Iterator[Finding]:
    if ratio < 0.3:
        yield Finding(WORDING("smooth", roughness=ratio), ("roughness",), 0.3)


def curves(form: PositionTable, arrays: Arrays) -> Floats:
    """The columns ``arrays["dimensions"]`` (n_curves,) over position: (n_curves, n_positions)."""
    return np.asarray(form.vectors[:, arrays["dimensions"]].T)


def _pairs(n_positions: int, columns: int, outliers: Array) -> Array:
    """Pairs of neighbours without outliers: (n_pairs, 2), int."""
    pairs = np.transpose(neighbours(n_positions, columns))
    return pairs[~np.isin(pairs, outliers).any(axis=1)]


def _of_columns(part: Floats, inliers: Array, pairs: Array) -> Floats:
    """Variance of each column, and mean square of its steps between neighbours, 0 without any:
    (2, n_columns).

    part: (n_positions, n_columns)
    """
    steps = part[pairs[:, 1]] - part[pairs[:, 0]]
    squares = np.sum(steps**2, axis=0) / max(len(pairs), 1)
    return np.stack([np.var(part[inliers], axis=0), squares])


def spread_out(shares: Floats, speeds: Floats) -> Array:
    """Of the half of the dimensions with the largest shares of the variance, in ``COUNT`` equal
    groups from the slowest to the fastest, the one of each with the largest share; the first of
    equals.

    shares, speeds: (d_model,)
    returns: (≤ COUNT,), int, from the slowest to the fastest
    """
    half = np.sort(np.argsort(-shares, kind="stable")[: max(-(-shares.size // 2), COUNT)])
    groups = np.array_split(half[np.argsort(speeds[half], kind="stable")], COUNT)
    return np.array(
        [group[np.argmax(shares[group])] for group in map(np.sort, groups) if group.size]
    )


def roughness(vectors: Floats, columns: int, outliers: Array) -> float:
    """Root mean square of the steps between neighbours, relative to that of the values: √2 for
    white noise, 0 for constants.

    vectors: (n_positions, d_model), with ``columns`` patches per row, n_positions for a sequence;
        outliers: (n_outliers,), int, positions that take no part
    """
    pairs = _pairs(len(vectors), columns, outliers)
    steps = [
        row_norms(vectors[pairs[part, 1]] - vectors[pairs[part, 0]])
        for part in blocks(len(pairs), vectors.shape[1])
    ]
    return root_mean_square(np.concatenate([np.zeros(0), *steps])) / root_mean_square(
        np.delete(row_norms(vectors), outliers)
    )


def draw(results: Results) -> Figure:
    """The columns as ridge lines over position, each on its own scale, one panel per table."""
    figure, axes = panels(len(results), height=5.2 if len(results) < 3 else 4.2)
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        middles, scales = result.arrays["middles"][:, None], result.arrays["scales"][:, None]
        lines = np.clip(
            (result.derived["curves"] - middles) / np.where(scales == 0.0, 1.0, scales), -1.0, 1.0
        )
        ridges(
            ax,
            FILLED * lines,
            [f"{dimension}" for dimension in result.arrays["dimensions"]],
            label.colour,
            1.0,
        )
        ax.set_title(wrapped(label.title))
        is_line = int(result.arrays["line"]) >= lines.shape[1]
        ax.set(xlabel="position" if is_line else "patch, row by row", ylabel="dimension")
    return figure


ANALYSIS = Analysis(
    key="single_dimensions",
    feels_steps=True,
    stage="see",
    after="vector_norms",
    answer=Headline("roughness", WORDING, chance=Chance("roughness_shuffled")),
    forms=(PositionTable,),
    compute=compute,
    derived={"curves": curves},
    figures=(
        FigureSpec(
            "curves",
            WORDING.figure("curves"),
            draw,
            python=('plt.plot(vectors[:, arrays["single_dimensions.dimensions"]])'),
        ),
    ),
    per_figure=2,
)
