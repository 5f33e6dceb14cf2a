"""An Atom feed of the releases (RFC 4287).

Without the address of the site, its links are relative, and its ids are made of the first release.
"""

from collections.abc import Callable
from functools import partial
from uuid import NAMESPACE_URL, uuid5
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
    """A function that returns the feed, by path below the docs folder."""
    return {PATH: partial(feed, atlas)}


def feed(atlas: Atlas) -> bytes:
    """The last releases, one entry each."""
    page, recent = f"{atlas.address or ''}changes.html", steps(atlas.releases)[:MOST_ENTRIES]
    root = ET.Element("feed", xmlns=NAMESPACE)
    _add(root, "title", visible(f"{atlas.settings.title or 'Position Atlas'}: changes"))
    _add(root, "id", _id(atlas, page))
    _add(root, "updated", _time(recent[0].release.date if recent else None))
    _add(_add(root, "author"), "name", PROGRAM)
    _add(root, "link", rel="alternate", type="text/html", href=page)
    _add(root, "link", rel="self", type="application/atom+xml", href=f"{atlas.address or ''}{PATH}")
    for step in recent:
        address = f"{page}#r{step.release.number}"
        _entry(root, step, address, _id(atlas, address))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _id(atlas: Atlas, address: str) -> str:
    """An address as an id, which no other feed has."""
    if atlas.address:
        return address
    firsts = [(one.id, one.date, sorted(one.checkpoints)) for one in atlas.releases[:1]]
    return uuid5(NAMESPACE_URL, f"{PROGRAM} {firsts} {address}").urn


def _entry(root: ET.Element, step: Step, address: str, name: str) -> None:
    entry = _add(root, "entry")
    lines = [visible(sentences.line(cause)) for cause in step.causes]
    more = [f"{len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    _add(entry, "title", visible(f"{step.release.id}: {sentences.title(step.causes)}"))
    _add(entry, "id", name)
    _add(entry, "updated", _time(step.release.date))
    _add(entry, "link", rel="alternate", type="text/html", href=address)
    _add(entry, "content", "\n".join([*lines[:MOST_LINES], *more]), type="text")


def _add(parent: ET.Element, name: str, text: str | None = None, **attributes: str) -> ET.Element:
    child = ET.SubElement(parent, name, attributes)
    child.text = text
    return child


def _time(day: str | None) -> str:
    return f"{day or UNDATED}T00:00:00Z"
