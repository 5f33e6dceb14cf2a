"""Published models side by side."""

import json
from itertools import product
from typing import Any

import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas
from generator.encyclopedia import compared_models
from generator.encyclopedia import table as published
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import known_model, known_models
from generator.encyclopedia.model_rows import records
from generator.encyclopedia.pages import compare_models
from generator.encyclopedia.start_commands import command, override
from generator.reading.find import all_schemes
from generator.reading.taken import taken
from tests.encyclopedia.guests import guests
from tests.site.test_comparing import rendered

MISTRAL = ["mistralai/Mistral-7B-v0.1", "mistralai/Mistral-7B-Instruct-v0.2",
           "mistralai/Mistral-7B-v0.3"]  # fmt: skip


def overridden(given: Any, by: Any) -> Any:
    """A config as programs have it that take settings beside it, also within sections: these are
    set once transformers has renamed what the file has.
    """
    if not isinstance(given, dict) or not isinstance(by, dict):
        return by
    if "rope_parameters" in by:
        given = {name: value for name, value in given.items() if name != "rope_scaling"}
    return given | {name: overridden(given.get(name), value) for name, value in by.items()}


def test_with_what_a_command_overrides_programs_take_the_length_that_it_names() -> None:
    served, refused = 0, []
    for model in known_models():
        ways = [way for way in model.extends if "rope_parameters" in way]
        rows = json.loads(published.table([model]))["models"] if ways else []
        for row, way in product(rows, ways):
            settings = overridden(model.settings, json.loads(override(row, way)))
            for one in taken(settings, "config.json"):
                if one.reader.key in {"vllm", "sglang"} and one.is_known:
                    served += 1
                    scaled = {
                        (p["scaling"] or {}).get("rope_type") for p in one.parameters.values()
                    }
                    if one.limit != way["to"] or scaled != {"yarn"}:
                        refused.append((model.id, one.name, one.limit, scaled))
    assert refused == []
    assert served >= 46


def atlas_of(*names: str) -> Atlas:
    table = published.table([model for name in names if (model := known_model(name))])
    return Atlas((), (), all_schemes(), guests=guests(table))


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return atlas_of(*MISTRAL, "openai-community/gpt2")


def test_versions_of_a_model_are_relatives(atlas: Atlas) -> None:
    found = compared_models.relatives(atlas)
    assert {tuple(sorted(ids)) for ids in found.values()} == {tuple(sorted(MISTRAL))}
    assert set(found) == set(MISTRAL)


def test_the_page_begins_with_three_versions_of_mistral(atlas: Atlas) -> None:
    """v0.1 has windows of 4,096 and base 10,000; its successors have base 1,000,000 and none."""
    [page] = compare_models.pages(atlas)
    soup = BeautifulSoup(rendered(page), "html.parser")
    heads = [one.get_text() for one in soup.select("thead th")]
    rows = {row.th.get_text(): [one.get_text() for one in row.select("td")]
            for row in soup.select("tbody tr") if row.th}  # fmt: skip
    first = heads.index("Mistral-7B-v0.1") - 1
    bases = rows["Rotary base"]
    assert bases.pop(first) == "10,000"
    assert bases == ["1,000,000"] * 2
    assert [one.th.get_text() for one in soup.select("tr.pa-differs") if one.th].count("Layers")
    assert "mistralai%2FMistral-7B-v0.3" in soup.select("li a")[0]["href"]


def test_caches_of_two_lengths_stand_beside_what_a_token_takes() -> None:
    """Gemma 3 27B: 52 of 62 layers have windows of 1,024; 16 heads of 128 for keys and values."""
    names = ("google/gemma-3-27b-it", "meta-llama/Llama-3.1-8B-Instruct", "openai-community/gpt2")
    found = compared_models.compared(atlas_of(*names))
    gemma, llama, gpt2 = (
        dict(zip(compared_models.titles(), found[name], strict=True)) for name in names
    )
    layer = 2 * 2 * 16 * 128  # bytes
    assert (
        gemma["KV cache per token, bf16"]
        == f"{10 * layer / 1e3:.2f} kB; {62 * layer / 1e3:.1f} kB until windows are full"
    )
    assert llama["KV cache per token, bf16"] == f"{32 * 2 * 2 * 8 * 128 / 1e3:.1f} kB"
    whole = layer * (10 * 131_072 + 52 * 1024)
    assert (
        gemma["KV cache of 131,072 tokens, bf16"]
        == f"{whole / 1e9:.2f} GB ({whole / 2**30:.2f} GiB)"
    )
    assert llama["KV cache of 131,072 tokens, bf16"] == "17.18 GB (16 GiB)"
    assert llama["KV cache of 4,096 tokens, bf16"] == "536.9 MB"
    assert llama["KV cache of 32,768 tokens, bf16"] == "4.295 GB (4 GiB)"
    assert [one["original_max_position_embeddings"] for one in (gemma, llama)] == ["–", "8,192"]
    assert [one["Scaling"] for one in (gemma, llama)] == ["linear × 8", "llama3 × 8"]
    assert gpt2["KV cache of 4,096 tokens, bf16"] == "151 MB; beyond its context"


