"""Responses of the Hub: errors, retryable errors, and bodies with limits of size and time."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeVar

from generator.checkpoints.hub.retries import retry_after
from generator.errors import RowError, SlowError
from generator.text import short, visible

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
LONGEST_SECONDS = 300.0  # of one response
A_DAY = 86_400.0  # seconds
LONGEST_MESSAGE = 200  # characters
RETRYABLE = (408, 429, 500, 502, 503, 504)
REFUSALS = {
    "GatedRepo": "gated; expected access (accept its terms on the Hub and set HF_TOKEN)",
    "RepoNotFound": "no such repository; expected a public one, or HF_TOKEN for a private one",
    "RevisionNotFound": (
        "no such revision; expected a branch, tag or full commit of this repository"
    ),
}


class TransientError(RowError):
    """A failure after all retries that a later build may not have."""


class SlowAnswerError(TransientError, SlowError):
    """An answer that is not there within its time: its row is not reached."""


def within(seconds: float, ask: Callable[[], T], row: str) -> T:
    """The result of ``ask``, which is given up after ``seconds``: a host may send a header byte by
    byte, and no single byte is late.

    errors: SlowAnswerError; those of ``ask``
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(ask())
        # Whatever it is, it is raised where the result is waited for.
        except BaseException as error:  # noqa: BLE001
            future.set_exception(error)

    # One that is given up ends with the process, or when the host does.
    Thread(target=run, daemon=True).start()
    wait([future], max(0.0, seconds))
    if not future.done():
        raise SlowAnswerError(
            f"{row}: the Hub is slow: no whole answer within {seconds:,.3g} seconds; expected one"
        )
    return future.result()


class _Meter:
    """Number of bytes that this process has received, before decompression."""

    def __init__(self) -> None:
        self.received, self._lock = 0, Lock()

    def add(self, count: int) -> None:
        """Add ``count`` bytes."""
        with self._lock:
            self.received += count


METER = _Meter()


def is_retryable(response: "httpx2.Response") -> bool:
    """Whether the same request may succeed later: also one redirected to a signed address that has
    expired, since each try gets a new one.
    """
    is_of_storage = bool(response.history) and "X-Error-Code" not in response.headers
    return response.status_code in RETRYABLE or (response.status_code == 403 and is_of_storage)


def raise_for_status(response: "httpx2.Response", row: str, with_token: bool) -> None:
    """Do nothing for a successful response.

    with_token: whether the request carried a token
    errors: RowError with the reason of the refusal and its remedy
    """
    status, code = response.status_code, response.headers.get("X-Error-Code", "")
    if code in REFUSALS:
        raise RowError(f"{row}: {REFUSALS[code]}")
    if status == 401 and not with_token:  # The Hub's answer for a repository that does not exist.
        raise RowError(f"{row}: {REFUSALS['RepoNotFound']}")
    if not 200 <= status < 300:
        message = visible(short(response.headers.get("X-Error-Message", ""), LONGEST_MESSAGE))
        reason = f" (“{message}”)" if message else ""
        hint = (
            " (if HF_TOKEN is set, check that it is valid and may read this)"
            if status in (401, 403)
            else ""
        )
        raise RowError(f"{row}: the Hub answered {status}{reason}; expected the repository{hint}")


def retry_exhausted(response: "httpx2.Response", row: str, left: float) -> TransientError:
    """The error for a response that ``is_retryable`` without further retries; ``left``: seconds
    left in the budget.
    """
    wait = retry_after(response.status_code, response.headers)
    pause = f"{wait:,.0f} seconds" if wait <= A_DAY else "more than a day"
    answer = f"the Hub answered {response.status_code}" + (
        f" and asks for a pause of {pause}" if wait else ""
    )
    return TransientError(
        f"{row}: {answer}; expected {f'at most {left:,.0f}' if wait > left else 'the repository'}"
    )


def pieces(response: "httpx2.Response", row: str, most: int) -> Iterator[bytes]:
    """The decompressed body, in pieces.

    errors: RowError beyond ``most`` bytes, TransientError beyond ``LONGEST_SECONDS``
    """
    received, end = 0, time.monotonic() + LONGEST_SECONDS
    try:
        for piece in response.iter_bytes():
            received += len(piece)
            if received > most:
                raise RowError(
                    f"{row}: the Hub sends more than {most:,} bytes; expected no more than"
                    " requested"
                )
            if time.monotonic() > end:
                raise TransientError(
                    f"{row}: the Hub took longer than {LONGEST_SECONDS:.0f} seconds for"
                    f" {received:,} bytes; expected all of them"
                )
            yield piece
    finally:
        METER.add(response.num_bytes_downloaded)
