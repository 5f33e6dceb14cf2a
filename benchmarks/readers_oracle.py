"""What programs make of published configs whose keys are moved, renamed or dropped: the oracles of
their readers.

`python -m benchmarks.readers_oracle READER PYTHON [FOLDER]` writes it to the tests: READER is
transformers4, transformers5, mlx-lm or llama-cpp, PYTHON of an environment with that program and
torch, and FOLDER that of llama.cpp's code. Of the last two the configs that the tests have are run
again; those of transformers are made anew.
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

TESTS = Path(__file__).parents[1] / "tests/reading"
PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 1800
SIZES = frozenset(
    {"model_type", "hidden_size", "num_attention_heads", "num_hidden_layers", "head_dim",
     "partial_rotary_factor", "max_position_embeddings", "original_max_position_embeddings",
     "qk_rope_head_dim", "qk_nope_head_dim"}
)  # fmt: skip
LINEAR = {"rope_type": "linear", "factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}


def configs() -> Iterator[Mapping[str, Any]]:
    """Three for each family whose class takes a base and a scaling for all layers."""
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
    reader, python, *folder = sys.argv[1:]
    name = reader.replace("-", "_")
    file = TESTS / f"{name}.json"
    if reader.startswith("transformers"):
        every, name = [dict(sorted(settings.items())) for settings in configs()], "transformers"
    else:
        every = [settings for settings, _ in json.loads(file.read_text(encoding="utf-8"))]
    command = [python, "-W", "ignore", str(PROGRAMS / f"of_{name}.py"), *folder]
    given = json.dumps(every).encode()
    printed = subprocess.run(command, input=given, capture_output=True, check=True, timeout=SECONDS)
    rows = [
        f" {json.dumps([settings, found])}"
        for settings, found in zip(every, json.loads(printed.stdout), strict=True)
        if found is not None or name != "transformers"
    ]
    file.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
