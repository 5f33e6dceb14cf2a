"""One build from tasks to a site, or nothing at all where nothing has changed since the last."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from generator import discovery, fingerprint, pages, runs, study, versions
from generator.contracts import Atlas, Figure, Maker, Outcome, Page, PageKind
from generator.errors import RefusedError
from generator.kept import Kept
from generator.site import html, render, write
from generator.site.stamps import Stamps
from generator.store import Store

ROOT = versions.ROOT
TEMPLATES, SITE_SRC, MKDOCS = ROOT / "templates", ROOT / "site_src", ROOT / "mkdocs.yml"
SOURCES = (ROOT / "generator", TEMPLATES, SITE_SRC, MKDOCS)  # What a site depends on beside its checkpoints.
HTML_SOURCES = (TEMPLATES / "theme", SITE_SRC, MKDOCS)  # Links of pages written by hand are followed when all HTML is made.
STATUSES = ("ok", "failed", "not reached")
NOTE, DOCS_STAMPS, SITE_STAMPS = ".built.json", ".docs.stamps", ".site.stamps"


Hired = Callable[[], runs.Makers]
Tell = Callable[[runs.Event | runs.Stage], None]


class Remembered:
    """What was made of finished work before, such as comparisons, and is made anew only where it would be different."""

    def __init__(self, kept: Kept, code: str, fresh: bool, hired: Hired) -> None:
        self.kept, self.code, self.fresh, self.hired = kept, code, fresh, hired
        self.used: set[str] = set()
        self.under_way: dict[str, Future[bytes]] = {}

    def drawing(self, figure: Figure) -> bytes:
        """The figure as SVG."""
        return self.of(_name(figure), render.maker(figure)) if figure.made_of else render.drawing(figure)

    def start(self, figures: Iterable[Figure]) -> None:
        """Have these figures drawn, as many at once as there are workers."""
        for figure in figures:
            if figure.made_of:
                self._start(_name(figure), render.maker(figure))

    def promised(self, name: str, make: Maker) -> Maker:
        """``of`` for later; a worker begins now."""
        self._start(name, make)
        return partial(self.of, name, make)

    def of(self, name: str, make: Maker) -> bytes:
        """What ``make`` returned under this name in an earlier run of the same code, or returns now.

        errors: RefusedError when a worker does not come to its end
        """
        key = self._start(name, make)
        known = self.kept.get(key) if key not in self.under_way else None
        if known is not None:
            return known
        try:
            made = self._made(self.under_way.pop(key, None), make)
        except Exception as error:
            raise RefusedError(f"{name}: {self.hired().reason(error)}; expected it to be made") from error
        self.kept.put(key, made)
        return made

    def _made(self, begun: "Future[bytes] | None", make: Maker) -> bytes:
        """What a worker makes, or the next one if the first was lost."""
        if begun is not None:
            with suppress(Exception):
                return begun.result()
        return self.hired().make(make).result()

    def _start(self, name: str, make: Maker) -> str:
        """Begin what neither was made before nor is under way; its key."""
        key = fingerprint.of_parts((name, self.code))
        if key not in self.used and (self.fresh or self.kept.get(key) is None):
            self.under_way[key] = self.hired().make(make)
        self.used.add(key)
        return key


def _name(figure: Figure) -> str:
    return f"{figure.path} {fingerprint.of_parts(figure.made_of)}"


@contextmanager
def _hired_once(makers: Callable[[], AbstractContextManager[runs.Makers]]) -> Iterator[Hired]:
    """``makers`` who start when they are first called for, and stay the same until the block ends."""
    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(makers()))


def build(
    tasks: Sequence[study.Task],
    folder: Path,
    crews: runs.Crews,
    tell: Tell,
    fresh: bool = False,
) -> Mapping[str, int]:
    """Docs and site of ``tasks`` in ``folder``; how many checkpoints have each status.

    fresh: build even where the last build was of the same
    """
    code = versions.code()
    keys = _keys(tasks, folder)
    html_key = _html_key(code)
    listed = [task.checkpoint for task in tasks]
    whole = None if None in keys else fingerprint.of_parts((listed, keys, fingerprint.of_contents((TEMPLATES,)), html_key))
    noted = _noted(folder, fresh)
    if whole is None or noted.get("key") != whole:
        kept = Store(folder / "store")
        outcomes = runs.run(dict(zip(tasks, keys, strict=True)), kept, crews.studying, tell, fresh)
        with _hired_once(crews.drawing) as hired:
            remembered = Remembered(kept.drawings, code, fresh, hired)
            changed = _write(_atlas(outcomes, remembered), folder, remembered, tell)
        if changed or noted.get("html") != html_key:
            tell(runs.Stage("mkdocs"))
            known = html.Known(Stamps(folder / SITE_STAMPS, html_key), render.hand_written(SITE_SRC))
            html.build(MKDOCS, folder / "docs", folder / "site", versions.commit_time(), known)
        counts = Counter(str(outcome.status) for outcome in outcomes)
        complete = counts["ok"] == len(tasks)  # What was not may be the next time, though nothing here has changed.
        note = {"key": whole if complete else None, "html": html_key, "counts": {status: counts[status] for status in STATUSES}}
        (folder / NOTE).write_text(json.dumps(note), encoding="utf-8")
        kept.limit({key for key in keys if key}, remembered.used)
        noted = note
    counted: dict[str, int] = noted["counts"]
    return counted


def _html_key(code: str) -> str:
    """Digest of all that HTML depends on beside its docs."""
    said = (versions.commit_time(), os.environ.get(html.ADDRESS))
    return fingerprint.of_parts((fingerprint.of_contents(HTML_SOURCES), code, versions.rendering(), *said))


def _keys(tasks: Sequence[study.Task], folder: Path) -> list[str | None]:
    digests = fingerprint.Digests(folder / "store" / "digests.json")
    keys = runs.keys(tasks, versions.studying(), digests.of)
    digests.save()
    return keys


def _write(atlas: Atlas, folder: Path, remembered: Remembered, tell: Tell) -> bool:
    """Write the docs; whether they have changed."""
    tell(runs.Stage("comparisons"))
    (folder / NOTE).unlink(missing_ok=True)
    with threadpool_limits(1):  # More threads would change the last digits, and with them the bytes.
        every_page: list[Page] = []
        for kind in discovery.load(pages, PageKind):
            found = kind.pages(atlas)
            remembered.start(figure for page in found for figure in page.figures)
            every_page += found
        tell(runs.Stage("pages"))
        tree = render.render(atlas, every_page, TEMPLATES, SITE_SRC, remembered.drawing)
        made_of = render.made_of(atlas, every_page)
        stamps = Stamps(folder / DOCS_STAMPS, fingerprint.of_parts((remembered.code, fingerprint.of_contents((TEMPLATES,)), atlas.date)))
        docs = folder / "docs"
        changed = write.write(tree, docs, lambda path: stamps.holds(docs / path, path, made_of.get(path)))
        stamps.save(docs, made_of)
    return changed


def _atlas(outcomes: tuple[Outcome, ...], remembered: Remembered) -> Atlas:
    seconds = versions.commit_time()
    date = None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
    return Atlas(outcomes, study.all_analyses(), study.all_schemes(), versions.all_versions(), date, remembered.promised)


def _noted(folder: Path, fresh: bool) -> dict[str, Any]:
    """What the last build noted of itself, if its site still stands; all such notes are forgotten for a ``fresh`` one."""
    for note in (NOTE, DOCS_STAMPS, SITE_STAMPS) if fresh else ():
        (folder / note).unlink(missing_ok=True)
    try:
        noted = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        known = set(noted["counts"]).issuperset(STATUSES)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    stands = (folder / "site").is_dir() and (folder / "docs").is_dir()
    return noted if known and stands else {}
