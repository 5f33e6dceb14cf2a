"""An Atom feed of the releases (RFC 4287).

It needs the address of the site: without one there is none.
"""

from collections.abc import Callable
from functools import partial
from xml.etree import ElementTree as ET

from generator import PROGRAM
from generator.contracts import Atlas
from generator.site.history import sentences
from generator.site.history.releases import Step, steps
from generator.text import visible

PATH = "changes.xml"
NAMESPACE = "http://www.w3.org/2005/Atom"
UNDATED = "1980-01-01"
MOST_ENTRIES, MOST_LINES = 30, 50


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """A function that returns the feed, by path below the docs folder; none without an address."""
    return {PATH: partial(feed, atlas)} if atlas.address else {}


def feed(atlas: Atlas) -> bytes:
    """The last releases, one entry each."""
    page, recent = f"{atlas.address}changes.html", steps(atlas.releases)[:MOST_ENTRIES]
    root = ET.Element("feed", xmlns=NAMESPACE)
    _add(root, "title", "Position Atlas: changes")
    _add(root, "id", page)
    _add(root, "updated", _time(recent[0].release.date if recent else None))
    _add(_add(root, "author"), "name", PROGRAM)
    _add(root, "link", rel="alternate", type="text/html", href=page)
    _add(root, "link", rel="self", type="application/atom+xml", href=f"{atlas.address}{PATH}")
    for step in recent:
        _entry(root, step, f"{page}#r{step.release.number}")
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _entry(root: ET.Element, step: Step, address: str) -> None:
    entry = _add(root, "entry")
    lines = [visible(sentences.line(cause)) for cause in step.causes]
    more = [f"{len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    _add(entry, "title", visible(f"{step.release.id}: {sentences.title(step.causes)}"))
    _add(entry, "id", address)
    _add(entry, "updated", _time(step.release.date))
    _add(entry, "link", rel="alternate", type="text/html", href=address)
    _add(entry, "content", "\n".join([*lines[:MOST_LINES], *more]), type="text")


def _add(parent: ET.Element, name: str, text: str | None = None, **attributes: str) -> ET.Element:
    child = ET.SubElement(parent, name, attributes)
    child.text = text
    return child


def _time(day: str | None) -> str:
    return f"{day or UNDATED}T00:00:00Z"
