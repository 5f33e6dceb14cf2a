"""What makes a checkpoint encode position as another: applied, they compare equal."""

import copy
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf.scripts import gguf_set_metadata

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.contracts import Mend
from generator.encyclopedia import known_models
from generator.reading.comparison import compared
from generator.reading.mends import mend_of
from generator.reading.sides import Side, comparable
from tests import gguf_files
from tests.reading.small_models import GGUF, LLAMA, YARN, Settings
from tests.support import save_folder

NO_BASE = {name: LLAMA[name] for name in LLAMA if name != "rope_theta"}
V5: Settings = {**NO_BASE, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}
OF_YARN: Settings = {
    "rope.scaling.type": "yarn", "rope.scaling.factor": 4.0,
    "rope.scaling.original_context_length": 64,
}  # fmt: skip
GEMMA: Settings = {**LLAMA, "model_type": "gemma2", "sliding_window": 8, "head_dim": 16}
GLM: Settings = {**LLAMA, "model_type": "glm4", "head_dim": 16, "partial_rotary_factor": 0.5}
IN_GLM = {**GGUF, "attention.key_length": 16, "rope.dimension_count": 16}
GONE = object()  # In place of a value.
# Published models, with a setting of each by its path and a broken value.
BROKEN: list[tuple[str, str, Any]] = [
    ("meta-llama/Llama-3.1-8B", "rope_scaling.factor", 16.0),
    ("meta-llama/Llama-3.1-8B", "rope_scaling.original_max_position_embeddings", 4096),
    ("meta-llama/Llama-3.1-8B", "rope_scaling.rope_type", "linear"),
    ("meta-llama/Llama-3.1-8B", "rope_scaling", None),
    ("meta-llama/Llama-3.1-8B", "rope_theta", 1e4),
    ("meta-llama/Llama-3.1-8B", "rope_theta", GONE),
    ("deepseek-ai/DeepSeek-V3", "rope_scaling.mscale_all_dim", 0.5),
    ("deepseek-ai/DeepSeek-V3", "rope_scaling.beta_fast", 16),
    ("deepseek-ai/DeepSeek-V3", "rope_interleave", False),
    ("mistralai/Mistral-7B-v0.1", "sliding_window", None),
    ("mistralai/Mistral-7B-v0.1", "sliding_window", 2048),
    ("google/gemma-3-4b-it", "text_config.rope_local_base_freq", 1e6),
    ("google/gemma-3-4b-it", "text_config.rope_scaling", None),
    ("openai/gpt-oss-20b", "layer_types", ["full_attention"] * 24),
    ("openai/gpt-oss-20b", "rope_scaling.factor", 16.0),
    ("openai/gpt-oss-20b", "rope_scaling.truncate", True),
    ("microsoft/phi-2", "partial_rotary_factor", 0.5),
    ("EleutherAI/gpt-j-6b", "rotary_dim", 128),
    ("microsoft/Phi-3.5-mini-instruct", "rope_scaling.long_factor", [2.0] * 48),
    ("microsoft/Phi-3.5-mini-instruct", "original_max_position_embeddings", 8192),
    ("microsoft/Phi-3.5-mini-instruct", "rope_scaling", None),
    ("Qwen/Qwen2.5-7B-Instruct", "max_position_embeddings", 131_072),
    ("HuggingFaceTB/SmolLM3-3B", "no_rope_layers", [1] * 36),
    ("google-bert/bert-base-uncased", "max_position_embeddings", 1024),
    ("google-bert/bert-base-uncased", "position_embedding_type", "relative_key"),
    ("Qwen/Qwen2-VL-7B-Instruct", "rope_scaling.mrope_section", [24, 20, 20]),
    ("answerdotai/ModernBERT-base", "local_rope_theta", 160_000.0),
    ("answerdotai/ModernBERT-base", "global_attn_every_n_layers", 1),
    ("answerdotai/ModernBERT-base", "local_attention", 256),
    ("CohereLabs/c4ai-command-r7b-12-2024", "sliding_window", 8192),
    ("swiss-ai/Apertus-8B-2509", "rope_scaling.rope_type", "default"),
    ("openbmb/MiniCPM-2B-128k", "rope_scaling", None),
    ("openbmb/MiniCPM-2B-128k", "rope_scaling.factor", 2.0),
    ("allenai/Olmo-3-1025-7B", "layer_types", ["full_attention"] * 32),
    ("ibm-granite/granite-4.0-h-tiny", "position_embedding_type", "rope"),
    ("mosaicml/mpt-7b", "attn_config.alibi", False),
    ("tiiuae/falcon-rw-1b", "alibi", False),
    ("google/gemma-2-9b", "sliding_window", 8192),
    ("nomic-ai/nomic-embed-text-v1.5", "rope_parameters.rope_theta", 1e4),
]


