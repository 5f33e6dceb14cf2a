"""A config.json as the config class of its family in transformers understands it."""

import inspect
import json
import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from generator.checkpoints.model import keys
from generator.checkpoints.model.engines_families import MOST_LAYERS
from generator.checkpoints.model.families import WITHOUT_QUERY
from generator.contracts import Json, ModelConfig
from generator.contracts.model_config import ROPE, SIZES, TEXT, UNKNOWN
from generator.libraries import config_classes, light_transformers, refusal

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

MOST_SHOWN = 120  # characters of a refusal
MOST_KEYS = 256  # of one config that all go through its class, which sets each more than once
MOST_MENDED = 4  # settings of another type than the config class declares
OF_TYPE = re.compile(r"Field '(\w+)' expected ")  # huggingface_hub.dataclasses
WINDOW, WINDOWED, GATE = "sliding_window", "sliding_attention", "use_sliding_window"
NULLABLE = frozenset({WINDOW})  # Null overrides the default of the family.
# Attributes that some config classes compute, and do not save.
COMPUTED = ("num_hidden_layers", "sliding_window")
# Settings that say nothing of position, and that would import torch, name code, or make lists of
# any length.
IRRELEVANT = frozenset(
    {"dtype", "torch_dtype", "id2label", "label2id", "num_labels", "auto_map",
     "quantization_config", "task_specific_params",
     "attn_implementation", "_attn_implementation", "_attn_implementation_autoset",
     "_attn_implementation_internal", "experts_implementation", "_experts_implementation",
     "_experts_implementation_internal", "use_kernels", "kernel_config", "fusion_config",
     "distributed_config", "problem_type", "transformers_version"}
)  # fmt: skip
# Names of the base in code that is not in transformers: GPT-NeoX and nomic-ai's contrastors
# (rotary_emb_base), InternLM and phi (rotary_embedding_base), TensorRT-LLM (rotary_base), Apple's
# OpenELM (rope_freq_constant).
# Pairs of names in its source, of which one is that of a setting.
RENAMED = re.compile(r'"(\w+)": "(\w+)"')
WORD = re.compile(r"\w+")
ARGUMENT = re.compile(r'kwargs\.(?:pop|get)\("(\w+)"')
OTHER_BASES = ("rotary_emb_base", "rotary_embedding_base", "rotary_base", "rope_freq_constant")
FLOAT, FLOATS = "__float__", ("Infinity", "-Infinity", "NaN")
# Attributes of config classes, stored or computed.
LAYER_TYPES = ("layer_types", "layers_block_type", "attention_layers")


def completed_by_class(readable: ModelConfig) -> tuple[ModelConfig, str, tuple[str, ...]]:
    """A config and its nested configs, completed by the family's config class; why that class
    rejects it, "" otherwise; and the settings whose type it takes for another. Unchanged where it
    rejects it, and for a family that transformers does not have.

    A size under a name that the class does not know is kept, and no default takes its place under
    another name.
    """
    settings, refused, mended = _of_class(readable)
    if settings is None:
        return readable, refused, ()
    misread = {
        name
        for names in SIZES.values()
        for name in names
        if name not in readable and _is_misread(readable, names, settings.get(name))
    }
    kept = {name: settings[name] for name in settings if name not in misread}
    kept = {**_beside_class(readable.settings), **kept, **_with_base(kept, readable)}
    return replace(readable, settings=_with_window(kept, readable.settings)), refused, mended


def _with_base(resolved: Json, given: ModelConfig) -> Json:
    """The settings of a rotation with the base that is given under a name that the config class
    does not know, in place of its default.
    """
    base, rope = given.first(*OTHER_BASES), resolved.get("rope_parameters")
    is_given = given.first("rope_theta", default=given.rope.value("rope_theta")) is not None
    if base is None or is_given or not isinstance(rope, Mapping) or "rope_theta" not in rope:
        return {}
    return {"rope_parameters": {**rope, "rope_theta": base}}


def _with_window(resolved: Json, given: Json) -> Json:
    """``resolved``, and within it nested settings, with the window that is given for layers listed
    as windowed, where the config class drops it (that of Qwen 3, of a drafter with other code).
    """
    nested = {
        name: _with_window(value, given[name])
        for name, value in resolved.items()
        if isinstance(value, Mapping) and isinstance(given.get(name), Mapping)
    }
    kinds = resolved.get("layer_types")
    is_dropped = (
        resolved.get(WINDOW) is None
        and isinstance(given.get(WINDOW), int)
        and isinstance(kinds, list)
        and WINDOWED in kinds
    )
    return {**resolved, **nested, **({WINDOW: given[WINDOW]} if is_dropped else {})}


