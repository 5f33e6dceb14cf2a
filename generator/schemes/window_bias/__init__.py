"""Window bias (Swin, BEiT, LeViT): a number for each head and two-dimensional offset between the
patches of a window.
"""

import re
from collections import Counter

import numpy as np

from generator.checkpoints.model import tensor_names
from generator.checkpoints.model.tensor_names import in_order, misshapen
from generator.contracts import Encoding, Files, Modality, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, WindowBias
from generator.numerics.arrays import frozen
from generator.schemes.window_bias.stored import Unfolded, from_network, from_sizes, from_table

WORDING = Wording("schemes/window_bias.md.jinja")
TABLE = re.compile(r"(^|\.)relative_position_bias_table$")
SIZES = re.compile(r"(^|\.)attention_biases$")
NETWORK = re.compile(r"(^|\.)(continuous_position_bias_mlp|cpb_mlp)\.2\.weight$")
KINDS = (TABLE, SIZES, NETWORK)
NUMBER = re.compile(r"(?:^|\.)\w+\.(\d+)(?=\.)")
HALVED = re.compile(r"layers\.(\d+)\.blocks\.\d+\.")
# Layers between two stages of LeViT.
HALVING = re.compile(r"(^|\.)stages\.\d+\.layers\.\d+\.attention_biases$")


def find(files: Files) -> list[Encoding[Form]]:
    """One bias for every matching tensor.

    errors: RowError when the shape of a tensor and the config do not match, or a weight is missing
    """
    names = [name for name in files.tensors if any(kind.search(name) for kind in KINDS)]
    parts = {name: _part(name) for name in in_order(names)}
    counts = Counter(parts.values())
    return [
        _encoding(files, name, part if counts[part] == 1 else f"{part} of {_stem(name)}")
        for name, part in parts.items()
    ]


def _stem(name: str) -> str:
    """The name of the module of a tensor."""
    return next(kind.sub("", name) for kind in KINDS if kind.search(name))


def _part(name: str) -> str:
    """Stage and block, or layer, or neither for a shared bias, from the last numbers in the
    name.
    """
    numbers = NUMBER.findall(f"{_stem(name)}.")[-2:]
    default = "audio" if _modality(name) == "audio" else "vision"
    return (default + ("", " layer {}", " stage {} block {}")[len(numbers)]).format(*numbers)


def _modality(name: str) -> Modality:
    """Audio for the patches of a spectrogram (CLAP), otherwise image."""
    return "audio" if tensor_names.modality(name) == "audio" else "image"


def _encoding(files: Files, name: str, part: str) -> Encoding[Form]:
    values, note = _unfolded(files, name)
    if not values.size:
        raise misshapen(files, name, "one head and one offset at least")
    notes = (note, WORDING("fewer_queries")) if HALVING.search(name) else (note,)
    form = WindowBias(frozen(np.ascontiguousarray(values)))
    return Encoding(part, SCHEME.key, form, Provenance.of(files, name), notes, _modality(name))


def _unfolded(files: Files, name: str) -> Unfolded:
    if TABLE.search(name):
        return from_table(files, name)
    if SIZES.search(name):
        return from_sizes(files, name)
    halved = HALVED.search(name)
    return from_network(files, name.removesuffix(".2.weight"), int(halved[1]) if halved else None)


SCHEME = Scheme(
    key="window_bias",
    paper="2103.14030",
    plural="window biases",
    also=("relative position bias (Swin, BEiT)", "attention bias (LeViT)"),
    acts_in="logits",
    after="decay",
    find=find,
    claims=re.compile(r"bias_table", re.IGNORECASE),
)
