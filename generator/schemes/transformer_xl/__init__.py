"""Relative positional encoding of Transformer-XL: a sinusoid of the offset, mapped and multiplied
with a learned global bias.
"""

import re
from collections.abc import Iterator

import numpy as np

from generator.checkpoints.model.tensor_names import in_order, modality, parts, stack, stack_kind
from generator.contracts import Encoding, Files, Numbers, Picture, Provenance, Scheme
from generator.contracts.words import Words
from generator.encodings import Form, OffsetBias
from generator.encodings.sinusoids import sinusoid_at
from generator.errors import RowError
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Panel
from generator.figures.style import DIVERGING
from generator.numerics.arrays import Floats, frozen
from generator.schemes.transformer_xl.audio import MOST_WIDE, mapped

WORDS = Words("schemes/transformer_xl.md.jinja")
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
        return clamp, WORDS("clamped", furthest=clamp)
    shown = min(SHOWN, files.config.size("n_positions") or SHOWN)
    return shown, WORDS("continues", n_shown=shown)


def _notes(name: str, map_name: str, head_dim: int) -> Iterator[str]:
    bias, through = (tensor.removesuffix(".weight").split(".")[-1] for tensor in (name, map_name))
    yield WORDS("position_alone", bias=bias, through=through, head_dim=head_dim)
    yield WORDS("with_query_too")
    if through == POOLED:
        yield WORDS("pooled")


N_SHOWN, HEAD_DIM = 16, 8


def _numbers() -> Numbers:
    """The four terms of a logit, from random vectors: (n_positions, n_positions) each, query by
    key.
    """
    draws = np.random.default_rng(0)
    queries, keys = draws.normal(size=(2, N_SHOWN, HEAD_DIM))
    towards_content, towards_offset = draws.normal(size=(2, HEAD_DIM))
    offsets = np.arange(1 - N_SHOWN, N_SHOWN)
    # (n_offsets, head_dim)
    waves = sinusoid_at(-offsets, HEAD_DIM, "halves")
    mapped = waves @ draws.normal(size=(HEAD_DIM, HEAD_DIM))
    index = np.arange(N_SHOWN)
    # (n_positions, n_positions, head_dim)
    of_pair = mapped[index[None, :] - index[:, None] + N_SHOWN - 1]
    products = {
        "content": queries @ keys.T,
        "offset": np.einsum("id,ijd->ij", queries, of_pair),
        "content_bias": np.broadcast_to(keys @ towards_content, (N_SHOWN, N_SHOWN)),
        "offset_bias": of_pair @ towards_offset,
    }
    return {name: product / np.sqrt(HEAD_DIM) for name, product in products.items()}


def _draw(numbers: Numbers) -> Figure:
    titles = ("query · key", "query · offset", "u · key", "v · offset")
    shown = [Panel(title, term) for title, term in zip(titles, numbers.values(), strict=True)]
    labels = ("key position", "query position", "part of the logit")
    return image_panels(shown, (-4.0, 4.0), DIVERGING, labels, square=True)


PICTURE = Picture.of(
    WORDS,
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: np.sum(list(numbers.values()), axis=0),
)


SCHEME = Scheme(
    key="transformer_xl",
    paper="1901.02860",
    also=("relative positional encoding with the biases u and v",),
    acts_in="logits",
    order=36,
    find=find,
    picture=PICTURE,
)
