"""Rotary position embedding: query and key components turned by angles that grow with position."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.checkpoints.model.config_json import family, needed, number, positive, whole
from generator.checkpoints.model.stacks import Tower, towers
from generator.contracts import Encoding, Files, Json, Numbers, Picture, Provenance, Scheme
from generator.encodings import BASE, Form, Rotation
from generator.errors import RowError
from generator.figures.panels import colour_bar, image, panels
from generator.figures.style import DIVERGING, SERIES
from generator.schemes.rotary.layers import bases_by_layer, layers_note, own_code, own_head_dim, own_rotary_dim, window
from generator.schemes.rotary.notes import longer_note, split_note, turned_note
from generator.text import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS = (
    "rope_parameters", "rope_theta", "rope_scaling", "rotary_dim", "rotary_pct", "rotary_emb_base", "rotary_emb_fraction",
    "partial_rotary_factor", "rope_local_base_freq", "local_rope_theta",
)  # fmt: skip
FAMILIES = frozenset(
    {"llama", "mistral", "mixtral", "qwen2", "qwen3", "gemma", "gemma2", "phi", "gpt_neox", "gptj", "codegen", "falcon", "roformer",
     "persimmon", "stablelm", "open-llama", "gpt_neox_japanese"}
)  # fmt: skip
# Families that turn only when told so under a key of their own.
WHEN_TOLD = {
    "granitemoehybrid": ("position_embedding_type", "rope"),
    "zamba2": ("use_mem_rope", True),
    "clvp_encoder": ("use_rotary_embedding", True),
    "wav2vec2-conformer": ("position_embeddings_type", "rotary"),
    "wav2vec2-bert": ("position_embeddings_type", "rotary"),
    "esm": ("position_embedding_type", "rotary"),
}
IN_TWO_DIMENSIONS = frozenset({"efficientloftr"})
LOCAL = ("rope_local_base_freq", "local_rope_theta")  # The second base of Gemma 3 and of ModernBERT, in older configs.
BASES = ("rope_theta", "rotary_emb_base", "rotary_embedding_base")
ALIASES = {"mrope": "default", "su": "longrope"}  # How older configs call them.
WIDEST = ("head_dim", "kv_channels", "attention_head_size")
MOST_COMPONENTS = 2**16


def find(files: Files) -> list[Encoding[Form]]:
    told = {tower.part: tower for tower in towers(files.config) if _applies(tower.config)}  # What is nested knows better.
    return [_encoding(files, tower, kind, rope) for tower in told.values() for kind, rope in _rotations(tower.config).items()]


def _applies(config: Json) -> bool:
    said, kind = config.get("position_embedding_type"), family(config)
    if config.get("alibi") is True or said in ("sinusoidal", "nope") or _in_two_dimensions(config):
        return False
    if kind in WHEN_TOLD:
        key, value = WHEN_TOLD[kind]
        return bool(config.get(key) == value)
    if said == "absolute":  # BERT's word, which ModernBERT's configs carry along.
        return any(config.get(key) is not None for key in LOCAL)
    return said in ("rotary", "rope") or kind in FAMILIES or any(config.get(key) is not None for key in KEYS)


def _in_two_dimensions(config: Json) -> bool:
    """Whether it is of images alone, whose rows and columns turn apart."""
    rope = config.get("rope_parameters")
    axial = isinstance(rope, Mapping) and rope.get("rope_type") == "axial"
    of_images = "vocab_size" not in config and any(key in config for key in ("patch_size", "image_size"))
    return axial or of_images or family(config) in IN_TWO_DIMENSIONS


def _rotations(config: Json) -> Mapping[str, Mapping[str, Any]]:
    """The parameters of each rotation by the kind of layer that has it; "" where all layers are alike."""
    rope = next((value for key in ("rope_parameters", "rope_scaling") if isinstance(value := config.get(key), Mapping)), {})
    by_kind = {kind.replace("_", " "): each for kind, each in rope.items() if isinstance(each, Mapping)}
    local = next((config[key] for key in LOCAL if config.get(key) is not None), None)
    bases = bases_by_layer(config)
    if bases:
        return {f"base {base:g}" if len(bases) > 1 else "": {**rope, "rope_theta": base} for base in bases}
    types = config.get("layer_types")
    used = {kind: each for kind, each in by_kind.items() if isinstance(types, list) and kind.replace(" ", "_") in types}
    if by_kind or local is None:
        return used or by_kind or {"": rope}
    whole_base = {"rope_theta": config["global_rope_theta"]} if "global_rope_theta" in config else {}
    return {"full attention": {**rope, **whole_base}, "sliding attention": {"rope_theta": local}}


def _encoding(files: Files, tower: Tower, kind: str, rope: Mapping[str, Any]) -> Encoding[Form]:
    config = tower.config
    base = _first(rope.get("rope_theta"), *(config.get(key) for key in BASES), BASE)
    rotary_dim, head_dim = _sizes(config, rope, kind, files)
    form = Rotation(
        positive(base, f"{files.where}: rope_theta"),
        rotary_dim,
        head_dim,
        number(config, "n_positions", files.where) or 2048,
        _scaling(config, rope),
        window=window(config, kind),
    )
    part = f"{tower.part} {kind}".strip()
    notes = (
        turned_note(config, rotary_dim, head_dim),
        *split_note(rope),
        *longer_note(config, form),
        *layers_note(config, kind),
        *own_code(config),
    )
    return Encoding(part, SCHEME.key, form, Provenance("config.json", shape=(rotary_dim // 2,)), notes)


def _scaling(config: Json, rope: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the scaling needs, under the names that transformers has for it now."""
    scaling = {key: value for key, value in rope.items() if key not in ("rope_theta", "partial_rotary_factor", "type")}
    said = rope.get("rope_type", rope.get("type", "default"))
    kind = ALIASES.get(said, said) if isinstance(said, str) else said
    trained = config.get("original_max_position_embeddings")
    before = {"original_max_position_embeddings": trained} if kind == "longrope" and trained is not None else {}
    return {**scaling, **before, "rope_type": kind} if rope else scaling


