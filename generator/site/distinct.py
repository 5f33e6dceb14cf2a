"""Colours of encodings that one page compares."""

from collections.abc import Sequence
from dataclasses import replace

from generator.contracts import Outcome, Reading
from generator.figures.style import SERIES

Member = tuple[Outcome, Reading]


def distinct(members: Sequence[Member]) -> list[Member]:
    """``members`` with colours that are different for up to ten of them, in their order; further ones begin anew."""
    return [
        (outcome, replace(reading, label=replace(reading.label, colour=SERIES[index % len(SERIES)])))
        for index, (outcome, reading) in enumerate(members)
    ]
