"""The tensors that the code of a model family makes for a config, without their values."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model import stacks
from generator.checkpoints.model.families import OF_TASKS
from generator.checkpoints.model.halves import class_name
from generator.checkpoints.model.resolved import (
    MOST_SHOWN,
    defaults,
    given,
    is_known,
    quietly,
)
from generator.contracts import Json, ModelConfig, Resolved, TensorInfo
from generator.errors import RefusedError
from generator.libraries import import_transformers, need_site, refusal

MOST_LAYERS = 128
# Settings that change no tensor but by its size: of tokens, activations, rotations, windows, masks
# and sums, and names.
SAME_TENSORS = re.compile(
    r".*(_token_id|_act|rope.*)|(use_)?sliding_window|tie_word_embeddings|use_cache|architectures"
    r"|_name_or_path|scale_embedding|use_(parallel_residual|bidirectional_attention)"
)
# Of IDEFICS: layers that were trained before it was, and not with it.
FROZEN = frozenset({"freeze_text_layers", "freeze_vision_layers"})


class NoOutlineError(Exception):
    """Why the code of a family could not be looked through."""


def code_files(resolved: Resolved) -> ConfigAlone | None:
    """The trained tensors of the family's model, of one side of it where the config names a class
    with that side alone; None for a family without a model in transformers.

    Buffers and parameters that are not trained are left out: stored sinusoids follow from settings.
    errors: NoOutlineError where its code makes no model for it, or one with more than
        ``MOST_LAYERS`` layers
    """
    config = resolved.given
    if is_too_deep(config):
        raise NoOutlineError(f"more than {MOST_LAYERS} layers are not looked through")
    missing = ""
    try:
        models = {"": outline(resolved)}
    except NoOutlineError as error:
        models, missing = _parts(resolved.config), str(error)
        if not models:
            raise
    if models == {"": None} and not (models := _parts(resolved.config)):
        return None
    other = {"encoder": "decoder", "decoder": "encoder"}.get(resolved.side or "")
    trained = {
        part + name: parameter
        for part, model in models.items()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and other not in name.split(".")
        if not (part.endswith("encoder_model.") and "decoder" in name.split("."))  # A whole T5.
    }
    shapes = {name: tuple(parameter.shape) for name, parameter in trained.items()}
    return ConfigAlone(
        config.settings,
        config.where,
        tensors={name: TensorInfo("", "", shape) for name, shape in shapes.items()},
        missing=missing,
        program=config.program,
    )


def _parts(whole: ModelConfig) -> dict[str, Any]:
    """Models of the nested configs whose code makes one, as where another one needs a library that
    is not installed; by the beginning of the names of their tensors.
    """
    models = {}
    for key, value in whole.settings.items():
        section = whole.section(key) if isinstance(value, Mapping) else None
        with suppress(NoOutlineError):
            if section is not None and (model := outline(stacks.resolved(section))) is not None:
                models[f"{key.removesuffix('_config')}_model."] = model
    return models


def _composite(models: Any, settings: Any, name: str) -> Any:
    """The model of several ones, or of a task, that ``settings`` describe: the base class of the
    family or, where that makes none or lacks the input layer, the class ``name``, or else that to
    which transformers gives such a config (PP-Chart2Table's is GOT-OCR 2's); None without any.
    errors: of any class
    """
    named: Any = getattr(models, name, None)
    is_of_family = getattr(named, "config_class", None) is type(settings)
    is_of_task = is_of_family and settings.model_type in OF_TASKS
    if is_of_task or type(settings) not in models.MODEL_MAPPING:
        of_type = models.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        if not is_of_family and type(settings) in of_type:
            return of_type[type(settings)](settings)
        return named(settings) if is_of_family else None
    try:
        return models.AutoModel.from_config(settings)
    except Exception:
        if not is_of_family:
            raise
        return named(settings)


def is_built_as_by_default(resolved: Resolved) -> bool:
    """Whether the family's code makes tensors of the same names and dimensions for a config as
    for the defaults of its config class, in other sizes.

    That is so where they differ in positive numbers, in the length of lists, and in
    ``SAME_TENSORS`` alone: kinds of layers must be among those of the default. What the config
    class does not define, the code does not read.
    """
    config = resolved.given
    return (
        not resolved.refused
        and config.family not in OF_TASKS
        and not is_too_deep(config)
        and is_built_as(resolved.config.settings, defaults(config.family))
    )


def is_too_deep(config: ModelConfig) -> bool:
    """Whether it has more layers than are looked through."""
    return (config.size("n_layers") or 0) > MOST_LAYERS


def is_built_as(settings: Json, defaults: Json) -> bool:
    """Whether settings differ from defaults of the same class in sizes and ``SAME_TENSORS``."""
    relevant = {name: value for name, value in defaults.items() if not SAME_TENSORS.fullmatch(name)}
    return bool(defaults) and all(
        _is_same_kind(settings.get(name), value) for name, value in relevant.items()
    )


def _is_same_kind(value: object, default: object) -> bool:
    if isinstance(default, Mapping):
        return isinstance(value, Mapping) and (not default or is_built_as(value, default))
    if isinstance(default, list):
        return isinstance(value, list) and all(
            any(_is_same_kind(item, other) for other in default) for item in value
        )
    return value == default or (_is_positive(value) and _is_positive(default))


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def outline(resolved: Resolved) -> Any:
    """The model that transformers makes for a config, made without memory; None for a family
    without one.

    errors: NoOutlineError where its code makes none
    """
    config, readable = resolved.given, resolved.readable
    if resolved.refused or not is_known(config.family) or not is_known(readable.family):
        return None
    try:
        need_site("the code of a family", "torch")
    except RefusedError as error:
        raise NoOutlineError(str(error)) from None
    import torch

    models = import_transformers()
    try:
        with quietly(), torch.device("meta"):
            settings = models.CONFIG_MAPPING[readable.family](**given(readable.settings))
            for name in FROZEN.intersection(vars(settings)):
                setattr(settings, name, False)
            is_whole = not settings.sub_configs and readable.family not in OF_TASKS
            if type(settings) in models.MODEL_MAPPING and is_whole:
                return models.AutoModel.from_config(settings)
            return _composite(models, settings, class_name(config))
    # Models check their configs in many ways, and raise exceptions of any class.
    except Exception as error:  # noqa: BLE001
        raise NoOutlineError(refusal(error, MOST_SHOWN)) from None
