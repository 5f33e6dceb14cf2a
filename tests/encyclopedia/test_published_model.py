"""The page of a published config: what it says, against what makers and papers say."""

import json
import re
from functools import cache
from typing import Any

import pytest
from bs4 import BeautifulSoup

from benchmarks import differing
from benchmarks.made import read
from generator.contracts import Atlas, Checkpoint, Comparison, Copy, Limit, Outcome
from generator.encyclopedia import by_program, details, made
from generator.encyclopedia import table as published
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import known_model, known_models
from generator.encyclopedia.pages import published_model
from generator.reading.find import all_schemes, look
from generator.site.pages import checkpoint as checkpoint_pages
from tests.encyclopedia.guests import guests
from tests.site.test_comparing import rendered
from tests.support import checkpoint, flowing

MOST_BYTES = 20_000  # of a page without the frame of the theme, which is as large


@cache
def page_of(name: str) -> str:
    model = known_model(name)
    assert model is not None
    table = published.table([model])
    atlas = Atlas((), (), all_schemes(), guests=guests(table))
    [page] = published_model.pages(atlas)
    return rendered(page)


def said(name: str) -> str:
    return flowing(BeautifulSoup(page_of(name).replace("<wbr>", ""), "html.parser").get_text(" "))


SAYS: dict[str, tuple[str, ...]] = {
    "Qwen/Qwen3-8B": (
        "Configured context 40,960 positions", "Length its maker states 32,768 positions",
        "Rotary, in all 36 layers.", "full attention in all 36 layers.",
        "Rotation pairs: halves (components j and j + 64) in its weights on the Hub and in GGUF.",
        "Usable length 32,768 tokens, as its maker states; config: 40,960",
        "Each of 36 layers keeps 2,048 numbers (8 heads for keys × 256 components",
        "Nothing has to be set up to 32,768 positions", "the config gives 40,960, up to which",
        "40 of 64 rotation pairs turn up to 4 times more slowly in a short text too",
        "Its maker names 131,072 positions", "these settings, here with the base of the config",
        '"factor": 4.0, "original_max_position_embeddings": 32768',
        "--rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 32768", "--max-model-len 131072",
        "131,072 with its maker's setting 19.33 GB (18 GiB)",
    ),
    "google/gemma-3-27b-it": (
        "Context 131,072 positions default of its config class",
        "the config gives no context, and the default of its config class in transformers is the",
        "1,024 positions in 52 of 62 layers",
        "The model reads images of this size only",
        "Each of 52 layers keeps 4,096 numbers", "each of the last 1,024 positions",
        "This atlas has collected no setting of its maker for more", "linear × 8",
    ),
    # (0.1 · mscale_all_dim · ln factor + 1)², which transformers' code multiplies softmax_scale by.
    "deepseek-ai/DeepSeek-V2": ("yarn × 40, all logits × 1.59",),
    "moonshotai/Kimi-K2.5": ("yarn × 64, all logits × 2.005",),
    "microsoft/Phi-4-mini-instruct": (
        "longrope, cosine and sine × 1.19, which makes their part of the logits × 1.417",
        "75% of the components of a head partial_rotary_factor",
    ),
    "deepseek-ai/DeepSeek-V3": (
        "yarn × 40, all logits × 1.874",
        "yarn × 40", "The month is that of its paper,", "Original length 4,096 positions",
        "(a latent and the part of a key that all heads share)",
        "576 numbers", "in place of the latent needs many times as much",
    ),
    "google-bert/bert-base-uncased": ("Learned table",),
    "sentence-transformers/all-MiniLM-L6-v2": (
        "Longer texts", "at most 512 tokens, one for each row of its position table. Its maker",
        "Nothing can be set for longer texts, since position 512 has no row", "cut off:",
        "refused: transformers stops with an error", "pieces of at most 256 tokens",
    ),
    "answerdotai/ModernBERT-base": (
        "at most 8,192 tokens by its config", "how well it reads them is not known here",
    ),
    "xlnet/xlnet-base-cased": ("It reads a text at once, and its config gives no limit.",),
    "mistralai/Mistral-7B-v0.3": (
        "Usable length 32,768 tokens, as its maker states",
        "Rotation pairs: halves (components j and j + 64) in its weights on the Hub; neighbours",
        "(components 2 j and 2 j + 1) in GGUF and Mistral AI’s own files with params.json.",
        "vllm serve mistralai/Mistral-7B-v0.3 --max-model-len 32768", "-c 32768 , or -c 0 for",
        "What each program takes From config.json, llama.cpp's converter",
    ),
    "mistralai/Mistral-7B-v0.1": (  # 32 layers × 2,048 numbers × 2 bytes, × 32,768 positions.
        "131.1 kB of cache in bf16, for the first 4,096 positions alone; with llama.cpp,",
        "mlx-lm and SGLang, which give no layer a window, for every one",
        "--max-model-len 8192", "--max-model-len 32768", "-c 32768 , or -c 0 for",
        "Beyond 8,192, no statement of its maker on how well it reads is known here, and no layer",
        "farther back than 4,096 positions with programs",
        "llama.cpp, mlx-lm and SGLang give no layer its window, which",
        "one sequence of 32,768 positions takes 4.295 GB (4 GiB)",
        "KV cache of one sequence, with its windows",
    ),
    "google/gemma-2-9b": (  # 42 layers × 8 heads × 512 components × 2 bytes.
        "once windows are full; always with mlx-lm, which gives no layer a window, 344.1 kB",
    ),
    "microsoft/Phi-3.5-mini-instruct": (
        "long_factor , 48 numbers", "rope_scaling.long_factor", "1.08, 1.11, 1.14, 1.34",
    ),
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": (
        "Rotary, in 36 of 48 layers; for images", "llama3 × 16 from 8,192, in 36 of 48 layers",
        "12 layers have no position encoding.", "high_freq_factor 1.0",
        "× (1 + 0.1 · ln (1 + ⌊(p + 1) ÷ 8,192⌋)), in 12 layers default of Llama4TextConfig",
    ),
    "LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct": (
        "Positions fp32 as configured bf16 fp8 4,096",
        "Unless they are given another type, vLLM and llama.cpp give the cache 16 bits a number",
    ),
    "poolside/Laguna-XS.2-FP8": ("Positions bf16 fp8 as configured", "gives the cache 8 bits"),
    "adept/fuyu-8b": (
        "Rotary base 25,000", "transformers takes the base 10,000 in place of rope_theta.",
    ),
    "moonshotai/Kimi-Linear-48B-A3B-Instruct": (  # Nothing of it is rotated.
        "576 numbers (a latent and the part of a key that all heads share)",
    ),
    "MiniMaxAI/MiniMax-M3": ("each of 57 layers keeps 1,152 numbers for every position",),
    "nvidia/Llama-3_3-Nemotron-Super-49B-v1": (
        "Each of 49 layers keeps 2,048 numbers (8 heads for keys × 256",
        "no mixing of positions: 31 layers",
    ),
    "zai-org/GLM-5.3-Flash": ("Cost of a token – not known here",),
    "nvidia/Hymba-1.5B-Base": ("windows of 1,024 and recurrent state: 29 layers",),
    "MiniMaxAI/MiniMax-Text-01": ("whose size is not known here", "; states beside it"),
    "thinkingmachines/Inkling": (  # 55 and 11 layers × 4 inputs × channels × 4 bytes.
        "keeps the last 4 inputs of 4 short convolutions of 2,048, 2,048, 6,144 and 6,144",
        "together 16.94 MB in fp32, 8.471 MB in bf16, as transformers keeps them",
    ),
    "LiquidAI/LFM2-1.2B": ("keeps the last 3 inputs of a short convolution of 2,048 channels.",),
    "Qwen/Qwen2-VL-7B-Instruct": (
        "Axes 16 pairs turn by time, 24 by height and 24 by width, in consecutive blocks",
        "They hold for tokens of text", "for images: Rotary",
    ),
    "Qwen/Qwen3-VL-8B-Instruct": (
        "24 pairs turn by time, 20 by height and 20 by width, by turns", "code of its family",
    ),
    "openai-community/openai-gpt": (
        "Cost of a token 0", "computes them again for each token", "To serve more tokens",
    ),
    "tiiuae/falcon-mamba-7b": ("no cache grows with the context. Each of 64",),
    "CohereLabs/c4ai-command-r-v01": ("takes its limit from max_position_embeddings",),
    "google/gemma-4-E2B-it": (
        "Windows 512 in 28 of 35 layers", "Audio encoder: windows of 12 and convolution in all 12",
        "Windows 12 positions in the audio encoder Rotary base, 7 of 35 layers 1,000,000",
    ),
    "deepseek-ai/DeepSeek-V4-Pro": ("Windows – beside compressed keys",),
    "susnato/ernie-m-base_pytorch": ("Rotary base – not known here",),
    "tencent/Hunyuan-A13B-Instruct": ("Scaling dynamic base × 1,000^(d ÷ (d − 2)) for d rotated",),
    "openai/gpt-oss-120b": (
        "The column bf16 holds for float16 too", "names ( dtype ) is not known here",
    ),
    "openai/gpt-oss-20b": (
        "beta_fast 32.0", "truncate false", "3.003 GiB", "1.347, which makes logits × 1.813",
        "one sequence of 131,072 positions takes 6.442 GB (6 GiB) in bf16",
    ),
    "openai/clip-vit-base-patch32": (
        "Longer texts", "It reads a text at once, of at most 77 tokens, one for each row of its",
    ),
    "FacebookAI/roberta-base": (
        "Configured context 512 positions of 514 rows of its table",
        "its position table has 514 rows, of which 512 are positions",
    ),
    "deepseek-ai/DeepSeek-V3.2": ("mscale_all_dim 1.0", "131,072 as its maker states"),
    "Qwen/Qwen2.5-14B-Instruct-1M": (
        "the way: dual chunk attention", "Nothing has to be set up to 262,144 positions",
        "dual_chunk_attention_config : beyond 262,144, a program needs that mechanism",
    ),
    "microsoft/Phi-3-mini-128k-instruct": (
        "once a text has more than 4,096 tokens", "--max-model-len above 4,096",
    ),
    "XiaomiMiMo/MiMo-V2-Flash": (
        "1,280 numbers (4 heads for keys × 320 components", "2,560 numbers (8 heads for keys × 320",
    ),
    "Qwen/Qwen3-Next-80B-A3B-Thinking": (
        "Rotary, in 12 of 48 layers, and Decay, in 36 layers with a recurrent state.",
        "full attention: 12 layers, 3, 7, … 47 (one in 4)",
        "on the length that it was trained for, nor a setting for more.",
        "Each of 36 recurrent layers keeps a state of 32 × 128 × 128 numbers",
        "75.5 MB in fp32 (as much as the bf16 cache of 3,072 tokens), 37.75 MB in bf16",
    ),
    "Qwen/Qwen3.5-9B": ("Positions bf16 as configured fp8", "As configured: bfloat16 (",
        "24 recurrent layers", "in fp32, as mamba_ssm_dtype says (as much",
    ),
    "google/vit-base-patch16-224": (
        "Image 224 × 224 pixels", "Grid 14 × 14 patches", "1 further row of its table is no patch",
        "by bicubic interpolation, but only where the call has", "448 × 448 28 × 28 785",
    ),
    "Qwen/Qwen3-VL-2B-Instruct": (
        "its position table has a grid of 48 × 48", "448 × 448 28 × 28 784 196",
    ),
    "openai/whisper-tiny": (
        "Longest sound 30 s", "1,500 at most, so that it reads 30 seconds at once",
        "Its decoder writes up to 448 tokens",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAYS)
