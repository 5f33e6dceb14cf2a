"""Pages from a cache: the same bytes, fewer of them parsed, and every link still checked."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mkdocs.structure.pages import Page

from generator.cache.blobs import BlobCache
from generator.errors import RefusedError
from generator.site.html import mkdocs_build
from generator.site.html.escape import literal
from generator.site.html.page_cache import PageCache

SETTINGS = """\
site_name: Small
theme: {name: material, font: false}
plugins: [search, offline]
use_directory_urls: false
extra: {policy: "default-src 'self'; script-src 'self'"}
markdown_extensions: [attr_list, toc: {permalink: true}]
nav: [Home: index.md, Second: second.md]
validation: {omitted_files: ignore, anchors: warn}
"""
DOCS = {
    "index.md": "# Home\n\n[There](far/third.md#a-part), [out](https://example.org)\n",
    "second.md": "---\ntags: [other]\n---\n# Second\n\nA &#66;\n\n## A section\n\nText\n",
    "far/third.md": "# Third\n\n[Back](../index.md)\n\n## A part\n\n<p>1</p>\n",
    "far/fourth.md": "# Fourth\n\n![](../picture.svg) [Home](../index.md#home)\n",
    "picture.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
}


class Small:
    """A small site, and the pages that mkdocs parses for it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.parsed, self.used = folder, list[str](), set[str]()
        self.settings: list[Path] = [folder / "mkdocs.yml"]
        self.write(
            {**{f"docs/{path}": text for path, text in DOCS.items()}, "mkdocs.yml": SETTINGS}
        )
        render = Page.render

        def noted(page: Page, *arguments: Any) -> None:
            self.parsed.append(page.file.src_uri)
            render(page, *arguments)

        monkeypatch.setattr(Page, "render", noted)

    def write(self, texts: Mapping[str, str]) -> None:
        for path, text in texts.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text, encoding="utf-8")

    def build(
        self, *, cached: bool = True, fresh: bool = False, release: str = ""
    ) -> dict[str, bytes]:
        """All files of the site; ``parsed`` has the pages that were parsed for it, ``used`` the
        entries of the cache.
        """
        self.parsed, self.used = [], set()
        cache = PageCache(BlobCache(self.folder / "cache"), "key", fresh, self.used, release)
        site = self.folder / "site"
        mkdocs_build.build(
            self.settings, self.folder / "docs", site, None, cache if cached else None
        )
        self.parsed.sort()
        return {
            path.relative_to(site).as_posix(): path.read_bytes()
            for path in site.rglob("*")
            if path.is_file()
        }

    def again(self) -> dict[str, bytes]:
        """The site without a cache."""
        parsed, used = self.parsed, self.used
        try:
            return self.build(cached=False)
        finally:
            self.parsed, self.used = parsed, used


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Small:
    return Small(tmp_path, monkeypatch)


def pages(small: Small) -> list[str]:
    return sorted(
        path.relative_to(small.folder / "docs").as_posix()
        for path in (small.folder / "docs").rglob("*.md")
    )


def test_a_page_that_is_as_it_was_is_not_parsed_again_and_has_the_same_bytes(small: Small) -> None:
    plain = small.build(cached=False)
    assert small.build() == plain
    assert small.parsed == pages(small)
    assert small.build() == plain
    assert not small.parsed


def test_a_page_that_changed_is_parsed_alone(small: Small) -> None:
    small.build()
    small.write({"docs/far/third.md": DOCS["far/third.md"] + "\n## Another part\n"})
    site = small.build()
    assert small.parsed == ["far/third.md"]
    assert b"Another part" in site["search/search_index.json"]
    assert site == small.again()


def test_a_new_page_is_parsed_alone_and_a_removed_one_is_gone(small: Small) -> None:
    small.build()
    small.write({"docs/fifth.md": "# Fifth\n\n[Fourth](far/fourth.md)\n"})
    (small.folder / "docs/second.md").rename(small.folder / "docs/sixth.md")
    small.write({"mkdocs.yml": SETTINGS.replace("second.md", "sixth.md")})
    site = small.build()
    assert "second.html" not in site
    assert b"second.html" not in site["search/search_index.json"]
    assert site == small.again()


