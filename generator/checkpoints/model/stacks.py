"""The stacks of layers in one config.json: the model itself, and nested ones for text, speech or a decoder."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from generator.checkpoints.model.families import AUDIO_ENCODERS, ENCODERS
from generator.contracts import Json, Modality, ModelConfig, StackKind
from generator.contracts.model_config import DEEPEST, ROPE

# Part and modality by key of config.json; image models are left to the schemes that read them.
NESTED: Mapping[str, tuple[str, Modality]] = {
    **dict.fromkeys(
        ("text_config", "language_config", "llm_config", "vlm_config", "thinker_config", "decoder", "decoder_config"), ("decoder", "text")
    ),
    **dict.fromkeys(("encoder", "encoder_config", "text_encoder"), ("encoder", "text")),
    **dict.fromkeys(("audio_config", "asr_config"), ("audio encoder", "audio")),
    "speech_config": ("speech encoder", "audio"),
    "dit_config": ("audio decoder", "audio"),
    "depth_decoder_config": ("depth decoder", "audio"),
    "global_config": ("global transformer", "text"),
    "talker_config": ("talker", "audio"),
}
NULLABLE = frozenset({"sliding_window"})  # Null overrides the default of the family.


@dataclass(frozen=True)
class Stack:
    """A stack of layers; ``config`` has the defaults of its family if it is a nested one."""

    part: str
    modality: Modality
    config: ModelConfig

    @property
    def kind(self) -> StackKind:
        """Whether it reads an input or generates an output; one config of both counts as the latter."""
        return "encoder" if self.part.endswith("encoder") else "decoder"


def stacks(config: ModelConfig) -> list[Stack]:
    """The stack of the config itself, then those of nested configs, outer ones first."""
    level = [_stack(config, "decoder", "text")]
    stack_list = list(level)
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _nested(outer)]
        stack_list += level
    return stack_list


def _nested(outer: Stack) -> list[Stack]:
    sections = ((part, modality, outer.config.section(name)) for name, (part, modality) in NESTED.items())
    return [_stack(completed(inner), part, modality) for part, modality, inner in sections if inner is not None]


def _stack(config: ModelConfig, part: str, modality: Modality) -> Stack:
    """The stack of ``config``; ``part`` and ``modality`` are defaults, which its settings and its family override."""
    if config.is_encoder_decoder:
        return Stack("encoder and decoder", modality, config)
    is_encoder = config.family in ENCODERS or config.family.endswith("encoder")
    is_of_audio = config.family in AUDIO_ENCODERS or (is_encoder and not {"audio", "speech"}.isdisjoint(config.family.split("_")))
    return Stack("encoder" if is_encoder and part == "decoder" else part, "audio" if is_of_audio else modality, config)


def completed(config: ModelConfig, model_type: str | None = None) -> ModelConfig:
    """``config`` with the defaults of ``model_type``, or of its family, for missing settings.

    Any setting of a rotation in ``config`` replaces the default rotation, except for its bases.
    """
    default_settings = dict(defaults(config.family if model_type is None else model_type))
    if config.first(*ROPE, "rope_theta") is not None and isinstance(rope := default_settings.pop("rope_parameters", None), Mapping):
        default_settings |= _bases(rope) if config.value("rope_parameters") is None else {}
    settings = {name: value for name, value in config.settings.items() if value is not None or name in NULLABLE}
    return ModelConfig({**default_settings, **settings}, config.where)


def _bases(rope: Json) -> Json:
    """The bases of a rotation, under the names of older configs."""
    full, local = (rope[kind] if isinstance(rope.get(kind), Mapping) else None for kind in ("full_attention", "sliding_attention"))
    main = rope if full is None else full
    bases = {name: main[name] for name in ("rope_theta", "partial_rotary_factor") if main.get(name) is not None}
    return bases | ({} if local is None else {"rope_local_base_freq": local["rope_theta"]})


@cache
def defaults(model_type: str) -> Json:
    """The default settings of a family in transformers; empty for other families."""
    from transformers import CONFIG_MAPPING

    if model_type not in CONFIG_MAPPING:
        return {}
    try:
        return dict(CONFIG_MAPPING[model_type]().to_dict())
    except Exception:  # noqa: BLE001  # A few families have no default config, and raise exceptions of any class.
        return {}
