"""The site within another one that mkdocs builds: as finished HTML, and as pages for its docs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Page, expect
from typer.testing import CliRunner

from generator.cli.commands import app
from generator.errors import RefusedError
from generator.site import section, write
from tests import inline, links
from tests.serving import served
from tests.synthetic import ROTATION, write_folder, write_list

pytestmark = pytest.mark.samples

# Theme, and use_directory_urls.
HOSTS = {"material": "true", "mkdocs": "false", "readthedocs": "true"}
# Themes in which the whole atlas takes long to be built again, and a small one shows the same.
OTHERS = ("mkdocs", "readthedocs")
ADDRESS = "https://host.example/atlas/"


def host(folder: Path, theme: str, urls: str) -> Path:
    """A small project of mkdocs that leads to the atlas in its docs."""
    (folder / "docs").mkdir(parents=True)
    (folder / "docs/index.md").write_text(
        "# Host\n\n[The atlas](atlas/index.md), and [a comparison](atlas/compare/index.md).\n",
        encoding="utf-8",
    )
    settings = (
        f"site_name: Host\nuse_directory_urls: {urls}\ntheme:\n  name: {theme}\n  highlightjs:"
        " false\nnav:\n  - Home: index.md\n  - Atlas: atlas/index.md\n"
    )
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")
    return folder


def strictly_built(folder: Path) -> Path:
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "site"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a list of one checkpoint."""
    folder = tmp_path_factory.mktemp("small")
    write_folder(folder / "rotation", ROTATION)
    rows = str(write_list(folder, [{"folder": "rotation"}]))
    done = inline.run(
        "build",
        "--offline",
        "--config",
        rows,
        "--output",
        str(folder / "build"),
        home=folder / "hub",
    )
    assert done.returncode == 0, done.stderr
    return folder / "build"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(theme, marks=pytest.mark.thorough) if theme in OTHERS else theme
        for theme in HOSTS
    ],
)
def site(
    request: pytest.FixtureRequest, built: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A site of another theme, with the atlas as its section."""
    folder = host(tmp_path_factory.mktemp("host"), request.param, HOSTS[request.param])
    section.write_section(built / "docs", built / "site", folder / "docs/atlas", None)
    return strictly_built(folder)


@pytest.fixture
def host_address(site: Path) -> Iterator[str]:
    with served(site) as place:
        yield place


def test_every_page_is_there_and_every_link_leads_somewhere(site: Path, built: Path) -> None:
    ours = list((built / "docs").rglob("*.md"))
    # And that of embedded figures.
    assert len(list((site / "atlas").rglob("*.html"))) == len(ours) + 1
    assert links.broken(site, site / "atlas") == []


@pytest.mark.parametrize("theme", OTHERS)
def test_every_link_of_a_small_atlas_leads_somewhere_in_another_theme(
    theme: str, small: Path, tmp_path: Path
) -> None:
    folder = host(tmp_path / "host", theme, HOSTS[theme])
    section.write_section(small / "docs", small / "site", folder / "docs/atlas", None)
    site = strictly_built(folder)
    assert (
        len(list((site / "atlas").rglob("*.html"))) == len(list((small / "docs").rglob("*.md"))) + 1
    )
    assert links.broken(site, site / "atlas") == []


def test_a_page_says_what_it_says_in_the_site_of_its_own(site: Path, built: Path) -> None:
    def words(page: Path) -> str:
        article = BeautifulSoup(page.read_bytes(), "html.parser").select("article.md-typeset")[-1]
        return " ".join(article.get_text(" ").split())

    for page in ("checkpoints/all-minilm-l6-v2", "schemes/rotary", "learn/method"):
        assert words(site / "atlas" / page / "index.html") == words(built / "site" / f"{page}.html")


def test_the_compare_page_works(page: Page, host_address: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "requestfailed",
        lambda request: (
            errors.append(request.url) if request.url.startswith(host_address) else None
        ),
    )
    page.goto(
        f"{host_address}/atlas/compare/index.html"
        "#a=all-minilm-l6-v2/encoder-learned&b=bloom-7-1b/decoder-alibi"
    )
    page.locator("#pac-kernels").scroll_into_view_if_needed()
    page.locator("#pac-kernels canvas").first.wait_for()
    assert errors == []
    page.get_by_role("link", name="open page: BLOOM").click()
    expect(page.locator("h1").last).to_contain_text("BLOOM")


def test_a_figure_comes_alive_in_the_colours_of_its_section(page: Page, host_address: str) -> None:
    page.goto(
        f"{host_address}/atlas/checkpoints/all-minilm-l6-v2/encoder-learned/measure/index.html"
    )
    figure = page.locator("#encoder-learned-vector_norms-lines")
    figure.scroll_into_view_if_needed()
    figure.locator(".pa-live canvas").first.wait_for()
    assert page.evaluate("atlas.theme().ink") == "#1c2230"
    figure.get_by_role("button", name="Take along").click()
    figure.get_by_role("button", name="Embed").click()
    offered = page.locator("dialog[open] textarea").last.input_value()
    [embedded] = BeautifulSoup(offered, "html.parser").select("iframe")
    page.goto(str(embedded["src"]))
    page.locator(".pa-live canvas").first.wait_for()
    page.goto(str(page.locator("#source").get_attribute("href")))
    expect(page.locator("#encoder-learned-vector_norms-lines")).to_be_visible()


def test_the_finished_site_can_be_copied_below_the_docs_of_another(
    small: Path, tmp_path: Path
) -> None:
    folder = host(tmp_path / "host", "mkdocs", "true")
    (folder / "docs/index.md").write_text(
        "# Host\n\n[The atlas](atlas/index.html).\n", encoding="utf-8"
    )
    (folder / "mkdocs.yml").write_text(
        "site_name: Host\nnav:\n  - Home: index.md\n", encoding="utf-8"
    )
    shutil.copytree(small / "site", folder / "docs/atlas")
    site = strictly_built(folder)
    assert links.broken(site, site / "atlas") == []


def test_whole_addresses_name_the_new_places(tmp_path: Path) -> None:
    docs, site = tmp_path / "docs", tmp_path / "site"
    for folder in (docs, site):
        (folder / "assets").mkdir(parents=True)
    for name in ("section", "atlas", "compare", "lesson"):
        (docs / f"assets/{name}.css").write_text("")
    (docs / "changes.md").write_text("")
    (docs / "changes.xml").write_text(
        f"<id>{ADDRESS}changes.html</id><link"
        f' href="{ADDRESS}changes.html#r1"/><id>{ADDRESS}changes.xml</id>'
    )
    (site / "changes.html").write_text(
        f"<title>Changes</title><article><code>url = {{{ADDRESS}changes.html}}</code></article>"
    )
    files = section.files(docs, site, ADDRESS)
    moved = f"{ADDRESS}changes/index.html"
    assert (
        files["changes.xml"].decode()
        == f'<id>{moved}</id><link href="{moved}#r1"/><id>{ADDRESS}changes.xml</id>'
    )
    assert f"url = {{{moved}}}" in files["changes/index.md"].decode()


@pytest.mark.parametrize("name", ["mine.md", write.MARKER])
def test_a_folder_that_is_no_section_is_refused(name: str, tmp_path: Path) -> None:
    """The output of a build is none."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / name).write_text("mine")
    with pytest.raises(RefusedError, match="has files that are no section of an atlas"):
        section.check(tmp_path / "docs", tmp_path / "build")


@pytest.mark.parametrize(
    "folder", ["build", "build/docs/atlas", "build/store", ".", "link", "link/new"]
)
def test_a_section_lies_apart_from_the_output(folder: str, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "link").symlink_to("build")
    with pytest.raises(RefusedError, match="not apart from the output folder"):
        section.check(tmp_path / folder, tmp_path / "build")


def test_a_file_is_no_section(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RefusedError, match="not a folder"):
        section.check(tmp_path / "file", tmp_path / "build")


def test_a_section_may_be_replaced_by_the_next(small: Path, tmp_path: Path) -> None:
    section.write_section(small / "docs", small / "site", tmp_path / "atlas", None)
    section.check(tmp_path / "atlas", tmp_path / "build")


def test_a_folder_that_is_refused_costs_no_build(tmp_path: Path) -> None:
    """And loses nothing: it is the output of an earlier one."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / write.MARKER).write_text(write.MARKED)
    rows = str(write_list(tmp_path, [{"folder": "none"}]))
    command = [
        "build",
        "--config",
        rows,
        "--output",
        str(tmp_path / "second"),
        "--section",
        str(tmp_path / "first"),
    ]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert [path.name for path in (tmp_path / "first").iterdir()] == [write.MARKER]
    assert not (tmp_path / "second").exists()
