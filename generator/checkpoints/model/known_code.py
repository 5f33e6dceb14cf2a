"""What the code of model families makes for published configs, shipped for one version of
transformers: importing that code takes longer than all else that a config needs.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

from generator.cache import precomputed
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.code_files import (
    SAME_TENSORS,
    code_files,
    is_built_as,
    is_too_deep,
)
from generator.checkpoints.model.families import OF_TASKS
from generator.checkpoints.model.families_by_name import tables
from generator.checkpoints.model.halves import class_name
from generator.checkpoints.model.resolved import IRRELEVANT, defaults
from generator.contracts import Json, Resolved, TensorInfo
from generator.libraries import config_classes

Shape = tuple[int, ...]
# Tensors with an encoding, as ``packed``, or None where transformers has no model.
Packed = Mapping[str, Sequence[Sequence[int]]]
Tensors = Packed | None
PLACE = "#"  # In names, of the number of a layer.
NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")
DIGITS = 16  # of a digest
# Settings that change no tensor with positions.
OTHER = re.compile(
    rf"{SAME_TENSORS.pattern}"
    r"|.*(drop|initializer|_eps|epsilon|_std).*|vocab_size|torchscript|return_dict"
)


def code_of(resolved: Resolved) -> ConfigAlone | None:
    """As ``code_files``; of what is shipped, those tensors alone that have an encoding.

    errors: NoOutlineError
    """
    config = resolved.given
    if shapes := tables(resolved.readable):
        return with_tensors(resolved, packed(shapes))
    known = _tensors()
    if resolved.refused or is_too_deep(config) or not known:
        return code_files(resolved)
    found = next((one for one in digests(resolved) if one in known), None)
    if found is None:
        return code_files(resolved)
    tensors = known[found]
    return None if tensors is None else with_tensors(resolved, tensors)


def packed(tensors: Mapping[str, Shape]) -> Packed:
    """Their shapes by name, those of many layers together: the shape, and the numbers of these."""
    found: dict[str, list[list[int]]] = {}
    for name, shape in tensors.items():
        numbers = NUMBER.findall(name)
        pattern = NUMBER.sub(PLACE, name) if len(numbers) == 1 else name
        if pattern != name and found.get(pattern, [[*shape]])[0] == [*shape]:
            found.setdefault(pattern, [[*shape], []])[1].append(int(numbers[0]))
        else:
            found[name] = [[*shape]]
    return found


def with_tensors(resolved: Resolved, tensors: Packed) -> ConfigAlone:
    """A config with these tensors alone."""
    config = resolved.given
    infos = {
        pattern.replace(PLACE, str(number)): TensorInfo("", "", tuple(shape))
        for pattern, (shape, *numbers) in tensors.items()
        for number in (numbers[0] if numbers else [""])
    }
    return ConfigAlone(config.settings, config.where, tensors=infos, program=config.program)


def digests(resolved: Resolved) -> tuple[str, str, str]:
    """Of what decides which tensors are made for a config: without its numbers above 0, for what
    has no tensor with an encoding in any size; without those of nested configs of which that is
    known; and with all.
    """
    classes, family = config_classes(), resolved.readable.family
    parts = getattr(classes[family], "sub_configs", ()) if family in classes else ()
    named = class_name(resolved.given) if parts or family in OF_TASKS else ""
    settings, around = resolved.config.settings, (family, resolved.side, named)
    return (
        _digest((*around, "kind", _kind(_relevant(settings)))),
        _digest((*around, "parts", _relevant(settings, skips_known=True))),
        _digest((*around, _relevant(settings))),
    )


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:DIGITS]


def _relevant(settings: Json, *, skips_known: bool = False) -> Any:
    """Settings that may change a tensor with positions, those that the config class defines.

    skips_known: whether nested configs whose families train no encoding are their families alone
    """
    family = str(settings.get("model_type", ""))
    names = defaults(family).keys() or settings.keys()
    found = {}
    for name in (names & settings.keys()) - IRRELEVANT:
        value = settings[name]
        if OTHER.fullmatch(str(name)):
            continue
        if isinstance(value, Mapping) and skips_known and is_part_without(value):
            value = {"model_type": value["model_type"]}
        elif isinstance(value, Mapping):
            value = _relevant(value, skips_known=skips_known)
        found[str(name)] = value
    return {**found, "model_type": family}


def is_part_without(section: Json) -> bool:
    """Whether the code of a nested config's family is known to train no encoding for it."""
    family = str(section.get("model_type"))
    return family in untrained() and is_built_as(section, defaults(family))


def _kind(value: Any) -> Any:
    """Without sizes and the lengths of lists."""
    if isinstance(value, Mapping):
        return {name: _kind(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return sorted({json.dumps(_kind(one), sort_keys=True, default=str) for one in value})
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "+" if is_number and value > 0 else value


@cache
def untrained() -> frozenset[str]:
    """Model types whose code was looked through beforehand, by their defaults."""
    return frozenset(json.loads(precomputed.shipped(precomputed.UNTRAINED) or "[]"))


@cache
def _tensors() -> Mapping[str, Tensors]:
    """By digests of configs."""
    found: dict[str, Tensors] = json.loads(precomputed.shipped(precomputed.CODE) or "{}")
    return found
