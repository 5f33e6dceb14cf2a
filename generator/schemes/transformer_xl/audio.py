"""Mapped sinusoids of the offset, without a bias, in audio stacks of Gemma."""

import re
from collections.abc import Iterator

import numpy as np

from generator.checkpoints.model.tensor_names import in_order, misshapen, parts
from generator.contracts import Encoding, Files, ModelConfig, Provenance
from generator.contracts.wording import Wording
from generator.encodings import Form, RelativeTable
from generator.encodings.sinusoids import sinusoid_at
from generator.errors import RowError
from generator.numerics.arrays import Array, frozen
from generator.text import as_json

WORDING = Wording("schemes/transformer_xl.md.jinja")
# Audio stacks without a bias: pattern for the name of the map, and prefix of their settings.
AUDIO = {
    "gemma3n_audio": (re.compile(r"(^|\.)relative_position_embedding\.pos_proj\.weight$"), "conf_"),
    "gemma4_audio": (re.compile(r"(^|\.)self_attn\.relative_k_proj\.weight$"), ""),
}
DEFAULTS = {"attention_chunk_size": 12, "attention_context_left": 13, "attention_context_right": 0}
FURTHEST, MOST_WIDE = 4096, 2**16


def mapped(files: Files, scheme: str) -> Iterator[Encoding[Form]]:
    """The vectors of every layer of the audio stack, under ``scheme``; none for other families.

    errors: RowError when a map or a setting is invalid
    """
    sections = (files.config, files.config.section("audio_config"))
    config = next((each for each in sections if each and each.family in AUDIO), None)
    if config is None:
        return
    pattern, _ = AUDIO[config.family]
    names = [name for name in in_order(files.tensors) if pattern.search(name)]
    for name, part in parts(dict.fromkeys(names, "audio encoder")).items():
        form, origin = _form(files, name, config), Provenance.of(files, name)
        notes = (WORDING("mapped", through=name.split(".")[-2]), WORDING("no_bias"))
        yield Encoding(part, scheme, form, origin, notes, "audio")


def counted(config: ModelConfig) -> tuple[Array, Array]:
    """Offsets with a vector (key minus query), and the arguments of their sinusoids: (n_offsets,)
    each, positions.

    Gemma 3n has a vector for each offset in reach; Gemma 4 for half of the context of a chunk,
    counted down to 0.
    errors: RowError for an invalid setting
    """
    _, start = AUDIO[config.family]
    chunk, left, right = (
        _number(config, f"{start}{key}", default) for key, default in DEFAULTS.items()
    )
    past = max(left - 1, 0)
    first, last = (past, -right) if start else ((chunk + left - 1 + right) // 2, 0)
    counts = np.arange(first, last - 1, -1)
    return np.arange(counts.size) - past, counts


def _form(files: Files, name: str, config: ModelConfig) -> RelativeTable:
    """Sinusoids of a layer, after its map.

    errors: RowError when the map is no matrix, or its width is odd
    """
    shape = files.tensors[name].shape
    if len(shape) != 2 or shape[1] % 2 or not 0 < min(shape) <= max(shape) <= MOST_WIDE:
        raise misshapen(files, name, "two dimensions, the second of them even")
    offsets, counts = counted(config)
    # Wavelengths from 2π to 2π · 10,000, both included.
    vectors = sinusoid_at(counts, shape[1], "tensor2tensor") @ files.tensor(name).T
    return RelativeTable(frozen(vectors), frozen(offsets))


def _number(config: ModelConfig, name: str, default: int) -> int:
    value = config.value(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= FURTHEST:
        raise RowError(
            f"{config.where}: {name} is {as_json(value)}; expected a whole number from 0 to"
            f" {FURTHEST:,}"
        )
    return value
