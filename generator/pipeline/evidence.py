"""Which keys of a config an encoding follows from, found by changing each: what a changed key does
not change was not read, whatever reads it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.family_formats import translated
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.resolved import defaults
from generator.checkpoints.model.stacks import family_of
from generator.contracts import Encoding, Files, Json, ModelConfig, Origin
from generator.contracts.model_config import DEEPEST, SIZES, UNKNOWN
from generator.encodings import Form
from generator.errors import RowError
from generator.libraries import config_classes
from generator.pipeline.find import Found, find, look

# Parts of names of settings that concern position, as the config classes of transformers, vLLM's
# and llama.cpp's converters name them.
OF_POSITION = re.compile(
    r"rope|rotary|(^|_)pos(ition|itional)?(_|s_|$|ition)|alibi|window|chunk|(^|_)(local|global)_"
    r"|nope|yarn|ntk|theta|(^|_)freq|mscale|temperature|(^|_)sinks?(_|$)|sections?$|relative"
    r"|layer_types|layers_block_type|attn_(factor|layer|bias)|attention_(bias_m|chunk|layer)"
)
# What such a part means elsewhere.
OF_ELSE = re.compile(
    r"feed_forward|drop|loss|router|moe_|initializer|init_std|_flash_|_id$|logits?_|_view_"
)
OF_ROPE = re.compile(r"rope|rotary")
MOST_SHOWN = 60  # characters of a value
# Of a rotation: its rule as it is given, and what follows from it.
GIVEN, FREQUENCIES = "scaling", "inverse_frequencies"
# Parameters that readers set, whatever the form.
SHOWN = ("base", "rotary_dim", "head_dim", "window", "layers", "heads", "n_positions")
SIZE_NAMES = frozenset(name for names in SIZES.values() for name in names) | {"head_dim"}
Path = tuple[str, ...]
Effects = Mapping[str, Json]


@dataclass(frozen=True)
class Evidence:
    """What the keys of a file do.

    keys: for each encoding, by its key, and each of its parameters, those that change it
    unread: keys that concern position, are not off, and change nothing, with their values
    """

    keys: Mapping[str, Mapping[str, tuple[str, ...]]]
    unread: tuple[tuple[str, Any], ...]


def look_closely(files: Files) -> Found:
    """What ``find.look`` finds, where encodings that follow from settings say where each parameter
    comes from.

    errors: RowError
    """
    found, config = look(files), files.config
    if not config.settings:
        return found
    measured = [
        encoding
        if encoding.provenance.tensor
        else replace(encoding, origins=_origins(config, encoding))
        for encoding in found.measured
    ]
    return replace(found, measured=measured)


def _origins(config: ModelConfig, encoding: Encoding[Form]) -> dict[str, Origin]:
    keys = evidence(config).keys.get(encoding.key, {})
    classes = config_classes()
    family = family_of(config, encoding)
    default_of = classes[family].__name__ if family in classes else ""
    origins = {
        name: Origin(keys.get(name, ()), "" if keys.get(name) else default_of)
        for name, value in encoding.record.parameters.items()
        if name in SHOWN and value is not None
    }
    if encoding.record.parameters.get(GIVEN):
        changed = dict.fromkeys((*keys.get(FREQUENCIES, ()), *keys.get("attention_factor", ())))
        of_others = {key for name in SHOWN for key in keys.get(name, ())}
        origins[GIVEN] = Origin(tuple(key for key in changed if key not in of_others))
    return origins


def evidence(config: ModelConfig) -> Evidence:
    """What each key of ``config`` does that may matter to position, as it is in the file."""
    return _evidence(json.dumps(config.settings, default=str), config.where)


@lru_cache(maxsize=8)
def _evidence(settings: str, where: str) -> Evidence:
    config = ModelConfig(json.loads(settings), where)
    before = _effects(config)
    keys: dict[str, dict[str, list[str]]] = {}
    unread = []
    for path, value in _leaves(config.settings):
        concerns = _concerns_position(path)
        if not concerns and path[-1] not in SIZE_NAMES:
            continue
        name, is_read = ".".join(path), False
        for other in _changed(value):
            after = _effects(config.updated(_with(config.settings, path, other)))
            is_read |= after != before
            for key, parameter in _differing(before or {}, after or {}):
                names = keys.setdefault(key, {}).setdefault(parameter, [])
                names += [name] if name not in names else []
            if is_read:
                break
        if not is_read and concerns and value and not _is_of_class(config.settings, path):
            unread.append((name, value))
    return Evidence(
        {key: {name: tuple(of) for name, of in found.items()} for key, found in keys.items()},
        tuple(unread),
    )


def _effects(config: ModelConfig) -> Effects | None:
    """What pages say of each encoding and of the layers; None for a config that is refused."""
    files = ConfigAlone(config.settings, config.where)
    try:
        found = find(files)
        effects = {one.key: _of_encoding(one) for one in found}
        return {**effects, "": {"layers": layer_map(files, found)}}
    except RowError:
        return None


def _differing(before: Effects, after: Effects) -> Iterator[tuple[str, str]]:
    """Encodings that both have, by their keys, with each parameter that differs."""
    for key in before.keys() & after.keys():
        for name, value in before[key].items():
            if name in after[key] and after[key][name] != value:
                yield key, name


def _of_encoding(encoding: Encoding[Form]) -> Json:
    parameters = {
        name: value for name, value in encoding.record.parameters.items() if name != GIVEN
    }
    others = {name: getattr(encoding.form, name, None) for name in ("long_factors", "n_positions")}
    return {**others, **parameters, "notes": encoding.notes, "part": encoding.part}


def _leaves(settings: Json, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and len(path) <= DEEPEST:
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value


def _concerns_position(path: Path) -> bool:
    *around, name = path
    if OF_ELSE.search(name):
        return False
    return OF_POSITION.search(name) is not None or any(map(OF_ROPE.search, around))


def _is_of_class(settings: Json, path: Path) -> bool:
    """Whether the config class of the family, or of the nested one, has a setting of this name."""
    known: Any = {}
    for depth in range(len(path)):
        inner = _at(settings, path[:depth])
        family = (
            translated(ModelConfig(inner, "")).family if isinstance(inner, Mapping) else UNKNOWN
        )
        known = known if family == UNKNOWN else defaults(family)
        if depth == len(path) - 1:
            return isinstance(known, Mapping) and path[-1] in known
        known = known.get(path[depth]) if isinstance(known, Mapping) else None
    return False


def _at(settings: Any, path: Sequence[str]) -> Any:
    for name in path:
        settings = settings[name]
    return settings


def _with(settings: Json, path: Path, value: Any) -> Json:
    name, *inner = path
    return {**settings, name: _with(settings[name], tuple(inner), value) if inner else value}


def _changed(value: Any) -> Iterator[Any]:
    """Other values of the same type."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield 2 * value or 1
        yield value // 2 if isinstance(value, int) else value / 2
    elif isinstance(value, str):
        yield f"{value}_"
    else:
        yield value[:-1] if isinstance(value, list) and value else 1
