"""The layer map of published configs against what their authors' code and papers do (``expected``
of generator/encyclopedia/models).
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import EncodingRecord, Layer
from generator.reading.find import find
from tests.support import DictFiles

CONFIGS = Path(__file__).parents[2] / "generator/encyclopedia/models"
RECORDS = {
    file.stem: json.loads(file.read_text(encoding="utf-8"))
    for file in sorted(CONFIGS.glob("*.json"))
}
EXPECTED = {
    name: (record["config"], record["expected"])
    for name, record in RECORDS.items()
    if "expected" in record
}
KINDS = {"feed-forward": "none"}
Rotation = tuple[float, int, str] | None


def chosen(layers: Any, count: int) -> set[int]:
    return set(range(count)) if layers == "all" else set(layers)


def main_stack(layers: tuple[Layer, ...]) -> list[Layer]:
    """The decoder, or the encoder of a model without one."""
    last = "decoder" if any(layer.part == "decoder" for layer in layers) else "encoder"
    return [layer for layer in layers if layer.part == last]


@cache
def read(name: str) -> tuple[list[Layer], dict[str, EncodingRecord]]:
    return of_config(EXPECTED[name][0])


def of_config(config: dict[str, Any]) -> tuple[list[Layer], dict[str, EncodingRecord]]:
    files = DictFiles(config)
    encodings = find(files)
    return main_stack(layer_map(files, encodings)), {
        encoding.key: encoding.record for encoding in encodings
    }


def rotation_of(layer: Layer, records: dict[str, EncodingRecord]) -> Rotation:
    for key in layer.encodings or ():
        parameters = records[key].parameters
        if "base" in parameters:
            scaling: Any = parameters["scaling"]
            return (
                effective_base(parameters),
                parameters["rotary_dim"],
                "default" if scaling is None else scaling["rope_type"],
            )
    return None


def effective_base(parameters: Any) -> float:
    """The base, after a scaling that changes it."""
    changed = bool(parameters["scaling"]) and "alpha" in parameters["scaling"]
    base = (
        parameters["inverse_frequencies"][1] ** (-parameters["rotary_dim"] / 2)
        if changed
        else parameters["base"]
    )
    return round(float(base), 2)


def _base(rotation: dict[str, Any]) -> float:
    return round(float(rotation.get("effective_base", rotation["base"])), 2)


def expected_rotations(expected: dict[str, Any]) -> list[Rotation]:
    rotations: list[Rotation] = [None] * expected["layers"]
    for rotation in expected["rotation"]:
        for layer in chosen(rotation["layers"], len(rotations)):
            rotations[layer] = (_base(rotation), rotation["rotary_dim"], rotation["scaling"])
    return rotations


def test_every_layer_has_the_rotation_of_the_authors() -> None:
    """Of models without it, the sources leave it open."""
    wrong = {}
    for name in (name for name, (_, expected) in EXPECTED.items() if "rotation" in expected):
        layers, records = read(name)
        found = [rotation_of(layer, records) for layer in layers]
        if found != expected_rotations(EXPECTED[name][1]):
            wrong[name] = found
    assert wrong == {}


def test_every_layer_mixes_positions_as_the_authors_say() -> None:
    wrong = {}
    for name, (_, expected) in EXPECTED.items():
        layers, _ = read(name)
        kinds = {KINDS.get(kind, kind): set[int]() for kind in expected["kinds"]}
        for kind, indices in expected["kinds"].items():
            kinds[KINDS.get(kind, kind)] |= chosen(indices, expected["layers"])
        found = {kind: {layer.index for layer in layers if kind in layer.mixers} for kind in kinds}
        if found != kinds:
            wrong[name] = found
    assert wrong == {}


def test_every_window_is_that_of_the_authors() -> None:
    limits = {
        (name, kind): keys - 1
        for name, (_, expected) in EXPECTED.items()
        for kind, keys in expected.get("before", {}).items()
    }
    found = {
        (name, kind): {layer.before for layer in read(name)[0] if kind in layer.mixers}
        for name, kind in limits
    }
    assert found == {place: {limit} for place, limit in limits.items()}


def test_alibi_acts_in_every_layer() -> None:
    names = [name for name, (_, expected) in EXPECTED.items() if expected.get("bias") == "alibi"]
    for name in names:
        layers, records = read(name)
        found = [[records[key].scheme for key in layer.encodings or ()] for layer in layers]
        assert found == [["alibi"]] * len(layers), name
    assert names


def test_phi_3_5_moe_multiplies_sine_and_cosine_by_its_short_factor() -> None:
    config, _ = EXPECTED["microsoft--Phi-3.5-MoE-instruct"]
    _, records = of_config(config)
    assert [record.parameters["attention_factor"] for record in records.values()] == [
        config["rope_scaling"]["short_mscale"]
    ]


def test_jina_v3_is_an_encoder() -> None:
    layers, _ = read("jinaai--jina-embeddings-v3")
    assert {(layer.part, layer.after) for layer in layers} == {("encoder", None)}


def test_a_llama_without_a_model_type_is_known_by_its_architecture() -> None:
    config = {
        "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_attention_heads": 2,
        "num_hidden_layers": 3, "vocab_size": 100,
    }  # fmt: skip
    layers, records = of_config(config)
    assert [rotation_of(layer, records) for layer in layers] == [(10_000.0, 32, "default")] * 3
