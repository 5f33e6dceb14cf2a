"""The table of models, against what the authors of each say of its layers."""

import json
from dataclasses import replace
from typing import Any

import pytest
import torch

from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.resolved import given, quietly
from generator.contracts import Examined
from generator.encyclopedia import table
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import FOLDER, KnownModel, known_model, known_models
from generator.reading.find import look
from generator.reading.rules import layer_schedule

SHIPPED = {row["id"]: row for row in json.loads(GUEST.shipped() or "{}")["models"]}
RECORDS = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]
# One stack, so that the numbers of the table are those of the authors.
EXPECTED = {
    record["id"]: record["expected"]
    for record in RECORDS
    if "expected" in record and SHIPPED[record["id"]]["layers"] == record["expected"]["layers"]
}
NAMES = {"feed-forward": "none"}
# Types of models that transformers reads under another name.
OLDER = {"hunyuan", "RefinedWeb", "RefinedWebModel"}


def count(layers: Any, total: int) -> int:
    return total if layers == "all" else len(layers)


def made(hub_id: str, **settings: Any) -> dict[str, Any]:
    """The row of a model, with other settings."""
    model = known_model(hub_id)
    assert model is not None
    return table.row(replace(model, settings={**model.settings, **settings}))


def test_every_published_config_has_a_row() -> None:
    assert list(SHIPPED) == [record["id"] for record in RECORDS]
    assert len(EXPECTED) > 200


def test_layers_are_counted_as_the_authors_say() -> None:
    def differs(name: str) -> bool:
        expected, total = EXPECTED[name], EXPECTED[name]["layers"]
        counts = {kind: count(layers, total) for kind, layers in expected["kinds"].items()}
        kinds = {NAMES.get(kind, kind): number for kind, number in counts.items() if number}
        return {kind: SHIPPED[name]["kinds"].get(kind) for kind in kinds} != kinds

    assert list(filter(differs, EXPECTED)) == []


def test_rotations_have_the_base_and_the_layers_that_the_authors_say() -> None:
    def differs(name: str) -> bool:
        total = EXPECTED[name]["layers"]
        shown = sorted(
            (rotation["base"], rotation["scaling"] or "default", rotation["layers"])
            for rotation in SHIPPED[name]["rotations"]
            if rotation["layers"]
        )
        # A rule that changes the base may be read as a scaling of it, or as another base.
        return shown not in [
            sorted(
                (rotation.get(base, rotation["base"]), rotation["scaling"], layers)
                for rotation in EXPECTED[name]["rotation"]
                if (layers := count(rotation["layers"], total))
            )
            for base in ("base", "effective_base")
        ]

    named = [name for name in EXPECTED if "rotation" in EXPECTED[name]]
    assert len(named) > 100
    assert list(filter(differs, named)) == []


def test_lint_gives_windows_the_width_of_the_strip() -> None:
    """ModernBERT's local_attention of 128 is 64 keys to both sides of the query (arXiv 2412.13663,
    section 2.1).
    """
    limited = [model for model in known_models() if SHIPPED[model.id]["limits"]]
    bert = [model for model in limited if model.id == "answerdotai/ModernBERT-base"]
    told: dict[str, set[int]] = {}
    for model in (*bert, *limited[::8]):
        found = look(model.files)
        layers = layer_map(model.files, found.all, is_complete=found.is_complete)
        for kind, values in layer_schedule.find(Examined(model.files, found.all, layers)):
            if kind.startswith("limited"):
                told.setdefault(model.id, set()).update(values["widths"])
    assert len(told) > 3
    assert told["answerdotai/ModernBERT-base"] == {129}
    shown = {name: {limit["keys"] for limit in SHIPPED[name]["limits"]} for name in told}
    assert [name for name in told if not told[name] <= shown[name]] == []


def test_windows_are_those_of_the_authors() -> None:
    def differs(name: str) -> bool:
        shown = {limit["kind"]: limit["keys"] for limit in SHIPPED[name]["limits"]}
        given = EXPECTED[name]["before"]
        before = {kind: given[kind] for kind in given if kind in ("sliding", "chunked")}
        return {kind: shown.get(kind) for kind in before} != before

    named = [name for name in EXPECTED if EXPECTED[name].get("before")]
    assert len(named) > 20
    assert list(filter(differs, named)) == []