def with_query(settings: Json) -> Json:
    """``settings`` as code takes them that counts the query with a window of which the config class
    leaves it out.
    """
    name = WITHOUT_QUERY.get(str(settings.get("model_type")))
    if name is None or settings.get(name) is None:
        return settings
    others = {key: value for key, value in settings.items() if key != name}
    return {**others, WINDOW: settings[name]}


def is_ungated(config: ModelConfig) -> bool:
    """Whether layers are listed with a window that the config class of the family drops, since
    ``use_sliding_window`` is not true.
    """
    is_listed = WINDOWED in config.layer_types and config.integer(WINDOW) is not None
    return is_listed and not config.flag(GATE) and defaults(config.family).get(GATE) is False


def _is_misread(config: ModelConfig, names: Sequence[str], resolved_size: object) -> bool:
    """Whether a size is another than ``config`` gives under any of its ``names``, one of which the
    config class does not know.
    """
    given = [config.value(name) for name in names if config.value(name) is not None]
    return resolved_size is not None and bool(given) and resolved_size not in given


def is_known(family: str) -> bool:
    """Whether transformers has a config class for ``family``."""
    if family == UNKNOWN:
        return False  # Saves the import of transformers, which takes longer than all else.
    return family in config_classes()


def given(settings: Json) -> dict[str, Any]:
    """What the config class of a family is made from: without what it computes itself, which some
    classes do not let others set. A text model that names its family alone has the settings around
    it (Fuyu), in place of defaults of its class.
    """
    around = {name: value for name, value in settings.items() if not isinstance(value, Mapping)}
    has_sizes = any(name in around for name in SIZES["n_layers"])
    found = {}
    for name in settings.keys() - IRRELEVANT:
        value = _with_floats(settings[name])
        if isinstance(value, Mapping):
            is_bare = has_sizes and name in TEXT and set(value) == {"model_type"}
            value = given({**around, **value} if is_bare else value)
        found[name] = value
    return found


def _beside_class(settings: Json) -> dict[str, Any]:
    """Of a config with very many keys, those that its class does not name, nested configs apart,
    and that say nothing of position: without them the class takes no longer than for others.
    """
    if len(settings) <= MOST_KEYS:
        return {}
    named = _named(str(settings.get("model_type")))
    return {
        name: value
        for name, value in settings.items()
        if name not in named
        and not isinstance(value, Mapping)
        and not keys.may_matter((name,), value)
    }


@cache
def _named(model_type: str) -> frozenset[str]:
    """Every word in the source of a config class."""
    source = inspect.getsource(config_classes()[model_type]) if is_known(model_type) else ""
    return frozenset(WORD.findall(source)) | {"model_type"}


def _with_floats(value: Any) -> Any:
    """A value with floats where transformers 5 has {"__float__": "Infinity"}."""
    if isinstance(value, list):
        return [_with_floats(one) for one in value]
    is_float = isinstance(value, Mapping) and value.keys() == {FLOAT}
    return float(value[FLOAT]) if is_float and value[FLOAT] in FLOATS else value


def _of_class(readable: ModelConfig) -> tuple[Json | None, str, tuple[str, ...]]:
    """The settings as the config class gives them, with those whose type was mended, or None with
    the reason why it refuses them, "" for an unknown family.
    """
    family = readable.text("model_type")
    if family is None or not is_known(family):
        return None, "", ()
    beside = _beside_class(readable.settings)
    own = {name: value for name, value in readable.settings.items() if name not in beside}
    return _built(family, json.dumps(given(own), sort_keys=True, default=str))


@lru_cache(maxsize=8)
def _built(family: str, text: str) -> tuple[Json | None, str, tuple[str, ...]]:
    """As ``_of_class``, from settings as JSON."""
    settings = json.loads(text)
    if any(size > MOST_LAYERS for size in _depths(settings)):
        return None, f"more than {MOST_LAYERS:,} layers", ()
    refused, mended = "", list[str]()
    while len(mended) <= MOST_MENDED:
        try:
            with quietly(), _named_by_class():
                # Not by from_dict, which writes each config as text for a log, and for two families
                # needs timm; of a copy, since config classes change what they are made from.
                config = config_classes()[family](**json.loads(text))
                return _settings(config), "", tuple(mended)
        # Config classes validate in many ways, and raise exceptions of any class.
        except Exception as error:  # noqa: BLE001
            refused = refused or refusal(error, MOST_SHOWN)
            path, value = _of_its_type(settings, str(error))
            if not path:
                break
            settings = dict(keys.with_value(settings, path, value))
            text = json.dumps(settings)
            mended.append(keys.dotted(path))
    return None, refused, ()


