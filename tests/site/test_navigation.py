"""Navigation: five entries, with a place for every hand-written page; generated pages need none and
know theirs.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from jinja2 import Environment, nodes
from mkdocs.utils.yaml import yaml_load

from generator import ROOT
from generator.contracts.list_settings import ListSettings
from generator.site import write
from generator.site.html import mkdocs_build
from generator.site.materials import OURS, SETTINGS, beside


def _paths(entries: list[dict[str, Any]]) -> Iterator[str]:
    for place in (place for entry in entries for place in entry.values()):
        yield from _paths(place) if isinstance(place, list) else (place,)


NAV = yaml_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
TABS = set(_paths(NAV))
# Pages of a section within an entry, such as those of the guide.
OF_SECTIONS = [
    list(_paths(place))
    for entry in NAV
    for pages in entry.values()
    if isinstance(pages, list)
    for item in pages
    for place in item.values()
    if isinstance(place, list)
]


def test_every_hand_written_page_has_a_place() -> None:
    written = (ROOT / "site_src").rglob("*.md")
    assert {path.relative_to(ROOT / "site_src").as_posix() for path in written} <= TABS


def test_templates_of_the_theme_call_no_method_of_python_since_other_renderers_have_none() -> None:
    calls = {
        (path.name, call.node.attr)
        for path in (ROOT / "templates/theme").rglob("*.html")
        for call in Environment(autoescape=True)
        .parse(path.read_text(encoding="utf-8"))
        .find_all(nodes.Call)
        if isinstance(call.node, nodes.Getattr)
    }
    assert {name for _, name in calls} == {"t"}, calls  # lang.t is a macro of the theme.


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of empty pages: those of mkdocs.yml, and two that it does not name."""
    return _build(tmp_path_factory.mktemp("site"))


def _build(folder: Path) -> Path:
    pages = (*TABS, "new/index.md", "checkpoints/one.md")
    counted = {"models.md": b'---\nentries: "1,024"\n---\n# Page'}
    write.write({**dict.fromkeys(pages, b"# Page"), **counted}, folder / "docs")
    mkdocs_build.build(OURS.settings, folder / "docs", folder / "site", None)
    return folder / "site"


def test_the_line_below_a_list_with_a_title_claims_nothing_of_its_weights(
    site: Path, tmp_path: Path
) -> None:
    write.write(dict.fromkeys(TABS, b"# Page"), tmp_path / "docs")
    listed = ListSettings(title="Ours")
    mkdocs_build.build(OURS.settings, tmp_path / "docs", tmp_path / "site", None, (), listed)
    below = [
        _texts(_html(one / "index.html"), ".md-copyright") for one in (site, tmp_path / "site")
    ]
    assert below[0][0].startswith("Position Atlas, MIT licence. Weights belong to their authors")
    assert below[1] == ["Made with Position Atlas, which has the MIT licence."]


def _html(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_bytes(), "html.parser")


def _texts(page: BeautifulSoup, selector: str) -> list[str]:
    return [element.get_text(strip=True) for element in page.select(selector)]


def test_a_generated_page_needs_no_entry_in_mkdocs_yml(site: Path) -> None:
    assert (site / "new/index.html").exists()
    assert _texts(_html(site / "new/index.html"), ".md-tabs__item--active") == []


@pytest.mark.parametrize(
    "page", ["index.html", "404.html", "checkpoints/one.html", "learn/method.html"]
)
def test_every_page_has_five_tabs_and_a_drawer_with_all_entries(page: str, site: Path) -> None:
    html = _html(site / page)
    assert _texts(html, ".md-tabs__link") == [
        "Explore", "Compare", "Schemes", "Learn", "Data and guide",
    ]  # fmt: skip
    assert len(html.select(".pa-drawer .md-nav__list a[href]:not(.pa-drawer-toc a)")) == len(
        TABS
    ) - sum(len(pages) - 1 for pages in OF_SECTIONS)