def test_a_page_says_what_its_config_and_its_maker_say(name: str) -> None:
    text = said(name)
    assert [sentence for sentence in SAYS[name] if flowing(sentence) not in text] == []
    assert re.findall(r"[a-z]\.[A-Z][a-z]+ ", text) == []  # Sentences have a space between them.
    assert len(page_of(name)) < MOST_BYTES


def test_a_month_of_a_paper_is_said_to_be_one() -> None:
    page = said("bigcode/gpt_bigcode-santacoder")
    assert ", paper 2023-01 ·" in page
    assert "The month is that of its paper, arXiv 2301.03988; that of its weights is not" in page
    assert ", 2023-11 ·" in said("openai/whisper-large-v3")


def test_a_model_without_a_decoder_has_no_cost() -> None:
    assert "What a context costs" not in said("google-bert/bert-base-uncased")
    assert "no cache grows with the context" in said("state-spaces/mamba-130m-hf")


@pytest.mark.parametrize("name", ["google-bert/bert-base-uncased", "xlnet/xlnet-base-cased"])
def test_an_encoder_serves_nothing(name: str) -> None:
    text = said(name)
    assert ("Longer texts" in text, "To serve more" in text) == (True, False)
    assert "vllm serve" not in text


# Of small models, where their defaults do not fit.
SMALL: dict[str, dict[str, Any]] = {
    "distilbert": {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 16},
    "esm": {"pad_token_id": 1, "mask_token_id": 2, "position_embedding_type": "absolute"},
    "layoutlmv3": {"visual_embed": False, "coordinate_size": 2, "shape_size": 4},
    "longformer": {"attention_window": 4},
    "luke": {"entity_vocab_size": 5},
}


