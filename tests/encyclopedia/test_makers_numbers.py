"""What makers state of their published models, in repositories, cards and code, against the
settings and the rows that the atlas has of these.

``makers_numbers.json`` has for each model the statements that were found: ``source``, a repository
with its commit, or an address; ``numbers``, by the names below; ``differs``, for a number that is
not that of the record, the reason. None of them comes from the config itself.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import mode
from typing import Any

import pytest

from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.made import made

STATED: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_name("makers_numbers.json").read_text(encoding="utf-8")
)
# Keys of the config that say a number, of which the first that it has counts; "vision_config."
# begins those of the encoder of images.
KEYS = {
    "width": ("hidden_size", "n_embd", "d_model", "dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "encoder_attention_heads"),
    "head": ("head_dim",),
    "feed_forward": ("intermediate_size",),
    "vocabulary": ("vocab_size",),
    "experts": ("n_routed_experts", "num_experts"),
    "experts_per_token": ("num_experts_per_tok",),
    "encoder_layers": ("encoder_layers",),
    "decoder_layers": ("decoder_layers",),
    "window": ("sliding_window",),
    "image": ("vision_config.image_size", "input_size"),
    "image_width": ("vision_config.hidden_size",),
    "image_heads": ("vision_config.num_attention_heads",),
    "patch": ("vision_config.patch_size",),
    "patches": ("vision_config.num_patches",),
    "rows_of_boxes": ("max_2d_position_embeddings",),
    "buckets": ("rel_pos_bins",),
    "bucket_distance": ("max_rel_pos",),
    "box_buckets": ("rel_2d_pos_bins",),
    "box_distance": ("max_rel_2d_pos",),
    "entities": ("entity_vocab_size",),
}
ROWS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "layers": lambda row: row["layers"],
    "key_heads": lambda row: row["heads_for_keys"],
    "context": lambda row: row["native"]["length"] if row["native"] else row["context"],
    "base": lambda row: row["rotations"][0]["base"],
    "windowed_in_a_row": lambda row: _windowed_in_a_row(row["stacks"][0]),
}
COUNTS = ("parameters", "active")
UNITS = {"M": 10**6, "B": 10**9}
SOURCE = (
    r"[\w.-]+/[\w.-]+ at [0-9a-f]{12}, \S.*"
    r"|huggingface\.co/\S+, README\.md.*|.+, arXiv \S+, abstract"
)


def numbers() -> Iterator[tuple[str, dict[str, Any], str, Any]]:
    for hub_id, statements in STATED.items():
        for one in statements:
            for name, value in one["numbers"].items():
                yield hub_id, one, name, value


def of_record(hub_id: str, name: str) -> Any:
    """A number as the row of the model or its config has it, or else the class of its config."""
    if name in ROWS:
        return ROWS[name](made(hub_id)["row"])
    model = known_model(hub_id)
    assert model is not None
    settings = dict(model.settings)
    section = {**settings, **settings.get("text_config", {})}
    for key in KEYS[name]:
        part, _, rest = key.rpartition(".")
        found = settings.get(part, {}).get(rest) if part else section.get(rest)
        if found is not None:
            return found[0] if isinstance(found, list) else found
    return _of_class(settings, KEYS[name])


def _of_class(settings: dict[str, Any], keys: tuple[str, ...]) -> Any:
    from transformers import AutoConfig

    config = AutoConfig.for_model(**settings)
    for key in keys:
        part, _, rest = key.rpartition(".")
        within = getattr(config, part, None) if part else config
        if (found := getattr(within, rest, None)) is not None:
            return found
    return None


def _windowed_in_a_row(stack: Mapping[str, Any]) -> int:
    """The usual number of layers with a window between two without."""
    has_window = ["sliding" in stack["groups"][group]["kinds"] for group in stack["layers"]]
    return mode(len(run) for run in "".join("w" if one else " " for one in has_window).split())


def test_each_statement_has_its_source_and_names_that_are_known() -> None:
    known = {*KEYS, *ROWS, *COUNTS, "largest_image"}
    for hub_id, one, name, _ in numbers():
        assert known_model(hub_id) is not None, hub_id
        assert re.fullmatch(SOURCE, one["source"]), one["source"]
        assert name in known, (hub_id, name)
        assert set(one) <= {"source", "numbers", "differs"}
        assert set(one.get("differs", {})) <= set(one["numbers"]), hub_id


def test_each_number_is_that_of_the_record_or_the_difference_is_explained() -> None:
    found = {}
    for hub_id, one, name, value in numbers():
        if name in COUNTS or name == "largest_image":
            continue
        ours = of_record(hub_id, name)
        if (ours != value) != (name in one.get("differs", {})):
            found[hub_id, name] = (value, ours)
    assert found == {}


def test_counts_of_models_with_experts_are_those_of_their_rows() -> None:
    found = {}
    for hub_id, one, name, text in numbers():
        row = made(hub_id)["row"]
        ours = row["active_parameters" if name == "active" else "parameters"]
        if name not in COUNTS or "active" not in one["numbers"] or ours is None:
            continue
        if ours != round(float(text[:-1]) * UNITS[text[-1]]):
            found[hub_id, name] = (text, ours)
    assert found == {}


def test_the_largest_image_is_that_of_the_grids() -> None:
    model = known_model("llava-hf/llava-onevision-qwen2-7b-ov-hf")
    assert model is not None
    stated = next(value for _, _, name, value in numbers() if name == "largest_image")
    assert max(map(max, model.settings["image_grid_pinpoints"])) == stated


def test_at_least_half_of_the_models_have_three_numbers() -> None:
    counts = [sum(len(one["numbers"]) for one in found) for found in STATED.values()]
    assert len(counts) >= 45
    assert sum(count >= 3 for count in counts) >= len(counts) / 2


# Statements of a count that the settings here cannot give, since these are cut to what position,
# attention and layers need, or since the class does not build what was counted.
NOT_COUNTED = {
    "arcee-ai/Trinity-Large-Preview", "CohereLabs/North-Mini-Code-1.0", "deepseek-ai/DeepSeek-V2",
    "google/mt5-base", "ibm-research/PowerMoE-3b", "LiquidAI/LFM2-24B-A2B",
    "microsoft/bitnet-b1.58-2B-4T", "PaddlePaddle/PaddleOCR-VL", "studio-ousia/luke-base",
    "XiaomiMiMo/MiMo-V2.5-Pro",
}  # fmt: skip
ROUNDED = 0.04  # 22M for 22.7, 24B for 23.3
OF_LAST_DIGIT = 0.6  # 8M for 7.5; 4B for 4.6, a matrix of which the whole file says is one


@pytest.mark.thorough
def test_a_model_built_from_the_settings_has_as_many_parameters_as_its_maker_states() -> None:
    """Its class in transformers, on no device: an oracle of the sizes that are no number here."""
    found, counted = {}, 0
    for hub_id, one, name, text in numbers():
        if name != "parameters" or hub_id in NOT_COUNTED:
            continue
        value = float(text[:-1]) * UNITS[text[-1]]
        digit = UNITS[text[-1]] / 10 ** len(text[:-1].partition(".")[2])
        ours, counted = _built(hub_id), counted + 1
        is_other = abs(ours - value) > max(ROUNDED * value, OF_LAST_DIGIT * digit)
        if is_other != (name in one.get("differs", {})):
            found[hub_id] = (text, ours)
    assert found == {}
    assert counted >= 25


def _built(hub_id: str) -> int:
    import torch
    import transformers

    model = known_model(hub_id)
    assert model is not None
    config = transformers.AutoConfig.for_model(**dict(model.settings))
    by_name = getattr(transformers, next(iter(model.settings.get("architectures", [""]))), None)
    with torch.device("meta"):
        built = by_name(config) if by_name else transformers.AutoModel.from_config(config)
    return sum(one.numel() for one in built.parameters())
