"""Dot plots: a row with name, dot and value for each encoding, by the metric that answers an
analysis.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from generator.contracts import Metric
from generator.site.rankings.ranking import MODALITIES, Ranked, Ranking
from generator.text import significant

MOST = 24  # rows; of more, half of them from either end
MOST_FOLDED = 24  # rows to unfold; of more, a page only says how many there are
LOGARITHMIC = 50.0  # ratio of the ends from which on the axis is logarithmic
DIGITS = 3


@dataclass(frozen=True)
class Dot:
    """A row. x: place of the value on the axis, in percent; note: modality, where it is not that of
    which sentences speak
    """

    entry: Ranked
    x: float
    note: str


@dataclass(frozen=True)
class DotPlot:
    """Rows from the lowest value to the highest. folded: those that a long plot hides between its
    ends, ``first`` and ``last``
    low, high: ends of the axis
    """

    metric: Metric
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
        return max(len(dot.entry.shown) for dot in (*self.first, *self.folded, *self.last))

    @property
    def has_left_out(self) -> bool:
        """Whether sentences leave a row out."""
        return any(not dot.entry.counts for dot in (*self.first, *self.folded, *self.last))


def dot_plot(ranking: Ranking) -> DotPlot | None:
    """The plot of all entries; None of fewer than two."""
    entries = ranking.entries
    if len(entries) < 2:
        return None
    low, high = entries[0].value, entries[-1].value
    is_logarithmic = low > 0.0 and high / low >= LOGARITHMIC
    if not is_logarithmic:
        low, high = min(low, 0.0), max(high, 0.0)
    own = {entry.reading.encoding.modality for entry in ranking.compared}
    place = _axis(low, high, is_logarithmic=is_logarithmic)
    dots = [
        Dot(
            entry,
            place(entry.value),
            "" if (modality := entry.reading.encoding.modality) in own else MODALITIES[modality],
        )
        for entry in entries
    ]
    first, folded, last = _parted(dots)
    ends = (significant(low, DIGITS), significant(high, DIGITS))
    return DotPlot(ranking.metric, *ends, is_logarithmic, first, folded, last)


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
