"""Keys of position that nothing reads, or another program alone."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generator.checkpoints.model import keys
from generator.checkpoints.model.families import TURN_NEIGHBOURS_IN_INDEXER
from generator.checkpoints.model.resolved import GATE, WINDOW, defaults, is_known, renamed
from generator.checkpoints.model.stacks import known_parts
from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.encodings import Rotation
from generator.reading.taken import all_readers
from generator.text import as_json

ALIKE = 0.7  # of 1, by difflib
OF_BASE = re.compile(r"(rope|rotary)\w*_(base|theta)$")
OF_LENGTH = re.compile(r"(positions|max_position_embeddings)$")
KIND = "rope_type"
# Settings that say what code does without them, and those that concern no position of a text: in
# what numbers angles are computed, how many distances a table has at first, and by how many
# offsets a former program began; sinks, which are learned.
AS_IT_IS: Mapping[str, object] = {
    "static_position_embeddings": True, "use_pos_enc": True, "rope_full_precision": True,
    "rope_position_scale": 1.0, "rope_is_neox_style": True,
}  # fmt: skip
NO_MATTER = frozenset(
    {"alibi_starting_size", "offset_alibi", "add_swa_attention_sink_bias",
     "add_full_attention_sink_bias"}
)  # fmt: skip
# Names of the components that are rotated, of a window, and of a width of heads beside head_dim.
ROTATED = frozenset({"rotary_dim", "attn_rotary_emb"})
OF_CHUNK, OTHER_HEADS = "attention_chunk_size", "global_head_dim"
OF_SECTIONS, SECTIONS = "use_3d_rope", "mrope_section"
OF_INDEXER, OF_LATENT = "indexer_rope_interleave", "mla_use_nope"
OF_TYPE = "position_embedding_type"
USUAL: Mapping[str, object] = {"original_rope": True}  # Where another program reads it.


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Each, with the programs that read it, or the nearest that is known; not what stands elsewhere
    with the same value, or says what is so anyway.
    """
    files = examined.files
    every = [(path[-1], value) for path, value in keys.leaves(files.config.settings)]
    of_class = {
        str(name): value
        for stack in files.resolved.stacks
        for name, value in defaults(stack.config.family).items()
        if keys.concerns_position((str(name),))
    }
    for path, value in examined.unread:
        *around, name = path.split(".")
        family = _family(files.config, around)
        has_class = files.config.keys_of_file is None and is_known(family)
        if every.count((name, value)) > 1 or (has_class and name in renamed(family)):
            continue
        if (name == KIND and value == "default") or _is_idle(examined, around, name, value):
            continue  # As without it.
        if examined.is_open and has_class and keys.OF_FORMULA.search(path):
            continue  # It belongs to what is not understood.
        values = {"path": path, "value": as_json(value)}
        if elsewhere := _elsewhere(files.config, path):
            if USUAL.get(name) != value:
                yield "read_elsewhere", {**values, **elsewhere}
        elif not around and _is_unrotated(examined, name):
            yield "unrotated", {**values, "family": family, "has_class": has_class}
        else:
            kind, nearest = _as_unread(around, name, value, of_class if has_class else None)
            is_given = any(path[-1] == nearest for path, _ in keys.leaves(files.config.settings))
            if is_given or not nearest or of_class.get(nearest) != value:  # Else by default.
                yield kind, {**values, "nearest": nearest, "has_class": has_class}


