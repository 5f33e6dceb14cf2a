"""Configs that name a class with one part of the model that their family describes: the encoder or
the decoder alone, or the tower of one modality.
"""

import re
from functools import cache

from generator.checkpoints.model.resolved import resolved
from generator.contracts import Encoding, ModelConfig, StackKind
from generator.encodings import Form
from generator.libraries import config_classes, light_transformers

# Names of classes of transformers; T5 labels tokens, and Whisper clips, by the encoder alone.
ONE_SIDE: dict[StackKind, re.Pattern[str]] = {
    "encoder": re.compile(r"(Encoder|EncoderModel|ForTokenClassification|ForAudioClassification)$"),
    "decoder": re.compile(r"(Decoder|DecoderModel|ForCausalLM)$"),
}
PROJECTED = "WithProjection"  # A tower with one more matrix.
TOWER = re.compile(r"(Text|Vision|Audio|Speech)Model$")
OF_IMAGES = "ForImageClassification"  # Of CLIP and SigLIP, by the tower of images alone.
BOTH_TOWERS = ("text_config", "vision_config")


def side_alone(config: ModelConfig) -> StackKind | None:
    """The side that the class named in ``config`` has, of a family with encoder and decoder; None
    where it has both, or names no class.
    """
    if not config.is_encoder_decoder:
        return None
    return next(
        (side for side, names in ONE_SIDE.items() if names.search(_class_name(config))), None
    )


def is_of_class(config: ModelConfig, encoding: Encoding[Form]) -> bool:
    """Whether the named class has the side of an encoding that no stored tensor shows."""
    side = side_alone(resolved(config).config)
    return side is None or encoding.provenance.tensor is not None or encoding.stack == side


def of_tower(config: ModelConfig) -> ModelConfig:
    """The nested config of the tower that the class named in ``config`` consists of, as
    ``from_pretrained`` of that class takes it; ``config`` itself where it names no such class.
    """
    name = _class_name(config).removesuffix(PROJECTED)
    if not name or not any(key.endswith("_config") for key in config.settings):
        return config
    classes = config_classes()
    if config.family not in classes:
        return config
    types = _types(name)
    nested = classes[config.family].sub_configs
    if config.family in types and not (
        name.endswith(OF_IMAGES) and set(BOTH_TOWERS) <= nested.keys()
    ):
        return config
    tower = TOWER.search(name.replace(OF_IMAGES, "VisionModel"))
    named = f"{tower[1].lower()}_config" if tower else ""
    for key, nested_class in nested.items():
        section = config.section(key)
        if section is None:
            continue
        model_type = section.text("model_type") or getattr(nested_class, "model_type", "")
        if key == named or model_type in types:
            return section.updated({"model_type": model_type})
    return config


def _class_name(config: ModelConfig) -> str:
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
