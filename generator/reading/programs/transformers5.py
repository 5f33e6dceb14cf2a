"""transformers 5, in whose words this program reads every config.json."""

from generator.checkpoints.model.resolved import OTHER_BASES, arguments, is_known
from generator.contracts import ConfigReader, Json


def takes(settings: Json) -> Json | None:
    """The file itself, unless its base has a name that other code alone knows."""
    family = str(settings.get("model_type"))
    is_of_other_code = not settings.keys().isdisjoint(OTHER_BASES) and not arguments(family)
    return settings if is_known(family) and not is_of_other_code else None


READER = ConfigReader(
    key="transformers5",
    name="transformers",
    version="5",
    read_on="2026-11-29",
    source="src/transformers/modeling_rope_utils.py, standardize_rope_params, and each class",
    is_run=True,
    takes=takes,
)
