"""A Hub that is slow or busy: no row waits for it beyond a stated time, and no other row waits for
that row.
"""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock, Thread

import pytest
from typing_extensions import override

from generator.checkpoints.hub import client, revisions
from generator.checkpoints.hub.client import TransientError
from generator.checkpoints.hub.repository import Repository as HubFiles
from generator.checkpoints.sources import hub as source
from generator.contracts import Checkpoint, Source
from generator.errors import NotReachedError
from generator.pipeline import evaluate
from generator.reading import plan
from tests import hub_server
from tests.hub_server import NOBODY, Answer, Hub, Repository, Trouble, client_of, refusal, serving
from tests.support import checkpoint
from tests.synthetic import TABLE

pytestmark = pytest.mark.usefixtures("blank_figures")

COMMIT = "a" * 40
HUB = {f"atlas/{name}": Repository({COMMIT: TABLE}, {"main": COMMIT}) for name in ("one", "two")}
SHORT = 0.3  # seconds: a bound as tests state it
Drip = Callable[[socket.socket, Event], None]


def by_header_lines(connection: socket.socket, over: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not over.wait(0.02):
        connection.sendall(b"X-More: 1\r\n")


def by_bytes_of_the_body(connection: socket.socket, over: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not over.wait(0.02):
        connection.sendall(b" ")


def never(_: socket.socket, over: Event) -> None:
    over.wait()


DRIPS = {"header lines": by_header_lines, "bytes": by_bytes_of_the_body, "nothing": never}


@contextmanager
def dripping(drip: Drip) -> Iterator[str]:
    """The address of a server that never finishes an answer."""
    over = Event()

    def answer(connection: socket.socket) -> None:
        try:
            with connection:
                drip(connection, over)
        except OSError:  # The client has gone.
            pass

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            Thread(target=answer, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=accept)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            over.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def on_hub(place: str, **options: str) -> Checkpoint:
    return checkpoint(source="hub", id=place, place=place, **options)


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short bounds and no waits."""
    monkeypatch.setattr(revisions, "LISTING_SECONDS", SHORT)
    monkeypatch.setattr(client, "REACH_WAITS", (0.0, 0.0))
    monkeypatch.setattr(client, "WAITS", (0.0,))


@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
def test_a_listing_that_comes_byte_by_byte_is_given_up_as_slow(drip: Drip, tmp_path: Path) -> None:
    with (
        dripping(drip) as address,
        client_of(tmp_path, address),
        pytest.raises(NotReachedError, match=r"^row: the Hub is slow: no whole answer within 0.3"),
    ):
        revisions.listing("atlas/one", "main", "row", False, time.monotonic() + 60.0)


def test_a_file_that_comes_byte_by_byte_is_given_up_at_the_deadline_of_its_row(
    tmp_path: Path,
) -> None:
    with dripping(by_bytes_of_the_body) as address, client_of(tmp_path, address):
        listing = revisions.Listing(COMMIT, ("config.json",))
        files = HubFiles("atlas/one", listing, "row", False, time.monotonic() + SHORT)
        with pytest.raises(NotReachedError, match=r"^row: config.json: the Hub is slow"):
            files.read("config.json")


@pytest.mark.parametrize("drip", [by_header_lines, never])
def test_a_hub_that_is_late_three_times_is_not_reached(
    drip: Drip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "REACH_SECONDS", SHORT)
    with dripping(drip) as address, client_of(tmp_path, address):
        with pytest.raises(NotReachedError, match="the Hub did not answer"):
            client.reach()
        [task] = plan.plan([on_hub("atlas/one")], False)
        outcome = evaluate.unreached(task)
        assert outcome is not None
        assert outcome.status == "not reached"


def test_a_hub_that_is_not_there_did_not_answer(tmp_path: Path) -> None:
    with client_of(tmp_path), pytest.raises(NotReachedError, match="ConnectError"):
        client.reach()


@pytest.mark.parametrize("n_cuts", [1, 2])
def test_a_hiccup_is_asked_again(n_cuts: int, tmp_path: Path) -> None:
    cuts = Trouble(Answer(None), method="HEAD", times=n_cuts)
    with serving(HUB, cuts) as hub, client_of(tmp_path, hub.endpoint):
        client.reach()
    assert sum(request.method == "HEAD" for request in hub.log) == n_cuts + 1


def test_rows_are_pinned_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits until all have begun."""
    n_rows, begun, lock, all_begun = 45, [0], Lock(), Event()

    class Meeting(Source):
        key = "hub"

        @override
        def pin(self, checkpoint: Checkpoint, offline: bool) -> Checkpoint:
            with lock:
                begun[0] += 1
            if begun[0] == n_rows:
                all_begun.set()
            assert all_begun.wait(60.0)
            return replace(checkpoint, revision=COMMIT)

    monkeypatch.setattr(plan, "all_sources", lambda: (Meeting(),))
    rows = [on_hub(f"a/{index}") for index in range(n_rows)]
    assert {task.checkpoint.revision for task in plan.plan(rows, False)} == {COMMIT}


def test_a_slow_row_leaves_the_others_to_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = Event()
    with serving(HUB) as hub, client_of(tmp_path, hub.endpoint):
        true = hub.answer

        def answer(asked: hub_server.Request) -> Answer:
            if "atlas/two/revision" in asked.path:
                over.wait(60.0)
            return true(asked)

        monkeypatch.setattr(hub, "answer", answer)
        monkeypatch.setattr(source, "BEFORE_A_RUN", SHORT)
        monkeypatch.setattr(revisions, "LISTING_SECONDS", 60.0)
        tasks = plan.plan([on_hub("atlas/one", slug="one"), on_hub("atlas/two", slug="two")], False)
        over.set()
        # The other is asked again when it is evaluated, beside this one, and has more time.
        late = evaluate.outcome_of(tasks[1])
    assert [task.checkpoint.revision for task in tasks] == [COMMIT, None]
    assert late.revision == COMMIT


class Clock:
    """A fake clock that advances in ``sleep``."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, list[float]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(client, "time", fake)
    monkeypatch.setattr(client, "WAITS", (50.0, 100.0))
    return fake


def read(hub: Hub, folder: Path, seconds: float) -> bytes | None:
    """config.json, within ``seconds`` of the fake clock."""
    listing = revisions.Listing(COMMIT, ("config.json",))
    with client_of(folder, hub.endpoint):
        return HubFiles("atlas/one", listing, "row", False, 1000.0 + seconds).read("config.json")


# A first answer, and the wait before the second.
WAITS = {
    "seconds": (refusal(429, Retry_After="290"), 290.0),
    "the Hub's own limit": (refusal(429, RateLimit='"api";r=0;t=290'), 290.0),
    "a limit that is not reached": (refusal(429, RateLimit='"api";r=7;t=290'), 50.0),
    "a fault": (refusal(503), 50.0),
    "less than usual": (refusal(503, Retry_After="-5"), 50.0),
    "a date": (refusal(503, Retry_After="Thu, 01 Jan 2026 00:00:00 GMT"), 50.0),
    "a cut": (Answer(None), 50.0),
}


@pytest.mark.parametrize("case", WAITS)
def test_a_row_waits_as_long_as_the_hub_asks(case: str, clock: Clock, tmp_path: Path) -> None:
    answer, wait = WAITS[case]
    with serving(HUB, Trouble(answer, "/resolve/", times=1)) as hub:
        assert read(hub, tmp_path, 450.0) == TABLE["config.json"]
    assert clock.slept == [wait]


# Troubles of a row with so many seconds left, its waits, and what its error names.
GIVEN_UP = {
    "a second wait beyond the deadline": (refusal(429, Retry_After="290"), 450.0, [290.0], "290"),
    "a long wait": (refusal(429, Retry_After="3600"), 9000.0, [], "a pause of 3,600 seconds"),
    "an endless wait": (refusal(503, Retry_After="9" * 400), 9000.0, [], "answered 503"),
    "a fault": (refusal(503), 25.0, [], "answered 503"),
    "a cut": (Answer(None), 25.0, [], "broke off"),
    "faults": (refusal(503), 450.0, [50.0, 100.0], "answered 503"),
}


@pytest.mark.parametrize("case", GIVEN_UP)
def test_no_row_waits_beyond_its_bounds(case: str, clock: Clock, tmp_path: Path) -> None:
    answer, seconds, waits, words = GIVEN_UP[case]
    with (
        serving(HUB, Trouble(answer, "/resolve/")) as hub,
        pytest.raises(TransientError, match=words),
    ):
        read(hub, tmp_path, seconds)
    assert (clock.slept, len(hub.log)) == (waits, len(waits) + 1)


def test_a_host_of_a_redirect_that_refuses_leaves_its_row_not_reached(tmp_path: Path) -> None:
    there = Answer(302, headers={"Location": f"{NOBODY}/x"})
    with (
        serving(HUB, Trouble(there, "/resolve/")) as hub,
        pytest.raises(NotReachedError, match=r"^row: config.json"),
    ):
        read(hub, tmp_path, time.monotonic() + 60.0)
