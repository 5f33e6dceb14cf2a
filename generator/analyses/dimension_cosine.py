"""Cosine similarity between dimensions, each taken as a curve over position."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results, Subject
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.panels import Panel, image_panels
from generator.figures.style import DIVERGING
from generator.numerics.arrays import cosine_matrix, finite, off_diagonal
from generator.text import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRONG = 0.9


def compute(subject: Subject[PositionTable]) -> Result:
    """Cosine similarity between all pairs of columns of the table.

    arrays: cosines (d_model, d_model), NaN for a column of zeros
    errors: NotApplicableError when the table is not finite, or has fewer than two columns that are not zero
    """
    vectors = finite(subject.encoding.form.vectors, "the table")
    if vectors.shape[1] < 2:
        raise NotApplicableError("there is only one dimension")
    cosines = cosine_matrix(vectors.T)
    sizes = np.abs(off_diagonal(cosines))
    if not sizes.size:
        raise NotApplicableError("fewer than two dimensions are nonzero")
    strong = float(np.mean(sizes > STRONG)) * 100.0
    return Result(
        metrics=(
            Metric("size", "Mean absolute cosine of two dimensions", float(sizes.mean())),
            Metric("strong", f"Pairs of dimensions with a cosine beyond ±{STRONG}", strong, "%"),
        ),
        arrays={"cosines": cosines},
        findings=_findings(strong),
    )


def _findings(strong: float) -> tuple[Finding, ...]:
    if strong < 1.0:
        return ()
    return (
        Finding(
            f"{rounded(strong, 1)} % of all pairs of dimensions are nearly parallel or opposite (cosine beyond ±{STRONG}).",
            ("strong",),
            0.4,
        ),
    )


def draw(results: Results) -> "Figure":
    """Cosine matrices of the dimensions side by side."""
    images = [Panel(label.title, result.arrays["cosines"]) for label, result in results.items()]
    return image_panels(images, (-1.0, 1.0), DIVERGING, ("dimension", "dimension", "cosine similarity"), square=True)


def alt(results: Results) -> str:
    """Alternative text: mean absolute cosine of each table."""
    summaries = (f"{label.title}: mean absolute cosine {rounded(result.value('size'), 2)}" for label, result in results.items())
    return "Cosine matrices of the dimensions from −1 to 1. " + "; ".join(summaries) + "."


ANALYSIS = Analysis(
    key="dimension_cosine",
    title="Similarity of dimensions",
    question="Do dimensions repeat each other?",
    source="The GPT-2 course's cosine matrix between the columns of the table.",
    stage="measure",
    order=60,
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            key="matrix",
            caption="Cosine similarity of every two dimensions, each a curve over position.",
            how_to_read=(
                "Strong colour off the diagonal means that dimensions repeat each other: red for parallel curves, blue for opposite ones. "
                "White is unrelated. In the sinusoid, the slowest dimensions form the red corner."
            ),
            alt=alt,
            draw=draw,
        ),
    ),
)