def side(folder: Path, settings: Mapping[str, Any]) -> Side:
    return comparable("A", FolderFiles(save_folder(folder, settings), "own"))


def of_gguf(folder: Path, architecture: str, settings: Settings) -> Side:
    """The file stands for another, where it exists."""
    path = folder / "model.gguf"
    if not path.exists():
        folder.mkdir()
        gguf_files.write(path, architecture, settings)
    return comparable("B", FolderFiles(folder, "own", Choice(name=path.name)))


def applied(settings: Settings, mend: Mend) -> Settings:
    """As RFC 6902 has it."""
    patched = copy.deepcopy(settings)
    for operation in mend.patch:
        _, *around, name = operation["path"].split("/")
        inner = patched
        for each in around:
            inner = inner[each]
        if operation["op"] == "remove":
            del inner[name]
        else:
            inner[name] = operation["value"]
    return patched


def broken(settings: Settings, path: str, value: Any) -> Settings:
    copied = copy.deepcopy(settings)
    *around, name = path.split(".")
    inner = copied
    for each in around:
        inner = inner[each]
    if value is GONE:
        del inner[name]
    else:
        inner[name] = value
    return copied


@pytest.mark.parametrize(("model", "path", "value"), BROKEN)
def test_a_patch_mends_a_published_config_with_one_setting_broken(
    tmp_path: Path, model: str, path: str, value: Any
) -> None:
    whole = dict(published(model))
    spoilt = broken(whole, path, value)
    one, other = side(tmp_path / "a", whole), side(tmp_path / "b", spoilt)
    mend = mend_of(one, other)
    assert (mend.verdict, mend.sentences) == ("different", ())
    again = compared(one, side(tmp_path / "mended", applied(spoilt, mend)))
    assert again.verdict.startswith("equal")


def published(model: str) -> Mapping[str, Any]:
    config: Mapping[str, Any] = json.loads(known_models.file_of(model).read_bytes())["config"]
    return config


PATCHES: list[tuple[Settings, Settings, dict[str, Any]]] = [
    (LLAMA, {**LLAMA, "rope_theta": 1e4}, {"/rope_theta": 1e6}),
    (LLAMA, {**LLAMA, "rope_scaling": YARN}, {"/rope_scaling": None}),
    (LLAMA, LLAMA, {}),
    ({**LLAMA, "rope_scaling": YARN}, NO_BASE, {"/rope_theta": 1e6, "/rope_scaling": YARN}),
    (V5, {**V5, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}},
     {"/rope_parameters/rope_theta": 1e6, "/rope_theta": 1e6}),
]  # fmt: skip


@pytest.mark.parametrize(("whole", "spoilt", "patch"), PATCHES)
def test_a_patch_has_what_differs_and_both_spellings_where_programs_differ(
    tmp_path: Path, whole: Settings, spoilt: Settings, patch: dict[str, Any]
) -> None:
    mend = mend_of(side(tmp_path / "a", whole), side(tmp_path / "b", spoilt))
    assert {each["path"]: each.get("value") for each in mend.patch} == patch


@pytest.mark.parametrize(
    ("spoilt", "header"),
    [({**LLAMA, "rope_theta": 1e4}, GGUF), ({**LLAMA, "rope_scaling": YARN}, GGUF),
     ({**LLAMA, "max_position_embeddings": 99}, GGUF), (LLAMA, {**GGUF, **OF_YARN}),
     (V5, {**GGUF, **OF_YARN}), (V5, {**GGUF, "rope.freq_base": 5e5})],
)  # fmt: skip
def test_a_patch_has_what_a_gguf_file_says_in_words_of_config_json(
    tmp_path: Path, spoilt: Settings, header: Settings
) -> None:
    one = of_gguf(tmp_path / "a", "llama", header)
    mend = mend_of(one, side(tmp_path / "b", spoilt))
    assert mend.patch
    assert compared(one, side(tmp_path / "c", applied(spoilt, mend))).verdict == "equal"


