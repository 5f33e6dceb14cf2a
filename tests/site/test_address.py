"""The address of a site: where it comes from, and the pages that print it."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from PIL import Image

from generator.errors import RefusedError
from generator.site import write
from generator.site.html import mkdocs_build
from generator.site.materials import OURS, SETTINGS
from tests.site.test_navigation import TABS

HOOK = "def on_page_content(html, **_):\n    return html + '<p class=mine></p>'\n"
CARD = b'---\ncard: cards/one.png\ncard_size: [12, 6]\ncard_alt: "One &#34;picture&#34;"\n---\n'
MINE = "site_url: https://example.org/atlas\nhooks: [mine.py]\n"


@pytest.fixture(autouse=True)
def no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mkdocs_build.ADDRESS, raising=False)


def settings(folder: Path, text: str) -> tuple[Path, ...]:
    """Settings of a user, who has a hook beside them, before ours."""
    (folder / "mine.py").write_text(HOOK, encoding="utf-8")
    (folder / SETTINGS).write_text(text, encoding="utf-8")
    return (folder / SETTINGS, *OURS.settings)


def built(folder: Path, text: str) -> Path:
    pages = dict.fromkeys(TABS, b"# Page\n\nText\n\n\nMore text")
    write.write({**pages, "checkpoints/one.md": CARD + b"# Page"}, folder / "docs")
    mkdocs_build.build(settings(folder, text), folder / "docs", folder / "site", None)
    return folder / "site"


def heads(page: Path) -> dict[str, str]:
    """Addresses in the head of a page, by the name of what they are."""
    html = BeautifulSoup(page.read_bytes(), "html.parser")
    named = {name: text for name, text in properties(html).items() if text.startswith("http")}
    links = html.select("link[rel=canonical]")
    return named | {str(tag["rel"][0]): str(tag["href"]) for tag in links}


def properties(html: BeautifulSoup) -> dict[str, str]:
    return {str(tag["property"]): str(tag["content"]) for tag in html.select("meta[property]")}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose address stands in the settings of its user."""
    return built(tmp_path_factory.mktemp("address"), MINE)


def test_a_sitemap_names_every_page_or_is_not_there(site: Path, tmp_path: Path) -> None:
    named = (site / "sitemap.xml").read_text(encoding="utf-8")
    assert named.count("<loc>https://example.org/atlas/") == len(TABS) + 1
    without = built(tmp_path, "hooks: [mine.py]\n")
    assert [path.name for path in without.glob("sitemap*")] == []
    assert 'href="changes.xml"' in (without / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["index.html", "checkpoints/one.html", "learn/method.html"])
def test_every_page_names_its_own_address_below_that_of_the_site(page: str, site: Path) -> None:
    found = heads(site / page)
    assert (found["canonical"], found["og:url"]) == (f"https://example.org/atlas/{page}",) * 2


def test_a_page_has_its_own_card_or_that_of_the_site(site: Path) -> None:
    own, common = (
        properties(BeautifulSoup((site / page).read_bytes(), "html.parser"))
        for page in ("checkpoints/one.html", "index.html")
    )
    assert [own[f"og:image{part}"] for part in ("", ":width", ":height", ":alt")] == [
        "https://example.org/atlas/cards/one.png", "12", "6", 'One "picture"',
    ]  # fmt: skip
    path = common["og:image"].removeprefix("https://example.org/atlas/")
    with Image.open(OURS.written[0] / path) as picture:
        size = [int(common[f"og:image:{side}"]) for side in ("width", "height")]
        assert [*picture.size] == size


def test_a_site_without_an_address_names_none(tmp_path: Path) -> None:
    site = built(tmp_path, "site_name: Mine\n")
    assert heads(site / "index.html") == heads(site / "404.html") == {}


def test_a_hook_of_a_user_runs_from_beside_the_settings(site: Path) -> None:
    assert "class=mine" in (site / "index.html").read_text(encoding="utf-8")


def test_pages_are_minified(site: Path) -> None:
    article = (site / "index.html").read_text(encoding="utf-8").partition("</article>")[0]
    assert "\n\n" not in article.partition("<article")[2]


# The environment, settings of a user, and the address of their site.
ADDRESSES = {
    "nothing": ("", "site_name: Mine", None),
    "settings": ("", "site_url: https://example.org/atlas/", "https://example.org/atlas/"),
    "a variable in settings": (
        "", "site_url: !ENV [NOT_SET_HERE, 'http://example.org']", "http://example.org/",
    ),
    "the environment": (
        "https://where.it/stands",
        "site_url: https://example.org/atlas",
        "https://where.it/stands/",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("variable", "text", "expected"), ADDRESSES.values(), ids=ADDRESSES)
def test_the_environment_decides_before_settings(
    variable: str, text: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(mkdocs_build.ADDRESS, variable)
    assert mkdocs_build.address(settings(tmp_path, text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "site_url: example.org", "site_url: [1]", "site_url: https://a b/", "- a list", "7",
        "a: [", "a: \x07",
    ],
)  # fmt: skip
def test_settings_that_cannot_be_read_are_refused_with_a_place(text: str, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=rf"^{tmp_path / SETTINGS}: .*; expected "):
        built(tmp_path, text)


def test_our_own_settings_may_name_it_too(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_bytes(b"site_name: Mine\nsite_url: https://example.org/mine\n")
    assert mkdocs_build.address((tmp_path / "mkdocs.yml",)) == "https://example.org/mine/"


def test_our_own_settings_leave_it_to_the_environment() -> None:
    # Else mkdocs would be loaded to find out.
    assert not any(mkdocs_build._has_address(path) for path in OURS.settings)
