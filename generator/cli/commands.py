"""The commands: the only code that prints or ends the program."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from generator import PROGRAM
from generator.checkpoints import list_edit, list_file, list_row
from generator.checkpoints.hub import revisions
from generator.cli import command_records, inspection, named, progress, starter
from generator.cli.terminal import Terminal
from generator.contracts import Checkpoint, EncodingRecord, Outcome, names
from generator.errors import AtlasError, RefusedError, RowError
from generator.history import published, words
from generator.history.changes import changes
from generator.pipeline import build as builds
from generator.pipeline import (
    dask_pool,
    evaluate,
    families,
    history,
    jobs,
    local_pool,
    models,
    plan,
    precomputed,
    versions,
    worker,
)
from generator.pipeline.executor import Executor, Executors
from generator.pipeline.find import all_schemes
from generator.pipeline.inspect import inspect as inspect_task
from generator.resources import PACKAGE
from generator.site import materials, section, write
from generator.site.data import files as data_files
from generator.site.html import mkdocs_build
from generator.site.pages import checked
from generator.text import plural

OK, FAILED, REFUSED = 0, 1, 2
EXIT_CODES = (
    "0 done; 1 a checkpoint could not be read or reached; 2 refused: mistakes in the list or an"
    " option, a folder that may not be used, a full disk."
)
MOST_CHANGES = 10  # listed at the end of a build
LIMITS = local_pool.Limits()
T = TypeVar("T")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
)
out, err = Terminal(), Terminal(stderr=True)

Config = Annotated[
    Path, typer.Option("--config", help="The list of checkpoints.", show_default=True)
]
Output = Annotated[
    Path,
    typer.Option(
        "--output", help="Folder for docs and site; created if missing, and used for nothing else."
    ),
]


@contextmanager
def _reporting_errors(consequence: str = "") -> Iterator[None]:
    """Print problems that a user can act on once, without a traceback, and exit.

    consequence: of an error of the disk, or of Ctrl+C
    """
    try:
        yield
    except RefusedError as error:
        for problem in error.problems:
            err.print(problem)
        raise typer.Exit(REFUSED) from None
    except AtlasError as error:
        err.print(str(error))
        raise typer.Exit(FAILED) from None
    except OSError as error:
        err.print(f"{error.filename or 'disk'}: {error.strerror or error}{consequence}")
        raise typer.Exit(REFUSED) from None
    except KeyboardInterrupt:
        err.print(f"interrupted{consequence}")
        raise typer.Exit(REFUSED) from None


@app.command()
def build(  # noqa: PLR0913, PLR0917 (one for each option)
    config_file: Config = Path("checkpoints.yml"),
    output: Output = Path("build"),
    jobs: Annotated[
        int,
        typer.Option(
            min=1,
            help=f"Checkpoints processed at once, each within {LIMITS}.",
            show_default="one for each processor",
        ),
    ] = local_pool.CORES,
    offline: Annotated[
        bool, typer.Option("--offline", help="Contact no server; use only the cache.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 also if a checkpoint was not reached now.")
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help=(
                "Rebuild everything, even what has not changed; show nothing that only an earlier"
                " build reached."
            ),
        ),
    ] = False,
    allow_shrink: Annotated[
        bool,
        typer.Option(
            "--allow-shrink",
            help=(
                f"Publish even where more than {history.MOST_LOST:.0%} of the former checkpoints"
                " were not reached."
            ),
        ),
    ] = False,
    log: Annotated[
        Path | None,
        typer.Option("--log", help="Write every event to this file, one JSON object a line."),
    ] = None,
    published_at: Annotated[
        str | None,
        typer.Option(
            "--published",
            help="Continue the history of the site that is published at this address.",
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            "--section",
            help=(
                "Write the pages into this folder too, for the docs of another site that mkdocs"
                " builds."
            ),
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            help=(
                "Measure this checkpoint alone, by the last part of its page's address; of all"
                " others the site shows what earlier builds read."
            ),
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster", help="Run the work on the dask.distributed scheduler at tcp://host:port."
        ),
    ] = None,
) -> None:
    """Measure and draw every checkpoint of the list and build the site.

    Exit codes: 0 built; 1 built, but a checkpoint failed; 2 refused or aborted, with the previous
    site left in place.
    """
    with _reporting_errors("; the previous site remains"):
        remote = None if cluster is None else _cluster_workers(dask_pool.scheduler(cluster))
        if into is not None:
            section.check(into, output)
        checkpoints = list_file.load(config_file, plan.all_sources())
        with (
            write.owned(output) as folder,
            progress.reporting(out, len(checkpoints), log) as reporter,
        ):
            if published_at is not None:
                published.bring_releases(published_at, folder / history.FOLDER)
            executors = Executors(partial(local_pool.processes, jobs=jobs), remote)
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
            )
            former = published.built(output)
            counts = builds.build(spec, executors, reporter.report)
            if into is not None:
                section.write_section(
                    folder / "docs",
                    folder / "site",
                    into,
                    mkdocs_build.address(spec.materials.settings),
                )
            summary = reporter.close(counts, output / "site" / "index.html")
        out.print(summary)
        _print_changes(former, output)
    raise typer.Exit(
        FAILED if counts["failed"] or (strict and counts["stale"] + counts["not reached"]) else OK
    )


@app.command()
def inspect(
    source: Annotated[
        str,
        typer.Argument(
            help=(
                "A folder in the Hub's layout, a weights file, or a Hub id: owner/name, or"
                " owner/name@revision. With *, the last folder that matches."
            )
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one checkpoint as in atlas.json, without metrics.")
    ] = False,
    pickle: Annotated[
        bool, typer.Option("--pickle", help="Open pickled weights with torch's weights_only.")
    ] = False,
    file: Annotated[
        str, typer.Option("--weights", help="The weights file to open, if there are several.")
    ] = "",
    config: Annotated[
        Path | None, typer.Option("--config", help="A config.json for weights without one.")
    ] = None,
) -> None:
    """Show how one checkpoint encodes position, without building anything, and within the limits of
    a row of a build.

    Exit codes: 0 shown; 1 it could not be read; 2 refused or interrupted.
    """
    with _reporting_errors():
        asked = named.checkpoint_at(source, pickle, file, config)
        *_, task = plan.plan([asked], offline=False)  # Of a pattern with *, the last one.
        with named.asked_of_the_hub(task.checkpoint), local_pool.processes(jobs=1) as executor:
            inspected = _within_limits(executor, inspect_task, task)
        if as_json:
            typer.echo(json.dumps(_document(inspected.outcome, inspected.records), indent=1))
            return
        inspection.show(out, inspected, all_schemes())
        inspection.show_row(out, asked, config)


@app.command()
def check(
    config_file: Config = Path("checkpoints.yml"),
    size: Annotated[
        bool,
        typer.Option(
            "--bytes", help="Open every row, and say what a build would read of its weights."
        ),
    ] = False,
) -> None:
    """Read the list of checkpoints and report every problem in it, and every folder or file that is
    not there. Without --bytes, nothing is opened.

    Exit codes: 0 no problem; 1 a row could not be opened; 2 the list is not well formed.
    """
    with _reporting_errors():
        checkpoints = list_file.load(config_file, plan.all_sources())
        if size:
            _print_sizes(checkpoints)
        missing = () if size else list_file.missing(config_file, plan.all_sources())
    for problem in missing:
        err.print(problem)
    if missing:
        raise typer.Exit(FAILED)
    out.print(f"{config_file}: {len(checkpoints)} checkpoints, no problem found")


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="A Hub id (owner/name, or owner/name@revision).")],
    config_file: Config = Path("checkpoints.yml"),
) -> None:
    """Append a repository of the Hub to the list, pinned at its commit."""
    with _reporting_errors():
        listed = list_file.load(config_file, plan.all_sources())
        asked = named.checkpoint_at(name, pickle=False, file="", config=None)
        if any(row.place == asked.place and row.source == asked.source for row in listed):
            raise RefusedError(f"{asked.id}: is in {config_file}; expected one that is not")
        commit = named.commit_of(asked)
        list_edit.add(config_file, asked.id, commit)
    out.print(f"{config_file}: added {asked.id} at {commit}")


@app.command()
def pin(
    config_file: Config = Path("checkpoints.yml"),
    upgrade: Annotated[
        bool,
        typer.Option(
            "--upgrade", help="Move rows that are pinned to the present commit of the main branch."
        ),
    ] = False,
) -> None:
    """Pin every row of the Hub that names no commit at its present one. Rows that name a training
    run stay.
    """
    with _reporting_errors():
        list_file.load(config_file, plan.all_sources())
        commits = {}
        for index, row in enumerate(list_file.read_rows(config_file)):
            name, revision = (
                (row, None)
                if isinstance(row, str)
                else (row.get(list_edit.KEY), row.get(list_edit.REVISION))
            )
            is_series = not isinstance(row, str) and row.get(list_edit.REVISIONS) is not None
            if (
                name is not None
                and not is_series
                and (upgrade or not revisions.COMMIT.fullmatch(str(revision)))
            ):
                commit = named.commit_of(
                    named.checkpoint_at(
                        name if upgrade or not revision else f"{name}@{revision}",
                        pickle=False,
                        file="",
                        config=None,
                    )
                )
                if commit != revision:
                    commits[index] = commit
                    out.print(f"{name}: {revision or 'main'} → {commit}")
        list_edit.pin(config_file, commits)
    out.print(f"{config_file}: {plural(len(commits), 'row')} pinned")


def _without_nul(application: Callable[..., Any]) -> Callable[..., Any]:
    """A WSGI application that looks for a path with NUL as for any other that no file has; the
    system refuses to open one.
    """

    def answer(environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Any:
        return application(
            {**environ, "PATH_INFO": environ["PATH_INFO"].replace("\0", "%00")}, start_response
        )

    return answer


def _not_found(site: Path, _: int) -> bytes | None:
    """The page of a site for what is not found; None where it has none yet."""
    page = site / mkdocs_build.NOT_FOUND
    return page.read_bytes() if page.is_file() else None


@app.command()
def serve(
    config_file: Config = Path("checkpoints.yml"),
    output: Output = Path("build"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8000,
) -> None:
    """Serve the site on this machine, and rebuild it whenever the list, a template, a page or the
    code changes.
    """
    from mkdocs.livereload import LiveReloadServer

    command = [
        sys.executable,
        "-m",
        "generator",
        "build",
        "--config",
        str(config_file),
        "--output",
        str(output),
    ]

    def rebuild() -> None:
        subprocess.run(command, check=False)

    with _reporting_errors():
        config_file.stat()
        _require_free(port)
    rebuild()
    with LiveReloadServer(
        builder=rebuild, host="127.0.0.1", port=port, root=str(output / "site")
    ) as server:
        for watched in (config_file, PACKAGE, *materials.beside(config_file.parent).paths):
            server.watch(str(watched))
        server.error_handler = partial(_not_found, output / "site")
        server.set_app(_without_nul(server.get_app()))
        out.print(f"http://127.0.0.1:{port}/ shows the site; Ctrl+C ends it")
        try:
            server.serve()
        except KeyboardInterrupt:
            server.shutdown()


@app.command()
def diff(
    before: Annotated[
        str,
        typer.Argument(help="An atlas.json, a site or output folder that has one, or its address."),
    ],
    after: Annotated[str, typer.Argument(help="Another.")],
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a table in Markdown.")
    ] = False,
) -> None:
    """Show what changed from one published atlas to another.

    Exit codes: 0 nothing moved; 1 something did; 2 one of them could not be read.
    """
    with _reporting_errors():
        found = changes(published.atlas(before), published.atlas(after))
    if markdown:
        typer.echo(words.table(found) if found else "Nothing changed.")
    else:
        for change in found:
            out.print(words.line(change))
        out.print(plural(len(found), "change"))
    raise typer.Exit(FAILED if found else OK)


@app.command()
def summary(
    output: Annotated[str, typer.Argument(help="The output folder of a build.")] = "build",
    since: Annotated[
        str | None,
        typer.Option("--since", help="The address of the published site to compare with."),
    ] = None,
) -> None:
    """Print in Markdown what a build found, and what changed since the published site."""
    with _reporting_errors():
        built = published.atlas(output)
        typer.echo(words.counts(built))
        if since is not None:
            typer.echo(words.since(published.former(since), built))


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="An empty folder, or a new one.")] = Path(),
) -> None:
    """Write a list of checkpoints to begin with, and a workflow that publishes its site."""
    with _reporting_errors():
        starter.write(folder)
    out.print(
        f"{folder}: checkpoints.yml lists three checkpoints; 'position-atlas build' there builds"
        " their site"
    )
    came = starter.origin()
    if came and not starter.is_public(came["url"]):
        out.print(
            "The program was installed from this machine, where no workflow finds it: set the"
            " variable POSITION_ATLAS of the repository to what pip installs there"
        )


@app.command()
def schema(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path(starter.SCHEMA),
) -> None:
    """Write the JSON Schema of the list of checkpoints, for editors."""
    with _reporting_errors():
        file.write_text(list_row.schema(plan.all_sources()), encoding="utf-8")


@app.command(hidden=True)
def precompute() -> None:
    """Write what is shipped of all that no list changes, which takes minutes."""
    given = checked.given_cases(evaluate.all_analyses(), all_schemes())
    precomputed.write(
        {
            precomputed.FAMILIES: families.make(),
            precomputed.MODELS: models.make(),
            precomputed.UNTRAINED: families.untrained(),
            precomputed.PUBLISHED: checked.values(given),
        }
    )


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"position-atlas {versions.all_versions()[PROGRAM]}")
        raise typer.Exit


@app.callback(epilog=f"Exit codes, unless a command says otherwise: {EXIT_CODES}")
def main(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Position Atlas: a site that compares how transformer checkpoints encode position."""


