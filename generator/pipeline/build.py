"""One build: from tasks to a site, or nothing at all where nothing has changed since the last."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from threadpoolctl import threadpool_limits

from generator.cache import fingerprint
from generator.contracts import STATUSES, Atlas, Outcome, Page, PageKind, discovery, names
from generator.pipeline import evaluate, families, jobs, last_build, versions
from generator.pipeline.artifact_cache import ArtifactCache
from generator.pipeline.executor import Executor, Executors
from generator.pipeline.result_store import ResultStore
from generator.site import mkdocs_build, pages, render, write

ROOT = versions.ROOT
TEMPLATES, SITE_SRC, MKDOCS = ROOT / "templates", ROOT / "site_src", ROOT / "mkdocs.yml"
THEME = TEMPLATES / "theme"

Report = Callable[[jobs.Event | jobs.Stage], None]


def build(tasks: Sequence[evaluate.Task], folder: Path, executors: Executors, report: Report, fresh: bool = False) -> Mapping[str, int]:
    """Docs and site of ``tasks`` in ``folder``; the number of checkpoints by status.

    fresh: evaluate, draw and write everything, even what has not changed
    """
    keys = _keys(tasks, folder)
    inputs = _inputs(tasks, keys)
    last = last_build.LastBuild() if fresh else last_build.read(folder)
    if inputs is not None and inputs == last.inputs:
        return last.counts

    store = ResultStore(folder / "store")
    by_key = dict(zip(tasks, keys, strict=True))
    outcomes = {} if fresh else jobs.stored(by_key, store, report)
    new = {task: key for task, key in by_key.items() if task not in outcomes}

    with executors.local(0 if executors.cluster else len(new)) as local:
        outcomes |= _evaluate(new, store, local, executors, report)
        atlas_outcomes = tuple(outcomes[task] for task in tasks)
        date = _date(atlas_outcomes)
        artifacts = ArtifactCache(store.drawings, versions.code(), fresh, local)
        changed = _write_docs(_atlas(atlas_outcomes, date, artifacts), folder, artifacts, report)

    site = _site_key(date)
    if changed or site != last.site:
        report(jobs.Stage("mkdocs"))
        mkdocs_build.build(MKDOCS, folder / "docs", folder / "site", date)

    counts = _counts(atlas_outcomes)
    last_build.record(folder, inputs if counts["ok"] == len(tasks) else None, site, counts)
    store.limit({key for key in keys if key}, artifacts.used)
    return counts


def _keys(tasks: Sequence[evaluate.Task], folder: Path) -> list[str | None]:
    """The store's key of each task."""
    digests = fingerprint.Digests(folder / "store" / "digests")
    keys = jobs.keys(tasks, versions.evaluation(), digests.of)
    digests.save()
    return keys


def _inputs(tasks: Sequence[evaluate.Task], keys: Sequence[str | None]) -> str | None:
    """Digest of all that a build depends on; None where that cannot be known before it."""
    if None in keys:
        return None
    rows = [task.checkpoint for task in tasks]
    return fingerprint.of_parts((rows, keys, fingerprint.of_contents((TEMPLATES,)), _site_key(_date(()))))


def _site_key(date: int | None) -> str:
    """Digest of all that HTML depends on beside the docs."""
    sources = fingerprint.of_contents((THEME, SITE_SRC, MKDOCS))
    return fingerprint.of_parts((sources, versions.code(), versions.rendering(), date, os.environ.get(mkdocs_build.ADDRESS)))


def _evaluate(
    new: Mapping[evaluate.Task, str | None], store: ResultStore, local: Executor, executors: Executors, report: Report
) -> dict[evaluate.Task, Outcome]:
    """The outcomes of new tasks, from the cluster where there is one."""
    if not new:
        return {}
    with executors.cluster() if executors.cluster else nullcontext(local) as executor:
        return jobs.run(new, store, executor, report)


def _write_docs(atlas: Atlas, folder: Path, artifacts: ArtifactCache, report: Report) -> bool:
    """Write the docs; whether they have changed."""
    report(jobs.Stage("comparisons"))
    last_build.forget(folder)
    with threadpool_limits(1):  # More threads would change the last digits, and with them the bytes.
        every_page = _pages(atlas, artifacts)
        report(jobs.Stage("pages"))
        return write.write(render.render(atlas, every_page, TEMPLATES, SITE_SRC, artifacts.draw), folder / "docs")


def _pages(atlas: Atlas, artifacts: ArtifactCache) -> list[Page]:
    """Every page; their figures are drawn meanwhile."""
    every_page: list[Page] = []
    for kind in discovery.load(pages, PageKind):
        of_kind = kind.pages(atlas)
        artifacts.start(figure for page in of_kind for figure in page.figures)
        every_page += of_kind
    return every_page


def _atlas(outcomes: tuple[Outcome, ...], date: int | None, artifacts: ArtifactCache) -> Atlas:
    day = None if date is None else f"{datetime.fromtimestamp(date, UTC):%Y-%m-%d}"
    given = os.environ.get(mkdocs_build.ADDRESS)
    address = f"{given.rstrip('/')}/" if given else None
    schemes = evaluate.all_schemes()
    by_default = artifacts.submit("families", families.make)
    named = names.named(outcomes, schemes)
    return Atlas(named, evaluate.all_analyses(), schemes, versions.all_versions(), day, address, artifacts.submit, by_default)


def _date(outcomes: Sequence[Outcome]) -> int | None:
    """The date of a build, in seconds since 1970: SOURCE_DATE_EPOCH; else that of the newest revision that was read; else the program's.

    Folders have none: the times of their files differ from copy to copy. None where nothing is known.
    """
    if (given := versions.given_time()) is not None:
        return given
    read = [date for outcome in outcomes if outcome.status == "ok" and (date := outcome.checkpoint.committed) is not None]
    return max(read) if read else versions.commit_time()


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    statuses = Counter(outcome.status for outcome in outcomes)
    return {status: statuses[status] for status in STATUSES}