def _sizes(config: Json, rope: Mapping[str, Any], kind: str, files: Files) -> tuple[int, int]:
    """How many components of each head are turned, and how many there are; DeepSeek turns a part of its own."""
    if (own := config.get("qk_rope_head_dim")) is not None:
        turned, still = whole(own, f"{files.where}: qk_rope_head_dim"), config.get("qk_nope_head_dim")
        head_dim = turned + (whole(still, f"{files.where}: qk_nope_head_dim") if still else 0)
        return _within(turned, head_dim, files), head_dim
    given = own_head_dim(config, kind) or next((config[key] for key in WIDEST if config.get(key)), None)
    if given is None:
        given = needed(config, "d_model", files.where) // needed(config, "n_heads", files.where)
    head_dim = whole(given, f"{files.where}: head_dim")
    return _within(_rotary_dim(config, rope, head_dim, files), head_dim, files), head_dim


def _rotary_dim(config: Json, rope: Mapping[str, Any], head_dim: int, files: Files) -> int:
    if (given := config.get("rotary_dim", own_rotary_dim(config))) is not None:
        return whole(given, f"{files.where}: rotary_dim")
    shares = (config.get(key) for key in ("partial_rotary_factor", "rotary_pct", "rotary_emb_fraction"))
    share = _first(rope.get("partial_rotary_factor"), *shares, 1.0)
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


def _numbers() -> Numbers:
    """cos(δ θ) of each pair of a head of 64 components with base 10,000: (n_pairs, n_offsets), and the mean over pairs."""
    form = Rotation(BASE, 64, 64, 129)
    return {"cosines": np.cos(form.frequencies[:, None] * np.arange(129)), "mean": form.by_offset(129)}


def _draw(numbers: Numbers) -> "Figure":
    figure, (left, right) = panels(2, height=3.2)
    picture = image(left, numbers["cosines"], (-1.0, 1.0), DIVERGING, share=2)
    left.set_title("each pair")
    left.set(xlabel="offset (positions)", ylabel="pair of components")
    colour_bar(figure, picture, [left], "cosine of the angle")
    right.plot(numbers["mean"], color=SERIES[0])
    right.set_title("mean of all pairs")
    right.set(xlabel="offset (positions)", ylabel="mean cosine", ylim=(0.0, 1.02), xlim=(0, 128))
    right.grid(axis="y")
    return figure


def _alt(numbers: Numbers) -> str:
    near, far = numbers["mean"][[1, 100]]
    return f"On the left {len(numbers['cosines'])} waves, one a row, longer from row to row. On the right their mean, 1 at offset 0, {rounded(near, 2)} at 1, {rounded(far, 2)} at 100."


PICTURE = Picture(
    caption="What a rotation makes of an offset, for a head of 64 components with base 10,000: left pair by pair, right all pairs together.",
    how_to_read=(
        "On the left, red means that query and key are turned alike at this offset, blue that they point away from each other. Pairs at the top go round in a few positions, "
        "those at the bottom hardly move. On the right, how alike equal contents look at each offset: it falls, in waves."
    ),
    numbers=_numbers,
    alt=_alt,
    draw=_draw,
)


SCHEME = Scheme(
    key="rotary",
    title="Rotary",
    also=("RoPE", "rotary position embedding (RoFormer)"),
    summary="Pairs of query and key components are turned by an angle proportional to position, so that their product depends on the offset.",
    looked_for="rotary parameters in config.json (rope_theta, rope_scaling, rotary_dim …)",
    order=40,
    find=find,
    picture=PICTURE,
)