def _is_idle(examined: Examined, around: Sequence[str], name: str, value: Any) -> bool:
    """Whether a setting says what holds without it, or belongs to what is off or not understood."""
    config = examined.files.config
    forms = [
        one.form
        for one in examined.encodings
        if isinstance(one.form, Rotation) and one.modality != "image"
    ]
    section = _section(config, around)
    says: dict[str, bool] = {
        OF_LATENT: value is not bool(forms),
        OF_CHUNK: value == section.integer(WINDOW),
        OTHER_HEADS: value == section.integer("head_dim"),
        OF_SECTIONS: value is any(path[-1] == SECTIONS for path, _ in keys.leaves(config.settings)),
        **dict.fromkeys(ROTATED, any(form.rotary_dim == value for form in forms)),
        OF_INDEXER: value is (_family(config, around) in TURN_NEIGHBOURS_IN_INDEXER),
        GATE: value is True and any(layer.width for layer in examined.layers),
        OF_TYPE: str(value).startswith("rope") and bool(forms),
        **dict.fromkeys(NO_MATTER, True),
        **dict.fromkeys(
            keys.SHARES,
            value == 1 and (bool(around) or all(one.rotary_dim == one.head_dim for one in forms)),
        ),
    }
    if name in says:
        return says[name]
    is_length = OF_LENGTH.search(name) and (
        value == config.text_model.size("n_positions")
        or ".".join([*around, KIND]) in dict(examined.unread)  # Which is said.
    )
    is_base = OF_BASE.search(name) and value in [form.base for form in forms]
    is_same = bool(is_length or is_base) or AS_IT_IS.get(name) == value
    return is_same or _is_off(config, around, name) or _is_of_unknown(config, around)


def _is_of_unknown(config: ModelConfig, around: Sequence[str]) -> bool:
    """Whether it is in a part that is not read, of a family that is not known, which is said."""
    return bool(around) and around[0] not in known_parts(config) and not is_known(config.family)


def _is_off(config: ModelConfig, around: Sequence[str], name: str) -> bool:
    """Whether a flag beside it, with which its name begins, is false."""
    settings = _section(config, around).settings
    return any(name.startswith(f"{flag}_") for flag, value in settings.items() if value is False)


def _section(config: ModelConfig, around: Sequence[str]) -> ModelConfig:
    for inner in around:
        config = config.section(inner) or ModelConfig({}, "")
    return config


def _as_unread(
    around: Sequence[str], name: str, value: object, of_class: Mapping[str, Any] | None
) -> tuple[str, str]:
    """A kind of sentence, and the nearest known key. of_class: None without a class"""
    is_in_rope = any(map(keys.OF_ROPE.search, around))
    if name == KIND and not is_in_rope:
        return "unread_kind", ""
    if of_class is None:
        return "unread", ""
    others = keys.IN_ROPE if is_in_rope else _of_its_type(of_class, value)
    nearest = difflib.get_close_matches(name, sorted({*others} - {name}), 1, ALIKE)
    return "unread_in_rope" if is_in_rope else "unread", next(iter(nearest), "")


def _family(config: ModelConfig, around: Sequence[str]) -> str:
    """The model type of what is nested at a path, or of what is around it. In a file of another
    format, names mean nothing to its class.
    """
    family, section = config.family, config
    for name in around:
        section = section.section(name) or ModelConfig({}, "")
        family = section.text("model_type") or family
    return family


def _elsewhere(config: ModelConfig, path: str) -> Json:
    """The programs that read what stands at a path, or a part around it, with its name; empty
    where none is known to.
    """
    names = path.split(".")
    for depth, name in enumerate(names):
        family = _family(config, names[:depth])
        readers = [one for one in all_readers() if family in one.keys.get(name, ())]
        if readers:
            whole = {} if depth == len(names) - 1 else {"value": ""}
            said = [f"{one.name} {one.version}" for one in readers]
            return {"path": ".".join(names[: depth + 1]), "name": name, "readers": said, **whole}
    return {}


def _is_unrotated(examined: Examined, name: str) -> bool:
    """Whether a setting is of a rotation, and no layer has one."""
    has_rotation = any(isinstance(one.form, Rotation) for one in examined.encodings)
    is_known_whole = bool(examined.layers) and not examined.is_open
    return keys.OF_ROPE.search(name) is not None and is_known_whole and not has_rotation


def _of_its_type(known: Mapping[str, Any], value: object) -> list[str]:
    return [name for name, other in known.items() if other is None or type(other) is type(value)]


RULE = Rule(
    key="unread-key",
    levels={**dict.fromkeys(("unread_in_rope", "unread_kind"), "warning"),
            **dict.fromkeys(("unread", "unrotated", "read_elsewhere"), "note")},
    find=find,
)  # fmt: skip
