"""Requests to the Hub in the session of huggingface_hub: retries, and limits of size and time."""

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from generator.checkpoints.hub import guard
from generator.checkpoints.hub.responses import (
    LONGEST_SECONDS,
    TransientError,
    is_retryable,
    pieces,
    raise_for_status,
    retry_exhausted,
    within,
)
from generator.checkpoints.hub.retries import WAITS, RetryBudget, retry_after
from generator.errors import AtlasError, NotReachedError, RefusedError, RowError

if TYPE_CHECKING:
    import httpx2

QUIET_SECONDS = 30.0  # without a byte
UNREACHED = "the Hub could not be reached, and the cache does not have it"
SHA256 = re.compile("[0-9a-f]{64}")
LONGEST_TAG = 200  # characters
T = TypeVar("T")


@dataclass(frozen=True)
class ByteRange:
    """Some bytes of a file, and the length of the whole file in bytes."""

    data: bytes
    total: int


@dataclass(frozen=True)
class Version:
    """What an answer says of the file that it has bytes of; None for what it leaves open.

    total: length in bytes; tag: its ETag on the Hub, or else on the host of its storage; commit: of
        its repository; sha256: hex digest of the whole
    """

    total: int | None = None
    tag: str | None = None
    commit: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Question:
    """A request for a file, or to the Hub's API.

    row: its name in messages; check: called with what every answer says of its file. errors:
        RowError
    seconds: that its answers may take in all, beside waits that ``budget`` allows
    """

    url: str
    row: str
    budget: RetryBudget
    check: Callable[[Version], None] = lambda _: None
    seconds: float = LONGEST_SECONDS + QUIET_SECONDS


def check_settings() -> None:
    """Check HF_ENDPOINT and HF_TOKEN, which huggingface_hub uses unchecked.

    errors: RefusedError
    """
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    try:
        address = urlsplit(endpoint)
        is_address = (
            address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
        )
    except ValueError:
        is_address = False
    if not is_address:
        raise RefusedError(
            f"HF_ENDPOINT: {endpoint!r}; expected an address such as https://huggingface.co"
        )
    from huggingface_hub import get_token  # Not before: its import fails for an invalid address.

    if not (get_token() or "").isascii():
        raise RefusedError("HF_TOKEN: letters beyond ASCII; expected a token of the Hub, as hf_…")


def session() -> "httpx2.Client":
    """The session of huggingface_hub, with our guard and timeout; the library replaces its session
    now and then.

    errors: RefusedError where the environment names an unusable proxy or certificate
    """
    import httpx2
    from huggingface_hub import get_session

    try:
        client = get_session()
    except (ImportError, ValueError, OSError, httpx2.InvalidURL) as error:
        cause = str(error).partition(". ")[0]
        raise RefusedError(
            f"the Hub's client cannot start ({cause}); expected HTTP_PROXY, HTTPS_PROXY, ALL_PROXY"
            " and SSL_CERT_FILE that it can use"
        ) from None
    if guard.check not in client.event_hooks["request"]:
        client.event_hooks["request"].append(guard.check)
        client.timeout = httpx2.Timeout(QUIET_SECONDS)
    return client


def whole(question: Question, most: int) -> bytes:
    """The body of a response: a small file, or JSON of the Hub's API.

    errors: RowError when the request is refused, breaks off or returns more than ``most`` bytes;
        NotReachedError without a connection
    """
    return _streamed(question, {}, lambda response: b"".join(pieces(response, question.row, most)))


def part(question: Question, start: int, stop: int) -> ByteRange:
    """The bytes ``start`` to ``stop`` (exclusive) of a file, or to its end.

    errors: as for ``whole``; RowError also for a server that ignores the range and returns the
        whole file
    """

    def receive(response: "httpx2.Response") -> ByteRange:
        content_range = _content_range(response)
        if response.status_code != 206 or content_range is None:
            raise RowError(
                f"{question.row}: the Hub answered {response.status_code} to a range of"
                f" {stop - start:,} bytes; expected 206 and that range"
            )
        first, last, total = map(int, content_range.groups())
        data = b"".join(pieces(response, question.row, stop - start))
        if first != start or last + 1 != min(stop, total) or len(data) != last + 1 - first:
            raise RowError(
                f"{question.row}: the Hub sent {len(data):,} bytes as {content_range[0]!r};"
                f" expected bytes {start:,} to {stop - 1:,}"
            )
        return ByteRange(data, total)

    # A compressed range would hide how many bytes of it arrived.
    headers = {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}
    return _streamed(question, headers, receive)


