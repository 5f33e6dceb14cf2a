"""Cosine similarity between dimensions, each taken as a curve over position."""

from collections.abc import Iterator
from math import ceil, exp, lgamma, pi, sqrt

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
from generator.figures.panels import image_panels
from generator.figures.scene import PickedPanel
from generator.figures.style import DIVERGING
from generator.numerics.arrays import Array, Floats, cosine_matrix, directions, finite
from generator.numerics.similarity import clustered

WORDING = Wording("analyses/similarity_of_dimensions.md.jinja")
STRONG = 0.9
# Dimensions in the matrix; of more, one in so many. To order 1,024 takes a second, 2,048 ten.
MOST_DRAWN = 1024
DIGITS = 6  # Cosines closer than this are equal, so that the order is the same on every machine.
BLOCK = 512  # dimensions that are compared with as many others at once


def compute(subject: Subject[PositionTable]) -> Result:
    """Cosine similarity between all pairs of columns of the table, and the matrix of at most
    ``MOST_DRAWN`` evenly spread columns.

    arrays: every (), of how many columns the matrix has one; order (n_drawn,), int, its columns as
        they are drawn: their own order where a formula gives it, else that of ``by_likeness``
    derived: cosines (n_drawn, n_drawn), in the columns' own order, NaN for a column of zeros
    errors: NotApplicableError when the table is not finite, or has fewer than two columns that are
        not zero
    """
    finite(subject.encoding.form.vectors, "the table")
    form = subject.encoding.form.without_outliers
    vectors, n_outliers = form.vectors, subject.encoding.form.extent - form.extent
    if vectors.shape[1] < 2:
        raise NotApplicableError("there is only one dimension")
    arrays = {"every": np.array(ceil(vectors.shape[1] / MOST_DRAWN))}
    cosines, total, n_strong, n_pairs = matrix(form, arrays), 0.0, 0, 0
    for sizes in _pairs(vectors, cosines):
        total += float(np.nansum(sizes))
        n_strong += int(np.count_nonzero(sizes > STRONG))
        n_pairs += int(np.count_nonzero(~np.isnan(sizes)))
    if not n_pairs:
        raise NotApplicableError("fewer than two dimensions are nonzero")
    strong = 100.0 * n_strong / n_pairs
    order = np.arange(len(cosines)) if form.formula is not None else by_likeness(cosines)
    text = WORDING("parallel", percentage=strong, limit=STRONG, n_outliers=n_outliers)
    return Result(
        metrics=(
            Metric("size", "Mean absolute cosine of two dimensions", total / n_pairs),
            Metric("size_noise", "Mean absolute cosine if random", _of_noise(len(vectors))),
            Metric("strong", f"Pairs of dimensions with a cosine beyond ±{STRONG}", strong, "%"),
        ),
        arrays={**arrays, "order": order},
        findings=(Finding(text, ("strong",), 0.4),) if strong >= 1.0 else (),
        derived={"cosines": cosines},
    )


def _of_noise(n_positions: int) -> float:
    """Mean absolute cosine of two random directions: Γ(n/2) ÷ (√π Γ((n + 1)/2))."""
    return exp(lgamma(n_positions / 2) - lgamma((n_positions + 1) / 2)) / sqrt(pi)


def matrix(form: PositionTable, arrays: Arrays) -> Floats:
    """Cosine similarity of every ``arrays["every"]``-th column with every other, without outliers:
    (n_drawn, n_drawn).
    """
    return cosine_matrix(form.without_outliers.vectors[:, :: int(arrays["every"])].T)


def by_likeness(cosines: Floats) -> Array:
    """An order of vectors in which neighbours are alike, those of zeros last: (n,), int.

    cosines: (n, n), NaN for a vector of zeros
    """
    is_zero = np.isnan(np.diagonal(cosines))
    defined = np.flatnonzero(~is_zero)
    distances = 1.0 - np.round(cosines[np.ix_(defined, defined)], DIGITS)
    return np.concatenate([defined[clustered(distances)], np.flatnonzero(is_zero)])


def _pairs(vectors: Floats, cosines: Floats) -> Iterator[Floats]:
    """Absolute cosines of all pairs of columns, part by part; NaN for pairs with a column of zeros.

    vectors: (n_positions, d_model); cosines: (n_drawn, n_drawn), of all columns where these are few
        enough
    """
    count = vectors.shape[1]
    if len(cosines) == count:
        yield np.abs(cosines[np.tril_indices(count, -1)])
        return
    for start in range(0, count, BLOCK):
        units = directions(vectors[:, start : start + BLOCK].T)  # (≤ BLOCK, n_positions)
        within = units @ units.T
        yield np.minimum(np.abs(within[np.tril_indices(len(within), -1)]), 1.0)
        for other in range(start + BLOCK, count, BLOCK):
            yield np.minimum(np.abs(units @ directions(vectors[:, other : other + BLOCK].T).T), 1.0)


def draw(results: Results) -> Figure:
    """Cosine matrices of the dimensions side by side, in the order of ``compute``."""
    images = []
    for label, result in results.items():
        order, every = result.arrays["order"], int(result.arrays["every"])
        ordered = result.derived["cosines"][np.ix_(order, order)]
        images.append(PickedPanel(label.title, ordered, order=order * every))
    labels = ("dimension, reordered", "dimension, reordered", "cosine similarity")
    return image_panels(images, (-1.0, 1.0), DIVERGING, labels, square=True)


ANALYSIS = Analysis(
    key="similarity_of_dimensions",
    feels_steps=True,
    about="values",
    stage="measure",
    after="similarity_of_patches",
    answer=Headline("size", WORDING, chance=Chance("size_noise", 1.0)),
    forms=(PositionTable,),
    compute=compute,
    derived={"cosines": matrix},
    figures=(
        FigureSpec(
            "matrix",
            WORDING.figure("matrix"),
            draw,
            python=(
                'columns = vectors.T[:: int(arrays["similarity_of_dimensions.every"])]\n'
                'columns = columns[arrays["similarity_of_dimensions.order"]]\n'
                "columns = columns / np.linalg.norm(columns, axis=1, keepdims=True)\n"
                'plt.imshow(columns @ columns.T, vmin=-1, vmax=1, cmap="RdBu_r")'
            ),
        ),
    ),
)
