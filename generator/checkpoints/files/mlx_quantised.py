"""Matrices as MLX quantises them: packed whole numbers of a few bits, with a scale and a bias for
each group of a row.

A matrix called X.weight has X.scales and X.biases beside it, and config.json has bits and the size
of a group (mlx.core.quantize; mlx_lm.utils). A value is number × scale + bias. The numbers of a row
follow each other bit by bit, the lowest first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from generator.checkpoints.files.tensors import READABLE, decode
from generator.contracts import Json, StoredTensor, TensorInfo
from generator.contracts.wording import Wording
from generator.numerics.arrays import Array, Floats

NOTES = Wording("wording/notes.jinja")
PACKED = "U32"
WEIGHT, SCALES, BIASES = ".weight", ".scales", ".biases"
MOST_BITS = 8


@dataclass(frozen=True)
class Quantised:
    """A matrix of (n_rows, n_columns) in groups of ``group`` columns. parts: packed numbers, scales
    and biases
    """

    parts: tuple[StoredTensor, StoredTensor, StoredTensor]
    bits: int
    group: int
    where: str

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix."""
        n_rows, n_words = self.parts[0].header.shape
        return n_rows, n_words * 32 // self.bits

    @property
    def is_whole(self) -> bool:
        """Whether bits and group fit the three tensors."""
        packed, *others = (part.header for part in self.parts)
        n_rows, n_columns = self.shape
        fits = n_columns * self.bits == packed.shape[1] * 32 and n_columns % self.group == 0
        return (
            packed.dtype == PACKED
            and min(n_rows, n_columns) > 0
            and fits
            and all(
                other.dtype in READABLE and other.shape == (n_rows, n_columns // self.group)
                for other in others
            )
        )

    @property
    def widths(self) -> tuple[int, ...]:
        """Bytes of a row in each part."""
        return tuple(part.n_bytes // max(self.shape[0], 1) for part in self.parts)

    def part(self, start: int, stop: int) -> bytes:
        """Bytes of the rows one after the other, each with its numbers, scales and biases."""
        width = sum(self.widths)
        first, last = start // width, -(-stop // width)
        rows = [
            np.frombuffer(part.part(first * size, last * size), np.uint8).reshape(-1, size)
            for part, size in zip(self.parts, self.widths, strict=True)
        ]
        joined = np.concatenate(rows, axis=1).tobytes()
        return joined[start - first * width : stop - first * width]

    def numbers(self, content: bytes | memoryview, shape: tuple[int, ...]) -> Floats:
        """The values of whole rows."""
        rows = np.frombuffer(content, np.uint8).reshape(-1, sum(self.widths))
        packed, *others = np.split(rows, np.cumsum(self.widths)[:-1], axis=1)
        scales, biases = (
            self._of_groups(part.header, other)
            for part, other in zip(self.parts[1:], others, strict=True)
        )
        stream = np.unpackbits(packed, axis=1, bitorder="little")
        whole = stream.reshape(len(rows), -1, self.bits) @ (1.0 * (1 << np.arange(self.bits)))
        return (whole * scales + biases).reshape(shape)

    def _of_groups(self, header: TensorInfo, content: Array) -> Floats:
        """The value of a group for each of its columns: (n_rows, n_columns)."""
        shape = (len(content), header.shape[1])
        return np.repeat(decode(content.tobytes(), header.dtype, shape, self.where), self.group, 1)

    def stored(self) -> StoredTensor:
        """The matrix as a tensor."""
        header = TensorInfo(self.parts[0].header.file, f"Q{self.bits}", self.shape)
        note = NOTES("groups", bits=self.bits, size=self.group)
        n_bytes = sum(part.n_bytes for part in self.parts)
        return StoredTensor(header, n_bytes, self.part, self.numbers, lambda: (note,))


def with_floats(
    stored: Mapping[str, StoredTensor], settings: Json, where: str
) -> Mapping[str, StoredTensor]:
    """``stored``, with each quantised matrix in place of its three tensors.

    settings: of config.json
    """
    general = settings.get("quantization")
    if not isinstance(stored, dict) or not isinstance(general, Mapping):
        return stored
    tensors = dict(stored)
    for name in stored:
        module = name.removesuffix(WEIGHT)
        names = (module + WEIGHT, module + SCALES, module + BIASES)
        if name != names[0] or not all(part in stored for part in names):
            continue
        matrix = _matrix(tuple(stored[part] for part in names), general, module, where)
        if matrix is not None:
            tensors[name] = matrix.stored()
            del tensors[names[1]], tensors[names[2]]
    return tensors


def _matrix(
    parts: tuple[StoredTensor, ...], general: Json, module: str, where: str
) -> Quantised | None:
    """The matrix, by the settings of its module or else the general ones; None where these do not
    fit.
    """
    own = general.get(module)
    bits, group = (
        (own if isinstance(own, Mapping) else general).get(key) for key in ("bits", "group_size")
    )
    if not isinstance(bits, int) or not isinstance(group, int) or len(parts[0].header.shape) != 2:
        return None
    if not 1 < bits <= MOST_BITS or group < 1:
        return None
    packed, scales, biases = parts
    matrix = Quantised((packed, scales, biases), bits, group, f"{where}: {module}{WEIGHT}")
    return matrix if matrix.is_whole else None
