"""Requests by the client of the Hub: its settings, retries, and limits of time and size."""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from generator.errors import AtlasError, NotReachedError, RefusedError, RowError
from generator.text import short, visible

if TYPE_CHECKING:
    import httpx2

WAITS = (0.5, 1.0, 2.0, 4.0)  # seconds before the first, second … retry
# seconds; the Hub counts requests in windows of 300 (huggingface.co/docs/hub/rate-limits).
LONGEST_WAIT = 310.0
QUIET_SECONDS = 30.0  # without a byte
REACH_SECONDS = 3.0  # That the Hub has for an answer.
REACH_WAITS = (0.5, 1.0)  # Seconds before the second and the third request.
RETRYABLE = (408, 429, 500, 502, 503, 504)
LONGEST_MESSAGE = 200  # characters
MOST_ANSWER_BYTES = 2**24  # of the API; a listing of 100,000 files has some 7 MB.
MOST_UNREAD_BYTES = 2**16  # of a refusal or a redirect, which have all that is needed in headers
# Those that grow 1,000 times at most. More than one, or another, could fill the memory at once.
CODINGS = ("identity", "gzip", "deflate")
UNREACHED = "the Hub could not be reached, and the cache does not have it"
REFUSALS = {
    "GatedRepoError": "gated; expected access (accept its terms on the Hub and set HF_TOKEN)",
    "RepositoryNotFoundError": (
        "no such repository; expected a public one, or HF_TOKEN for a private one"
    ),
    "RevisionNotFoundError": (
        "no such revision; expected a branch, tag or full commit of this repository"
    ),
    "HFValidationError": "not a Hub id; expected 'owner/name'",
}
# What an answer of another form than the API's leads to.
INVALID = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)
T = TypeVar("T")
received = [0]  # Bytes of files that this process has received.


class TransientError(RowError):
    """A failure after all retries that a later build may not have."""


def check_settings() -> None:
    """Start the client, for what it refuses of the environment. errors: RefusedError"""
    try:  # Its import fails for an invalid address.
        from httpx2 import URL, InvalidURL
        from huggingface_hub import constants, get_session, get_token

        if (url := URL(constants.ENDPOINT)).scheme not in {"http", "https"} or not url.host:
            raise ValueError(f"HF_ENDPOINT is {constants.ENDPOINT!r:.80}")
        get_session()
        (get_token() or "").encode("ascii")
    except (ImportError, ValueError, OSError, InvalidURL) as error:
        cause = str(error).partition(". ")[0]
        raise RefusedError(
            f"the Hub's client cannot start ({cause}); expected HF_ENDPOINT, HF_TOKEN, HTTP_PROXY,"
            " HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE that it can use"
        ) from None


def reach() -> None:
    """Send a request, up to three times, to see whether the Hub answers.

    errors: NotReachedError, RefusedError
    """
    check_settings()
    from huggingface_hub import constants, get_session

    # Of whichever HTTP library it uses.
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    def ask() -> None:
        get_session().head(constants.ENDPOINT, follow_redirects=False)

    for pause in (*REACH_WAITS, None):
        try:
            return by_deadline(REACH_SECONDS, ask, "Hub")
        except (HTTPError, OSError, UnicodeError, NotReachedError) as error:
            if pause is None:
                raise NotReachedError(f"the Hub did not answer ({type(error).__name__})") from None
        time.sleep(pause)
    raise AssertionError("unreachable: the last try returns or raises")


