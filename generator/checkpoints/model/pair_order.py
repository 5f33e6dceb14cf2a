"""Which components of a head a rotation turns together: neighbours, or those half a head apart."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Literal

from generator.checkpoints.model.families import (
    HALVES_IN_GGUF,
    NEIGHBOURS_IN_GGUF,
    NOT_IN_GGUF,
    TURN_HALVES,
    TURN_NEIGHBOURS,
    TURN_NEIGHBOURS_IN_GGUF,
    TYPES_IN_GGUF,
)
from generator.checkpoints.model.family_formats import LIKE, translated
from generator.checkpoints.model.own_families import own_families
from generator.checkpoints.model.resolved import defaults
from generator.checkpoints.model.stored_rotation import OTHER_MODELS
from generator.checkpoints.model.tensor_names import in_order, words
from generator.contracts import Encoding, Files, Json, ModelConfig
from generator.contracts.model_config import PAIR_ORDER, UNKNOWN
from generator.encodings import Form, Rotation
from generator.errors import NotNumbersError, RowError
from generator.numerics.paired_components import Votes, sign_test, votes_for_halves

PairOrder = Literal["adjacent", "halves"]
Stated = tuple[Literal["key", "params", "gguf", "family"], str, PairOrder]  # By what, and its name.
CONFIG, BESIDE = "config.json", "params.json"  # Original files of Meta and Mistral.
OF_CLASS = "rope_interleave"  # A setting of a few families.
# Projections of queries in transformers, llama.cpp and params.json; of keys, by the same names.
# GPTQ and AWQ pack them as qweight, compressed-tensors as weight_packed; quanto has weight._data.
QUERIES = re.compile(
    r"^(.*\b)(q_proj|attn_q|wq|query)\.(weight|qweight|weight_packed|weight\._data)$"
)
PACKED = (".qweight", ".weight_packed")
PACKED_BESIDE = ".absmax"  # Of bitsandbytes, whose packed weights may have a type of numbers.
KEYS = {"q_proj": "k_proj", "attn_q": "attn_k", "wq": "wk", "query": "key"}
NOT_ITS_OWN = OTHER_MODELS | {"cross", "crossattention"}
# Numbers that are read; of a single layer, twice as many.
MOST_VALUES, MOST_LAYERS = 2**24, 8
FALSE_ALARM = 1e-6


def stated_orders(config: ModelConfig) -> Iterator[Stated]:
    """What a key, or the format, says, or else the code of the family."""
    for section in config.nested():
        for name, adjacent in PAIR_ORDER.items():
            if (flag := section.flag(name)) is not None:
                yield "key", name, "adjacent" if flag is adjacent else "halves"
    family, is_gguf = _family(config), config.source.endswith("gguf")
    taught = own_families().get(family)
    if taught is not None and OF_CLASS in taught.settings and OF_CLASS not in config.text_model:
        yield "family", family, "adjacent" if taught.settings[OF_CLASS] else "halves"
    if config.flag("turns_halves") is not None and config.source == BESIDE:
        yield "key", "use_hf_rope", "halves" if config.flag("turns_halves") else "adjacent"
    elif config.source == BESIDE:
        yield "params", BESIDE, "adjacent"
    elif is_gguf and family in TURN_NEIGHBOURS_IN_GGUF:
        yield "gguf", family, "adjacent"
    elif not is_gguf and isinstance(of_class := _of_class(family), bool):
        yield "family", family, "adjacent" if of_class else "halves"
    elif family in TURN_HALVES:
        yield "gguf" if is_gguf else "family", family, "halves"


def _family(config: ModelConfig) -> str:
    """That of the text model, also of a config that is known by other keys than a model type."""
    is_untyped = config.text_model.family == UNKNOWN and config.source == CONFIG
    return (translated(config) if is_untyped else config).text_model.family


def gguf_order(family: str) -> PairOrder | None:
    """The order in GGUF files of a model type of transformers; None where it is not known."""
    name = TYPES_IN_GGUF.get(family, family)
    if name in TURN_NEIGHBOURS_IN_GGUF | NEIGHBOURS_IN_GGUF:
        return "adjacent"
    return "halves" if name in (TURN_HALVES - NOT_IN_GGUF) | HALVES_IN_GGUF else None


def _of_class(family: str) -> object:
    """What the class of a family has by default, or that of a family that is built like it."""
    if family in TURN_NEIGHBOURS:
        return True
    like, _ = LIKE.get(family, (family, {}))
    return defaults(like).get(OF_CLASS)


def by_weights(files: Files, encodings: Sequence[Encoding[Form]]) -> Json | None:
    """The order by up to ``MOST_LAYERS`` layers, with the votes for it and the probability of as
    many by chance; None where they do not tell. errors: RowError
    """
    forms = [one.form for one in encodings if one.modality == "text"]
    sizes = {(one.head_dim, one.rotary_dim) for one in forms if isinstance(one, Rotation)}
    layers = projections(files) if len(sizes) == 1 and not types_not_read(files) else {}
    counts = [_votes(files, *layer, *size) for layer in layers.items() for size in sizes]
    votes, total = (sum(each[index] for each in counts) for index in (0, 1))
    order = "halves" if 2 * votes > total else "adjacent"
    found = {"order": order, "votes": max(votes, total - votes), "total": total}
    probability = sign_test(votes, total)
    is_told = probability <= FALSE_ALARM
    return {**found, "n_layers": len(layers), "probability": probability} if is_told else None


def pair_order(files: Files, encodings: Sequence[Encoding[Form]]) -> tuple[PairOrder | None, bool]:
    """The order that a file has, None where nothing tells, and whether its weights contradict what
    programs go by. errors: RowError
    """
    weighed, said = by_weights(files, encodings), next(stated_orders(files.config), (None,))[-1]
    order = weighed["order"] if weighed else said
    return order, said not in (None, order)


def types_not_read(files: Files) -> tuple[str, ...]:
    """The types of these projections that are not read as numbers: F8_E4M3, packed I32."""
    found = dict[str, None]()
    for pair in projections(files).items():
        for name in pair:
            if name.endswith(PACKED) or f"{name}{PACKED_BESIDE}" in files.tensors:
                found[f"packed {files.tensors[name].dtype}"] = None
                continue
            try:
                files.rows(name, [0])
            except NotNumbersError:
                found[files.tensors[name].dtype] = None
            except RowError:  # For those that are no matrices of whole heads.
                continue
    return tuple(found)


def projections(files: Files) -> Mapping[str, str]:
    """Names of the projections of queries that are read, in layers from first to last, with those
    of keys; none on the Hub, from which they are not brought for this.
    """
    if files.revision is not None:
        return {}
    keys = {}
    for name in files.tensors:
        match = QUERIES.search(name)
        if match and NOT_ITS_OWN.isdisjoint(words(name)) and "encoder_attn" not in name:
            keys[name] = f"{match[1]}{KEYS[match[2]]}.{match[3]}"
    names = in_order(name for name, key in keys.items() if key in files.tensors)
    if not names:
        return {}
    n_values = sum(prod(files.tensors[name].shape) for name in (names[0], keys[names[0]])) or 1
    n_layers = min(MOST_LAYERS, max(MOST_VALUES // n_values, n_values <= 2 * MOST_VALUES))
    picked = [names[(2 * each + 1) * len(names) // (2 * n_layers)] for each in range(n_layers)]
    return {name: keys[name] for name in picked}


def _votes(files: Files, query: str, key: str, head_dim: int, rotary_dim: int) -> Votes:
    """Of a layer; none unless both are matrices of whole heads."""
    shape, of_keys = files.tensors[query].shape, files.tensors[key].shape
    if len(shape) != 2 or shape[1:] != of_keys[1:] or 0 in (*shape, *of_keys):
        return 0, 0
    if of_keys[0] % head_dim or shape[0] % of_keys[0]:
        return 0, 0
    keys = files.tensor(key).reshape(-1, head_dim, shape[1])
    queries = files.tensor(query).reshape(len(keys), -1, head_dim, shape[1])
    return votes_for_halves(queries[:, :, :rotary_dim], keys[:, :rotary_dim])
