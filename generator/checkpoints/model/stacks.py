"""The stacks of layers in one config.json: the model itself, and nested ones for text, speech or a
decoder.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from generator.checkpoints.model.diffusion_transformers import CROPPED, ROTATED
from generator.checkpoints.model.families import (
    CAUSAL_ENCODERS,
    ENCODERS,
    OF_IMAGES,
    OF_SOUND,
    OTHER_SENSES,
    PREFIX_ALONE,
)
from generator.checkpoints.model.families_by_name import parts_beside
from generator.checkpoints.model.family_formats import FORMATS, translated
from generator.checkpoints.model.halves import side_alone
from generator.checkpoints.model.layers import layers
from generator.checkpoints.model.own_families import own_families
from generator.checkpoints.model.resolved import completed_by_class, is_known
from generator.contracts import Json, Modality, ModelConfig, Resolved, Stack, StackKind, own
from generator.contracts.model_config import DEEPEST, SIZES, UNKNOWN
from generator.errors import RefusedError
from generator.libraries import config_classes, light_transformers
from generator.text import short

APART = "diarization"  # Has an encoder of its own beside that of the whole.
# Part and modality by key of config.json; image models are left to the schemes that read them.
NESTED: Mapping[str, tuple[str, Modality]] = {
    **dict.fromkeys(
        (
            "text_config",
            "language_config",
            "llm_config",
            "vlm_config",
            "thinker_config",
            "decoder",
            "decoder_config",
        ),
        ("decoder", "text"),
    ),
    **dict.fromkeys(("encoder", "encoder_config", "text_encoder"), ("encoder", "text")),
    **dict.fromkeys(("audio_config", "asr_config"), ("audio encoder", "audio")),
    "speech_config": ("speech encoder", "audio"),
    "dit_config": ("audio decoder", "audio"),
    "depth_decoder_config": ("depth decoder", "audio"),
    "global_config": ("global transformer", "text"),
    "patcher_config": ("patcher", "text"),
    "talker_config": ("talker", "audio"),
    "code_predictor_config": ("code predictor", "audio"),
    "token2wav_config": ("vocoder", "audio"),
    **dict.fromkeys(("codec_config", "audio_encoder_config"), ("codec", "audio")),
    "diarization_config": (APART, "audio"),
    "word_timestamp_config": ("word timestamp encoder", "audio"),
    "audio_video_config": ("audio and video encoder", "audio"),
    "video_config": ("video encoder", "image"),
    "esmc_config": ("encoder", "text"),
    "protein_encoder_config": ("protein encoder", "text"),
}
# Settings without which a nested config is of nothing.
SWITCHES = {"patcher_config": "patch_in_forward"}
# Parts of a config whose text model is no part of another one.
WHOLE = frozenset({"decoder", "encoder and decoder", "transformer", "vision"})
# Keys of nested configs that are decoders whatever their family.
DECODERS = ("decoder", "decoder_config")
# Of the local encoder and decoder of BLT (arXiv 2412.09871), in the config around them.
LOCAL_WINDOW = "local_attention_window_len"
# Nested configs of no stack of layers with positions.
NO_STACK = re.compile(r"projector|connector|adapter|merger|quant|generation|rope|moe")
# Sizes by which a nested config is one of layers.
LAYERED = (*SIZES["n_layers"], *SIZES["n_heads"])
# Settings, with the value for attention to both sides.
BOTH_SIDES = (("use_bidirectional_attention", True), ("is_causal", False))
SOUND = frozenset({"audio", "speech"})  # Words in names of families.
Holds = Callable[[ModelConfig, str], bool]


def is_encoder_family(family: str) -> bool:
    """Whether positions see those after them, by what the family is trained for in transformers, or
    by its name.
    """
    if family == UNKNOWN:
        return False
    auto = light_transformers("models.auto.modeling_auto")
    trained = (
        auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.keys() | auto.MODEL_FOR_CTC_MAPPING_NAMES.keys()
    )
    return family in trained or family in ENCODERS or family.endswith("encoder")


def _is_of_sound(config: ModelConfig) -> bool:
    return "num_mel_bins" in config or config.family in OF_SOUND


def _is_of_patches(config: ModelConfig) -> bool:
    has_size = "patch_size" in config or "image_size" in config
    is_of_images = config.family in OF_IMAGES or config.family in ROTATED
    return is_of_images or ("vocab_size" not in config and has_size)


def _is_of_images(config: ModelConfig, part: str) -> bool:
    """Whether it is a model of images alone, by itself or as the encoder of another model."""
    is_whole = part in ("decoder", "encoder")
    return is_whole and _is_of_patches(config) and not _is_of_sound(config)


def _is_encoder(config: ModelConfig) -> bool:
    """Whether its family is one of encoders, and no setting makes a decoder of it."""
    is_trained = is_encoder_family(config.family) and config.flag("is_decoder") is not True
    return is_trained or _is_of_patches(config)


def _looks_ahead(config: ModelConfig) -> bool | None:
    """Whether positions see those after them, as a setting or the family says; None where neither
    does.
    """
    flags = () if config.family in PREFIX_ALONE else BOTH_SIDES
    configured = (flag == sees for name, sees in flags if (flag := config.flag(name)) is not None)
    return next(configured, False if config.family in CAUSAL_ENCODERS else None)


@dataclass(frozen=True)
class StackRule:
    """What part of a model a stack is, under a condition.

    holds: of its config, and of the part that the key of a nested config names, “decoder” for a
        whole one
    part: None for that part; settings: those of the stack that differ from its config's
    """

    reason: str
    holds: Holds
    part: str | None
    kind: StackKind
    settings: Json = field(default_factory=dict)


# The first that holds says what a stack is.
STACKS = (
    StackRule("the named class is the encoder alone",
              lambda config, _: side_alone(config) == "encoder", "encoder", "encoder",
              {"is_encoder_decoder": False, "is_decoder": False}),
    StackRule("the named class is the decoder alone",
              lambda config, _: side_alone(config) == "decoder", "decoder", "decoder",
              {"is_encoder_decoder": False, "is_decoder": True}),
    StackRule("another model has its encoder",  # As that of a T5.
              lambda config, part: config.is_encoder_decoder and part.endswith("encoder"),
              None, "encoder", {"is_encoder_decoder": False}),
    StackRule("an encoder and a decoder",
              lambda config, _: config.is_encoder_decoder, "encoder and decoder", "decoder"),
    StackRule("a transformer of diffusers",  # As a part of a pipeline is named.
              lambda config, part: part == "decoder" and config.family in ROTATED,
              "transformer", "encoder"),
    StackRule("a model of images",
              lambda config, part: part == "decoder" and _is_of_images(config, part),
              "vision", "encoder"),
    StackRule("an encoder of images", _is_of_images, None, "encoder"),
    StackRule("a model that looks ahead",
              lambda config, part: part == "decoder" and _looks_ahead(config) is True,
              "encoder", "encoder"),
    StackRule("a part that looks ahead",
              lambda config, _: _looks_ahead(config) is True, None, "encoder"),
    StackRule("an encoder that does not look ahead",
              lambda config, part: (
                  part == "decoder" and _is_encoder(config) and _looks_ahead(config) is False
              ),
              "encoder", "decoder"),
    StackRule("a part that does not look ahead",
              lambda config, _: _looks_ahead(config) is False, None, "decoder"),
    StackRule("a family of encoders",
              lambda config, part: part == "decoder" and _is_encoder(config),
              "encoder", "encoder"),
    StackRule("a part named encoder", lambda _, part: part.endswith("encoder"), None, "encoder"),
    StackRule("any other", lambda *_: True, None, "decoder"),
)  # fmt: skip
# The first that holds says of what its positions are; None for what the key of a nested config
# says, or else text.
MODALITIES: Mapping[str, tuple[Holds, Modality | None]] = {
    "an encoder and a decoder, or one of them": (lambda config, _: config.is_encoder_decoder, None),
    "a model of images": (_is_of_images, "image"),
    "a model of sound": (lambda config, _: _is_of_sound(config), "audio"),
    "an encoder with the name of sound": (
        lambda config, _: _is_encoder(config) and not SOUND.isdisjoint(config.family.split("_")),
        "audio",
    ),
}


def resolved(config: ModelConfig) -> Resolved:
    """What ``config`` says, as the code of its family understands it."""
    readable = translated(config)
    whole, refused, mended = completed_by_class(readable)
    level = [replace(_stack(whole, "decoder", "text", refused), mended=mended)]
    stacks = list(level)
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _nested(outer)]
        stacks += level
    return Resolved(
        config, readable, whole, refused, side_alone(whole), tuple(map(_with_layers, stacks))
    )


def _with_layers(stack: Stack) -> Stack:
    """``stack`` with its layers, and with what is known of the code of its family."""
    family = stack.config.family
    named = family if family in ROTATED else ""
    default_of = config_classes()[family].__name__ if is_known(family) else named
    return replace(stack, default_of=default_of, has_code=has_code(family), layers=layers(stack))


def unknown_parts(config: ModelConfig) -> list[tuple[str, str]]:
    """Nested configs of layers that no known code reads, by their paths, with their families;
    none within a config that transformers or this atlas knows.
    """
    family = translated(config).family
    if has_code(family):
        return [(path, UNKNOWN) for path in parts_beside(config, family)]
    parts = []
    for name, section in config.sections.items():
        if has_code(translated(section).family) or NO_STACK.search(name):
            continue
        if section.family != UNKNOWN or any(size in section for size in LAYERED):
            parts.append((name, section.family))
        parts += [(f"{name}.{inner}", family) for inner, family in unknown_parts(section)]
    return parts


def has_code(family: str) -> bool:
    """Whether transformers or diffusers has the code of ``family``, or this atlas its settings."""
    return family in own_families() or has_shipped_code(family)


def has_shipped_code(family: str) -> bool:
    """As ``has_code``, without the families of the file beside the list."""
    return family in FORMATS or family in CROPPED or is_known(family)


def check_own_families() -> None:
    """errors: RefusedError with every problem of the file beside the list, also where it has a
    family whose code is known
    """
    if known := [family for family in own_families() if has_shipped_code(family)]:
        raise RefusedError(
            *(f"{own.families()}: found {short(family)!r}, whose code is known; expected families"
              " that transformers and this program do not have" for family in known)
        )  # fmt: skip


def _nested(outer: Stack) -> list[Stack]:
    """The stacks nested directly in ``outer``, whose config class has resolved theirs unless it is
    unknown or refused them.
    """
    is_resolved = is_known(outer.config.family) and not outer.refused
    nested = []
    others = () if is_known(outer.config.family) else known_parts(outer.config)
    named = {**dict.fromkeys(others, NESTED["text_config"]), **NESTED}
    for name, (part, modality) in named.items():
        is_off = outer.config.flag(SWITCHES.get(name, "")) is False
        is_other = (outer.config.family, name) in OTHER_SENSES
        section = None if is_off or is_other else outer.config.section(name)
        if section is not None:
            config, refused, mended = (
                (section, "", ()) if is_resolved else completed_by_class(translated(section))
            )
            if name in DECODERS:  # Settings that its config leaves out.
                window = outer.config.count(LOCAL_WINDOW)
                left_out = {"is_decoder": True, "sliding_window": window}
                config = config.updated({k: v for k, v in left_out.items() if v is not None})
            is_inner = part == "decoder" and name not in DECODERS and outer.part not in WHOLE
            title = f"{outer.part} {part}" if outer.part == APART else part
            titles = (outer.part, outer.modality) if is_inner else (title, modality)
            stack = _stack(config, *titles, refused)
            if name not in NESTED and stack.part in ("decoder", "encoder"):
                stack = replace(stack, part=name.removesuffix("_config").replace("_", " "))
            within = (*outer.within, outer.config.family)
            nested.append(replace(stack, mended=mended, within=within))
    return nested


def known_parts(config: ModelConfig) -> list[str]:
    """The keys of nested configs that have a model type with known code."""
    return [
        name
        for name, section in config.sections.items()
        if has_code(translated(section).family) and not NO_STACK.search(name)
    ]


def _stack(config: ModelConfig, part: str, modality: Modality, refused: str = "") -> Stack:
    """The stack of ``config``; ``part`` and ``modality`` are defaults, which its settings and its
    family override.
    """
    # Some say that they are encoder and decoder (Dia, Canary).
    if config.family.endswith("_decoder"):
        config = config.updated({"is_encoder_decoder": False})
    rule = next(rule for rule in STACKS if rule.holds(config, part))
    named = next((of for holds, of in MODALITIES.values() if holds(config, part)), None)
    return Stack(
        rule.part or part, rule.kind, named or modality, config.updated(rule.settings), refused
    )
