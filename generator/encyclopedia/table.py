"""One row for each published config of ``generator/encyclopedia/models``: what its settings, and
the code of its family, say of position, without weights.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from generator.checkpoints.model.keys import dotted, leaves
from generator.checkpoints.model.kv_cache import BYTES, kv_cache
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.recurrent_state import (
    recurrent_state,
    short_convolutions,
    type_of_state,
)
from generator.contracts import (
    Encoding,
    EncodingRecord,
    Json,
    Layer,
    ModelConfig,
    Resolved,
    usable_length,
)
from generator.contracts.layer_map import LIMITED
from generator.contracts.model_config import TEXT
from generator.encodings import Form, NoEncoding, Rotation, Sinks, Temperature
from generator.encyclopedia import details, inputs, made, observed
from generator.encyclopedia.known_models import KnownModel, known_models
from generator.errors import RowError
from generator.reading.find import look
from generator.schemes.rotary import split_of
from generator.schemes.rotary.families import PLAIN_SPLIT
from generator.site.at_position import PositionOfModel, panel

SCHEMA = 1
# A number of parameters within a name, and that of active ones or of experts: 30B-A3B, 8x7B, 1_6b.
SIZE = re.compile(
    r"(?<![A-Za-z0-9.])(?:\d+x)?\d+(?:[._]\d+)?[BbMm](?:-A?\d+(?:\.\d+)?[BE])?(?![a-z0-9])"
)
SINKS_OF_MIMO = "add_swa_attention_sink_bias"
# One number in all, with or without that of active ones; the latter alone.
COUNTED = re.compile(r"(\d+(?:\.\d+)?[BM])(?:-A(\d+(?:\.\d+)?B))?")
ACTIVE = re.compile(r"-A(\d+(?:\.\d+)?B)(?![A-Za-z0-9])")
UNITS = {"M": 1e6, "B": 1e9}
NAME = "its name"
# Contexts that are no number of stored or rotated positions.
CONTEXTS = ("max_sequence_length", "model_max_length", "context_length", "max_target_positions")
SECTIONS = "mrope_section"
ORIGINAL = "original_max_position_embeddings"
OF_IMAGES = ("vision_config", "vision_embed_dim", "image_size")
SPEECH_ENCODER = "num_conv_pos_embeddings"
# Ways of mixing positions that end nowhere before the first one.
WITHOUT_END = frozenset({"full", "sparse", "compressed", "recurrent", "fourier"})
OF_SOUND = (SPEECH_ENCODER, "audio_config", "num_mel_bins", "max_speech_positions")
DECODER = "decoder_layers"
# Of what extends the context beside a rotation, without which longer texts are read otherwise.
OF_OTHER_WAYS = ("dual_chunk_attention_config",)


def make() -> bytes:
    """data/models.json, of all published configs."""
    return _encoded(made.row(model) or row(model) for model in known_models())


def shipped() -> bytes | None:
    """The same, where every row is shipped for these configs and libraries."""
    rows = [made.row(model) for model in known_models()]
    return None if None in rows else _encoded(one for one in rows if one is not None)


def table(models: Iterable[KnownModel]) -> bytes:
    """data/models.json, of these."""
    return _encoded(map(row, models))


def of_models(data: bytes, ids: frozenset[str]) -> bytes | None:
    """The part of data/models.json on models with these ids; None where it has none."""
    rows = [model for model in json.loads(data)["models"] if model["id"] in ids]
    return _encoded(rows) if rows else None


def _encoded(rows: Iterable[Json]) -> bytes:
    """One row a line."""
    lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in rows)
    return f'{{"schema":{SCHEMA},"models":[\n{lines}\n]}}\n'.encode()


def row(model: KnownModel) -> dict[str, Any]:
    """A model as in the file; ``reason``: why its settings could not be read, or null."""
    config, resolved = model.files.config, model.files.resolved
    encodings, layers, reason = _read(model)
    given, default = _given_context(config), _default_context(resolved)
    context = usable_length(given, encodings)
    default_context = usable_length(default, encodings)
    size = _size(model.id)
    about = {
        "id": model.id,
        "maker": model.maker or None,
        "month": model.month or None,
        "dated_by": model.dated_by or None,
        "size": size,
        **_parameters(model, size),
        "model_type": config.text("model_type") or None,
        "inputs": _inputs(resolved),
        "context": context,
        "table_rows": None if context == given else given,
        "context_key": ".".join(config.path_of("n_positions")) or None,
        "default_context": default_context,
    }
    origin = {
        "reference": model.reference or None,
        "source": model.source,
        "from_knowledge": model.is_from_knowledge,
        "text_section": _section(config),
        "native": model.native,
        "other_ways": [key for key in OF_OTHER_WAYS if config.anywhere.value(key) is not None],
        "extends": [_extended(one, model) for one in model.extends],
    }
    position = _position(config, encodings, layers)
    found = details.of(model)
    turning = [encoding for encoding in encodings if _turns(encoding)]
    return {
        **about,
        **position,
        "at_position": _panel(context or default_context, encodings, layers),
        **_cache(resolved.config, layers),
        "cache_type": _type(model.cache_type),
        "state": _state(config, layers),
        "convolutions": _convolutions(config, layers),
        "image": inputs.image(resolved, encodings),
        "sound": inputs.sound(config),
        "factors": [one.record.parameters["attention_factor"] for one in turning],
        "scalings": [one.record.parameters["scaling"] for one in turning],
        "axes": [_axes(resolved, one.record) for one in turning],
        "temperatures": [_temperature(one, layers) for one in _temperatures(encodings)],
        "origins": [found["origins"].get(one.key, {}) for one in turning],
        "origin_of_temperature": found["temperature"],
        "keys_of_layers": found["layers"],
        "lint": [{"rule": rule, "text": text} for rule, text in found["lint"]],
        **origin,
        "check": observed.check(model.id, model.settings, position),
        "reason": reason,
    }


def digest(model: KnownModel) -> str:
    """Of what the row of a model says of position, and of its config."""
    encodings, layers, _ = _read(model)
    return observed.digest(model.settings, _position(model.files.config, encodings, layers))


def _read(model: KnownModel) -> tuple[list[Encoding[Form]], tuple[Layer, ...], str | None]:
    """Its encodings and layers, none where its settings cannot be read, and why they cannot."""
    try:
        found = look(model.files)
        layers = layer_map(model.files, found.all, is_complete=found.is_complete)
    except RowError as error:
        return [], (), str(error)
    return found.all, tuple(layers), None


def _size(hub_id: str) -> str | None:
    """As the name gives it, in capitals."""
    size = SIZE.search(hub_id.partition("/")[2])
    return size[0].replace("_", ".").upper().replace("X", "x") if size else None


def _parameters(model: KnownModel, size: str | None) -> dict[str, Any]:
    """The number of parameters, and of those active for a token, where name or source says it."""
    total, active = (model.parameters.get(name) for name in ("total", "active"))
    by = model.parameters.get("by")
    if by is None:
        counted = COUNTED.fullmatch(size or "")
        total, active = counted.groups() if counted else (None, None)
        if alone := ACTIVE.search(model.id):
            active = alone[1]
        by = NAME if total or active else None
    return {"parameters": _count(total), "active_parameters": _count(active), "counted_by": by}


def _count(text: str | None) -> int | None:
    return round(float(text[:-1]) * UNITS[text[-1]]) if text else None


def _inputs(resolved: Resolved) -> list[str]:
    """What a model reads or writes: text, images, sound; also by a part whose settings its class
    has alone, as where a copy of the config is of its text model (Inkling).
    """
    config, modalities = resolved.given, {stack.modality for stack in resolved.stacks}
    of_class = {name for name in resolved.config.sections if name not in config}
    is_of_sound = _has_any(config, OF_SOUND) or "audio_config" in of_class
    is_encoder = is_of_sound and SPEECH_ENCODER in config and DECODER not in config
    reads_text = "text" in modalities and not is_encoder
    reads_images = (
        "image" in modalities or _has_any(config, OF_IMAGES) or "vision_config" in of_class
    )
    named = {"text": reads_text, "image": reads_images, "audio": is_of_sound}
    return [name for name, is_so in named.items() if is_so]


def _has_any(config: ModelConfig, names: Iterable[str]) -> bool:
    """Whether one of these settings is given; null says that a part is absent."""
    return any(config.value(name) is not None for name in names)


def _given_context(config: ModelConfig) -> int | None:
    """The number of positions in the config, or of rows where it counts these, None where it gives
    none.
    """
    given = [config.size("n_positions"), *(config.anywhere.value(name) for name in CONTEXTS)]
    return next((value for value in given if isinstance(value, int) and value > 0), None)


def _default_context(resolved: Resolved) -> int | None:
    """That of the config class of the family, where the config itself gives none; None where that
    class is of another family, whose code reads it (Hunyuan before it was a part of transformers).
    """
    is_translated = resolved.readable.family != resolved.given.family
    if is_translated or _given_context(resolved.given) is not None:
        return None
    try:
        return resolved.config.size("n_positions")
    except RowError:
        return None


def _type(given: Json | None) -> dict[str, Any] | None:
    """The type of a cache, with the bytes of a number."""
    return None if given is None else {**given, "bytes": BYTES[given["name"]]}


def _cache(whole: ModelConfig, layers: Sequence[Layer]) -> dict[str, Any]:
    """What a decoder keeps of each position, and the largest number of keys that a query chooses;
    null where that is not known.
    """
    try:
        kept = kv_cache(whole, layers)
    except RowError:
        kept = None
    chosen = {layer.chosen for layer in layers if layer.chosen is not None}
    return {
        "cache": None
        if kept is None
        else [
            {"layers": one.count, "values": one.values, "positions": one.positions,
             "latent": one.is_latent, "heads": one.heads}
            for one in kept
        ],
        "heads_for_keys": kept[0].heads if kept else None,
        "chosen": max(chosen, default=None),
    }  # fmt: skip


def _state(config: ModelConfig, layers: Sequence[Layer]) -> dict[str, Any] | None:
    """What recurrent layers keep; null without any, and where their sizes are not stated."""
    kept, given = recurrent_state(config, layers), type_of_state(config)
    if kept is None:
        return None
    named = None if given is None else dict(zip(("name", "by"), given, strict=True))
    return {"layers": kept.count, "sizes": list(kept.sizes), "type": _type(named)}


def _convolutions(config: ModelConfig, layers: Sequence[Layer]) -> list[dict[str, Any]]:
    """Of layers without a recurrent state; none where their sizes are not stated."""
    try:
        found = short_convolutions(config, layers)
    except RowError:
        return []
    return [
        {"layers": one.count, "channels": list(one.channels), "width": one.width} for one in found
    ]


def _position(
    config: ModelConfig, encodings: Sequence[Encoding[Form]], layers: Sequence[Layer]
) -> dict[str, Any]:
    """What encodes position, and how layers mix it."""
    kinds = Counter(kind for layer in layers for kind in layer.mixers)
    rotations = [_rotation(encoding, layers) for encoding in encodings if _turns(encoding)]
    telling = {
        encoding.key
        for encoding in encodings
        if encoding.form.tells_position and encoding.form.acts_in != "state"
    }
    return {
        "trained": _trained(config, rotations),
        "schemes": _schemes(encodings, of_images=False),
        "image_schemes": _schemes(encodings, of_images=True),
        "rotations": [
            {name: value for name, value in rotation.items() if name != "trained"}
            for rotation in rotations
        ],
        "layers": len(layers),
        "sees": _sees(usable_length(_given_context(config), encodings), layers),
        "kinds": dict(kinds),
        "limits": _limits(layers),
        "stacks": _stacks(layers, telling),
        "without_encoding": sum(_is_without(layer, telling) for layer in layers),
        "sinks": any(isinstance(encoding.form, Sinks) for encoding in encodings)
        or config.flag(SINKS_OF_MIMO) is True,
        "temperature": bool(_temperatures(encodings)),
    }


def _schemes(encodings: Sequence[Encoding[Form]], *, of_images: bool) -> list[str]:
    """Keys of the schemes that tell position, of images or of all else; not of time in a video."""
    return list(
        dict.fromkeys(
            encoding.scheme
            for encoding in encodings
            if (encoding.modality == "image") == of_images
            and encoding.part != inputs.VIDEO
            and (encoding.form.tells_position or isinstance(encoding.form, NoEncoding))
        )
    )


def _turns(encoding: Encoding[Form]) -> bool:
    return isinstance(encoding.form, Rotation) and encoding.modality != "image"


def _axes(resolved: Resolved, record: EncodingRecord) -> dict[str, Any] | None:
    """The pairs that turn by time, height and width, in a model that counts all three; None for
    other rotations, and for a split in another order.
    """
    config = next((one.config for one in resolved.stacks_of(record.part)[::-1]), resolved.config)
    size: Any = record.parameters["rotary_dim"]
    split = split_of(config.family, config.rope, size // 2)
    if split is None or split.sentence != PLAIN_SPLIT:
        return None
    named = (path for path, _ in leaves(resolved.given.settings) if path[-1] == SECTIONS)
    return {
        "pairs": list(split.sections),
        "by_turns": split.interleaved,
        "key": next(map(dotted, named), None) if split.given else None,
    }


def _temperatures(encodings: Sequence[Encoding[Form]]) -> list[Temperature]:
    return [one.form for one in encodings if isinstance(one.form, Temperature)]


def _temperature(form: Temperature, layers: Sequence[Layer]) -> dict[str, Any]:
    return {
        "strength": form.strength,
        "start": form.start,
        "shift": form.shift,
        "growth": form.growth,
        "layers": len(form.layers) or sum(layer.attends for layer in layers),
    }


def _rotation(encoding: Encoding[Form], layers: Sequence[Layer]) -> dict[str, Any]:
    """A rotation. share: of the components of a head; layers: how many it acts in, null where that
    is not known
    """
    given = encoding.record.parameters
    scaling: Any = given["scaling"] or {}
    dim: Any = given["rotary_dim"]
    head: Any = given["head_dim"]
    return {
        "base": given["base"],
        "share": dim / head,
        "scaling": scaling.get("rope_type"),
        "factor": scaling.get("factor"),
        "layers": sum(encoding.key in (layer.encodings or ()) for layer in layers) or None,
        "trained": scaling.get(ORIGINAL),
    }


def _trained(config: ModelConfig, rotations: Sequence[dict[str, Any]]) -> int | None:
    """The context before scaling, where a rotation is rescaled and the config tells it."""
    scaled = [rotation for rotation in rotations if rotation["scaling"]]
    given = [*(rotation["trained"] for rotation in scaled), config.anywhere.value(ORIGINAL)]
    return next((value for value in given if isinstance(value, int)), None) if scaled else None


def _limits(layers: Sequence[Layer]) -> list[dict[str, Any]]:
    """Windows and chunks, widest first. keys: the most that a query sees, null where no setting
    says.
    """
    counts = Counter(
        (kind, layer.width) for layer in layers for kind in layer.mixers if kind in LIMITED
    )
    return [
        {"kind": kind, "keys": keys, "layers": count}
        for (kind, keys), count in sorted(counts.items(), key=lambda pair: -(pair[0][1] or 0))
    ]


def _extended(extension: Json, model: KnownModel) -> dict[str, Any]:
    """An extension, with what its rotations do at one position where it is one of settings."""
    given = extension.get("rope_parameters")
    if given is None:
        return dict(extension)
    config, settings = model.files.config, model.settings
    section = _section(config)
    own = settings[section] if section else settings
    base = config.text_model.rope.value("rope_theta", own.get("rope_theta"))
    rope = {"rope_parameters": {"rope_theta": base, **given}, "rope_scaling": None}
    changed = {**settings, section: {**own, **rope}} if section else {**own, **rope}
    encodings, layers, _ = _read(replace(model, settings=changed))
    return {**extension, "at_position": _panel(extension["to"], encodings, layers)}


def _section(config: ModelConfig) -> str | None:
    """The key of the settings of its text model; None for the config itself."""
    return next((name for name in TEXT if config.section(name)), None)


def _panel(
    context: int | None, encodings: Sequence[Encoding[Form]], layers: Sequence[Layer]
) -> PositionOfModel | None:
    """What its rotations do at one position."""
    pairs = [
        (encoding.record, encoding.form)
        for encoding in encodings
        if isinstance(encoding.form, Rotation)
    ]
    return panel(context, pairs, layers)


def _sees(context: int | None, layers: Sequence[Layer]) -> int | None:
    """The positions that some layer reaches by itself: the context, or the widest window where all
    layers have one; None without a context, or where no setting gives that width.
    """
    mixing = [layer for layer in layers if layer.mixes]
    if context is None or any(not WITHOUT_END.isdisjoint(layer.mixers) for layer in mixing):
        return context
    widths = [layer.width for layer in mixing if not LIMITED.isdisjoint(layer.mixers)]
    known = [width for width in widths if width is not None]
    return min(context, max(known)) if known and len(known) == len(widths) else None


def _stacks(layers: Sequence[Layer], telling: set[str]) -> list[dict[str, Any]]:
    """Each stack with its groups of layers that are alike, and the group of each layer in order."""
    return [_stack(part, list(stack), telling) for part, stack in groupby(layers, _part)]


def _part(layer: Layer) -> str:
    return layer.part


def _stack(part: str, layers: Sequence[Layer], telling: set[str]) -> dict[str, Any]:
    kinds = [(layer.mixers, layer.width, _is_without(layer, telling)) for layer in layers]
    groups = list(dict.fromkeys(kinds))
    return {
        "part": part,
        "groups": [
            {"kinds": list(mixers), "keys": keys, "without_encoding": is_without}
            for mixers, keys, is_without in groups
        ],
        "layers": [groups.index(kind) for kind in kinds],
    }


def _is_without(layer: Layer, telling: set[str]) -> bool:
    """Whether a layer with attention has no encoding, neither its own nor at the input."""
    return (
        layer.attends
        and layer.encodings is not None
        and telling.isdisjoint((*layer.encodings, *layer.at_input))
    )
