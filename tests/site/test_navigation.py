"""Navigation: five entries, with a place for every hand-written page; generated pages need none and know theirs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from mkdocs.utils.yaml import yaml_load

from generator.pipeline.build import MKDOCS, SITE_SRC
from generator.site import mkdocs_build, write


def _paths(entries: list[dict[str, Any]]) -> Iterator[str]:
    for place in (place for entry in entries for place in entry.values()):
        yield from _paths(place) if isinstance(place, list) else (place,)


TABS = set(_paths(yaml_load(MKDOCS.read_text(encoding="utf-8"))["nav"]))


def test_every_hand_written_page_has_a_place() -> None:
    assert {path.relative_to(SITE_SRC).as_posix() for path in SITE_SRC.rglob("*.md")} <= TABS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of empty pages: those of mkdocs.yml, and three that it does not name."""
    return _build(tmp_path_factory.mktemp("site"))


def _build(folder: Path) -> Path:
    write.write(dict.fromkeys((*TABS, "new/index.md", "checkpoints/one.md", "map/tables.md"), b"# Page"), folder / "docs")
    mkdocs_build.build(MKDOCS, folder / "docs", folder / "site", None)
    return folder / "site"


def _html(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_bytes(), "html.parser")


def _texts(page: BeautifulSoup, selector: str) -> list[str]:
    return [element.get_text(strip=True) for element in page.select(selector)]


def test_a_generated_page_needs_no_entry_in_mkdocs_yml(site: Path) -> None:
    assert (site / "new/index.html").exists()
    assert _texts(_html(site / "new/index.html"), ".md-tabs__item--active") == []


@pytest.mark.parametrize("page", ["index.html", "404.html", "checkpoints/one.html", "learn/method.html"])
def test_every_page_has_five_tabs_and_a_drawer_with_all_entries(page: str, site: Path) -> None:
    html = _html(site / page)
    assert _texts(html, ".md-tabs__link") == ["Explore", "Compare", "Schemes", "Learn", "Data"]
    assert len(html.select(".pa-drawer .md-nav__list a[href]:not(.pa-drawer-toc a)")) == len(TABS)


@pytest.mark.parametrize(
    ("page", "entry", "title"),
    [
        ("checkpoints/index.html", "Explore", "Checkpoints"),
        ("checkpoints/one.html", "Explore", "Checkpoints"),
        ("map/tables.html", "Explore", "Similarity map"),
        ("learn/further-schemes.html", "Schemes", "Further schemes"),
        ("learn/method.html", "Learn", "Method"),
        ("status.html", "Data", "Status"),
    ],
)
def test_a_page_shows_the_entry_that_it_belongs_to(page: str, entry: str, title: str, site: Path) -> None:
    html = _html(site / page)
    assert _texts(html, ".md-tabs__item--active") == [entry]
    assert _texts(html, ".pa-subtabs a:is([aria-current], .pa-within)") == [title]


@pytest.mark.parametrize(("address", "root"), [("", "/"), ("https://where.it/stands/", "/stands/")])
def test_the_page_for_what_is_not_found_leads_to_every_entry_from_any_depth(
    address: str, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(mkdocs_build.ADDRESS, address)
    page = _html(_build(tmp_path) / "404.html")
    first = ("checkpoints/index.html", "compare.html", "schemes/index.html", "learn/how-to-read.html", "data/index.html")
    assert [link["href"] for link in page.select("article a")] == [root + path for path in first]