def test_an_encoder_with_a_table_stops_at_a_text_that_is_too_long() -> None:
    """transformers, in every family of encoders with a table that the atlas has."""
    import torch
    from transformers import CONFIG_MAPPING, AutoModel

    models = json.loads(GUEST.shipped() or b"")["models"]
    types = {
        model["model_type"] for model in models
        if "learned" in model["schemes"] and model["inputs"] == ["text"]
        and [stack["part"] for stack in model["stacks"]] == ["encoder"]
    }  # fmt: skip
    assert len(types) > 10
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
            "intermediate_size": 16, "vocab_size": 40, "max_position_embeddings": 12}  # fmt: skip
    for name in types:
        config = CONFIG_MAPPING[name](**{**size, **SMALL.get(name, {})})
        model = AutoModel.from_config(config).eval()
        with torch.no_grad():
            model(input_ids=torch.full((1, 8), 5))
            with pytest.raises((IndexError, RuntimeError)):
                model(input_ids=torch.full((1, 40), 5))


def test_nothing_is_called_usable_that_no_maker_states() -> None:
    for name in ("EleutherAI/pythia-1.4b", "google/gemma-2-9b"):
        assert "othing has to be set" not in said(name)


def test_layers_are_drawn_where_they_differ() -> None:
    assert "pa-stack" not in page_of("Qwen/Qwen3-8B")
    assert "pa-stack" in page_of("google/gemma-3-27b-it")


