"""Which keys of a config an encoding follows from, found by changing each: what a changed key does
not change was not read, whatever reads it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model import keys
from generator.checkpoints.model.family_formats import translated
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.resolved import IRRELEVANT, defaults
from generator.contracts import Encoding, Files, Json, ModelConfig, Origin
from generator.contracts.model_config import ROPE, TEXT, UNKNOWN
from generator.encodings import Form
from generator.errors import RowError
from generator.reading.find import Found, all_schemes, find, look
from generator.schemes.rotary import FACTOR_TENSORS

# Of a rotation: its rule as it is given, and what follows from it.
GIVEN, FREQUENCIES = "scaling", "inverse_frequencies"
# Parameters that readers set, whatever the form; first those of a rotation without scaling.
SHOWN = ("base", "rotary_dim", "head_dim", "window", "layers", "heads", "n_positions")
# Of a form, beside its parameters.
BESIDE = ("long_factors", "n_positions", "strength", "start")
OF_PROGRAM = ""  # Among keys.
LAYERS = "layers"
KINDS = ("rope_type", "type", "model_type")
MOST_CHARACTERS = 2**18  # of settings as JSON
# Words of schemes, which a config may repeat.
NAMING = frozenset({"position_embedding_type", "position_embeddings_type", "rope", "rotary"})
Effects = Mapping[str, Json]


@dataclass(frozen=True)
class Evidence:
    """What the keys of a file do.

    keys: for each encoding, by its key, and each of its parameters, those that change it, and
        ``OF_PROGRAM`` where a setting changes it that no key gives
    unread: keys that concern position, are not off, and change nothing, with their values
    has_refused: whether the file with another value of some key is refused, or has more keys than
        are tried, so that what they change is not known
    """

    keys: Mapping[str, Mapping[str, tuple[str, ...]]]
    unread: tuple[tuple[str, Any], ...]
    has_refused: bool


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
        else replace(encoding, origins=_origins(files, encoding))
        for encoding in found.measured
    ]
    return replace(found, measured=measured)


def _origins(files: Files, encoding: Encoding[Form]) -> dict[str, Origin]:
    config = files.config
    found = evidence(config)
    own = found.keys.get(encoding.key, {})
    of_class = files.resolved.default_of(encoding.part)
    origins = {}
    for name, value in encoding.record.parameters.items():
        if name in SHOWN and value is not None:
            changing = own.get(name, ())
            named = tuple(key for key in changing if key != OF_PROGRAM)
            default_of = config.program if OF_PROGRAM in changing else of_class
            # Settings from other names may change together alone.
            if changing or not (found.has_refused or config.program):
                origins[name] = Origin(named, None if named else default_of or None)
    if encoding.record.parameters.get(GIVEN):
        of_rule = (FREQUENCIES, "long_factors", "attention_factor")
        changed = dict.fromkeys(key for name in of_rule for key in own.get(name, ()))
        changed |= dict.fromkeys(name for name in FACTOR_TENSORS if name in files.tensors)
        others = ("base", "rotary_dim", "head_dim")
        of_others = {OF_PROGRAM, *(key for name in others for key in own.get(name, ()))}
        if changed or not found.has_refused:
            origins[GIVEN] = Origin(tuple(key for key in changed if key not in of_others), None)
    return origins


def evidence(config: ModelConfig) -> Evidence:
    """What each key of the file behind ``config`` does that may matter to position."""
    given = config.settings, config.keys_of_file, config.unread_keys
    return _evidence(json.dumps(given, default=str), config.where)


@lru_cache(maxsize=8)
def _evidence(given: str, where: str) -> Evidence:
    settings, keys_of_file, unread = json.loads(given)
    config = ModelConfig(settings, where)
    tried = [
        (path, value)
        for path, value in keys.leaves(settings)
        if IRRELEVANT.isdisjoint(path)
        and (keys.concerns_position(path) or path[-1] in keys.SIZE_NAMES)
    ]
    if keys_of_file == {} or len(tried) > keys.MOST_TRIED or len(given) > MOST_CHARACTERS:
        return Evidence({}, (), has_refused=True)
    before = effects(config)
    by_encoding: dict[str, dict[str, dict[str, None]]] = {}
    read: set[str] = set()
    has_refused = False
    for path, value in tried:
        concerns, name = keys.concerns_position(path), keys.dotted(path)
        own = {name: value} if keys_of_file is None else keys_of_file.get(name, {})
        sources = {} if value is None else own or {OF_PROGRAM: None}
        is_read, is_refused, differing = _changed(config, path, before)
        has_refused |= is_refused
        for key, parameter in differing:
            found = by_encoding.setdefault(key, {}).setdefault(parameter, {})
            found |= dict.fromkeys(sources)
        if is_read or _is_of_class(settings, path):
            read |= own.keys()
        elif concerns and value and not (path[-1] in NAMING and _agrees(value, before or {})):
            unread |= own
    found_keys = {
        key: {name: tuple(of) for name, of in found.items()} for key, found in by_encoding.items()
    }
    of_position = (
        (name, value)
        for name, value in unread.items()
        if name not in read and keys.concerns_position((name,))
    )
    return Evidence(found_keys, tuple(of_position), has_refused)


def _changed(
    config: ModelConfig, path: keys.Path, before: Effects | None
) -> tuple[bool, bool, list[tuple[str, str]]]:
    """Whether another value of a key changes anything, whether the first such value is refused and
    no other changes anything, and what it changes, as ``_differing``.
    """
    is_read, is_refused = False, False
    for other in keys.others(keys.at(config.settings, path)):
        after = effects(config.updated(keys.with_value(config.settings, path, other)))
        is_read |= after != before
        differing = [] if after is None else list(_differing(before or {}, after))
        if path[-1] in KINDS:  # Another kind may be none that is known.
            differing = [pair for pair in differing if pair[0] in (after or {})]
        if differing:
            return is_read, False, differing
        is_refused |= after is None
    return is_read, is_refused, []


def effects(config: ModelConfig) -> Effects | None:
    """What pages say of each encoding and of the layers; None for a config that is refused."""
    files = ConfigAlone(config.settings, config.where)
    try:
        found = find(files)
        of_each = {one.key: of_encoding(one) for one in found}
        return {**of_each, "": {"layers": layer_map(files, found)}}
    except RowError:
        return None


def _differing(before: Effects, after: Effects) -> Iterator[tuple[str, str]]:
    """Encodings, by their keys, with each parameter that differs; where others are in the place of
    one, those that differ in any of them.
    """
    new = [parameters for key, parameters in after.items() if key not in before]
    for key, parameters in before.items():
        others = [after[key]] if key in after else new
        for name, value in parameters.items():
            values = [other[name] for other in others if name in other]
            if name == LAYERS and len(values) > 1:  # Two encodings may share those of one.
                values = [sorted({layer for of_one in values for layer in of_one or ()})]
            if any(other != value for other in values):
                yield key, name


def of_encoding(encoding: Encoding[Form]) -> Json:
    """What pages say of an encoding that follows from settings."""
    parameters = {
        name: value for name, value in encoding.record.parameters.items() if name != GIVEN
    }
    others = {name: getattr(encoding.form, name, None) for name in BESIDE}
    return {**others, **parameters, "notes": encoding.notes, "part": encoding.part}


def _is_of_class(settings: Json, path: keys.Path) -> bool:
    """Whether the config class of the family, or of the nested one, has a setting of this name, or
    it is one of those that the section of a rotation may hold.
    """
    if path[-1] in keys.IN_ROPE and path[-2:-1] in [(section,) for section in ROPE]:
        return True
    known: Any = {}
    for depth in range(len(path)):
        inner = keys.at(settings, path[:depth])
        family = (
            translated(ModelConfig(inner, "")).family if isinstance(inner, Mapping) else UNKNOWN
        )
        known = known if family == UNKNOWN else defaults(family)
        if depth == len(path) - 1:
            return isinstance(known, Mapping) and _takes(known, path[-1])
        known = known.get(path[depth]) if isinstance(known, Mapping) else None
    return False


def _agrees(value: object, found: Effects) -> bool:
    """Whether a setting names a scheme that was found, or the absence of others."""
    schemes = [scheme for scheme in all_schemes() if any(scheme.key in key for key in found)]
    return value in (True, "absolute") or any(value in scheme.asked_by for scheme in schemes)


def _takes(known: Json, name: str) -> bool:
    """Whether a config class with these defaults takes a setting, itself or for its text model; of
    a rotation also under the names of older configs.
    """
    of_text: Json = next((known[key] for key in TEXT if isinstance(known.get(key), Mapping)), {})
    is_of_rope = name in keys.IN_ROPE and bool(
        known.get("rope_parameters") or {*ROPE} & known.keys()
    )
    return name in known or name in of_text or is_of_rope
