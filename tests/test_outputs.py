"""Text of a checkpoint is shown literally in every output, each of which has one escaper."""

import csv
import io
import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from bs4 import BeautifulSoup
from matplotlib.figure import Figure
from rich.text import Text

from generator.cli import inspection, linting
from generator.cli.terminal import Terminal, json_text
from generator.contracts import Atlas, Encoding, Provenance, ReadCheckpoint, Release
from generator.encodings import NoEncoding
from generator.figures import svg
from generator.site.data import downloads, feed
from generator.site.history import sentences
from generator.text import json_in_markup, slugify, visible
from tests.site.test_escape import CONTEXTS, NASTY, rendered, shown, skeleton, texts

# Commands to runners of GitHub, Azure, TeamCity, GitLab, Travis CI and Buildkite.
OBEYED = re.compile(
    r"^\s*::|##\w*\[|(section_(start|end)|travis_(fold|time)):|^\s*(---|\+\+\+|~~~|\^\^\^)"
)
# People, issues by several forges' marks, addresses, emoji.
LIVE = re.compile(r"@\w|[#!%&~$^]\w|\bgh-\d|:/|\bwww\.|:\w+:", re.IGNORECASE)
LINK = re.compile(r"(?<!\\)(\\\\)*\[([^]\\]|\\.)*\]\(")  # Of SARIF, where a backslash escapes.
SPELT = re.compile(r"\\u([0-9a-f]{4})")


def spoken(line: str) -> str:
    """Text whose characters were escaped as \\uXXXX."""
    return SPELT.sub(lambda spelt: chr(int(spelt[1], 16)), line)


def test_there_are_forty_payloads() -> None:
    assert len({*NASTY}) == 40


@pytest.mark.parametrize("width", [20, 80])
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_a_terminal_and_a_log_show_text_and_obey_none(text: str, width: int) -> None:
    out = io.StringIO()
    terminal = Terminal(file=out, width=width)
    terminal.print(text)
    assert spoken(out.getvalue()) == f"{text}\n"
    terminal.print(Text(visible(text), "bold"))
    inspection._paragraph(terminal, text, Text("  "))
    lines = out.getvalue().removesuffix("\n").split("\n")
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if OBEYED.search(line)] == []


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_json_holds_text_as_it_is_and_a_log_obeys_none(text: str) -> None:
    printed = json_text({text: [text]})
    assert json.loads(printed) == {text: [text]}
    assert [line for line in printed.split("\n") if OBEYED.search(line)] == []
    within = json_in_markup(json.dumps(text))
    assert json.loads(within) == text
    assert not {*"<>&"} & {*within}


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_a_message_of_sarif_has_no_link_and_no_place_for_an_argument(text: str) -> None:
    message = linting._message(text)["text"]
    assert not LINK.search(message)
    assert not re.search(r"[{}]", message.replace("{{", "").replace("}}", ""))
    assert message.isprintable()
    plain = re.sub(r"(\\*)\1\\([][])", r"\1\2", message)
    assert plain.replace("{{", "{").replace("}}", "}") == visible(text)


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_markdown_of_a_forge_has_no_markup_mention_or_link(text: str) -> None:
    table = CONTEXTS["Markdown table"]
    soup = rendered(table.replace("<>", sentences.cell(text)))
    plain = rendered(table.replace("<>", "word"))
    assert skeleton(soup) == skeleton(plain)
    assert not LIVE.search(texts(soup))
    assert texts(soup).replace(sentences.APART, "") == texts(plain).replace("word", shown(text))


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_a_notebook_shows_text_as_html(text: str) -> None:
    def of(name: str) -> BeautifulSoup:
        read = ReadCheckpoint(name, None, None, (), (), (name,))
        return BeautifulSoup(read._repr_html_(), "html.parser")

    assert skeleton(of(text)) == skeleton(of("word"))
    assert of(text).get_text() == of("word").get_text().replace("word", visible(text))


def test_a_spreadsheet_takes_no_text_for_a_formula() -> None:
    written = downloads.encoded_csv(("text",), [[text] for text in NASTY]).decode()
    _, *rows = csv.reader(io.StringIO(written, newline=""))
    assert all(
        row in ([shown(text)], [f"'{shown(text)}"]) for row, text in zip(rows, NASTY, strict=True)
    )
    assert [row for row in rows if row[0].startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def test_a_picture_shows_text_and_has_no_element_of_it() -> None:
    def draw(texts: tuple[str, ...]) -> Figure:
        figure = Figure()
        for text in texts:
            figure.text(0.5, 0.5, text[:100])
        return figure

    def tags(picture: ET.Element) -> set[str]:
        return {one.tag for one in picture.iter()}

    # Without half of a letter, which no font takes: an entry with that fails alone.
    payloads = tuple(" ".join(text.replace("\ud800", "").split()) for text in NASTY)
    picture, plain = (
        ET.fromstring(svg.encode(draw, given))  # noqa: S314 (our own)
        for given in (payloads, ("word",))
    )
    assert tags(picture) == tags(plain)
    seen = {"".join(one.itertext()) for one in picture.iter() if one.tag.endswith("}text")}
    assert {spoken(text) for text in seen} == {text[:100] for text in payloads}


def test_the_feed_is_xml_with_each_text_on_its_line() -> None:
    row: dict[str, Any] = {"status": "ok", "reason": None, "revision": None, "encodings": []}
    rows = {f"c{i:02}": {**row, "slug": f"c{i:02}", "title": t} for i, t in enumerate(NASTY)}
    release = Release("2026-01-01", 1, "2026-01-01", "1", {}, rows)  # type: ignore[arg-type]
    atlas = Atlas((), (), (), address="https://example.org/", releases=(release,))
    [content] = ET.fromstring(feed.feed(atlas)).iter(f"{{{feed.NAMESPACE}}}content")  # noqa: S314
    assert (content.text or "").split("\n") == [f"row added: {visible(text)}" for text in NASTY]


def test_a_feed_without_an_address_has_relative_links_and_ids_of_its_own() -> None:
    def feed_of(*slugs: str) -> ET.Element:
        row: dict[str, Any] = {"status": "ok", "reason": None, "revision": None, "encodings": []}
        rows = {slug: {**row, "slug": slug, "title": slug} for slug in slugs}
        release = Release("2026-01-01", 1, "2026-01-01", "1", {}, rows)  # type: ignore[arg-type]
        return ET.fromstring(feed.feed(Atlas((), (), (), releases=(release,))))  # noqa: S314

    root = feed_of("a")
    links = [link.get("href") for link in root.iter(f"{{{feed.NAMESPACE}}}link")]
    assert links == ["changes.html", feed.PATH, "changes.html#r1"]
    ids = [[one.text for one in of.iter(f"{{{feed.NAMESPACE}}}id")] for of in (root, feed_of("b"))]
    assert len({*ids[0], *ids[1]}) == 4
    assert all(str(name).startswith("urn:uuid:") for name in ids[0])
    assert ids[0] == [one.text for one in feed_of("a").iter(f"{{{feed.NAMESPACE}}}id")]


def test_a_name_of_a_file_has_letters_digits_and_hyphens_alone() -> None:
    stored = Provenance("model.safetensors", "wpe.weight", "F32", (2, 2), "ab" * 32)
    for text in NASTY:
        key = Encoding(text, "learned", NoEncoding("from the config"), stored).record.key
        assert re.fullmatch(r"[a-z0-9_-]{1,100}", key)
        assert re.fullmatch(r"[a-z0-9-]{0,80}", slugify(text))
