"""The table seen along the three directions in which its positions differ most."""

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Published, Result, Results, Subject
from generator.contracts.published import COMPONENTS, GPT2, STORED, metrics
from generator.encodings import LEADING, PositionTable
from generator.errors import NotApplicableError
from generator.figures.panels import colour_bar, panels
from generator.figures.style import SEQUENTIAL
from generator.numerics.arrays import Floats, finite
from generator.text import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

NAMES = ("the first component", "the first two components", "the first three components", "the first four components")
ROUND, STEADY, ONWARDS = 0.4, 0.95, 0.8
FEWEST = 16  # Fewer positions go round a circle by chance.
MANY = 0.8  # A share of the variance from which on two or three components stand for the table.
COLOURS = 48  # stretches of positions, each of one colour
POINTS = 1536  # of all lines of one figure together
HELIX = "GPT-2's table is known for this shape (Yedidia 2023). On a helix, a move by any number of positions is one turn and one shift, the same from wherever it starts."


def compute(subject: Subject[PositionTable]) -> Result:
    form = subject.encoding.form
    finite(form.vectors, "the table")
    if min(form.vectors.shape) < LEADING + 1:
        raise NotApplicableError(f"a table of {form.vectors.shape[0]} × {form.vectors.shape[1]} has no three components to look along")
    shares = form.components.values**2 / np.sum(form.components.values**2)  # (k,)
    coordinates = oriented(form.components.scores * np.sqrt(len(form.vectors) * shares[:LEADING]))
    turns, steady, even = around(coordinates[:, 0], coordinates[:, 1])
    onwards = abs(rank_correlation(coordinates[:, 2]))
    measured = (
        *(
            Metric(f"first_{count}", f"Variance in {name}", 100.0 * float(shares[:count].sum()), "%")
            for count, name in enumerate(NAMES, start=1)
        ),
        Metric("turns", "Turns round the middle in components 1 and 2", turns, "turns"),
        Metric("steady", "Steps that turn the same way", 100.0 * steady, "%"),
        Metric("evenness", "Spread of the distance from the middle ÷ its mean", even),
        Metric("onwards", "Rank correlation of component 3 with position, its size", onwards),
    )
    circles = form.grid is None and len(coordinates) >= FEWEST and turns >= 1.0 and steady >= STEADY and even <= ROUND
    path = Path(float(shares[:2].sum()), float(shares[:LEADING].sum()), turns, steady)
    findings = _findings(path, circles, circles and onwards >= ONWARDS)
    return Result(measured, {"coordinates": coordinates, "shares": shares}, findings)


def oriented(coordinates: Floats) -> Floats:
    """``coordinates`` (n_positions, 3) with the sign of each column such that its first value of at least half its largest size is positive.

    The sign of a component is arbitrary. That of its largest value would not do: in a symmetric table two values are equally large.
    """
    size = np.abs(coordinates)
    first = np.argmax(size >= 0.5 * size.max(axis=0), axis=0)
    signs = np.sign(coordinates[first, np.arange(coordinates.shape[1])])
    return np.asarray(coordinates * np.where(signs == 0.0, 1.0, signs))


def around(across: Floats, up: Floats) -> tuple[float, float, float]:
    """How a path (n,), (n,) goes round the origin: full turns, share of its steps that turn that way, and how uneven its distance is.

    Unevenness is the standard deviation of the distance by its mean: 0 for a circle.
    """
    points = across + 1j * up
    steps = np.angle(points[1:] * np.conj(points[:-1]))  # (n − 1,), radians
    distance = np.abs(points)
    whole = float(steps.sum())
    return abs(whole) / (2.0 * np.pi), float(np.mean(steps * whole > 0.0)), float(distance.std() / (distance.mean() or 1.0))