@pytest.mark.parametrize(
    ("settings", "header", "expected"),
    [
        (LLAMA, {**GGUF, "rope.freq_base": 1e4}, {"rope.freq_base": 1e6}),
        (LLAMA, {**GGUF, "context_length": 512}, {"context_length": 256}),
        (LLAMA, {**GGUF, **OF_YARN}, {"rope.scaling.factor": 1.0}),
        ({**LLAMA, "rope_scaling": YARN}, {**GGUF, **OF_YARN, "rope.scaling.factor": 8.0},
         {"rope.scaling.factor": 4.0}),
        (GLM, IN_GLM, {"rope.dimension_count": 8}),
        (GEMMA, {**GGUF, "attention.key_length": 16, "attention.sliding_window": 16},
         {"attention.sliding_window": 8}),
    ],
)  # fmt: skip
def test_numbers_of_a_gguf_file_are_set_with_the_script_of_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings, header: Settings,
    expected: Settings,
) -> None:  # fmt: skip
    one, architecture = side(tmp_path / "a", settings), settings["model_type"]
    mend = mend_of(one, of_gguf(tmp_path / "b", architecture, header))
    assert dict(mend.metadata) == {f"{architecture}.{key}": expected[key] for key in expected}
    for key, value in mend.metadata:
        path = str(tmp_path / "b" / mend.file)
        monkeypatch.setattr(sys, "argv", ["set", path, key, str(value), "--force"])
        gguf_set_metadata.main()
    assert compared(one, of_gguf(tmp_path / "b", architecture, header)).verdict == "equal"


@pytest.mark.parametrize(
    ("settings", "header", "text"),
    [(LLAMA, {name: GGUF[name] for name in GGUF if "rope" not in name},
      "at each start: --override-kv llama.rope.freq_base=float:1000000.0"),
     ({**LLAMA, "rope_scaling": YARN}, {**GGUF, **OF_YARN, "rope.scaling.type": "linear"},
      "at each start: --override-kv llama.rope.scaling.type=str:yarn"),
     (LLAMA, {**GGUF, "block_count": 5}, "because weights would have to change.")],
)  # fmt: skip
def test_what_cannot_be_set_in_a_gguf_file_is_said(
    tmp_path: Path, settings: Settings, header: Settings, text: str
) -> None:
    mend = mend_of(side(tmp_path / "a", settings), of_gguf(tmp_path / "b", "llama", header))
    assert (mend.patch, mend.metadata) == ((), ())
    assert text in mend.sentences[0]


def with_table(folder: Path, value: float) -> Side:
    settings = {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 32,
                "vocab_size": 100}  # fmt: skip
    arrays = {"wpe.weight": np.full((32, 8), value, np.float32)}
    return comparable("A", FolderFiles(save_folder(folder, settings, arrays), "own"))


OF_WEIGHTS: list[tuple[Callable[[Path], Side], Callable[[Path], Side], str]] = [
    (lambda path: side(path, LLAMA), lambda path: side(path, {**LLAMA, "num_hidden_layers": 5}),
     "weights would have to change"),
    (lambda path: side(path, LLAMA), lambda path: side(path, {**LLAMA, "head_dim": 32}),
     "weights would have to change"),
    (lambda path: with_table(path, 1.0), lambda path: with_table(path, 2.0),
     "weights would have to change"),
    (lambda path: side(path, LLAMA), lambda path: side(path, {**LLAMA, "model_type": "smollm3"}),
     "No change of settings was found that makes B as A"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "text"), OF_WEIGHTS)
def test_what_no_setting_mends_is_said_in_one_sentence(
    tmp_path: Path, one: Callable[[Path], Side], other: Callable[[Path], Side], text: str
) -> None:
    mend = mend_of(one(tmp_path / "a"), other(tmp_path / "b"))
    assert (mend.patch, len(mend.sentences)) == ((), 1)
    assert text in mend.sentences[0]


def test_names_in_a_path_are_escaped_as_rfc_6901_has_it(tmp_path: Path) -> None:
    whole = {**LLAMA, "rope/window~": 1}
    mend = mend_of(side(tmp_path / "a", whole), side(tmp_path / "b", {**LLAMA, "rope_theta": 1e4}))
    assert json.loads(json.dumps(mend.patch[-1])) == {
        "op": "add", "path": "/rope~1window~0", "value": 1
    }  # fmt: skip
