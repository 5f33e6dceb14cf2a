"""All pages, figures and data of a build, as one mapping whose files are made on access."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache, partial
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any
from urllib.parse import quote, urljoin

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, FunctionLoader, StrictUndefined
from markupsafe import Markup

from generator import PROGRAM
from generator.cache import byte_code
from generator.cache.lazy import LazyMapping
from generator.contracts import Atlas, Card, Figure, Maker, Outcome, Page, own, paper_address
from generator.contracts.wording import FILTERS
from generator.figures import svg
from generator.site import moved, outline, reports
from generator.site.compare import scripts as compare_data
from generator.site.data import citations, dataset, feed, figure_scripts, finder, notebook_files
from generator.site.data import downloads as data_files
from generator.site.data import lesson_numbers as lesson_data
from generator.site.html import escape
from generator.site.html.absent import without_links
from generator.site.html.formulas import formula
from generator.site.materials import OURS, Materials
from generator.site.pictures import badges, scheme_cards, small
from generator.site.pictures.value_strips import PATH, strips, values_of

# What draws live figures: in parts, and on the site.
SCRIPTS, FIGURES = "assets/figures", "assets/figures.js"
# drawings held in memory: a page needs the sizes of its drawings, which are written after it
RECENT = 64


@dataclass(frozen=True)
class EveryPage:
    """Variables of all templates of pages.

    version: of the program; date: of the data; release: that has them; address: of the site
    guests: their keys, by which ``prose`` has what other pages show of them
    here: address of the page; cited_at: that in its citation, of the repository where the build
        knows none of the site; card: its picture; link, prose, size, report: functions, see
        ``_markdown``
    """

    version: str
    date: str | None
    address: str | None
    release: str | None
    guests: tuple[str, ...]
    here: str | None
    cited_at: str | None
    card: Card | None
    link: Callable[[str], Markup]
    prose: Callable[[str, str], Any]
    size: Callable[[str], tuple[int, int]]
    report: Callable[[str | None], str]


def drawing(figure: Figure) -> bytes:
    """Drawing of a figure, from its results: its picture, with its data."""
    return maker(figure)()


def maker(figure: Figure) -> Maker:
    """Function that draws a figure, in this process or another."""
    return partial(svg.encode, figure.spec.draw, figure.results)


def render(
    atlas: Atlas,
    pages: Sequence[Page],
    materials: Materials = OURS,
    draw: Callable[[Figure], bytes] = drawing,
    absent: Sequence[str] = (),
) -> LazyMapping[bytes]:
    """Content of the docs folder by path: hand-written pages and assets, generated pages, figures,
    and data.

    draw: returns the drawing of a figure; absent: places of pages that the site could have and has
        not: links of ours that lead there become words
    """
    environment = environment_of(*materials.templates)
    stored = {path: make for outcome in atlas.outcomes for path, make in _drawings(outcome).items()}
    figures = {
        figure.path: figure
        for page in pages
        for figure in page.figures
        if figure.path not in stored
    }
    recent = lru_cache(maxsize=RECENT)(lambda path: draw(figures[path]))
    comparisons: dict[str, Maker] = {path: partial(recent, path) for path in figures}
    drawings = LazyMapping({**stored, **comparisons})
    scripts = figure_scripts.makers(atlas, pages, drawings)
    analyses = {f"analyses/{analysis.key}.md" for analysis in atlas.analyses}
    missing = frozenset(analyses.difference(page.path for page in pages))
    markdown: dict[str, Maker] = {
        page.path: partial(_markdown, environment, atlas, page, drawings, missing) for page in pages
    }
    written = _hand_written(materials.written)
    ours = {path for path in written if (OURS.written[-1] / path).is_file()}
    present = frozenset((*markdown, *written))
    if absent:
        for made, paths in ((markdown, [*markdown]), (written, ours)):
            made |= {
                path: partial(_unlinked, made[path], path, absent, present)
                for path in paths
                if path.endswith(".md")
            }
    assets: dict[str, Maker] = {
        PATH: lambda: strips(values_of(atlas)),
        **{
            scheme_cards.path(scheme): partial(scheme_cards.card, scheme)
            for scheme in atlas.schemes
        },
    }
    pictures: dict[str, Maker] = {
        svg.file_of(path): partial(_picture, drawings, path) for path in drawings
    }
    assets[FIGURES] = partial(_joined, materials.written[-1] / SCRIPTS)
    scripted: dict[str, Maker] = {
        **compare_data.makers(atlas),
        lesson_data.PATH: partial(lesson_data.script, atlas),
        citations.PATH: partial(citations.script, atlas),
        finder.PATH: partial(finder.script, atlas),
    }
    files: dict[str, Maker] = {
        **written,
        **assets,
        **small.makers(atlas),
        **data_files.makers(atlas),
        **notebook_files.makers(markdown, atlas.address),
        **scripted,
        **feed.makers(atlas),
        **badges.makers(atlas),
        **moved.makers(atlas),
        dataset.ROBOTS: partial(dataset.robots, atlas),
        **{page.card.path: page.card.make for page in pages if page.card},
    }
    # Pages in the order in which other processes draw their figures.
    return LazyMapping({**files, **markdown, **pictures, **scripts})


def _unlinked(make: Maker, page: str, absent: Sequence[str], present: frozenset[str]) -> bytes:
    """A page without links to what is absent."""

    def is_absent(path: str) -> bool:
        return path not in present and any(fnmatchcase(path, place) for place in absent)

    return without_links(make().decode(), str(PurePosixPath(page).parent), is_absent).encode()


def _picture(drawings: Mapping[str, bytes], path: str) -> bytes:
    return svg.parts(drawings[path])[0]


def _joined(folder: Path) -> bytes:
    """The scripts of a folder as one, so that readers fetch one file."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.js")))


