"""Which components of a head a published model turns together, against what programs say."""

import json
from pathlib import Path
from typing import Any

from generator.checkpoints.model.pair_order import gguf_order
from generator.encyclopedia.known_models import known_model, known_models
from generator.encyclopedia.made import made
from generator.encyclopedia.orders import Pairs, pairs_of

FIXTURES = Path(__file__).parents[1] / "fixtures/conversions"
# By apply_rotary_pos_emb of transformers' code for the family; llama_model_rope_type of llama.cpp,
# which has NORM for neighbours and NEOX for halves; view_as_complex in the makers' own code.
SAID = {
    "meta-llama/Llama-3.1-8B": Pairs("halves", (64,), "adjacent", True),
    "mistralai/Mistral-7B-v0.3": Pairs("halves", (64,), "adjacent", True),
    "Qwen/Qwen3-8B": Pairs("halves", (64,), "halves", False),
    "google/gemma-3-27b-it": Pairs("halves", (64,), "halves", False),
    "google/gemma-4-31B-it": Pairs("halves", (128, 256), "halves", False),  # Heads of 256 and 512.
    "01-ai/Yi-6B": Pairs("halves", (64,), "adjacent", False),
    "ibm-granite/granite-3.1-8b-instruct": Pairs("halves", (), "adjacent", False),
    "EleutherAI/gpt-neox-20b": Pairs("halves", (12,), "halves", False),  # A quarter of 96 turns.
    "EleutherAI/gpt-j-6b": Pairs("adjacent", (32,), "", False),
    "deepseek-ai/DeepSeek-V3": Pairs("adjacent", (32,), "adjacent", False),
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": Pairs("adjacent", (64,), "adjacent", True),
    "microsoft/Phi-3-mini-4k-instruct": Pairs("halves", (48,), "halves", False),
    # By get_rope of vLLM, and by the makers' own code: rotate_half of modeling_baichuan.py, two
    # chunks of modeling_mixformer_sequential.py, and neighbours of modeling_chatglm.py.
    "THUDM/chatglm3-6b": Pairs("adjacent", (32,), "adjacent", False),
    "baichuan-inc/Baichuan-7B": Pairs("halves", (64,), "adjacent", False),
    "MiniMaxAI/MiniMax-Text-01": Pairs("halves", (32,), "halves", False),
    "microsoft/phi-1_5": Pairs("halves", (16,), "", False),
    "OpenGVLab/InternVL2-8B": Pairs("halves", (), "adjacent", False),
}


def _row(name: str) -> dict[str, Any]:
    row: dict[str, Any] = made(name)["row"]
    return row


def test_orders_are_those_of_the_programs() -> None:
    assert {name: pairs_of(_row(name)) for name in SAID} == SAID


def test_nothing_is_said_where_nothing_turns_or_no_code_is_known() -> None:
    """Of DeepSeek-VL2 tiny, the family has two kinds of attention with other orders."""
    assert pairs_of(_row("google-bert/bert-base-uncased")) is None
    rotating = [row["id"] for model in known_models() if (row := _row(model.id))["rotations"]]
    unknown = [name for name in rotating if pairs_of(_row(name)) is None]
    assert unknown == ["deepseek-ai/deepseek-vl2-tiny"]


def _order_in_gguf(architecture: str, *, has_axes: bool) -> str | None:
    """By llama_model_rope_type, of which axes turn halves; None without a rotation."""
    every = json.loads((FIXTURES / "llama_cpp_rope_types.json").read_text("utf-8"))
    [kinds] = [kind.split(" or ") for kind, names in every.items() if architecture in names]
    kind = kinds[0] if has_axes else kinds[-1]
    return {"norm": "adjacent", "none": None}.get(kind, "halves")


def test_orders_in_gguf_are_those_of_the_architectures_that_the_converter_writes() -> None:
    """The converter was run on published configs: their names, and those it gave them."""
    listed = json.loads((FIXTURES / "llama_cpp_published.json").read_text("utf-8"))
    expected, found = {}, {}
    for name, architecture, *_ in listed:
        row = _row(name)
        if pairs_of(row) is not None:
            known = known_model(name)
            assert known is not None
            expected[name] = _order_in_gguf(architecture, has_axes=any(row["axes"]))
            found[name] = gguf_order(known.files.config.text_model.family)
    assert len(found) > 100
    assert found == expected


def test_model_types_that_llama_cpp_knows_by_another_name_have_the_order_of_its_code() -> None:
    """By the classes of its converter: conversion/*.py at 0c1e570."""
    for family, architecture, has_axes in (
        ("bitnet", "bitnet", False), ("dots1", "dots1", False), ("glm4", "glm4", False),
        ("glm4_moe_lite", "deepseek2", False), ("glm4v_text", "glm4", True),
        ("glm4v_moe_text", "glm4moe", True), ("hunyuan_v1_moe", "hunyuan-moe", False),
        ("lfm2_moe", "lfm2moe", False), ("nemotron", "nemotron", False),
        ("paddleocr_vl", "paddleocr", True), ("cohere2_moe", "cohere2moe", False),
        ("minimax_m1", "minimax-01", False), ("gemma4_unified_text", "gemma4", False),
    ):  # fmt: skip
        assert gguf_order(family) == _order_in_gguf(architecture, has_axes=has_axes)
    assert gguf_order("bailing_hybrid") == "adjacent"
    assert gguf_order("aquila") is gguf_order("persimmon") is None
