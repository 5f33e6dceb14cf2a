"""The site as a section of another one that mkdocs builds: Markdown files, data and assets for a
folder of that site's docs.

A page becomes ``<page>/index.md``, which holds finished HTML. Its address is ``<page>/index.html``
whether the other site has ``use_directory_urls`` or not, and it needs no extension, plugin or theme
of that site.
"""

import json
import os
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from generator.cache.lazy import LazyMapping
from generator.contracts import Maker, Tree
from generator.errors import RefusedError
from generator.site import write

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

MARKER = ".position-atlas-section"
MARKED = "Made by Position Atlas. Everything in this folder may be replaced.\n"
INDEX = "index.html"
# The second stays as it is, for embedded figures.
STYLES, ATLAS_STYLES = "assets/section.css", "assets/atlas.css"
SCOPED = frozenset({"assets/compare.css", "assets/lesson.css"})
FIGURES = "assets/figures.js"
FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}\n?")
CONDITION = re.compile(r"(@media[^{]*\{)")
LENGTH = re.compile(r"(?<![\w.])(\d*\.?\d+)rem\b")
PAGE_IN_DATA = re.compile(r'(?<="page":")[^"#]+')


def check(folder: Path, output: Path) -> None:
    """Make sure that a section may replace ``folder``. output: of the build

    errors: RefusedError where the folder is a part of the output, holds it, or has files that are
        no section's
    """
    place, made = (Path(os.path.realpath(path)) for path in (folder, output))
    expected = "expected a new or empty folder, or a section of an earlier build"
    if place.is_relative_to(made) or made.is_relative_to(place):
        raise RefusedError(f"{folder}: not apart from the output folder, {output}; {expected}")
    if place.exists() and not place.is_dir():
        raise RefusedError(f"{folder}: not a folder; {expected}")
    if place.is_dir() and any(place.iterdir()) and not (place / MARKER).is_file():
        raise RefusedError(f"{folder}: has files that are no section of an atlas; {expected}")


