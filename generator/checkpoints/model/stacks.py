"""The models that one config.json describes: the whole, and those nested in it for text, speech or a decoder."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from generator.checkpoints.model.config_json import family
from generator.contracts import Json

# Where nested configs stand, and what their part is called. Those for images are left to others.
NESTED = {
    **dict.fromkeys(
        ("text_config", "language_config", "llm_config", "vlm_config", "thinker_config", "decoder", "decoder_config"), "decoder"
    ),
    **dict.fromkeys(("encoder", "encoder_config", "text_encoder"), "encoder"),
    **dict.fromkeys(("audio_config", "asr_config"), "audio encoder"),
    "speech_config": "speech encoder",
    "dit_config": "audio decoder",
    "depth_decoder_config": "depth decoder",
    "global_config": "global transformer",
    "talker_config": "talker",
}
ENCODERS = frozenset(
    {"modernbert", "esm", "esmc", "nomic_bert", "roformer", "eurobert", "gte", "neomme", "ultrabert", "jina_embeddings_v3",
     "openai_privacy_filter", "wav2vec2-conformer", "wav2vec2-bert", "new", "neobert", "xlm-roberta-flash"}
)  # fmt: skip
ROPE = ("rope_parameters", "rope_scaling", "rope_theta")
NONE_SAYS = frozenset({"sliding_window"})  # None is an answer here, whatever the family's default.
DEEPEST = 4


@dataclass(frozen=True)
class Tower:
    """A stack of layers: the part it plays, and what is said of it, its family's defaults included."""

    part: str
    config: Json


def towers(config: Json) -> list[Tower]:
    """The whole first, then what is nested in it, each after the one that it stands in."""
    level = [Tower(_part(config, "decoder"), config)]
    found = list(level)
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _nested(outer)]
        found += level
    return found


def _nested(outer: Tower) -> list[Tower]:
    named = ((part, outer.config.get(key)) for key, part in NESTED.items())
    return [Tower(_part(value, part), completed(value)) for part, value in named if isinstance(value, Mapping)]


def _part(config: Json, usual: str) -> str:
    if config.get("is_encoder_decoder") is True:
        return "encoder and decoder"
    return "encoder" if usual == "decoder" and (family(config) in ENCODERS or family(config).endswith("encoder")) else usual


def completed(config: Json) -> Json:
    """``config`` with its family's defaults: a nested config holds only what differs from them.

    A default rotation gives way to any word on it in ``config``, except for the bases.
    """
    usual = dict(defaults(family(config)))
    if any(config.get(key) is not None for key in ROPE) and isinstance(rope := usual.pop("rope_parameters", None), Mapping):
        whole = rope["full_attention"] if isinstance(rope.get("full_attention"), Mapping) else rope
        local = rope.get("sliding_attention")
        older = config.get("rope_parameters") is None
        usual |= {key: whole[key] for key in ("rope_theta", "partial_rotary_factor") if older and whole.get(key) is not None}
        usual |= {"rope_local_base_freq": local["rope_theta"]} if older and isinstance(local, Mapping) else {}
    return usual | {key: value for key, value in config.items() if value is not None or key in NONE_SAYS}


@cache
def defaults(model_type: str) -> Json:
    """What transformers takes where the config.json of this family is silent; nothing for a family that it does not know."""
    from transformers import CONFIG_MAPPING

    if model_type not in CONFIG_MAPPING:
        return {}
    try:
        return dict(CONFIG_MAPPING[model_type]().to_dict())
    except Exception:  # noqa: BLE001  # A few families have no default config; what they raise is theirs to choose.
        return {}
