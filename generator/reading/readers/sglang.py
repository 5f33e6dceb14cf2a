"""SGLang, which has transformers 5 read config.json."""

from generator.checkpoints.model.resolved import OTHER_BASES, arguments, is_known
from generator.contracts import Json, Reader


def takes(settings: Json) -> Json | None:
    """What transformers 5 does, unless the base has a name that other code alone knows."""
    family = str(settings.get("model_type"))
    is_of_other_code = not settings.keys().isdisjoint(OTHER_BASES) and not arguments(family)
    return settings if is_known(family) and not is_of_other_code else None


READER = Reader(
    key="sglang",
    name="SGLang",
    version="0.5.23",
    read_on="2026-11-29",
    source="python/sglang/srt/utils/hf_transformers/common.py, get_rope_config",
    is_run=False,
    takes=takes,
)
