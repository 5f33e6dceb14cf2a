"""SGLang, which has transformers 5 read config.json."""

from collections.abc import Mapping, Sequence
from typing import Any

from generator.checkpoints.model.resolved import OTHER_BASES, arguments, is_known, stored_as
from generator.contracts import ConfigReader, Json
from generator.contracts.model_config import TEXT
from generator.encodings.rotations import yarn_factor

# The first that is there counts.
LENGTHS = (
    "max_sequence_length", "seq_length", "max_seq_len", "model_max_length",
    "max_position_embeddings",
)  # fmt: skip
WITHOUT_LENGTH = 2048
ORIGINAL = "original_max_position_embeddings"
# Families whose code gives no layer a window.
WITHOUT_WINDOWS = frozenset(
    {"ministral3", "mistral", "mixtral", "phi3", "phimoe", "qwen2", "qwen2_moe", "qwen3",
     "qwen3_moe", "starcoder2"}
)  # fmt: skip


def takes(settings: Json) -> Json | None:
    """What transformers 5 does but for YaRN's magnitude, unless the base has a name that other code
    alone knows.
    """
    family = str(settings.get("model_type"))
    is_of_other_code = not settings.keys().isdisjoint(OTHER_BASES) and not arguments(family)
    return _with_magnitude(settings) if is_known(family) and not is_of_other_code else None


def _with_magnitude(settings: Json) -> Json:
    """Settings whose blocks of YaRN, at any depth, have the factor on sine and cosine that it takes
    in place of theirs: ``attn_factor`` times what follows from the rest.
    """
    found: dict[str, Any] = {
        name: _with_magnitude(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
    }
    if "yarn" in (settings.get("rope_type"), settings.get("type")):
        found.pop("attention_factor", None)
        if (times := found.get("attn_factor", 1.0)) != 1.0:
            found["attention_factor"] = times * _magnitude(found)
    return found


def _magnitude(block: Json) -> float:
    shares: Any = block.get("mscale"), block.get("mscale_all_dim")
    one, other = (1.0, 0.0) if None in shares else shares
    return yarn_factor(block["factor"], one) / yarn_factor(block["factor"], other)


def limit(config: Json, blocks: Sequence[Json]) -> int:  # noqa: ARG001 (those of each rotation)
    """The length times the factor of a scaling without an original length; of several rotations,
    which have a section each, it sees no factor.
    """
    block: Any = config.get("rope_parameters") or config.get("rope_scaling") or {}
    is_in_length = ORIGINAL in block or block.get("rope_type") == "llama3"
    factor = 1.0 if is_in_length else block.get("factor") or 1.0
    names = stored_as(str(config.get("model_type")))
    values = (config.get(names.get(name, name)) for name in LENGTHS)
    given = next((value for value in values if value is not None), None)
    return WITHOUT_LENGTH if given is None else int(factor * given)


def has_windows(settings: Json) -> bool:
    """Not where the code of the family, or of its text model, knows none."""
    inner = next((settings[n] for n in TEXT if isinstance(settings.get(n), Mapping)), settings)
    return str(inner.get("model_type", settings.get("model_type"))) not in WITHOUT_WINDOWS


READER = ConfigReader(
    key="sglang",
    name="SGLang",
    version="0.5.23",
    read_on="2026-11-30",
    source="python/sglang/srt/utils/hf_transformers/common.py, get_rope_config and"
    " get_context_length; layers/rotary_embedding/factory.py, get_rope, and yarn.py;"
    " models/llama.py, mixtral.py, phimoe.py, qwen2.py, qwen2_moe.py, qwen3.py, qwen3_moe.py"
    " and starcoder2.py",
    is_run=False,
    takes=takes,
    limit=limit,
    has_windows=has_windows,
)
