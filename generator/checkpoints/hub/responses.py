"""What the Hub's answers say: no, later, or the bytes that were asked for, never more and not for ever."""

import time
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING

from generator.checkpoints.hub.retries import retry_after
from generator.errors import RowError

if TYPE_CHECKING:
    import httpx2

LONGEST_SECONDS = 300.0  # for one answer
PASSING = (408, 429, 500, 502, 503, 504)
REFUSALS = {
    "GatedRepo": "gated; expected access (accept its terms on the Hub and set HF_TOKEN)",
    "RepoNotFound": "no such repository; expected a public one, or HF_TOKEN for a private one",
    "RevisionNotFound": "no such revision; expected a branch, tag or full commit of this repository",
}


class PassingError(RowError):
    """Nothing came of several tries, and it may be otherwise another time."""


class _Meter:
    """How many bytes this process has received, as they came over the line."""

    def __init__(self) -> None:
        self.received, self._lock = 0, Lock()

    def add(self, count: int) -> None:
        with self._lock:
            self.received += count


METER = _Meter()


def raise_for_answer(response: "httpx2.Response", row: str, with_token: bool) -> None:
    """Pass a response that is a success.

    errors: RowError with what the Hub refused, and what to do about it
    """
    status, code = response.status_code, response.headers.get("X-Error-Code", "")
    if code in REFUSALS:
        raise RowError(f"{row}: {REFUSALS[code]}")
    if status == 401 and not with_token:  # How the Hub answers for what does not exist.
        raise RowError(f"{row}: {REFUSALS['RepoNotFound']}")
    if not 200 <= status < 300:
        hint = " (if HF_TOKEN is set, check that it is valid and may read this)" if status in (401, 403) else ""
        raise RowError(f"{row}: the Hub answered {status}; expected the repository{hint}")


def retry_exhausted(response: "httpx2.Response", row: str, left: float) -> PassingError:
    """What is said of an answer in ``PASSING`` that is waited for no more; ``left``: seconds that it still could have been."""
    rest = retry_after(response.status_code, response.headers)
    found = f"the Hub answered {response.status_code}" + (f" and asks to be left alone for {rest:,.0f} seconds" if rest else "")
    return PassingError(f"{row}: {found}; expected {f'at most {left:,.0f}' if rest > left else 'the repository'}")


def pieces(response: "httpx2.Response", row: str, most: int) -> Iterator[bytes]:
    """The body, unpacked.

    errors: RowError beyond ``most`` bytes, PassingError beyond ``LONGEST_SECONDS``
    """
    received, end = 0, time.monotonic() + LONGEST_SECONDS
    try:
        for piece in response.iter_bytes():
            received += len(piece)
            if received > most:
                raise RowError(f"{row}: the Hub sends more than {most:,} bytes; expected no more than were asked for")
            if time.monotonic() > end:
                raise PassingError(
                    f"{row}: the Hub took longer than {LONGEST_SECONDS:.0f} seconds for {received:,} bytes; expected all of them"
                )
            yield piece
    finally:
        METER.add(response.num_bytes_downloaded)
