"""The page of the status of every row, and what the front page says of it."""

from dataclasses import replace

import pytest

from generator.contracts import (
    Atlas,
    EncodingRecord,
    Outcome,
    Page,
    Provenance,
    Run,
    RunMember,
    Status,
)
from generator.site import render
from generator.site.pages import front, status
from tests import small_site
from tests.support import checkpoint, flowing

LINE = (
    "2 of 3 listed checkpoints could not be read in this build; [Status](status.md) gives the"
    " reasons."
)
NONE = (
    "None of the listed checkpoints could be read in this build; [Status](status.md) gives the"
    " reasons."
)


def outcome(slug: str, state: Status, reason: str | None = None) -> Outcome:
    row = checkpoint(slug=slug, id=slug, title=slug.title())
    return Outcome(row, state, reason, revision=None if state == "failed" else "b" * 40)


READ, LOST = outcome("apple", "ok"), outcome("birch", "failed", "birch: no config")
UNASKED = outcome("cedar", "not reached", "no answer")


def atlas_of(*outcomes: Outcome) -> Atlas:
    return small_site.atlas_of(*outcomes, date="2020-02-20")


def rendered(pages: list[Page], *outcomes: Outcome) -> str:
    """The Markdown of the first of ``pages``."""
    return render.render(atlas_of(*outcomes), pages[:1])[pages[0].path].decode()


def text_of_status(*outcomes: Outcome) -> str:
    return flowing(rendered(status.pages(atlas_of(*outcomes)), *outcomes))


def text_of_front(*outcomes: Outcome) -> str:
    return flowing(rendered(front.pages(atlas_of(*outcomes)), *outcomes))


def test_every_row_has_its_place_those_that_failed_first() -> None:
    text = text_of_status(READ, LOST, UNASKED)
    shown = ("## Failed", ">Birch<", "## Not reached", ">Cedar<", "## Read", ">Apple<")
    assert [text.index(words) for words in shown] == sorted(map(text.index, shown))


def test_a_row_has_its_revision_and_a_reason_that_does_not_repeat_it() -> None:
    repeating = outcome("cedar", "not reached", f"cedar@{'b' * 40}: no answer")
    for other in (UNASKED, repeating):
        text = text_of_status(LOST, other)
        assert "birch&#58; no config</td>" in text
        assert f"{'b' * 40}</code></th><td>no answer</td>" in text


def test_the_numbers_of_rows_are_given_for_each_state() -> None:
    text = text_of_status(READ, LOST, UNASKED, outcome("date", "failed", "x"))
    counts = ("4</strong> listed", "2</strong> failed", "1</strong> not reached", "1</strong> read")
    assert [count for count in counts if f"<strong>{count}" not in text] == []


def test_training_runs_have_rows_with_what_was_read_of_them() -> None:
    members = tuple(RunMember(step, f"s{step}", "failed", f"runs/a/s{step}: x") for step in (1, 2))
    lost = Run("lost", "Lost", "folder", "runs/a", members, ())
    other = Run("other", "Other", "hub", "a/b", (RunMember(3, "s3", "ok"),), ())
    atlas = replace(atlas_of(READ), runs=(other, lost))
    pages = status.pages(atlas)
    text = flowing(render.render(atlas, pages)["status.md"].decode())
    assert "<strong>2</strong> training runs" in text
    assert "<td>0 of 2</td><td>Steps 1, 2: x</td>" in text
    assert "hub: <code>a&#47;b</code></th><td>1 of 1</td><td>–</td>" in text
    assert text.index(">Lost<") < text.index(">Other<")
    assert text_of_status(READ).count(" ## ") == 1  # A status without rows has no section.


def test_a_long_reason_keeps_its_beginning_and_its_end() -> None:
    text = text_of_status(outcome("row", "failed", "Beginning " + "x" * 1000 + " end"))
    assert "Beginning xxx" in text
    assert "xxx end</td>" in text
    assert "x" * 301 not in text


@pytest.fixture(autouse=True)
def of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front page of a list of many entries, whatever their number."""
    monkeypatch.setattr(front, "OWN", 0)


def test_the_front_page_has_one_line_on_rows_that_could_not_be_read() -> None:
    text = text_of_front(READ, LOST, UNASKED)
    assert LINE in text
    assert text.count("status.md") == 1
    assert "!!!" not in text
    assert "status.md" not in text_of_front(READ)


@pytest.mark.parametrize("states", [["failed"], ["not reached"], ["failed", "not reached"]])
def test_the_front_page_says_that_nothing_could_be_read(states: list[Status]) -> None:
    rows = (outcome(f"row-{index}", state, "x") for index, state in enumerate(states))
    assert NONE in text_of_front(*rows)


def test_rows_whose_numbers_are_all_in_weights_that_were_not_read_are_counted() -> None:
    record = EncodingRecord("encoder", "learned", "PositionTable", Provenance(""))
    unread = replace(outcome("elder", "ok"), unmeasured=(record,))
    assert "1 of them has no numbers, because the weights were not read." in text_of_status(
        READ, unread
    )
    assert "no numbers" not in text_of_status(READ)
