"""The commands: the only code that prints or ends the program."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from generator.checkpoints import list_file, list_row
from generator.checkpoints.files import weights
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.open_questions import open_questions
from generator.cli import inspection, progress
from generator.cli.terminal import Terminal
from generator.contracts import Checkpoint, EncodingRecord, Outcome, names
from generator.errors import AtlasError, RefusedError
from generator.pipeline import build as builds
from generator.pipeline import dask_pool, evaluate, local_pool, versions
from generator.pipeline.executor import Executor, Executors
from generator.site import data_files, write

SCHEMA = builds.ROOT / "checkpoints.schema.json"
OK, FAILED, REFUSED = 0, 1, 2
LIMITS = local_pool.Limits()
LIMITED = f"{LIMITS.seconds:g} seconds and {LIMITS.memory / 2**30:g} GiB of memory"
WATCHED = (builds.ROOT / "generator", builds.TEMPLATES, builds.SITE_SRC, builds.MKDOCS)  # Inputs of a site other than its checkpoints.

app = typer.Typer(
    help="Position Atlas: a site that compares how transformer checkpoints encode position.", no_args_is_help=True, add_completion=False
)
out, err = Terminal(), Terminal(stderr=True)

Config = Annotated[Path, typer.Option("--config", help="The list of checkpoints.", show_default=True)]
Output = Annotated[Path, typer.Option("--output", help="Folder for docs and site; created if missing, and used for nothing else.")]


@contextmanager
def _reporting_errors(consequence: str = "") -> Iterator[None]:
    """Print problems that a user can act on once, without a traceback, and exit. consequence: of an error of the disk"""
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


@app.command()
def build(  # noqa: PLR0913, PLR0917 (one for each option)
    config_file: Config = Path("checkpoints.yml"),
    output: Output = Path("build"),
    jobs: Annotated[int, typer.Option(min=1, help=f"Checkpoints processed at once, each within {LIMITED}.")] = local_pool.CORES,
    offline: Annotated[bool, typer.Option("--offline", help="Contact no server; use only the cache.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 also if a checkpoint was not reached.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Rebuild everything, even what has not changed.")] = False,
    log: Annotated[Path | None, typer.Option("--log", help="Write every event to this file, one JSON object a line.")] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Run the work on the dask.distributed scheduler at tcp://host:port.")
    ] = None,
) -> None:
    """Measure and draw every checkpoint of the list and build the site.

    Exit codes: 0 built; 1 built, but a checkpoint failed; 2 refused or aborted, with the previous site left in place.
    """
    with _reporting_errors("; the previous site remains"):
        remote = None if cluster is None else _cluster_workers(dask_pool.scheduler(cluster))
        checkpoints = list_file.load(config_file, evaluate.all_sources())
        with write.owned(output) as folder, progress.reporting(out, len(checkpoints), log) as reporter:
            executors = Executors(partial(local_pool.processes, jobs=jobs), remote)
            counts = builds.build(evaluate.plan(checkpoints, offline), folder, executors, reporter.report, fresh)
            summary = reporter.close(counts, output / "site" / "index.html")
        out.print(summary)
    raise typer.Exit(FAILED if counts["failed"] or (strict and counts["not reached"]) else OK)


@app.command()
def inspect(
    source: Annotated[
        str, typer.Argument(help="A folder in the Hub's layout, a weights file, or a Hub id (owner/name, or owner/name@revision).")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one checkpoint as in atlas.json, without metrics.")] = False,
    pickle: Annotated[bool, typer.Option("--pickle", help="Open pickled weights with torch's weights_only.")] = False,
    file: Annotated[str, typer.Option("--weights", help="The weights file to open, if there are several.")] = "",
    config: Annotated[Path | None, typer.Option("--config", help="A config.json for weights without one.")] = None,
) -> None:
    """Show how one checkpoint encodes position, without building anything."""
    with _reporting_errors():
        [task] = evaluate.plan([_checkpoint_at(source, pickle, file, config)], offline=False)
        checkpoint = task.checkpoint
        files = evaluate.open_files(checkpoint, task.offline)
        encodings = evaluate.find(files)
        unmeasured = evaluate.find_unmeasured(files, encodings)
        known = [*encodings, *unmeasured]
        questions = tuple(open_questions(files, known, evaluate.all_schemes()))
        records = tuple(encoding.record for encoding in unmeasured)
        layers = layer_map(files, known)
        outcome = Outcome(checkpoint, "ok", revision=files.revision, unmeasured=records, layers=layers, unresolved=questions)
        if as_json:
            typer.echo(json.dumps(_document(outcome, [encoding.record for encoding in encodings]), indent=1))
            return
        inspection.show(out, outcome, encodings, evaluate.all_schemes(), evaluate.all_analyses())


@app.command()
def check(config_file: Config = Path("checkpoints.yml")) -> None:
    """Read the list of checkpoints and report every problem in it; nothing is opened."""
    with _reporting_errors():
        checkpoints = list_file.load(config_file, evaluate.all_sources())
    out.print(f"{config_file}: {len(checkpoints)} checkpoints, no problem found")


@app.command()
def serve(
    config_file: Config = Path("checkpoints.yml"),
    output: Output = Path("build"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8000,
) -> None:
    """Serve the site on this machine, and rebuild it whenever the list, a template, a page or the code changes."""
    from mkdocs.livereload import LiveReloadServer

    command = [sys.executable, "-m", "generator", "build", "--config", str(config_file), "--output", str(output)]

    def rebuild() -> None:
        subprocess.run(command, check=False)

    with _reporting_errors():
        config_file.stat()
        _require_free(port)
    rebuild()
    with LiveReloadServer(builder=rebuild, host="127.0.0.1", port=port, root=str(output / "site")) as server:
        for watched in (config_file, *WATCHED):
            server.watch(str(watched))
        out.print(f"http://127.0.0.1:{port}/ shows the site; Ctrl+C ends it")
        try:
            server.serve()
        except KeyboardInterrupt:
            server.shutdown()


@app.command(hidden=True)
def schema() -> None:
    """Write the JSON Schema of the list of checkpoints, for editors."""
    SCHEMA.write_text(list_row.schema(evaluate.all_sources()), encoding="utf-8")


def _require_free(port: int) -> None:
    """errors: RefusedError when the port is in use"""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise RefusedError(f"--port {port}: {os.strerror(error.errno or 0)}; expected a free port") from None


def _cluster_workers(address: str) -> Callable[[], AbstractContextManager[Executor]]:
    """A factory of workers on the dask.distributed scheduler at ``address``."""
    return partial(dask_pool.cluster, address=address, code=versions.code(), seconds=LIMITS.seconds)


def _checkpoint_at(source: str, pickle: bool, file: str, config: Path | None) -> Checkpoint:
    """A checkpoint outside any list: a path if ``source`` looks like one, else a Hub id with or without a revision.

    errors: RowError when the config cannot be read
    """
    is_path = Path(source).exists() or source.startswith((".", "/", "~")) or source.endswith(weights.suffixes())
    key = next(candidate.key for candidate in evaluate.all_sources() if candidate.is_path == is_path)
    name, _, revision = (source, "", "") if is_path else source.partition("@")
    path = str(list_file.expanded(name)) if is_path else name
    settings = "" if config is None else list_file.config_text(config, str(config))
    return Checkpoint(list_file.slugify(name), key, name, path, name, revision or None, pickle=pickle, weights=file, config=settings)


def _document(outcome: Outcome, records: Sequence[EncodingRecord]) -> dict[str, Any]:
    """A checkpoint as in atlas.json, without metrics and arrays; encodings have the names of an atlas of this checkpoint alone."""
    titles = names.names([(outcome.checkpoint, record) for record in records], evaluate.all_schemes())
    encodings = [{"name": title, **data_files.encoding(record)} for title, record in zip(titles, records, strict=True)]
    return {**data_files.checkpoint(outcome), "layers": data_files.layers(outcome.layers, records), "encodings": encodings}
