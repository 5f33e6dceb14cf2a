"""Numbers of models that the pages of schemes quote, whether or not a build has the model: each is
among the published values, to which the page links.
"""

import re
from collections.abc import Mapping

import pytest

from generator import ROOT
from generator.pipeline.evaluate import all_analyses

QUOTED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "learned": {"GPT-2": ("90", "9.88", "3.35", "0.12")},
    "rotary": {"Llama 2": ("46", "64", "54,410"), "Llama 3.1": ("29", "6")},
}
PRINTED = [
    (case.what, float(value.replace(",", "")))
    for analysis in all_analyses()
    for case in analysis.oracles
    for value in case.printed
]


def published(model: str, quoted: str) -> bool:
    """Whether a value of ``model`` has the digits that are quoted."""
    digits = len(quoted.partition(".")[2])
    number = float(quoted.replace(",", ""))
    return any(model in what and round(value, digits) == number for what, value in PRINTED)


@pytest.mark.parametrize("scheme", QUOTED)
def test_a_page_says_where_numbers_of_models_are_from(scheme: str) -> None:
    text = (ROOT / f"templates/schemes/{scheme}.md.jinja").read_text(encoding="utf-8")
    look_for = text.partition("## What to look for")[2].partition("## Limits")[0]
    assert '[Validation]({{ link("learn/checked-against.md") }})' in look_for
    for model, numbers in QUOTED[scheme].items():
        assert model in look_for
        for number in numbers:
            assert re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d])", look_for), number
            assert published(model, number), number
