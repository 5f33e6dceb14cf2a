"""Principal components of the table."""

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Published, Recomputed, Result, Results, Subject
from generator.contracts.published import GPT2, metrics
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
ROUND, STEADY, ONWARDS = 0.4, 0.95, 0.8  # limits of unevenness, share of steps in one direction, and rank correlation
FEWEST = 16  # Fewer positions can form a circle by chance.
MANY = 0.8  # Share of the variance from which two or three components represent the table.
COLOURS = 48  # segments of the path, one colour each
POINTS = 1536  # of all lines of one figure together
HELIX = "GPT-2's table is known for this shape (Yedidia 2023). On a helix, a move by any number of positions is one turn and one shift, the same from wherever it starts."


def compute(subject: Subject[PositionTable]) -> Result:
    """Shares of the variance of the principal components, and the path of the positions along the first three.

    arrays: coordinates (n_positions, 3), in units of the root mean square distance from the mean; shares (n_components,)
    errors: NotApplicableError when the table is not finite, is constant, is too large, or has fewer than four positions or dimensions
    """
    form = subject.encoding.form
    finite(form.vectors, "the table")
    if min(form.vectors.shape) < LEADING + 1:
        raise NotApplicableError(f"a table of {form.vectors.shape[0]} × {form.vectors.shape[1]} has no three components to look along")
    shares = form.components.values**2 / np.sum(form.components.values**2)  # (k,)
    coordinates = oriented(form.components.left * np.sqrt(len(form.vectors) * shares[:LEADING]))
    turns, steady, even = around(coordinates[:, 0], coordinates[:, 1])
    onwards = abs(rank_correlation(coordinates[:, 2]))
    metrics = (
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
    return Result(metrics, {"coordinates": coordinates, "shares": shares}, findings)


def oriented(coordinates: Floats) -> Floats:
    """Coordinates with signs chosen such that the first value of at least half the largest magnitude of each column is positive.

    The sign of a component is arbitrary; that of the largest value would be ambiguous in symmetric tables.
    coordinates: (n_positions, n_components); returns: the same shape
    """
    size = np.abs(coordinates)
    first = np.argmax(size >= 0.5 * size.max(axis=0), axis=0)
    signs = np.sign(coordinates[first, np.arange(coordinates.shape[1])])
    return np.asarray(coordinates * np.where(signs == 0.0, 1.0, signs))


def around(across: Floats, up: Floats) -> tuple[float, float, float]:
    """Winding of a path around the origin: full turns, share of its steps in that direction, unevenness of its distance.

    Unevenness is the standard deviation of the distance relative to its mean, 0 for a circle.
    across, up: (n_positions,), coordinates of the path
    returns: ≥ 0; within [0, 1]; ≥ 0
    """
    points = across + 1j * up
    steps = np.angle(points[1:] * np.conj(points[:-1]))  # (n − 1,), radians
    distance = np.abs(points)
    total = float(steps.sum())
    return abs(total) / (2.0 * np.pi), float(np.mean(steps * total > 0.0)), float(distance.std() / (distance.mean() or 1.0))


def rank_correlation(values: Floats) -> float:
    """Spearman's correlation of ``values`` (n,) with their index, within [−1, 1]; ties are ranked in order."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return float(np.corrcoef(ranks, np.arange(values.size))[0, 1])


@dataclass(frozen=True)
class Path:
    """A path along the principal components: variance of the first two and three (shares), full turns, share of steps in one direction."""

    two: float
    three: float
    turns: float
    steady: float


def _findings(path: Path, circles: bool, is_helix: bool) -> tuple[Finding, ...]:
    share_text = f"three directions hold {rounded(100.0 * path.three, 0, 100.0)} % of what sets positions apart"
    rests_on = ("turns", "steady", "evenness")
    if is_helix:
        dominates = path.three >= MANY
        text = "The table is a helix" if dominates else "The strongest directions show a helix"
        text = f"{text}: {share_text}, and in these the positions go round {rounded(path.turns, 1)} times while they move on."
        return (Finding(text, ("first_3", *rests_on, "onwards"), 1.0 if dominates else 0.6, HELIX if dominates else ""),)
    if circles:
        text, weight = ("Positions run round a circle", 0.8) if path.two >= MANY else ("The strongest directions show a circle", 0.5)
        two = f"two directions, which hold {rounded(100.0 * path.two, 0, 100.0)} % of what sets positions apart, positions make {rounded(path.turns, 1)} turns"
        steady = f"{rounded(100.0 * path.steady, 0, 100.0)} % of the steps the same way"
        return (Finding(f"{text}: in {two}, {steady}.", ("first_2", *rests_on), weight),)
    if path.three >= MANY:
        return (Finding(f"Of all directions that there are, {share_text}.", ("first_3",), 0.8),)
    return (
        Finding(
            f"The three strongest directions hold {rounded(100.0 * path.three, 0, 100.0)} % of what sets positions apart.",
            ("first_3",),
            0.2,
        ),
    )


def draw(results: Results) -> "Figure":
    """Positions in the planes of the first three components, three panels per table."""
    figure, axes = panels(LEADING * len(results), columns=LEADING, height=2.7, box_aspect=1)
    every = ceil(sum(len(result.arrays["coordinates"]) for result in results.values()) / POINTS)
    for row, (label, result) in enumerate(results.items()):
        coordinates, shares = result.arrays["coordinates"], result.arrays["shares"]
        limit = 1.08 * float(np.abs(coordinates).max())
        for column, (first, second) in enumerate(combinations(range(LEADING), 2)):
            ax = axes[LEADING * row + column]
            picture = _path(ax, coordinates[:, first], coordinates[:, second], every)
            ax.set(xlim=(-limit, limit), ylim=(-limit, limit))
            ax.set(
                xlabel=f"component {first + 1} ({rounded(100 * shares[first], 0)} %)",
                ylabel=f"component {second + 1} ({rounded(100 * shares[second], 0)} %)",
            )
            ax.tick_params(labelsize=7)
        axes[LEADING * row].set_title(label.title, color=label.colour)
    colour_bar(figure, picture, axes, "position, from the first (0) to the last (1)")
    return figure


def _path(axes: "Axes", across: Floats, up: Floats, every: int) -> "ScalarMappable":
    """Plot a path as a line whose colour runs from the first position to the last; returns its colour scale.

    across, up: (n_positions,); every: step between plotted positions
    """
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable

    colours = colormaps[SEQUENTIAL]
    edges = np.unique(np.linspace(0, across.size - 1, COLOURS + 1).astype(int))
    for start, stop in pairwise(edges):
        indices = np.unique(np.append(np.arange(start, stop, every), stop))
        colour = colours((start + stop) / 2.0 / (across.size - 1))
        axes.plot(across[indices], up[indices], color=colour, linewidth=0.9, solid_capstyle="round")
    return ScalarMappable(cmap=SEQUENTIAL)


def _shares(result: Result) -> str:
    return ", ".join(f"{rounded(result.value(f'first_{count}'), 0)} %" for count in range(1, LEADING + 1))


def alt(results: Results) -> str:
    """Alternative text: cumulative variance of three components and number of turns of each table."""
    summaries = (
        f"{label.title}: {_shares(result)} of the variance in the first one, two and three, {rounded(result.value('turns'), 1)} turns"
        for label, result in results.items()
    )
    return "Positions as a line in the plane of each two of the first three principal components. " + "; ".join(summaries) + "."


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
            Recomputed("scikit-learn", "sklearn.decomposition.PCA"),
            metrics(compute, "first_1", "first_2", "first_3", "first_4"),
            sha256=GPT2,
            unit="%",
        ),
    ),
)
