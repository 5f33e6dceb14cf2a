"""Requests to the Hub, in its own client's session: patient for a bounded time, never beyond a number of bytes, and to no other host here."""

import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from generator.checkpoints.hub.responses import PASSING, PassingError, pieces, raise_for_answer, retry_exhausted
from generator.checkpoints.hub.retries import WAITS, Patience, retry_after
from generator.errors import NotReachedError, RefusedError, RowError

if TYPE_CHECKING:
    import httpx2

QUIET_SECONDS = 30.0  # without a byte
UNREACHED = "the Hub could not be asked and the cache does not hold it"
T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """Bytes of a file, and how many the whole file has."""

    data: bytes
    total: int


class _Elsewhere(Exception):  # noqa: N818 (it never leaves this module)
    """A redirect to a place on this machine or its own network that is not the Hub."""


def check_settings() -> None:
    """Whether the environment names a Hub that can be asked; its client takes what it says there as it is.

    errors: RefusedError
    """
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    try:
        found = urlsplit(endpoint)
        is_address = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise RefusedError(f"HF_ENDPOINT: {endpoint!r}; expected an address such as https://huggingface.co")
    from huggingface_hub import get_token  # Not before: it does not start with an address that is none.

    if not (get_token() or "").isascii():
        raise RefusedError("HF_TOKEN: letters beyond ASCII; expected a token of the Hub, as hf_…")


def session() -> "httpx2.Client":
    """The client's own session, which is made anew at times, with our guard and our patience.

    errors: RefusedError where the environment names a proxy or certificates that cannot be used
    """
    import httpx2
    from huggingface_hub import get_session

    try:
        found = get_session()
    except (ImportError, ValueError, OSError, httpx2.InvalidURL) as error:
        cause = str(error).partition(". ")[0]
        raise RefusedError(
            f"the Hub's client does not start ({cause}); expected HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE that it can use"
        ) from None
    if _guard not in found.event_hooks["request"]:
        found.event_hooks["request"].append(_guard)
        found.timeout = httpx2.Timeout(QUIET_SECONDS)
    return found


def whole(url: str, row: str, patience: Patience, most: int) -> bytes:
    """All of a small file, or the answer to a question.

    errors: RowError when it is refused, breaks off or is longer than ``most`` bytes; NotReachedError when nobody answers
    """
    return _streamed(url, row, patience, {}, lambda response: b"".join(pieces(response, row, most)))


def part(url: str, row: str, patience: Patience, start: int, stop: int) -> Part:
    """The bytes of a file from ``start`` up to, not including, ``stop``, or to its end if that comes first; errors as above.

    A server that answers a range with the whole file is not listened to.
    """

    def receive(response: "httpx2.Response") -> Part:
        said = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", response.headers.get("Content-Range", ""))
        if response.status_code != 206 or said is None:
            raise RowError(
                f"{row}: the Hub answered {response.status_code} to a range of {stop - start:,} bytes; expected 206 and that range"
            )
        first, last, total = map(int, said.groups())
        data = b"".join(pieces(response, row, stop - start))
        if first != start or last + 1 != min(stop, total) or len(data) != last + 1 - first:
            raise RowError(f"{row}: the Hub sent {len(data):,} bytes as {said[0]!r}; expected bytes {start:,} to {stop - 1:,}")
        return Part(data, total)

    # Compression would be of the range's bytes, and nothing then says how many of them came.
    return _streamed(url, row, patience, {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}, receive)


def large(url: str, row: str, patience: Patience, most: int, keep: Callable[[Iterator[bytes]], T]) -> T:
    """What ``keep`` makes of all of a large file, piece by piece, and of all of it again after a cut; errors as above."""

    def receive(response: "httpx2.Response") -> T:
        length = response.headers.get("Content-Length", "")
        if length.isdecimal() and len(length) < 20 and int(length) > most:
            raise RowError(f"{row}: {int(length):,} bytes; expected at most {most:,}")
        return keep(pieces(response, row, most))

    return _streamed(url, row, patience, {"Accept-Encoding": "identity"}, receive)


def _streamed(url: str, row: str, patience: Patience, headers: Mapping[str, str], receive: Callable[["httpx2.Response"], T]) -> T:
    """What ``receive`` makes of the answer. The client's own back-off neither bounds what it waits nor survives a cut in the body."""
    import httpx2
    from huggingface_hub.errors import OfflineModeIsEnabled
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # Public by its documentation.

    sent = {**build_hf_headers(), **headers}
    for wait in (*WAITS, None):
        pause = wait or 0.0
        try:
            with session().stream("GET", url, headers=sent) as response:
                pause, left = max(pause, retry_after(response.status_code, response.headers)), patience.left()
                if response.status_code not in PASSING:
                    raise_for_answer(response, row, "authorization" in sent)
                    return receive(response)
                if wait is None or pause > left:
                    raise retry_exhausted(response, row, left)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, OfflineModeIsEnabled):
            raise NotReachedError(f"{row}: {UNREACHED}") from None
        except _Elsewhere as error:
            raise RowError(f"{row}: the Hub sends on to {error}; expected a public address, or its own") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            if wait is None or pause > patience.left() or not isinstance(error, httpx2.TransportError):
                kind = PassingError if isinstance(error, httpx2.TransportError) else RowError
                raise kind(f"{row}: the download broke off ({type(error).__name__}); expected whole files") from None
        time.sleep(pause)
    raise AssertionError("unreachable: the last try returns or raises")


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
    except UnicodeError:  # No name of a host: a part of it is empty, or longer than 63 letters.
        raise _Elsewhere(request.url.host) from None
    for address in map(ip_address, found):
        plain = getattr(address, "ipv4_mapped", None) or address
        if plain.is_loopback or plain.is_link_local or plain.is_unspecified:
            raise _Elsewhere(request.url.host)
