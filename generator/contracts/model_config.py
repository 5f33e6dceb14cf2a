"""Settings of a model from config.json, with uniform names for settings that model families name
differently.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from generator.errors import RowError

Json = Mapping[str, Any]
Modality = Literal["text", "image", "audio", "page"]
StackKind = Literal["encoder", "decoder"]
Size = Literal["d_model", "n_layers", "n_heads", "n_positions", "vocab_size"]
SIZES: Mapping[Size, tuple[str, ...]] = MappingProxyType(
    {
        "d_model": ("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "word_embed_proj_dim"),
        "n_layers": (
            "num_hidden_layers",
            "n_layer",
            "n_layers",
            "num_layers",
            "encoder_layers",
            "encoder_num_hidden_layers",
            "depth",
        ),
        "n_heads": (
            "num_attention_heads",
            "n_head",
            "n_heads",
            "num_heads",
            "encoder_attention_heads",
            "encoder_num_attention_heads",
        ),
        "n_positions": (
            "max_position_embeddings",
            "n_positions",
            "n_ctx",
            "seq_length",
            "max_seq_len",
            "model_max_length",
        ),
        "vocab_size": ("vocab_size",),
    }
)
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels", "attention_head_size")
# Config of the text model in a multimodal model.
TEXT = ("text_config", "language_config", "llm_config", "thinker_config",
        "transformer_layer_config")  # fmt: skip
ROPE = ("rope_parameters", "rope_scaling")
# Size of a part of each head for rotation alone, in latent attention (arXiv 2405.04434).
ROTATED_PART = "qk_rope_head_dim"
# Settings with their value for rotation pairs of adjacent components: of transformers, of MLX, and
# of drafts of vLLM.
PAIR_ORDER: Mapping[str, bool] = MappingProxyType(
    {"rope_interleave": True, "rope_traditional": True, "is_neox_style": False}
)
LONGEST_FAMILY = 80  # characters
UNKNOWN = "unknown"  # The family of a config without a model type.
# Levels of nested configs: a language model may contain a vision model, and that a backbone.
DEEPEST = 4
LARGEST = 2**31
LARGEST_REAL = 1e15


def _in_file(value: object) -> str:
    """A value as its file has it."""
    from generator.text import as_json  # It needs numpy, whose import an interrupt may end.

    return as_json(value)


def whole(value: object, where: str) -> int:
    """``value`` as an int; some configs write floats such as 2048.0.

    errors: RowError unless it is a whole number from 1 to 2^31
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
        raise RowError(
            f"{where} is {_in_file(value)}; expected a whole number from 1 to {LARGEST:,}"
        )
    return value


def is_no_length(value: object) -> bool:
    """Whether ``value`` is 0 or -1, as where a length is not known, or not limited."""
    return type(value) is int and value in (0, -1)


