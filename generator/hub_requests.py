"""Requests to the Hub, in its own client's session: patient for a bounded time, never beyond a number of bytes, and to no other host here."""

import os
import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from generator.errors import NotReachedError, RowError

if TYPE_CHECKING:
    import httpx2

WAITS = (0.5, 1.0, 2.0, 4.0)  # seconds before each further try
LONGEST_WAIT = 60.0  # A Hub that asks for more than this is not waited for.
QUIET_SECONDS, LONGEST_SECONDS = 30.0, 300.0  # Without a byte, and for one answer.
PASSING = (408, 429, 500, 502, 503, 504)
REFUSALS = {
    "GatedRepo": "gated; expected access (accept its terms on the Hub and set HF_TOKEN)",
    "RepoNotFound": "no such repository; expected a public one, or HF_TOKEN for a private one",
    "RevisionNotFound": "no such revision; expected a branch, tag or full commit of this repository",
}
UNREACHED = "the Hub could not be asked and the cache does not hold it"
T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """Bytes of a file, and how many the whole file has."""

    data: bytes
    total: int


class _Elsewhere(Exception):  # noqa: N818 (it never leaves this module)
    """A redirect to a place on this machine or its own network that is not the Hub."""


class _Meter:
    """How many bytes this process has received, as they came over the line."""

    def __init__(self) -> None:
        self.received, self._lock = 0, Lock()

    def add(self, count: int) -> None:
        with self._lock:
            self.received += count


METER = _Meter()


def whole(url: str, row: str, most: int, tries: int = len(WAITS) + 1) -> bytes:
    """All of a small file, or the answer to a question.

    errors: RowError when it is refused, breaks off or is longer than ``most`` bytes; NotReachedError when nobody answers
    """
    return _asked(url, row, {}, lambda response: _body(response, row, most), tries)


def part(url: str, row: str, start: int, stop: int) -> Part:
    """The bytes of a file from ``start`` up to, not including, ``stop``, or to its end if that comes first; errors as above.

    A server that answers a range with the whole file is not listened to.
    """

    def receive(response: "httpx2.Response") -> Part:
        said = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", response.headers.get("Content-Range", ""))
        if response.status_code != 206 or said is None:
            raise RowError(
                f"{row}: the Hub answered {response.status_code} to a range of {stop - start:,} bytes; expected 206 and that range"
            )
        first, last, total = map(int, said.groups())
        data = _body(response, row, stop - start)
        if first != start or last + 1 != min(stop, total) or len(data) != last + 1 - first:
            raise RowError(f"{row}: the Hub sent {len(data):,} bytes as {said[0]!r}; expected bytes {start:,} to {stop - 1:,}")
        return Part(data, total)

    # Compression would be of the range's bytes, and nothing then says how many of them came.
    return _asked(url, row, {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}, receive, len(WAITS) + 1)


def download(url: str, row: str, path: Path) -> None:
    """All of a large file, as ``path``, which appears only when all of it is written; errors as above."""

    def receive(response: "httpx2.Response") -> None:
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
        try:
            with unfinished.open("wb") as file:
                file.writelines(response.iter_bytes())
            unfinished.replace(path)
        finally:
            METER.add(response.num_bytes_downloaded)
            unfinished.unlink(missing_ok=True)

    path.parent.mkdir(parents=True, exist_ok=True)
    _asked(url, row, {"Accept-Encoding": "identity"}, receive, len(WAITS) + 1)


def _asked(url: str, row: str, headers: Mapping[str, str], receive: Callable[["httpx2.Response"], T], tries: int) -> T:
    """What ``receive`` makes of the answer. The client's own back-off neither bounds what it waits nor survives a cut in the body."""
    import httpx2
    from huggingface_hub.errors import OfflineModeIsEnabled
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # Public by its documentation.

    sent = {**build_hf_headers(), **headers}
    for wait in (*WAITS[: tries - 1], None):
        pause = wait or 0.0
        try:
            with _session().stream("GET", url, headers=sent) as response:
                pause = max(pause, _asked_wait(response))
                if response.status_code not in PASSING or wait is None or pause > LONGEST_WAIT:
                    _refuse(response, row, "authorization" in sent)
                    return receive(response)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, OfflineModeIsEnabled):
            raise NotReachedError(f"{row}: {UNREACHED}") from None
        except _Elsewhere as error:
            raise RowError(f"{row}: the Hub sends on to {error}; expected a public address, or its own") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            if wait is None or not isinstance(error, httpx2.TransportError):
                raise RowError(f"{row}: the download broke off ({type(error).__name__}); expected whole files") from None
        time.sleep(pause)
    raise AssertionError("unreachable: the last try returns or raises")


def _session() -> "httpx2.Client":
    """The client's own session, which is made anew at times, with our guard and our patience."""
    import httpx2
    from huggingface_hub import get_session

    session = get_session()
    if _guard not in session.event_hooks["request"]:
        session.event_hooks["request"].append(_guard)
        session.timeout = httpx2.Timeout(QUIET_SECONDS)
    return session


def _guard(request: "httpx2.Request") -> None:
    """Called for every request, redirects too: none goes to this machine or its own link, unless the Hub is configured to be there."""
    import httpx2
    from huggingface_hub import constants

    endpoint = httpx2.URL(constants.ENDPOINT)
    if (request.url.host, request.url.port) == (endpoint.host, endpoint.port):
        return
    try:
        found = {str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(request.url.host, None)}
    except OSError:
        return  # Only a proxy knows this name, or nobody.
    for address in map(ip_address, found):
        plain = getattr(address, "ipv4_mapped", None) or address
        if plain.is_loopback or plain.is_link_local or plain.is_unspecified:
            raise _Elsewhere(request.url.host)


def _asked_wait(response: "httpx2.Response") -> float:
    """How long the Hub asks to be left alone, in seconds."""
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]  # As above.

    limited = parse_ratelimit_headers(response.headers)
    if response.status_code == 429 and limited is not None and limited.remaining == 0:
        return float(limited.reset_in_seconds)
    asked = response.headers.get("Retry-After", "").strip()
    return float(asked) if asked.isdecimal() else 0.0


def _refuse(response: "httpx2.Response", row: str, with_token: bool) -> None:
    status, code = response.status_code, response.headers.get("X-Error-Code", "")
    if code in REFUSALS:
        raise RowError(f"{row}: {REFUSALS[code]}")
    if status == 401 and not with_token:  # How the Hub answers for what does not exist.
        raise RowError(f"{row}: {REFUSALS['RepoNotFound']}")
    if not 200 <= status < 300:
        hint = " (if HF_TOKEN is set, check that it is valid and may read this)" if status in (401, 403) else ""
        raise RowError(f"{row}: the Hub answered {status}; expected the repository{hint}")


def _body(response: "httpx2.Response", row: str, most: int) -> bytes:
    data, end = bytearray(), time.monotonic() + LONGEST_SECONDS
    try:
        for chunk in response.iter_bytes():
            data += chunk
            if len(data) > most:
                raise RowError(f"{row}: the Hub sends more than {most:,} bytes; expected no more than were asked for")
            if time.monotonic() > end:
                raise RowError(
                    f"{row}: the Hub took longer than {LONGEST_SECONDS:.0f} seconds for {len(data):,} bytes; expected all of them"
                )
    finally:
        METER.add(response.num_bytes_downloaded)
    return bytes(data)
