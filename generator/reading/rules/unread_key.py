"""Keys of position that nothing reads."""

import difflib
import json
from collections.abc import Iterator, Sequence

from generator.checkpoints.model import keys
from generator.checkpoints.model.resolved import defaults, is_known
from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.text import short

MOST_SHOWN = 60  # characters of a value
ALIKE = 0.7  # of 1, by difflib


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Each, with the nearest that is known; not what stands elsewhere with the same value."""
    files = examined.files
    every = [(path[-1], value) for path, value in keys.leaves(files.config.settings)]
    of_class = {
        str(name) for stack in files.resolved.stacks for name in defaults(stack.config.family)
    }
    known = {name for name in of_class if keys.concerns_position((name,))}
    for path, value in examined.unread:
        *around, name = path.split(".")
        has_class = _has_class(files.config, around)
        if every.count((name, value)) > 1:
            continue
        if examined.is_open and has_class and keys.OF_FORMULA.search(path):
            continue  # It belongs to what is not understood.
        is_in_rope = any(map(keys.OF_ROPE.search, around))
        others = keys.IN_ROPE if is_in_rope else known
        nearest = difflib.get_close_matches(name, sorted(others - {name}), 1, ALIKE)
        values = {"path": path, "value": short(json.dumps(value), MOST_SHOWN)}
        kind = "unread_in_rope" if is_in_rope and has_class else "unread"
        shown = nearest[0] if nearest and has_class else ""
        yield kind, {**values, "nearest": shown, "has_class": has_class}


def _has_class(config: ModelConfig, around: Sequence[str]) -> bool:
    """Whether transformers has a config class for what is nested at a path. Its names mean nothing
    in a file of another format.
    """
    family, section = config.family, config
    for name in around:
        section = section.section(name) or ModelConfig({}, "")
        family = section.text("model_type") or family
    return config.keys_of_file is None and is_known(family)


RULE = Rule(key="unread-key", levels={"unread_in_rope": "warning", "unread": "note"}, find=find)
