"""The default site as Zensical makes it: three pages, the search and the sitemap."""

import gzip
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from generator.site.html import mkdocs_build, zensical_build
from tests.built import ROOT, once
from tests.serving import served

pytestmark = pytest.mark.samples
ADDRESS = "https://atlas.example/"
DATE = 1_700_000_000
PAGES = ("index.html", "checkpoints/gpt-oss-20b.html", "compare.html")


@pytest.fixture(scope="module")
def site(built: Path) -> Path:
    def make(folder: Path) -> None:
        shutil.copytree(built / "docs", folder / "docs")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(mkdocs_build.ADDRESS, ADDRESS)
            settings = (ROOT / "mkdocs.yml",)
            zensical_build.build(settings, folder / "docs", folder / "site", DATE)

    return once("zensical", make) / "site"


@pytest.fixture(scope="module")
def zensical(site: Path) -> Iterator[str]:
    with served(site) as place:
        yield place


@pytest.fixture
def problems(page: Page, zensical: str) -> list[str]:
    """Errors in the console, and requests elsewhere."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("console", lambda said: found.append(said.text) if said.type == "error" else None)
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((zensical, "data:", "blob:"))
            else found.append(request.url)
        ),
    )
    return found


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1280, 375])
def test_a_page_fits_and_has_no_errors(
    name: str, width: int, page: Page, zensical: str, problems: list[str]
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{zensical}/{name}")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert problems == []


def test_every_page_is_there_with_the_policy(site: Path, built: Path) -> None:
    def pages(folder: Path) -> set[str]:
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*.html")}

    assert pages(site) == pages(built / "site")
    assert "Content-Security-Policy" in (site / PAGES[0]).read_text(encoding="utf-8")


def test_the_panel_of_one_position_and_the_compare_page_are_alive(
    page: Page, zensical: str
) -> None:
    page.goto(f"{zensical}/checkpoints/gpt-oss-20b.html#position=5000")
    expect(page.locator(".pa-position-said")).to_contain_text("At position 5,000:")
    page.goto(f"{zensical}/compare.html")
    page.locator("#pac-kernels").scroll_into_view_if_needed()
    expect(page.locator("#pac-kernels canvas").first).to_be_visible()


def test_search_finds_a_scheme(page: Page, zensical: str) -> None:
    page.goto(f"{zensical}/index.html")
    page.locator("html.js").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("ALiBi")
    link = page.locator("a[href*='schemes/alibi']").first
    expect(link).to_be_visible()


def test_the_sitemap_names_every_page(site: Path) -> None:
    text = (site / "sitemap.xml").read_text(encoding="utf-8")
    assert gzip.decompress((site / "sitemap.xml.gz").read_bytes()).decode() == text
    named = set(re.findall(rf"<loc>{ADDRESS}(.*?)</loc>", text))
    assert {"checkpoints/gpt-oss-20b.html", "compare.html"} <= named
