"""Keys of position that nothing reads, or another program alone."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generator.checkpoints.model import keys
from generator.checkpoints.model.resolved import defaults, is_known, renamed
from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.encodings import Rotation
from generator.reading.taken import all_readers
from generator.text import as_json

ALIKE = 0.7  # of 1, by difflib
KIND = "rope_type"


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Each, with the programs that read it, or the nearest that is known; not what stands elsewhere
    with the same value.
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
        if name == KIND and value == "default":
            continue  # As without it.
        if examined.is_open and has_class and keys.OF_FORMULA.search(path):
            continue  # It belongs to what is not understood.
        values = {"path": path, "value": as_json(value)}
        if elsewhere := _elsewhere(files.config, path):
            yield "read_elsewhere", {**values, **elsewhere}
        elif has_class and not around and _is_unrotated(examined, name):
            yield "unrotated", {**values, "family": family}
        else:
            kind, nearest = _as_unread(around, name, value, of_class if has_class else None)
            yield kind, {**values, "nearest": nearest, "has_class": has_class}


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
