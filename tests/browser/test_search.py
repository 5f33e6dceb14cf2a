"""The search: what it finds first, and when its index is loaded."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

INDEX = "search_index"
FIRST = {
    "RoPE": "schemes/rotary.html",
    "NoPE": "schemes/none.html",
    "ALiBi": "schemes/alibi.html",
    "YaRN": "analyses/effect_of_scaling.html",
    "attention sink": "schemes/sink.html",
    "attention in practice": "use.html",
    "without positions": "schemes/none.html",
    "first token": "use.html",
    "what reaches token N": "models/position.html",
    "lost in the middle": "guide/faq.html",
    "rope_theta": "schemes/rotary.html",
    "fine-tune": "guide/faq.html",
    "fine-tune rope_theta": "guide/faq.html",
    "slides": "guide/faq.html",
    "GGUF nonsense": "guide/command-line.html",
    "Gemma 3 expected cos sin values": "data/expected.html",
    "decay with distance": "analyses/decay_with_distance.html",
    "sinusoidal": "schemes/sinusoidal.html",
    "wpe": "checkpoints/mgm-microbiome-gpt.html",
    "gpt2": "models/openai-community--gpt2.html",
    "bert-base-uncased": "models/google-bert--bert-base-uncased.html",
    "t5-small": "models/google-t5--t5-small.html",
    "openai-community/gpt2": "models/openai-community--gpt2.html",
    "Qwen3-8B": "models/Qwen--Qwen3-8B.html",
    "gpt-oss-20b": "models/openai--gpt-oss-20b.html",
    "DeepSeek-V3.2": "models/deepseek-ai--DeepSeek-V3.2.html",
    "Llama 4 Scout": "models/meta-llama--Llama-4-Scout-17B-16E-Instruct.html",
    "relative_attention_bias": "checkpoints/flan-t5-small-titles.html",
    "Gemma 3": "models/google--gemma-3-4b-it.html",
    "gemma-3": "models/google--gemma-3-4b-it.html",
    "gemma3": "models/google--gemma-3-4b-it.html",
    "phi 3.5": "models/microsoft--Phi-3.5-mini-instruct.html",
    "Llama 4": "models/meta-llama--Llama-4-Scout-17B-16E-Instruct.html",
    "Llama 3.1": "models/meta-llama--Llama-3.1-8B-Instruct.html",
    "Maverick": "models/meta-llama--Llama-4-Maverick-17B-128E-Instruct-FP8.html",
    "Mistral 7B v0.3": "models/mistralai--Mistral-7B-v0.3.html",
    "SmolLM2 135M Instruct": "models/HuggingFaceTB--SmolLM2-135M-Instruct.html",
    "qwem3-8b": "models/Qwen--Qwen3-8B.html",
    "gpt_oss": "models/openai--gpt-oss-20b.html",
}
FIELD = ".md-search__input"
RESULT = ".md-search-result__item > .md-search-result__link"


@pytest.fixture
def loaded(own_page: Page) -> list[str]:
    """Addresses of what the search has loaded in the tab."""
    addresses: list[str] = []
    own_page.on("request", lambda request: addresses.append(request.url))
    return addresses


def of_search(addresses: list[str]) -> list[str]:
    return [address for address in addresses if INDEX in address or "/workers/" in address]


def ready(page: Page) -> None:
    """Wait until the theme's script runs, which then listens for keys."""
    page.locator("html.js").wait_for()


def to(path: str) -> re.Pattern[str]:
    """The address of a page, with the words that were sought unless it is a model's."""
    return re.compile(rf"{re.escape(path)}(\?h=|$)")


@pytest.fixture(params=["served", "on disk"])
def start(request: Any, address: str, built: Path) -> str:
    return f"{address if request.param == 'served' else (built / 'site').as_uri()}/index.html"


@pytest.mark.parametrize("words", FIRST)
def test_the_first_result_answers(words: str, page: Page, address: str) -> None:
    page.goto(f"{address}/404.html")
    ready(page)
    page.locator(FIELD).click()
    page.locator(FIELD).press_sequentially(words, delay=1)
    expect(page.locator(RESULT).first).to_have_attribute("href", to(FIRST[words]))


def test_a_page_loads_nothing_of_the_search(start: str, own_page: Page, loaded: list[str]) -> None:
    own_page.goto(start)
    ready(own_page)
    own_page.mouse.wheel(0, 2000)
    own_page.wait_for_load_state("networkidle")
    assert of_search(loaded) == []


def test_a_key_opens_the_search_which_loads_once(
    start: str, own_page: Page, loaded: list[str]
) -> None:
    own_page.goto(start)
    ready(own_page)
    own_page.keyboard.press("/")
    own_page.keyboard.type("RoPE")
    expect(own_page.locator(RESULT).first).to_have_attribute("href", to("schemes/rotary.html"))
    own_page.locator(FIELD).blur()
    own_page.locator(FIELD).focus()
    assert sum(INDEX in address for address in loaded) == 1


def test_the_keyboard_alone_reaches_the_first_result(start: str, own_page: Page) -> None:
    own_page.goto(start)
    ready(own_page)
    own_page.keyboard.press("/")
    own_page.keyboard.type("RoPE")
    own_page.locator(RESULT).first.wait_for()
    own_page.keyboard.press("Enter")
    own_page.wait_for_url("**/schemes/rotary.html?h=rope")


def test_an_address_with_words_shows_results_at_once(start: str, own_page: Page) -> None:
    own_page.goto(f"{start}?q=RoPE")
    expect(own_page.locator(RESULT).first).to_have_attribute("href", to("schemes/rotary.html"))


def test_words_that_were_sought_are_marked_on_the_page_found(own_page: Page, address: str) -> None:
    own_page.goto(f"{address}/schemes/rotary.html?h=rotary")
    own_page.locator("mark[data-md-highlight]").first.wait_for(state="attached")
