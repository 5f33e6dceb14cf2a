"""Links of the pages of a site."""

from pathlib import Path
from urllib.parse import parse_qsl

from bs4 import BeautifulSoup


def broken(site: Path, atlas: Path | None = None) -> list[tuple[str, str]]:
    """Page and target of each link within a site that leads nowhere.

    atlas: where the pages of ours are, if not all are
    """
    site = site.resolve()
    pages = {
        page: BeautifulSoup(page.read_bytes(), "html.parser")
        for page in site.rglob("*.html")
        if page.name != "404.html"
    }
    return [
        (page.relative_to(site).as_posix(), target)
        for page, soup in pages.items()
        for target in _targets(soup)
        if not _exists(site, atlas or site, page, target, pages)
    ]


def _targets(soup: BeautifulSoup) -> list[str]:
    targets = [
        str(tag[name])
        for name in ("href", "src")
        for tag in soup.find_all(True)
        if tag.has_attr(name)
    ]
    return [
        target
        for target in targets
        if not target.startswith(("http:", "https:", "mailto:", "data:"))
    ]


def _exists(
    site: Path, atlas: Path, page: Path, target: str, pages: dict[Path, BeautifulSoup]
) -> bool:
    path, _, fragment = target.partition("#")
    place = (page.parent / path).resolve() if path else page
    place = place / "index.html" if place.is_dir() else place
    inside = place.is_relative_to(site) and place.is_file()
    if "=" in fragment:  # What a script of the page shows, not a place on it.
        fields = parse_qsl(fragment, keep_blank_values=True)
        return place in pages and all(_is_shown(atlas, pages[place], *field) for field in fields)
    return inside and (
        not fragment
        or fragment == "__skip"
        or place not in pages
        or pages[place].find(id=fragment) is not None
    )


def _is_shown(atlas: Path, soup: BeautifulSoup, name: str, value: str) -> bool:
    """Whether a page has the field that its address fills, or the column by which it sorts, or
    offers the models that it names, or the compare page its encoding.
    """
    if soup.find("input", attrs={"name": name}) is not None:
        return True
    if (choice := soup.select_one(f'select[name="{name}"]')) is not None:
        return value in {one.get("value", one.text) for one in choice.find_all("option")}
    if name == "sort":
        names = " ".join(str(head["data-pa-column"]) for head in soup.select("[data-pa-column]"))
        return value.removesuffix("-") in names.split()
    if name == "models":
        offered = (atlas / "data/beside.js").read_text("utf-8")
        return all(f'"{one}"' in offered for one in value.split(","))
    if name == "model":
        return soup.find("option", string=value) is not None
    return (atlas / f"data/compare/{value}.js").is_file()