def large(question: Question, most: int, store: Callable[[Iterator[bytes]], T]) -> T:
    """The result of ``store`` for the pieces of a large file; a retry starts again with the first
    piece.

    errors: as for ``whole``; RowError also for bytes of another SHA-256 than the Hub states
    """
    row = question.row

    def checked(response: "httpx2.Response") -> Iterator[bytes]:
        digest, stated = hashlib.sha256(), _version(response).sha256
        for piece in pieces(response, row, most):
            digest.update(piece)
            yield piece
        if stated not in (None, digest.hexdigest()):
            raise RowError(
                f"{row}: its bytes have the SHA-256 {digest.hexdigest()}; expected {stated}, which"
                " the Hub states"
            )

    def receive(response: "httpx2.Response") -> T:
        length = response.headers.get("Content-Length", "")
        if length.isdecimal() and len(length) < 20 and int(length) > most:
            raise RowError(f"{row}: {int(length):,} bytes; expected at most {most:,}")
        return store(checked(response))

    return _streamed(question, {"Accept-Encoding": "identity"}, receive)


def _content_range(response: "httpx2.Response") -> re.Match[str] | None:
    """First and last byte, and the length of the file."""
    return re.fullmatch(
        r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", response.headers.get("Content-Range", "")
    )


def _version(response: "httpx2.Response") -> Version:
    """What a response, and the redirects to it, say of the file."""
    answers = (*response.history, response)  # The Hub's own come first.
    commits, linked = (
        [answer.headers[name] for answer in answers if name in answer.headers]
        for name in ("X-Repo-Commit", "X-Linked-ETag")
    )
    commit, digest = next(iter(commits), None), next(iter(linked), "").strip('"')
    sha256 = digest if SHA256.fullmatch(digest) else None
    if "Content-Encoding" in response.headers:  # Its length and tag are those of what was sent.
        return Version(commit=commit, sha256=sha256)
    content_range = _content_range(response)
    total = content_range[3] if content_range else response.headers.get("Content-Length", "")
    tag = digest or response.headers.get("ETag", "").removeprefix("W/").strip('"')
    return Version(
        int(total) if re.fullmatch(r"\d{1,18}", total) else None,
        ascii(tag[:LONGEST_TAG]) if tag else None,
        commit,
        sha256,
    )


def _streamed(
    question: Question,
    headers: Mapping[str, str],
    receive: Callable[["httpx2.Response"], T],
) -> T:
    """The result of ``receive`` for a successful response.

    The back-off of huggingface_hub has no time limit and does not retry a body that breaks off.
    """
    import httpx2
    from huggingface_hub.errors import OfflineModeIsEnabled

    row, budget = question.row, question.budget
    seconds = min(question.seconds, budget.answers)
    for wait in (*WAITS, None):
        pause, begun = wait or 0.0, time.monotonic()
        try:
            answer = within(seconds, partial(_tried, question, headers, receive), row)
            if not isinstance(answer, httpx2.Response):
                return answer
            left = budget.left()
            pause = max(pause, retry_after(answer.status_code, answer.headers))
            if wait is None or pause > left:
                raise retry_exhausted(answer, row, left)
        except OfflineModeIsEnabled:
            raise NotReachedError(f"{row}: {UNREACHED}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            final = _final(error, row)
            if wait is None or pause > budget.left() or not isinstance(final, TransientError):
                raise final from None
        seconds -= time.monotonic() - begun
        time.sleep(pause)
    raise AssertionError("unreachable: the last try returns or raises")


def _tried(
    question: Question,
    headers: Mapping[str, str],
    receive: Callable[["httpx2.Response"], T],
) -> "T | httpx2.Response":
    """The result of ``receive`` for the response to one try; a response that another try may
    improve.
    """
    # Public by its documentation.
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    sent = {**build_hf_headers(), **headers}
    try:
        with session().stream("GET", question.url, headers=sent) as response:
            if is_retryable(response):
                return response
            raise_for_status(response, question.row, "authorization" in sent)
            question.check(_version(response))
            return receive(response)
    except guard.LocalRedirectError as error:
        raise RowError(
            f"{question.row}: the Hub redirects to {error}; expected a public address, or its own"
        ) from None


def _final(error: "httpx2.HTTPError | httpx2.InvalidURL", row: str) -> AtlasError:
    """The error of a row whose request failed with ``error``; a ``TransientError`` where another
    try may succeed.
    """
    import httpx2

    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        if guard.is_hub(error.request.url):
            return NotReachedError(f"{row}: {UNREACHED}")
        return TransientError(
            f"{row}: the Hub redirects to {error.request.url.host}, which does not accept the"
            " connection; expected a host that does"
        )
    kind = TransientError if isinstance(error, httpx2.TransportError) else RowError
    return kind(f"{row}: the download broke off ({type(error).__name__}); expected whole files")
