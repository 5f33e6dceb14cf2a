"""SGLang, which has transformers 5 read config.json."""

from collections.abc import Sequence
from typing import Any

from generator.checkpoints.model.resolved import OTHER_BASES, arguments, is_known
from generator.contracts import ConfigReader, Json

# The first that is there counts.
LENGTHS = (
    "max_sequence_length", "seq_length", "max_seq_len", "model_max_length",
    "max_position_embeddings",
)  # fmt: skip
WITHOUT_LENGTH = 2048
ORIGINAL = "original_max_position_embeddings"


def takes(settings: Json) -> Json | None:
    """What transformers 5 does, unless the base has a name that other code alone knows."""
    family = str(settings.get("model_type"))
    is_of_other_code = not settings.keys().isdisjoint(OTHER_BASES) and not arguments(family)
    return settings if is_known(family) and not is_of_other_code else None


def limit(config: Json, blocks: Sequence[Json]) -> int:  # noqa: ARG001 (those of each rotation)
    """The length times the factor of a scaling without an original length; of several rotations,
    which have a section each, it sees no factor.
    """
    block: Any = config.get("rope_parameters") or config.get("rope_scaling") or {}
    is_in_length = ORIGINAL in block or block.get("rope_type") == "llama3"
    factor = 1.0 if is_in_length else block.get("factor") or 1.0
    given = [config[name] for name in LENGTHS if config.get(name) is not None]
    return int(factor * given[0]) if given else WITHOUT_LENGTH


READER = ConfigReader(
    key="sglang",
    name="SGLang",
    version="0.5.23",
    read_on="2026-11-29",
    source="python/sglang/srt/utils/hf_transformers/common.py, get_rope_config and"
    " get_context_length",
    is_run=False,
    takes=takes,
    limit=limit,
)
