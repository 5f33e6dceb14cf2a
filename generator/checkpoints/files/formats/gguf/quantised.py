"""Numbers of the types of ggml: plain ones, and blocks of small whole numbers that share a
scale.
"""

from functools import cache

import numpy as np

from generator.checkpoints.files.tensors import READABLE, decode
from generator.contracts import Storage, StoredTensor, TensorInfo
from generator.contracts.wording import Wording
from generator.errors import NotNumbersError
from generator.numerics.arrays import Floats

NOTES = Wording("wording/notes.jinja")
SMALL = {"I8": "<i1", "I16": "<i2"}
# Values with a scale of their own within a block, where these are fewer than the block has
# (ggml-common.h of ggml).
SUBBLOCKS = {
    "Q2_K": 16, "Q3_K": 16, "Q4_K": 32, "Q5_K": 32, "Q6_K": 16, "IQ2_XXS": 32, "IQ2_XS": 16,
    "IQ2_S": 16, "IQ3_XXS": 32, "IQ3_S": 32,
    "IQ1_S": 32, "IQ1_M": 16, "IQ4_XS": 32, "NVFP4": 16,
}  # fmt: skip


def stored_tensor(
    storage: Storage, header: TensorInfo, start: int, stop: int, where: str
) -> StoredTensor:
    """A tensor of a type of ggml whose bytes are ``start`` to ``stop`` (exclusive) of its file.

    where: its name in messages
    """

    def part(first: int, last: int) -> bytes:
        return storage.part(header.file, start + first, start + last)

    def numbers(data: bytes | memoryview, shape: tuple[int, ...]) -> Floats:
        return values(data, header.dtype, shape, where)

    @cache
    def notes() -> tuple[str, ...]:
        if header.dtype in READABLE or header.dtype in SMALL:
            return ()
        return (step_note(numbers(part(0, stop - start), header.shape), header.dtype),)

    return StoredTensor(header, stop - start, part, numbers, notes)


def values(data: bytes | memoryview, kind: str, shape: tuple[int, ...], where: str) -> Floats:
    """``data`` of the type ``kind`` as an array of ``shape`` in float64.

    errors: NotNumbersError for a type that the library gguf cannot turn into numbers
    """
    if kind in READABLE:
        return decode(data, kind, shape, where)
    if kind in SMALL:
        return np.frombuffer(data, dtype=SMALL[kind]).astype(np.float64).reshape(shape)
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
    from gguf.quants import dequantize

    number = GGMLQuantizationType[kind]
    blocks = np.frombuffer(data, dtype=np.uint8).reshape(-1, GGML_QUANT_SIZES[number][1])
    try:
        # A scale may be any number, as it may in a file of float32.
        with np.errstate(all="ignore"):
            return np.asarray(dequantize(blocks, number), dtype=np.float64).reshape(shape)
    except NotImplementedError:
        raise NotNumbersError(
            f"{where}: type {kind}, which the gguf library cannot decode; expected one that it can"
        ) from None


def step_note(numbers: Floats, kind: str) -> str:
    """A sentence on the type ``kind``, with the median over blocks of the smallest difference
    between two of their values.
    """
    block = scaled_block(kind)
    ordered = np.sort(numbers.reshape(-1, block), axis=1)
    with np.errstate(invalid="ignore"):  # Between two that are infinite.
        differences = np.diff(ordered, axis=1)
    smallest = np.where(differences > 0.0, differences, np.inf).min(axis=1)
    steps = smallest[np.isfinite(smallest)]
    step = float(np.median(steps)) if steps.size else None
    return NOTES("blocks", kind=kind, size=block, step=step)


def scaled_block(kind: str) -> int:
    """Number of consecutive values that share a scale."""
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    return SUBBLOCKS.get(kind) or int(GGML_QUANT_SIZES[GGMLQuantizationType[kind]][0])
