"""Relative positional encoding of Transformer-XL: a sinusoid of the offset, mapped and multiplied
with a learned global bias.
"""

import re
from collections.abc import Iterator

import numpy as np

from generator.checkpoints.model.tensor_names import in_order, modality, parts, stack, stack_kind
from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, OffsetBias
from generator.encodings.sinusoids import sinusoid_at
from generator.errors import RowError
from generator.numerics.arrays import Floats, frozen
from generator.schemes.transformer_xl.audio import MOST_WIDE, mapped

WORDING = Wording("schemes/transformer_xl.md.jinja")
SHOWN = 128  # Largest offset in the form.
# Conformers with an encoder of phonemes.
TEXT_ENCODERS = frozenset({"fastspeech2_conformer", "fastspeech2_conformer_with_hifigan"})
BIASES = re.compile(r"(^|\.)(r_r_bias|pos_bias_v|bias_v)$")
POOLED = "r_kernel"  # In Funnel, whose later blocks have fewer positions.
# Names of the learned map by the name of the bias. Rows of the map are outputs, except in the first
# two.
MAPS = {
    "r_r_bias": ("r", POOLED),
    "pos_bias_v": ("linear_pos.weight",),
    "bias_v": ("relative_k_proj.weight",),
}
HALVES = "r_r_bias"  # XLNet and Funnel: sines, then cosines; conformers: interleaved.


def find(files: Files) -> list[Encoding[Form]]:
    """One bias for every layer with a bias and a map, and one table for every layer of an audio
    stack of Gemma.

    errors: RowError when the shapes of a bias and its map do not match, or a setting is invalid
    """
    maps = {
        name: map_name for name in in_order(files.tensors) if (map_name := _map_of(files, name))
    }
    part = parts({name: stack(name) for name in maps})
    biases = [_encoding(files, name, map_name, part[name]) for name, map_name in maps.items()]
    return [*biases, *mapped(files, SCHEME.key)]


def _map_of(files: Files, name: str) -> str | None:
    match = BIASES.search(name)
    stems = [name[: match.start(2)] + end for end in MAPS[match[2]]] if match else []
    return next((stem for stem in stems if stem in files.tensors), None)


def _encoding(files: Files, name: str, map_name: str, part: str) -> Encoding[Form]:
    halves = name.endswith(HALVES)
    bias, through = _term(files, name, map_name, halves)
    _, head_dim, width = through.shape
    reach, clamped = _reach(files)
    offsets = np.arange(-reach, reach + 1)
    towards = np.einsum("nd,ndw->nw", bias, through)  # (n_heads, width)
    # Of query minus key (Dai et al. 2019, arXiv 1901.02860, section 3.3).
    waves = sinusoid_at(-offsets, width, "halves" if halves else "interleaved")
    values = towards @ waves.T / np.sqrt(head_dim)
    form = OffsetBias(frozen(values), frozen(offsets), causal=False, beyond="constant")
    notes = (*_notes(name, map_name, head_dim), clamped)
    # Conformers hear sound, except for encoders of phonemes.
    of_phonemes = files.config.family in TEXT_ENCODERS and stack(name) == "encoder"
    place = (modality(name) if halves or of_phonemes else "audio", stack_kind(name))
    return Encoding(part, SCHEME.key, form, Provenance.of(files, name), notes, *place)


def _term(files: Files, name: str, map_name: str, halves: bool) -> tuple[Floats, Floats]:
    """Bias (n_heads, head_dim) and map (n_heads, head_dim, width) of a layer.

    errors: RowError when they do not have the same heads, or the width is odd
    """
    shape, bias = files.tensors[map_name].shape, files.tensors[name].shape
    fits = (
        len(bias) == 2
        and len(shape) == (3 if halves else 2)
        and min(*bias, *shape) > 0
        and max(shape) <= MOST_WIDE
    )
    fits = fits and (shape[1:] == bias if halves else shape[0] == bias[0] * bias[1])
    width = shape[0] if halves else shape[-1]
    if not fits or width % 2:
        raise RowError(
            f"{files.where}: {name} has shape {bias} and {map_name} {shape}; expected the same"
            " heads, and an even width"
        )
    table = files.tensor(map_name)
    through = np.moveaxis(table, 0, 2) if halves else table.reshape(*bias, width)
    return files.tensor(name), through


def _reach(files: Files) -> tuple[int, str]:
    """Largest offset in the form, and a note on those beyond."""
    clamp = files.config.anywhere.count("clamp_len")
    if clamp is not None and clamp <= SHOWN:
        return clamp, WORDING("clamped", furthest=clamp)
    shown = min(SHOWN, files.config.size("n_positions") or SHOWN)
    return shown, WORDING("continues", n_shown=shown)


def _notes(name: str, map_name: str, head_dim: int) -> Iterator[str]:
    bias, through = (tensor.removesuffix(".weight").split(".")[-1] for tensor in (name, map_name))
    yield WORDING("position_alone", bias=bias, through=through, head_dim=head_dim)
    yield WORDING("with_query_too")
    if through == POOLED:
        yield WORDING("pooled")


SCHEME = Scheme(
    key="transformer_xl",
    paper="1901.02860",
    also=("relative positional encoding with the biases u and v",),
    acts_in="logits",
    after="shaw",
    find=find,
)
