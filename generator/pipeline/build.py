"""One build: from tasks to a site, or nothing at all where nothing has changed since the last."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from threadpoolctl import threadpool_limits

from generator.cache import fingerprint
from generator.contracts import ENDINGS, Atlas, Command, Outcome, Page, PageKind, discovery, names
from generator.pipeline import (
    evaluate,
    jobs,
    known,
    last_build,
    models,
    plan,
    precomputed,
    runs,
    use,
    versions,
)
from generator.pipeline.artifact_cache import ArtifactCache
from generator.pipeline.executor import Executor, Executors
from generator.pipeline.find import all_schemes
from generator.pipeline.history import FOLDER as RELEASES
from generator.pipeline.history import History
from generator.pipeline.keys import Keys, notes_of
from generator.pipeline.plan import Task
from generator.pipeline.result_store import ResultStore
from generator.site import pages, render, write
from generator.site.html import mkdocs_build
from generator.site.materials import OURS, Materials

THEME = "theme"  # A folder of templates: those of mkdocs, from which HTML is made.
OnEvent = Callable[[jobs.Event | jobs.JobStage | jobs.Altered], None]


@dataclass(frozen=True)
class BuildSpec:
    """What to build.

    folder: of docs, site, store and history; fresh: evaluate, draw and write everything, even what
        has not changed; commands: for the guide
    listed: when the list was last changed, in seconds since 1970; None where that is not known
    shrinks: whether a site may be published that lacks many checkpoints of the former one
    only: slugs of rows to evaluate, where not all are: of the others the site shows what earlier
        builds read
    """

    tasks: Sequence[Task]
    folder: Path
    materials: Materials = OURS
    fresh: bool = False
    commands: tuple[Command, ...] = ()
    listed: int | None = None
    shrinks: bool = False
    only: frozenset[str] = frozenset()


def build(spec: BuildSpec, executors: Executors, on_event: OnEvent) -> Mapping[str, int]:
    """Docs and site; the number of checkpoints by their ending.

    errors: RefusedError, also where the site would lack many checkpoints of the former one
    """
    tasks, folder = spec.tasks, spec.folder
    store = ResultStore(folder / "store")
    reusable = None if spec.fresh else store
    keys, by_key = _keys(tasks, store)
    unreached = _stale_if_unreached(
        jobs.unreached(by_key, reusable) | jobs.left_out(by_key, spec.only, keys, store),
        keys,
        reusable,
    )
    inputs = _inputs(spec, by_key, unreached)
    previous = last_build.LastBuild() if spec.fresh else _previous(folder, on_event)
    if inputs is not None and inputs == previous.inputs:
        return previous.counts

    outcomes = jobs.ended(unreached, on_event) | (
        jobs.stored(by_key, reusable, on_event) if reusable else {}
    )
    new = {task: key for task, key in by_key.items() if task not in outcomes}

    # With a cluster, processes of this machine only draw.
    here = () if executors.cluster else tuple(new)
    with executors.local(len(here), any(map(plan.may_need_models, here))) as local:
        outcomes |= _stale_if_unreached(
            _evaluate(new, store, local, executors, on_event), keys, reusable
        )
        by_key |= {task: outcomes[task].key or None for task in new}
        atlas_outcomes = tuple(outcomes[task] for task in tasks)
        date = _date(atlas_outcomes, spec.listed)
        artifacts = ArtifactCache(store.drawings, versions.code(), spec.fresh, local)
        history, docs_changed = _write_docs(spec, atlas_outcomes, date, artifacts, on_event)
    site = _write_site(
        spec,
        date,
        None if docs_changed else previous.site,
        on_event,
    )

    history.save()  # After the site, which may fail; before the inputs, which have the releases.
    counts = _counts(atlas_outcomes)
    keys.note({task: one.key for task, one in outcomes.items() if one.ending == "ok"})
    last_build.record(
        folder,
        # The keys of new tasks are known only now.
        _inputs(spec, by_key, unreached) if _are_settled(outcomes, unreached) else None,
        site,
        counts,
    )
    store.limit(
        {outcome.key for outcome in outcomes.values() if outcome.key},
        artifacts.used | notes_of(tasks),
    )
    return counts


def _previous(folder: Path, on_event: OnEvent) -> last_build.LastBuild:
    """The last build; what others have changed of it is reported."""
    previous, altered = last_build.read(folder)
    if altered:
        on_event(jobs.Altered(altered))
    return previous


def _stale_if_unreached(
    outcomes: Mapping[Task, Outcome], keys: Keys, reusable: ResultStore | None
) -> dict[Task, Outcome]:
    """``outcomes``, with what earlier builds put into the store in place of those that were not
    reached.
    """
    return {
        task: jobs.stale_if_unreached(task, outcome, keys, reusable) if reusable else outcome
        for task, outcome in outcomes.items()
    }


def _are_settled(outcomes: Mapping[Task, Outcome], unreached: Mapping[Task, Outcome]) -> bool:
    """Whether no other evaluation of the same would end otherwise."""
    return all(outcome.ending == "ok" or task in unreached for task, outcome in outcomes.items())


def _keys(tasks: Sequence[Task], store: ResultStore) -> tuple[Keys, dict[Task, str | None]]:
    """The store's key of each task, None where only its evaluation shows it; and what knows
    them.
    """
    digests = fingerprint.Digests(store.folder / "digests")
    keys = Keys(store.drawings, digests.of, versions.evaluation())
    by_key = {task: keys.of(task) for task in tasks}
    digests.save()
    return keys, by_key


def _inputs(
    spec: BuildSpec,
    by_key: Mapping[Task, str | None],
    unreached: Mapping[Task, Outcome],
) -> str | None:
    """Digest of all that a build depends on; None where that cannot be known before it."""
    if any(key is None and task not in unreached for task, key in by_key.items()):
        return None
    reasons = [(outcome.reason, outcome.stale, outcome.key) for outcome in unreached.values()]
    rows, releases = [task.checkpoint for task in by_key], spec.folder / RELEASES
    contents = fingerprint.of_contents(
        (*spec.materials.templates, *((releases,) if releases.is_dir() else ()))
    )
    return fingerprint.of_parts(
        (
            rows,
            list(by_key.values()),
            reasons,
            contents,
            _site_key(_date((), spec.listed), spec.materials),
        )
    )


def _site_key(date: int | None, materials: Materials) -> str:
    """Digest of all that HTML depends on beside the docs."""
    themes = [folder / THEME for folder in materials.templates if (folder / THEME).is_dir()]
    sources = fingerprint.of_contents((*themes, *materials.written, *materials.settings))
    return fingerprint.of_parts(
        (
            sources,
            versions.code(),
            versions.rendering(),
            date,
            mkdocs_build.address(materials.settings),
            versions.of_renderer("mkdocs"),
        )
    )


def _evaluate(
    new: Mapping[Task, str | None],
    store: ResultStore,
    local: Executor,
    executors: Executors,
    on_event: OnEvent,
) -> dict[Task, Outcome]:
    """The outcomes of new tasks, from the cluster where there is one."""
    if not new:
        return {}
    with executors.cluster() if executors.cluster else nullcontext(local) as executor:
        return jobs.run(new, versions.evaluation(), store, executor, on_event)


def _write_docs(
    spec: BuildSpec,
    outcomes: tuple[Outcome, ...],
    date: int | None,
    artifacts: ArtifactCache,
    on_event: OnEvent,
) -> tuple[History, bool]:
    """Write the docs; what they tell of former builds, and whether they have changed.

    errors: RefusedError
    """
    atlas = replace(_atlas(outcomes, date, artifacts, spec.materials), commands=spec.commands)
    history = History.of(spec.folder, atlas)
    if not spec.shrinks:
        history.check_complete()
    on_event(jobs.JobStage("comparisons"))
    last_build.forget(spec.folder)
    # More threads would change the last digits, and with them the bytes.
    with threadpool_limits(1):
        every_page = _pages(history.atlas, artifacts)
        on_event(jobs.JobStage("pages"))
        return history, write.write(
            render.render(history.atlas, every_page, spec.materials, artifacts.draw),
            spec.folder / "docs",
        )


def _write_site(
    spec: BuildSpec,
    date: int | None,
    former: str | None,
    on_event: OnEvent,
) -> str:
    """Make HTML of the docs, unless all it depends on beside them has the digest ``former``; that
    digest as it is now.
    """
    site = _site_key(date, spec.materials)
    if site != former:
        on_event(jobs.JobStage("mkdocs"))
        mkdocs_build.build(
            spec.materials.settings, spec.folder / "docs", spec.folder / "site", date
        )
    return site


def _pages(atlas: Atlas, artifacts: ArtifactCache) -> list[Page]:
    """Every page; their figures are drawn meanwhile."""
    every_page: list[Page] = []
    for kind in discovery.load(pages, PageKind):
        of_kind = kind.pages(atlas)
        artifacts.start(figure for page in of_kind for figure in page.figures)
        every_page += of_kind
    return every_page


def _atlas(
    outcomes: tuple[Outcome, ...], date: int | None, artifacts: ArtifactCache, materials: Materials
) -> Atlas:
    day = None if date is None else f"{datetime.fromtimestamp(date, UTC):%Y-%m-%d}"
    address = mkdocs_build.address(materials.settings)
    schemes = all_schemes()
    published = artifacts.submit(precomputed.MODELS, models.make)
    alone, training = runs.split(outcomes, schemes)
    alone = known.described(alone, artifacts.submit)
    named, libraries = names.named(alone, schemes), versions.all_versions()
    return Atlas(
        named,
        evaluate.all_analyses(),
        schemes,
        libraries,
        day,
        address,
        artifacts.submit,
        published,
        runs=training,
        uses=use.all_uses(),
    )


def _date(outcomes: Sequence[Outcome], listed: int | None) -> int | None:
    """The date of a build, in seconds since 1970: SOURCE_DATE_EPOCH; else that of the newest
    revision that was read; else that of the list; else the program's.

    Folders have none: the times of their files differ from copy to copy. None where nothing is
    known.
    """
    if (given := versions.given_time()) is not None:
        return given
    read = [
        date
        for outcome in outcomes
        if outcome.status == "ok" and (date := outcome.checkpoint.committed) is not None
    ]
    return max(read, default=listed if listed is not None else versions.commit_time())


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    endings = Counter(outcome.ending for outcome in outcomes)
    return {ending: endings[ending] for ending in ENDINGS}
