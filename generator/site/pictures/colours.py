"""Colours of encodings that one page compares."""

from collections.abc import Sequence
from dataclasses import replace

from generator.contracts import Outcome, Reading
from generator.figures.style import SERIES, series_colour

Member = tuple[Outcome, Reading]


def distinct(members: Sequence[Member]) -> list[Member]:
    """``members`` with colours that are different for up to ten of them: their own, or the next one
    that is free; further ones begin anew.
    """
    coloured: list[Member] = []
    free: list[str] = []
    for outcome, reading in members:
        free = free or list(SERIES)
        own = SERIES.index(series_colour(outcome.checkpoint.slug))
        colour = next(colour for colour in (*SERIES[own:], *SERIES) if colour in free)
        free.remove(colour)
        coloured.append((outcome, replace(reading, label=replace(reading.label, colour=colour))))
    return coloured
