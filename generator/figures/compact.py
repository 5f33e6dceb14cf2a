"""Drawings of matplotlib in fewer bytes, with the same rendering."""

import re
from collections.abc import Set
from functools import lru_cache

from generator.figures.style import DARK
from generator.text import visible

UNNEEDED = re.compile(r"<!DOCTYPE[^>]*>|(?<=>)\s+(?=<)")  # With the space between elements.
# Beyond printable ASCII; XML allows no control characters, and others reorder the text around them.
UNWRITTEN = re.compile(r"[^\n -~]")
TAG = re.compile(r"<[^<>]+>")  # Text between tags may look like attributes, and stays as it is.
TURN = re.compile(r' transform="rotate\(-?0 [^"]*"')  # By nothing.
ID, NAMED = re.compile(r' id="([^"]+)"'), re.compile(r"#([\w-]+)")
PLACE = re.compile(r'(?<= [xy]=")-?\d+\.\d{3,}')
PATH, COMMAND = re.compile(r'(?<= d=")[^"]+'), re.compile(r"([A-Za-z])([^A-Za-z]*)")
STYLE, SEPARATOR = re.compile(r' style="([^"]*)"'), re.compile(r"([:;])\s+")
FONT = re.compile(r"font-family:[^;]*;\s*")  # All text has that of the style sheet.
# Without attributes, and without a group in it.
GROUP = re.compile(r"<g>([^<]*(?:<(?!/?g\b)[^<]*)*)</g>")
RULES = (
    ":root{color-scheme:light dark}text{font-family:system-ui,-apple-system,'Segoe"
    " UI',Roboto,'DejaVu Sans',sans-serif!important}image{image-rendering:pixelated}"
)
# Of an image on a dark page: light and dark change places, and hues stay.
TURNED = "image{filter:invert(1) hue-rotate(180deg)}"


def compact(drawing: str, is_diverging: bool = False) -> str:
    """``drawing`` without what nothing needs, and with a class for each style: colours follow the
    reader's light or dark scheme.

    is_diverging: whether its images are of two hues that meet in white, where a dark page has black
    """
    text = UNWRITTEN.sub(lambda character: visible(character[0]), UNNEEDED.sub("", drawing))
    classes: dict[str, str] = {}
    named = frozenset(NAMED.findall(text))
    text = TAG.sub(lambda tag: _tag(tag[0], named, classes), text)
    while (fewer := GROUP.sub(r"\1", text)) != text:
        text = fewer
    return text.replace("<defs>", f"<defs><style>{RULES}{_rules(classes, is_diverging)}</style>", 1)


def _tag(tag: str, named: Set[str], classes: dict[str, str]) -> str:
    """A tag with its class.

    named: ids that something refers to; classes: by style, to which new ones are added
    """
    tag = ID.sub(lambda match: match[0] if match[1] in named else "", TURN.sub("", tag))
    tag = PATH.sub(
        lambda path: _by_steps(path[0]), PLACE.sub(lambda place: f"{float(place[0]):.2f}", tag)
    )
    return STYLE.sub(
        lambda style: f' class="{classes.setdefault(_written(style[1]), f"c{len(classes)}")}"', tag
    )


def _written(style: str) -> str:
    return SEPARATOR.sub(r"\1", FONT.sub("", style)).strip("; ")


def _rules(classes: dict[str, str], is_diverging: bool) -> str:
    """A rule for each class, and those for dark pages. classes: by style"""
    light = "".join(f".{name}{{{style}}}" for style, name in classes.items())
    dark = "".join(map(_dark, classes.values(), classes)) + TURNED * is_diverging
    return f"{light}@media(prefers-color-scheme:dark){{{dark}}}"


def _dark(name: str, style: str) -> str:
    """The colours of a style that change, as a rule for its class; "" without any."""
    declarations = (declaration.partition(":") for declaration in style.split(";"))
    changed = ";".join(f"{what}:{DARK[value]}" for what, _, value in declarations if value in DARK)
    return f".{name}{{{changed}}}" if changed else ""


def _by_steps(path: str) -> str:
    """``path`` to tenths, lines by their steps, which take fewer letters than places.

    Steps lead from rounded place to rounded place, so that no error adds up.
    """
    text, former, place, start = "", "", [0, 0], [0, 0]
    for command, numbers in COMMAND.findall(path):
        tenths = [round(10.0 * float(number)) for number in numbers.split()]
        letter, written = command, tenths
        if command in "ML":
            letter, written = command.lower(), [tenths[0] - place[0], tenths[1] - place[1]]
        if letter == "l" and written == [0, 0]:
            letter, written = "h", [0]  # A dot.
        place = tenths[-2:] or start
        start = place if command == "M" else start
        numerals = "".join(map(_numeral, written))
        # Further pairs after a move or a line are lines.
        is_implied = letter == "l" and former in ("m", "l")
        text += numerals if is_implied else letter + numerals.lstrip()
        former = letter
    return text


@lru_cache(maxsize=2**16)
def _numeral(tenths: int) -> str:
    """``tenths`` as a decimal number, after a space where no sign parts it from the one before."""
    number = f"{tenths / 10:.1f}".removesuffix(".0")
    number = number.replace("0.", ".") if abs(tenths) < 10 else number
    return number if tenths < 0 else f" {number}"
