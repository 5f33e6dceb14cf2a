"""Models of transformers on torch's meta device: their modules and tensor shapes, without
weights.
"""

import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

LAYERS = (
    "num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers",
    "num_encoder_layers",
    "num_decoder_layers", "depth", "num_hidden_groups",
)  # fmt: skip
FEW = 3  # In some models with alternating layers, the third is the first with attention.
AUTO = (
    "MODEL", "MODEL_FOR_PRETRAINING", "MODEL_FOR_CAUSAL_LM", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM",
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT",
)  # fmt: skip
LLAMA_3 = {
    "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 2048,
}  # fmt: skip
LONGROPE = {
    "factor": 2.0,
    "original_max_position_embeddings": 1024,
    "short_factor": [1.0] * 64,
    "long_factor": [2.0] * 64,
}
SCALINGS: Mapping[str, Mapping[str, Any]] = {
    "linear": {"factor": 4.0}, "dynamic": {"factor": 4.0}, "yarn": {"factor": 4.0},
    "llama3": LLAMA_3, "longrope": LONGROPE,
}  # fmt: skip

# Options without which a model cannot be built.
NEEDED: Mapping[str, Mapping[str, Any]] = {
    **{kind: {"prediction_length": 24} for kind in ("autoformer", "informer",
    "time_series_transformer")},
    **{kind: {"head_dim": 128} for kind in ("hunyuan_v1_dense", "hunyuan_v1_moe", "ministral")},
    "esm": {"vocab_size": 33, "pad_token_id": 1},
    "nemotron": {"num_key_value_heads": 48},
    "speech-encoder-decoder": {"encoder": {"model_type": "wav2vec2"},
    "decoder": {"model_type": "bert", "is_decoder": True, "add_cross_attention": True}},
}  # fmt: skip


# What a model's code raises at a config that it was not written for.
PROBLEMS = (TypeError, ValueError, AttributeError, KeyError, NotImplementedError, RuntimeError)


@dataclass(frozen=True)
class Case:
    """A model type with its default configuration, or with ``options`` as in published
    checkpoints.
    """

    type: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name in the table of results."""
        options = (f"{key}={_brief(value)}" for key, value in self.options.items())
        return " ".join([self.type, *options])


def _brief(value: Any) -> Any:
    return value.get("rope_type", "…") if isinstance(value, dict) else value


DISENTANGLED = {
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
}
VARIANTS = (
    Case("falcon", {"alibi": True}),
    Case("mpt", {"attn_config": {"alibi": True}}),
    Case("mpt", {"attn_config": {"alibi": False}}),
    Case("deberta", DISENTANGLED),
    Case("deberta-v2", {**DISENTANGLED, "position_buckets": 256}),
    Case("wav2vec2-conformer", {"position_embeddings_type": "rotary"}),
    Case("wav2vec2-conformer", {"position_embeddings_type": None}),
    Case("wav2vec2-bert", {"position_embeddings_type": "rotary"}),
    Case("wav2vec2-bert", {"position_embeddings_type": "relative"}),
    Case("esm", {"position_embedding_type": "rotary"}),
    Case("distilbert", {"sinusoidal_pos_embds": True}),
    Case("xlm", {"sinusoidal_embeddings": True}),
    Case("beit", {"use_relative_position_bias": True}),
    Case("beit", {"use_shared_relative_position_bias": True}),
    Case("beit", {"use_absolute_position_embeddings": True}),
    Case("swin", {"use_absolute_embeddings": True}),
    Case("reformer", {"axial_pos_embds": False}),
    Case("gpt_neox", {"rotary_pct": 0.5}),
    *(Case("llama", {"rope_parameters": {"rope_type": kind, "rope_theta": 1e4, **more}})
      for kind, more in SCALINGS.items()),
)  # fmt: skip


class TooLongError(Exception):
    """Building a model exceeds its time limit."""


@contextmanager
def limit(seconds: int) -> Iterator[None]:
    """errors: TooLongError when the block takes longer, in seconds of a processor, so that other
    programs change nothing
    """

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooLongError(f"took longer than {seconds} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def types() -> list[str]:
    """All model types of transformers."""
    from transformers import CONFIG_MAPPING

    return sorted(CONFIG_MAPPING.keys())


def build(case: Case, *, is_whole: bool = False) -> Any:
    """The model of a case, on the meta device, with few of its layers unless ``is_whole``.

    errors: any that its code raises; LookupError when transformers has no model for this type
    """
    import torch

    with warnings.catch_warnings(), torch.device("meta"):
        warnings.simplefilter("ignore")
        config = _config(case, is_whole=is_whole)
        problem: Exception = LookupError("transformers has no model for it")
        for candidate in classes(case.type, type(config)):
            try:
                return candidate(config).eval()
            except PROBLEMS as error:
                problem = error
        raise problem


def _config(case: Case, *, is_whole: bool) -> Any:
    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[case.type](**{**NEEDED.get(case.type, {}), **case.options})
    sections = [value for value in vars(config).values() if hasattr(value, "to_dict")]
    for nested in [] if is_whole else [config, *sections]:
        if "layer_types" not in vars(nested):  # Its length has to equal the number of layers.
            _shorten(nested)
    return config


def _shorten(config: Any) -> None:
    depths = {name: getattr(config, name, None) for name in LAYERS}
    for name, value in depths.items():
        if isinstance(value, int) and value > FEW:
            with suppress(NotImplementedError):  # Some attributes are read-only.
                setattr(config, name, FEW)


def classes(type_: str, config: type) -> list[Any]:
    """Model classes of a type: those of the auto classes, else those of its module with its config
    class.
    """
    import transformers
    from transformers.models.auto import modeling_auto

    mappings = [getattr(modeling_auto, f"{name}_MAPPING_NAMES", {}) for name in AUTO]
    names = [mapping[type_] for mapping in mappings if type_ in mapping]
    flat = [name[0] if isinstance(name, list | tuple) else name for name in names]
    return [getattr(transformers, name) for name in flat] or _unnamed(config)


def _unnamed(config: type) -> list[Any]:
    """Model classes in the module of a config class, base models first, a stack of layers by itself
    last.
    """
    from importlib import import_module

    from transformers import PreTrainedModel

    module = config.__module__.replace(".configuration_", ".modeling_")
    try:
        import_module(module)
    except ImportError:
        return []
    values = [value for value in vars(sys.modules[module]).values() if isinstance(value, type)]
    models = [value for value in values if issubclass(value, PreTrainedModel)]
    own = [value for value in models if value.__module__ == module]
    whole = [value for value in own if "PreTrainedModel" not in value.__name__]
    matching = [value for value in whole if getattr(value, "config_class", None) is config]

    def order(value: type) -> tuple[bool, bool, bool, int]:
        model, backbone, stack = map(value.__name__.endswith, ("Model", "Backbone", "Stack"))
        return not model, not backbone, stack, len(value.__name__)

    return sorted(matching, key=order)
