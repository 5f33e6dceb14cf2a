"""Cosine similarity between the vectors of positions."""

from collections.abc import Iterator

from generator.contracts import (
    Analysis,
    Arrays,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Oracle,
    Result,
    Subject,
)
from generator.contracts.oracles import COSINES, metrics, paper_sinusoid
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.charts import Images
from generator.figures.style import DIVERGING
from generator.numerics.arrays import (
    Floats,
    cosine_matrix,
    finite,
    mean_of_defined,
    neighbours,
    off_diagonal,
)

WORDING = Wording("analyses/similarity_of_positions.md.jinja")
APART = 0.1  # A difference of cosines from here on is worth a sentence.
FAR = 0.5  # of the way from the mean of all pairs to 1, from which it is a large one
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
    return Result(
        metrics=(
            Metric(
                "adjacent",
                "Mean cosine of adjacent positions",
                adjacent,
                reason="no two adjacent positions both have a nonzero vector",
            ),
            Metric("mean", "Mean cosine of two different positions", pairs.mean()),
            Metric("lowest", "Lowest cosine", pairs.min()),
        ),
        derived={"cosines": cosines},
        findings=tuple(_findings(adjacent, float(pairs.mean()), form)),
    )


def matrix(form: PositionTable, _: Arrays) -> Floats:
    """Cosine similarity of the first ``MOST_POSITIONS`` vectors: (n_positions, n_positions)."""
    return cosine_matrix(form.vectors[:MOST_POSITIONS])


def _findings(adjacent: float | None, mean: float, form: PositionTable) -> Iterator[Finding]:
    if (n_positions := len(form.vectors)) > MOST_POSITIONS:
        yield Finding(WORDING("first_only", most=MOST_POSITIONS, n=n_positions), ("mean",))
    # Of noise, both are the same up to chance.
    if adjacent is not None and abs(adjacent - mean) > APART:
        is_far = adjacent - mean >= FAR * (1.0 - mean)
        values = {"adjacent": adjacent, "mean": mean, "is_grid": form.grid is not None}
        text = WORDING("neighbours", is_far=is_far, **values)
        yield Finding(text, ("adjacent", "mean"), 0.4)


ANALYSIS = Analysis(
    key="similarity_of_positions",
    stage="see",
    after="spectrum",
    headlines=(Headline("adjacent", WORDING, chance=Chance("mean", 1.0)),),
    forms=(PositionTable,),
    compute=compute,
    derived={"cosines": matrix},
    figures=(
        FigureSpec(
            "matrix",
            WORDING.figure("matrix"),
            Images(
                "cosines",
                (-1.0, 1.0),
                DIVERGING,
                ("position", "position", "cosine similarity"),
            ),
            python=(
                "units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)\n"
                'plt.imshow(units[:2048] @ units[:2048].T, vmin=-1, vmax=1, cmap="RdBu_r")'
            ),
        ),
    ),
    oracles=(
        Oracle(
            "Mean cosine of two different positions of the sinusoid, 512 × 768",
            ("0.4205",),
            COSINES,
            metrics(compute, "mean"),
            paper_sinusoid,
        ),
    ),
)
