"""Commands in the process of the tests, for what they do: no other process starts, and large
libraries are imported once for all.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import TypeVar

from typer.testing import CliRunner

from generator.cli.commands import app
from generator.pipeline import local_pool
from tests.built import begin
from tests.hub_server import NOBODY, client_of

T = TypeVar("T")


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
def _processes(
    n_rows: int = 0, shares_models: bool = False, *, jobs: int = 1, limits: object = None
) -> Iterator[Inline]:
    yield Inline()


def run(
    *arguments: str, home: Path, endpoint: str = NOBODY, **environment: str | None
) -> CompletedProcess[str]:
    """As ``hub_server.run``, in this process; the Hub's client takes its settings from the
    arguments.

    environment: variables by name; None takes one away
    """
    if "--output" in arguments:
        begin(Path(arguments[arguments.index("--output") + 1]))
    fixed: dict[str, str | None] = {"SOURCE_DATE_EPOCH": "1700000000"}
    with client_of(home, endpoint) as patch:
        patch.setattr(local_pool, "processes", _processes)
        for name, value in {**fixed, **environment}.items():
            patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    return CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def build(
    folder: Path,
    *options: str,
    output: str = "out",
    home: str = "hub",
    endpoint: str = NOBODY,
    **environment: str | None,
) -> CompletedProcess[str]:
    """A build of the list in ``folder``, with its output and the home of the Hub's client there."""
    command = ("build", "--config", str(folder / "checkpoints.yml"))
    return run(
        *(*command, "--output", str(folder / output), *options),
        home=folder / home,
        endpoint=endpoint,
        **environment,
    )
