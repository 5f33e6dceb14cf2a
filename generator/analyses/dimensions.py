"""Single dimensions as curves over position."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results, Subject
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.panels import panels, ridges, wrapped
from generator.numerics.arrays import Floats, finite, root_mean_square
from generator.text import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNT, SEED = 12, 0
REACH = 3.5  # in units of the table's root mean square; larger values are clipped


def compute(subject: Subject[PositionTable]) -> Result:
    """``COUNT`` random columns of the table (fixed seed), and its roughness from position to position.

    arrays: dimensions (n_curves,); curves (n_curves, n_positions); rms (), root mean square of the table
    errors: NotApplicableError when the table is not finite, has fewer than three positions, or is zero
    """
    vectors = finite(subject.encoding.form.vectors, "the table")
    if len(vectors) < 3:
        raise NotApplicableError(f"{len(vectors)} positions make no curve")
    d_model = vectors.shape[1]
    dimensions = np.sort(np.random.default_rng(SEED).choice(d_model, size=min(COUNT, d_model), replace=False))
    rms = root_mean_square(vectors)
    if rms == 0.0:
        raise NotApplicableError("every value of the table is zero")
    ratio = roughness(vectors)
    return Result(
        metrics=(Metric("roughness", "Change from one position to the next ÷ root mean square", ratio),),
        arrays={"dimensions": dimensions, "curves": vectors[:, dimensions].T, "rms": np.array(rms)},
        findings=_findings(ratio),
    )


def _findings(ratio: float) -> tuple[Finding, ...]:
    changes = f"from one position to the next a value changes by {rounded(ratio, 2, 0.0)} of the table's root mean square"
    if ratio < 0.3:
        return (Finding(f"The table is smooth: {changes}.", ("roughness",), 0.3),)
    return (Finding(f"The table is rough: {changes} (pure noise: 1.41).", ("roughness",), 0.4),) if ratio > 1.0 else ()


def roughness(vectors: Floats) -> float:
    """Root mean square of the steps between neighbours, relative to that of the values: √2 for white noise, 0 for constants.

    vectors: (n_positions, d_model)
    """
    return root_mean_square(np.diff(vectors, axis=0)) / root_mean_square(vectors)


def draw(results: Results) -> "Figure":
    """The columns as ridge lines over position, one panel per table."""
    figure, axes = panels(len(results), height=5.2 if len(results) < 3 else 4.2)
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        curves = np.clip(result.arrays["curves"] / float(result.arrays["rms"]), -REACH, REACH)
        ridges(ax, curves, [f"{dimension}" for dimension in result.arrays["dimensions"]], label.colour, 2 * REACH)
        ax.set_title(wrapped(label.title), color=label.colour)
        ax.set(xlabel="position", ylabel="dimension (value, each on its own line)")
    return figure


def alt(results: Results) -> str:
    """Alternative text: dimensions drawn and roughness of each table."""
    summaries = (
        f"{label.title}: dimensions {', '.join(str(dimension) for dimension in result.arrays['dimensions'])}, "
        f"step to step change {rounded(result.value('roughness'), 2)} of the root mean square"
        for label, result in results.items()
    )
    return "Single dimensions drawn as curves over position. " + "; ".join(summaries) + "."


ANALYSIS = Analysis(
    key="dimensions",
    title="Single dimensions",
    question="How does one dimension change from position to position?",
    source="The GPT-2 course, which draws twelve dimensions; ours are drawn by lot, with a fixed seed.",
    stage="see",
    order=40,
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            key="curves",
            caption="Twelve dimensions, chosen by lot (the same for every table of that width), over all positions.",
            how_to_read=(
                "Each line is one column of the table. A smooth wave counts positions at its own pace; noise tells neighbours apart "
                "but knows nothing of distance; a flat line carries no position. Values are in units of the table's root mean square, cut at ±3.5."
            ),
            alt=alt,
            draw=draw,
        ),
    ),
    per_figure=2,
)
