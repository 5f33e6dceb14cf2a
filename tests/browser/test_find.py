"""The box on the front page that finds a model while one types."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

FIELD, FIRST = ".pa-find input", ".pa-find li:first-child a"
# What somebody types, and the model that is first: names with digits, ids, families, parts of a
# name, names with a letter wrong, missing or too many, and those of copies and of tuned models.
FOUND = {
    "Qwen3-8B": "Qwen/Qwen3-8B",
    "qwen3 8b": "Qwen/Qwen3-8B",
    "Qwen 3 8B": "Qwen/Qwen3-8B",
    "Qwen/Qwen3-8B": "Qwen/Qwen3-8B",
    "qwem3-8b": "Qwen/Qwen3-8B",
    "Qwen2.5-7B-Instruct": "Qwen/Qwen2.5-7B-Instruct",
    "Qwen2.5 7B Instruct": "Qwen/Qwen2.5-7B-Instruct",
    "QwQ": "Qwen/QwQ-32B",
    "QwQ 32B": "Qwen/QwQ-32B",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "gpt oss 20b": "openai/gpt-oss-20b",
    "gptoss20b": "openai/gpt-oss-20b",
    "gpt-os-20b": "openai/gpt-oss-20b",
    "openai/gpt-oss-120b": "openai/gpt-oss-120b",
    "gemma-3-27b": "google/gemma-3-27b-it",
    "Gemma 3 27B": "google/gemma-3-27b-it",
    "google/gemma-3-27b-it": "google/gemma-3-27b-it",
    "gema-3-27b": "google/gemma-3-27b-it",
    "Llama 4 Scout": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "llama-4-scuot": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "scout": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "Maverick": "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
    "Llama 3.1 8B Instruct": "meta-llama/Llama-3.1-8B-Instruct",
    "Llama-3.1-405B": "meta-llama/Llama-3.1-405B",
    "meta-llama/Llama-3.1-70B": "meta-llama/Llama-3.1-70B",
    "DeepSeek-V3.2": "deepseek-ai/DeepSeek-V3.2",
    "deepseek v3.2": "deepseek-ai/DeepSeek-V3.2",
    "DeepSeek V3": "deepseek-ai/DeepSeek-V3",
    "deepseek_v3": "deepseek-ai/DeepSeek-V3",
    "DeapSeek-V3": "deepseek-ai/DeepSeek-V3",
    "DeepSeek R1": "deepseek-ai/DeepSeek-R1",
    "Phi-3.5-mini": "microsoft/Phi-3.5-mini-instruct",
    "phi 3.5 mini": "microsoft/Phi-3.5-mini-instruct",
    "Mistral 7B v0.1": "mistralai/Mistral-7B-v0.1",
    "Mistral 7B v0.2": "mistralai/Mistral-7B-Instruct-v0.2",
    "Mistral-7B-v0.3": "mistralai/Mistral-7B-v0.3",
    "mistral 7b v0.3": "mistralai/Mistral-7B-v0.3",
    "mistrall-7b-v0.3": "mistralai/Mistral-7B-v0.3",
    "bert-base-uncased": "google-bert/bert-base-uncased",
    "google-bert/bert-large-uncased": "google-bert/bert-large-uncased",
    "bert base cased": "google-bert/bert-base-cased",
    "roberta-base": "FacebookAI/roberta-base",
    "t5-small": "google-t5/t5-small",
    "byt5": "google/byt5-small",
    "whisper-tiny": "openai/whisper-tiny",
    "wisper-tiny": "openai/whisper-tiny",
    "SmolLM3": "HuggingFaceTB/SmolLM3-3B",
    "smollm2 135m": "HuggingFaceTB/SmolLM2-135M-Instruct",
    "chatglm2-6b": "THUDM/chatglm2-6b",
    "Yi-6B": "01-ai/Yi-6B",
    "xlnet": "xlnet/xlnet-base-cased",
    "ModernBERT-base": "answerdotai/ModernBERT-base",
    "minimax text 01": "MiniMaxAI/MiniMax-Text-01",
    "command r+": "CohereLabs/c4ai-command-r-plus",
    "llama3.1:8b": "meta-llama/Llama-3.1-8B",
    "Llama-3-8B-Instruct": "meta-llama/Meta-Llama-3-8B",
    "llama2 7b chat": "meta-llama/Llama-2-7b-hf",
    "Qwen3-8B-GGUF": "Qwen/Qwen3-8B",
    "Qwen/Qwen3-8B-FP8": "Qwen/Qwen3-8B",
    "gpt-oss-20b MXFP4": "openai/gpt-oss-20b",
    "https://huggingface.co/openai/gpt-oss-20b": "openai/gpt-oss-20b",
    "https://huggingface.co/openai/gpt-oss-20b/tree/main": "openai/gpt-oss-20b",
    "huggingface.co/Qwen/Qwen3-8B/blob/main/config.json?x=1#L3": "Qwen/Qwen3-8B",
    "hf.co/openai/gpt-oss-20b/": "openai/gpt-oss-20b",
    "openai/gpt-oss-20b/": "openai/gpt-oss-20b",
    "openai/gpt-oss-20b:Q4_K_M": "openai/gpt-oss-20b",
    "ollama run hf.co/Qwen/Qwen3-8B:Q8_0": "Qwen/Qwen3-8B",
    "git clone https://huggingface.co/Qwen/Qwen3-8B.git": "Qwen/Qwen3-8B",
    "https://huggingface.co/bert-base-uncased/tree/main": "google-bert/bert-base-uncased",
    "gemma3:4b-it-q4_K_M": "google/gemma-3-4b-it",
    "gemma3:latest": "google/gemma-3-4b-it",
    "qwen3:30b-a3b": "Qwen/Qwen3-30B-A3B",
    "deepseek-r1:671b": "deepseek-ai/DeepSeek-R1",
    "phi4-mini:3.8b": "microsoft/Phi-4-mini-instruct",
    "phi4:14b": "microsoft/phi-4",
    "granite4:small-h": "ibm-granite/granite-4.0-h-small",
    "mistral-small3.1:24b": "mistralai/Mistral-Small-3.1-24B-Instruct-2503",
    "unsloth/Qwen3-8B-unsloth-bnb-4bit": "Qwen/Qwen3-8B",
    "unsloth/GLM-4.7-Flash-GGUF:UD-Q4_K_XL": "zai-org/GLM-4.7-Flash",
    "unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit": "meta-llama/Llama-3.1-8B-Instruct",
    "mlx-community/gemma-3-27b-it-4bit-DWQ": "google/gemma-3-27b-it",
    "mlx-community/Qwen3.5-35B-A3B-8bit": "Qwen/Qwen3.5-35B-A3B",
    "lmstudio-community/MiniMax-M2-GGUF": "MiniMaxAI/MiniMax-M2",
    "bartowski/Qwen_QwQ-32B-GGUF": "Qwen/QwQ-32B",
    "bartowski/THUDM_GLM-4-32B-0414-GGUF": "zai-org/GLM-4-32B-0414",
    "TheBloke/Llama-2-7B-Chat-GPTQ": "meta-llama/Llama-2-7b-hf",
    "RedHatAI/Llama-3.3-70B-Instruct-quantized.w4a16": "meta-llama/Llama-3.3-70B-Instruct",
    "onnx-community/SmolLM2-135M-Instruct-ONNX": "HuggingFaceTB/SmolLM2-135M-Instruct",
    "Meta-Llama-3.1-8B-Instruct-Q5_K_M.gguf": "meta-llama/Llama-3.1-8B-Instruct",
    "gpt-oss-120b-mxfp4-00001-of-00003.gguf": "openai/gpt-oss-120b",
}
# Another number, another word, and none.
NOT_FOUND = (
    "Qwen3.7", "Qwen 3.7", "gemma3n e4b", "DeepSeek-V3-0324", "ESM C", "ESM-C 600M", "zzzzzzzz",
    "bert large cased", "bert tiny uncased", "xlnet-base-uncased", "bert-base-multilingual-cased",
    "deepseek-r1:8b", "nvidia/Qwen3-8B-Eagle3", "huihui-ai/Qwen3-8B-abliterated",
    "mlx-community/DeepSeek-R1-Distill-Llama-8B-4bit", "unsloth/DeepSeek-V3-0324-GGUF",
)  # fmt: skip

# Names that no model here has, and which is named as nearest; other words have none.
NEAREST = {
    "qwen2.5-coder:7b": "Qwen2.5-7B-Instruct", "deepseek-r1:8b": "DeepSeek-R1",
    "granite4:micro-h": "granite-4.0-h-350m", "nvidia/Qwen3-8B-Eagle3": "Qwen3-8B",
    "Mistral 7B v0.4": "Mistral-7B-v0.1", "zzzzzzzz": "", "RoPE base": "",
}  # fmt: skip


@pytest.fixture(params=["served", "on disk"])
def start(request: Any, address: str, built: Path) -> str:
    return f"{address if request.param == 'served' else (built / 'site').as_uri()}/index.html"


def test_what_is_typed_finds_its_model(start: str, own_page: Page) -> None:
    own_page.goto(start)
    own_page.locator(FIELD).focus()
    wrong = {}
    for typed, model in FOUND.items():
        own_page.locator(FIELD).fill(typed)
        own_page.locator(FIRST).wait_for()
        owner, name = model.split("/")
        found = own_page.locator(FIRST).inner_text()  # Of its measures, or else of its config.
        if not found.startswith(f"{name} {owner} · "):
            wrong[typed] = found
    assert wrong == {}


def test_enter_opens_the_model_and_arrows_choose_another(start: str, own_page: Page) -> None:
    own_page.goto(start)
    field = own_page.locator(FIELD)
    field.fill("Gemma 3")
    own_page.locator(FIRST).wait_for()
    expect(field).to_have_attribute("aria-activedescendant", "pa-found-0")
    field.press("ArrowDown")
    second = own_page.locator("#pa-found-1 a").get_attribute("href")
    assert second is not None
    assert "gemma-3" in second
    field.press("Enter")
    own_page.wait_for_url(f"**/{second.removeprefix('./')}")
    expect(own_page.locator("h1")).to_contain_text(re.compile("gemma.3", re.IGNORECASE))


def test_a_measured_model_has_one_row_which_opens_its_settings(
    address: str, own_page: Page
) -> None:
    own_page.goto(f"{address}/index.html")
    own_page.locator(FIELD).fill("all-MiniLM-L6-v2")
    own_page.locator(FIRST).wait_for()
    row = own_page.locator(".pa-find li", has_text="all-MiniLM-L6-v2")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("bert · in numbers")
    own_page.locator(FIELD).press("Enter")
    own_page.wait_for_url("**/models/sentence-transformers--all-MiniLM-L6-v2.html")
    measures = own_page.get_by_role("link", name="Measured here")
    expect(measures).to_have_attribute("href", re.compile("checkpoints/all-minilm-l6-v2.html$"))


def test_what_is_no_model_finds_none(start: str, own_page: Page) -> None:
    own_page.goto(start)
    own_page.locator(FIELD).fill("gemma")
    own_page.locator(FIRST).wait_for()
    own_page.locator(FIELD).fill("Mistral 7B v0.4")  # There are v0.1 to v0.3.
    expect(own_page.locator(".pa-find ul")).to_be_hidden()
    for typed in NOT_FOUND:
        own_page.locator(FIELD).fill(typed)
        expect(own_page.locator(".pa-find ul"), typed).to_be_hidden()
        expect(own_page.locator(".pa-find [role=status]")).to_contain_text("No such model here")
        link = own_page.locator(".pa-find [role=status] a").last
        expect(link).to_have_attribute("href", re.compile(r"quick-start\.html#add-your-own-row$"))


def test_the_nearest_names_are_those_of_other_models(start: str, own_page: Page) -> None:
    own_page.goto(start)
    own_page.locator(FIELD).fill("gemma")
    own_page.locator(FIRST).wait_for()
    for typed, model in NEAREST.items():
        own_page.locator(FIELD).fill(typed)
        expect(own_page.locator(".pa-find ul"), typed).to_be_hidden()
        named = own_page.locator(".pa-find .pa-nearest")
        if model:
            expect(named).to_contain_text("Nearest by name, but other models:")
            assert own_page.locator(".pa-find .pa-nearest a").first.inner_text() == model, typed
        else:
            expect(named).to_be_empty()


def test_other_words_lead_to_the_search_of_all_pages(start: str, own_page: Page) -> None:
    own_page.goto(start)
    own_page.locator(FIELD).fill("attention & bias")
    own_page.get_by_role("link", name="Search all pages for these words").click()
    expect(own_page.locator(".md-search__input")).to_have_value("attention & bias")


def enter(page: Page, start: str, words: str) -> None:
    """Type ``words`` and press Enter, once the names are there."""
    page.goto(start)
    field = page.locator(FIELD)
    field.fill("gemma")
    page.locator(FIRST).wait_for()
    field.fill(words)
    field.press("Enter")


def test_enter_seeks_words_that_are_no_model_on_all_pages(start: str, own_page: Page) -> None:
    enter(own_page, start, "ESM C")
    own_page.wait_for_url("**/index.html?q=ESM*C")
    expect(own_page.locator(".md-search__input")).to_have_value("ESM C")


def test_of_a_name_with_known_numbers_alone_it_is_said_that_there_is_no_such_model(
    start: str, own_page: Page
) -> None:
    """Many pages have 9b, and none has acme or foo."""
    enter(own_page, start, "acme/foo-9b")
    expect(own_page.locator(".pa-find [role=status]")).to_contain_text("No such model here")
    assert "?q=" not in own_page.url
    own_page.goto(f"{start}?q=acme%2Ffoo-9b")
    none = own_page.locator(".md-search .pa-no-model")
    expect(none).to_be_visible()
    before = own_page.url
    own_page.locator(".md-search__input").press("Enter")
    expect(none).to_be_visible()
    assert own_page.url == before
    expect(own_page.locator(".md-search-result__list[role=list]")).to_be_hidden()
    own_page.goto("about:blank")
    own_page.goto(f"{start}?q=sinusoidal+512")
    found = own_page.locator(".md-search-result__list[role=list] mark").first
    expect(found).to_be_visible(timeout=20_000)
    expect(none).to_be_hidden()