@pytest.mark.parametrize("name", ["google-bert/bert-base-uncased", "answerdotai/ModernBERT-base"])
def test_an_encoder_has_no_sentence_on_retrieval_by_a_causal_model(name: str) -> None:
    assert "retriev" not in said(name)


def test_five_numbers_come_before_all_else_and_the_source_last() -> None:
    page = page_of("Qwen/Qwen3-8B")
    places = [page.index(part) for part in ("pa-five", "#at-position", "#serve", "#cost",
                                            "#settings", 'id="source"')]  # fmt: skip
    assert places == sorted(places)
    for name in SAYS:
        assert BeautifulSoup(page_of(name), "html.parser").select(".pa-five > div")[4:], name


def test_settings_of_a_text_model_are_within_their_section() -> None:
    assert '{"text_config": {"rope_parameters": {' in said("Qwen/Qwen3.5-9B")


def test_a_cache_is_measured_in_the_type_of_the_config_too() -> None:
    types = published_model._types
    assert list(types(None)) == [("bf16", 2, False), ("fp8", 1, False)]
    own = {"name": "float16", "by": "torch_dtype", "bytes": 2}
    assert next(types(own)) == ("fp16 or bf16", 2, True)
    assert list(types({**own, "name": "bfloat16"})) == [("bf16", 2, True), ("fp8", 1, False)]


