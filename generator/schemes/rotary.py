"""Rotary position embedding: query and key components turned by angles that grow with position."""

from collections.abc import Mapping
from typing import Any

from generator.contracts import Encoding, Files, Json, Provenance, Scheme
from generator.encodings import BASE, Form, Rotation
from generator.errors import RowError
from generator.model_config import family, needed, number, whole

KEYS = frozenset(
    {"rope_parameters", "rope_theta", "rope_scaling", "rotary_dim", "rotary_pct", "rotary_emb_base", "partial_rotary_factor"}
)
FAMILIES = frozenset({"llama", "mistral", "mixtral", "qwen2", "qwen3", "gemma", "gemma2", "phi", "gpt_neox", "gptj", "falcon"})


def find(files: Files) -> list[Encoding[Form]]:
    config = files.config
    if config.get("alibi") is True or not (KEYS & config.keys() or family(config) in FAMILIES):
        return []
    if config.get("position_embedding_type") in ("absolute", "sinusoidal"):
        return []
    rope = _parameters(config)
    base = _positive(rope.get("rope_theta", config.get("rope_theta", config.get("rotary_emb_base", BASE))), "rope_theta", files)
    heads = needed(config, "n_heads", files.where)
    head_dim = whole(config.get("head_dim") or needed(config, "d_model", files.where) // heads, f"{files.where}: head_dim")
    rotary_dim = _rotary_dim(config, rope, head_dim, files)
    scaling = {key: value for key, value in rope.items() if key not in ("rope_theta", "partial_rotary_factor")}
    form = Rotation(base, rotary_dim, head_dim, number(config, "n_positions", files.where) or 2048, scaling)
    part = f"{rotary_dim} of the {head_dim} components" if rotary_dim < head_dim else f"All {head_dim} components"
    note = f"No tensor holds it; {part[0].lower()}{part[1:]} of each query and key head are turned, as config.json says."
    return [Encoding("decoder", SCHEME.key, form, Provenance("config.json", shape=(rotary_dim // 2,)), (note,))]


def _parameters(config: Json) -> Mapping[str, Any]:
    for key in ("rope_parameters", "rope_scaling"):
        if isinstance(value := config.get(key), dict):
            return value
    return {}


def _rotary_dim(config: Json, rope: Mapping[str, Any], head_dim: int, files: Files) -> int:
    if (given := config.get("rotary_dim")) is not None:
        rotary_dim = whole(given, f"{files.where}: rotary_dim")
    else:
        share = rope.get("partial_rotary_factor", config.get("partial_rotary_factor", config.get("rotary_pct", 1.0)))
        rotary_dim = int(head_dim * _positive(share, "partial_rotary_factor", files))
    if not 2 <= rotary_dim <= head_dim:
        raise RowError(f"{files.where}: {rotary_dim} rotated components; expected 2 to the head's {head_dim}")
    return rotary_dim - rotary_dim % 2


def _positive(value: object, name: str, files: Files) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:
        raise RowError(f"{files.where}: {name} is {value!r:.60}; expected a positive number")
    return float(value)


SCHEME = Scheme(
    key="rotary",
    title="Rotary",
    summary="Pairs of query and key components are turned by an angle proportional to position, so that their product depends on the offset.",
    looked_for="rotary parameters in config.json (rope_theta, rope_scaling, rotary_dim …)",
    order=40,
    find=find,
)
