"""Rotations of published configs as the models of mlx-lm apply them, for ``expected_values``.

``python benchmarks/expected_mlx.py FILE…`` runs in an environment with mlx and mlx-lm, which the
atlas does not need, and imports nothing of it. For each config it builds the model,
whose weights MLX never computes, and applies the rotary module of every layer to unit vectors at
position 1. Prints JSON: versions, and by id the layers or a problem.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

ROTARY = ("rope", "rotary_emb", "rotary_embedding")
# Keys that models of mlx-lm need, that the configs of the atlas leave out, and that say nothing of
# position; others by their types.
BESIDE = {
    "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "attention_bias": False,
    "intermediate_size": 8, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 8,
    "num_experts": 8, "num_local_experts": 8, "num_experts_per_tok": 1, "top_k_experts": 2,
    "n_routed_experts": 8, "n_shared_experts": 1, "interleave_moe_layer_step": 1,
    "decoder_sparse_step": 1, "mlp_only_layers": [], "norm_topk_prob": False,
    "cla_share_factor": 1, "intermediate_size_mlp": 8, "use_qk_norm": False,
    "moe_shared_expert_intermediate_size": 8, "routed_scaling_factor": 1.0,
    "topk_method": "noaux_tc", "scoring_func": "sigmoid",
}  # fmt: skip
FILLING = {int: 8, float: 1e-5, bool: False, str: "silu"}


def main() -> None:
    found: dict[str, Any] = {}
    for path in sys.argv[1:]:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        if record.get("from_knowledge"):
            continue
        try:
            found[record["id"]] = {"layers": list(layers(built(record["config"])))}
        except (Exception, SystemExit) as error:  # noqa: BLE001 (models refuse configs in many ways)
            found[record["id"]] = {"problem": f"{type(error).__name__}: {error}"[:200]}
    versions = {name: version(name) for name in ("mlx", "mlx-lm")}
    sys.stdout.write(f"{json.dumps({'versions': versions, 'models': found})}\n")


def built(settings: Mapping[str, Any]) -> Any:
    """The model of mlx-lm for a config.json, with unimportant keys filled in.

    errors: any that its code raises
    """
    model_class, args_class = import_module("mlx_lm.utils")._get_classes(dict(settings))
    given = {**BESIDE, **settings}
    if isinstance(text := given.get("text_config"), dict):
        given["text_config"] = {**BESIDE, **text}
    for field in fields(args_class):
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and field.name not in given and field.type in FILLING:
            given[field.name] = FILLING[field.type]
    return model_class(args_class.from_dict(given))


def layers(model: Any) -> Iterator[dict[str, Any] | None]:
    """For each layer in order, its rotation: frequencies (n_pairs,) in radians per position, in the
    order of the components, 0 where a pair rests; factor and order of the pairs. None without one.
    """
    for layer in model.layers:
        parts = [layer, *(part for _, part in layer.named_modules())]
        ropes = [(part, name) for part in parts for name in ROTARY if callable(part.get(name))]
        if not ropes:
            yield None
            continue
        part, name = ropes[0]
        yield measured(part[name])


def measured(rope: Any) -> dict[str, Any] | None:
    """A rotation, by its matrix at position 1: (components, components)."""
    core = import_module("mlx.core")
    width = next((getattr(rope, name) for name in ("dims", "dim") if hasattr(rope, name)), None)
    components = int(width or 2 * rope._freqs.size)
    unit = core.eye(components).reshape(components, 1, 1, components)
    matrix = np.array(rope(unit, offset=1), dtype=np.float64).reshape(components, components)
    pairs, gaps = [], set()
    for row in range(components):
        others = [int(at) for at in np.flatnonzero(matrix[row]) if at != row]
        if others and others[0] > row:
            pairs.append((matrix[row, row], matrix[row, others[0]]))
            gaps.add(others[0] - row)
    if not pairs:
        return None
    cos, sin = np.array(pairs).T
    return {
        "frequencies": np.arctan2(np.abs(sin), cos).tolist(),
        "factor": float(np.hypot(cos, sin).mean()),
        "order": "adjacent" if gaps == {1} else "halves" if len(gaps) == 1 else "",
    }


if __name__ == "__main__":
    main()
