"""Dot plots: a row with name, dot and value for each encoding, by the metric that answers an
analysis.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from math import log

from generator.contracts import Chance, Metric
from generator.site.rankings.peers import MODALITIES
from generator.site.rankings.ranking import Ranked, Ranking
from generator.text import measured

MOST = 24  # rows; of more, half of them from either end
MOST_FOLDED = 24  # rows to unfold; of more, a page only says how many there are
LOGARITHMIC = 50.0  # ratio of the ends from which on the axis is logarithmic
LENGTHS = ("positions", "patches")


@dataclass(frozen=True)
class Dot:
    """A row. x: place of the value on the axis, in percent; tick: of its chance level, bar: of the
    ends of one standard error to either side, None without; note: modality, where it is not that of
    which sentences speak
    """

    entry: Ranked
    x: float
    tick: float | None
    bar: tuple[float, float] | None
    note: str


@dataclass(frozen=True)
class DotPlot:
    """Rows in their order, those without a place at the end. folded: those that a long plot hides
    between its ends, ``first`` and ``last``
    chance: what the order is by; low, high: ends of the axis
    """

    metric: Metric
    chance: Chance | None
    low: str
    high: str
    is_logarithmic: bool
    first: tuple[Dot, ...]
    folded: tuple[Dot, ...]
    last: tuple[Dot, ...]

    @property
    def has_all(self) -> bool:
        """Whether readers can unfold what is hidden."""
        return len(self.folded) <= MOST_FOLDED

    @property
    def letters(self) -> int:
        """Length of the longest value as text."""
        return max(len(dot.entry.shown) for dot in self.dots)

    @property
    def dots(self) -> tuple[Dot, ...]:
        """All rows."""
        return (*self.first, *self.folded, *self.last)

    @property
    def has_left_out(self) -> bool:
        """Whether a row has no place in the order."""
        return any(not dot.entry.counts for dot in self.dots)

    @property
    def has_bars(self) -> bool:
        """Whether a row has a standard error."""
        return any(dot.bar for dot in self.dots)


def dot_plot(ranking: Ranking) -> DotPlot | None:
    """The plot of all entries; None of fewer than two."""
    entries = ranking.entries
    if len(entries) < 2:
        return None
    drawn = [one for entry in entries for one in (entry.value, entry.placed.chance, *_ends(entry))]
    low, high = min(known := [one for one in drawn if one is not None]), max(known)
    is_logarithmic = low > 0.0 and high / low >= LOGARITHMIC
    if not is_logarithmic:
        low, high = min(low, 0.0), max(high, 0.0)
    own = {entry.reading.encoding.modality for entry in ranking.compared}
    place = _axis(low, high, is_logarithmic=is_logarithmic)
    dots = [_dot(entry, place, own) for entry in entries]
    if ranking.metric.unit in LENGTHS:  # Positions of one kind are no positions of another.
        dots.sort(key=lambda dot: (not dot.entry.counts, dot.note))
    ends = measured(low, ranking.metric.unit), measured(high, ranking.metric.unit)
    return DotPlot(ranking.metric, ranking.headline.chance, *ends, is_logarithmic, *_parted(dots))


def _dot(entry: Ranked, place: Callable[[float], float], own: Container[str]) -> Dot:
    """own: modalities of which sentences speak"""
    modality, chance, ends = entry.reading.encoding.modality, entry.placed.chance, _ends(entry)
    return Dot(
        entry,
        place(entry.value),
        None if chance is None else place(chance),
        (place(ends[0]), place(ends[1])) if ends else None,
        "" if modality in own else MODALITIES[modality],
    )


def _ends(entry: Ranked) -> Sequence[float]:
    """Ends of one standard error to either side of a value; none without one."""
    value, error = entry.value, entry.placed.error
    return () if not error else (max(value - error, 0.0), value + error)


def _axis(low: float, high: float, *, is_logarithmic: bool) -> Callable[[float], float]:
    """Function that returns the place of a value between ``low`` and ``high``, in percent."""
    scale: Callable[[float], float] = log if is_logarithmic else float
    start, span = scale(low), scale(high) - scale(low)
    return lambda value: round(100.0 * (scale(value) - start) / span, 1) if span else 0.0


def _parted(dots: Sequence[Dot]) -> tuple[tuple[Dot, ...], tuple[Dot, ...], tuple[Dot, ...]]:
    """Rows at the beginning, rows to fold, and rows at the end."""
    if len(dots) <= MOST:
        return tuple(dots), (), ()
    half = MOST // 2
    return tuple(dots[:half]), tuple(dots[half:-half]), tuple(dots[-half:])
