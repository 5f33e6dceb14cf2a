"""The commands: the only code that prints or ends the program."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from generator import PACKAGE, PROGRAM, __version__
from generator.cli import comparing, linting, published, starter
from generator.cli.application import (
    EXIT_CODES,
    FAILED,
    OK,
    Config,
    Output,
    app,
    err,
    out,
)
from generator.cli.building import build, read_list
from generator.cli.deferral import deferred
from generator.cli.terminal import json_text
from generator.errors import BOUNDS, AtlasError, RefusedError

with deferred():
    from generator import libraries, text
    from generator.checkpoints import list_edit, list_file, list_row
    from generator.checkpoints.files import named_paths
    from generator.checkpoints.hub import revisions
    from generator.cli import beside, inspection, own_runs, serving
    from generator.pipeline import evaluate, local_pool
    from generator.pipeline import inspect as inspecting
    from generator.reading import find, lint, named, plan
    from generator.site import materials, write
    from generator.site.history import causes, curves, former_site, sentences

if TYPE_CHECKING:
    from generator.contracts import Checkpoint

__all__ = ["app", "comparing", "linting", "published"]

# The first in help, and in the guide.
app.command()(build)


@app.command()
def inspect(  # noqa: PLR0913, PLR0917 (one for each option)
    source: Annotated[
        str,
        typer.Argument(
            help=(
                "A folder in the Hub's layout, a weights file, or a Hub id: owner/name, or"
                " owner/name@revision. A path with * names the last folder that matches."
            )
        ),
    ],
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the checkpoint as in atlas.json, without metrics."),
    ] = False,
    pickle: Annotated[
        bool, typer.Option("--pickle", help="Open pickled weights with torch's weights_only.")
    ] = False,
    file: Annotated[
        str, typer.Option("--weights", help="The weights file to open, if there are several.")
    ] = "",
    config: Annotated[
        Path | None, typer.Option("--config", help="A config.json for weights that have none.")
    ] = None,
    readers: Annotated[
        bool,
        typer.Option("--readers", help="Show what each program takes from its config.json."),
    ] = False,
) -> None:
    """Show how one checkpoint encodes position, without building a site. The limits are those of a
    build.

    Exit codes: 0 shown; 1 the checkpoint could not be read; 2 refused or interrupted.
    """
    beside.own.use(Path(), has_code=False)
    checkpoint = named.checkpoint_at(source, pickle, file, config)
    tasks = named.tasks_of(checkpoint)
    if readers:
        _show_readers(checkpoint, tasks)
        return
    with named.hub_errors(tasks[0].checkpoint), local_pool.reading() as executor:
        every = [local_pool.within_limits(executor, inspecting.inspect, task) for task in tasks]
    if as_json:
        documents = [inspection.document(inspected) for inspected in every]
        shown = documents if len(documents) > 1 else documents[0]
        typer.echo(json_text(shown, default=asdict))
        return
    for task, inspected in zip(tasks, every, strict=True):
        inspection.show(out, inspected, find.all_schemes())
        inspection.show_findings(out, task)
    inspection.show_row(out, checkpoint, config)


def _show_readers(checkpoint: "Checkpoint", tasks: "Sequence[plan.Task]") -> None:
    """errors: AtlasError"""
    with named.hub_errors(checkpoint), local_pool.reading(local_pool.WITHOUT_TORCH) as executor:
        for task in tasks:
            inspection.show_readers(out, local_pool.within_limits(executor, lint.taken_of, task))


@app.command()
def check(
    config_file: Config = Path("checkpoints.yml"),
    size: Annotated[
        bool,
        typer.Option(
            "--bytes", help="Open every entry, and show how many bytes of weights a build reads."
        ),
    ] = False,
) -> None:
    """Read the list of checkpoints, and report every problem in it and every folder or file that is
    missing; also every problem of analyses, schemes, rules and families.yml beside it. Without
    --bytes, no checkpoint is opened.

    Exit codes: 0 no problem; 1 an entry could not be opened, or its files are missing; 2 the list
    is not well formed.
    """
    checkpoints, _ = read_list(config_file)
    if size:
        _print_sizes(checkpoints)
    missing = () if size else list_file.missing(config_file, plan.all_sources())
    for problem in missing:
        err.print(problem)
    if missing:
        raise typer.Exit(FAILED)
    out.print(f"{config_file}: {text.plural(len(checkpoints), 'checkpoint')}, no problem found")


@app.command()
def add(
    name: Annotated[
        str,
        typer.Argument(
            help=(
                "A Hub id (owner/name, or owner/name@revision), a weights file, or a folder that is"
                f" searched for checkpoints ({BOUNDS})."
            )
        ),
    ],
    config_file: Config = Path("checkpoints.yml"),
) -> None:
    """Append a repository of the Hub to the list, pinned at its current commit, or append the
    checkpoints and training runs in a folder. Comments in the list say what is left out, and why.
    """
    with _locked(config_file):
        listed = list_file.load(config_file, plan.all_sources())
        if named.is_path(name):
            own_runs.append(out, config_file, listed, named_paths.expanded(name))
            return
        checkpoint = named.checkpoint_at(name)
        if any(row.place == checkpoint.place and row.source == checkpoint.source for row in listed):
            raise RefusedError(
                f"{checkpoint.id}: already in {config_file}; expected one that is not listed"
            )
        with named.hub_errors(checkpoint):
            commit = named.commit_of(checkpoint)
        list_edit.add(config_file, checkpoint.id, commit)
        added = f"{checkpoint.id} at {commit}"
        out.print(f"{config_file}: 1 entry of {len(listed) + 1} is new, {added}")


def _locked(config_file: Path) -> AbstractContextManager[None]:
    """That of a command which changes the list: others wait for it, and say so."""
    waiting = f"{config_file}: another command changes it; waiting for its end"
    return list_edit.locked(config_file, lambda: err.print(waiting))


@app.command()
def pin(
    config_file: Config = Path("checkpoints.yml"),
    upgrade: Annotated[
        bool,
        typer.Option(
            "--upgrade", help="Also move pinned entries, to the latest commit of the main branch."
        ),
    ] = False,
) -> None:
    """Pin every entry of the Hub that names no commit at its current commit. Entries that name a
    training run stay as they are.
    """
    with _locked(config_file):
        _pin(config_file, upgrade)


def _pin(config_file: Path, upgrade: bool) -> None:
    list_file.load(config_file, plan.all_sources())
    commits = {}
    for index, row in enumerate(list_file.read_rows(config_file)):
        options = {list_edit.KEY: row} if isinstance(row, str) else row
        name, revision = options.get(list_edit.KEY), options.get(list_edit.REVISION)
        is_pinned = revisions.COMMIT.fullmatch(str(revision)) and not upgrade
        if name is None or options.get(list_edit.REVISIONS) is not None or is_pinned:
            continue
        moving = name if upgrade or not revision else f"{name}@{revision}"
        commit = named.commit_of(named.checkpoint_at(moving))
        if commit != revision:
            commits[index] = commit
            out.print(f"{name}: {revision or 'main'} → {commit}")
    list_edit.pin(config_file, commits)
    out.print(f"{config_file}: {text.plural(len(commits), 'entry', 'entries')} pinned")


@app.command()
def serve(
    config_file: Config = Path("checkpoints.yml"),
    output: Output = Path("build"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8000,
) -> None:
    """Serve the site on this machine, and rebuild it whenever the list, a template, a page or the
    code changes.
    """
    command = [sys.executable, "-m", "generator", "build"]
    command += ["--config", str(config_file), "--output", str(output)]

    def rebuild() -> None:
        write.wait_until_free(output)  # One that is running may have read the list before.
        subprocess.run(command, check=False)

    libraries.need_site("serve")
    config_file.stat()
    serving.require_free(port)
    from mkdocs.livereload import LiveReloadServer

    rebuild()
    with LiveReloadServer(
        builder=rebuild, host="127.0.0.1", port=port, root=str(output / "site")
    ) as server:
        beside.own.use(config_file.parent)
        found = (*materials.beside(config_file.parent).paths, *beside.own.paths())
        for watched in (config_file, PACKAGE, *found):
            server.watch(str(watched))
        server.error_handler = partial(serving.not_found, output / "site")
        server.set_app(serving.for_this_machine(server.serve_request))
        out.print(f"Serving the site at http://127.0.0.1:{port}/ (Ctrl+C stops it)")
        try:
            server.serve()
        except KeyboardInterrupt:
            server.shutdown()


@app.command()
def diff(
    before: Annotated[
        str,
        typer.Argument(
            help="An atlas.json, a site or output folder that contains one, or its address."
        ),
    ],
    after: Annotated[str, typer.Argument(help="The atlas to compare it with.")],
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the causes as a Markdown table.")
    ] = False,
    values: Annotated[
        bool, typer.Option("--values", help="Print also each value that changed, below its cause.")
    ] = False,
) -> None:
    """Show why one published atlas differs from another: each cause, the largest first, with the
    number of values that changed with it.

    Exit codes: 0 nothing changed; 1 something changed; 2 an atlas could not be read.
    """
    found = causes.between(
        former_site.atlas(before),
        former_site.atlas(after),
        former_site.reader(before),
        former_site.reader(after),
    )
    if markdown:
        typer.echo(sentences.table(found) if found else "Nothing changed.")
    else:
        for cause in found:
            out.print(sentences.line(cause))
            for change in cause.follows if values else ():
                out.print(f"  {sentences.value_line(change)}")
        out.print(sentences.count(found))
    raise typer.Exit(FAILED if found else OK)


@app.command()
def summary(
    output: Annotated[str, typer.Argument(help="The output folder of a build.")] = "build",
    since: Annotated[
        str | None,
        typer.Option("--since", help="Address of the published site to compare with."),
    ] = None,
) -> None:
    """Print, in Markdown, what a build found and what changed since the published site."""
    built = former_site.atlas(output)
    typer.echo(sentences.counts(built))
    if since is not None:
        readers = [former_site.reader(place) for place in (since, output)]
        former = former_site.former(since)
        found = None if former is None else causes.between(former, built, *readers)
        typer.echo(sentences.since(found, curves.drawn(found or (), *readers)))


@app.command()
def init(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            show_default=False,
            help=(
                "A new or empty folder, by default the current one; or folders of your runs, which"
                f" are searched ({BOUNDS})."
            ),
        ),
    ] = None,
    gitlab: Annotated[
        bool,
        typer.Option("--gitlab", help="Write .gitlab-ci.yml in place of GitHub's workflow."),
    ] = False,
) -> None:
    """Write a first list of checkpoints. A new or empty folder gets a list of three, a workflow
    that publishes its site, and the versions of all libraries. For folders of your runs,
    checkpoints.yml in the current folder lists their checkpoints and training runs; comments in it
    say what is left out, and why.
    """
    if not starter.is_for(folders or [Path()]):
        if gitlab:
            raise RefusedError("--gitlab: found files; expected a new or empty folder")
        own_runs.write(out, folders or [])
        return
    [folder] = folders or [Path()]
    starter.write(folder, gitlab=gitlab)
    starter.tell(out, folder)


@app.command()
def schema(
    file: Annotated[Path, typer.Argument(help="File to write.")] = Path(starter.SCHEMA),
) -> None:
    """Write the JSON Schema of the list of checkpoints, for editors."""
    with open(file, "w", encoding="utf-8", opener=named_paths.unwaited) as stream:
        stream.write(list_row.schema(plan.all_sources()))


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"{PROGRAM} {__version__}")
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
    """Build a site that shows and compares how transformer checkpoints encode position."""


def _print_sizes(checkpoints: "Sequence[Checkpoint]") -> None:
    """Print what a build would read of each row; exit where one could not be opened."""
    total, problems = 0, []
    with local_pool.processes(jobs=1) as executor:
        for task in plan.plan(checkpoints, offline=False):
            try:
                needed = local_pool.within_limits(executor, evaluate.needed, task)
            except AtlasError as error:
                problems.append(str(error))
                continue
            total += sum(needed.values())
            inspection.show_needed(out, task.checkpoint.slug, needed)
    out.print(f"{total:,} bytes of weights in total")
    for problem in problems:
        err.print(problem)
    if problems:
        raise typer.Exit(FAILED)