def test_caches_say_what_programs_without_windows_take(atlas: Atlas) -> None:
    """32 layers with windows of 4,096, and 8 heads of 128 for keys and values."""
    found = compared_models.compared(atlas)[MISTRAL[0]]
    said = dict(zip(compared_models.titles(), found, strict=True))
    assert said["KV cache per token, bf16"] == (
        "131.1 kB for each of the first 4,096, then nothing more; "
        "programs without windows: for each token"
    )
    assert said["KV cache of 131,072 tokens, bf16"] == (
        "536.9 MB, or 17.18 GB (16 GiB) with llama.cpp, mlx-lm and SGLang; beyond its context"
    )
    assert said["KV cache of 4,096 tokens, bf16"] == "536.9 MB"


def test_each_model_has_a_command_for_32k_tokens_or_why_it_has_none(atlas: Atlas) -> None:
    """The maker of Mistral v0.1 states 8,192 tokens, that of the others 32,768."""
    [page] = compare_models.pages(atlas)
    soup = BeautifulSoup(rendered(page), "html.parser")
    [row] = [row for row in soup.select("tbody tr")
             if row.th and row.th.get_text() == "Command for 32,768 tokens, vLLM"]  # fmt: skip
    assert row["class"] == ["pa-differs"]
    assert {one.get_text().split()[0] for one in row.select("td code")} == {"vllm"}
    hidden = [one.th.get_text() for one in soup.select("tr[hidden]") if one.th]
    assert hidden == ["original_max_position_embeddings", "Scaling"]
    assert sorted(one.get_text() for one in row.select("td")) == [
        "vllm serve mistralai/Mistral-7B-Instruct-v0.2 --max-model-len 32768",
        "vllm serve mistralai/Mistral-7B-v0.1 --max-model-len 32768; beyond the 8,192 tokens that "
        "its maker states",
        "vllm serve mistralai/Mistral-7B-v0.3 --max-model-len 32768",
    ]


@pytest.mark.parametrize(
    ("name", "length", "text"),
    [
        ("openai-community/gpt2", 32768, "none: beyond its context of 1,024 tokens, and no"),
        ("google-bert/bert-base-uncased", 32768, "none: it has no decoder, so that nothing is"),
        ("CohereLabs/c4ai-command-r-v01", 32768, "none: a program stops at the 8,192 tokens of"),
        ("Qwen/Qwen2.5-14B-Instruct-1M", 1_005_000, "none: beyond 262,144 tokens, a program needs"),
        ("Qwen/Qwen3-8B", 65_536, 'vllm serve {id} --hf-overrides \'{"rope_parameters": {"rope_'),
        ("google-t5/t5-small", 32768, "not known here"),
    ],
)
def test_a_command_follows_from_config_and_maker(name: str, length: int, text: str) -> None:
    [model] = records(atlas_of(name))
    assert command(model, length).startswith(text)


def test_of_all_models_the_page_begins_with_the_same() -> None:
    """However many groups differ in more."""
    atlas = Atlas((), (), all_schemes(), guests=guests(GUEST.shipped() or b""))
    [page] = compare_models.pages(atlas)
    assert vars(page.context)["ids"] == MISTRAL


def test_the_browser_has_the_same_texts(atlas: Atlas) -> None:
    made = GUEST.files(atlas)["data/beside.js"]().decode()
    found = json.loads(made.removeprefix("window.atlasBeside = ").removesuffix(";\n"))
    assert found == compared_models.compared(atlas)
    assert {len(texts) for texts in found.values()} == {len(compared_models.titles())}


def test_models_without_relatives_have_a_page_too() -> None:
    [page] = compare_models.pages(atlas_of("openai-community/gpt2"))
    assert "gpt2" in rendered(page)
