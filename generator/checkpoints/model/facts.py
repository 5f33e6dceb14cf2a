"""The box of facts on the page of a checkpoint, from config.json."""

from collections.abc import Iterable, Mapping

from generator.checkpoints.model.families_by_name import family_of
from generator.contracts import Encoding, Fact, ModelConfig, Resolved, usable_length
from generator.contracts.model_config import SIZES, Size
from generator.encodings import Form

TITLES: Mapping[Size, str] = {
    "d_model": "Hidden size",
    "n_layers": "Layers",
    "n_heads": "Attention heads",
    "n_positions": "Configured context",
    "vocab_size": "Vocabulary",
}


STAGES = "depths"  # Layers of each stage, in configs of models whose stages differ in width.
OF_FIRST_STAGE = "embed_dim"


def facts(resolved: Resolved, encodings: Iterable[Encoding[Form]]) -> tuple[Fact, ...]:
    """The model family, and every size in the config, as its config class understands it; a context
    only where config.json gives one, as far as the tables among the ``encodings`` go.

    errors: RowError when a size is not a whole number from 1 to 2^31
    """
    given, whole = resolved.given, resolved.config
    configs = {name: given if name == "n_positions" else whole for name in TITLES}
    sizes = [
        (title, _by_stage(configs[name], name) or configs[name].size(name))
        for name, title in TITLES.items()
    ]
    return (
        Fact("Family", family_of(resolved)),
        *(
            Fact(title, _usable(title, value, encodings))
            for title, value in sizes
            if value is not None
        ),
    )


def _usable(title: str, value: int | str, encodings: Iterable[Encoding[Form]]) -> int | str:
    """The value of a size; of the context, the positions that a text may have."""
    is_context = title == TITLES["n_positions"] and isinstance(value, int)
    length = usable_length(int(value), encodings) if is_context else None
    return value if length is None else length


def _by_stage(config: ModelConfig, name: Size) -> str | None:
    """The sizes of all stages, where a config has a list of them (the heads of Swin), or a size
    that is that of the first stage alone.
    """
    stages = _listed(config.value(STAGES))
    if name == "n_layers" and stages:
        return stages
    value = config.first(*SIZES[name])
    is_of_first = isinstance(value, int) and value == config.value(OF_FIRST_STAGE)
    if name == "d_model" and stages and is_of_first:
        return f"{config.size(name)} in the first stage"
    return _listed(value)


def _listed(value: object) -> str | None:
    """A list of sizes as text."""
    if not isinstance(value, list) or not value:
        return None
    is_of_sizes = all(type(size) is int and size > 0 for size in value)
    return ", ".join(map(str, value)) if is_of_sizes else None
