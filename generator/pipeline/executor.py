"""The interface of the pools: functions are submitted and give futures, as with the executors of
the standard library.
"""

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from generator.errors import AtlasError, RowError
from generator.libraries import need_site

T = TypeVar("T")


class Executor(Protocol):
    """Processes that run functions, on this machine or on others."""

    @property
    def shares_disk(self) -> bool:
        """Whether they write to the same files as this process."""

    def submit(
        self, function: Callable[..., T], /, *arguments: object, times: int = 1
    ) -> "Future[T]":
        """Run ``function`` with ``arguments``, all of which can be pickled.

        times: how often the limits of time and memory of a row are its own
        """

    def explain(self, error: BaseException, times: int = 1) -> str:
        """The reason why a future ended with ``error``, as a phrase for readers.

        times: as it was submitted with

        errors: RefusedError where no other future can succeed either
        """


@dataclass(frozen=True)
class Executors:
    """The executors of one build, each open while its context is.

    local: evaluates so many new checkpoints, and draws figures; the second argument says whether
        its processes share torch and models
    cluster: evaluates checkpoints in its place
    """

    local: Callable[[int, bool], AbstractContextManager[Executor]]
    cluster: Callable[[], AbstractContextManager[Executor]] | None = None


def result_of(
    executor: Executor,
    function: Callable[..., T],
    *arguments: object,
    times: int = 1,
    where: str = "",
) -> T:
    """The result of ``function``, which runs in a process of ``executor``.

    errors: those of ``function`` that a user can act on; RefusedError where it needs a library that
        is not installed; RowError where it exceeds a limit,
        crashes, or fails unexpectedly, which begins with ``where``; OSError for a file that the
        system cannot open; BrokenExecutor
    """
    try:
        return executor.submit(function, *arguments, times=times).result()
    except (AtlasError, BrokenExecutor):
        raise
    except ModuleNotFoundError as error:
        need_site(where.removesuffix(": "), str(error.name).partition(".")[0])
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename:
            raise
        raise RowError(where + executor.explain(error, times)) from None
