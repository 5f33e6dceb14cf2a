"""Files with the numbers of a training run: what they hold comes back, and what is wrong with
others is said.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from generator.checkpoints import run_file
from generator.contracts import Run, RunEncoding, RunMember, RunMetric
from generator.errors import RowError
from tests.built import ROOT

ENCODING = RunEncoding(
    key="encoder-learned",
    name="encoder",
    part="encoder",
    scheme="learned",
    form="PositionTable",
    quantity="cosine of two position vectors",
    metrics=(RunMetric("decay_with_distance.half", "Half way", "positions", (None, 2.5)),),
    kernel=((), (1.0, None, -0.25)),
)
MEMBERS = (RunMember(0, "step0", "failed", "step0: no config"), RunMember(10, "step10", "ok"))
RUN = Run("run", "A run", "folder", "runs/a", MEMBERS, (ENCODING,), notes="Ümlaut", licence="MIT")


def document(**changes: Any) -> bytes:
    """A valid file with other members of its run."""
    whole = json.loads(run_file.encoded(RUN))
    whole["run"] |= changes
    return json.dumps(whole).encode()


def encoding(**changes: Any) -> list[Any]:
    return [{**json.loads(run_file.encoded(RUN))["run"]["encodings"][0], **changes}]


def test_what_is_written_is_read_again() -> None:
    assert run_file.parsed(run_file.encoded(RUN, {"seed": 0}), "row") == RUN


def test_the_run_of_this_repository_is_small_and_says_how_it_was_made() -> None:
    path = ROOT / "references" / "tiny-gpt.json"
    assert path.stat().st_size <= 300_000
    about = {"steps", "seed", "text", "model", "training", "versions"}
    assert set(json.loads(path.read_bytes())["about"]) == about
    assert len(run_file.read(path, "row").members) == 21


def steps(*numbers: int, status: str = "ok") -> bytes:
    return document(members=[{"step": step, "name": "x", "status": status} for step in numbers])


def kernels(*rows: list[float]) -> bytes:
    return document(encodings=encoding(kernel=rows))


INVALID = {
    "no JSON": (b"x", "row: not JSON; expected"),
    "a list": (b"[]", "row: no 'format': 1; expected"),
    "another format": (b'{"format": 2}', "row: no 'format': 1; expected"),
    "no run": (b'{"format": 1}', "row: run.: "),
    "deep nesting": (b"[" * 100_000, "row: not JSON; expected"),
    "a number as a title": (document(title=3), "row: run.title: Input should be a valid"),
    "an unknown status": (steps(0, status="lost"), "row: run.members.0.status: "),
    "no members": (steps(), "row: found 0 members; expected 1 to 256, in order of their steps"),
    "steps that fall": (steps(2, 1), "row: found 2 members; expected 1 to 256, in order of their"),
    "a key that leads out of the site": (
        document(encodings=encoding(key="../x")), "row: found encodings with the keys ['../x']"
    ),
    "the same key twice": (document(encodings=encoding() * 2), "row: found encodings with the"),
    "a value too few": (kernels([1.0]), "row: 'encoder-learned' has series of other lengths"),
    "distances that differ": (kernels([1.0], [1.0, 2.0]), "row: kernels of other lengths"),
    "an infinite value": (
        kernels([], [1.0, 1e400, 0.0]).replace(b"Infinity", b"1e400"),
        "row: 'encoder-learned' has values beyond ±1e+100, or none that are numbers; expected",
    ),
    "a value that no figure can show": (
        kernels([], [1.0, -1e308]), "row: 'encoder-learned' has values beyond ±1e+100, or none"
    ),
    "a step that no figure can show": (
        steps(0, 10**400), "row: found 2 members; expected 1 to 256, in order of their steps from 0"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), INVALID.values(), ids=INVALID)
def test_other_files_fail_the_row_and_say_where(content: bytes, message: str) -> None:
    with pytest.raises(RowError) as caught:
        run_file.parsed(content, "row")
    assert str(caught.value).startswith(message)


def test_a_missing_file_fails_the_row(tmp_path: Path) -> None:
    with pytest.raises(RowError, match=r"^row: no such file; expected numbers of a training run"):
        run_file.read(tmp_path / "none.json", "row")


def test_a_long_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_bytes(b" " * (run_file.MOST_BYTES + 1))
    with pytest.raises(RowError, match=r"^row: 8,388,609 bytes; expected at most 8,388,608"):
        run_file.read(path, "row")
