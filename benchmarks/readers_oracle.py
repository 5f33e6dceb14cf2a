"""What transformers 4 makes of the rotations of published configs whose keys are moved, renamed or
dropped: the oracle of its reader.

`python -m benchmarks.readers_oracle PYTHON` writes it to the tests: PYTHON of an environment with
transformers 4.57 and torch.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from generator.checkpoints.model.resolved import defaults
from generator.encyclopedia.known_models import known_models
from generator.reading.reader_defaults import reader_defaults

FILE = Path(__file__).parents[1] / "tests/reading/transformers4.json"
SECONDS = 300
SIZES = frozenset(
    {"model_type", "hidden_size", "num_attention_heads", "num_hidden_layers", "head_dim",
     "partial_rotary_factor", "max_position_embeddings", "original_max_position_embeddings",
     "qk_rope_head_dim", "qk_nope_head_dim"}
)  # fmt: skip
LINEAR = {"rope_type": "linear", "factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
# Prints for each config the number of frequencies, their sum, the last, and the factor.
RUN = """
import json, logging, sys
logging.disable(logging.CRITICAL)
from transformers import CONFIG_MAPPING
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
found = []
for settings in json.load(sys.stdin):
    try:
        config = CONFIG_MAPPING[settings.pop("model_type")](**settings)
        scaling = config.rope_scaling or {}
        kind = scaling.get("rope_type", scaling.get("type", "default"))
        angles, factor = ROPE_INIT_FUNCTIONS[kind](config, device="cpu")
        found.append([len(angles), float(angles.double().sum()), float(angles[-1]), float(factor)])
    except Exception:
        found.append(None)
print(json.dumps(found))
"""


def configs() -> Iterator[Mapping[str, Any]]:
    """Two for each family whose class takes a base and a scaling for all layers."""
    families: set[str] = set()
    for model in known_models():
        family = model.settings.get("model_type", "")
        own = reader_defaults("transformers4").get(family, {}).get("arguments", {})
        rope = model.settings.get("rope_parameters") or {}
        base = model.settings.get("rope_theta", rope.get("rope_theta"))
        is_one = not any(isinstance(value, Mapping) for value in rope.values())
        is_one &= model.settings.get("position_embedding_type") != "nope"
        is_one &= "full_attention" not in (defaults(family).get("rope_parameters") or {})
        is_usable = {"rope_theta", "rope_scaling"} <= own.keys() and base and is_one
        if is_usable and family not in families and "rope_local_base_freq" not in own:
            families.add(family)
            sizes = {name: model.settings[name] for name in SIZES & model.settings.keys()}
            written = [
                {"rope_theta": base, "rope_scaling": LINEAR},
                {"rope_parameters": {"rope_theta": base, **LINEAR}},
                {},
                {"rope_theta": base},
                {"rope_theta": 123456.0, "rope_parameters": {"rope_theta": base}},
                {"rope_scaling": YARN},
                {"rope_theta": base, "rope_scaling": {"type": "linear", "factor": 3.0}},
            ]
            for number in (len(families), len(families) + 3, len(families) + 5):
                yield {**sizes, **written[number % len(written)]}


def main() -> None:
    """Write all that it takes."""
    every = [dict(sorted(settings.items())) for settings in configs()]
    command = [sys.argv[1], "-W", "ignore", "-c", RUN]
    given = json.dumps(every).encode()
    printed = subprocess.run(command, input=given, capture_output=True, check=True, timeout=SECONDS)
    rows = [
        f" {json.dumps([settings, found])}"
        for settings, found in zip(every, json.loads(printed.stdout), strict=True)
        if found is not None
    ]
    FILE.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
