"""What the box of facts on a checkpoint's page says of its config."""

from collections.abc import Mapping

from generator.contracts import Fact, ModelConfig
from generator.contracts.model_config import SIZES, Size

TITLES: Mapping[Size, str] = {
    "d_model": "Hidden size",
    "n_layers": "Layers",
    "n_heads": "Attention heads",
    "n_positions": "Configured positions",
    "vocab_size": "Vocabulary",
}


def facts(config: ModelConfig) -> tuple[Fact, ...]:
    """The family and every size that the config has.

    errors: RowError where a size is no whole number from 1 to 2^31
    """
    sizes = [(title, _by_stage(config, name) or config.size(name)) for name, title in TITLES.items()]
    return (Fact("Family", config.family), *(Fact(title, value) for title, value in sizes if value is not None))


def _by_stage(config: ModelConfig, name: Size) -> str | None:
    """The sizes one after the other, where a config gives one for each stage (Swin's heads)."""
    value = config.first(*SIZES[name])
    is_listed = isinstance(value, list) and all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in value)
    return ", ".join(f"{each}" for each in value) if is_listed and value else None