def test_llama_4_has_chunks_layers_without_encoding_and_a_temperature() -> None:
    """The settings of its config.json: a chunk of 8,192, no rotation in every fourth layer."""
    row = SHIPPED["meta-llama/Llama-4-Scout-17B-16E-Instruct"]
    assert row["limits"] == [{"kind": "chunked", "keys": 8192, "layers": 36}]
    assert (row["without_encoding"], row["temperature"], row["sinks"]) == (12, True, False)
    assert row["inputs"] == ["text", "image"]


def test_a_part_that_is_null_is_no_input() -> None:
    """Of Gemma 4, the larger models have no audio_config but null."""
    assert made("google/gemma-4-31B-it")["inputs"] == ["text", "image"]
    assert made("google/gemma-4-E4B-it")["inputs"] == ["text", "image", "audio"]


def test_a_context_is_that_of_the_config_and_that_before_scaling_where_it_is_scaled() -> None:
    row = SHIPPED["meta-llama/Llama-3.1-8B-Instruct"]
    assert (row["context"], row["trained"]) == (131_072, 8192)  # Its config.json.
    plain = made("meta-llama/Llama-3.1-8B-Instruct", rope_scaling=None)
    assert (plain["context"], plain["trained"]) == (131_072, None)


def test_a_size_is_the_one_in_the_name() -> None:
    sizes = {
        "Qwen/Qwen3-30B-A3B": "30B-A3B",
        "mistralai/Mixtral-8x7B-v0.1": "8x7B",
        "Qwen/Qwen-1_8B-Chat": "1.8B",
        "Qwen/Qwen2.5-14B-Instruct-1M": "14B",
        "Qwen/Qwen1.5-MoE-A2.7B-Chat": None,
        "openai-community/gpt2": None,
    }
    assert {name: SHIPPED[name]["size"] for name in sizes} == sizes


def test_parameters_are_counted_where_name_or_source_says_it() -> None:
    counts = {
        "Qwen/Qwen3-235B-A22B": (235e9, 22e9, "its name"),
        "Qwen/Qwen1.5-MoE-A2.7B-Chat": (None, 2.7e9, "its name"),
        "Qwen/Qwen3-0.6B": (0.6e9, None, "its name"),
        "EleutherAI/pythia-70m": (70e6, None, "its name"),
        "deepseek-ai/DeepSeek-V3": (671e9, 37e9, "arXiv 2412.19437"),
        "mistralai/Mixtral-8x22B-v0.1": (None, None, None),
        "openai-community/gpt2": (None, None, None),
    }
    keys = ("parameters", "active_parameters", "counted_by")
    assert {name: tuple(SHIPPED[name][key] for key in keys) for name in counts} == counts


def test_settings_that_cannot_be_read_leave_a_row_with_the_reason() -> None:
    row = made("01-ai/Yi-6B", hidden_size="wide")
    assert "hidden_size" in row["reason"]
    assert (row["layers"], row["schemes"], row["context"]) == (0, [], 4096)


@pytest.mark.parametrize(
    "name", ["jinaai/jina-embeddings-v2-base-en", "mosaicml/mosaic-bert-base", "mosaicml/mpt-7b"]
)
def test_a_model_with_alibi_has_no_table_that_the_class_of_its_family_has(name: str) -> None:
    """Code of their own: JinaBert and MosaicBERT make no table (arXiv 2310.19923, 2312.17482)."""
    assert made(name)["schemes"] == SHIPPED[name]["schemes"] == ["alibi"]


def test_a_default_context_is_of_a_class_that_transformers_has_for_the_model_itself() -> None:
    """Falcon's first type and Hunyuan's have none, so that a page may say that it has no code."""
    from transformers import CONFIG_MAPPING

    rows = {one.id: table.row(one) for one in known_models() if one.files.config.family in OLDER}
    assert len(rows) > 3
    assert OLDER.isdisjoint(CONFIG_MAPPING)
    assert [name for name, row in rows.items() if row["default_context"]] == []
    of_class = [name for name, row in SHIPPED.items() if row["default_context"]]
    types = {str(SHIPPED[name]["model_type"]) for name in of_class}
    assert types <= set(CONFIG_MAPPING)


