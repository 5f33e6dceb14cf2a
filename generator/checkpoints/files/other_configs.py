"""Settings of models beside weights without config.json, as other programs write them, under the
names that config.json has for them.

Sources: Meta's llama-models (args.py, model.py, of each generation), mistral-inference and
mistral-common (params.json), litgpt (config.py, model.py), open_clip (model.py), nanotron
(models_config.py, models/qwen.py), NVIDIA's NeMo (its name alone).
"""

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from generator.checkpoints.files import executorch
from generator.checkpoints.files.json_object import parse_config
from generator.checkpoints.model import keys
from generator.checkpoints.model.engines_families import MOST_LAYERS
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
# Of Mistral's latent attention, and its context, which have the names of transformers.
OF_MISTRAL = {
    name: name
    for name in (
        "max_position_embeddings", "q_lora_rank", "kv_lora_rank", "qk_rope_head_dim",
        "qk_nope_head_dim", "v_head_dim",
    )
}  # fmt: skip
TRAINED = "original_max_position_embeddings"
OF_YARN = {
    "factor": "factor",
    TRAINED: TRAINED,
    "beta": "beta_fast",
    "alpha": "beta_slow",
}
OF_GROWTH = {
    "beta": "llama_4_scaling_beta",
    TRAINED: TRAINED,
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
# Of the towers of CLIP in open_clip.
OF_TOWERS = {
    "text_cfg": {
        "context_length": "max_position_embeddings",
        "vocab_size": "vocab_size",
        "width": "hidden_size",
        "heads": "num_attention_heads",
        "layers": "num_hidden_layers",
    },
    "vision_cfg": {
        "image_size": "image_size",
        "patch_size": "patch_size",
        "width": "hidden_size",
        "layers": "num_hidden_layers",
        "head_width": "head_dim",
    },
}
OF_CLIP = {*OF_TOWERS, "embed_dim", "quick_gelu", "custom_text"}
# Of litgpt: settings for which the position of a layer depends on more than base and share.
MORE_THAN_ROTATION = ("sliding_window_size", "rope_local_base_freq", "latent_attention")
# Of nanotron: one of them is in each of its files; settings by which other angles or layers follow.
OF_NANOTRON = {"is_llama_config", "is_qwen2_config"}
NEMO = "NeMo"
NOT_OF_NANOTRON = ("sliding_window_size", "rope_seq_len_interpolation_factor")
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
    """Of params.json by Meta, Mistral or ExecuTorch; None for another file of that name."""
    whole = parse_config(text, where)
    if not {"dim", "n_layers", "n_heads"} <= _numbers(whole).keys():
        return None
    if executorch.MARKS & whole.keys():
        return keys.traced(whole, executorch.settings_of, executorch.PROGRAM)
    return keys.traced(whole, _meta_or_mistral, "the code of its maker")


def _meta_or_mistral(whole: Json) -> Json:
    given = _numbers(whole)
    text = {"rope_theta": given.get("rope_theta", BASE), **_renamed(given, SIZES)}
    text |= _renamed(given, OF_MISTRAL)
    others = whole.get("multimodal")
    nested = others.get("vision_encoder_args") if isinstance(others, Mapping) else None
    vision = whole.get("vision_encoder", nested)
    if "nope_layer_interval" in given or "attention_chunk_size" in given:
        text |= _of_llama_4(given)
        return _beside("llama4", text, "llama4_vision_model", _vision(whole.get("vision_args")))
    if isinstance(window := whole.get("sliding_window", whole.get("_sliding_window")), list):
        text |= _by_layer(window, given["n_layers"])
    text |= _scaling_of_mistral(whole, text["rope_theta"])
    if given.get("use_scaled_rope") is True:
        text["rope_scaling"] = _llama3(given)
    of_mistral = text.get("sliding_window") or vision or others or "rope_parameters" in text
    family = "ministral3" if "rope_parameters" in text else "mistral" if of_mistral else "llama"
    if family == "mistral":  # The class of transformers has a window by default.
        text.setdefault("sliding_window", None)
    return _beside("mistral3", {"model_type": family, **text}, "pixtral", vision)


def _llama3(given: Json) -> Json:
    """The scaling of Llama 3.1 and 3.2, of whose factors not every params.json states all."""
    is_small = (given["dim"], given["n_layers"]) in SMALL
    stated = {"high_freq_factor": given.get("rope_high_freq_factor", SCALED["high_freq_factor"])}
    factor = given.get("rope_scaling_factor", FACTOR_OF_SMALL if is_small else FACTOR)
    return {"rope_type": "llama3", "factor": factor, **SCALED, **stated}


def _of_llama_4(given: Json) -> Json:
    """Chunks, and every n-th layer without rotation, which sees all (Meta's models/llama4); the
    scaling of Scout where the file states none.
    """
    high, factor = given.get("rope_high_freq_factor", 1), given.get("rope_scaling_factor", 16)
    ends = {"factor": factor, "high_freq_factor": high}
    scaling = {"rope_type": "llama3", **SCALED, **ends}
    return {
        "model_type": "llama4_text",
        "attention_chunk_size": given.get("attention_chunk_size"),
        "no_rope_layer_interval": given.get("nope_layer_interval", given["n_layers"] + 1),
        "attn_temperature_tuning": given.get("attn_temperature_tuning", False),
        **_renamed(given, {"floor_scale": "floor_scale", "attn_scale": "attn_scale"}),
        **({"rope_scaling": scaling} if given.get("use_scaled_rope") is True else {}),
    }


def _by_layer(windows: Sequence[object], n_layers: int) -> Json:
    """A window, or null for none, for each of the first layers, and by turns for those behind."""
    kinds = ["full_attention" if each is None else "sliding_attention" for each in windows]
    widths = {each for each in windows if each is not None}
    if len(widths) != 1 or n_layers > MOST_LAYERS:
        return {}
    return {
        "sliding_window": widths.pop(),
        "layer_types": [kinds[layer % len(kinds)] for layer in range(n_layers)],
    }


def _scaling_of_mistral(whole: Json, base: float) -> Json:
    """YaRN, whose α and β have other names, and the factor that grows with the position (as vLLM's
    transformers_utils/configs/mistral.py reads them).
    """
    yarn, growth = _numbers(whole.get("yarn")), _numbers(whole.get("llama_4_scaling"))
    if not yarn and not growth:
        return {}
    rope = {"rope_type": "yarn" if yarn else "default", "rope_theta": base}
    rope |= _renamed(yarn, OF_YARN)
    if yarn and yarn.get("apply_scale") is False:
        rope["attention_factor"] = 1.0
    grown = _renamed(growth, OF_GROWTH)
    if grown.get(TRAINED, rope.get(TRAINED)) != rope.get(TRAINED, grown.get(TRAINED)):
        return {"rope_parameters": rope}  # In transformers, both have the same length.
    return {"rope_parameters": {**rope, **grown}}


def _vision(given: object) -> Json | None:
    """Of Llama 4, in the names of transformers."""
    if not isinstance(given, Mapping):
        return None
    sides = {
        name: side["height"]
        for name in ("image_size", "patch_size")
        if isinstance(side := given.get(name), Mapping) and "height" in side
    }
    return {**_renamed(_numbers(given), SIZES), **sides}


def _beside(family: str, text: Json, family_of_images: str, images: object) -> Json:
    """The settings of a language model, in those of a whole with a tower of images where there is
    one.
    """
    if not isinstance(images, Mapping):
        return text
    vision = {**images, "model_type": family_of_images}
    return {"model_type": family, "text_config": text, "vision_config": vision}


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


def _of_yaml(text: bytes, where: str) -> Json | None:
    """Of model_config.yaml by litgpt or by NeMo; None for another file of that name."""
    return _of_litgpt(text, where) or _of_nemo(text)


def _of_nemo(text: bytes) -> Json | None:
    """Of NeMo, whose settings are shown and not understood; None for another file."""
    whole = _yaml(text)
    if not str(whole.get("target", "")).startswith(NEMO.lower() + "."):
        return None
    plain = {
        str(key): value for key, value in whole.items() if isinstance(value, str | int | float)
    }
    return {**plain, "model_type": NEMO}


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


def _of_nanotron(text: bytes, where: str) -> Json | None:
    """Of model_config.json, whose names are those of transformers; None for another file of that
    name, and where layers have windows or positions are interpolated.
    """
    whole = parse_config(text, where)
    if not OF_NANOTRON & whole.keys() or any(whole.get(name) for name in NOT_OF_NANOTRON):
        return None
    interval, interleaved = whole.get("no_rope_layer"), whole.get("rope_interleaved")
    return {
        **whole,
        "model_type": "smollm3" if interval else "llama",
        **({"no_rope_layer_interval": interval} if interval else {}),
        **({"rope_interleave": interleaved} if isinstance(interleaved, bool) else {}),
    }


def _of_open_clip(text: bytes, where: str) -> Json | None:
    """Of open_clip_config.json (open_clip/model.py of github.com/mlfoundations/open_clip)."""
    return keys.traced(parse_config(text, where), _clip, "open_clip")


def _clip(whole: Json) -> Json | None:
    """Two towers of CLIP; where a tower is of timm, of EVA-CLIP, of transformers or has further
    settings, it is one of no known family beside the other.
    """
    model = whole.get("model_cfg")
    if not isinstance(model, Mapping):
        return None
    towers = {name: _tower(name, model.get(name)) for name in OF_TOWERS}
    is_clip = model.keys() <= OF_CLIP and None not in towers.values()
    found = {
        name.replace("_cfg", "_config"): _of_others(model.get(name))
        if tower is None or not (is_clip or name == "text_cfg")
        else {**tower, **({} if is_clip else {"model_type": "clip_text_model"})}
        for name, tower in towers.items()
    }
    others = {
        name.replace("_cfg", "_config"): _of_others(model[name])
        for name in model
        if name not in OF_TOWERS and isinstance(model[name], Mapping)
    }
    return {"model_type": "clip" if is_clip else "open_clip", **found, **others}


def _tower(name: str, given: object) -> dict[str, Any] | None:
    """The settings of a tower of CLIP; None for any other."""
    names, sizes = OF_TOWERS[name], _numbers(given)
    if not {*names} - {"head_width"} <= sizes.keys() <= {*names, "mlp_ratio"}:
        return None
    if not isinstance(given, Mapping) or sizes.keys() != given.keys():
        return None
    tower = _renamed(sizes, names)
    if name == "vision_cfg":
        head_dim = tower.pop("head_dim", 64)
        if head_dim < 1:
            return None
        tower["num_attention_heads"] = tower["hidden_size"] // head_dim
    return tower


def _of_others(given: object) -> Json:
    """A tower under its name in another program."""
    tower = given if isinstance(given, Mapping) else {}
    named = ((program, tower.get(f"{program}_model_name")) for program in ("timm", "eva", "hf"))
    name = next((f"{program} {value}" for program, value in named if value), "open_clip")
    return {**tower, "model_type": name}


READERS: Mapping[str, Callable[[bytes, str], Json | None]] = {
    "params.json": _of_meta,
    "open_clip_config.json": _of_open_clip,
    "model_config.yaml": _of_yaml,
    "model_config.json": _of_nanotron,
}


def _numbers(given: object) -> dict[str, Any]:
    """The numbers, true and false among them, of a mapping; none for anything else."""
    return (
        {str(name): value for name, value in given.items() if isinstance(value, int | float)}
        if isinstance(given, Mapping)
        else {}
    )


def _renamed(given: Json, names: Mapping[str, str]) -> dict[str, Any]:
    return {known: given[name] for name, known in names.items() if name in given}


def _yaml(text: bytes) -> Mapping[str, Any]:
    """The mapping in ``text``; empty for anything else, and for what is too long."""
    from ruamel.yaml import YAML  # Few checkpoints have such a file.
    from ruamel.yaml.error import YAMLError

    if len(text) <= MOST_BYTES:
        with suppress(YAMLError, ValueError, RecursionError, OverflowError):
            found = YAML(typ="safe", pure=True).load(io.BytesIO(text))
            return found if isinstance(found, Mapping) else {}
    return {}
