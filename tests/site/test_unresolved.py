"""What stays open about a checkpoint, as its page and the lists show it."""

from dataclasses import replace

import pytest

from generator.contracts import EncodingRecord, Outcome, Provenance
from generator.site.html.escape import literal
from generator.site.pages import front
from tests.site.test_comparing import every_page, outcome, page, rendered, table
from tests.support import checkpoint

TENSOR = Provenance("", "relative_attention_bias.weight", shape=(32, 8))
IN_WEIGHTS = EncodingRecord("encoder", "t5_bias", "OffsetBias", TENSOR)
OPEN = "config.json asks for ALiBi (alibi: true), but no family of this name is known"
EMPTY = Outcome(checkpoint(), "ok", looked_for=("a table among the tensors",))
UNRESOLVED = replace(EMPTY, unresolved=(OPEN,))
UNREAD = replace(EMPTY, unmeasured=(IN_WEIGHTS,))


@pytest.fixture(autouse=True)
def of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front page of a list of many entries, whatever their number."""
    monkeypatch.setattr(front, "OWN", 0)


def page_of(outcome: Outcome) -> str:
    """The page of a checkpoint."""
    return rendered(page("checkpoint", outcome))


def test_what_stays_open_replaces_the_list_of_what_was_looked_for() -> None:
    text, without = page_of(UNRESOLVED), page_of(EMPTY)
    looked_for = literal("a table among the tensors")
    assert (literal(OPEN) in text, looked_for in text) == (True, False)
    assert "No position encoding was found" not in text
    assert (looked_for in without, "not settled" in without) == (True, False)


def test_what_stays_open_stands_above_the_encodings_that_were_found() -> None:
    text = page_of(replace(outcome("a", table(1)), unresolved=(OPEN,)))
    assert text.index(literal(OPEN)) < text.index("## Learned table")


def test_what_each_program_takes_is_in_a_fold() -> None:
    said = ("transformers 5 takes base <5>.", "mlx-lm takes base 1.")
    text = page_of(replace(EMPTY, taken=said))
    fold = text[text.index("<summary>What each program takes</summary>") :].partition("</details>")
    assert all(f"<li>{literal(one)}</li>" in fold[0] for one in said)
    assert "What each program takes" not in page_of(EMPTY)


@pytest.mark.parametrize("key", ["front", "catalogue"])
def test_lists_call_it_undetermined(key: str) -> None:
    text = rendered(page(key, UNRESOLVED))
    assert (
        "undetermined</" in text, "none found" in text, "no position encoding found" in text,
    ) == (True, False, False)  # fmt: skip


def test_an_encoding_whose_numbers_are_in_the_weights_is_named_with_its_tensor() -> None:
    text = page_of(UNREAD)
    assert "## Learned, not read here" in text
    assert literal("relative_attention_bias.weight") in text
    assert "No position encoding was found" not in text


def test_the_page_of_its_scheme_lists_it_among_those_without_numbers() -> None:
    pages = {made.path.rpartition("/")[2]: made for made in every_page("scheme", UNREAD)}
    text = rendered(pages["t5_bias.md"])
    assert "were not read, so they have no numbers" in text
    assert f"{EMPTY.checkpoint.slug}.html" in text
    assert "None of the checkpoints that this build read" not in text


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("front", "no numbers, because their weights were not read"),
        ("catalogue", "<td>weights not read</td>"),
    ],
)
def test_lists_say_that_it_has_no_numbers(key: str, words: str) -> None:
    assert words in rendered(page(key, UNREAD))
