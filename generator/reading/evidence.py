"""Which keys of a config an encoding follows from, found by changing each: what a changed key does
not change was not read, whatever reads it.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model import keys
from generator.checkpoints.model.diffusion_transformers import OF_AXES
from generator.checkpoints.model.engines_families import WITHOUT_BASE
from generator.checkpoints.model.families import READ_BY_NO_CODE
from generator.checkpoints.model.families_by_name import OF_SMOL_VLA, policy
from generator.checkpoints.model.family_formats import OF_PROGRAMS, flat_text, translated
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.own_families import own_families
from generator.checkpoints.model.resolved import (
    IRRELEVANT,
    OTHER_BASES,
    arguments,
    defaults,
)
from generator.contracts import Encoding, Files, Json, Layer, ModelConfig, Origin
from generator.contracts.model_config import (
    LARGEST_REAL,
    PAIR_ORDER,
    ROPE,
    ROTATED_PART,
    SIZES,
    TEXT,
    UNKNOWN,
)
from generator.contracts.own import FAMILIES, digest
from generator.encodings import Form
from generator.errors import RowError
from generator.libraries import only_compared
from generator.reading.find import Found, all_schemes, find, look
from generator.schemes.rotary import FACTOR_TENSORS, UNDERSTOOD, has_unknown_numbers

# Of a rotation: its rule as it is given, and what follows from it.
GIVEN, FREQUENCIES = "scaling", "inverse_frequencies"
# Parameters that readers set, whatever the form; first those of a rotation without scaling.
SHOWN = ("base", "rotary_dim", "head_dim", "window", "layers", "heads", "n_positions")
# Of a form, beside its parameters.
BESIDE = ("long_factors", "n_positions", "strength", "start")
OF_PROGRAM = ""  # Among keys.
LAYERS, EXISTENCE = "layers", "existence"
PLAIN = re.compile(r"[\w.+-]{0,40}", re.ASCII)  # A text that names no place and no person.
KINDS = ("rope_type", "type")
# They say whose defaults there are.
OF_FAMILY = frozenset({"model_type", "architectures"})
MOST_CHARACTERS = 2**18  # of settings as JSON
# Words of schemes, which a config may repeat.
NAMING = frozenset({"position_embedding_type", "position_embeddings_type", "rope", "rotary"})
OF_WIDTH = ("head_dim", "rotary_dim")
SHARES = ("partial_rotary_factor", "rotary_pct", "rope_pct")  # Of a head.
BASE_NAMES = frozenset({"rope_theta", *OTHER_BASES})
Effects = Mapping[str, Json]
# Encodings, by their keys, with parameters; and those with the keys of the file that change each.
Differing = Sequence[tuple[str, str]]
Credited = dict[str, dict[str, dict[str, None]]]


@dataclass(frozen=True)
class Evidence:
    """What the keys of a file do.

    keys: for each encoding, by its key, and each of its parameters, those that change it alone and
        are not null, and ``OF_PROGRAM`` where a setting changes it that no key gives
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
    of_class = _of_class(files, encoding.part)
    taught = _taught(files, encoding)
    origins = {}
    for name, value in encoding.record.parameters.items():
        if name in SHOWN and value is not None:
            changing = own.get(name) or _of_axes(own, name) or _of_named(files, name)
            named = tuple(key for key in changing if key != OF_PROGRAM)
            default_of = config.program if OF_PROGRAM in changing else of_class
            # Settings from other names may change together alone.
            if name in taught:
                origins[name] = Origin(named, FAMILIES)
            elif changing or not (found.has_refused or config.program):
                origins[name] = Origin(named, None if named else default_of or None)
            elif name == "base" and _is_assumed(files):
                origins[name] = Origin((), None)
            elif name == "base" and found.keys and of_class and not _names_a_base(config):
                origins[name] = Origin((), of_class)
            elif name == "rotary_dim" and (named := _of_size(config, encoding.record.parameters)):
                origins[name] = Origin(named, None)
    if encoding.record.parameters.get(GIVEN):
        keys_of_scaling = _of_scaling(files, own)
        if keys_of_scaling is not None or not found.has_refused:
            origins[GIVEN] = Origin(keys_of_scaling or _of_kind(own), None)
    return origins


