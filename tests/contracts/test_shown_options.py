"""Options of a row that change pages and no result."""

from dataclasses import fields, replace
from typing import Any

from generator.contracts.checkpoints import ONLY_SHOWN
from tests.support import checkpoint

SHOWN: dict[str, Any] = {
    "group": "Other", "notes": "A note.", "paper": "1706.03762", "licence": "MIT", "arrays": False,
    "committed": 1, "copy_of": "another", "of": "a/b",
}  # fmt: skip


def test_a_row_is_evaluated_alike_whatever_only_pages_show() -> None:
    row = checkpoint()
    assert replace(row, place="elsewhere", **SHOWN).evaluated == row.evaluated
    assert replace(row, words=True).evaluated != row.evaluated
    assert replace(row, sentence="Another one.").evaluated != row.evaluated


def test_each_option_that_is_only_shown_says_so_itself() -> None:
    assert {
        option.name
        for option in fields(checkpoint())
        if ONLY_SHOWN.items() <= option.metadata.items()
    } == {*SHOWN}
