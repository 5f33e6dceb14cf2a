"""How alike the vectors of two positions are."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results, Subject
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.numerics import cosine_matrix, finite, mean_by_offset, off_diagonal
from generator.plotting import Panel, image_panels, panels
from generator.style import DIVERGING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_POSITIONS = 2048  # The matrix of a longer table would take gigabytes.


def compute(subject: Subject[PositionTable]) -> Result:
    vectors = finite(subject.encoding.form.vectors, "the table")
    if len(vectors) < 2:
        raise NotApplicableError("there is only one position, so there is nothing to compare it with")
    cosines = cosine_matrix(vectors[:MOST_POSITIONS])
    away = off_diagonal(cosines)
    if not away.size:
        raise NotApplicableError("fewer than two positions have a vector that is not all zeros")
    profile = mean_by_offset(cosines)
    adjacent = float(profile[1]) if not np.isnan(profile[1]) else None
    reason = None if adjacent is not None else "no two neighbours both have a vector that is not all zeros"
    return Result(
        metrics=(
            Metric("adjacent", "Mean cosine of neighbouring positions", adjacent, reason=reason),
            Metric("mean", "Mean cosine of two different positions", float(away.mean())),
            Metric("lowest", "Lowest cosine", float(away.min())),
        ),
        arrays={"cosines": cosines, "profile": profile},
        findings=(*_cut(len(vectors)), *(() if adjacent is None else _findings(adjacent, float(away.mean())))),
    )


def _cut(n_positions: int) -> tuple[Finding, ...]:
    if n_positions <= MOST_POSITIONS:
        return ()
    return (Finding(f"Similarity is taken over the first {MOST_POSITIONS:,} of {n_positions:,} positions."),)


def _findings(adjacent: float, mean: float) -> tuple[Finding, ...]:
    if adjacent - mean > 0.1:
        return (Finding(f"Neighbours are alike: their mean cosine is {adjacent:.2f}, against {mean:.2f} for any two positions."),)
    return (Finding(f"Neighbours are hardly more alike (mean cosine {adjacent:.2f}) than any two positions ({mean:.2f})."),)


def draw(results: Results) -> "Figure":
    shown = [Panel(label.title, label.colour, result.arrays["cosines"]) for label, result in results.items()]
    return image_panels(shown, (-1.0, 1.0), DIVERGING, ("position", "position", "cosine similarity"), square=True)


def draw_profiles(results: Results) -> "Figure":
    figure, (axes,) = panels(1, height=3.2)
    for label, result in results.items():
        axes.plot(result.arrays["profile"], color=label.colour, label=label.title)
    axes.set(xlabel="offset (positions)", ylabel="mean cosine similarity", ylim=(-0.5, 1.02))
    axes.grid(axis="y")
    axes.legend(loc="upper right")
    return figure


def alt(results: Results, opening: str) -> str:
    said = (
        f"{label.title}: neighbours {_said(result.arrays['profile'], 1)}, ten apart {_said(result.arrays['profile'], 10)}"
        for label, result in results.items()
    )
    return f"{opening} Mean cosine by offset, " + "; ".join(said) + "."


def _said(profile: np.ndarray, offset: int) -> str:
    return f"{profile[offset]:.2f}" if offset < len(profile) and not np.isnan(profile[offset]) else "not defined"


ANALYSIS = Analysis(
    key="cosine",
    title="Similarity of positions",
    question="Which positions does the table make alike?",
    source="The cosine matrix of the GPT-2, BERT and T5 notebooks; Wang and Chen 2020 (arXiv 2010.04903) print it for trained models.",
    order=50,
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            key="matrix",
            caption="Cosine similarity of every position with every other.",
            how_to_read=(
                "Row i, column j: how alike the vectors of positions i and j are; 1 is the same direction, 0 unrelated, −1 opposite. "
                "The diagonal is each position with itself. A bright band along it means that near positions are alike; stripes that run "
                "parallel to it mean that only the offset matters; blocks or crosses are places where the table treats positions differently."
            ),
            alt=partial(alt, opening="Cosine matrices on a scale from −1 to 1."),
            draw=draw,
        ),
        FigureSpec(
            key="profile",
            caption="Mean cosine similarity of two positions by how far apart they are.",
            how_to_read=(
                "Each point is the mean along one diagonal of the matrix above. A line that falls steadily tells distance; where it is flat, "
                "all distances look alike; where it rises again, far positions look nearer than they are."
            ),
            alt=partial(alt, opening="Lines of similarity against offset."),
            draw=draw_profiles,
        ),
    ),
)