def _of_scaling(files: Files, own: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """The keys that change a scaling and nothing else of a rotation; None where none changes it."""
    of_rule = (FREQUENCIES, "long_factors", "attention_factor")
    changed = dict.fromkeys(key for name in of_rule for key in own.get(name, ()))
    changed |= dict.fromkeys(name for name in FACTOR_TENSORS if name in files.tensors)
    others = ("base", "rotary_dim", "head_dim")
    of_others = {OF_PROGRAM, *(key for name in others for key in own.get(name, ()))}
    return tuple(key for key in changed if key not in of_others) if changed else None


def _of_kind(own: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The keys of the kind of a scaling."""
    return tuple(key for key in own.get(EXISTENCE, ()) if key.endswith(KINDS))


def _is_assumed(files: Files) -> bool:
    """Whether a base is the usual one: no key of the settings, or of a nested one, has the name of
    a base, and a config class that would have a default rejects them.
    """
    is_refused = any(stack.refused for stack in files.resolved.stacks)
    return is_refused and not _names_a_base(files.config)


def _names_a_base(config: ModelConfig) -> bool:
    return not BASE_NAMES.isdisjoint(path[-1] for path, _ in keys.leaves(config.settings))


def _of_size(config: ModelConfig, parameters: Json) -> tuple[str, ...]:
    """The keys that give the rotated part of a head where no other value of them can be tried, as
    with a list of as many factors (Phi-4 mini): those with its size, or with its share of the head.
    """
    sizes: dict[str, Any] = {ROTATED_PART: 1, **dict.fromkeys(SHARES, parameters["head_dim"])}
    return tuple(
        name
        for path, value in keys.leaves(config.settings)
        if isinstance(value, int | float)
        and int(value * sizes.get(path[-1], 0)) == parameters["rotary_dim"]
        for name in _of_file(config.keys_of_file, path, value)
    )


def _of_axes(own: Mapping[str, Sequence[str]], parameter: str) -> Sequence[str]:
    """The list of the components of each axis, of which another value makes other parts."""
    of_part = own.get("part", ())
    return [key for key in of_part if key in OF_AXES] if parameter == "rotary_dim" else ()


def _of_named(files: Files, parameter: str) -> Sequence[str]:
    """The key that names another model, of which a head has the size."""
    own = policy(files.resolved.readable)
    return [OF_SMOL_VLA] if own is not None and parameter in OF_WIDTH else []


def settings_of(config: ModelConfig) -> dict[str, Any]:
    """The keys of the file behind ``config`` that may matter to position, with their values; of
    lists and of texts that are no plain words, a digest.
    """
    found: dict[str, Any] = {}
    for path, value in keys.leaves(config.settings):
        if IRRELEVANT.isdisjoint(path) and keys.may_matter(path, value):
            found |= _of_file(config.keys_of_file, path, value)
    most = sorted(found.items())[: keys.MOST_TRIED]
    return {name[: keys.MOST_TRIED]: _published(value) for name, value in most}


def _published(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) < LARGEST_REAL:
        return value
    if isinstance(value, str) and PLAIN.fullmatch(value):
        return value
    content = json.dumps(value, default=str, sort_keys=True).encode(errors="backslashreplace")
    return f"sha256:{hashlib.sha256(content).hexdigest()[:16]}"


def _of_class(files: Files, part: str) -> str:
    """The config class, or the program, whose defaults a part has; "" without one, where that class
    rejects the file, and where that program has none.
    """
    stacks = files.resolved.stacks_of(part)
    whole = files.resolved.readable.program
    program = next((stack.config.program for stack in stacks[::-1]), whole)
    if files.config.program or program in OF_PROGRAMS.values():
        return program
    if any(stack.refused for stack in stacks) or program in WITHOUT_BASE:
        return ""
    return f"the code of {program}" if program else files.resolved.default_of(part)


def _taught(files: Files, encoding: Encoding[Form]) -> tuple[str, ...]:
    """The parameters of an encoding that follow from the file on families beside the list."""
    family = own_families().get(files.resolved.family_of(encoding.part))
    given = files.config.anywhere
    return tuple(name for name in SHOWN if family is not None and family.gives(name, given))


def evidence(config: ModelConfig) -> Evidence:
    """What each key of the file behind ``config`` does that may matter to position."""
    # The last changes what the others mean.
    given = config.settings, config.keys_of_file, config.unread_keys, digest()
    return _evidence(json.dumps(given, default=str), config.program)


@lru_cache(maxsize=8)
@only_compared()
def _evidence(given: str, program: str) -> Evidence:
    """Whatever the name of the file, since the checkpoints of one training share their settings."""
    settings, keys_of_file, unread, _ = json.loads(given)
    config = ModelConfig(settings, "", program=program)
    every = [one for one in keys.leaves(settings) if IRRELEVANT.isdisjoint(one[0])]
    likely = [(path, value) for path, value in every if keys.may_matter(path, value)]
    if keys_of_file == {} or len(likely) > keys.MOST_TRIED or len(given) > MOST_CHARACTERS:
        return Evidence({}, (), has_refused=True)
    before = effects(config)
    by_encoding: Credited = {}
    rejected: list[tuple[keys.Path, Json, Differing]] = []
    read, has_refused = _read_by_no_code(config), False
    for path, value in likely:
        own = _of_file(keys_of_file, path, value)
        change = _changed(config, path, before)
        has_refused |= change.is_refused
        _credit(by_encoding, change.differing, path, own)
        rejected.append((path, own, change.rejected))
        if change.is_read or _is_of_class(settings, path):
            read |= own.keys()
        elif (
            keys.concerns_position(path)
            and value
            and not _names_a_scheme(path, value, before or {})
        ):
            unread |= own
    _credit_sizes(by_encoding, rejected, before or {})
    unlikely = [one for one in every[: keys.MOST_TRIED] if one not in likely]
    _credit_unlikely(by_encoding, config, unlikely, before, keys_of_file)
    found_keys = {
        key: {name: tuple(of) for name, of in found.items()} for key, found in by_encoding.items()
    }
    if has_unknown_numbers(ConfigAlone(settings, "")):
        read |= UNDERSTOOD  # If the rest were.
    return Evidence(found_keys, tuple(_of_position(unread, read)), has_refused)


def _read_by_no_code(config: ModelConfig) -> set[str]:
    families = (config.family, translated(config).family)
    return {name for family in families for name in READ_BY_NO_CODE.get(family, ())}


def _of_position(unread: Json, read: Collection[str]) -> Iterator[tuple[str, Any]]:
    for name, value in unread.items():
        if name not in read and keys.concerns_position((name,)):
            yield name, value


def _of_file(keys_of_file: Mapping[str, Json] | None, path: keys.Path, value: Any) -> Json:
    """The keys of the file behind a setting, with their values."""
    name = keys.dotted(path)
    return {name: value} if keys_of_file is None else keys_of_file.get(name, {})


def _credit(by_encoding: Credited, differing: Differing, path: keys.Path, own: Json) -> None:
    """Add the keys behind a setting to those of what it changes."""
    sources = [name for name, value in own.items() if value is not None]
    if path[-1] not in OF_FAMILY and (sources or not own):
        for key, parameter in differing:
            found = by_encoding.setdefault(key, {}).setdefault(parameter, {})
            found |= dict.fromkeys(sources or (OF_PROGRAM,))


def _credit_sizes(
    by_encoding: Credited, rejected: Sequence[tuple[keys.Path, Json, Differing]], before: Effects
) -> None:
    """Add keys that no other value fits but together with another key: a width to what it is
    divided into, numbers and lists of layers to the layers that follow from no other key, also
    where only the list of all layers follows another number.
    """
    settled = {key for key, found in by_encoding.items() if LAYERS in found}
    parts = {layer.part for layer in before.get("", {}).get(LAYERS, ())}
    for path, own, differing in rejected:
        is_width = path[-1] in SIZES["d_model"]
        of_size = [
            (key, name)
            for key, name in differing
            if (name in OF_WIDTH and is_width) or (name == LAYERS and key not in settled)
        ]
        if ("", LAYERS) in differing and path[-1] in SIZES["n_layers"] and len(parts) == 1:
            of_size += [(key, LAYERS) for key in before if key and key not in settled]
        _credit(by_encoding, of_size, path, own)


def _credit_unlikely(
    by_encoding: Credited,
    config: ModelConfig,
    unlikely: Sequence[tuple[keys.Path, Any]],
    before: Effects | None,
    keys_of_file: Mapping[str, Json] | None,
) -> None:
    """Add what keys without a name of positions change, while some parameter has no key."""
    values = {path: value for path, value in unlikely if path[-1] not in OF_FAMILY}
    acting = _acting(config, list(values), before)
    while _has_defaults(before or {}, by_encoding) and (path := next(acting, None)):
        own = _of_file(keys_of_file, path, values[path])
        _credit(by_encoding, _changed(config, path, before).differing, path, own)


def _has_defaults(before: Effects, credited: Credited) -> bool:
    """Whether no key is known to change some parameter that pages show."""
    return any(
        of_one.get(name) and name not in credited.get(key, {})
        for key, of_one in before.items()
        for name in SHOWN
    )


@dataclass(frozen=True)
class Effect:
    """What another value of a key changes, the first that changes anything.

    is_refused: whether none does and one is refused
    rejected: what differs, where none does, with one that the family's config class rejects, so
        that settings are read unchanged
    """

    is_read: bool
    is_refused: bool
    differing: Differing
    rejected: Differing = ()


def _acting(
    config: ModelConfig, paths: Sequence[keys.Path], before: Effects | None
) -> Iterator[keys.Path]:
    """Those of ``paths`` that may change anything, found by halves: what all of a half change
    nothing together, each changes nothing.
    """
    if len(paths) == 1:
        yield from paths
    elif any(effects(config.updated(other)) != before for other in _others(config, paths)):
        middle = len(paths) // 2
        yield from _acting(config, paths[:middle], before)
        yield from _acting(config, paths[middle:], before)


def _others(config: ModelConfig, paths: Sequence[keys.Path]) -> Iterator[Json]:
    """The settings with another value at each of ``paths``, each once with the first that is tried
    and once with the last, and of any two once the first of one with the last of the other: what
    follows from a ratio stays where both double.
    """
    tried = [list(keys.others(keys.at(config.settings, path))) for path in paths]
    for bits in (0, *(1 << bit for bit in range(len(paths).bit_length()))):
        settings = config.settings
        for n, (path, values) in enumerate(zip(paths, tried, strict=True), start=1):
            settings = keys.with_value(settings, path, values[-1 if n & bits else 0])
        yield settings


def _changed(config: ModelConfig, path: keys.Path, before: Effects | None) -> Effect:
    is_read, is_refused, rejected = False, False, list[tuple[str, str]]()
    for other in keys.others(keys.at(config.settings, path)):
        after = effects(config.updated(keys.with_value(config.settings, path, other)))
        is_read |= after != before
        is_refused |= after is None
        differing = list(_differing(before or {}, after or before or {}))
        if _n_rejected(after or {}) > _n_rejected(before or {}):
            rejected = rejected or differing
        elif differing:
            return Effect(is_read, is_refused=False, differing=differing)
    return Effect(is_read, is_refused, (), rejected)


def effects(config: ModelConfig) -> Effects | None:
    """What pages say of each encoding and of the layers, and what config classes reject; None for a
    config that is refused.
    """
    files = ConfigAlone(config.settings, config.where, program=config.program)
    try:
        found = find(files)
        of_each = {one.key: of_encoding(one) for one in found}
        rejected = [stack.refused for stack in files.resolved.stacks if stack.refused]
        return {**of_each, "": {LAYERS: layer_map(files, found), "rejected": rejected}}
    except RowError:
        return None


def _n_rejected(found: Effects) -> int:
    return len(found.get("", {}).get("rejected", ()))


def _differing(before: Effects, after: Effects) -> Iterator[tuple[str, str]]:
    """Encodings, by their keys, with each parameter that differs, and with ``EXISTENCE`` those in
    whose place is none.
    """
    places = _places(before, after)
    for key, parameters in before.items():
        others = [after[each] for each in places.get(key, [key])]
        changed = {} if others else {EXISTENCE: None}
        for name, value in parameters.items():
            values = [other[name] for other in others if name in other]
            if name == LAYERS and len(values) > 1:  # Two encodings may share those of one.
                values = [sorted({layer for of_one in values for layer in of_one or ()})]
            if any(other != value for other in values):
                changed[name] = None
        if not key and before.keys() != after.keys():  # Names of encodings differ.
            is_same = _bare(parameters[LAYERS]) == _bare(after[key][LAYERS])
            changed = {} if is_same else {LAYERS: None}
        yield from ((key, name) for name in changed)


def _places(before: Effects, after: Effects) -> dict[str, list[str]]:
    """What is in the place of each encoding that is there no more: all others of the same scheme
    where there are more than before for layers of the same kinds, or that which differs least, for
    no other.
    """
    gone, new = (
        [key for key in one if key not in other]
        for one, other in ((before, after), (after, before))
    )
    candidates = {
        old: [key for key in new if before[old]["scheme"] == after[key]["scheme"]] for old in gone
    }
    by_difference = sorted(
        (sum(before[old].get(name) != value for name, value in after[key].items()), old, key)
        for old in gone
        for key in candidates[old]
    )
    pairs: dict[str, str] = {}
    for _, old, key in by_difference:
        if old not in pairs and key not in pairs.values():
            pairs[old] = key
    kinds = [_bare(one[""][LAYERS]) for one in (before, after) if "" in one]
    is_split = len(new) > len(gone) and kinds[1:] == kinds[:1]
    return {
        old: candidates[old] if is_split else [pairs[old]] if old in pairs else [] for old in gone
    }


def _bare(layers: Sequence[Layer]) -> list[Layer]:
    return [replace(layer, encodings=(), at_input=()) for layer in layers]


def of_encoding(encoding: Encoding[Form]) -> Json:
    """What pages say of an encoding that follows from settings."""
    parameters = {
        name: value for name, value in encoding.record.parameters.items() if name != GIVEN
    }
    others = {name: getattr(encoding.form, name, None) for name in BESIDE}
    said = {"notes": encoding.notes, "part": encoding.part, "scheme": encoding.scheme}
    return {**others, **parameters, **said}


def _is_of_class(settings: Json, path: keys.Path) -> bool:
    """Whether the config class of the family, or of the nested one, has a setting of this name, or
    it is one of those that the section of a rotation may hold.
    """
    if path[-1] in keys.IN_ROPE and path[-2:-1] in [(section,) for section in ROPE]:
        return True
    known: Any = {}
    for depth in range(len(path)):
        inner = keys.at(settings, path[:depth])
        config = ModelConfig(inner if isinstance(inner, Mapping) else {}, "")
        family = translated(config).family
        # A class makes its parts, whatever model type they name.
        known = {**(known if isinstance(known, Mapping) else {}), **defaults(family)}
        if depth == len(path) - 1:
            takes = _takes(known, path[-1])
            _, of_text = flat_text(config) or ("", UNKNOWN)
            return takes or any(path[-1] in arguments(one) for one in (family, of_text))
        known = known.get(path[depth])
    return False


def _names_a_scheme(path: keys.Path, value: object, found: Effects) -> bool:
    """Whether a setting names a scheme that was found, or the absence of others, or gives the order
    of pairs.
    """
    if path[-1] not in NAMING:
        return path[-1] in PAIR_ORDER and isinstance(value, bool)
    schemes = [scheme for scheme in all_schemes() if any(scheme.key in key for key in found)]
    return value in (True, "absolute") or any(value in scheme.asked_by for scheme in schemes)


def _takes(known: Json, name: str) -> bool:
    """Whether a config class with these defaults takes a setting, itself or for its text model; of
    a rotation also under the names of older configs, but its kind in a section alone.
    """
    of_text: Json = next((known[key] for key in TEXT if isinstance(known.get(key), Mapping)), {})
    is_of_rope = name in keys.IN_ROPE.difference(KINDS) and bool(
        known.get("rope_parameters") or {*ROPE} & known.keys()
    )
    return name in known or name in of_text or is_of_rope
