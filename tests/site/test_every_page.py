"""What holds for every page of the default site."""

import gzip
from itertools import pairwise
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.samples


MOST_COMPRESSED = 100_000  # bytes, which a slow phone has in about a second


@pytest.fixture(scope="module")
def pages(of_each_list: Path) -> dict[str, BeautifulSoup]:
    site = of_each_list / "site"
    return {
        path.relative_to(site).as_posix(): BeautifulSoup(path.read_bytes(), "html.parser")
        for path in sorted(site.rglob("*.html"))
        if b"<article" in path.read_bytes()  # No former address.
    }


def test_a_page_takes_a_reader_100_kilobytes_at_most(of_each_list: Path) -> None:
    sizes = {
        path: len(gzip.compress(path.read_bytes()))
        for path in (of_each_list / "site").rglob("*.html")
    }
    assert {path: size for path, size in sizes.items() if size > MOST_COMPRESSED} == {}


def test_no_heading_of_a_table_is_empty(pages: dict[str, BeautifulSoup]) -> None:
    assert {
        path
        for path, page in pages.items()
        if any(not heading.get_text(strip=True) for heading in page.find_all("th"))
    } == set()


def test_headings_skip_no_level(pages: dict[str, BeautifulSoup]) -> None:
    levels = {
        path: [int(tag.name[1]) for tag in page.select("article :is(h1, h2, h3, h4, h5, h6)")]
        for path, page in pages.items()
    }
    assert {path: found[:1] for path, found in levels.items() if found[:1] != [1]} == {}
    assert {
        path
        for path, found in levels.items()
        if any(after > before + 1 for before, after in pairwise(found))
    } == set()


def test_a_link_out_of_the_site_is_encrypted(pages: dict[str, BeautifulSoup]) -> None:
    addresses = {
        link["href"] for page in pages.values() for link in page.select("article a[rel~=external]")
    }
    assert len(addresses) > 20
    assert {address for address in addresses if not str(address).startswith("https://")} == set()


def test_several_encodings_open_with_a_table_of_them(pages: dict[str, BeautifulSoup]) -> None:
    rows = pages["checkpoints/flan-t5-small-titles.html"].select(".pa-summary tbody tr")
    assert [
        [cell.get_text(strip=True) for cell in row.find_all(["th", "td"])][:3] for row in rows
    ] == [
        ["encoder", "Learned relative bias", "attention"],
        ["decoder", "Learned relative bias", "attention"],
    ]
    assert pages["checkpoints/all-minilm-l6-v2.html"].select(".pa-summary") == []


def test_values_that_read_alike_have_one_shade(pages: dict[str, BeautifulSoup]) -> None:
    """Of the checkpoints' table: a column has some that differ in digits that it does not show.
    Those without a place in the order have no shade.
    """
    shades: dict[tuple[int, str], set[str]] = {}
    for row in pages["checkpoints/index.html"].select(".pa-matrix tbody tr"):
        for column, cell in enumerate(row.find_all("td")):
            found = shades.setdefault((column, cell.get_text(strip=True)), set())
            found |= {str(shade) for shade in [cell.get("class")] if shade}
    assert {place: found for place, found in shades.items() if len(found) > 1} == {}
    assert sum(text == "1" for _, text in shades) > 0


def test_the_quiz_shows_no_kind_twice_from_one_checkpoint(pages: dict[str, BeautifulSoup]) -> None:
    answers = pages["learn/training.html"].select(".pa-quiz details p")
    shown = [
        (
            answer.strong,
            str(answer.a["href"])
            .removeprefix("../checkpoints/")
            .partition("/")[0]
            .partition(".html")[0],
        )
        for answer in answers
        if answer.strong and answer.a
    ]
    assert len(shown) == len(answers) > 3
    assert len({(str(kind), checkpoint) for kind, checkpoint in shown}) == len(shown)