def test_another_title_in_the_navigation_changes_all_pages(small: Small) -> None:
    small.build()
    small.write({"mkdocs.yml": SETTINGS.replace("Second:", "Number two:")})
    site = small.build()
    assert small.parsed == pages(small)
    assert b"Number two" in site["far/third.html"]
    assert site == small.again()


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        pytest.param("docs/far/third.md", None, "not found", id="page"),
        pytest.param("docs/far/third.md", "# Third\n", "anchor '#a-part'", id="anchor"),
        pytest.param("docs/picture.svg", None, "not found", id="picture"),
    ],
)
def test_links_of_a_page_in_the_cache_are_checked_again(
    path: str, text: str | None, problem: str, small: Small
) -> None:
    small.build()
    if text is None:
        (small.folder / path).unlink()
    else:
        small.write({path: text})
    with pytest.raises(RefusedError, match=problem) as refused:
        small.build()
    with pytest.raises(RefusedError) as without:
        small.build(cached=False)
    assert str(refused.value) == str(without.value)


@pytest.mark.parametrize("damage", [b"", b"\0", b"x" * 40])
def test_a_damaged_entry_is_made_anew(damage: bytes, small: Small) -> None:
    plain = small.build()
    for name in small.used:
        entry = small.folder / "cache" / name
        entry.write_bytes(damage or entry.read_bytes()[:-1])
    assert small.build() == plain
    assert small.parsed == pages(small)
    small.build()
    assert not small.parsed


def test_a_fresh_build_takes_no_page_from_the_cache(small: Small) -> None:
    plain = small.build()
    assert small.build(fresh=True) == plain
    assert small.parsed == pages(small)


def test_the_entries_of_all_pages_are_in_use(small: Small) -> None:
    small.build()
    made = {path.name for path in (small.folder / "cache").iterdir()}
    assert small.used == made
    small.build()
    assert small.used == made


@pytest.mark.parametrize(
    "own",
    [
        pytest.param("plugins: [search, offline, tags]", id="plugins"),
        pytest.param("hooks: [hook.py]", id="hooks"),
        pytest.param("markdown_extensions: [attr_list]", id="extensions"),
        pytest.param("theme: {custom_dir: theme}", id="templates"),
        pytest.param("site_author: !ENV [WHO, nobody]", id="environment"),
        pytest.param("nav: [index.md, Second: second.md]", id="a title that a page gives"),
    ],
)
def test_pages_that_may_depend_on_more_are_always_parsed(own: str, small: Small) -> None:
    small.write({"own.yml": own, "hook.py": "", "theme/main.html": '{% extends "base.html" %}'})
    small.settings.insert(0, small.folder / "own.yml")
    small.build()
    small.build()
    assert small.parsed == pages(small)


def test_other_settings_of_a_user_leave_the_cache_in_use(small: Small) -> None:
    small.write({"own.yml": "site_name: Mine\ntheme: {palette: {primary: teal}}\n"})
    small.settings.insert(0, small.folder / "own.yml")
    plain = small.build()
    assert b"Mine" in plain["index.html"]
    assert small.build() == plain
    assert not small.parsed


def cited(release: str) -> str:
    """A page as it names the release."""
    return f"# Fifth\n\n<pre><code>release\n{literal(release)} ({literal(release)})</code></pre>\n"


@pytest.mark.parametrize(
    ("text", "after", "parsed"),
    [
        pytest.param(cited, "2026-01-02", [], id="the release alone"),
        pytest.param(cited, "2026-01-02.2", ["fifth.md"], id="its length"),
        pytest.param(
            lambda release: f"{cited(release)}\n## {literal(release)}\n",
            "2026-01-02",
            ["fifth.md"],
            id="an anchor of it",
        ),
        pytest.param(
            lambda release: f"{cited(release)}\n2026-01-01\n",
            "2026-01-02",
            ["fifth.md"],
            id="the former one as a date",
        ),
    ],
)
def test_a_page_that_differs_in_the_release_that_it_names_is_not_parsed_again(
    text: Callable[[str], str], after: str, parsed: list[str], small: Small
) -> None:
    small.write({"docs/fifth.md": text("2026-01-01")})
    small.build(release="2026-01-01")
    small.write({"docs/fifth.md": text(after)})
    site = small.build(release=after)
    # Pages have less room beside a longer name.
    assert small.parsed == (pages(small) if len(after) > len("2026-01-01") else parsed)
    assert str(literal(after)) in site["fifth.html"].decode()
    assert site == small.again()