def rank_correlation(values: Floats) -> float:
    """Spearman's correlation of ``values`` (n,) with their index; equal values, which do not come up in a component, keep their order."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return float(np.corrcoef(ranks, np.arange(values.size))[0, 1])


@dataclass(frozen=True)
class Path:
    """A path in the plane: shares of the variance of two and three components, full turns, share of steps the same way."""

    two: float
    three: float
    turns: float
    steady: float


def _findings(path: Path, circles: bool, is_helix: bool) -> tuple[Finding, ...]:
    held = f"three directions hold {rounded(100.0 * path.three, 0, 100.0)} % of what sets positions apart"
    rests_on = ("turns", "steady", "evenness")
    if is_helix:
        whole = path.three >= MANY
        text = "The table is a helix" if whole else "The strongest directions show a helix"
        text = f"{text}: {held}, and in these the positions go round {rounded(path.turns, 1)} times while they move on."
        return (Finding(text, ("first_3", *rests_on, "onwards"), 1.0 if whole else 0.6, HELIX if whole else ""),)
    if circles:
        text, weight = ("Positions run round a circle", 0.8) if path.two >= MANY else ("The strongest directions show a circle", 0.5)
        two = f"two directions, which hold {rounded(100.0 * path.two, 0, 100.0)} % of what sets positions apart, positions make {rounded(path.turns, 1)} turns"
        steady = f"{rounded(100.0 * path.steady, 0, 100.0)} % of the steps the same way"
        return (Finding(f"{text}: in {two}, {steady}.", ("first_2", *rests_on), weight),)
    if path.three >= MANY:
        return (Finding(f"Of all directions that there are, {held}.", ("first_3",), 0.8),)
    return (
        Finding(
            f"The three strongest directions hold {rounded(100.0 * path.three, 0, 100.0)} % of what sets positions apart.",
            ("first_3",),
            0.2,
        ),
    )


def draw(results: Results) -> "Figure":
    figure, axes = panels(LEADING * len(results), columns=LEADING, height=2.7, box_aspect=1)
    every = ceil(sum(len(result.arrays["coordinates"]) for result in results.values()) / POINTS)
    for row, (label, result) in enumerate(results.items()):
        coordinates, shares = result.arrays["coordinates"], result.arrays["shares"]
        limit = 1.08 * float(np.abs(coordinates).max())
        for column, (first, second) in enumerate(combinations(range(LEADING), 2)):
            each = axes[LEADING * row + column]
            picture = _path(each, coordinates[:, first], coordinates[:, second], every)
            each.set(xlim=(-limit, limit), ylim=(-limit, limit))
            each.set(
                xlabel=f"component {first + 1} ({rounded(100 * shares[first], 0)} %)",
                ylabel=f"component {second + 1} ({rounded(100 * shares[second], 0)} %)",
            )
            each.tick_params(labelsize=7)
        axes[LEADING * row].set_title(label.title, color=label.colour)
    colour_bar(figure, picture, axes, "position, from the first (0) to the last (1)")
    return figure


def _path(axes: "Axes", across: Floats, up: Floats, every: int) -> "ScalarMappable":
    """The positions as a line whose colour runs from the first to the last; returns what its colours mean."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable

    colours = colormaps[SEQUENTIAL]
    edges = np.unique(np.linspace(0, across.size - 1, COLOURS + 1).astype(int))
    for start, stop in pairwise(edges):
        places = np.unique(np.append(np.arange(start, stop, every), stop))
        shade = colours((start + stop) / 2.0 / (across.size - 1))
        axes.plot(across[places], up[places], color=shade, linewidth=0.9, solid_capstyle="round")
    return ScalarMappable(cmap=SEQUENTIAL)


def _shares(result: Result) -> str:
    return ", ".join(f"{rounded(result.value(f'first_{count}'), 0)} %" for count in range(1, LEADING + 1))


def alt(results: Results) -> str:
    said = (
        f"{label.title}: {_shares(result)} of the variance in the first one, two and three, {rounded(result.value('turns'), 1)} turns"
        for label, result in results.items()
    )
    return "Positions as a line in the plane of each two of the first three principal components. " + "; ".join(said) + "."


ANALYSIS = Analysis(
    key="pca",
    title="Principal components",
    question="What shape do the positions make, seen from where they differ most?",
    source="Principal component analysis (Pearson 1901; Hotelling 1933); for GPT-2, Yedidia 2023, “GPT-2's positional embedding matrix is a helix”.",
    stage="measure",
    order=64,
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            key="planes",
            caption="All positions in the first three principal components, seen from three sides; the colour runs from the first position to the last.",
            how_to_read=(
                "Each picture is the same cloud of vectors seen along another direction; the number at an axis is the share of the variance along it. Follow the colour: a smooth line means that "
                "neighbours are alike, a tangle that they are not. A circle on the left with a slope on the others is a helix, seen from its end and from its sides: "
                "position is told by the angle, and by how far along. Where the shares are small, that is the shape of a part of the table."
            ),
            alt=alt,
            draw=draw,
        ),
    ),
    per_figure=3,
    published=(
        Published(
            "Variance of GPT-2's table in the first 1, 2, 3 and 4 components",
            ("33.41", "65.76", "90.39", "93.87"),
            STORED + COMPONENTS,
            metrics(compute, "first_1", "first_2", "first_3", "first_4"),
            sha256=GPT2,
            unit="%",
        ),
        Published(
            "The same",
            ("33.5", "65.7", "90.4", "93.9"),
            "read off a published plot, to about ±0.2",
            metrics(compute, "first_1", "first_2", "first_3", "first_4"),
            sha256=GPT2,
            unit="%",
            margin=0.2,
        ),
    ),
)