def positive(value: object, where: str) -> float:
    """``value`` as a float.

    errors: RowError unless it is a number above 0 and below LARGEST_REAL
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 < value < LARGEST_REAL
    ):
        raise RowError(
            f"{where} is {_in_file(value)}; expected a positive number below {LARGEST_REAL:g}"
        )
    return float(value)


@dataclass(frozen=True)
class ModelConfig:
    """Settings of a model, or of a part of it with a nested config.

    Settings are validated on access: ``text``, ``flag``, ``integer``, ``count`` and ``section``
    return None, and ``listed`` an empty sequence, for a setting that is absent or of another type;
    ``whole``, ``positive``, ``size``, ``needed`` and ``head_dim`` raise RowError.

    settings: by name in config.json; where: name of the checkpoint in messages; source: the file
        that holds the settings
    keys_of_file: where that file has other names, its keys that change each setting, with their
        values, by the path of the setting; unread_keys: its keys that change none, likewise
    program: where that file has other names, the program that reads such files, whose defaults
        its settings have; of a translated config, also the family for whose code it was written
    claimed: the model type in the file, where it names a class that is none of that family's, whose
        name stands in its place unless transformers has that class
    """

    settings: Json
    where: str
    source: str = "config.json"
    keys_of_file: Mapping[str, Json] | None = None
    unread_keys: Json = field(default_factory=dict)
    program: str = ""
    claimed: str = ""

    def __contains__(self, name: str) -> bool:
        """Whether the setting is present, even if it is null."""
        return name in self.settings

    def value(self, name: str, default: object = None) -> Any:
        """Value of any type; ``default`` where the setting is absent, but None where it is null."""
        return self.settings.get(name, default)

    def first(self, *names: str, default: object = None) -> Any:
        """First value of these settings that is neither absent nor null."""
        return next(
            (value for name in names if (value := self.settings.get(name)) is not None), default
        )

    def text(self, name: str) -> str | None:
        """Value of a setting that is text."""
        return value if isinstance(value := self.settings.get(name), str) else None

    def flag(self, name: str) -> bool | None:
        """Value of a setting that is true or false."""
        return value if isinstance(value := self.settings.get(name), bool) else None

    def integer(self, name: str) -> int | None:
        """Value of a setting that is a whole number, of any sign."""
        value = self.settings.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def count(self, name: str) -> int | None:
        """Value of a setting that is a whole number above 0."""
        value = self.integer(name)
        return value if value is not None and value > 0 else None

    def listed(self, name: str) -> Sequence[Any]:
        """Value of a setting that is a list."""
        return value if isinstance(value := self.settings.get(name), list | tuple) else ()

    def is_by_stage(self, name: str) -> bool:
        """Whether a setting is a list of whole numbers, one for each stage of a model.

        errors: RowError for another list
        """
        where = f"{self.where}: {name}"
        return all(whole(value, where) for value in self.listed(name)) and bool(self.listed(name))

    def section(self, name: str) -> "ModelConfig | None":
        """Nested config with this name."""
        value = self.settings.get(name)
        return self._with(value) if isinstance(value, Mapping) else None

    def _with(self, settings: Json) -> "ModelConfig":
        """This config with other settings, as by ``replace``, which takes three times as long."""
        config = object.__new__(ModelConfig)
        vars(config).update({**vars(self), "settings": settings})
        return config

    def whole(self, name: str, default: object = None) -> int:
        """Value of a setting as a whole number. errors: RowError unless it is one from 1 to 2^31"""
        return whole(self.value(name, default), f"{self.where}: {name}")

    def positive(self, name: str, default: object = None) -> float:
        """Value of a setting as a float. errors: RowError unless it is above 0, and below
        LARGEST_REAL
        """
        return positive(self.value(name, default), f"{self.where}: {name}")

    def size(self, name: Size) -> int | None:
        """Size of the model, or else of its text model, under any of the names in SIZES; None where
        it is absent, one for each stage, or a context without positions. errors: RowError
        """
        for config in (self, self.text_model):
            for key in SIZES[name]:
                if config._gives(name, key):
                    return config.whole(key)
        return None

    def _gives(self, name: Size, key: str) -> bool:
        """Whether a key gives a size: no list by stage, and no context without positions."""
        value = self.value(key)
        is_none = value is None or (name == "n_positions" and is_no_length(value))
        return not is_none and not self.is_by_stage(key)

    def path_of(self, name: Size) -> tuple[str, ...]:
        """Where the setting is that ``size`` returns; empty where it is absent."""
        for key in SIZES[name]:
            if self._gives(name, key):
                return (key,)
        of_text = ((key, inner.path_of(name)) for key in TEXT if (inner := self.section(key)))
        return next(((key, *path) for key, path in of_text if path), ())

    def needed(self, name: Size) -> int:
        """``size``, which must be present. errors: RowError"""
        size = self.size(name)
        if size is None:
            raise RowError(
                f"{self.where}: config.json has none of {', '.join(SIZES[name])}; expected one"
            )
        return size

    def updated(self, settings: Json) -> "ModelConfig":
        """This config with ``settings`` added or replaced."""
        return self._with({**self.settings, **settings})

    def of_layer(self, index: int) -> "ModelConfig":
        """This config with the settings that ``per_layer_config`` has for one layer, by its number
        in decimal digits ("3" or "03").
        """
        by_layer = self.section("per_layer_config")
        settings = {} if by_layer is None else by_layer.settings
        name = next((name for name in settings if name.lstrip("0") == str(index or "")), "")
        own = settings.get(name)
        return self.updated(own) if isinstance(own, Mapping) else self

    def nested(self, levels: int = DEEPEST) -> Iterator["ModelConfig"]:
        """This config and all nested ones, parents first."""
        if levels > 0:
            yield self
            for section in self.sections.values():
                yield from section.nested(levels - 1)

    @property
    def sections(self) -> Mapping[str, "ModelConfig"]:
        """Configs nested directly in this one, by name."""
        return {
            name: self._with(value)
            for name, value in self.settings.items()
            if isinstance(value, Mapping)
        }

    @property
    def text_model(self) -> "ModelConfig":
        """Config of the text model, nested at any depth; this config where there is none."""
        inner = next(
            (section for name in TEXT if (section := self.section(name)) is not None), None
        )
        return self if inner is None else inner.text_model

    @property
    def anywhere(self) -> "ModelConfig":
        """Settings that are not null of this config, its text model and other nested configs; the
        first of these takes precedence.
        """
        merged: dict[str, Any] = {}
        for config in reversed((self, self.text_model, *self.sections.values())):
            merged |= {name: value for name, value in config.settings.items() if value is not None}
        return self._with(merged)

    @property
    def family(self) -> str:
        """Model type, or the class of diffusers; UNKNOWN where both are absent. One that is longer
        than all that are known is shortened.
        """
        found = self.text("model_type") or self.text("_class_name") or UNKNOWN
        return found if len(found) <= LONGEST_FAMILY else f"{found[:LONGEST_FAMILY]}…"

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether the model has an encoder and a decoder, and is not the decoder of one
        (Pix2Struct's text model says both).
        """
        return self.flag("is_encoder_decoder") is True and self.flag("is_decoder") is not True

    @property
    def head_dim(self) -> int:
        """Width of an attention head: as configured, or else d_model / n_heads. errors: RowError"""
        configured = next((value for name in HEAD_DIM if (value := self.value(name))), None)
        return whole(
            self.needed("d_model") // self.needed("n_heads") if configured is None else configured,
            f"{self.where}: head_dim",
        )

    @property
    def is_latent(self) -> bool:
        """Whether it, or a nested config, has latent attention with a part for rotation."""
        return any(config.count(ROTATED_PART) for config in self.nested())

    @property
    def layer_types(self) -> tuple[str, ...]:
        """Kind of attention of every layer, such as "sliding_attention"; empty where it is not
        configured.
        """
        return tuple(
            str(kind) for kind in self.listed("layer_types") or self.listed("layers_block_type")
        )

    @property
    def rope(self) -> "ModelConfig":
        """Settings of the rotation, or a nested config of these for each kind of layer; empty where
        they are absent.
        """
        sections = (section for name in ROPE if (section := self.section(name)) is not None)
        return next(sections, None) or self._with({})
