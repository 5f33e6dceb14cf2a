"""One build: from tasks to a site, or nothing at all where nothing has changed since the last."""

import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

from threadpoolctl import threadpool_limits

from generator.cache import fingerprint
from generator.contracts import (
    ENDINGS,
    Analysis,
    Atlas,
    Checkpoint,
    Command,
    Guest,
    Outcome,
    Page,
    discovery,
    names,
)
from generator.contracts.list_settings import ListSettings
from generator.pipeline import (
    copies,
    evaluate,
    failures,
    jobs,
    last_build,
    not_reached,
    publication,
    runs,
    use,
    versions,
)
from generator.pipeline.artifacts import Artifacts
from generator.pipeline.executor import Executor, Executors
from generator.pipeline.store import Store
from generator.reading import lint, plan
from generator.reading.find import all_schemes
from generator.reading.plan import Task
from generator.site import render, write
from generator.site.html import mkdocs_build
from generator.site.html.converted import Converted
from generator.site.kinds import every_kind, of_guests
from generator.site.materials import OURS, Materials

OnEvent = Callable[[jobs.Event | jobs.JobStage | jobs.Models], None]
# What ends a build, whatever was being made.
OF_NO_ROW = (OSError, MemoryError, BrokenExecutor)
# Of a processor, for all measures of a model: an estimate from models of 1 to 135 million weights.
SECONDS_OF_A_WEIGHT = 1.5e-6


