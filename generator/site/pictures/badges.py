"""Badges: whether a copy encodes position as its original does, for its own page elsewhere."""

from collections.abc import Callable
from functools import partial
from xml.etree import ElementTree as ET

from generator.contracts import Atlas, Comparison, Outcome, Verdict
from generator.contracts.wording import Wording

WORDING = Wording("wording/copies.jinja")
SVG = "http://www.w3.org/2000/svg"
HEIGHT, MARGIN, OF_LETTER = 20, 6, 6.2  # pixels; the last of a letter at FONT
FONT = "11px Verdana, DejaVu Sans, sans-serif"
# White text on each has a contrast of at least 4.5.
LABEL, UNKNOWN = "#444b55", "#6a6f76"
COLOURS: dict[Verdict | None, str] = {
    "equal": "#217a37",
    "different": "#b3261e",
}


def path(outcome: Outcome) -> str:
    """Where the docs have the badge of a copy."""
    return f"badges/{outcome.checkpoint.slug}.svg"


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """Functions that return the badge of each copy, by path."""
    return {
        path(outcome): partial(badge, outcome.copy.verdict, not_compared(outcome.copy.comparison))
        for outcome in atlas.outcomes
        if outcome.copy
    }


def not_compared(found: Comparison | None) -> str:
    """The scheme of the numbers that alone were not compared; "" where more was not, or nothing."""
    schemes = found.not_compared if found and len(found.not_compared) == len(found.untold) else ()
    return schemes[0] if len({*schemes}) == 1 else ""


def badge(verdict: Verdict | None, not_compared: str = "") -> bytes:
    """The badge of a verdict, green only where all was compared; of None, that there is none."""
    texts = WORDING("label"), WORDING("badge", verdict=verdict, not_compared=not_compared)
    widths = [2 * MARGIN + OF_LETTER * len(text) for text in texts]
    svg = ET.Element("svg", xmlns=SVG, width=f"{sum(widths):g}", height=str(HEIGHT), role="img")
    ET.SubElement(svg, "title").text = ": ".join(texts)
    left = 0.0
    for text, width, fill in zip(
        texts, widths, (LABEL, COLOURS.get(verdict, UNKNOWN)), strict=True
    ):
        place = {"x": f"{left:g}", "width": f"{width:g}", "height": str(HEIGHT)}
        ET.SubElement(svg, "rect", place, fill=fill)
        # Whatever font a reader has, the text fills its place.
        inner = {"x": f"{left + MARGIN:g}", "y": "14", "textLength": f"{width - 2 * MARGIN:g}"}
        ET.SubElement(svg, "text", inner, style=f"font: {FONT}", fill="#fff").text = text
        left += width
    return ET.tostring(svg) + b"\n"
