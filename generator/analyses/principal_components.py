"""Principal components of the table."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from generator.contracts import (
    Analysis,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Recomputed,
    Result,
    Results,
    Subject,
)
from generator.contracts.oracles import GPT2, cases
from generator.contracts.wording import Wording
from generator.encodings import LEADING, PositionTable
from generator.errors import NotApplicableError
from generator.figures.canvas import Figure
from generator.figures.panels import colour_bar, panels, wrapped
from generator.figures.trails import VIEW, seen, trail, trail_scale
from generator.numerics.arrays import FLAT, Array, Floats, finite, largest
from generator.numerics.gram import principal
from generator.text import measured

WORDING = Wording("analyses/principal_components.md.jinja")
NAMES = (
    "the first component",
    "the first two components",
    "the first three components",
    "the first four components",
)
# limits of unevenness, share of steps in one direction, and rank correlation
ROUND, STEADY, ONWARDS = 0.4, 0.95, 0.8
# Largest ratio of turning rates at which they are even, and the stretches of positions that are
# compared.
EVEN, PARTS = 1.5, 8
FEWEST = 16  # Fewer positions can form a circle by chance.
MANY = 0.8  # Share of the variance from which two or three components represent the table.
POINTS = 1536  # of all lines of one figure together
DRAWS = 5  # tables of random numbers with which a circle is compared
LETTERS = 18  # of a line of the title, where three panels stand in a row
NOISE = ("steady_noise", "within_2_noise")
NOT_ROUND = "the positions do not run round a circle"
NO_THIRD = "component 3 is rounding"
NO_PATH = "its positions form a grid, where reading order jumps at the end of each row"


@dataclass(frozen=True)
class Path:
    """Winding of a path around the origin in the plane.

    turns: full turns; steady: share of steps in that direction; unevenness: standard deviation of
        the distance ÷ its mean, 0 for a circle
    rate: turning rate of the fastest of ``PARTS`` stretches of positions ÷ that of the slowest;
        None where one does not turn that way
    noise: of one that is round, see ``of_noise``
    """

    turns: float
    steady: float
    unevenness: float
    rate: float | None
    noise: tuple[float, float] | None = None

    @property
    def is_round(self) -> bool:
        """Whether it makes a turn or more at about one distance, nearly always the same way."""
        return self.turns >= 1.0 and self.steady >= STEADY and self.unevenness <= ROUND

    @property
    def is_even(self) -> bool:
        """Whether it turns about as fast everywhere."""
        return self.rate is not None and self.rate <= EVEN


def compute(subject: Subject[PositionTable]) -> Result:
    """Shares of the variance of the principal components, and the path of the positions, without
    outliers, along the first three.

    arrays: coordinates (n_positions, 3), in units of the root mean square distance from the mean,
        NaN for outliers, which take no part in it; shares, shares_within (n_components,), with and
        without outliers; left_out (n_outliers,), int; line (), positions in a line of neighbours
    errors: NotApplicableError when the table is not finite, is constant, is too large, or has fewer
        than four positions or dimensions
    """
    form = subject.encoding.form
    finite(form.vectors, "the table")
    if min(form.vectors.shape) < LEADING + 1:
        raise NotApplicableError(
            f"a table of {form.vectors.shape[0]} × {form.vectors.shape[1]} is too small; three"
            f" components need at least {LEADING + 1} × {LEADING + 1}"
        )
    shares = form.components.values**2 / np.sum(form.components.values**2)  # (k,)
    used = _positions_used(form)
    if used.size == form.extent:
        placed = form.components.left * np.sqrt(form.extent * shares[:LEADING])
        shares_within = shares
    else:
        placed, shares_within = placed_by_components(form.vectors[used])
    placed = oriented(placed)
    path = around(placed[:, 0], placed[:, 1], used) if form.grid is None else None
    onwards = rank_correlation(placed[:, 2], largest(placed)) if form.grid is None else None
    if path and path.is_round:
        path = replace(path, noise=of_noise(used, form.vectors.shape[1]))
    coordinates = np.full((form.extent, LEADING), np.nan)
    coordinates[used] = placed
    metrics = (
        *(
            Metric(f"first_{count}", f"Variance in {name}", 100.0 * shares[:count].sum(), "%")
            for count, name in enumerate(NAMES, start=1)
        ),
        Metric(
            "within_3",
            f"Variance in {NAMES[2]}, without outliers",
            100.0 * shares_within[:LEADING].sum(),
            "%",
        ),
        Metric(
            "within_2",
            f"Variance in {NAMES[1]}, without outliers",
            100.0 * shares_within[:2].sum(),
            "%",
        ),
        *_of_path(path, onwards),
        Metric(
            "lap",
            "Positions per turn",
            _counted(used) / path.turns if path and path.is_round else None,
            "positions",
            NOT_ROUND if path else NO_PATH,
        ),
        *_of_noise(path),
        Metric("left_out", "Outliers left out", form.extent - used.size),
    )
    left_out = np.setdiff1d(np.arange(form.extent), used)
    line = form.extent if form.grid is None else form.grid[1]
    arrays = {
        "coordinates": coordinates,
        "shares": shares,
        "shares_within": shares_within,
        "left_out": left_out,
        "line": np.array(line),
    }
    return Result(
        metrics, arrays, tuple(_findings(shares_within, path, onwards, used, left_out.size))
    )


def _positions_used(form: PositionTable) -> Array:
    """Positions without outliers, (n_used,), int; all where those have no three components."""
    inliers = np.delete(np.arange(form.extent), form.outliers)
    is_constant = np.ptp(form.vectors[inliers], axis=0).max() <= FLAT * largest(form.vectors)
    return np.arange(form.extent) if inliers.size <= LEADING or is_constant else inliers


def placed_by_components(vectors: Floats) -> tuple[Floats, Floats]:
    """Coordinates along the first components, and the share of the variance in each, from the
    smaller Gram matrix: a third of the time.

    vectors: (n_positions, d_model), not constant
    returns: (n_positions, LEADING), in units of the root mean square distance from the mean;
        (n_components,), largest first
    """
    squares, along = principal(vectors, largest(vectors), LEADING)
    return along / np.sqrt(squares.sum() / len(vectors)), squares / squares.sum()


def of_noise(used: Array, n_dimensions: int) -> tuple[float, float]:
    """The most that ``DRAWS`` tables of random numbers have of the share of steps in one direction,
    and of the share of the variance in two components.

    used: (n_used,), int, the positions that the tables have
    """
    steady, shares = [], []
    for seed in range(DRAWS):
        numbers = np.random.default_rng(seed).normal(size=(used.size, n_dimensions))
        placed, of_each = placed_by_components(numbers)
        steady.append(around(placed[:, 0], placed[:, 1], used).steady)
        shares.append(float(of_each[:2].sum()))
    return max(steady), max(shares)


def _of_noise(path: Path | None) -> Iterator[Metric]:
    values = [100.0 * share for share in path.noise] if path and path.noise else [None, None]
    titles = "Steps in the main direction", f"Variance in {NAMES[1]}"
    for key, title, value in zip(NOISE, titles, values, strict=True):
        words = f"{title}, highest of {DRAWS} tables of random numbers"
        yield Metric(key, words, value, "%", NOT_ROUND if path else NO_PATH)


def _of_path(path: Path | None, onwards: float | None) -> Iterator[Metric]:
    turns, steady, rate, unevenness = (
        (path.turns, 100.0 * path.steady, path.rate, path.unevenness) if path else (None,) * 4
    )
    no_rate = "parts of the path do not turn in its main direction" if path else NO_PATH
    yield Metric("turns", "Winding in the plane of components 1 and 2", turns, "turns", NO_PATH)
    yield Metric("steady", "Steps in the main direction of turning", steady, "%", NO_PATH)
    title = "Turning rate (fastest eighth of the path ÷ slowest)"
    yield Metric("rate", title, rate, reason=no_rate)
    title = "Standard deviation of the radius ÷ its mean"
    yield Metric("evenness", title, unevenness, reason=NO_PATH)
    title = "Absolute rank correlation of component 3 with position"
    yield Metric("onwards", title, onwards, reason=NO_THIRD if path else NO_PATH)


def oriented(coordinates: Floats) -> Floats:
    """Coordinates with signs chosen such that the first value of at least half the largest
    magnitude of each column is positive.

    The sign of a component is arbitrary; that of the largest value would be ambiguous in symmetric
    tables.
    coordinates: (n_positions, n_components); returns: the same shape
    """
    size = np.abs(coordinates)
    first = np.argmax(size >= 0.5 * size.max(axis=0), axis=0)
    signs = np.sign(coordinates[first, np.arange(coordinates.shape[1])])
    return np.asarray(coordinates * np.where(signs == 0.0, 1.0, signs))


def around(across: Floats, up: Floats, positions: Array) -> Path:
    """Winding of a path around the origin, within runs of neighbours: over a gap, whole turns could
    not be told from none.

    across, up: (n_used,), coordinates of the path; positions: (n_used,), int, ascending
    """
    points = across + 1j * up
    steps = np.angle(points[1:] * np.conj(points[:-1]))  # (n − 1,), radians
    steps = steps[np.diff(positions) == 1]
    if not steps.size:
        return Path(0.0, 0.0, 0.0, None)
    distance, total = np.abs(points), float(steps.sum())
    rates = np.array(
        [part.mean() for part in np.array_split(steps, min(PARTS, steps.size))]
    ) * np.sign(total)
    rate = float(rates.max() / rates.min()) if rates.min() > FLAT * rates.max() else None
    unevenness = float(distance.std() / (distance.mean() or 1.0))
    return Path(abs(total) / (2.0 * np.pi), float(np.mean(steps * total > 0.0)), unevenness, rate)


def rank_correlation(values: Floats, scale: float) -> float | None:
    """The magnitude of Spearman's correlation of ``values`` (n,) with their index, where those that
    differ by rounding have the mean of their ranks; None where all do. scale: of what they are from
    """
    _, inverse, counts = np.unique(
        np.round(values / (FLAT * scale)), return_inverse=True, return_counts=True
    )
    if counts.size == 1:
        return None
    ranks = (np.cumsum(counts) - counts / 2.0)[inverse]
    return abs(float(np.corrcoef(ranks, np.arange(values.size))[0, 1]))


def _findings(
    shares: Floats, path: Path | None, onwards: float | None, used: Array, n_outliers: int
) -> Iterator[Finding]:
    """shares: (n_components,), of the variance without outliers; used: (n_used,), int, positions;
    n_outliers: others
    """
    two, three = (float(shares[:count].sum()) for count in (2, LEADING))
    dominates = three >= MANY
    if path is None or path.noise is None or used.size < FEWEST or two <= path.noise[1]:
        if dominates:
            yield Finding(WORDING("variance", share=three), ("within_3",), 0.8)
        return
    rests_on = ("turns", "steady", "rate", "evenness", "lap", "left_out", *NOISE)
    winding: dict[str, Any] = {"path": path, "lap": _counted(used) / path.turns}
    winding["n_outliers"] = n_outliers
    if onwards is not None and onwards >= ONWARDS:
        text = WORDING("helix", **winding, share=three, dominates=dominates)
        is_whole = path.is_even and dominates
        context = WORDING("helix_beyond_noise", path=path, is_whole=is_whole)
        weight = 1.0 if dominates else 0.6
        yield Finding(text, (*rests_on, "within_3", "onwards"), weight, context)
    else:
        name, weight = ("circle", 0.8) if two >= MANY else ("circles", 0.5)
        context = WORDING("beyond_noise", path=path, share=two)
        text = WORDING(name, **winding, share=two)
        yield Finding(text, (*rests_on, "within_2"), weight, context)


def _counted(used: Array) -> int:
    """Number of steps from a position to the next among those that are used: (n_used,), int."""
    return int(np.sum(np.diff(used) == 1))


def draw(results: Results) -> Figure:
    """Positions in the planes of the first three components, three panels per table; of a grid as
    dots, since it is no path.
    """
    figure, axes = panels(LEADING * len(results), columns=LEADING, height=2.7, box_aspect=1)
    for row, (label, result) in enumerate(results.items()):
        coordinates, shares = result.arrays["coordinates"], result.arrays["shares_within"]
        is_path = int(result.arrays["line"]) == len(coordinates)
        limit = 1.08 * float(np.nanmax(np.abs(coordinates)))
        for column, (first, second) in enumerate(combinations(range(LEADING), 2)):
            ax = axes[LEADING * row + column]
            trail(ax, coordinates[:, [first, second]], joined=is_path, most=POINTS // len(results))
            ax.set(xlim=(-limit, limit), ylim=(-limit, limit))
            ax.set(
                xlabel=f"component {first + 1} ({measured(100 * shares[first], '%')}%)",
                ylabel=f"component {second + 1} ({measured(100 * shares[second], '%')}%)",
            )
            ax.tick_params(labelsize=7)
        axes[LEADING * row].set_title(label.title)
    colour_bar(figure, trail_scale(), axes, "position (0 first, 1 last)")
    return figure


def draw_curve(results: Results) -> Figure:
    """Positions in three dimensions, seen from one side, one panel per table."""
    figure, axes = panels(
        len(results),
        columns=min(len(results), LEADING),
        height=4.2 if len(results) == 1 else 3.2,
        box_aspect=1,
    )
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        coordinates = result.arrays["coordinates"]
        trail(
            ax,
            seen(coordinates, *VIEW),
            joined=int(result.arrays["line"]) == len(coordinates),
            points=coordinates,
        )
        limit = 1.08 * float(np.nanmax(np.linalg.norm(coordinates, axis=1)))
        ax.set(xlim=(-limit, limit), ylim=(-limit, limit), xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.set_title(wrapped(label.title, LETTERS) if len(results) > 1 else "")
    colour_bar(figure, trail_scale(), axes, "position (0 first, 1 last)")
    return figure


def _summary(result: Result) -> dict[str, Any]:
    shares = np.cumsum(result.arrays["shares_within"][:LEADING])
    return {"shares": shares, "turns": result.value("turns")}


def appeal(result: Result) -> float:
    """How round the curve is, times the share of the variance that it holds, where a finding says
    that it winds round its middle; 0 elsewhere.
    """
    if not any("turns" in finding.rests_on for finding in result.findings):
        return 0.0
    unevenness, share = (result.value(key) or 0.0 for key in ("evenness", "within_3"))
    return (1.0 - unevenness) * share / 100.0


def brief(result: Result, noun: str) -> str:
    """That the positions run round a circle, and how many a lap takes; "" where no finding says
    so.
    """
    is_found = any("lap" in finding.rests_on for finding in result.findings)
    return WORDING("brief", lap=result.value("lap"), noun=noun) if is_found else ""


PLACED = """\
rows = np.delete(vectors, arrays["principal_components.left_out"], axis=0)
rows = rows - rows.mean(axis=0)
placed = rows @ np.linalg.svd(rows, full_matrices=False)[2][:3].T
"""


ANALYSIS = Analysis(
    key="principal_components",
    stage="measure",
    after="rank",
    answer=Headline("lap", WORDING, where="lap_where"),
    forms=(PositionTable,),
    compute=compute,
    follows=frozenset({"coordinates", "shares", "shares_within"}),
    figures=(
        FigureSpec(
            "curve",
            WORDING.figure("curve", _summary),
            draw_curve,
            python=PLACED + 'plt.axes(projection="3d").plot(*placed.T)',
            appeal=appeal,
            brief=brief,
        ),
        FigureSpec(
            "planes",
            WORDING.figure("planes", _summary),
            draw,
            python=PLACED + "plt.scatter(*placed[:, :2].T, c=range(len(placed)))",
        ),
    ),
    per_figure=3,
    oracles=cases(
        compute,
        Recomputed("scikit-learn", "sklearn.decomposition.PCA"),
        GPT2,
        {
            "Variance of GPT-2's table in the first 1, 2, 3 and 4 components": {
                "first_1": "33.41",
                "first_2": "65.76",
                "first_3": "90.39",
                "first_4": "93.87",
            }
        },
        unit="%",
    ),
)
