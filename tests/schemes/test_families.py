"""Names that code compares those of config.json with: a misspelt one would never be met."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from gguf import MODEL_ARCH_NAMES

import generator
from generator import schemes
from generator.checkpoints.model import families, family_formats, layers
from generator.libraries import config_classes, light_transformers

# Their code is in their repositories, or was in an earlier version of transformers.
ELSEWHERE = {"Chronos2Model", "Dream", "bagel", "gated_deltanet", "rwkv5", "retnet", "open-llama",
             "xlm-prophetnet", "xlm-roberta-flash", "mmproj_of_unknown_kind"}  # fmt: skip
PARTS = ("", "_vision", "_vision_model", "_vision_encoder")
MODELS = Path(generator.__file__).parent / "encyclopedia/models"
# Not of config classes that transformers has.
SETTINGS_ELSEWHERE = {"window_block_indexes"}


def names() -> Iterator[tuple[str, str]]:
    """Every family in a collection of families, after the module."""
    found = [walked.name for walked in walk_packages(schemes.__path__, f"{schemes.__name__}.")]
    modules = [import_module(name) for name in found if name.endswith(".families")]
    for module in (*modules, families):
        for constant, collection in vars(module).items():
            if constant.isupper() and isinstance(collection, Mapping | frozenset):
                yield from (
                    (module.__name__, name)
                    for name in sorted(map(str, collection))
                    if not name.startswith("(")
                )


def published() -> set[str]:
    """Families in the published configs."""
    texts = (path.read_text("utf-8") for path in MODELS.glob("*.json"))
    return {family for text in texts for family in re.findall(r'"model_type": "([^"]+)"', text)}


def test_families_are_those_of_a_library_or_have_a_format_or_are_known_to_be_elsewhere() -> None:
    """A family with a format of its own is one by that."""
    libraries = {*config_classes(), *MODEL_ARCH_NAMES.values()}
    known = libraries | published() | family_formats.FORMATS.keys()
    assert {
        (module, name)
        for module, name in names()
        if name not in ELSEWHERE and known.isdisjoint(name + part for part in PARTS)
    } == set()
    assert {name for _, name in names()} - known >= ELSEWHERE


def settings_of(family: str) -> set[str]:
    """What the config class of a family can be given."""
    known = config_classes()[family]
    return {field.name for field in fields(known)} | set(known.attribute_map)


@pytest.mark.parametrize("family", family_formats.LIKE)
def test_a_family_is_read_in_words_of_the_one_that_it_is_like(family: str) -> None:
    like, names = family_formats.LIKE[family]
    if like != family:
        rotation = {"rope_theta", "partial_rotary_factor"}  # Read by all families that rotate.
        assert set(names) <= settings_of(like) | rotation


def test_kinds_of_layers_are_those_of_transformers() -> None:
    kinds = {
        kind
        for constant, found in vars(family_formats).items()
        if constant.startswith("KINDS_OF_")
        for kind in found.values()
    }
    assert kinds <= set(light_transformers("configuration_utils").ALLOWED_LAYER_TYPES)


def test_settings_that_limit_attention_are_those_of_a_family() -> None:
    known = set().union(*map(settings_of, config_classes()))
    assert set(layers.LIMITS) - known == SETTINGS_ELSEWHERE
