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

import pytest
from typer.testing import CliRunner

from generator.cli.commands import app
from generator.pipeline import local_pool
from tests.built import begin
from tests.hub_server import NOBODY

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
    # Public by its documentation.
    from huggingface_hub.utils import close_session  # type: ignore[attr-defined]

    if "--output" in arguments:
        begin(Path(arguments[arguments.index("--output") + 1]))
    settings = {
        "ENDPOINT": endpoint,
        "HUGGINGFACE_CO_URL_TEMPLATE": f"{endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
        "HF_ASSETS_CACHE": str(home / "assets"),
        "HF_HUB_CACHE": str(home / "hub"),
        "HF_HUB_OFFLINE": False,
    }
    fixed: dict[str, str | None] = {
        "SOURCE_DATE_EPOCH": "1700000000",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_pool, "processes", _processes)
        for name, value in settings.items():
            patch.setattr(f"huggingface_hub.constants.{name}", value)
        for name, value in {**fixed, **environment}.items():
            patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
        close_session()
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
        close_session()
    return CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)