def _hand_written(folders: Sequence[Path]) -> dict[str, Maker]:
    """Functions that read the hand-written pages and assets, by path, from the first folder that
    has it.
    """
    files = [
        (folder, path)
        for folder in reversed(folders)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes
        for folder, path in files
        if path.parent != folder / SCRIPTS
    }


@cache
def environment_of(*templates: Path) -> Environment:
    """Jinja environment for folders of templates, of which the first wins, that escapes every
    expression but markup, and raises for undefined names.
    """
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(templates), FunctionLoader(own.template)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=escape.finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        bytecode_cache=byte_code.stored("pages"),
    )
    environment.filters.update(FILTERS)
    environment.filters["formula"] = formula
    environment.filters["tex"] = escape.tex
    environment.filters["preformatted"] = escape.preformatted
    environment.filters["figure_file"] = svg.file_of
    environment.filters["opening_file"] = small.opening_of
    environment.filters["chapter"] = outline.chapter
    environment.filters["section"] = outline.section
    environment.filters["paper_address"] = paper_address
    return environment


def _markdown(
    environment: Environment,
    atlas: Atlas,
    page: Page,
    drawings: Mapping[str, bytes],
    missing: frozenset[str],
) -> bytes:
    """A page in Markdown. missing: pages in whose place something leads on"""
    folder = str(PurePosixPath(page.path).parent)

    def link(path: str) -> Markup:
        if path in missing:
            path = f"{path.removesuffix('.md')}.html"
        return Markup(relpath(path, folder))  # noqa: S704 (paths are made of slugs and keys)

    def prose(kind: str, key: str) -> Any:
        return environment.get_template(f"{kind}/{key}.md.jinja").make_module({"link": link})

    def size(path: str) -> tuple[int, int]:
        """Width and height of a drawing, with which browsers reserve its space before they load
        it.
        """
        return svg.size(drawings[path])

    file = quote(page.path.removesuffix(".md") + ".html")
    here = urljoin(atlas.address, file) if atlas.address else None
    version = atlas.versions.get(PROGRAM, "")

    def report(revision: str | None) -> str:
        """Where a reader reports a wrong number of a checkpoint at ``revision``; "" for nowhere."""
        return reports.address(atlas.settings.repository, here or file, version, revision)

    everywhere = EveryPage(
        version=version,
        date=atlas.date,
        address=atlas.address,
        release=atlas.releases[-1].id if atlas.releases else None,
        guests=tuple(guest.key for guest in atlas.guests),
        here=here,
        cited_at=here or atlas.settings.repository or None,
        card=page.card,
        link=link,
        prose=prose,
        size=size,
        report=report,
    )
    template = environment.get_template(f"pages/{page.context.template}")
    return template.render(vars(page.context) | vars(everywhere)).encode()


def _drawings(outcome: Outcome) -> dict[str, Maker]:
    drawings: dict[str, Maker] = {}
    for reading in outcome.readings:
        folder = f"figures/{outcome.path_of(reading)}"
        drawings |= {
            f"{folder}/{name}": partial(reading.drawings.__getitem__, name)
            for name in reading.drawings
        }
    for found in outcome.use:
        drawings |= {
            f"figures/{outcome.checkpoint.slug}/use/{found.path}-{name}": partial(
                found.drawings.__getitem__, name
            )
            for name in found.drawings
        }
    return drawings