def _chosen(tasks: Sequence[plan.Task], only: str | None, fresh: bool) -> frozenset[str]:
    """errors: RefusedError where no row has this slug, or nothing may come from the store"""
    if only is None:
        return frozenset()
    if fresh:
        raise RefusedError(f"--only {only}: found --fresh too; expected one of them")
    known = sorted(set[str]().union(*map(jobs.slugs_of, tasks)))
    if only not in known:
        close = get_close_matches(only, known, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else f", such as {known[0]}"
        raise RefusedError(f"--only {only}: no such checkpoint in the list; expected one{hint}")
    return frozenset({only})


def _print_changes(former: Mapping[str, Any] | None, output: Path) -> None:
    """Print the first changes since the ``former`` atlas of the output folder."""
    found = [] if former is None else changes(former, published.atlas(str(output)))
    for change in found[:MOST_CHANGES]:
        out.print(f"{'changed':>11}  {words.line(change)}")
    if len(found) > MOST_CHANGES:
        out.print(f"{'':>11}  and {plural(len(found) - MOST_CHANGES, 'other change')}")


def _print_sizes(checkpoints: Sequence[Checkpoint]) -> None:
    """Print what a build would read of each row; exit where one could not be opened."""
    total, problems = 0, []
    with local_pool.processes(jobs=1) as executor:
        for task in plan.plan(checkpoints, offline=False):
            try:
                needed = _within_limits(executor, evaluate.needed, task)
            except AtlasError as error:
                problems.append(str(error))
                continue
            total += sum(needed.values())
            inspection.show_needed(out, task.checkpoint.slug, needed)
    out.print(f"{total:,} bytes of weights in all")
    for problem in problems:
        err.print(problem)
    if problems:
        raise typer.Exit(FAILED)


def _within_limits(executor: Executor, function: Callable[[plan.Task], T], task: plan.Task) -> T:
    """The result of ``function``, which runs in a process of ``executor``, within the limits of a
    row of a build.

    errors: those of ``function``; RowError where it exceeds a limit, crashes, or fails unexpectedly
    """
    try:
        result: T = executor.submit(worker.quietly, function, task).result()
    except AtlasError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename:
            raise
        raise RowError(f"{task.checkpoint.id}: {executor.explain(error)}") from None
    return result


def _require_free(port: int) -> None:
    """errors: RefusedError when the port is in use"""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise RefusedError(
            f"--port {port}: {os.strerror(error.errno or 0)}; expected a free port"
        ) from None


def _cluster_workers(address: str) -> Callable[[], AbstractContextManager[Executor]]:
    """A factory of workers on the dask.distributed scheduler at ``address``."""
    return partial(dask_pool.cluster, address=address, code=versions.code(), seconds=LIMITS.seconds)


def _document(outcome: Outcome, records: Sequence[EncodingRecord]) -> dict[str, Any]:
    """A checkpoint as in atlas.json, without metrics and arrays; encodings have the names of an
    atlas of this checkpoint alone.
    """
    titles = names.names([(outcome.checkpoint, record) for record in records], all_schemes())
    encodings = [
        {"name": title, **data_files.encoding(record)}
        for title, record in zip(titles, records, strict=True)
    ]
    return {
        **data_files.checkpoint(outcome),
        "layers": data_files.layers(outcome.layers, records),
        "encodings": encodings,
    }
