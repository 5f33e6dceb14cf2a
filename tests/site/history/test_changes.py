"""What moved between two atlases, against cases by hand."""

from copy import deepcopy
from typing import Any

import pytest

from generator.site.history.causes import Cause, causes
from generator.site.history.changes import Change, Document, checkpoints
from generator.site.history.changes import changes as changes_of
from generator.site.history.sentences import line, named, table, value_line


def atlas() -> dict[str, Any]:
    encoding = {
        "key": "decoder-learned",
        "name": "GPT · decoder",
        "sha256": "a" * 64,
        "metrics": {
            "rank.stable": {"value": 2.0, "unit": "", "reason": None},
            "vector_norms.half": {"value": None, "unit": "", "reason": "too small"},
        },
    }
    row = {
        "slug": "gpt", "title": "GPT", "status": "ok", "reason": None, "revision": "c" * 40,
        "encodings": [encoding],
    }  # fmt: skip
    return {"schema": 2, "checkpoints": [row, {**deepcopy(row), "slug": "other", "title": "Other"}]}


def changes(before: Document, after: Document) -> list[Change]:
    return changes_of(checkpoints(before), checkpoints(after))


def moved(**fields: object) -> list[Change]:
    """The changes when the first checkpoint has other ``fields``."""
    later = atlas()
    later["checkpoints"][0] |= fields
    return changes(atlas(), later)


def lines(before: Document, after: Document) -> list[str]:
    """What is said of each cause."""
    return [line(cause) for cause in causes(checkpoints(before), checkpoints(after), {}, {})]


def test_nothing_moves_from_an_atlas_to_itself() -> None:
    assert changes(atlas(), atlas()) == []


def test_a_checkpoint_comes_and_another_goes() -> None:
    later = atlas()
    later["checkpoints"][0] |= {"slug": "new", "title": "New"}
    assert [(change.kind, change.title) for change in changes(atlas(), later)] == [
        ("gone", "GPT"),
        ("new", "New"),
    ]


def test_a_new_checkpoint_that_was_not_read_says_so() -> None:
    for status, said in (("ok", "row added: New"), ("not reached", "row added: New, not reached")):
        later = atlas()
        row = {**later["checkpoints"][0], "slug": "new", "title": "New", "status": status}
        later["checkpoints"].append(row)
        assert lines(atlas(), later) == [said]


def test_a_failure_says_why_and_numbers_of_what_failed_are_no_changes() -> None:
    (change,) = moved(status="failed", reason="the file is cut short", encodings=[])
    assert named(Cause(change, 1.0)) == "row gone: GPT, failed: the file is cut short"


def test_a_moved_revision_shows_both_commits() -> None:
    (change,) = moved(revision="d" * 40)
    assert named(Cause(change, 1.0)) == "GPT: revision cccccccccccc → dddddddddddd"


def test_a_verdict_that_moved_is_a_change_and_one_that_is_new_is_not() -> None:
    before, after = atlas(), atlas()
    before["checkpoints"][0]["copy"] = {"original": "other", "verdict": "equal"}
    after["checkpoints"][0]["copy"] = {"original": "other", "verdict": "different"}
    assert lines(before, after) == ["GPT, compared with its original: equal → different"]
    assert changes(atlas(), after) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        *((2.0, None), (2.0 + 1e-7, None), (2.0 - 1e-7, None)),  # Last digits are no changes.
        *((2.5, "2.5"), (None, "none"), (0.0, "0")),
    ],
)
def test_a_metric_moves_with_before_and_after(value: float | None, said: str | None) -> None:
    later = atlas()
    later["checkpoints"][0]["encodings"][0]["metrics"]["rank.stable"]["value"] = value
    expected = [f"GPT · decoder: rank.stable 2 → {said}"] if said else []
    assert [value_line(change) for change in changes(atlas(), later)] == expected


def test_a_new_metric_is_a_change_of_the_program_alone() -> None:
    later = atlas()
    later["checkpoints"][0]["encodings"][0]["metrics"]["new.metric"] = {
        "value": 1.0, "unit": "", "reason": None,
    }  # fmt: skip
    assert changes(atlas(), later) == []


def test_encodings_come_and_go_by_key() -> None:
    later = atlas()
    later["checkpoints"][0]["encodings"][0] |= {"key": "decoder-rotary", "name": "GPT · rotary"}
    assert [(change.kind, change.encoding) for change in changes(atlas(), later)] == [
        ("encoding gone", "GPT · decoder"),
        ("new encoding", "GPT · rotary"),
    ]


def test_titles_are_no_markup_in_a_table() -> None:
    rows = table([Cause(Change("new", "x", "a|b <img src=x> [l](u)"), 1.0)]).splitlines()
    assert rows[-1] == "| row added: a&#124;b &#60;img src=x&#62; &#91;l&#93;(u) | 0 |"
