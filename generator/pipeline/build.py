"""One build from tasks to a site, or nothing at all where nothing has changed since the last."""

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from generator.cache import fingerprint
from generator.cache.stamps import Stamps
from generator.contracts import Atlas, Outcome, Page, PageKind, discovery
from generator.pipeline import evaluate, jobs, versions
from generator.pipeline.artifact_cache import ArtifactCache
from generator.pipeline.result_store import Store
from generator.pipeline.worker import Pools
from generator.site import mkdocs_build, pages, render, write

ROOT = versions.ROOT
TEMPLATES, SITE_SRC, MKDOCS = ROOT / "templates", ROOT / "site_src", ROOT / "mkdocs.yml"
HTML_SOURCES = (TEMPLATES / "theme", SITE_SRC, MKDOCS)  # Links of pages written by hand are followed when all HTML is made.
STATUSES = ("ok", "failed", "not reached")
NOTE, DOCS_STAMPS, SITE_STAMPS = ".built.json", ".docs.stamps", ".site.stamps"

Tell = Callable[[jobs.Event | jobs.Stage], None]


def build(
    tasks: Sequence[evaluate.Task],
    folder: Path,
    pools: Pools,
    tell: Tell,
    fresh: bool = False,
) -> Mapping[str, int]:
    """Docs and site of ``tasks`` in ``folder``; how many checkpoints have each status.

    fresh: build even where the last build was of the same
    """
    code = versions.code()
    keys = _keys(tasks, folder)
    whole = _whole(tasks, keys, _html_key(code, _date(())))
    noted = _noted(folder, fresh)
    if whole is None or noted.get("key") != whole:
        store = Store(folder / "store")
        artifacts = ArtifactCache(store.drawings, code, fresh)
        known = dict(zip(tasks, keys, strict=True))
        found = {} if fresh else jobs.found(known, store, tell)
        new = {task: key for task, key in known.items() if task not in found}
        with artifacts.using(partial(pools.local, len(new))) as pool:
            workers = pools.cluster or (lambda _: nullcontext(pool()))
            found |= jobs.run(new, store, workers, tell, partial(_begin, artifacts))
            outcomes = tuple(found[task] for task in tasks)
            date = _date(outcomes)
            changed = _write(_atlas(outcomes, date, artifacts), folder, artifacts, tell)
        html_key = _html_key(code, date)
        if changed or noted.get("html") != html_key:
            tell(jobs.Stage("mkdocs"))
            _html(folder, date, html_key)
        noted = _note(folder, outcomes, whole, html_key)
        store.limit({key for key in keys if key}, artifacts.used)
    return dict(noted["counts"])


def _html(folder: Path, date: int | None, html_key: str) -> None:
    """Make the site of the docs, as far as it is not there already."""
    former = mkdocs_build.Known(Stamps(folder / SITE_STAMPS, html_key), render.hand_written(SITE_SRC))
    mkdocs_build.build(MKDOCS, folder / "docs", folder / "site", date, former)


def _note(folder: Path, outcomes: Sequence[Outcome], whole: str | None, html_key: str) -> dict[str, Any]:
    """Note of what this build was, for the next one."""
    statuses = Counter(str(outcome.status) for outcome in outcomes)
    counts = {status: statuses[status] for status in STATUSES}
    complete = counts["ok"] == len(outcomes)  # What was not may be the next time, though nothing here has changed.
    noted = {"key": whole if complete else None, "html": html_key, "counts": counts, "sizes": _sizes(folder)}
    (folder / NOTE).write_text(json.dumps(noted), encoding="utf-8")
    return noted


def _whole(tasks: Sequence[evaluate.Task], keys: Sequence[str | None], html_key: str) -> str | None:
    """Digest of all that a build depends on; None where that is not known before it."""
    listed = [task.checkpoint for task in tasks]
    return None if None in keys else fingerprint.of_parts((listed, keys, fingerprint.of_contents((TEMPLATES,)), html_key))


def _begin(artifacts: ArtifactCache) -> None:
    """Have made what is the same for all lists; cores that are left by the last rows get to it."""
    _pages(_atlas((), None, artifacts), artifacts)


def _pages(atlas: Atlas, artifacts: ArtifactCache) -> list[Page]:
    """Every page, their figures being drawn meanwhile."""
    every_page: list[Page] = []
    for kind in discovery.load(pages, PageKind):
        found = kind.pages(atlas)
        artifacts.start(figure for page in found for figure in page.figures)
        every_page += found
    return every_page


def _date(outcomes: Sequence[Outcome]) -> int | None:
    """The date of a build, in seconds since 1970: SOURCE_DATE_EPOCH; else that of the newest revision that was read; else the program's.

    Folders have none: the times of their files differ from copy to copy. None where nothing is known.
    """
    if (given := versions.given_time()) is not None:
        return given
    read = [date for outcome in outcomes if outcome.status == "ok" and (date := outcome.checkpoint.committed) is not None]
    return max(read) if read else versions.commit_time()


def _html_key(code: str, date: int | None) -> str:
    """Digest of all that HTML depends on beside its docs."""
    return fingerprint.of_parts(
        (fingerprint.of_contents(HTML_SOURCES), code, versions.rendering(), date, os.environ.get(mkdocs_build.ADDRESS))
    )


def _keys(tasks: Sequence[evaluate.Task], folder: Path) -> list[str | None]:
    digests = fingerprint.Digests(folder / "store" / "digests")
    keys = jobs.keys(tasks, versions.studying(), digests.of)
    digests.save()
    return keys


def _write(atlas: Atlas, folder: Path, artifacts: ArtifactCache, tell: Tell) -> bool:
    """Write the docs; whether they have changed."""
    tell(jobs.Stage("comparisons"))
    (folder / NOTE).unlink(missing_ok=True)
    with threadpool_limits(1):  # More threads would change the last digits, and with them the bytes.
        every_page = _pages(atlas, artifacts)
        tell(jobs.Stage("pages"))
        tree = render.render(atlas, every_page, TEMPLATES, SITE_SRC, artifacts.drawing)
        made_of = render.made_of(atlas, every_page)
        base = fingerprint.of_parts((artifacts.code, fingerprint.of_contents((TEMPLATES,)), atlas.date, atlas.address))
        stamps = Stamps(folder / DOCS_STAMPS, base)
        docs = folder / "docs"
        changed = write.write(tree, docs, lambda path: stamps.holds(docs / path, path, made_of.get(path)))
        stamps.save(docs, made_of)
    return changed


def _atlas(outcomes: tuple[Outcome, ...], date: int | None, artifacts: ArtifactCache) -> Atlas:
    day = None if date is None else f"{datetime.fromtimestamp(date, UTC):%Y-%m-%d}"
    given = os.environ.get(mkdocs_build.ADDRESS)
    address = f"{given.rstrip('/')}/" if given else None
    return Atlas(outcomes, evaluate.all_analyses(), evaluate.all_schemes(), versions.all_versions(), day, address, artifacts.submit)


def _noted(folder: Path, fresh: bool) -> dict[str, Any]:
    """What the last build noted of itself, if its site still stands; all such notes are forgotten for a ``fresh`` one."""
    for note in (NOTE, DOCS_STAMPS, SITE_STAMPS) if fresh else ():
        (folder / note).unlink(missing_ok=True)
    try:
        noted = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        known = set(noted["counts"]).issuperset(STATUSES)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return noted if known and noted.get("sizes") == _sizes(folder) else {}


def _sizes(folder: Path) -> list[list[int]]:
    return [write.measured(folder / name) for name in write.SWAPPED]
