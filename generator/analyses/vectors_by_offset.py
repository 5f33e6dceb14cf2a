"""Vectors of a relative table by offset: cosine similarity and norms."""

from collections.abc import Iterator, Sequence
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
    FLAT,
    Array,
    Floats,
    finite,
    mean_of_defined,
    off_diagonal,
    row_norms,
)

WORDING = Wording("analyses/vectors_by_offset.md.jinja")
ALIKE = 0.1  # Opposite offsets whose cosine is nearer to 1 are nearly the same.
ORDERS = 199  # of the same vectors, random ones; noise passes in 1 of 100 cases, on either side
SIDES = Headline("sides", WORDING, chance=Chance("mean", 1.0, shuffles=("sides_spread", 1)))


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
    places = np.arange(len(vectors))
    near, across = (places[:-1], places[1:]), opposite(form.offsets)
    adjacent = mean_of_defined(form.similarity[near])
    sides = mean_of_defined(form.similarity[across])
    norms = row_norms(vectors)
    result = Result(
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
            Metric(
                "sides_spread",
                "Mean cosine of an offset and its opposite, standard deviation over all orders",
                _spread_of_orders(form.similarity, across),
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
    )
    return replace(result, findings=tuple(_findings(form.similarity, near, result)))


def opposite(offsets: Array) -> tuple[Array, Array]:
    """Places of the offsets δ > 0 and of −δ, for δ up to the shorter side: (n_pairs,) each.

    offsets: (n_offsets,), consecutive integers
    """
    distances = np.arange(1, int(min(offsets[-1], -offsets[0])) + 1)
    zero = int(-offsets[0])
    return zero + distances, zero - distances


def _findings(similarity: Floats, near: tuple[Array, Array], result: Result) -> Iterator[Finding]:
    """near: places (n_pairs,) of adjacent offsets; result: with its metrics"""
    adjacent, mean = mean_of_defined(similarity[near]), result.value("mean")
    others = _in_other_orders(similarity, near)
    if adjacent is not None and (than := _compared(adjacent, others)):
        text = WORDING("neighbours", adjacent=adjacent, mean=mean, than=than)
        yield Finding(text, ("adjacent", "mean"), 0.4)
    sides = SIDES.placed(result)
    if sides and sides.value > 1.0 - ALIKE:
        yield Finding(WORDING("same_sides", sides=sides.value), ("sides",), 0.5)
    elif sides and sides.is_apart:
        than = "more" if sides.share > 0.0 else "less"
        text = WORDING("opposites", sides=sides.value, mean=mean, than=than)
        yield Finding(text, ("sides", "mean"), 0.5)


def _compared(mean: float, orders: Sequence[float]) -> str:
    """Whether a mean cosine is "more" or "less" than in each of some random orders; "" where it is
    neither.
    """
    margin = FLAT if orders else np.inf
    if mean > max(orders, default=0.0) + margin:
        return "more"
    return "less" if mean < min(orders, default=0.0) - margin else ""


def _in_other_orders(similarity: Floats, pairs: tuple[Array, Array]) -> list[float]:
    """Mean cosine of ``pairs`` with the vectors in each of ``ORDERS`` random orders, where it is
    defined. Zero vectors stay where they are, so that every order has as many cosines.
    """
    draws, means = np.random.default_rng(0), []
    order, nonzero = np.arange(len(similarity)), np.flatnonzero(~np.isnan(similarity.diagonal()))
    for _ in range(ORDERS):
        order[nonzero] = draws.permutation(nonzero)
        means.append(mean_of_defined(similarity[order[pairs[0]], order[pairs[1]]]))
    return [each for each in means if each is not None]


def _spread_of_orders(similarity: Floats, pairs: tuple[Array, Array]) -> float | None:
    """Standard deviation of the mean cosine of disjoint ``pairs`` over all orders of the vectors
    that are not zero; None where no pair has a cosine.

    Two pairs of a random order are any two disjoint ones, so that their covariance follows from the
    sums of all cosines and of those of each vector.
    """
    nonzero = np.flatnonzero(~np.isnan(similarity.diagonal()))
    n, n_pairs = nonzero.size, int(np.count_nonzero(~np.isnan(similarity[pairs])))
    if not n_pairs:
        return None
    cosines = similarity[np.ix_(nonzero, nonzero)].copy()
    np.fill_diagonal(cosines, 0.0)
    n_all, squares, total = n * (n - 1) / 2, (cosines**2).sum() / 2, cosines.sum() / 2
    disjoint = total**2 + squares - (cosines.sum(axis=1) ** 2).sum()
    n_disjoint = n_all * (n - 2) * (n - 3) / 2
    product = disjoint / n_disjoint if n_disjoint else 0.0
    variance = (squares / n_all + (n_pairs - 1) * product) / n_pairs - (total / n_all) ** 2
    return float(np.sqrt(max(variance, 0.0)))


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
    answer=SIDES,
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