@dataclass(frozen=True)
class BuildSpec:
    """What to build.

    folder: of docs, site, store and history; fresh: evaluate, draw and write everything, even what
        has not changed; commands: for the guide
    listed: when the list was last changed, in seconds since 1970; None where that is not known
    shrinks: whether a site may be published that lacks many checkpoints of the former one
    settings: what the list says of the whole atlas
    pairs: copies among the rows, with their originals
    published: address of the site whose history goes on; "" where the folder has it
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
    pairs: tuple[copies.CopyPair, ...] = ()
    settings: ListSettings = field(default_factory=ListSettings)
    published: str = ""


def build(spec: BuildSpec, executors: Executors, on_event: OnEvent) -> Mapping[str, int]:
    """Docs and site; the number of checkpoints by their ending.

    errors: RefusedError, also where the site would lack many checkpoints of the former one
    """
    this = _Build(spec, on_event)
    none = last_build.LastBuild()
    previous = none if spec.fresh else last_build.read(spec.folder, this.digests)
    if previous.inputs and previous.inputs == this.inputs():
        this.digests.save()
        return previous.counts

    outcomes = this.finished()
    new = [task for task in spec.tasks if task not in outcomes]
    missing = this.missing(outcomes)
    cluster = executors.cluster if new or missing else None
    # With a cluster, processes of this machine only draw.
    here = () if cluster else (*new, *missing)
    with (
        executors.local(len(here), any(map(plan.may_need_models, here))) as local,
        cluster() if cluster else nullcontext(local) as executor,
    ):
        outcomes |= this.evaluated(new, executor)
        artifacts = Artifacts(this.store.blobs, versions.code(), spec.fresh, local)
        if missing := this.missing(outcomes):
            # A site is there early; its rows have their measures in the next one.
            outcomes, _ = this.write_docs(outcomes, artifacts)
            begun = jobs.start(missing, this.store, executor)
            this.write_site(outcomes)
            on_event(_models(missing, outcomes))
            outcomes |= this.keyed(jobs.collect(begun, this.store, executor, on_event))
        outcomes, history = this.write_docs(outcomes, artifacts)
    this.write_site(outcomes)

    history.save()  # After the site, which may fail; before the inputs, which have the releases.
    counts = _counts(this.rows(outcomes))
    this.remember(outcomes, artifacts.used, counts)
    return counts


class _Build:
    """A build under way.

    keys: of the stored outcomes of rows and of the measures of their models, None for a task that
        has none; unevaluated: outcomes of rows that need no evaluation
    """

    def __init__(self, spec: BuildSpec, on_event: OnEvent) -> None:
        self.spec, self.on_event = spec, on_event
        self.store = store = Store(spec.folder / "store", versions.evaluation())
        self.converted = Converted(store.blobs, versions.code())
        self.digests = fingerprint.Digests(store.blobs)
        # A site takes the place of the former one before the build has finished.
        self.compared = publication.read_compared(store.blobs)
        self.keys = {task: self.current(task) for task in spec.tasks}
        self.unevaluated = jobs.without_evaluation(self.keys, spec.only, store, spec.fresh)
        for task in [task for task in spec.tasks if task not in self.unevaluated]:
            self.keys |= {measure: self.current(measure) for measure in use.measures(task)}

    def current(self, task: Task) -> str | None:
        """The key of the stored outcome of a task; None where it has none, or none counts."""
        return None if self.spec.fresh else self.store.current(task, self.digests.of)

    def inputs(self) -> str | None:
        """Digest of all that a build depends on; None where that cannot be known before it."""
        if any(key is None and task not in self.unevaluated for task, key in self.keys.items()):
            return None
        rows, materials = self.spec.tasks, self.spec.materials
        releases = self.spec.folder / publication.FOLDER
        read = (*materials.templates, *materials.written, *materials.settings)
        measures = [measure for task in rows for measure in use.measures(task)]
        return fingerprint.of_parts(
            (
                [(task.checkpoint, self.keys.get(task)) for task in (*rows, *measures)],
                [(one.reason, one.stale, one.key) for one in self.unevaluated.values()],
                [(pair.name, pair.original.checkpoint) for pair in self.spec.pairs],
                fingerprint.of_contents((*read, *((releases,) if releases.is_dir() else ()))),
                versions.code(),
                self.spec.settings,
                _date((), self.spec.listed),
                mkdocs_build.address(materials.settings),
            )
        )

    def finished(self) -> dict[Task, Outcome]:
        """The outcomes of rows that need no evaluation, reported, and of their measures."""
        keys = {task: self.keys[task] for task in self.spec.tasks}
        rows = jobs.ended(self.unevaluated, self.on_event) | jobs.stored(
            keys, self.store, self.on_event
        )
        return self.with_measures(rows)

    def with_measures(self, rows: dict[Task, Outcome]) -> dict[Task, Outcome]:
        """These outcomes, and those of the measures of their models that the store has."""
        measures = [measure for row, one in rows.items() for measure in _measures(row, one)]
        keys = {measure: self.current(measure) for measure in measures}
        return rows | jobs.stored(keys, self.store, self.on_event)

    def evaluated(self, new: Sequence[Task], executor: Executor) -> dict[Task, Outcome]:
        """The outcomes of rows that have none yet, and of their measures as far as known."""
        outcomes = self.keyed(jobs.run(new, self.store, executor, self.on_event))
        if not self.spec.fresh:
            outcomes = {
                task: jobs.stale_if_unreached(task, outcome, self.store)
                for task, outcome in outcomes.items()
            }
        return self.with_measures(outcomes)

    def keyed(self, outcomes: dict[Task, Outcome]) -> dict[Task, Outcome]:
        """New outcomes, whose keys are noted."""
        self.keys |= {task: outcome.key or None for task, outcome in outcomes.items()}
        return outcomes

    def missing(self, outcomes: Mapping[Task, Outcome]) -> list[Task]:
        """The measures of models that are still to be made, those of the largest model first."""
        rows = {task: one for task, one in outcomes.items() if not one.stale and not task.measure}
        largest_first = sorted(rows, key=lambda task: -_n_weights(rows[task]))
        return [
            measure
            for task in largest_first
            for measure in _measures(task, rows[task])
            if measure not in outcomes
        ]

    def rows(self, outcomes: Mapping[Task, Outcome]) -> tuple[Outcome, ...]:
        """The outcomes of all rows, each with what is known of its model, in their order."""
        return tuple(
            use.with_measures(
                outcomes[task],
                {
                    measure.measure: outcomes[measure]
                    for measure in _measures(task, outcomes[task])
                    if measure in outcomes
                },
            )
            for task in self.spec.tasks
        )

    def write_docs(
        self, outcomes: dict[Task, Outcome], artifacts: Artifacts
    ) -> tuple[dict[Task, Outcome], publication.History]:
        """Write the Markdown of all pages, and all other files; the outcomes as these show them,
        where rows fail whose pages cannot be made.

        errors: RefusedError where the site would lack many checkpoints of the former one
        """
        history = self.history(outcomes, artifacts)
        last_build.forget(self.spec.folder)
        try:
            self.write_pages(history.atlas, artifacts)
        except OF_NO_ROW:
            raise
        # Whatever a row holds, the others are built.
        except Exception:
            if not (unfit := self.unfit(outcomes, artifacts)):
                raise
            outcomes = outcomes | unfit
            history = self.history(outcomes, artifacts)
            self.write_pages(history.atlas, artifacts)
        return outcomes, history

    def history(
        self, outcomes: Mapping[Task, Outcome], artifacts: Artifacts
    ) -> publication.History:
        """errors: RefusedError where the site would lack many checkpoints of the former one"""
        measuring = frozenset(task.checkpoint.slug for task in self.missing(outcomes))
        atlas = replace(self.atlas(self.rows(outcomes), artifacts), measuring=measuring)
        history = publication.History.of(
            self.spec.folder, atlas, self.spec.published, self.compared
        )
        publication.store_compared(self.store.blobs, self.compared)
        if not self.spec.shrinks:
            history.check_complete()
        return history

    def atlas(self, rows: tuple[Outcome, ...], artifacts: Artifacts) -> Atlas:
        return _atlas(rows, _date(rows, self.spec.listed), artifacts, self.spec)

    def write_pages(self, atlas: Atlas, artifacts: Artifacts) -> None:
        self.on_event(jobs.JobStage("comparisons"))
        # More threads would change the last digits, and with them the bytes.
        with threadpool_limits(1):
            every_page, absent = _pages(atlas, artifacts)
            self.on_event(jobs.JobStage("pages"))
            tree = render.render(atlas, every_page, self.spec.materials, artifacts.draw, absent)
            write.write(tree, self.spec.folder / "docs")

    def unfit(self, outcomes: Mapping[Task, Outcome], artifacts: Artifacts) -> dict[Task, Outcome]:
        """The outcomes of rows, now failed, of which even alone no site can be made; none where
        that is so of all of several, for a reason that is not theirs.

        errors: those of ``OF_NO_ROW``
        """
        readable = [
            (task, row)
            for task, row in zip(self.spec.tasks, self.rows(outcomes), strict=True)
            if row.status == "ok"
        ]
        found = {}
        for task, row in readable:
            try:
                with threadpool_limits(1):
                    alone = self.atlas((row,), artifacts)
                    every_page, absent = _pages(alone, artifacts)
                    tree = render.render(
                        alone, every_page, self.spec.materials, artifacts.draw, absent
                    )
                    for path in tree:
                        tree[path]
            except OF_NO_ROW:
                raise
            except Exception as error:  # noqa: BLE001
                found[task] = failures.without_pages(task.checkpoint, error)
                said = "".join(traceback.format_exception(error))
                self.on_event(jobs.ended_late(task, found[task], said))
        return found if len(found) < max(len(readable), 2) else {}

    def write_site(self, outcomes: Mapping[Task, Outcome]) -> None:
        """Make HTML of the docs."""
        self.on_event(jobs.JobStage("mkdocs"))
        docs, site = (self.spec.folder / name for name in write.SWAPPED)
        date = _date(self.rows(outcomes), self.spec.listed)
        materials, settings = self.spec.materials, self.spec.settings
        converted = None if self.spec.fresh else self.converted
        mkdocs_build.build(
            materials.settings, docs, site, date, materials.own_pages, settings, converted
        )

    def remember(
        self, outcomes: Mapping[Task, Outcome], used: set[str], counts: Mapping[str, int]
    ) -> None:
        """Write down what the next build can rely on; no inputs where another evaluation of these
        rows might end otherwise.
        """
        settled = all(
            one.ending == "ok" or task in self.unevaluated for task, one in outcomes.items()
        )
        inputs = self.inputs() if settled else None
        last_build.record(self.spec.folder, self.digests, inputs, counts)
        self.digests.save()
        self.store.limit(outcomes, used | self.converted.used)
        publication.store_compared(self.store.blobs, {})


def _measures(row: Task, outcome: Outcome) -> list[Task]:
    """The measures of the model of a row that was read, of that which was read."""
    if outcome.status != "ok":
        return []
    return use.measures(replace(row, checkpoint=outcome.checkpoint) if outcome.stale else row)


def _n_weights(outcome: Outcome) -> int:
    return sum(tensor.n_stored for tensor in outcome.inventory)


def _models(missing: Sequence[Task], outcomes: Mapping[Task, Outcome]) -> jobs.Models:
    rows = {replace(task, measure="") for task in missing}
    seconds = SECONDS_OF_A_WEIGHT * sum(_n_weights(outcomes[row]) for row in rows)
    return jobs.Models(len(rows), len(missing), seconds)


def _pages(atlas: Atlas, artifacts: Artifacts) -> tuple[list[Page], list[str]]:
    """Every page, whose figures are drawn meanwhile, and the places of kinds without a page."""
    every_page: list[Page] = []
    absent: list[str] = []
    absent_guests = {kind.key for kind in of_guests()}.difference(
        kind.key for guest in atlas.guests for kind in guest.kinds
    )
    for kind in every_kind():
        is_made = kind.key not in absent_guests and atlas.settings.pages.takes(kind.key)
        of_kind = kind.pages(atlas) if is_made else []
        artifacts.start(figure for page in of_kind for figure in page.figures)
        every_page += of_kind
        absent += [] if of_kind else kind.places
    left_out = {one.key for one in evaluate.all_analyses()}.difference(
        one.key for one in atlas.analyses
    )
    return every_page, [*absent, *(f"analyses/{key}.md" for key in sorted(left_out))]


def _atlas(
    outcomes: tuple[Outcome, ...], date: int | None, artifacts: Artifacts, spec: BuildSpec
) -> Atlas:
    day = None if date is None else f"{datetime.fromtimestamp(date, UTC):%Y-%m-%d}"
    schemes = all_schemes()
    settings = spec.settings
    guests = tuple(_guests(settings, [one.checkpoint for one in outcomes], artifacts))
    alone, training = runs.split(outcomes, schemes)
    alone = not_reached.described(alone, artifacts.submit)
    alone = copies.compared(alone, spec.pairs, artifacts.submit)
    return Atlas(
        names.named(alone, schemes),
        _taken(evaluate.all_analyses(), settings),
        schemes,
        versions.all_versions(),
        day,
        mkdocs_build.address(spec.materials.settings),
        artifacts.submit,
        commands=spec.commands,
        runs=training,
        measures=_taken(use.all_measures(), settings),
        rules=lint.all_rules(),
        guests=guests,
        settings=settings,
    )


def _taken(every: Sequence[Analysis], settings: ListSettings) -> tuple[Analysis, ...]:
    return tuple(one for one in every if settings.analyses.takes(one.key))


def _guests(
    settings: ListSettings, rows: Sequence[Checkpoint], artifacts: Artifacts
) -> Iterator[Guest]:
    """The guests of a site, each with what it has on the models that the list asks for; without
    those that have nothing.
    """
    ids = frozenset(filter(None, chain.from_iterable((row.model, row.original) for row in rows)))
    for guest in discovery.guests():
        if settings.models == "all":
            yield _received(guest, artifacts)
        elif settings.models == "listed" and ids:
            received = _received(guest, artifacts)
            if (table := guest.of_models(received.table(), ids)) is not None:
                yield replace(received, table=partial(bytes, table))


def _received(guest: Guest, artifacts: Artifacts) -> Guest:
    """A guest whose table is the shipped one, or begins to be made."""
    shipped = guest.shipped()
    table = artifacts.submit(guest.key, guest.table) if shipped is None else lambda: shipped
    return replace(guest, table=table)


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
