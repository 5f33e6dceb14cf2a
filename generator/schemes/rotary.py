"""Rotary position embedding: query and key components turned by angles that grow with position."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from generator.contracts import Encoding, Files, Json, Provenance, Scheme
from generator.encodings import BASE, Form, Rotation
from generator.errors import RowError
from generator.model_config import family, needed, number, positive, whole

KEYS = (
    "rope_parameters", "rope_theta", "rope_scaling", "rotary_dim", "rotary_pct", "rotary_emb_base", "partial_rotary_factor",
    "rope_local_base_freq", "local_rope_theta",
)  # fmt: skip
FAMILIES = frozenset({"llama", "mistral", "mixtral", "qwen2", "qwen3", "gemma", "gemma2", "phi", "gpt_neox", "gptj", "falcon", "roformer"})
LOCAL = ("rope_local_base_freq", "local_rope_theta")  # The second base of Gemma 3 and of ModernBERT, in older configs.
MOST_COMPONENTS = 2**16


def find(files: Files) -> list[Encoding[Form]]:
    return [_encoding(files, part, rope) for part, rope in _rotations(files.config).items()] if _asked(files.config) else []


def _asked(config: Json) -> bool:
    said = config.get("position_embedding_type")
    if config.get("alibi") is True or said in ("sinusoidal", "nope"):
        return False
    if said == "absolute":  # BERT's word, which ModernBERT's configs carry along.
        return any(config.get(key) is not None for key in LOCAL)
    return said in ("rotary", "rope") or family(config) in FAMILIES or any(config.get(key) is not None for key in KEYS)


def _rotations(config: Json) -> Mapping[str, Mapping[str, Any]]:
    """The parameters of each rotation by part: one for all layers, or one for each kind of layer."""
    rope = next((value for key in ("rope_parameters", "rope_scaling") if isinstance(value := config.get(key), dict)), {})
    by_kind = {f"decoder {kind.replace('_', ' ')}": each for kind, each in rope.items() if isinstance(each, dict)}
    local = next((config[key] for key in LOCAL if config.get(key) is not None), None)
    if by_kind or local is None:
        return by_kind or {"decoder": rope}
    whole_base = {"rope_theta": config["global_rope_theta"]} if "global_rope_theta" in config else {}
    return {"decoder full attention": {**rope, **whole_base}, "decoder sliding attention": {"rope_theta": local}}


def _encoding(files: Files, part: str, rope: Mapping[str, Any]) -> Encoding[Form]:
    config = files.config
    base = _first(rope.get("rope_theta"), config.get("rope_theta"), config.get("rotary_emb_base"), BASE)
    rotary_dim, head_dim = _sizes(config, rope, files)
    scaling = {key: value for key, value in rope.items() if key not in ("rope_theta", "partial_rotary_factor")}
    form = Rotation(
        positive(base, f"{files.where}: rope_theta"), rotary_dim, head_dim, number(config, "n_positions", files.where) or 2048, scaling
    )
    _check(form, files)
    turned = f"{rotary_dim} of the {head_dim} components" if rotary_dim < head_dim else f"all {head_dim} components"
    note = f"No tensor holds it; {turned} of each query and key head are turned, as config.json says."
    return Encoding(part, SCHEME.key, form, Provenance("config.json", shape=(rotary_dim // 2,)), (note,))


def _check(form: Rotation, files: Files) -> None:
    """errors: RowError when the scaling is not one that transformers knows, or makes no frequencies"""
    try:
        frequencies = form.frequencies
    except Exception as error:  # noqa: BLE001  # transformers raises whatever its validators and its arithmetic run into.
        problem = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    else:
        problem = "" if frequencies.size and np.all(np.isfinite(frequencies) & (frequencies > 0.0)) else "no positive frequencies"
    if problem:
        raise RowError(
            f"{files.where}: rotary scaling {dict(form.scaling)!r:.120} gives {problem}; expected a kind of transformers, complete"
        )


def _sizes(config: Json, rope: Mapping[str, Any], files: Files) -> tuple[int, int]:
    """How many components of each head are turned, and how many there are; DeepSeek turns all of a head of its own."""
    if (own := config.get("qk_rope_head_dim")) is not None:
        head_dim = whole(own, f"{files.where}: qk_rope_head_dim")
        return _within(head_dim, head_dim, files), head_dim
    given = config.get("head_dim") or needed(config, "d_model", files.where) // needed(config, "n_heads", files.where)
    head_dim = whole(given, f"{files.where}: head_dim")
    return _within(_rotary_dim(config, rope, head_dim, files), head_dim, files), head_dim


def _rotary_dim(config: Json, rope: Mapping[str, Any], head_dim: int, files: Files) -> int:
    if (given := config.get("rotary_dim")) is not None:
        return whole(given, f"{files.where}: rotary_dim")
    share = _first(rope.get("partial_rotary_factor"), config.get("partial_rotary_factor"), config.get("rotary_pct"), 1.0)
    return int(head_dim * positive(share, f"{files.where}: partial_rotary_factor"))


def _first(*values: object) -> object:
    """The first that is there."""
    return next(value for value in values if value is not None)


def _within(rotary_dim: int, head_dim: int, files: Files) -> int:
    if not 2 <= rotary_dim <= min(head_dim, MOST_COMPONENTS):
        raise RowError(
            f"{files.where}: {rotary_dim} rotated components; expected 2 to the head's {head_dim}, and at most {MOST_COMPONENTS:,}"
        )
    return rotary_dim - rotary_dim % 2


SCHEME = Scheme(
    key="rotary",
    title="Rotary",
    summary="Pairs of query and key components are turned by an angle proportional to position, so that their product depends on the offset.",
    looked_for="rotary parameters in config.json (rope_theta, rope_scaling, rotary_dim …)",
    order=40,
    find=find,
)