def _of_its_type(settings: Json, refusal: str) -> tuple[keys.Path, Any]:
    """The path of the setting that a config class rejects for its type, and its value as another: a
    whole number as a float or the other way round, false as null; no path for any other refusal.
    """
    field = OF_TYPE.search(refusal)
    for path, value in keys.leaves(settings):
        if field is not None and path[-1] == field[1]:
            if value is False:
                return path, None
            if type(value) is int:
                return path, float(value)
            if isinstance(value, float) and value.is_integer():
                return path, int(value)
    return (), None


@contextmanager
def quietly() -> Iterator[None]:
    """In the block, transformers says nothing, and does not ask the Hub, as config classes that
    name a backbone may do.
    """
    from huggingface_hub import constants

    logger = logging.getLogger("transformers")
    before = logger.level, constants.HF_HUB_OFFLINE
    logger.setLevel(logging.CRITICAL)
    constants.HF_HUB_OFFLINE = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before[0])
        constants.HF_HUB_OFFLINE = before[1]


@contextmanager
def _named_by_class() -> Iterator[None]:
    """In the block, a config is its class in messages: those of the types that a nested one is not
    would hold all its settings, and take a tenth of the time that lint needs.
    """
    base: Any = light_transformers("configuration_utils").PreTrainedConfig
    before, base.__repr__ = base.__repr__, lambda config: type(config).__name__
    try:
        yield
    finally:
        base.__repr__ = before


def _depths(settings: Json) -> Iterator[int]:
    """Numbers of layers in ``settings`` and in nested ones."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _depths(value)
        elif (name in SIZES["n_layers"] or "layers" in name) and isinstance(value, int):
            yield value


def _settings(config: "PreTrainedConfig") -> Json:
    """Settings of a config object, with the kinds of its layers and their number even where it
    computes these.
    """
    nested = {name: value for name, value in vars(config).items() if hasattr(value, "to_dict")}
    alone = copy(config)
    vars(alone).update(dict.fromkeys(nested))  # Each is written once.
    settings = {name: value for name, value in alone.to_dict().items() if name not in IRRELEVANT}
    settings |= {name: _settings(value) for name, value in nested.items()}
    kinds = next(
        (
            value
            for name in LAYER_TYPES
            if isinstance(value := getattr(config, name, None), list | tuple) and value
        ),
        None,
    )
    if kinds is not None:
        settings["layer_types"] = [str(kind) for kind in kinds]
    for name in COMPUTED:
        with suppress(Exception):  # Some compute it from settings that differ by layer, and refuse.
            if isinstance(value := getattr(config, name, None), int):
                settings[name] = value
    return settings


def completed(config: ModelConfig, model_type: str | None = None) -> ModelConfig:
    """``config`` with the defaults of ``model_type``, or of its family, for missing settings.

    Any setting of a rotation in ``config`` replaces the default rotation, except for its bases.
    """
    default_settings = dict(defaults(config.family if model_type is None else model_type))
    if config.first(*ROPE, "rope_theta") is not None and isinstance(
        rope := default_settings.pop("rope_parameters", None), Mapping
    ):
        default_settings |= _bases(rope) if config.value("rope_parameters") is None else {}
    settings = {
        name: value
        for name, value in config.settings.items()
        if value is not None or name in NULLABLE
    }
    return ModelConfig({**default_settings, **settings}, config.where)


def _bases(rope: Json) -> Json:
    """The bases of a rotation, under the names of older configs."""
    full, local = (
        rope[kind] if isinstance(rope.get(kind), Mapping) else None
        for kind in ("full_attention", "sliding_attention")
    )
    main = rope if full is None else full
    bases = {
        name: main[name]
        for name in ("rope_theta", "partial_rotary_factor")
        if main.get(name) is not None
    }
    return bases | ({} if local is None else {"rope_local_base_freq": local["rope_theta"]})


@cache
def arguments(model_type: str) -> frozenset[str]:
    """Names that the config class of a family takes beside its settings, by its source; none of
    other families.
    """
    if not is_known(model_type):
        return frozenset()
    return frozenset(ARGUMENT.findall(inspect.getsource(config_classes()[model_type])))


def stored_as(model_type: str) -> Mapping[str, str]:
    """Names under which the config class of a family stores others."""
    return config_classes()[model_type].attribute_map if is_known(model_type) else {}


@cache
def renamed(model_type: str) -> frozenset[str]:
    """Names that the config class of a family takes for others, as ``arguments``."""
    if not is_known(model_type):
        return frozenset()
    pairs = RENAMED.findall(inspect.getsource(config_classes()[model_type]))
    return frozenset(name for pair in pairs for name in pair)


@cache
def defaults(model_type: str) -> Json:
    """The default settings of a family in transformers; empty for other families."""
    if not is_known(model_type):
        return {}
    try:
        with quietly():
            return _settings(config_classes()[model_type]())
    # A few families have no default config, and raise exceptions of any class.
    except Exception:  # noqa: BLE001
        return {}
