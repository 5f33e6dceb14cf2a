"""The command that builds the site."""

from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from generator.cli.application import FAILED, OK, Config, Output, app, reporting_errors
from generator.cli.deferral import deferred
from generator.cli.terminal import Terminal
from generator.errors import MOST_LOST, RefusedError
from generator.pipeline import local_pool

with deferred():
    from generator import libraries, text
    from generator.checkpoints import list_file
    from generator.cli import beside, command_records, progress
    from generator.pipeline import build as builds
    from generator.pipeline import (
        chosen_keys,
        copies,
        dask_pool,
        executor,
        extensions,
        publication,
        versions,
    )
    from generator.pipeline import jobs as rows
    from generator.reading import plan
    from generator.site import materials, write
    from generator.site.history import former_site, releases, sentences

MOST_CAUSES = 10  # of changes, listed at the end of a build
if TYPE_CHECKING:
    from generator.contracts import Checkpoint
    from generator.contracts.list_settings import ListSettings

LIMITS = local_pool.Limits()
out = Terminal(outlives_reader=True)


Jobs = Annotated[
    int,
    typer.Option(
        min=1,
        help=f"Number of checkpoints processed at once, each within {LIMITS}.",
        show_default="one for each processor",
    ),
]
Offline = Annotated[bool, typer.Option("--offline", help="Contact no server; use only the cache.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 1 also if a checkpoint could not be reached.")
]
Fresh = Annotated[
    bool,
    typer.Option(
        "--fresh",
        help=(
            "Measure, draw and write every entry anew, and show no results of earlier builds for"
            " checkpoints that are not reached."
        ),
    ),
]
AllowShrink = Annotated[
    bool,
    typer.Option(
        "--allow-shrink",
        help=(
            f"Write the site even if more than {MOST_LOST:.0%} of its former checkpoints"
            " were not reached."
        ),
    ),
]
Log = Annotated[
    Path | None,
    typer.Option("--log", help="Write every event to this file, one JSON object per line."),
]
Published = Annotated[
    str | None,
    typer.Option(
        "--published",
        help="Address of the published site, whose history is continued.",
    ),
]
Only = Annotated[
    str | None,
    typer.Option(
        "--only",
        help=(
            "Measure only this checkpoint, named by the last part of its page's address. For all"
            " others, the site shows the results of earlier builds."
        ),
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", help="Send the work to the dask.distributed scheduler at tcp://host:port."
    ),
]


def build(  # noqa: PLR0913, PLR0917 (one for each option)
    config_file: Config = Path("checkpoints.yml"),
    output: Output = Path("build"),
    jobs: Jobs = local_pool.CORES,
    offline: Offline = False,
    strict: Strict = False,
    fresh: Fresh = False,
    allow_shrink: AllowShrink = False,
    log: Log = None,
    published_at: Published = None,
    only: Only = None,
    cluster: Cluster = None,
) -> None:
    """Measure and draw every checkpoint of the list, and build the site.

    Exit codes: 0 built; 1 built, but a checkpoint failed; 2 refused or interrupted, with the last
    site left in place.
    """
    with reporting_errors("; the last site remains"):
        libraries.need_site("build")
        remote = None
        if cluster is not None:
            address = dask_pool.scheduler(cluster)
            remote = partial(dask_pool.cluster, address=address, code=versions.evaluation())
        checkpoints, settings = read_list(config_file)
        with (
            write.owned(output) as folder,
            progress.reporting(
                out, len(checkpoints), log, progress.Build(output / "site" / "index.html", jobs)
            ) as reporter,
        ):
            if published_at is not None:
                former_site.bring_releases(published_at, folder / publication.FOLDER)
            executors = executor.Executors(partial(local_pool.processes, jobs=jobs), remote)
            tasks = plan.plan(checkpoints, offline)
            chosen = _chosen(tasks, only, fresh)
            reporter.expect(len(tasks))
            spec = builds.BuildSpec(
                tasks,
                folder,
                materials.beside(config_file.parent),
                fresh,
                command_records.commands(app),
                versions.commit_time_of(config_file),
                allow_shrink,
                chosen,
                copies.pairs(tasks, offline),
                settings,
                published_at or "",
            )
            n_former = len(releases.read(folder / publication.FOLDER))
            counts = builds.build(spec, executors, reporter.report)
            summary = reporter.close(counts)
        for line in summary:
            out.print(line)
        _print_causes(n_former, output)
    raise typer.Exit(
        FAILED if counts["failed"] or (strict and counts["stale"] + counts["not reached"]) else OK
    )


def read_list(config_file: Path) -> "tuple[Sequence[Checkpoint], ListSettings]":
    """The checkpoints of a list and what it says of the whole; the extensions beside it are found
    from now on.

    errors: RefusedError
    """
    beside.own.use(config_file.parent)
    if beside.own.digest():  # Else they need not be loaded.
        extensions.check()
    checkpoints = list_file.load(config_file, plan.all_sources())
    settings = list_file.read_settings(config_file)
    chosen_keys.check(config_file, settings, checkpoints)
    return checkpoints, settings


def _chosen(tasks: "Sequence[plan.Task]", only: str | None, fresh: bool) -> frozenset[str]:
    """errors: RefusedError where no row has this slug, or nothing may come from the store"""
    if only is None:
        return frozenset()
    if fresh:
        raise RefusedError(f"--only {only}: found --fresh too; expected one of the two")
    known = sorted(set[str]().union(*map(rows.slugs_of, tasks)))
    if only not in known:
        close = get_close_matches(only, known, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else f", such as {known[0]}"
        raise RefusedError(f"--only {only}: no such checkpoint in the list; expected one{hint}")
    return frozenset({only})


def _print_causes(n_former: int, output: Path) -> None:
    """Print why the release of a build differs from the last of ``n_former``, if it has made one;
    only the first causes.
    """
    every = releases.read(output / publication.FOLDER)
    if not 0 < n_former < len(every):
        return
    found = releases.steps(every)[0].causes
    for cause in found[:MOST_CAUSES]:
        out.print(f"{'changed':>11}  {sentences.line(cause)}")
    if len(found) > MOST_CAUSES:
        out.print(f"{'':>11}  and {text.plural(len(found) - MOST_CAUSES, 'more cause')}")