def test_the_context_of_hunyuan_a13b_is_within_what_llama_cpp_demands() -> None:
    """Its converter asserts one from 32 to 256 times 1,024 (conversion of HunYuanMoEV1)."""
    model = known_model("tencent/Hunyuan-A13B-Instruct")
    assert model is not None
    row = table.row(model)
    assert 32 * 1024 <= row["context"] <= 256 * 1024
    assert row["native"]["length"] == 256 * 1024


def _sections_of_code(model: KnownModel) -> tuple[int, ...] | None:
    """Those of the rotation of text that transformers makes of a config with images."""
    from transformers import CONFIG_MAPPING, AutoModel

    whole = model.files.resolved.readable
    with quietly(), torch.device("meta"):
        code = AutoModel.from_config(CONFIG_MAPPING[whole.family](**given(whole.settings)))
    found = {tuple(one.mrope_section) for one in code.modules() if hasattr(one, "mrope_section")}
    return found.pop() if found else None


def test_rotations_with_three_axes_have_the_sections_of_the_code_of_their_family() -> None:
    """Every model with images, but for those whose code transformers lacks."""
    with_images = [
        one
        for one in known_models()
        if (whole := one.files.resolved).config.section("vision_config")
        and whole.stacks[0].has_code
    ]
    rows = {one.id: table.row(one)["axes"] for one in with_images}
    ours = {name: tuple(axes[0]["pairs"]) if any(axes) else None for name, axes in rows.items()}
    assert ours == {one.id: _sections_of_code(one) for one in with_images}
    assert sum(pairs is not None for pairs in ours.values()) > 20
    assert rows["Qwen/Qwen2-VL-7B-Instruct"] == [
        {"pairs": [16, 24, 24], "by_turns": False, "key": "rope_scaling.mrope_section"}
    ]
    assert rows["Qwen/Qwen3-VL-8B-Instruct"] == [
        {"pairs": [24, 20, 20], "by_turns": True, "key": None}
    ]


def test_the_patches_of_an_encoder_are_known_where_its_section_gives_them_or_leaves_them_out() -> (
    None
):
    """As many rows as the tables of transformers: 27 × 27 patches (PaddleOCR-VL, SigLIP of LLaVA
    OneVision), and 32 × 32 beside [CLS], whose sizes are pairs (InternVL 3).
    """
    for hub_id, grid, extra in (
        ("PaddlePaddle/PaddleOCR-VL", [27, 27], None),
        ("llava-hf/llava-onevision-qwen2-7b-ov-hf", [27, 27], 0),
        ("OpenGVLab/InternVL3-8B-hf", [32, 32], 1),
        ("google/siglip-base-patch16-384", [24, 24], 0),
    ):
        image = made(hub_id)["image"]
        assert (image["grid"], image["extra"]) == (grid, extra)
        assert made(hub_id)["inputs"] == ["text", "image"]


def test_a_copy_of_a_text_model_says_of_its_whole_what_it_reads() -> None:
    """Inkling and Qwen 3.8 Flash Next: no section but that of the text model is known."""
    inkling, qwen = (made(one) for one in ("thinkingmachines/Inkling", "Qwen/Qwen3.8-Flash-Next"))
    assert inkling["inputs"] == ["text", "image", "audio"]
    assert qwen["inputs"] == ["text", "image"]
    assert inkling["image"] is qwen["image"] is None


def test_no_copy_of_a_config_lost_the_patches_of_its_encoder() -> None:
    """The published files of these leave them to the class; MiMo's class is not known."""
    own = {
        "google/siglip-base-patch16-384", "google/siglip-large-patch16-384",
        "google/siglip2-base-patch16-naflex", "XiaomiMiMo/MiMo-V2.5",
    }  # fmt: skip
    sections = {one["id"]: one["config"].get("vision_config") for one in RECORDS}
    without = {
        name for name, section in sections.items() if section and "patch_size" not in section
    }
    assert without == own
