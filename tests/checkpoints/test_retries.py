"""Waits between retries, with a fake clock."""

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from generator.cache.blobs import BlobCache
from generator.checkpoints.hub import requests, responses, retries
from generator.checkpoints.hub.responses import TransientError
from generator.checkpoints.hub.retries import RetryBudget, retry_after
from generator.errors import RowError
from tests.hub_server import Answer, Hub, Repository, Trouble, refusal, serving

COMMIT = "a" * 40
CONFIG, PICKLE = (
    f"atlas/x/resolve/{COMMIT}/config.json",
    f"atlas/x/resolve/{COMMIT}/pytorch_model.bin",
)
REPOSITORIES = {
    "atlas/x": Repository(
        {COMMIT: {"config.json": b"{}", "pytorch_model.bin": b"12345"}}, {"main": COMMIT}
    )
}


class Clock:
    """A fake clock that advances in ``sleep``, and by ``step`` in ``monotonic``."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 1000.0, step
        self.slept: list[float] = []

    def monotonic(self) -> float:
        self.now += self.step
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    # Public by its documentation.
    from huggingface_hub.utils import close_session  # type: ignore[attr-defined]

    fake = Clock()
    for module in (requests, responses, retries):
        monkeypatch.setattr(module, "time", fake)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    close_session()
    yield fake
    close_session()


def request(hub: Hub, budget: RetryBudget, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.endpoint)
    return requests.whole(requests.Question(f"{hub.endpoint}/{CONFIG}", "x", budget), 100)


RATE_LIMITS = {
    "in seconds": {"Retry_After": "290"},
    "of the Hub's own limit": {"RateLimit": '"api";r=0;t=290'},
}


@pytest.mark.parametrize("header", RATE_LIMITS.values(), ids=RATE_LIMITS)
def test_a_row_waits_for_the_end_of_the_rate_limit_window(
    header: dict[str, str], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(REPOSITORIES, Trouble(refusal(429, **header), "/resolve/", times=1)) as hub:
        assert request(hub, RetryBudget(), monkeypatch) == b"{}"
    assert clock.slept == [290.0]


def test_a_row_waits_until_the_date_in_retry_after(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=200), usegmt=True)
    with serving(
        REPOSITORIES, Trouble(refusal(503, Retry_After=date), "/resolve/", times=1)
    ) as hub:
        assert request(hub, RetryBudget(), monkeypatch) == b"{}"
    assert 100 < clock.slept[0] <= 200


def test_no_row_waits_beyond_its_budget(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = clock.now
    with (
        serving(REPOSITORIES, Trouble(refusal(429, Retry_After="290"))) as hub,
        pytest.raises(TransientError, match="of 290 seconds; expected at most 160"),
    ):
        request(hub, RetryBudget(), monkeypatch)
    assert clock.now - begun == 290.0


def test_a_wait_beyond_the_budget_is_an_error_at_once(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = refusal(429, Retry_After="Fri, 31 Dec 9999 23:59:59 GMT")
    with (
        serving(REPOSITORIES, Trouble(far)) as hub,
        pytest.raises(
            TransientError, match=rf"of more than a day; expected at most {retries.LONGEST:g}"
        ),
    ):
        request(hub, RetryBudget(), monkeypatch)
    assert clock.slept == []


FAILURES = {
    "a limit": refusal(429, Retry_After="1"),
    "a fault": refusal(503),
    "a cut": Answer(None),
}


@pytest.mark.parametrize("answer", FAILURES.values(), ids=FAILURES)
def test_an_empty_budget_allows_one_request(
    answer: Answer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(REPOSITORIES, Trouble(answer)) as hub:
        with pytest.raises(TransientError):
            request(hub, RetryBudget(longest=0.0), monkeypatch)
        assert (len(hub.log), clock.slept) == (1, [])
        with pytest.raises(TransientError):
            request(hub, RetryBudget(), monkeypatch)
    assert len(clock.slept) > 1


@pytest.mark.parametrize(
    "header",
    ["", "soon", "-5", "Fri, 99 Dec 2099 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "²"],
)
def test_a_header_without_a_future_time_means_no_wait(header: str) -> None:
    assert retry_after(429, {"Retry-After": header}) == 0.0


def test_a_number_of_thousands_of_digits_is_ignored() -> None:
    assert retry_after(429, {"RateLimit": f'"api";r=0;t={"9" * 5000}'}) == 0.0


def fetch(hub: Hub, blobs: BlobCache, most: int, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.endpoint)
    question = requests.Question(f"{hub.endpoint}/{PICKLE}", "x", RetryBudget())
    return requests.large(question, most, lambda pieces: blobs.put_file("x.whole", pieces))


def test_a_large_file_beyond_the_limit_is_refused_by_its_length(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serving(REPOSITORIES) as hub,
        pytest.raises(RowError, match=r"^x: 5 bytes; expected at most 4$"),
    ):
        fetch(hub, BlobCache(tmp_path), 4, monkeypatch)
    assert list(tmp_path.iterdir()) == []


def test_a_large_file_that_decompresses_beyond_the_limit_is_not_cached(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = Answer(200, gzip.compress(bytes(2**20)), {"Content-Encoding": "gzip"})
    with (
        serving(REPOSITORIES, Trouble(bomb)) as hub,
        pytest.raises(RowError, match="the Hub sends more than 10,000 bytes"),
    ):
        fetch(hub, BlobCache(tmp_path), 10_000, monkeypatch)
    assert list(tmp_path.iterdir()) == []


def test_a_large_file_that_takes_too_long_times_out(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.step = 301.0
    with (
        serving(REPOSITORIES) as hub,
        pytest.raises(TransientError, match="the Hub took longer than 300 seconds for 5 bytes"),
    ):
        fetch(hub, BlobCache(tmp_path), 10, monkeypatch)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damaged", ["x.whole", "x.whole.sha256"])
def test_a_truncated_large_file_counts_as_missing(damaged: str, tmp_path: Path) -> None:
    blobs = BlobCache(tmp_path)
    assert (
        blobs.put_file("x.whole", [b"123", b"45"]) == blobs.path("x.whole") == tmp_path / "x.whole"
    )
    (tmp_path / damaged).write_bytes((tmp_path / damaged).read_bytes()[:-1])
    assert blobs.path("x.whole") is None