def test_a_cache_that_reserves_whole_pages_is_that_of_hf_mem() -> None:
    """https://github.com/alvarobartt/hf-mem/pull/70: 32 sequences of 8,192 tokens in bf16."""
    model = known_model("openai/gpt-oss-20b")
    assert model is not None
    row = {**published.row(model), "context": 8192, "native": None, "extends": []}
    whole = {**row, "cache": [{**one, "positions": None} for one in row["cache"]]}
    for given, gibibytes in ((row, 6.09), (whole, 12.0)):
        values = dict(published_model._costs(given))[8192]
        assert 32 * values * 2 / 2**30 == pytest.approx(gibibytes, abs=0.005)
    assert "--disable-hybrid-kv-cache-manager" in said("openai/gpt-oss-20b")
    assert "hf-mem" not in said("openai/gpt-oss-20b")


def test_pages_reserved_in_layers_with_chunks_are_all() -> None:
    """vllm/config/vllm.py of 0.33.0 turns its hybrid manager off for models with chunks."""
    text = said("meta-llama/Llama-4-Scout-17B-16E-Instruct")
    assert "vLLM reserves pages for all positions in layers with chunks too" in text
    assert "no layer a window" not in text


def test_advice_on_the_lists_of_longrope_agrees() -> None:
    """src/llama-model.cpp of llama.cpp 0c1e5709, get_rope_factors, goes by the context."""
    text = said("microsoft/Phi-3.5-mini-instruct")
    assert "llama.cpp and vLLM choose by the length that they are started with" in text
    assert "llama.cpp goes by its context: with -c above 4,096 for each sequence" in text
    assert "12.00 GiB" not in said("Qwen/Qwen3-8B")


def test_costs_are_those_of_the_layers() -> None:
    cache: list[dict[str, Any]] = [
        {"layers": 2, "values": 10, "positions": None, "latent": False},
        {"layers": 3, "values": 10, "positions": 1000, "latent": False},
    ]
    model = {
        "cache": cache, "context": 5000, "default_context": None, "native": None, "extends": [],
    }  # fmt: skip
    assert published_model._costs(model) == [(4096, 2 * 10 * 4096 + 3 * 10 * 1000),
                                             (5000, 2 * 10 * 5000 + 3 * 10 * 1000)]  # fmt: skip
    assert published_model._costs({**model, "cache": None}) == []
    without = published_model._costs({**model, "context": None})
    assert [length for length, _ in without] == list(published_model.LENGTHS)


