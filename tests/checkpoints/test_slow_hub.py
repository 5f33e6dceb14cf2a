"""A Hub that is slow: no row waits for it beyond a stated time, and no other row waits for that
row.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import pytest

from generator.checkpoints.hub import requests, responses, revisions
from generator.checkpoints.hub.retries import RetryBudget
from generator.checkpoints.sources import hub as source
from generator.contracts import Checkpoint, Source
from generator.errors import NotReachedError, RowError, SlowError
from generator.pipeline import evaluate, inspect, plan
from tests.hub_server import Answer, Repository, Request, Trouble, serving
from tests.support import checkpoint
from tests.synthetic import TABLE

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


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Short bounds, no waits, an empty cache and no proxy."""
    # Public by its documentation.
    from huggingface_hub.utils import close_session  # type: ignore[attr-defined]

    monkeypatch.setattr("huggingface_hub.constants.HF_ASSETS_CACHE", tmp_path / "assets")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", tmp_path / "hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(revisions, "LISTING_SECONDS", SHORT)
    monkeypatch.setattr(source, "REACH_WAITS", (0.0, 0.0))
    monkeypatch.setattr(requests, "WAITS", (0.0,))
    close_session()
    yield
    close_session()


def at(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``address`` that of the Hub."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
    monkeypatch.setattr(
        "huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE",
        f"{address}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
    )
    monkeypatch.setenv("HF_ENDPOINT", address)


@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
def test_a_listing_that_comes_piece_by_piece_is_given_up_as_slow(
    drip: Drip, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dripping(drip) as address:
        at(address, monkeypatch)
        with pytest.raises(
            RowError, match=r"^row: the Hub is slow: no whole answer within 0.3 seconds; expected"
        ):
            revisions.listing("atlas/one", "main", "row", False, RetryBudget())


def test_tries_share_the_time_of_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that advances by 8 seconds in each try."""
    now = [0.0]
    given: list[float] = []
    monkeypatch.setattr(requests, "WAITS", (0.0,) * 4)
    monkeypatch.setattr(
        requests, "time", type("Clock", (), {"monotonic": lambda: now[0], "sleep": lambda _: None})
    )

    def busy(seconds: float, ask: Callable[[], Any], row: str) -> Any:
        given.append(seconds)
        now[0] += 8.0
        return (
            responses.within(60.0, ask, row)
            if seconds > 0
            else responses.within(0.0, never_done, row)
        )

    monkeypatch.setattr(requests, "within", busy)
    with serving(HUB, Trouble(Answer(503), "/revision/")) as hub:
        at(hub.endpoint, monkeypatch)
        question = requests.Question(
            f"{hub.endpoint}/api/models/atlas/one/revision/main", "row", RetryBudget(), seconds=20.0
        )
        with pytest.raises(responses.SlowAnswerError):
            requests.whole(question, 100)
    assert given == [20.0, 12.0, 4.0, -4.0]


def never_done() -> None:
    Event().wait()


def test_the_usual_bounds_are_those_of_the_guide() -> None:
    question = requests.Question("http://a.test", "row", RetryBudget())
    assert question.seconds == responses.LONGEST_SECONDS + requests.QUIET_SECONDS


@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
def test_a_hub_that_is_late_three_times_is_slow(
    drip: Drip, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "REACH_SECONDS", SHORT)
    drip = never if drip is by_bytes_of_the_body else drip  # A HEAD has no body.
    with dripping(drip) as address:
        at(address, monkeypatch)
        with pytest.raises(SlowError, match=r"slow: 3 times no answer within 0\.3 seconds"):
            source.reach()
        [task] = plan.plan([checkpoint(source="hub", id="atlas/one", place="atlas/one")], False)
    expected = (
        "atlas/one: the Hub is slow: 3 times no answer within 0.3 seconds, and the cache does not"
        " have it"
    )
    outcome = evaluate.unreached(task)
    assert outcome is not None
    assert (outcome.status, outcome.reason) == ("not reached", expected)
    with pytest.raises(SlowError) as found:
        inspect.inspect(task)
    assert str(found.value) == expected


def test_a_hub_that_is_not_there_is_not_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    at("http://127.0.0.1:9", monkeypatch)
    with pytest.raises(
        NotReachedError, match=r"^the Hub did not answer \(ConnectError\)$"
    ) as found:
        source.reach()
    assert not isinstance(found.value, SlowError)


@pytest.mark.parametrize("n_cuts", [1, 2])
def test_a_hiccup_is_asked_again(n_cuts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(HUB, Trouble(Answer(None), method="HEAD", times=n_cuts)) as hub:
        at(hub.endpoint, monkeypatch)
        source.reach()
    assert sum(request.method == "HEAD" for request in hub.log) == n_cuts + 1


def test_rows_are_pinned_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits until all have begun."""
    n_rows, begun, lock, all_begun = 45, [0], Lock(), Event()

    def pin(row: Checkpoint, offline: bool) -> Checkpoint:
        with lock:
            begun[0] += 1
        if begun[0] == n_rows:
            all_begun.set()
        assert all_begun.wait(60.0)
        return replace(row, revision=COMMIT)

    meeting = Source("hub", "", False, lambda *_: None, lambda *_: None, pin=pin)  # type: ignore[arg-type]
    monkeypatch.setattr(plan, "all_sources", lambda: (meeting,))
    rows = [
        checkpoint(source="hub", id=f"a/{index}", place=f"a/{index}") for index in range(n_rows)
    ]
    assert {task.checkpoint.revision for task in plan.plan(rows, False)} == {COMMIT}


def test_a_slow_row_leaves_the_others_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    over = Event()
    with serving(HUB) as hub:
        true = hub.answer

        def answer(asked: Request) -> Answer:
            if "atlas/two/revision" in asked.path:
                over.wait(60.0)
            return true(asked)

        monkeypatch.setattr(hub, "answer", answer)
        at(hub.endpoint, monkeypatch)
        monkeypatch.setattr(source, "BEFORE_A_RUN", SHORT)
        monkeypatch.setattr(revisions, "LISTING_SECONDS", 60.0)
        rows = [
            checkpoint(source="hub", slug=name, id=f"atlas/{name}", place=f"atlas/{name}")
            for name in ("one", "two")
        ]
        tasks = plan.plan(rows, False)
        over.set()
        # The other is asked again when it is evaluated, beside this one, and has more time.
        late = evaluate.evaluate(tasks[1])
    assert [task.checkpoint.revision for task in tasks] == [COMMIT, None]
    assert late.revision == COMMIT


def test_a_host_of_a_redirect_that_refuses_is_a_failure_of_its_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    addresses = iter(["93.184.216.34", "127.0.0.1"] * 2)
    true: Callable[..., Any] = socket.getaddrinfo

    def resolved(host: Any, *arguments: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        return true(next(addresses) if name == "cdn.test" else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    there = Answer(302, headers={"Location": "http://cdn.test:9/x"})
    with serving(HUB, Trouble(there, "/resolve/")) as hub:
        at(hub.endpoint, monkeypatch)
        question = requests.Question(f"{hub.endpoint}/atlas/one/resolve/x", "row", RetryBudget())
        with pytest.raises(
            responses.TransientError,
            match=r"^row: the Hub redirects to cdn.test, which does not accept the connection;",
        ):
            requests.whole(question, 100)
