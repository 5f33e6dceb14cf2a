"""What config.json says of a model: one record, under the same names whatever a model family calls its settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from generator.errors import RowError

Json = Mapping[str, Any]
Size = Literal["d_model", "n_layers", "n_heads", "n_positions", "vocab_size"]
SIZES: Mapping[Size, tuple[str, ...]] = MappingProxyType(
    {
        "d_model": ("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "word_embed_proj_dim"),
        "n_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "encoder_num_hidden_layers"),
        "n_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "encoder_num_attention_heads"),
        "n_positions": ("max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_seq_len"),
        "vocab_size": ("vocab_size",),
    }
)
HEAD_DIM = ("head_dim", "kv_channels", "attention_head_size")
TEXT = ("text_config", "language_config", "llm_config", "thinker_config")  # Where a model of several parts keeps its text model's.
ROPE = ("rope_parameters", "rope_scaling")
DEEPEST = 4  # Levels of nested configs: a language model holds one of its images, which may hold a backbone's.
LARGEST = 2**31
LARGEST_REAL = 1e15


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


@dataclass(frozen=True)
class ModelConfig:
    """The settings of a model, or of a part of one, which has a config nested in that of the whole.

    Nothing is checked before it is read. ``text``, ``flag``, ``integer``, ``count``, ``listed`` and ``section`` give nothing for a
    setting that is absent or of another type; ``whole``, ``positive``, ``size``, ``needed`` and ``head_dim`` raise RowError.

    settings: by the names that config.json has for them
    where: how to name the checkpoint in a message
    """

    settings: Json
    where: str

    def __contains__(self, name: str) -> bool:
        """Whether it has this setting, be it null."""
        return name in self.settings

    def value(self, name: str, default: object = None) -> Any:
        """The setting as it is; ``default`` where it is absent, not where it is null."""
        return self.settings.get(name, default)

    def first(self, *names: str, default: object = None) -> Any:
        """The first of these settings that is there and not null."""
        return next((value for name in names if (value := self.settings.get(name)) is not None), default)

    def text(self, name: str) -> str | None:
        """A setting in words."""
        return value if isinstance(value := self.settings.get(name), str) else None

    def flag(self, name: str) -> bool | None:
        """A setting that is true or false."""
        return value if isinstance(value := self.settings.get(name), bool) else None

    def integer(self, name: str) -> int | None:
        """A whole number of any sign."""
        value = self.settings.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def count(self, name: str) -> int | None:
        """A whole number above 0."""
        value = self.integer(name)
        return value if value is not None and value > 0 else None

    def listed(self, name: str) -> Sequence[Any]:
        """A list; empty where there is none."""
        return value if isinstance(value := self.settings.get(name), list | tuple) else ()

    def section(self, name: str) -> "ModelConfig | None":
        """The settings nested under this name."""
        return replace(self, settings=value) if isinstance(value := self.settings.get(name), Mapping) else None

    def whole(self, name: str, default: object = None) -> int:
        """A whole number from 1 to 2^31."""
        return whole(self.value(name, default), f"{self.where}: {name}")

    def positive(self, name: str, default: object = None) -> float:
        """A number above 0."""
        return positive(self.value(name, default), f"{self.where}: {name}")

    def size(self, name: Size) -> int | None:
        """A size under any of its names, of the whole or of its text model; None where there is none."""
        for config in (self, self.text_model):
            for key in SIZES[name]:
                if config.value(key) is not None:
                    return config.whole(key)
        return None

    def needed(self, name: Size) -> int:
        """As ``size``, of a config that has it."""
        size = self.size(name)
        if size is None:
            raise RowError(f"{self.where}: config.json has none of {', '.join(SIZES[name])}; expected one")
        return size

    def updated(self, settings: Json) -> "ModelConfig":
        """The same with ``settings`` in place of those of their names."""
        return replace(self, settings={**self.settings, **settings})

    def nested(self, levels: int = DEEPEST) -> Iterator["ModelConfig"]:
        """This config and all that are nested in it, each before what it holds itself."""
        if levels > 0:
            yield self
            for section in self.sections.values():
                yield from section.nested(levels - 1)

    @property
    def sections(self) -> Mapping[str, "ModelConfig"]:
        """What is nested in it, by name."""
        return {name: replace(self, settings=value) for name, value in self.settings.items() if isinstance(value, Mapping)}

    @property
    def text_model(self) -> "ModelConfig":
        """The config nested in this one for the text model, however deep, or this one itself."""
        inner = next((section for name in TEXT if (section := self.section(name)) is not None), None)
        return self if inner is None else inner.text_model

    @property
    def anywhere(self) -> "ModelConfig":
        """Its settings, those of its text model where it is silent, and else those of any other config nested in it."""
        merged: dict[str, Any] = {}
        for config in reversed((self, self.text_model, *self.sections.values())):
            merged |= {name: value for name, value in config.settings.items() if value is not None}
        return replace(self, settings=merged)

    @property
    def family(self) -> str:
        """The model type, or an honest "unknown"."""
        return self.text("model_type") or "unknown"

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether one stack of layers reads and another one writes."""
        return self.flag("is_encoder_decoder") is True

    @property
    def head_dim(self) -> int:
        """Components of an attention head: as it says itself, or the width over the heads."""
        own = next((value for name in HEAD_DIM if (value := self.value(name))), None)
        return whole(self.needed("d_model") // self.needed("n_heads") if own is None else own, f"{self.where}: head_dim")

    @property
    def layer_types(self) -> tuple[str, ...]:
        """The kind of attention that each layer has, such as "sliding_attention"; empty where it is not listed."""
        return tuple(str(each) for each in self.listed("layer_types"))

    @property
    def rope(self) -> "ModelConfig":
        """The settings of its rotation, or of one rotation for each kind of layer."""
        return next((section for name in ROPE if (section := self.section(name)) is not None), replace(self, settings={}))
