"""Convolutional position embedding: a convolution over the sequence, whose output is added to the
input.
"""

import math
import re

import numpy as np

from generator.checkpoints.model.tensor_names import in_order, misshapen, stack, stack_kind
from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Convolution, Form
from generator.errors import RowError
from generator.numerics.arrays import Floats, frozen

WORDING = Wording("schemes/convolution.md.jinja")
UNUSED = frozenset({"wav2vec2-conformer"})  # Their code builds the module and never calls it.

# The weight, or its direction under weight normalisation (arXiv 1602.07868).
NAME = re.compile(
    r"(^|\.)pos_conv_embed\.(layers\.(?P<number>\d+)\.)?conv\."
    r"(?P<kind>weight|weight_v|parametrizations\.weight\.original1)$"
)
LENGTH = {
    "weight_v": "weight_g",
    "parametrizations.weight.original1": "parametrizations.weight.original0",
}
MOST_VALUES = 2**27


def find(files: Files) -> list[Encoding[Form]]:
    """One convolution for every matching weight; none for families that do not use theirs.

    errors: RowError when a weight has an unexpected shape, or its length is missing
    """
    if files.config.family in UNUSED:
        return []
    matches = {name: NAME.search(name) for name in in_order(files.tensors)}
    return [_encoding(files, name, match) for name, match in matches.items() if match]


def _encoding(files: Files, name: str, match: re.Match[str]) -> Encoding[Form]:
    shape = files.tensors[name].shape
    if len(shape) != 3 or not 1 <= math.prod(shape) <= MOST_VALUES:
        raise misshapen(files, name, "(channels, channels of a group, width)")
    n_channels, of_group, width = shape
    notes = [WORDING("groups", n_channels=n_channels, of_group=of_group)]
    weights = files.tensor(name)
    if match["kind"] in LENGTH:
        weights = _normalised(files, name, name[: match.start("kind")] + LENGTH[match["kind"]])
        notes.append(WORDING("normalised"))
    # Padded by width // 2 on both sides; where the width is even, the last output is dropped.
    form = Convolution(frozen(weights), frozen(np.arange(width) - width // 2))
    part = f"{stack(name)} convolution {match['number']}" if match["number"] else stack(name)
    origin = Provenance.of(files, name)
    return Encoding(part, SCHEME.key, form, origin, tuple(notes), "audio", stack_kind(name))


def _normalised(files: Files, name: str, length_name: str) -> Floats:
    """The weights (n_channels, n_channels_of_group, width): length times direction."""
    weights = files.tensor(name)
    expected = (1, 1, weights.shape[2])
    if length_name not in files.tensors or files.tensors[length_name].shape != expected:
        raise RowError(
            f"{files.where}: {name} without a tensor {length_name} of shape {expected}; expected"
            " both"
        )
    directions = np.sqrt(np.sum(weights**2, axis=(0, 1), keepdims=True))
    unit = np.divide(weights, directions, out=np.zeros_like(weights), where=directions > 0.0)
    return np.asarray(unit * files.tensor(length_name))


SCHEME = Scheme(
    key="convolution",
    paper="1904.11660",
    plural="convolutions",
    also=("convolutional positional embedding (wav2vec 2.0)",),
    acts_in="input",
    after="transformer_xl",
    find=find,
)
