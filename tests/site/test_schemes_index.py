"""The cards of all schemes, by where they act."""

import re
from dataclasses import replace

from bs4 import BeautifulSoup

from generator import ROOT
from generator.contracts import Atlas, Layer, Outcome
from generator.site.pages import scheme as page_kind
from tests.site.test_comparing import ANALYSES, NOTHING, SCHEMES, outcome, rendered, table
from tests.support import flowing

APART = "Also in attention"


def sections(*outcomes: Outcome) -> dict[str, BeautifulSoup]:
    """The cards below each heading."""
    text = rendered(page_kind.pages(Atlas(outcomes, ANALYSES, SCHEMES))[0])
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {
        title: BeautifulSoup(part, "html.parser")
        for title, part in zip(parts[1::2], parts[2::2], strict=True)
    }


def card(title: str, *outcomes: Outcome) -> str:
    """The text of the card of a scheme."""
    cards = [found for section in sections(*outcomes).values() for found in section.select("li")]
    [text] = [
        flowing(found.get_text(" ", strip=True))
        for found in cards
        if found.select("strong")[0].get_text() == title
    ]
    return text


def test_every_scheme_has_one_card_and_those_of_a_heading_act_at_one_place() -> None:
    found = {
        title: [strong.get_text() for strong in section.select("li strong")]
        for title, section in sections().items()
    }
    assert sorted(title for titles in found.values() for title in titles) == sorted(
        scheme.title for scheme in SCHEMES
    )
    assert found.pop(APART) == [scheme.title for scheme in SCHEMES if not scheme.tells_position]
    places = {scheme.title: scheme.acts_in for scheme in SCHEMES}
    assert [len({places[title] for title in titles}) for titles in found.values()] == [1] * len(
        set(places.values())
    )


def test_a_card_says_where_its_numbers_come_from_and_how_many_checkpoints_use_it() -> None:
    learned = next(scheme for scheme in SCHEMES if scheme.key == "learned")
    first, second = outcome("a", table(0)), outcome("b", table(1))
    [reading] = second.readings
    unread = replace(second, readings=(), unmeasured=(reading.encoding,))
    assert learned.summary in card(learned.title, first, unread)
    assert "2 checkpoints (1 without numbers)" in card(learned.title, first, unread)
    assert "0 checkpoints" in card(learned.title, outcome("c", NOTHING, scheme="none"))


def test_a_card_has_the_picture_of_the_scheme_where_no_checkpoint_has_one() -> None:
    images = [image["src"] for section in sections().values() for image in section.select("li img")]
    assert sorted(map(str, images)) == sorted(
        f"assets/schemes/{scheme.key}.svg" for scheme in SCHEMES
    )


def test_the_paper_of_a_scheme_is_among_the_sources_of_its_page() -> None:
    for scheme in SCHEMES:
        text = (ROOT / f"templates/schemes/{scheme.key}.md.jinja").read_text(encoding="utf-8")
        _, sources = re.split('## Sources|id="sources"', text)
        assert f"https://arxiv.org/abs/{scheme.paper}" in sources
        assert scheme.year in range(2017, 2027)


def test_models_with_some_layers_without_encoding_are_counted_apart() -> None:
    """As SmolLM3, whose every fourth layer attends without a rotation."""
    rotary = outcome("a", table(0), scheme="rotary")
    key = rotary.readings[0].encoding.key
    layers = tuple(
        Layer("decoder", "decoder", index, "full", ("full",), None, 0, (key,) if index % 4 else ())
        for index in range(8)
    )
    partly = replace(rotary, layers=layers)
    assert card("No encoding", partly).endswith("0 checkpoints; 1 in some layers")
    pages = {page.path: page for page in page_kind.pages(Atlas((partly,), ANALYSES, SCHEMES))}
    assert "Listed models with such layers beside others" in rendered(pages["schemes/none.md"])
    every = tuple(replace(layer, encodings=(key,)) for layer in layers)
    unknown = tuple(replace(layer, encodings=None) for layer in layers)
    at_input = tuple(replace(layer, at_input=(key,)) for layer in layers)
    for others in (every, unknown, at_input, ()):
        assert card("No encoding", replace(rotary, layers=others)).endswith("0 checkpoints")