def by_deadline(seconds: float, ask: Callable[[], T], row: str) -> T:
    """The result of ``ask``, which is given up after ``seconds``, be it late as a whole or in each
    byte.

    errors: NotReachedError where it is late; those of ``ask``
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
        raise NotReachedError(
            f"{row}: the Hub is slow: no whole answer within {seconds:,.3g} seconds; expected one"
        )
    return future.result()


def retried(ask: Callable[[], T], row: str, deadline: float, seconds: float = math.inf) -> T:
    """The result of ``ask``, which calls the client, tried again after what may pass.

    The back-off of the client waits as long as the Hub asks for, be it an hour.

    row: its name in messages; deadline: of all tries and waits, by ``time.monotonic``; seconds: of
        one try
    errors: RowError, TransientError; NotReachedError without a connection, or where it is late
    """
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    for pause in (*WAITS, None):
        try:
            return by_deadline(min(seconds, deadline - time.monotonic()), ask, row)
        except OfflineModeIsEnabled:
            raise NotReachedError(f"{row}: {UNREACHED}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, *INVALID) as error:
            retry_after = _retry_after(error.response) if isinstance(error, HfHubHTTPError) else 0.0
            final, left = _explained(error, row, retry_after), deadline - time.monotonic()
            may_pass = isinstance(final, TransientError | NotReachedError)
            if pause is None or not may_pass or max(pause, retry_after) > min(LONGEST_WAIT, left):
                raise final from None
        time.sleep(max(pause, retry_after))
    raise AssertionError("unreachable: the last try returns or raises")


def read(
    url: str,
    row: str,
    deadline: float,
    receive: Callable[["httpx2.Response"], T],
    headers: Mapping[str, str],
) -> T:
    """The result of ``receive`` for a successful response, whose body is still to be read.

    deadline, errors: as in ``retried``; those of ``receive``
    """

    def ask() -> T:
        with _answered(url, headers) as response:
            try:
                return receive(response)
            finally:
                received[0] += response.num_bytes_downloaded

    return retried(ask, row, deadline)


def answer(path: str, row: str) -> Any:
    """What the API says, of one request, to be called by ``retried``.

    path: below /api/, with the query
    errors: those of the client; RowError beyond ``MOST_ANSWER_BYTES``
    """
    from huggingface_hub import constants

    with _answered(f"{constants.ENDPOINT}/api/{path}", {}) as response:
        return json.loads(b"".join(chunks(response, row, MOST_ANSWER_BYTES)))


@contextmanager
def _answered(url: str, headers: Mapping[str, str]) -> Iterator["httpx2.Response"]:
    """A successful response, whose body is still to be read. errors: those of the client"""
    from huggingface_hub import get_session
    from huggingface_hub.utils import (  # type: ignore[attr-defined]
        build_hf_headers,
        hf_raise_for_status,
    )

    session = get_session()
    session.event_hooks = {**session.event_hooks, "response": [_without_body]}
    # Compression would hide how many bytes of a file arrived.
    sent = {**build_hf_headers(), "Accept-Encoding": "identity", **headers}
    with session.stream("GET", url, headers=sent, timeout=QUIET_SECONDS) as response:
        hf_raise_for_status(response)
        yield response


def _without_body(response: "httpx2.Response") -> None:
    """Have the client, which reads refusals and redirects whole, find nothing in them."""
    import httpx2

    if response.is_success or not isinstance(response.stream, httpx2.SyncByteStream):
        return
    sent: httpx2.SyncByteStream = response.stream

    class Drained(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            n_bytes = 0
            for chunk in sent:  # So that the connection can be used again.
                n_bytes += len(chunk)
                if n_bytes > MOST_UNREAD_BYTES:
                    break
            yield b""

        def close(self) -> None:
            sent.close()

    response.stream = Drained()


def chunks(response: "httpx2.Response", row: str, most: int) -> Iterator[bytes]:
    """The decompressed body. errors: RowError beyond ``most`` bytes, and for unusual ``CODINGS``"""
    coding = response.headers.get("Content-Encoding", CODINGS[0])
    if coding not in CODINGS:
        raise RowError(
            f"{row}: the Hub sends it in the coding {coding!r:.80}; expected one of"
            f" {', '.join(CODINGS)}"
        )
    n_bytes = 0
    for chunk in response.iter_bytes():
        n_bytes += len(chunk)
        if n_bytes > most:
            raise RowError(
                f"{row}: the Hub sends more than {most:,} bytes; expected no more than requested"
            )
        yield chunk


def _retry_after(response: "httpx2.Response") -> float:
    """Seconds that a response asks to wait: by the Hub's headers of its rate limit, otherwise by
    Retry-After (RFC 9110, section 10.2.3).
    """
    # Public by its documentation.
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

    with suppress(ValueError, OverflowError):  # A date, or no number.
        limited = parse_ratelimit_headers(response.headers)
        if response.status_code == 429 and limited is not None and limited.remaining == 0:
            return float(limited.reset_in_seconds)
        return float(response.headers.get("Retry-After", 0.0))
    return 0.0


def _explained(error: Exception, row: str, retry_after: float) -> AtlasError:
    """The error of a row for one of the client, with its remedy; a ``TransientError`` or
    ``NotReachedError`` where another try may succeed.

    retry_after: seconds that the Hub asks to wait
    """
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError

    name = type(error).__name__
    if name in REFUSALS:
        return RowError(f"{row}: {REFUSALS[name]}")
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return NotReachedError(f"{row}: {UNREACHED}")
    if isinstance(error, HfHubHTTPError):
        return _refused(error.response, row, retry_after)
    if isinstance(error, httpx2.HTTPError):
        kind = TransientError if isinstance(error, httpx2.TransportError) else RowError
        return kind(f"{row}: the download broke off ({name}); expected whole files")
    cause = visible(short(f"{name}: {error}", LONGEST_MESSAGE))
    return RowError(f"{row}: the Hub's answer is invalid ({cause}); expected that of its API")


def _refused(response: "httpx2.Response", row: str, retry_after: float) -> RowError:
    """The error of a row for a response without success. A signed address to which the Hub has
    redirected may have expired; each try gets a new one.
    """
    status, message = response.status_code, response.headers.get("X-Error-Message", "")
    has_expired = (
        status == 403 and bool(response.history) and "X-Error-Code" not in response.headers
    )
    reason = f" (“{visible(short(message, LONGEST_MESSAGE))}”)" if message else ""
    pause = f" and asks for a pause of {retry_after:,.0f} seconds" if retry_after else ""
    hint = " (if HF_TOKEN is set, check that it is valid and may read this)"
    kind = TransientError if status in RETRYABLE or has_expired else RowError
    return kind(
        f"{row}: the Hub answered {status}{pause}{reason}; expected the repository"
        + hint * (status in (401, 403))
    )
