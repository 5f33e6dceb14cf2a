"""mlx-lm, whose models take the fields of a dataclass from config.json, and no other key."""

from collections.abc import Mapping
from typing import Any

from generator.checkpoints.model.resolved import defaults, with_query
from generator.contracts import ConfigReader, Json
from generator.contracts.model_config import TEXT
from generator.errors import RowError
from generator.reading.reader_defaults import REQUIRED, reader_defaults
from generator.text import short

ROPE, SCALING, BASE = "rope_parameters", "rope_scaling", "rope_theta"
PAIRS, LAYERS = "rope_traditional", "layer_types"
# Of a block: the range of YaRN's ramp is always rounded.
NOT_READ = ("type", "rope_type", BASE, "attention_factor", "truncate")
# Whether its rotations take one, lose it, have LongRoPE alone, or have a way of their own.
OF_SCALING = "scaling"
# Settings of a block without which it fails.
NEEDS = "needs"
OF_CODE = frozenset({OF_SCALING, NEEDS})
WIDTH, LATENT = "head_dim", "qk_rope_head_dim"
LONGROPE = ("longrope", "su")
SHARE = "partial_rotary_factor"
# Families whose config class has a share of each head, and whose code has no field for one.
WHOLE_HEADS = frozenset({"glm"})
LONG = ("long_factor", "long_mscale")
# Kinds of scaling by its name for them, in words of transformers 5.
KINDS = {
    "default": "default", "linear": "linear", "dynamic": "dynamic", "llama3": "llama3",
    "yarn": "yarn", "deepseek_yarn": "yarn", "longrope": "longrope",
    "proportional": "proportional", "mrope": "default",
}  # fmt: skip
# It takes them where a block of YaRN, or of Llama 3, is silent.
OF_KIND: dict[str, dict[str, float]] = {
    "yarn": {"original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1},
    "llama3": {
        "original_max_position_embeddings": 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0
    },
}  # fmt: skip


def takes(settings: Json) -> Json | None:
    """Of a model whose code has a field for the base; a text model in another is read by the code
    of the whole, or by that of its own family.

    errors: RowError where a field without a default is not in the file, or a kind of scaling is
        unknown to it
    """
    settings, fields = with_query(settings), _fields(settings)
    for name in TEXT:
        if fields is not None and isinstance(part := settings.get(name), Mapping):
            own = fields if fields.keys() - OF_CODE else _fields(part)
            inner = _taken(part, own or {})
            return None if inner is None else {**settings, name: inner}
    return _taken(settings, fields or {})


def has_windows(settings: Json) -> bool:
    """Not where its code knows none, or knows those alone that a list of layers names."""
    inner = _text(settings)
    of_windows = _of_module("windows", settings)
    if of_windows == "text":
        of_windows = _of_module("windows", inner)
    return of_windows != "none" and (of_windows != "listed" or bool(inner.get(LAYERS)))


def pair_order(settings: Json) -> str:
    """By a key of its own, if its code has that."""
    inner = _text(settings)
    is_adjacent = inner.get(PAIRS, (_fields(settings) or {}).get(PAIRS))
    is_read = PAIRS in (_fields(settings) or {}) and isinstance(is_adjacent, bool)
    return ("adjacent" if is_adjacent else "halves") if is_read else ""


def _text(settings: Json) -> Json:
    parts = (settings[name] for name in TEXT if isinstance(settings.get(name), Mapping))
    return next(parts, settings)


def _of_module(what: str, settings: Json) -> str:
    """What is known of the code of its family, "own" where nothing is."""
    every, family = reader_defaults("mlx-lm"), str(settings.get("model_type"))
    return str(every[what].get(every["others"].get(family, family), "own"))


def _fields(settings: Json) -> Json | None:
    """Those of its family with their defaults; None where it has no code."""
    every, family = reader_defaults("mlx-lm"), str(settings.get("model_type"))
    name = every["others"].get(family, family)
    fields: Json | None = every["models"].get(name)
    if fields is None:
        return None
    return {**fields, OF_SCALING: every["scaling"][name], NEEDS: every["needs"].get(name, {})}


def _taken(settings: Json, fields: Json) -> Json | None:
    if not fields.keys() & {BASE, ROPE}:
        return None  # The code has a base of its own, or none.
    if missing := sorted(n for n, v in fields.items() if v == REQUIRED and n not in settings):
        raise RowError(f"it has no default for {missing[0]}, which the file lacks")
    given = {name: settings.get(name, default) for name, default in fields.items()}
    _check(given, fields[NEEDS])
    inner = given.get(ROPE) or {}
    if any(isinstance(value, Mapping) for value in inner.values()):
        return None  # Each model has its own way with several.
    base, scaling = _rotation(given, inner, fields)
    is_other = fields[OF_SCALING] == "longrope" and scaling.get("type") not in LONGROPE
    if (is_other or fields[OF_SCALING] == "own") and _kind(scaling) != "default":
        return None
    if base is None:
        raise RowError("it finds no base in the file")
    of_rotation = {ROPE, SCALING, BASE, *OF_CODE}
    kept = {name: value for name, value in settings.items() if name not in of_rotation}
    kept |= {n: value for n, value in given.items() if n not in of_rotation and value is not None}
    kept |= _width(settings, given)
    kept |= {SHARE: 1.0} if settings.get("model_type") in WHOLE_HEADS else {}
    if not (scaling or settings.get(ROPE) or settings.get(SCALING)):
        of_class = defaults(str(settings.get("model_type"))).get(ROPE) or {}
        is_filled = _kind(of_class) != "default"  # By transformers, not by its models.
        return {**kept, BASE: base, **({SCALING: {"rope_type": "default"}} if is_filled else {})}
    if fields[OF_SCALING] in ("lost", "own"):
        scaling = {}
    elif scaling.get("type") in LONGROPE and fields[OF_SCALING] == "longrope":
        scaling = {**scaling, "type": LONGROPE[0]}
    return {**kept, BASE: base, SCALING: _scaling(scaling)}


def _check(given: Json, needs: Json) -> None:
    """errors: RowError where code takes a setting of a block that the file lacks"""
    block = given.get(SCALING)
    wanted = {**needs.get("always", {}), **({SCALING: needs.get("scaled", ())} if block else {})}
    for place, names in wanted.items():
        if missing := [name for name in names if name not in (given.get(place) or {})]:
            raise RowError(f"it has no default for {place}.{missing[0]}, which the file lacks")
    if block and needs.get("kinds") and _kind(block) not in needs["kinds"]:
        raise RowError(f"it knows no scaling of the kind {_kind(block)}")


def _width(settings: Json, given: Json) -> Json:
    """The width of a head where its code divides that of the model by the heads, and transformers
    has a width of its own.
    """
    size, heads = settings.get("hidden_size"), settings.get("num_attention_heads")
    is_other = WIDTH in settings or defaults(str(settings.get("model_type"))).get(WIDTH)
    if not (isinstance(size, int) and isinstance(heads, int) and size and heads):
        return {}
    if given.get(WIDTH) or LATENT in settings or not is_other:
        return {}
    return {WIDTH: size // heads}


def _rotation(given: Json, inner: Json, fields: Json) -> tuple[Any, Json]:
    """Base and scaling: of the section where its model looks there, and at the top otherwise; of
    Qwen 3, whose base has no default, at the top first.
    """
    top = given.get(SCALING) or {}
    if ROPE not in given:
        return given.get(BASE, given.get("rotary_emb_base")), top
    if fields[ROPE] is None and fields.get(BASE, ROPE) is None:
        return given[BASE] or inner.get(BASE), top or inner
    return inner.get(BASE, given.get(BASE)), inner or top


def _kind(scaling: Json) -> str:
    return short(str(scaling.get("type") or scaling.get("rope_type", "default")))


def _scaling(given: Json) -> Json:
    """A block as transformers 5 writes it. Of LongRoPE, it takes the factors for long texts in all,
    and the magnitude by the two lengths.
    """
    kind = _kind(given)
    if kind not in KINDS:
        raise RowError(f"it knows no scaling of the kind {kind}")
    values = {name: value for name, value in given.items() if name not in NOT_READ}
    if kind == LONGROPE[0]:
        values.pop("factor", None)
        values |= {name.replace("long", "short"): values[name] for name in LONG if name in values}
    return {**OF_KIND.get(KINDS[kind], {}), **values, "rope_type": KINDS[kind]}


READER = ConfigReader(
    key="mlx-lm",
    name="mlx-lm",
    version="0.32.2",
    read_on="2026-11-29",
    source="mlx_lm/models/base.py, from_dict; models/rope_utils.py, initialize_rope; each model;"
    " no text is refused by its length in generate.py and server.py",
    is_run=True,
    takes=takes,
    has_limit=False,
    has_windows=has_windows,
    pair_order=pair_order,
    keys={"indexer_rope_interleave": ("deepseek_v32", "glm_moe_dsa")},
)
