"""Configs that name a class with one part of the model that their family describes: the encoder or
the decoder alone, or the tower of one modality; or a class of another family.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from generator.checkpoints.model.families import RECURRENT
from generator.checkpoints.model.family_formats import flat_text, translated
from generator.contracts import ModelConfig, StackKind
from generator.libraries import config_classes, light_transformers

# Names of classes of transformers; T5 labels tokens, and Whisper clips, by the encoder alone.
ONE_SIDE: dict[StackKind, re.Pattern[str]] = {
    "encoder": re.compile(r"(Encoder|EncoderModel|ForTokenClassification|ForAudioClassification)$"),
    "decoder": re.compile(r"((?<!Encoder)(Decoder|DecoderModel)|ForCausalLM)$"),
}
PROJECTED = "WithProjection"  # A tower with one more matrix.
TOWER = re.compile(r"(Text|Vision|Audio|Speech)Model$")
OF_IMAGES = "ForImageClassification"  # Of CLIP and SigLIP, by the tower of images alone.
BOTH_TOWERS = ("text_config", "vision_config")
# What follows the name of a family in those of its classes, and what is left out to compare names
# of classes that are not in transformers: Step3p7ForCausalLM and MPTModel are of step3p7 and mpt.
OF_TASK = re.compile(r"(For[A-Z]|With[A-Z]|LMHead|PreTrained|Model$).*|[^A-Za-z0-9]")
VERSION = re.compile(r"(moe)?v\d+$")  # BailingMoeV3ForCausalLM is of bailing_hybrid.
AUTO = "AutoModel"  # Begins the keys of auto_map that name code of a model.


def side_alone(config: ModelConfig) -> StackKind | None:
    """The side that the class named in ``config`` has, of a family with encoder and decoder; None
    where it has both, or names no class.
    """
    if not config.is_encoder_decoder:
        return None
    return next(
        (side for side, names in ONE_SIDE.items() if names.search(class_name(config))), None
    )


def as_loaded(config: ModelConfig) -> ModelConfig:
    """``config`` as ``from_pretrained`` of the class that it names takes it.

    Nested configs have the model types of their classes where they give none, and a class of one
    tower has that alone. Where a class is none of the family's, its name stands for the family; but
    not one of transformers, which goes by the model type.
    """
    named = tuple(_named_classes(config))
    is_nested = any(isinstance(value, Mapping) for value in config.settings.values())
    if not (named or is_nested):
        return config  # Saves the import of transformers.
    classes = config_classes()
    if config.family not in classes:
        return config
    nested = classes[config.family].sub_configs
    whole = _typed(config, nested)
    if (tower := _of_tower(whole, nested)) is not whole:
        return tower
    foreign = next((name for name in named if not _is_of_family(name, config.family)), None)
    if foreign is None or _is_read_otherwise(config, foreign):
        return whole
    if foreign not in _modules():  # Else the class that loads it goes by the model type alone.
        whole = whole.updated({"model_type": foreign})
    return replace(whole, claimed=config.family)


def _named_classes(config: ModelConfig) -> Iterator[str]:
    """The classes of models that a config names, of transformers or in files beside it."""
    yield from (name for name in config.listed("architectures") if isinstance(name, str))
    code = config.section("auto_map")
    for key, value in {} if code is None else code.settings.items():
        if key.startswith(AUTO) and isinstance(value, str):
            yield value.rpartition(".")[2]


def _is_read_otherwise(config: ModelConfig, name: str) -> bool:
    """Whether the code of a class that transformers lacks is known: of a format that is understood,
    or of the text model alone, for which a class with that of images has no counterpart.
    """
    if flat_text(config) is not None:
        return _stem(name).startswith(_stem(config.family))
    return translated(config).settings != config.settings


@cache
def _is_of_family(name: str, family: str) -> bool:
    """Whether a class is one of those that transformers has for a model type, or is named like them
    but for its task; of recurrent layers alone, also that of another such family.
    """
    if family in _types(name):
        return True
    package = _package(config_classes()[family].__module__.removeprefix("transformers."))
    if name in (modules := _modules()):
        is_recurrent = family in RECURRENT and not _types(name).isdisjoint(RECURRENT)
        return _package(modules[name]) == package or is_recurrent
    own = [other for other, module in modules.items() if _package(module) == package]
    stems = {_stem(other) for other in (family, *own)}
    first = VERSION.sub("", stem := _stem(name))
    return stem in stems or (first != stem and any(one.startswith(first) for one in stems))


def _modules() -> Mapping[str, str]:
    """The module of each class of transformers."""
    config_classes()
    modules: Mapping[str, str] = sys.modules["transformers"]._class_to_module
    return modules


def _package(module: str) -> str:
    return module.rpartition(".")[0]


def own_type(class_name: str) -> str:
    """The model type whose code in transformers has a class of this name; "" without one."""
    types = sorted(_types(class_name))
    *_, package = _package(_modules().get(class_name, "")).split(".")
    return next(
        (one for one in types if one.replace("-", "_") == package), types[0] if types else ""
    )


def _stem(name: str) -> str:
    return OF_TASK.sub("", name).lower()


def _typed(config: ModelConfig, nested: Mapping[str, Any]) -> ModelConfig:
    typed = {
        key: {**section.settings, "model_type": model_type}
        for key, nested_class in nested.items()
        if (section := config.section(key)) is not None
        and not section.text("model_type")
        and (model_type := getattr(nested_class, "model_type", ""))
    }
    return config.updated(typed) if typed else config


def _of_tower(config: ModelConfig, nested: Mapping[str, Any]) -> ModelConfig:
    """The nested config of the tower that the named class consists of; else ``config`` itself."""
    name = class_name(config).removesuffix(PROJECTED)
    types = _types(name)
    is_of_images = name.endswith(OF_IMAGES) and set(BOTH_TOWERS) <= nested.keys()
    if config.family in types and not is_of_images:
        return config
    tower = TOWER.search(name.replace(OF_IMAGES, "VisionModel"))
    named = f"{tower[1].lower()}_config" if tower else ""
    for key in nested:
        section = config.section(key)
        if section is None:
            continue
        if key == named or section.family in types:
            return section
    return config


def class_name(config: ModelConfig) -> str:
    """The class of transformers that a config names; "" where it names none."""
    names = config.listed("architectures")
    return names[0] if names and isinstance(names[0], str) else ""


@cache
def _types(class_name: str) -> frozenset[str]:
    """The model types for which transformers makes a class of this name."""
    auto = vars(light_transformers("models.auto.modeling_auto"))
    return frozenset(
        model_type
        for mapping, classes in auto.items()
        if mapping.endswith("_MAPPING_NAMES")
        for model_type, named in classes.items()
        if class_name == named or (isinstance(named, tuple) and class_name in named)
    )
