"""Numbers of models that the pages of schemes quote, whether or not a build has the model: each is
among the published values, to which the page links.
"""

import re
from collections.abc import Mapping
from math import log

import numpy as np
import pytest
import torch

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


def test_pages_say_what_yarn_multiplies_logits_by() -> None:
    """Peng et al. 2023, equation 22, with the factors of gpt-oss and Kimi-K2.5."""
    by_32, by_64 = (f"{(0.1 * log(factor) + 1) ** 2:.2f}" for factor in (32, 64))
    scheme = (ROOT / "templates/schemes/rotary.md.jinja").read_text(encoding="utf-8")
    assert f"× {by_32} in gpt-oss (factor 32), × {by_64} in Kimi-K2.5 (64)" in scheme
    words = (ROOT / "templates/wording/glossary.jinja").read_text(encoding="utf-8")
    assert f"for example by {by_32} where it extends a text 32 times" in words


def test_numbers_of_code_are_what_the_code_gives() -> None:
    """Falcon's bias with 32 heads, Llama 4's temperature, and the slowest pair of DINOv3."""
    from transformers.models.falcon.modeling_falcon import build_alibi_tensor

    bias = build_alibi_tensor(torch.ones(1, 512), 32, torch.bfloat16)[:, 0].float().numpy()
    repeated = int(np.flatnonzero((np.diff(bias) == 0.0).any(axis=0))[0])
    first, *later = (0.1 * log((1 + 10**n) / (1 + 10 ** (n - 1))) for n in (1, 4, 5))
    turned = np.degrees(2 * 2 * np.pi * 100.0 ** (-15 / 16))
    assert round(first, 2) == 0.17
    says = {
        "alibi": f"share a value at position {repeated}.",
        "temperature": f"Far beyond, it gains about {min(later):.2f} for each factor of ten.",
        "rotary_2d": f"turns by nearly {np.ceil(turned):.0f}° from one side",
    }
    for scheme, sentence in says.items():
        text = (ROOT / f"templates/schemes/{scheme}.md.jinja").read_text(encoding="utf-8")
        assert sentence in " ".join(text.split())
