"""Names, keys and paths of encodings: no two are equal, whatever checkpoints and parts are
called.
"""

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from generator.contracts import Encoding, Label, Outcome, Provenance, Reading, names
from generator.encodings import NoEncoding
from generator.reading.find import all_schemes
from tests.support import checkpoint

SCHEMES = all_schemes()
PARTS = st.sampled_from(
    ["encoder", "a b", "a  b", "a-b", "A b", "encoder (2)", "", "x" * 70]
) | st.text(max_size=8)
KINDS = st.sampled_from([scheme.key for scheme in SCHEMES[:3]])
TITLES = st.sampled_from(
    ["Model", "Model · encoder", "s1/encoder-learned", "Model (s1)", "m" * 60]
) | st.text(max_size=8)
ROWS = st.lists(st.tuples(TITLES, st.lists(st.tuples(PARTS, KINDS), max_size=4)), max_size=5)


def outcome(slug: str, title: str, *encodings: tuple[str, str]) -> Outcome:
    """A checkpoint with encodings of these parts and schemes."""
    found = [
        Encoding(part, scheme, NoEncoding("made for a test"), Provenance(""))
        for part, scheme in encodings
    ]
    numbered, label = names.numbered(found), Label("", "#000000")
    readings = (Reading.of(encoding, label, {}, {}, {}) for encoding in numbered)
    return Outcome(checkpoint(slug=slug, title=title), "ok", readings=tuple(readings))


def names_of(*outcomes: Outcome) -> list[str]:
    named = names.named(outcomes, SCHEMES)
    return [reading.label.title for outcome in named for reading in outcome.readings]


@given(ROWS)
def test_no_two_have_the_same_name_or_path(rows: list[tuple[str, list[tuple[str, str]]]]) -> None:
    outcomes = [
        outcome(f"s{number}", title, *encodings)
        for number, (title, encodings) in zip(count(1), rows)
    ]
    of_all = names_of(*outcomes)
    paths = {outcome.path_of(reading) for outcome in outcomes for reading in outcome.readings}
    count_of_rows = sum(len(encodings) for _, encodings in rows)
    assert len({name.casefold() for name in paths}) == count_of_rows
    assert len(set(of_all)) == len(of_all) == count_of_rows
    assert all(" ".join(name.split()) == name for name in of_all)


@given(st.lists(st.tuples(PARTS, KINDS), max_size=6))
def test_no_two_encodings_of_a_checkpoint_share_a_name(encodings: list[tuple[str, str]]) -> None:
    readings = outcome("row", "Row", *encodings).readings
    parts = names.parts([reading.encoding for reading in readings], SCHEMES)
    assert len(set(parts)) == len(encodings)


TABLE, BIAS, DECODER = ("encoder", "learned"), ("encoder", "t5_bias"), ("decoder", "t5_bias")
# Encodings of one checkpoint with this title, and their names.
SHORTEST = [
    ("BERT", [TABLE], ["BERT"]),
    ("T5", [BIAS, DECODER], ["T5 · encoder", "T5 · decoder"]),
    ("MPNet", [TABLE, BIAS], ["MPNet · Learned table", "MPNet · Learned relative bias"]),
    ("m" * 60, [BIAS, DECODER], [f"{'m' * 60} · {part}coder" for part in ("en", "de")]),
    ("m" * 61, [BIAS, DECODER], [f"{'m' * 29}…{'m' * 30} · {part}coder" for part in ("en", "de")]),
    ("Odd", [TABLE, TABLE], ["Odd · encoder", "Odd · encoder (2)"]),
]


def test_a_name_is_as_short_as_is_unambiguous() -> None:
    for title, encodings, expected in SHORTEST:
        assert names_of(outcome("a", title, *encodings)) == expected
    assert names_of(*(outcome(slug, "BERT", TABLE) for slug in "ab")) == ["BERT (a)", "BERT (b)"]


def test_a_second_encoding_of_the_same_part_and_scheme_has_a_key_of_its_own() -> None:
    readings = outcome("row", "Row", TABLE, TABLE, ("decoder", "learned")).readings
    assert [reading.encoding.key for reading in readings] == [
        "encoder-learned", "encoder-learned-2", "decoder-learned",
    ]  # fmt: skip
