"""What a config.json says, under the several names that model families use for the same thing."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from generator.contracts import Fact, Json
from generator.errors import RowError

NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "d_model": ("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "word_embed_proj_dim"),
        "n_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "encoder_num_hidden_layers"),
        "n_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "encoder_num_attention_heads"),
        "n_positions": ("max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_seq_len"),
        "vocab_size": ("vocab_size",),
    }
)
TEXT = ("text_config", "language_config", "llm_config", "thinker_config")  # Where a model of several parts keeps its text model's.
LARGEST = 2**31
LARGEST_REAL = 1e15
TITLES = {
    "d_model": "Hidden size",
    "n_layers": "Layers",
    "n_heads": "Attention heads",
    "n_positions": "Configured positions",
    "vocab_size": "Vocabulary",
}


def text(config: Json) -> Json:
    """What is said of the text model: the config nested in ``config`` for it, however deep, or ``config`` itself."""
    inner: Json | None = config
    while inner is not None:
        config, inner = inner, next((inner[key] for key in TEXT if isinstance(inner.get(key), Mapping)), None)
    return config


def find_value(config: Json, key: str) -> Any:
    """The value of ``key`` in ``config``, else in its text model's, else in any other config nested in it; None where there is none."""
    places = (config, text(config), *(value for value in config.values() if isinstance(value, Mapping)))
    return next((place[key] for place in places if place.get(key) is not None), None)


def number(config: Json, what: str, where: str) -> int | None:
    """The whole number called ``what`` in NAMES, of the whole or of its text model, or None where the config has none.

    errors: RowError when it is there and is not a whole number from 1 to 2^31
    """
    for place in (config, text(config)):
        for name in NAMES[what]:
            if (value := place.get(name)) is not None:
                return whole(value, f"{where}: {name}")
    return None


def needed(config: Json, what: str, where: str) -> int:
    """As ``number``.

    errors: RowError also when the config has no such number
    """
    value = number(config, what, where)
    if value is None:
        raise RowError(f"{where}: config.json has none of {', '.join(NAMES[what])}; expected one")
    return value


def whole(value: object, where: str) -> int:
    """``value`` as an int; 2048.0, as some configs write it, is one.

    errors: RowError unless it is a whole number from 1 to 2^31
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
        raise RowError(f"{where} is {value!r:.60}; expected a whole number from 1 to {LARGEST:,}")
    return value


def positive(value: object, where: str) -> float:
    """``value`` as a float.

    errors: RowError unless it is a number above 0, and not beyond all measure
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < LARGEST_REAL:
        raise RowError(f"{where} is {value!r:.60}; expected a positive number")
    return float(value)


def family(config: Json) -> str:
    """The model type, or an honest "unknown"."""
    value: Any = config.get("model_type")
    return value if isinstance(value, str) and value else "unknown"


def facts(config: Json, where: str) -> tuple[Fact, ...]:
    """What the box of facts says: the family and every number that the config has."""
    numbers = [(TITLES[what], _by_stage(config, what) or number(config, what, where)) for what in NAMES]
    return (Fact("Family", family(config)), *(Fact(title, value) for title, value in numbers if value is not None))


def _by_stage(config: Json, what: str) -> str | None:
    """The numbers one after the other, where a config gives one for each stage (Swin's heads)."""
    value = next((found for name in NAMES[what] if (found := config.get(name)) is not None), None)
    is_listed = isinstance(value, list) and all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in value)
    return ", ".join(f"{each}" for each in value) if is_listed and value else None