def write_section(docs: Path, site: Path, folder: Path, address: str | None) -> None:
    """Replace ``folder``, which ``check`` has passed, by the section.

    docs, site: of a build; address: of that build's site, with a slash at its end
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    write.write(files(docs, site, address), folder)


def files(docs: Path, site: Path, address: str | None) -> Tree:
    """The files of the section, by path below its folder. docs, site, address: as above"""
    paths = {path.relative_to(docs).as_posix(): path for path in docs.rglob("*") if path.is_file()}
    pages = frozenset(path.removesuffix(".md") + ".html" for path in paths if path.endswith(".md"))
    section = _Section(site, pages, frozenset(paths), address)
    made: dict[str, Maker] = {
        path: file.read_bytes for path, file in paths.items() if not path.endswith(".md")
    }
    made |= {
        path: partial(section.data, file) for path, file in paths.items() if path.endswith(".js")
    }
    made |= {
        path: partial(section.feed, file) for path, file in paths.items() if path.endswith(".xml")
    }
    made |= {
        section.moved(page).replace(".html", ".md"): partial(section.page, page) for page in pages
    }
    made |= {path: partial(_styles, docs / path) for path in SCOPED}
    made |= {STYLES: partial(_styles, docs / STYLES, docs / ATLAS_STYLES), MARKER: MARKED.encode}
    return LazyMapping(made)


@dataclass(frozen=True)
class _Section:
    """What moves, and where to. pages: addresses below the site; paths: of all files of the docs"""

    site: Path
    pages: frozenset[str]
    paths: frozenset[str]
    address: str | None

    def moved(self, path: str) -> str:
        """Where the section has what the site has at ``path``."""
        moves = path in self.pages and path.rpartition("/")[2] != INDEX
        return f"{path.removesuffix('.html')}/{INDEX}" if moves else path

    def page(self, page: str) -> bytes:
        """A page in Markdown that is HTML, below what lists of pages say of it."""
        from bs4 import BeautifulSoup

        document = BeautifulSoup((self.site / page).read_bytes(), "html.parser")
        [article] = document.select("article")
        scripts = [
            target
            for link in document.select("body script[src]")
            if self._is_shared(target := _target(str(link["src"]), page), link)
        ]
        if article.select_one(".pa-figure .pa-scroll a"):
            scripts.append(FIGURES)
        entries = _entries(document)
        for element in (*entries.select("[href]"), *article.select("[href], [src]")):
            name = "href" if "href" in element.attrs else "src"
            element[name] = self._link(str(element[name]), page)
        html = (
            '<div class="pa-section"><div class="md-content">',
            f'<link rel="stylesheet" href="{self._relative(STYLES, page)}">',
            str(entries),
            f'<article class="md-typeset">{article.decode_contents()}</article>',
            *(
                f'<script defer src="{self._relative(script, page)}"></script>'
                for script in scripts
            ),
            "</div></div>",
        )
        return self._addressed("\n".join((_head(document), *html, ""))).encode()

    def data(self, file: Path) -> bytes:
        """A script of data, which names pages by their new places."""
        return PAGE_IN_DATA.sub(
            lambda match: self.moved(match[0]), file.read_text(encoding="utf-8")
        ).encode()

    def feed(self, file: Path) -> bytes:
        """A file with whole addresses of pages."""
        return self._addressed(file.read_text(encoding="utf-8")).encode()

    def _is_shared(self, target: str, script: "Tag") -> bool:
        """Whether a script of the docs is loaded by every page, not by the article of one."""
        return target in self.paths and script.find_parent("article") is None

    def _link(self, link: str, page: str) -> str:
        """A relative link of ``page`` for its place in the section; all others as they are."""
        path, mark, fragment = link.partition("#")
        if not path or ":" in path or path.startswith("/"):
            return link
        return self._relative(_target(path, page), page) + mark + fragment

    def _relative(self, target: str, page: str) -> str:
        return relpath(self.moved(target), dirname(self.moved(page)) or ".")

    def _addressed(self, text: str) -> str:
        """``text`` with the whole addresses of pages by their new places."""
        if self.address is None:
            return text
        return re.sub(
            rf"(?<={re.escape(self.address)})[^\s\"'<>#}}]+",
            lambda match: self.moved(match[0]),
            text,
        )


def _target(link: str, page: str) -> str:
    """Path below the site that a relative link of ``page`` leads to."""
    return normpath(join(dirname(page), unquote(link)))


def _head(document: "BeautifulSoup") -> str:
    """Title and description of a page, as mkdocs reads them in front of its Markdown."""
    title, description = document.select_one("h1"), document.select_one("meta[name=description]")
    about = {
        "title": "".join(title.find_all(string=True, recursive=False)).strip() if title else "",
        **({"description": str(description["content"])} if description else {}),
        "hide": ["toc"],  # Themes find no headings in HTML.
    }
    # JSON is YAML too.
    return "\n".join(
        ("---", *(f"{key}: {json.dumps(value)}" for key, value in about.items()), "---", "")
    )


def _entries(document: "BeautifulSoup") -> "Tag":
    """The entries of the site in a row, its first page before them."""
    row = document.new_tag(
        "nav",
        attrs={
            "class": "pa-section-entries",
            "aria-label": "Position Atlas",
            "data-search-exclude": "",
        },
    )
    for link in (
        *document.select(".pa-drawer > ul > li:first-child > a"),
        *document.select(".md-tabs__link"),
    ):
        entry = document.new_tag("a", href=str(link["href"]))
        entry.string = link.get_text(strip=True)
        row.append(entry)
    return row


def _styles(*files: Path) -> bytes:
    """Styles that concern the section alone, with lengths by its own measure: themes differ in the
    size of their root element.
    """
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    chunks = CONDITION.split(FONT_FACE.sub("", text))
    chunks[::2] = [LENGTH.sub(r"calc(\1 * var(--pa-rem, 1rem))", chunk) for chunk in chunks[::2]]
    scoped = "".join(chunks).replace(
        '[data-md-color-scheme="slate"] {', '[data-md-color-scheme="slate"] :scope {'
    )
    scoped = scoped.replace("[data-md-color-scheme] {", ":scope {").replace(":root {", ":scope {")
    return f"{''.join(FONT_FACE.findall(text))}@scope (.pa-section) {{\n{scoped}}}\n".encode()
