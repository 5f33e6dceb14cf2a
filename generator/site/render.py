"""All pages, figures and data of one run as a single tree; nothing is written here, and nothing large is held."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any
from urllib.parse import quote, urljoin

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from generator import PROGRAM
from generator.cache.lazy import LazyMapping
from generator.contracts import Atlas, Figure, Maker, Outcome, Page
from generator.figures import output
from generator.site import colormaps, compare_data, data_files
from generator.site.escape import finalize
from generator.site.formulas import formula
from generator.site.pages.map import LEVELS
from generator.site.value_strips import PATH, strips, values_of
from generator.text import number

RECENT = 64  # drawings that are held, since a page asks for their size before they are written


def drawing(figure: Figure) -> bytes:
    """A figure as it is drawn from its results."""
    return maker(figure)()


def maker(figure: Figure) -> Maker:
    """What draws a figure, in this process or another."""
    return partial(output.encode, figure.spec.draw, figure.results)


def render(
    atlas: Atlas, pages: Sequence[Page], templates: Path, site_src: Path, draw: Callable[[Figure], bytes] = drawing
) -> LazyMapping[bytes]:
    """The docs folder: hand-written pages and assets, generated pages, figures, data. Each is made when it is asked for."""
    environment = environment_of(templates)
    own = {path: make for outcome in atlas.outcomes for path, make in _drawings(outcome).items()}
    figures = {file: figure for page in pages for figure in page.figures if (file := output.file_of(figure.path)) not in own}
    recent = lru_cache(maxsize=RECENT)(lambda path: draw(figures[path]))
    drawn: dict[str, Maker] = {path: partial(recent, path) for path in figures}
    drawings = LazyMapping({**own, **drawn})
    shared = {"version": atlas.versions.get(PROGRAM, ""), "date": atlas.date, "address": atlas.address}
    written: dict[str, Maker] = {page.path: partial(_markdown, environment, page, drawings, shared) for page in pages}
    shared_assets = {PATH: lambda: strips(values_of(atlas)), colormaps.PATH: lambda: colormaps.stylesheet(LEVELS)}
    ready = {**hand_written(site_src), **shared_assets, **own, **data_files.makers(atlas), **compare_data.makers(atlas)}
    return LazyMapping({**ready, **written, **drawn})  # Pages in their order, in which others draw what they show.


def hand_written(site_src: Path) -> dict[str, Maker]:
    """The pages and assets that are as they were written, by path."""
    files = sorted(path for path in site_src.rglob("*") if path.is_file())
    return {path.relative_to(site_src).as_posix(): path.read_bytes for path in files}


def environment_of(templates: Path) -> Environment:
    """Jinja with every expression literal unless it is markup, and no undefined name let through."""
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = number
    environment.filters["formula"] = formula
    environment.filters["figure_file"] = output.file_of
    return environment


def _markdown(environment: Environment, page: Page, drawings: Mapping[str, bytes], shared: Mapping[str, str | None]) -> bytes:
    """One page. shared: variables of all pages, which are the version, the date of the data, and the address of the site, if it has one"""
    folder = str(PurePosixPath(page.path).parent)

    def link(path: str) -> Markup:
        return Markup(relpath(path, folder))  # noqa: S704 (paths are made of slugs and keys)

    def prose(kind: str, key: str) -> Any:
        return environment.get_template(f"{kind}/{key}.md.jinja").make_module({"link": link})

    def size(path: str) -> tuple[int, int]:
        return output.size(drawings[path])

    template = environment.get_template(f"pages/{page.template}")
    here = urljoin(address, quote(page.path.removesuffix(".md") + ".html")) if (address := shared["address"]) else None
    return template.render({**shared, "here": here, **page.context, "link": link, "prose": prose, "size": size}).encode()


def _drawings(outcome: Outcome) -> dict[str, Maker]:
    drawings: dict[str, Maker] = {}
    for reading in outcome.readings:
        folder = f"figures/{outcome.place(reading)}"
        drawings |= {output.file_of(f"{folder}/{name}"): partial(reading.drawings.__getitem__, name) for name in reading.drawings}
    return drawings
