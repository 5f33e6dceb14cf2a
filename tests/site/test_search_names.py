"""By which other names search finds a page."""

from dataclasses import replace

import pytest

from generator.contracts import EncodingRecord, Fact, Outcome, Provenance
from generator.reading.find import all_schemes
from generator.site.search_names import FIRST, SearchNames, of_checkpoint, of_scheme
from tests.site.test_comparing import every_page, rendered, table
from tests.site.test_comparing import outcome as with_numbers
from tests.support import checkpoint

SCHEMES = {scheme.key: scheme for scheme in all_schemes()}


def unread(tensor: str, scheme: str = "learned") -> Outcome:
    record = EncodingRecord("decoder", scheme, "PositionTable", Provenance("", tensor))
    row = checkpoint(source="hub", id="openai-community/gpt2")
    return Outcome(row, "ok", facts=(Fact("Family", "gpt2"),), unmeasured=(record,))


def names(outcome: Outcome, *, is_published: bool = True) -> tuple[str, ...]:
    hub_id = outcome.checkpoint.id if is_published else ""
    return of_checkpoint(outcome, SCHEMES.values(), hub_id).names


def test_a_checkpoint_is_found_by_family_id_and_module_and_a_folder_not_by_its_path() -> None:
    """What only stands beside an encoding gives no name."""
    assert names(unread("transformer.wpe.weight")) == ("gpt2", "openai-community", "wpe")
    assert names(unread("wpe.weight"), is_published=False) == ("gpt2", "wpe")
    assert "sinks" not in names(unread("model.layers.0.self_attn.sinks", "sink"))


@pytest.mark.parametrize("tensor", ["<b>x</b>", 'a"]\nexclude: true', "é", "&lt;", "", "a:b"])
def test_a_name_with_a_character_of_markup_is_left_out(tensor: str) -> None:
    assert names(unread(tensor)) == ("gpt2", "openai-community")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("rotary", ("rotary", "RoPE", "rope_theta")), ("rotary_2d", ()),
        ("none", ("none", "NoPE", "without positions")),
        ("sinusoidal", ("sinusoidal", "sine cosine table", "rows and columns")),
    ],
)  # fmt: skip
def test_a_scheme_is_found_by_names_of_one_word_and_by_what_readers_seek(
    key: str, expected: tuple[str, ...]
) -> None:
    assert of_scheme(SCHEMES[key]).names == expected


def test_pages_with_numbers_come_before_others() -> None:
    measured = with_numbers("a", table(1))
    assert of_checkpoint(measured, SCHEMES.values(), "").boost == FIRST > 1
    assert of_checkpoint(unread("wpe"), SCHEMES.values(), "").boost == 1


def test_the_front_matter_of_a_page_has_the_names() -> None:
    measured = replace(with_numbers("a", table(1)), facts=(Fact("Family", "gpt2"),))
    text = rendered(every_page("checkpoint", measured)[0])
    assert f'\ntags: ["gpt2"]\nsearch:\n  boost: {FIRST}\n' in text.partition("\n---\n")[0] + "\n"


def test_names_are_a_list_in_yaml() -> None:
    assert SearchNames(("wpe", "T5 small")).tags == '["wpe", "T5 small"]'