@pytest.mark.parametrize(
    ("page", "entry", "title"),
    [
        ("checkpoints/index.html", "Explore", "Models in numbers"),
        ("checkpoints/one.html", "Explore", "Models in numbers"),
        ("learn/further-schemes.html", "Schemes", "Further schemes"),
        ("learn/method.html", "Learn", "Method"),
        ("status.html", "Data and guide", "Status"),
    ],
)
def test_a_page_shows_the_entry_it_belongs_to(
    page: str, entry: str, title: str, site: Path
) -> None:
    html = _html(site / page)
    assert _texts(html, ".md-tabs__item--active") == [entry]
    assert _texts(html, ".pa-subtabs a:is([aria-current], .pa-within)") == [title]


def test_a_page_of_a_list_stands_with_the_number_of_its_entries(site: Path) -> None:
    html = _html(site / "timeline.html")
    assert _texts(html, ".pa-subtabs a")[:2] == ["Models in numbers", "All models (1,024)"]


def test_a_page_of_a_section_shows_the_section_and_its_pages(site: Path) -> None:
    html = _html(site / "guide/publishing.html")
    assert _texts(html, ".md-tabs__item--active") == ["Data and guide"]
    assert _texts(html, ".pa-subtabs a:is([aria-current], .pa-within)") == ["Guide", "Publishing"]
    assert len(html.select(".pa-drawer .md-nav__list a[href]:not(.pa-drawer-toc a)")) == len(TABS)
    [entries, of_section] = html.select(".pa-subtabs ul")
    assert [link["href"] for link in entries.select("a.pa-within")] == ["index.html"]
    assert {str(link["href"]) for link in of_section.select("a")} == {
        path.relative_to(site / "guide").as_posix() for path in (site / "guide").glob("*.html")
    }


@pytest.mark.parametrize(("address", "root"), [("", "/"), ("https://where.it/stands/", "/stands/")])
def test_the_page_for_what_is_not_found_leads_to_every_entry_from_any_depth(
    address: str, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(mkdocs_build.ADDRESS, address)
    page = _html(_build(tmp_path) / "404.html")
    first = (
        "checkpoints/index.html", "compare.html", "schemes/index.html", "learn/index.html",
        "data/index.html",
    )  # fmt: skip
    assert [link["href"] for link in page.select("article a")] == [root + path for path in first]


def test_pages_of_a_user_follow_in_the_menu_unless_it_has_them(tmp_path: Path) -> None:
    own = {
        "team.md": b"# Who & why", "about.md": b"# Ours", "runs of 2026/b.md": b"# B",
        "runs of 2026/index.md": b"# First", "runs of 2026/deep/c.md": b"# C",
        ".draft.md": b"# No", "hidden.md": b"# Hidden", "assets/.x/y.md": b"# No",
    }  # fmt: skip
    write.write(own, tmp_path / "site_src")
    (tmp_path / "site_src/nowhere.md").symlink_to("absent.md")
    settings = tmp_path / SETTINGS
    settings.touch()
    found = beside(tmp_path)
    write.write({**dict.fromkeys(TABS, b"# Page"), **own}, tmp_path / "docs")
    usual = ["Explore", "Compare", "Schemes", "Learn", "Data and guide"]
    for text, tabs in (("", [*usual, "Who & why", "Runs of 2026"]), ("nav: [index.md]\n", [])):
        settings.write_text(f"not_in_nav: hidden.md\n{text}", encoding="utf-8")
        folders = tmp_path / "docs", tmp_path / "site"
        mkdocs_build.build(found.settings, *folders, None, found.own_pages)
        page = _html(tmp_path / "site/runs of 2026/deep/c.html")
        assert _texts(page, ".md-tabs__link") == tabs
        within = ["First", "B", "C"] if tabs else []
        assert _texts(page, ".pa-subtabs a") == within
        assert _texts(page, ".pa-drawer a[aria-current]") == within[-1:]
