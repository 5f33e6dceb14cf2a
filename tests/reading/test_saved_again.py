"""A config that transformers loads and saves again is equal to that from which it was made.

The thorough test takes another transformers too, such as the last 4.x, where the variable
``OTHER_PYTHON`` has the path of a Python with it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.encyclopedia.known_models import known_models
from generator.reading import comparison, sides
from generator.reading.comparison import compared
from generator.reading.find import look
from generator.reading.sides import Side
from tests.reading.judged import Judged

SCRIPT = Path(__file__).parent / "save_configs.py"
OTHER_PYTHON = "ATLAS_PYTHON_WITH_OTHER_TRANSFORMERS"
Settings = Mapping[str, Any]
# transformers 5 saves another base: DBRX's is in attn_config, and Fuyu's beside its text model.
LOSE_THEIR_BASE = {"databricks/dbrx-base", "adept/fuyu-8b"}
# transformers 4 halves the window of an encoder whenever it loads one (configuration_gemma3.py).
HALVE_THEIR_WINDOW = {"google/embeddinggemma-300m"}
# Layers, or what weights would tell, are unknown in both files, which is said.
UNKNOWN = {
    "funnel-transformer/small", "transfo-xl/transfo-xl-wt103", "susnato/ernie-m-base_pytorch"
}  # fmt: skip
HYBRID: Settings = {
    "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
    "max_position_embeddings": 256, "num_hidden_layers": 4, "mamba_n_heads": 4, "mamba_d_head": 32,
}  # fmt: skip
OF_NEMOTRON: Settings = {
    "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
    "max_position_embeddings": 256, "num_hidden_layers": 4, "hybrid_override_pattern": "M-*-",
    "head_dim": 16, "mamba_num_heads": 4, "mamba_head_dim": 32,
}  # fmt: skip


def saved(python: str, configs: Mapping[str, Settings], folder: Path) -> Iterator[tuple[str, Any]]:
    """The names of those that are loaded, with what is saved."""
    given, written = folder / "given", folder / "written"
    given.mkdir()
    names = dict(enumerate(configs))
    for index, name in names.items():
        (given / f"{index}.json").write_text(json.dumps(configs[name]), encoding="utf-8")
    subprocess.run(
        [python, SCRIPT, given, written],
        check=True,
        env={"HF_HUB_OFFLINE": "1", "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for index, name in names.items():
        if (path := written / str(index) / "config.json").exists():
            yield name, json.loads(path.read_text("utf-8"))


def differences(one: Settings, other: Settings) -> list[str]:
    """What differs, and what is untold but numbers that no config has."""
    given = Side.of("A", ConfigAlone(one, "a")), Side.of("B", ConfigAlone(other, "b"))
    found = compared(*given)
    untold = [text for text in found.untold if "has no numbers" not in text]
    return [*(each.text for each in found.differences), *untold]


def test_recurrent_layers_that_are_saved_again_are_equal(tmp_path: Path) -> None:
    """With times up to infinity, which are written as sections."""
    configs = {
        "bamba": {**HYBRID, "model_type": "bamba", "attn_layer_indices": [1]},
        "falcon_h1": {**HYBRID, "model_type": "falcon_h1", "mamba_d_ssm": 128},
        "nemotron_h": {**OF_NEMOTRON, "model_type": "nemotron_h"},
    }
    found = dict(saved(sys.executable, configs, tmp_path))
    assert found.keys() == configs.keys()
    assert "__float__" in json.dumps(found["bamba"])
    assert not any(differences(configs[name], found[name]) for name in found)


def judged_again(python: str, lose: Container[str], folder: Path) -> Iterator[Judged]:
    """Verdicts on published configs that the transformers of a Python saves again."""
    configs = {model.id: model.settings for model in known_models()}
    for name, again in saved(python, configs, folder):
        other = "untold" if name in UNKNOWN else "different"
        found = other if differences(configs[name], again) else "equal"
        right = other if name in lose or name in UNKNOWN else "equal"
        yield Judged(name, (found, []), (right, []))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("python", "lose"),
    [
        (sys.executable, LOSE_THEIR_BASE),
        *([(os.environ[OTHER_PYTHON], HALVE_THEIR_WINDOW)] if OTHER_PYTHON in os.environ else []),
    ],
)
def test_published_configs_that_are_saved_again_are_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str, lose: set[str]
) -> None:
    monkeypatch.setattr(sides, "look_closely", look)  # Origins decide nothing, and take longest.
    monkeypatch.setattr(comparison, "unread_keys", lambda *_: ())
    judged = [*judged_again(python, lose, tmp_path)]
    assert len(judged) > 230
    assert [one.wrong for one in judged if one.wrong] == []
