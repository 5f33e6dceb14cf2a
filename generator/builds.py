"""One build from tasks to a site, or nothing at all where nothing has changed since the last."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from generator import discovery, fingerprint, pages, runs, study, versions
from generator.contracts import Atlas, Figure, Outcome, PageKind
from generator.kept import Kept
from generator.site import html, render, write
from generator.store import Store

ROOT = versions.ROOT
TEMPLATES, SITE_SRC, MKDOCS = ROOT / "templates", ROOT / "site_src", ROOT / "mkdocs.yml"
SOURCES = (ROOT / "generator", TEMPLATES, SITE_SRC, MKDOCS)  # What a site depends on beside its checkpoints.
STATUSES = ("ok", "failed", "not reached")
NOTE = ".built.json"


class Remembered:
    """What was made of finished work before, such as comparisons, and is made anew only where it would be different."""

    def __init__(self, kept: Kept, code: str, fresh: bool) -> None:
        self.kept, self.code, self.fresh = kept, code, fresh
        self.used: set[str] = set()

    def drawing(self, figure: Figure) -> bytes:
        """The figure as SVG."""
        make = partial(render.drawing, figure)
        return self.of(fingerprint.of_parts((figure.path, figure.made_of)), make) if figure.made_of else make()

    def of(self, name: str, make: Callable[[], bytes]) -> bytes:
        """What ``make`` returned under this name in an earlier run of the same code, or returns now."""
        key = fingerprint.of_parts((name, self.code))
        self.used.add(key)
        known = None if self.fresh else self.kept.get(key)
        made = make() if known is None else known
        if known is None:
            self.kept.put(key, made)
        return made


def build(
    tasks: Sequence[study.Task],
    folder: Path,
    workers: Callable[[], AbstractContextManager[runs.Workers]],
    tell: Callable[[runs.Event], None],
    fresh: bool = False,
) -> Mapping[str, int]:
    """Docs and site of ``tasks`` in ``folder``; how many checkpoints have each status.

    fresh: build even where the last build was of the same
    """
    code = versions.code()
    keys = runs.keys(tasks, code)
    html_key = fingerprint.of_parts((fingerprint.of_contents((MKDOCS,)), code, versions.commit_time()))
    whole = None if None in keys else fingerprint.of_parts((keys, fingerprint.of_contents(SOURCES), html_key))
    noted = {} if fresh else _noted(folder)
    if whole is None or noted.get("key") != whole:
        kept = Store(folder / "store")
        outcomes = runs.run(dict(zip(tasks, keys, strict=True)), kept, workers, tell, fresh)
        counts = Counter(str(outcome.status) for outcome in outcomes)
        note = {"key": None if counts["failed"] else whole, "html": html_key, "counts": {status: counts[status] for status in STATUSES}}
        remembered = Remembered(kept.drawings, code, fresh)
        _publish(_atlas(outcomes, remembered), folder, remembered, stands=noted.get("html") == html_key)
        (folder / NOTE).write_text(json.dumps(note), encoding="utf-8")
        kept.limit({key for key in keys if key}, remembered.used)
        noted = note
    counted: dict[str, int] = noted["counts"]
    return counted


def _publish(atlas: Atlas, folder: Path, remembered: Remembered, stands: bool) -> None:
    """Write docs and site. stands: the present site is what mkdocs makes of the present docs"""
    (folder / NOTE).unlink(missing_ok=True)
    with threadpool_limits(1):  # More threads would change the last digits, and with them the bytes.
        every_page = [page for kind in discovery.load(pages, PageKind) for page in kind.pages(atlas)]
        tree = render.render(atlas, every_page, TEMPLATES, SITE_SRC, remembered.drawing)
        changed = write.write(tree, folder / "docs")
    if changed or not stands:
        html.build(MKDOCS, folder / "docs", folder / "site", versions.commit_time())


def _atlas(outcomes: tuple[Outcome, ...], remembered: Remembered) -> Atlas:
    seconds = versions.commit_time()
    date = None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
    return Atlas(outcomes, study.all_analyses(), study.all_schemes(), versions.all_versions(), date, remembered.of)


def _noted(folder: Path) -> dict[str, Any]:
    """What the last build noted of itself, if its site still stands."""
    try:
        noted = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    stands = (folder / "site").is_dir() and (folder / "docs").is_dir()
    return noted if stands and isinstance(noted, dict) and isinstance(noted.get("counts"), dict) else {}
