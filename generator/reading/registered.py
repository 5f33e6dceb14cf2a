"""For which architectures programs have code of their own, as ``python -m benchmarks.registered``
found it in theirs.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from generator.contracts import Json
from generator.contracts.model_config import TEXT
from generator.libraries import light_transformers

FILE = Path(__file__).with_suffix(".json")
BY_TEXT = "llama-cpp"  # The program that goes by the architecture of a text model in a config.
# But for these (conversion/base.py, get_model_architecture).
WHOLE = frozenset(
    {"StepVLForConditionalGeneration", "Sarashina2VisionForCausalLM",
     "Exaone4_5_ForConditionalGeneration", "Step3p7ForConditionalGeneration",
     "KimiK3ForConditionalGeneration"}
)  # fmt: skip
# Programs that may run the code of transformers for what they have no code of their own for.
WITH_OTHERS = frozenset({"sglang", "vllm"})


@cache
def registered(program: str) -> dict[str, Any]:
    """version: of the program, by its key; names: of architectures; ends: of names that it takes
    for one another; nothing for a program without such a list
    """
    every: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return every.get(program, {})


def without_code(program: str, settings: Json) -> tuple[str, ...] | None:
    """The architectures of a config.json for which a program has no code of its own, or the model
    type of one that names none; nothing where transformers does not know these either, so that the
    code may be that of another; None where the program has code, or no list is known.
    """
    if not (names := set(registered(program).get("names", ()))):
        return None
    given = _named(settings, is_by_text=program == BY_TEXT)
    if any(not names.isdisjoint(_alike(name, program)) for name in given):
        return None
    if given:
        return tuple(given) if set(given) <= _every_class() else ()
    family = str(settings.get("model_type"))
    # PhiMoE's makers and transformers write the name of its class otherwise.
    classes = {each.lower() for name in _classes(family) for each in _alike(name, program)}
    if not classes.isdisjoint(name.lower() for name in names):
        return None
    return (family,) if classes else ()


def architectures(settings: Json) -> list[str]:
    """Those that a config names."""
    given = settings.get("architectures")
    return [name for name in given if isinstance(name, str)] if isinstance(given, list) else []


def _named(settings: Json, *, is_by_text: bool) -> list[str]:
    """The architectures by which a program goes."""
    whole = architectures(settings)
    if not is_by_text:
        return whole
    parts = [part for name in TEXT if isinstance(part := settings.get(name), Mapping)]
    inner = [name for part in parts for name in architectures(part)]
    return inner[:1] if inner and not WHOLE.intersection(whole) else whole[:1]


def _alike(name: str, program: str) -> Iterator[str]:
    """An architecture, and what a program that lacks it has run instead."""
    yield name
    ends: list[str] = registered(program).get("ends", [])
    if end := next((end for end in ends if name.endswith(end)), ""):
        yield from (name.replace(end, other) for other in ends)


@cache
def _by_family() -> dict[str, frozenset[str]]:
    """The classes of transformers, by their model type."""
    found: dict[str, set[str]] = {}
    for mapping, classes in vars(light_transformers("models.auto.modeling_auto")).items():
        if mapping.endswith("_MAPPING_NAMES"):
            for family, named in classes.items():
                found.setdefault(family, set()).update([named] if isinstance(named, str) else named)
    return {family: frozenset(names) for family, names in found.items()}


def _classes(family: str) -> frozenset[str]:
    return _by_family().get(family, frozenset())


@cache
def _every_class() -> frozenset[str]:
    return frozenset[str]().union(*_by_family().values())
