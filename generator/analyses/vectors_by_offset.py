"""Vectors of a relative table by offset: cosine similarity and norms."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from generator.contracts import (
    Analysis,
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
from generator.encodings import RelativeTable
from generator.errors import NotApplicableError
from generator.figures.canvas import Figure
from generator.figures.charts import Curves, of_arrays
from generator.figures.panels import image_panels
from generator.figures.scene import Panel, StraightLine
from generator.figures.style import DIVERGING
from generator.numerics.arrays import (
    Floats,
    finite,
    mean_by_distance,
    mean_of_defined,
    off_diagonal,
    row_norms,
)

WORDING = Wording("analyses/vectors_by_offset.md.jinja")
ALIKE = 0.1  # A difference of cosines from here on is worth a sentence.


def compute(subject: Subject[RelativeTable]) -> Result:
    """Cosine similarity between the vectors of all pairs of offsets, and their norms.

    arrays: cosines (n_offsets, n_offsets); offsets (n_offsets,), key minus query, in positions;
        norms (n_offsets,); to_zero (n_offsets,), cosine with offset 0, or with the nearest to it
    errors: NotApplicableError when the table is not finite, or has fewer than two vectors that are
        not zero
    """
    form = subject.encoding.form
    vectors = finite(form.vectors, "the table of offsets")
    pairs = off_diagonal(form.similarity)
    if not pairs.size:
        raise NotApplicableError("fewer than two offsets have a nonzero vector")
    middle = int(np.argmin(np.abs(form.offsets)))
    adjacent = mean_of_defined(mean_by_distance([form.similarity])[1:2])
    sides = mean_of_defined(opposite(form.similarity, form.offsets))
    norms = row_norms(vectors)
    return Result(
        metrics=(
            Metric(
                "adjacent",
                "Mean cosine of adjacent offsets",
                adjacent,
                reason="no two adjacent offsets both have a nonzero vector",
            ),
            Metric("mean", "Mean cosine of two different offsets", pairs.mean()),
            Metric(
                "sides",
                "Mean cosine of an offset and its opposite",
                sides,
                reason="no two opposite offsets both have a nonzero vector",
            ),
            Metric("shortest", "Smallest norm", norms.min()),
            Metric("longest", "Largest norm", norms.max()),
        ),
        arrays={
            "cosines": form.similarity,
            "offsets": form.offsets,
            "norms": norms,
            "to_zero": form.similarity[middle],
        },
        findings=tuple(_findings(adjacent, sides, float(pairs.mean()))),
    )


def opposite(similarity: Floats, offsets: Floats) -> Floats:
    """Cosine of the vector at each offset δ > 0 with that at −δ, for δ up to the shorter side:
    (n_pairs,).

    similarity: (n_offsets, n_offsets); offsets: (n_offsets,), consecutive integers
    """
    reach = int(min(offsets[-1], -offsets[0]))
    zero = int(-offsets[0])
    return np.array(
        [similarity[zero + distance, zero - distance] for distance in range(1, reach + 1)]
    )


def _findings(adjacent: float | None, sides: float | None, mean: float) -> Iterator[Finding]:
    if adjacent is not None:
        are_alike = abs(adjacent - mean) <= ALIKE
        text = WORDING("neighbours", adjacent=adjacent, mean=mean, are_alike=are_alike)
        yield Finding(text, ("adjacent", "mean"), 0.4)
    if sides is not None:
        text = WORDING("opposites", sides=sides, are_alike=sides > 1.0 - ALIKE)
        yield Finding(text, ("sides",), 0.5)


def draw_matrix(results: Results) -> Figure:
    """Cosine matrices over offsets side by side."""
    ends = [result.arrays["offsets"][[0, -1]] + (-0.5, 0.5) for result in results.values()]
    images = [
        Panel(label.title, result.arrays["cosines"], extent=(first, last, last, first))
        for (label, result), (first, last) in zip(results.items(), ends, strict=True)
    ]
    labels = ("offset (positions)", "offset (positions)", "cosine similarity")
    figure = image_panels(images, (-1.0, 1.0), DIVERGING, labels, square=True)
    # The last axes hold the scale.
    for axes, (first, last) in zip(figure.axes, ends, strict=False):
        axes.set(xlim=(first, last), ylim=(last, first))
    return figure


def _upto_longest(results: Results) -> tuple[float, float]:
    longest = max(float(result.arrays["norms"].max()) for result in results.values())
    return 0.0, 1.08 * longest or 1.0


BY_OFFSET = Curves(
    of_arrays("offsets", "to_zero"),
    x="offset: key minus query (positions)",
    y="cosine with offset 0",
    ylim=(-1.02, 1.02),
    rules=(StraightLine("x", 0.0),),
    dotted=True,
)


ANALYSIS = Analysis(
    key="vectors_by_offset",
    stage="see",
    after="bias_by_patch_offset",
    answer=Headline("sides", WORDING, chance=Chance("mean", 1.0)),
    forms=(RelativeTable,),
    compute=compute,
    figures=(
        FigureSpec(
            "matrix",
            WORDING.figure("matrix"),
            draw_matrix,
            python=(
                'plt.imshow(arrays["vectors_by_offset.cosines"], vmin=-1, vmax=1, cmap="RdBu_r")'
            ),
        ),
        FigureSpec(
            "similarity",
            WORDING.figure("similarity"),
            BY_OFFSET,
            python=(
                'plt.plot(arrays["vectors_by_offset.offsets"], arrays["vectors_by_offset.to_zero"])'
            ),
            overlays=True,
        ),
        FigureSpec(
            "norms",
            WORDING.figure("norms"),
            replace(
                BY_OFFSET,
                points=of_arrays("offsets", "norms"),
                y="Euclidean norm",
                ylim=_upto_longest,
            ),
            python=(
                'plt.plot(arrays["vectors_by_offset.offsets"], arrays["vectors_by_offset.norms"])'
            ),
            overlays=True,
        ),
    ),
)
