"""Cosine similarity between the vectors of positions."""

from typing import TYPE_CHECKING

from generator.contracts import (
    Analysis,
    Arrays,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Published,
    Result,
    Results,
    Subject,
)
from generator.contracts.published import COSINES, metrics, paper_sinusoid
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.panels import Panel, image_panels
from generator.figures.style import DIVERGING
from generator.numerics.arrays import (
    Floats,
    cosine_matrix,
    finite,
    mean_of_defined,
    neighbours,
    off_diagonal,
)
from generator.text import cosine

if TYPE_CHECKING:
    from matplotlib.figure import Figure


APART = 0.1  # A difference of cosines from here on is worth a sentence.
MOST_POSITIONS = 2048  # The matrix of a longer table would take gigabytes.


def compute(subject: Subject[PositionTable]) -> Result:
    """Cosine similarity between all pairs of positions, up to ``MOST_POSITIONS``.

    derived: cosines (n_positions, n_positions), NaN for a vector of zeros
    errors: NotApplicableError when the table is not finite, or has fewer than two vectors that are
        not zero
    """
    form = subject.encoding.form
    vectors = finite(form.vectors, "the table")
    if len(vectors) < 2:
        raise NotApplicableError("there is only one position")
    cosines = matrix(form, {})
    pairs = off_diagonal(cosines)
    if not pairs.size:
        raise NotApplicableError("fewer than two positions have a nonzero vector")
    columns = form.grid[1] if form.grid else len(vectors)
    adjacent = mean_of_defined(cosines[neighbours(len(cosines), columns)])
    reason = None if adjacent is not None else "no two neighbours both have a nonzero vector"
    return Result(
        metrics=(
            Metric("adjacent", "Mean cosine of neighbouring positions", adjacent, reason=reason),
            Metric("mean", "Mean cosine of two different positions", float(pairs.mean())),
            Metric("lowest", "Lowest cosine", float(pairs.min())),
        ),
        derived={"cosines": cosines},
        findings=(
            *_cut(len(vectors)),
            *(() if adjacent is None else _findings(adjacent, float(pairs.mean()))),
        ),
    )


def matrix(form: PositionTable, _: Arrays) -> Floats:
    """Cosine similarity of the first ``MOST_POSITIONS`` vectors: (n_positions, n_positions)."""
    return cosine_matrix(form.vectors[:MOST_POSITIONS])


def _cut(n_positions: int) -> tuple[Finding, ...]:
    if n_positions <= MOST_POSITIONS:
        return ()
    return (
        Finding(
            f"Only the first {MOST_POSITIONS:,} of {n_positions:,} positions are compared.",
            ("mean",),
        ),
    )


def _findings(adjacent: float, mean: float) -> tuple[Finding, ...]:
    neighbours, any_two = cosine(adjacent), cosine(mean)
    how, weight = (
        ("more" if adjacent > mean else "less", 0.4)
        if abs(adjacent - mean) > APART
        else ("hardly more", 0.5)
    )
    text = (
        f"Neighbouring positions are {how} similar than average: mean cosine {neighbours} against"
        f" {any_two}."
    )
    return (Finding(text, ("adjacent", "mean"), weight),)


def draw(results: Results) -> "Figure":
    """Cosine matrices side by side."""
    images = [Panel(label.title, result.derived["cosines"]) for label, result in results.items()]
    return image_panels(
        images, (-1.0, 1.0), DIVERGING, ("position", "position", "cosine similarity"), square=True
    )


def alt(results: Results) -> str:
    """Alternative text: mean cosine of neighbours and of any two positions, and the lowest."""
    summaries = (
        f"{label.title}: neighbours {cosine(result.value('adjacent'))}, any two"
        f" {cosine(result.value('mean'))}, lowest {cosine(result.value('lowest'))}"
        for label, result in results.items()
    )
    return "Cosine matrices from −1 to 1. Mean cosines, " + "; ".join(summaries) + "."


ANALYSIS = Analysis(
    key="similarity_of_positions",
    title="Similarity of positions",
    question="Which positions have similar vectors?",
    source=(
        "The cosine matrix of the teaching notebooks named on the page About; Wang and Chen 2020"
        " (arXiv 2010.04903) print it for trained models."
    ),
    stage="see",
    order=50,
    headlines=(
        Headline(
            "adjacent",
            "Cosine of neighbours",
            low="gives neighbours a cosine of only {}",
            high="gives neighbours a cosine of {}",
        ),
    ),
    forms=(PositionTable,),
    compute=compute,
    derived={"cosines": matrix},
    figures=(
        FigureSpec(
            key="matrix",
            caption="Cosine similarity of every two positions.",
            how_to_read=(
                "A red band along the diagonal means that near positions are similar; white is"
                " unrelated, blue opposite. Stripes parallel to the diagonal mean that only the"
                " offset matters. Blocks and crosses mark positions that the table treats"
                " differently."
            ),
            alt=alt,
            python=(
                "units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)\n"
                'plt.imshow(units[:2048] @ units[:2048].T, vmin=-1, vmax=1, cmap="RdBu_r")'
            ),
            draw=draw,
        ),
    ),
    published=(
        Published(
            "Mean cosine of two different positions of the sinusoid, 512 × 768",
            ("0.4205",),
            COSINES,
            metrics(compute, "mean"),
            paper_sinusoid,
        ),
    ),
)
