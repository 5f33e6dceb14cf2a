"""Colours of the site: those of encodings that one page compares, and those of figures for what
matplotlib does not draw.
"""

from collections.abc import Sequence
from dataclasses import replace

from generator.contracts import Outcome, Reading
from generator.figures.style import SEQUENTIAL, SERIES, STOPS, series_colour
from generator.site.pictures.layer_strips import COLOURS

PATH = "assets/colormaps.css"
# On any colour, one of them has a contrast of at least 4.5.
DARK_TEXT, LIGHT_TEXT = "#000000", "#ffffff"
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


def _colours(count: int) -> list[str]:
    """``count`` evenly spaced colours from the low end of the sequential colormap to its high end,
    as #rrggbb, interpolated between its stops.
    """
    stops = [_channels(stop) for stop in STOPS[SEQUENTIAL].split()]
    shades = []
    for index in range(count):
        position = index / (count - 1) * (len(stops) - 1)
        first = min(int(position), len(stops) - 2)
        channels = (
            low + (position - first) * (high - low)
            for low, high in zip(stops[first], stops[first + 1], strict=True)
        )
        shades.append("#" + "".join(f"{round(255 * channel):02x}" for channel in channels))
    return shades


def stylesheet(count: int) -> bytes:
    """CSS classes l0 … for the levels of a map, from the high end of the sequential colormap, with
    text that contrasts with them.

    Classes pa-layer-… have the colours of kinds of layers.
    """
    rules = (
        f":is(.pam, .pam-key) .l{level} {{ background: {colour}; color: {_text_on(colour)}; }}\n"
        for level, colour in enumerate(reversed(_colours(count)))
    )
    kinds = (
        f".pa-layer-{kind} {{ background-color: {colour}; stroke: {colour}; }}\n"
        for kind, colour in COLOURS.items()
    )
    return "".join((*rules, *kinds)).encode()


def _text_on(colour: str) -> str:
    """The text colour with the higher contrast (WCAG 2.2, section 1.4.3)."""
    return max((DARK_TEXT, LIGHT_TEXT), key=lambda text: _contrast(text, colour))


def _contrast(first: str, second: str) -> float:
    low, high = sorted(_luminance(colour) for colour in (first, second))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """Relative luminance, 0 to 1 (IEC 61966-2-1)."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in _channels(colour.removeprefix("#"))
    ]
    return sum(
        weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


def _channels(colour: str) -> tuple[float, ...]:
    """Red, green and blue of a colour rrggbb, 0 to 1."""
    return tuple(int(colour[start : start + 2], 16) / 255 for start in (0, 2, 4))
