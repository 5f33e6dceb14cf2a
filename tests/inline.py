"""Commands in the process of the tests, for what they do: no other process starts, and large
libraries are imported once for all. Unless HTML and figures are asked for, which take longer than
all else in a small build, pages stay Markdown, and figures are blank.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import TypeVar

import pytest
from typer.testing import CliRunner

from generator.cli.commands import app
from generator.contracts import own
from generator.figures import svg
from generator.pipeline import local_pool
from generator.site import write
from generator.site.html import mkdocs_build
from tests.built import begin
from tests.hub_server import NOBODY, client_of

T = TypeVar("T")
BLANK = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><metadata>{}</metadata>\n</svg>'


def _copied(settings: Sequence[Path], docs: Path, site: Path, *_: object) -> None:
    with write.fresh(site) as new:
        shutil.copytree(docs, new, dirs_exist_ok=True)


@contextmanager
def unrendered_pages() -> Iterator[None]:
    """The site of a build in this process is a copy of its docs, and nothing is drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mkdocs_build, "build", _copied)
        with blank_figures():
            yield


@contextmanager
def blank_figures() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svg, "encode", lambda *_: BLANK)
        yield


@dataclass(frozen=True)
class Inline:
    """An executor without processes: functions run where they are submitted."""

    shares_disk = True

    def submit(
        self,
        function: Callable[..., T],
        /,
        *arguments: object,
        times: int = 1,  # noqa: ARG002
    ) -> "Future[T]":
        future: Future[T] = Future()
        future.set_result(function(*arguments))
        return future

    def explain(self, error: BaseException, times: int = 1) -> str:  # noqa: ARG002
        return str(error)


@contextmanager
def processes(
    n_rows: int = 0,
    shares_models: bool = False,
    *,
    jobs: int = 1,
    limits: object = None,
    preload: str = "",
) -> Iterator[Inline]:
    yield Inline()


def run(
    *arguments: str,
    home: Path,
    endpoint: str = NOBODY,
    rendered: bool = False,
    stdin: str | None = None,
    **environment: str | None,
) -> CompletedProcess[str]:
    """As ``hub_server.run``, in this process; the Hub's client takes its settings from the
    arguments.

    rendered: whether figures are drawn, and HTML is made
    environment: variables by name; None takes one away
    """
    if rendered and "--output" in arguments:
        begin(Path(arguments[arguments.index("--output") + 1]))
    fixed: dict[str, str | None] = {"SOURCE_DATE_EPOCH": "1700000000"}
    with client_of(home, endpoint) as patch, nullcontext() if rendered else unrendered_pages():
        patch.setattr(local_pool, "processes", processes)
        for name, value in {**fixed, **environment}.items():
            patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
        try:
            done = CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False)
        finally:
            own.use(None)
    return CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def build(
    folder: Path,
    *options: str,
    output: str = "out",
    home: str = "hub",
    endpoint: str = NOBODY,
    rendered: bool = False,
    **environment: str | None,
) -> CompletedProcess[str]:
    """A build of the list in ``folder``, with its output and the home of the Hub's client there."""
    command = ("build", "--config", str(folder / "checkpoints.yml"))
    return run(
        *(*command, "--output", str(folder / output), *options),
        home=folder / home,
        endpoint=endpoint,
        rendered=rendered,
        **environment,
    )
