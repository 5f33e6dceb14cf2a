"""Answers of the Hub's API that have no end, unpack to more than fits, or list too much."""

import gzip
import json
import time
import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import pytest

from generator.checkpoints.hub import client, revisions
from generator.checkpoints.hub.repository import Repository as HubFiles
from generator.errors import RowError
from tests.hub_server import Answer, Repository, Trouble, client_of, serving
from tests.synthetic import TABLE

COMMIT = "a" * 40
HUB = {f"atlas/{name}": Repository({COMMIT: TABLE}, {"main": COMMIT}) for name in "xy"}
ENDLESS = bytes(2**27)  # As far as a client can tell, that stops before its end.
BOMB = gzip.compress(bytes(2**29), 1)
# names of 20 letters, as many as 5 MB hold
NAMES = json.dumps({"sha": COMMIT, "siblings": [{"rfilename": "a" * 20}] * 150_000}).encode()
TOO_MUCH = f"the Hub sends more than {client.MOST_ANSWER_BYTES:,} bytes"
PACKED = {"Content-Encoding": "gzip"}
AWAY = {"Location": "/elsewhere"}
ANSWERS: Mapping[str, tuple[Answer, str]] = {
    "without an end": (Answer(200, ENDLESS), TOO_MUCH),
    "packed": (Answer(200, BOMB, PACKED), TOO_MUCH),
    "packed twice": (Answer(200, BOMB, {"Content-Encoding": "gzip, gzip"}), "'gzip, gzip'"),
    "packed better": (Answer(200, b"", {"Content-Encoding": "br"}), "in the coding 'br'"),
    "names": (Answer(200, NAMES), "lists 150,000 files; expected at most 100,000"),
    "a refusal": (Answer(404, ENDLESS), "the Hub answered 404"),
    "a packed refusal": (Answer(404, BOMB, PACKED), "the Hub answered 404"),
    "a redirect": (Answer(302, ENDLESS, AWAY), "no such repository"),
    "a packed redirect": (Answer(302, BOMB, {**AWAY, **PACKED}), "no such repository"),
}
MOST = 150 * 2**20  # bytes: of the largest piece that is unpacked, twice


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_that_is_too_much_gets_one_sentence_and_little_memory(
    case: str, tmp_path: Path
) -> None:
    answer, message = ANSWERS[case]
    end = time.monotonic() + 60.0
    with serving(HUB, Trouble(answer, "/atlas/x")) as hub, client_of(tmp_path, hub.endpoint):
        revisions.listing("atlas/y", "main", "row", False, end)  # Which imports libraries.
        tracemalloc.start()
        try:
            with pytest.raises(RowError) as raised:
                revisions.listing("atlas/x", "main", "row", False, end)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert str(raised.value).startswith("row: ")
    assert message in str(raised.value)
    assert peak < MOST


def test_branches_and_dates_have_the_same_bound(tmp_path: Path) -> None:
    trouble = Trouble(Answer(200, ENDLESS), "/api/")
    with serving(HUB, trouble) as hub, client_of(tmp_path, hub.endpoint):
        with pytest.raises(RowError, match=TOO_MUCH):
            revisions.commits_by_name("atlas/x", offline=False)
        assert revisions.committed("atlas/x", COMMIT, "row", offline=False) is None


def test_a_refusal_of_a_file_is_not_read_either(tmp_path: Path) -> None:
    trouble = Trouble(Answer(403, BOMB, PACKED), "resolve")
    with serving(HUB, trouble) as hub, client_of(tmp_path, hub.endpoint):
        listing = revisions.Listing(COMMIT, ("config.json",))
        files = HubFiles("atlas/x", listing, "row", False, time.monotonic() + 60.0)
        with pytest.raises(RowError, match=r"^row: config.json: the Hub answered 403"):
            files.read("config.json")
