"""Untrusted text on HTML pages, after Markdown and the theme."""

import json
import struct
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from generator.errors import RefusedError
from generator.site.html import mkdocs_build
from tests.built import contents
from tests.inline import build
from tests.synthetic import BROKEN, NOTHING, write_folder, write_list

TITLES = (
    "<script>alert(1)</script>", "</td></tr></table><img src=x onerror=alert(2)>",
    "</title><b>bold</b>", '" onmouseover="alert(3)', "a | b | c", "`code` ``more``",
    "{{7*7}} {% raw %}", "--8<-- 'mkdocs.yml'", "{: onclick=alert(4) } {#id .class}",
    "](javascript:alert(5)) [x](javascript:alert(5))", "<javascript:alert(6)>",
    "&lt;i&gt; &amp; &#60;u&#62;", "# one ## two", "H<sub>2</sub>O", "$\\frac{1}{2}$",
    "🤗 naïve 日本",
)  # fmt: skip
TENSOR = "<script>alert(7)</script>\u202e|`x`.wpe"


def odd_weights() -> bytes:
    """A safetensors file with a tensor name that the safetensors library would not write."""
    tensor = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    header = json.dumps({TENSOR: tensor}).encode()
    return struct.pack("<Q", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of checkpoints with these titles, one with an odd tensor name, and one that cannot be
    read.
    """
    folder = tmp_path_factory.mktemp("odd")
    write_folder(folder / "odd", {"config.json": b"{}", "model.safetensors": odd_weights()})
    write_folder(folder / "broken", {**BROKEN, "config.json": b'{"<script>alert(8)</script>'})
    write_folder(folder / "nothing", NOTHING)
    everywhere = ("title", "notes", "group")
    rows = [{"folder": "nothing", **dict.fromkeys(everywhere, title)} for title in TITLES]
    rows += [{"folder": "odd", "title": "Odd tensor"}]
    rows += [{"folder": "broken", "title": "Broken <b>row</b>"}]
    write_list(folder, rows)
    done = build(folder, "--jobs", "2", rendered=True)
    assert done.returncode == 1, done.stderr
    return folder / "out/site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, BeautifulSoup]:
    return {
        path.relative_to(site).as_posix(): BeautifulSoup(path.read_bytes(), "html.parser")
        for path in sorted(site.rglob("*.html"))
    }


def slugs(site: Path) -> dict[str, str]:
    """Slug of each title."""
    rows = json.loads((site / "data/atlas.json").read_text(encoding="utf-8"))["checkpoints"]
    return {row["title"]: row["slug"] for row in rows}


def test_a_title_is_shown_literally(site: Path, pages: dict[str, BeautifulSoup]) -> None:
    named = slugs(site)
    for title in TITLES:
        page = pages[f"checkpoints/{named[title]}.html"]
        assert page.h1 is not None
        assert page.title is not None
        assert page.h1.get_text().removesuffix("¶") == title
        assert page.title.get_text() == f"{title} - Position Atlas"
        assert title in pages["index.html"].get_text()
        assert title in pages["checkpoints/index.html"].get_text()


def test_titles_change_no_element(site: Path, pages: dict[str, BeautifulSoup]) -> None:
    # The first and the last have one neighbour, not two.
    middle = sorted(slugs(site)[title] for title in TITLES)[1:-1]
    bodies = [pages[f"checkpoints/{slug}.html"].select("article *") for slug in middle]
    assert len({str([(tag.name, sorted(tag.attrs)) for tag in body]) for body in bodies}) == 1


def test_no_page_has_a_script_or_a_handler_from_a_title(pages: dict[str, BeautifulSoup]) -> None:
    tags = [tag for page in pages.values() for tag in page.find_all(True)]
    assert [tag for tag in tags if tag.name == "script" and "alert" in tag.get_text()] == []
    assert [tag for tag in tags if any(name.startswith("on") for name in tag.attrs)] == []
    links = [str(tag.get(name, "")).strip().lower() for tag in tags for name in ("href", "src")]
    running = ("javascript:", "data:", "vbscript:")
    assert [link for link in links if link.startswith(running)] == []


def test_the_search_index_has_no_element_from_a_title(site: Path) -> None:
    entries = json.loads(next(site.rglob("search*.json")).read_text(encoding="utf-8"))["docs"]
    tags = {
        tag.name
        for entry in entries
        for tag in BeautifulSoup(entry["title"] + entry["text"], "html.parser").find_all(True)
    }
    assert tags.isdisjoint({"script", "img", "b", "i", "u", "a"})


def test_a_tensor_name_is_shown_literally_and_escaped(pages: dict[str, BeautifulSoup]) -> None:
    assert TENSOR.replace("\u202e", "\\u202e") in pages["checkpoints/odd-tensor.html"].get_text()


def test_a_broken_link_is_an_error_and_the_previous_site_stays(tmp_path: Path) -> None:
    write_folder(tmp_path / "docs", {"index.md": b"# Here\n\n[there](there.md)\n"})
    write_folder(tmp_path / "site", {"index.html": b"former"})
    settings = b"site_name: Small\nvalidation: {unrecognized_links: warn}\n"
    (tmp_path / "mkdocs.yml").write_bytes(settings)
    told = r"mkdocs says: .*'index.md' contains a link 'there.md'.*; expected pages"
    with pytest.raises(RefusedError, match=told):
        mkdocs_build.build((tmp_path / "mkdocs.yml",), tmp_path / "docs", tmp_path / "site", None)
    assert contents(tmp_path / "site") == {"index.html": b"former"}


def test_the_page_of_a_failed_checkpoint_shows_the_reason(pages: dict[str, BeautifulSoup]) -> None:
    text = pages["checkpoints/broken-b-row-b.html"].get_text()
    assert "This checkpoint could not be read" in text
    assert "broken/config.json: not JSON" in text


def test_search_finds_the_words_of_each_cell_apart(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    texts = " ".join(entry["text"] for entry in index["docs"])
    assert "Source folder" in texts
    assert "Sourcefolder" not in texts
