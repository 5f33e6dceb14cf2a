"""How many components turn where a config gives a share of each head, against the modules of each
model type; of all types in a thorough test.
"""

from typing import Any

import pytest

from benchmarks import models
from benchmarks.rotated_shares import EXPLAINED, SCALINGS, compare
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.encodings import Rotation
from generator.reading.evidence import look_closely

LLAMA = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    "vocab_size": 100, "max_position_embeddings": 64,
}  # fmt: skip
KEY = "rope_parameters.partial_rotary_factor"


@pytest.mark.parametrize(("family", "scaling", "turned", "is_read"), [
    ("llama", {"rope_type": "default"}, 16, False),
    ("llama", {"rope_type": "linear", "factor": 2.0}, 4, True),
    ("glm4", {"rope_type": "default"}, 4, True),
])  # fmt: skip
def test_a_share_counts_where_the_code_of_the_family_reads_it(
    family: str, scaling: dict[str, Any], turned: int, is_read: bool
) -> None:
    rope = {**scaling, "rope_theta": 1e4, "partial_rotary_factor": 0.25}
    files = ConfigAlone({**LLAMA, "model_type": family, "head_dim": 16, "rope_parameters": rope},
                        "own")  # fmt: skip
    [one] = look_closely(files).measured
    assert isinstance(one.form, Rotation)
    assert one.form.rotary_dim == turned
    assert (KEY in one.origins["rotary_dim"].keys) == is_read


@pytest.mark.parametrize("name", ["llama", "internlm3", "mimo_v2_flash"])
def test_as_many_components_turn_as_in_the_modules(name: str) -> None:
    assert compare(name, "default") == []


@pytest.mark.thorough
def test_every_type_turns_as_many_components_as_its_modules() -> None:
    found = {
        name: lines
        for name in models.types()
        if (lines := [line for kind in SCALINGS for line in compare(name, kind)])
    }
    assert {name: lines for name, lines in found.items() if name not in EXPLAINED} == {}
    assert EXPLAINED.keys() <= found.keys()
