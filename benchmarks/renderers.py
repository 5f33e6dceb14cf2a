"""What differs between a site and the same docs by another renderer: python -m benchmarks.renderers
build/site build-zensical/site
"""

import difflib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

MOST_SHOWN = 12  # of each kind


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_bytes(), "html.parser")


@cache
def anchors(page: Path) -> frozenset[str]:
    return frozenset(
        {
            "",
            *(
                str(tag[name])
                for tag in parsed(page).find_all(True)
                for name in ("id", "name")
                if name in tag.attrs
            ),
        }
    )


def files(site: Path) -> set[str]:
    return {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}


def broken(site: Path) -> Iterator[str]:
    """Links within a site that lead nowhere.

    Those of the page for what is not found begin at the root, wherever the site stands.
    """
    for page in sorted(site.rglob("*.html")):
        for tag in parsed(page).find_all(True):
            for address in (str(tag[name]) for name in ("href", "src") if name in tag.attrs):
                parts = urlsplit(address)
                if parts.scheme or parts.netloc or address.startswith("/"):
                    continue
                target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
                if not target.is_file():
                    yield f"{page.relative_to(site)}: {address}"
                elif (
                    target.suffix == ".html"
                    and "=" not in parts.fragment  # What a script of the page shows.
                    and unquote(parts.fragment) not in anchors(target)
                ):
                    yield f"{page.relative_to(site)}: {address}, no such place"


def words(page: Path) -> list[str]:
    """The text of a page, without what stands around it."""
    article = parsed(page).find("article")
    return article.get_text(" ").split() if article else []


def texts(before: Path, after: Path) -> Iterator[str]:
    """The first difference of each page that both sites have."""
    for path in sorted(
        page.relative_to(before).as_posix()
        for page in before.rglob("*.html")
        if (after / page.relative_to(before)).is_file()
    ):
        first, second = words(before / path), words(after / path)
        for kind, start, stop, other, end in (
            difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
            if first != second
            else ()
        ):
            if kind != "equal":
                yield (
                    f"{path}: {' '.join(first[start:stop])[:60]!r} is"
                    f" {' '.join(second[other:end])[:60]!r}"
                )
                break


def show(title: str, found: list[str]) -> None:
    print(f"{title}: {len(found)}")  # noqa: T201
    for line in found[:MOST_SHOWN]:
        print(f"    {line}")  # noqa: T201


def main(before: Path, after: Path) -> None:
    # Each renderer has assets of its own.
    own = {path for path in files(before) ^ files(after) if not path.startswith("assets/")}
    show("files that only the first has", sorted(own & files(before)))
    show("files that only the second has", sorted(own & files(after)))
    show("links of the first that lead nowhere", list(broken(before)))
    show("links of the second that lead nowhere", list(broken(after)))
    show("pages with other text", list(texts(before, after)))


if __name__ == "__main__":
    main(*(Path(argument).resolve() for argument in sys.argv[1:]))