# Of gpt-oss, 1 ÷ 0.000221 = 4,530 and 0.1 ÷ 0.000221 = 452. Pair 6 of 64 of Falcon turns by
# 10,000^(-6/64) = 0.4217 in place of 500,042^(-6/64) = 0.2922, which differ most.
MATTERS: dict[str, tuple[str, ...]] = {
    "openai/gpt-oss-20b": (
        "Rotary, in all 24 layers. llama.cpp and mlx-lm turn it by other angles than transformers",
        "a radian off at a distance of 4,530 tokens.",
        "Affected: those who run it in llama.cpp or mlx-lm. They do not read truncate , which is",
        "by up to 0.000221 rad a position: a radian at a distance of 4,530 tokens, 28.9 rad at",
        "Of 24 layers, 12 have a window of 128 positions, in which that is at most 0.028 rad.",
        "nothing can be written into config.json: truncate has no spelling that llama.cpp or",
        "Run it in SGLang, transformers or vLLM, or accept it in texts of up to 452 tokens",
    ),
    "tiiuae/falcon-11B": (
        "It takes base 10,000, 128 of 128 components, and transformers 5 takes base 500,042",
        "0.129 rad a position", "Start llama.cpp with --rope-freq-base 500042 , or run it in",
    ),
    "poolside/Laguna-XS-2.1": ("Start llama.cpp with --yarn-beta-fast 64.0 , or run it in",),
    "zai-org/GLM-4.6V": (
        "those who run it in transformers 4.", "write this into config.json; then all programs",
        "text_config.rope_theta: 500000.0",
    ),
    "mistralai/Mistral-7B-v0.1": (
        "Affected: those who read texts of more than 4,096 tokens in llama.cpp, mlx-lm or SGLang.",
        "nothing can be written into config.json", "Run longer texts in transformers or vLLM.",
    ),
    "microsoft/Phi-3-mini-128k-instruct": (
        "Affected: those who read texts of up to 4,096 tokens in mlx-lm.", "of 12.9 tokens",
        "no key makes mlx-lm take the other list. Read texts of up to 4,096 tokens in",
        "Affected: those who start vLLM without a length. It then takes texts of up to 4,096",
        "--max-model-len 131072 in vLLM",
    ),
    "CohereLabs/c4ai-command-r-v01": (
        "nothing, since its maker states 131,072; to stop at 8,192 all the same, ask for that: "
        "--context-length 8192 in SGLang",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MATTERS)
def test_a_page_says_for_whom_programs_differ_and_what_to_do(name: str) -> None:
    text = said(name)
    assert [one for one in MATTERS[name] if flowing(one) not in text] == []
    assert "Rotations differ by program" not in text


def test_all_limits_of_a_listed_model_are_named_least_first() -> None:
    """Of MiniLM: the library tokenizers cuts at 128, Sentence Transformers at 256."""
    name = "sentence-transformers/all-MiniLM-L6-v2"
    model = known_model(name)
    assert model is not None
    stated = [
        Limit("tokenizer.json", "truncation.max_length", 128, "128 by truncation"),
        Limit("sentence_bert_config.json", "max_seq_length", 256, "256 by max_seq"),
        Limit("config.json", "max_position_embeddings", 512, "512 by config"),
    ]
    original = Limit("config.json", "original_max_position_embeddings", 64, "64 before scaling")
    row = checkpoint(slug="minilm", of=name)
    guest = guests(published.table([model]))

    def text_with(*limits: Limit) -> str:
        outcome = Outcome(row, "ok", limits=limits)
        atlas = Atlas((outcome,), (), all_schemes(), guests=guest)
        [page] = published_model.pages(atlas)
        return flowing(BeautifulSoup(rendered(page), "html.parser").get_text(" "))

    text = text_with(*stated)
    cut = "128 tokens, by tokenizer. json ; 256 in Sentence Transformers, by"
    assert cut in text
    parts = ("128 by truncation: the library tokenizers", "256 by max_seq: Sentence Transformers",
             "512 by config: the model has no position beyond")  # fmt: skip
    assert [text.find(part) > 0 for part in parts] == [True] * 3
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    without = text_with(original, stated[2])
    assert ("the least first" in text, "the least first" in without) == (True, False)
    assert "256 tokens, as its maker states; config: 512" in without


def test_each_way_in_which_programs_differ_has_whom_it_concerns_and_what_to_do() -> None:
    """Of every model of which ``lint`` finds one; of others nothing."""
    for model in known_models():
        found = [one for rule, one in details.of(model)["lint"] if rule == "readers"]
        differ = by_program.of(model)["differ"]
        assert [one["text"] for one in differ] == found, model.id
        text = said(model.id) if found else ""
        assert text.count("Affected: ") == text.count("What to do: ") == len(found), model.id


def test_programs_are_named_without_versions_but_where_some_releases_differ() -> None:
    both = ["transformers 4.57.6", "transformers 5", "vLLM 0cd57848"]
    assert differing.names(both) == ["transformers", "vLLM"]
    assert differing.names(["llama.cpp's converter 0c1e", both[0]]) == [
        "llama.cpp",
        "transformers 4",
    ]


def test_what_each_program_takes_is_in_a_fold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """mlx-lm's code for Mistral and llama.cpp's converter know no window; of Yi, a Llama, all take
    the same.
    """
    names = "mistralai/Mistral-7B-v0.1", "01-ai/Yi-6B"
    models = {name: model for name in names if (model := known_model(name)) is not None}
    made = {name: read(model)["programs"] for name, model in models.items()}
    monkeypatch.setattr(by_program, "of", lambda model: {**by_program.NOTHING, **made[model.id]})
    page_of.cache_clear()
    pages = {name: page_of(name) for name in names}
    page_of.cache_clear()
    folds = [pages[name].partition("What each program takes</summary>")[2] for name in names]
    text, of_yi = (
        flowing(BeautifulSoup(fold.partition("</details>")[0], "html.parser").get_text(" "))
        for fold in folds
    )
    assert "and vLLM 0cd57848 take base 10,000, 128 of 128 components; they give 32 of 32" in text
    assert "and SGLang 0.5.23 take base 10,000, 128 of 128 components; they give no layer" in text
    assert of_yi.count("take base") == 1
    assert ("#programs" in pages[names[0]], "#programs" in pages[names[1]]) == (True, False)


def test_a_cost_names_the_programs_that_give_no_layer_a_window() -> None:
    """Of every model, those of which ``lint`` says so."""
    for model in known_models():
        found = " ".join(text for rule, text in details.of(model)["lint"] if rule == "readers")
        named = re.search(r"([^.]+(?:\.\S[^.]*)*) gives? no layer a window", found)
        without = details.without_windows(model.id)
        assert bool(named) == bool(without), model.id
        assert named is None or all(name in named[1] for name in without), model.id
        limited = [one for one in made.made(model.id)["row"]["cache"] or () if one["positions"]]
        assert not without or limited, model.id


def test_a_page_says_which_schemes_are_of_sound() -> None:
    """Those of an audio encoder, beside a decoder that rotates."""
    for model in known_models():
        row = made.made(model.id)["row"]
        parts = [one["part"] for one in row["stacks"]]
        if "rotary" not in row["schemes"] or "audio encoder" not in parts:
            continue
        found = look(model.files).all
        heard = [one for one in row["schemes"] if one != "rotary"]
        assert {one.modality for one in found if one.scheme in heard} <= {"audio"}, model.id
    assert "; for sound: Transformer-XL" in said("google/gemma-4-E2B-it")
    assert "counted here, with the 12 of its audio encoder." in said("google/gemma-4-E2B-it")


def test_a_page_says_what_of_a_copy_was_not_compared() -> None:
    model = known_model("Qwen/Qwen3-0.6B")
    assert model is not None
    row = Checkpoint("copy", "folder", "copy", "copy", "Copy", copy_of="hub:Qwen/Qwen3-0.6B")
    compared = Comparison("equal as far as both files tell", not_compared=("Learned table",))
    outcome = Outcome(row, "ok", copy=Copy("Qwen/Qwen3-0.6B", False, compared))
    atlas = Atlas((outcome,), (), all_schemes(), guests=guests(published.table([model])))
    [page] = published_model.pages(atlas)
    assert "listed here</a></strong>; the learned table was not compared" in rendered(page)


def test_a_page_leads_to_the_figures_of_a_copy() -> None:
    model = known_model("Qwen/Qwen3-0.6B")
    assert model is not None
    row = Checkpoint("copy", "folder", "copy", "copy", "Copy", copy_of="hub:Qwen/Qwen3-0.6B")
    guest = guests(published.table([model]))
    atlas = Atlas((Outcome(row, "ok"),), (), all_schemes(), guests=guest)
    [page] = published_model.pages(atlas)
    assert 'checkpoints/copy.html">A copy is listed here</a>' in rendered(page)


def test_the_page_of_a_measured_checkpoint_has_the_same_numbers() -> None:
    """Of a copy those of its original; of a model that is not in the table none."""
    model = known_model("Qwen/Qwen3-0.6B")
    assert model is not None
    rows = [
        checkpoint(slug="one", copy_of="hub:Qwen/Qwen3-0.6B"),
        checkpoint(slug="two", of="Qwen/Qwen3-0.6B"),
        checkpoint(slug="three", of="nobody/nothing"),
    ]
    outcomes = tuple(Outcome(row, "ok") for row in rows)
    atlas = Atlas(outcomes, (), all_schemes(), guests=guests(published.table([model])))
    own = {page.path: rendered(page) for page in checkpoint_pages.pages(atlas)}
    one, two, three = (own[f"checkpoints/{row.slug}.md"] for row in rows)
    [page] = published_model.pages(atlas)
    five = BeautifulSoup(rendered(page), "html.parser").select_one(".pa-five")
    assert five
    for text, whose in ((one, "its original"), (two, "its published config")):
        shown = BeautifulSoup(text, "html.parser")
        assert str(shown.select_one(".pa-five")) == str(five)
        assert whose in text
        assert shown.select_one('.pa-published a[href$="models/Qwen--Qwen3-0.6B.html"]')
    assert "pa-five" not in three
