"""Settings of models beside weights without config.json, as other programs write them, under the
names that config.json has for them.

Sources: Meta's llama-models (args.py, model.py), mistral-common
(params.json), litgpt (config.py, model.py).
"""

import io
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from generator.checkpoints.files.json_object import parse_config
from generator.contracts import Json, Storage
from generator.contracts.file_formats import file_label

MOST_BYTES = 2**16  # Of a file in YAML, whose parser is slow.
SIZES = {
    "dim": "hidden_size",
    "hidden_dim": "intermediate_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "vocab_size": "vocab_size",
    "norm_eps": "rms_norm_eps",
    "sliding_window": "sliding_window",
    "max_seq_len": "max_position_embeddings",
}
OF_LITGPT = {
    "block_size": "max_position_embeddings",
    "n_layer": "num_hidden_layers",
    "n_embd": "hidden_size",
    "n_head": "num_attention_heads",
    "n_query_groups": "num_key_value_heads",
    "head_size": "head_dim",
    "padded_vocab_size": "vocab_size",
    "intermediate_size": "intermediate_size",
}
# Of litgpt: settings for which the position of a layer depends on more than base and share.
MORE_THAN_ROTATION = ("sliding_window_size", "rope_local_base_freq", "latent_attention")
# Meta's code of Llama 3.1; those of 3.2 have another factor, which not every params.json states.
SCALED = MappingProxyType(
    {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
)
BASE = 10_000.0  # Of Llama 1 and 2.
FACTOR, FACTOR_OF_SMALL, SMALL = 8.0, 32.0, ((2048, 16), (3072, 28))


def other_settings(storage: Storage, where: str) -> tuple[Json, str] | None:
    """The settings, and the name of the file that has them; None without such a file.

    errors: RowError for one that is no object
    """
    for name, read in READERS.items():
        if (text := storage.read(name)) is not None:
            settings = read(text, file_label(where, name))
            if settings is not None:
                return settings, name
    return None


def _of_meta(text: bytes, where: str) -> Json | None:
    """Of params.json by Meta or Mistral; None for another file of that name."""
    given = _numbers(parse_config(text, where))
    if not {"dim", "n_layers", "n_heads"} <= given.keys():
        return None
    is_small = (given["dim"], given["n_layers"]) in SMALL
    factor = given.get("rope_scaling_factor", FACTOR_OF_SMALL if is_small else FACTOR)
    scaling = {"rope_type": "llama3", "factor": factor, **SCALED}
    return {
        "model_type": "mistral" if given.get("sliding_window") else "llama",
        "rope_theta": given.get("rope_theta", BASE),
        **_renamed(given, SIZES),
        **({"rope_scaling": scaling} if given.get("use_scaled_rope") is True else {}),
    }


def _of_litgpt(text: bytes, where: str) -> Json | None:  # noqa: ARG001 (another form is no error)
    """Of model_config.yaml; None for another file of that name, and for layers that differ."""
    whole = _yaml(text)
    given, share = _numbers(whole), whole.get("rotary_percentage")
    scaling = _scaling_of_litgpt(given, _numbers(whole.get("rope_adjustments")))
    if not {"rope_base", "rotary_percentage"} <= given.keys() or not share or scaling is None:
        return None
    if any(whole.get(name) for name in MORE_THAN_ROTATION):
        return None
    return {
        "model_type": "llama" if share == 1 else "gpt_neox",
        "rope_theta": given["rope_base"],
        "partial_rotary_factor": share,
        **_renamed(given, OF_LITGPT),
        **({"rope_scaling": scaling} if scaling else {}),
    }


def _scaling_of_litgpt(given: Json, adjusted: Json) -> Json | None:
    """``rope_scaling``; None for a kind that is not read."""
    names = {"factor", "low_freq_factor", "high_freq_factor", "original_max_seq_len"}
    if names <= adjusted.keys():
        trained = adjusted["original_max_seq_len"]
        known = {name: adjusted[name] for name in names - {"original_max_seq_len"}}
        return {"rope_type": "llama3", **known, "original_max_position_embeddings": trained}
    ratio = given.get("rope_condense_ratio", 1)
    if adjusted:
        return None
    return {} if ratio == 1 else {"rope_type": "linear", "factor": float(ratio)}


READERS: Mapping[str, Callable[[bytes, str], Json | None]] = {
    "params.json": _of_meta,
    "model_config.yaml": _of_litgpt,
}


def _numbers(given: object) -> Json:
    """The numbers, true and false among them, of a mapping; none for anything else."""
    return (
        {str(name): value for name, value in given.items() if isinstance(value, int | float)}
        if isinstance(given, Mapping)
        else {}
    )


def _renamed(given: Json, names: Mapping[str, str]) -> Json:
    return {known: given[name] for name, known in names.items() if name in given}


def _yaml(text: bytes) -> Mapping[str, Any]:
    """The mapping in ``text``; empty for anything else, and for what is too long."""
    if len(text) <= MOST_BYTES:
        with suppress(YAMLError, ValueError, RecursionError, OverflowError):
            found = YAML(typ="safe", pure=True).load(io.BytesIO(text))
            return found if isinstance(found, Mapping) else {}
    return {}
