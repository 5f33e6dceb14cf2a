"""vLLM, which has transformers 5 read config.json and mends older names in what it gets."""

from collections.abc import Iterator, Mapping

from generator.checkpoints.model.resolved import is_known
from generator.contracts import Json, Reader
from generator.contracts.model_config import ROPE
from generator.errors import RowError

# Its names for the same, the first that the file has counts.
NAMES = {
    "rope_theta": ("rope_theta", "rotary_emb_base"),
    "partial_rotary_factor": ("partial_rotary_factor", "rotary_pct", "rotary_emb_fraction"),
}
ALIKE = frozenset({("su", "longrope"), ("mrope", "default")})


def takes(settings: Json) -> Json | None:
    """Base and share may have older names.

    errors: RowError for two kinds of scaling in one block
    """
    if not is_known(str(settings.get("model_type"))):
        return None
    for block in _blocks(settings):
        kinds = block.get("type"), block.get("rope_type")
        if None not in kinds and kinds[0] != kinds[1] and kinds not in ALIKE:
            raise RowError(f"rope_type is {kinds[1]} beside type {kinds[0]}")
        if "mrope" in kinds and "mrope_section" not in block:
            raise RowError("mrope has no mrope_section")
    mended = {
        name: settings[given[0]]
        for name, names in NAMES.items()
        if (given := [one for one in names if settings.get(one) is not None])
    }
    return {**settings, **mended}


def _blocks(settings: Json) -> Iterator[Json]:
    """Settings of its rotations, and of those in nested configs."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and name in ROPE:
            yield value
            yield from (one for one in value.values() if isinstance(one, Mapping))
        elif isinstance(value, Mapping) and name.endswith("_config"):
            yield from _blocks(value)


READER = Reader(
    key="vllm",
    name="vLLM",
    version="0036026e",
    read_on="2026-11-29",
    source="vllm/transformers_utils/config.py, patch_rope_parameters and patch_legacy_rope_type",
    is_run=False,
    takes=takes,
)
