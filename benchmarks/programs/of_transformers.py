"""What either major version of transformers takes: the number of frequencies, their sum, the last,
the factor and the length.
"""

import json
import logging
import sys
from importlib import import_module
from typing import Any

DEFAULT = "default"


def taken(settings: dict[str, Any]) -> list[float]:
    """The values."""
    transformers = import_module("transformers")
    initialisers = import_module("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
    config = transformers.CONFIG_MAPPING[settings.pop("model_type")](**settings)
    is_new = int(transformers.__version__.split(".")[0]) > 4
    rope = config.rope_parameters if is_new else config.rope_scaling or {}
    kind = rope.get("rope_type", rope.get("type", DEFAULT))
    length = config.max_position_embeddings
    if kind not in initialisers:  # Of transformers 5, models have plain rotations themselves.
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        n = int(head * rope.get("partial_rotary_factor", 1.0))
        angles = [rope["rope_theta"] ** (-i / n) for i in range(0, n, 2)]
        return [len(angles), sum(angles), angles[-1], 1.0, length]
    tensor, factor = initialisers[kind](config, device="cpu")
    return [len(tensor), float(tensor.double().sum()), float(tensor[-1]), float(factor), length]


def main() -> None:
    """Print what is taken of each config."""
    logging.disable(logging.CRITICAL)
    found: list[Any] = []
    for settings in json.load(sys.stdin):
        try:
            found.append(taken(settings))
        except Exception:  # noqa: BLE001
            found.append(None)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
