"""Tables, biases, rotations, windows and convolutions, usual and degenerate ones."""

from typing import Any

import numpy as np

from generator.encodings import (
    Convolution,
    Form,
    NoEncoding,
    OffsetBias,
    PositionTable,
    RelativeTable,
    Rotation,
    WindowBias,
    sinusoid,
)
from generator.numerics.arrays import frozen

draws = np.random.default_rng(0)


def table(values: Any) -> PositionTable:
    return PositionTable(frozen(values))


def patches(values: Any, rows: int, columns: int) -> PositionTable:
    return PositionTable(frozen(values), grid=(rows, columns))


def bias(values: Any, causal: bool = False) -> OffsetBias:
    """As many offsets as there are values, up to 0 or around it."""
    array = frozen(values)
    last = 0 if causal else array.shape[1] // 2
    return OffsetBias(
        array,
        frozen(np.arange(array.shape[1]) - array.shape[1] + 1 + last),
        causal,
        "linear" if causal else "constant",
    )


TABLES: dict[str, Any] = {
    "random": draws.normal(0, 0.02, (40, 24)),
    "sinusoid": sinusoid(64, 16),
    "constant": np.full((20, 8), 0.5),
    "zeros": np.zeros((20, 8)),
    "rank one": np.outer(np.arange(1.0, 21.0), draws.normal(size=8)),
    "one row": draws.normal(size=(1, 8)),
    "two rows": draws.normal(size=(2, 8)),
    "one column": draws.normal(size=(20, 1)),
    "one value": [[0.5]],
    "one row not zero": np.eye(20, 8)[[0, *range(9, 20), *range(9, 17)]],
    "every other row zero": draws.normal(size=(20, 8)) * (np.arange(20) % 2)[:, None],
    "one huge value": np.eye(20, 8) * 1e300,
    "tiny values": draws.normal(size=(20, 8)) * 1e-300,
    "NaN": np.full((20, 8), np.nan),
    "one NaN": np.where(np.eye(20, 8) > 0, np.nan, 1.0),
    "one infinity": np.where(np.eye(20, 8) > 0, np.inf, 1.0),
    "large": draws.normal(0, 0.02, (514, 768)),
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
OTHERS: dict[str, Form] = {
    "bias of many heads": bias(np.repeat(draws.normal(size=(64, 43)), 6, axis=1)),
    "bias of one head": bias(draws.normal(size=(1, 9))),
    "causal bias": bias(-np.outer(2.0 ** -np.arange(1, 9), np.arange(128)[::-1]), causal=True),
    "bias of zeros": bias(np.zeros((2, 9))),
    "bias of one offset": bias(np.ones((2, 1)), causal=True),
    "huge bias": bias(draws.normal(size=(2, 9)) * 1e300),
    "bias with NaN": bias(np.full((2, 9), np.nan)),
    "bias with infinity": bias(np.where(np.eye(2, 9) > 0, -np.inf, 0.0)),
    "rotation": Rotation(1e4, 32, 64, 512),
    "rotation of one pair": Rotation(1e4, 2, 2, 1),
    "scaled rotation": Rotation(5e5, 128, 128, 131072, LLAMA3),
    "rotation by base one": Rotation(1.0, 8, 8, 64),
    "vectors by offset": RelativeTable(
        frozen(draws.normal(size=(33, 8))), frozen(np.arange(-16, 17))
    ),
    "vectors by offset, zeros": RelativeTable(frozen(np.zeros((5, 8))), frozen(np.arange(-2, 3))),
    "vectors by offset, NaN": RelativeTable(
        frozen(np.full((5, 8), np.nan)), frozen(np.arange(-2, 3))
    ),
    "one vector by offset": RelativeTable(frozen(draws.normal(size=(1, 8))), frozen([0])),
    "window": WindowBias(frozen(draws.normal(size=(3, 13, 13)))),
    "narrow window": WindowBias(frozen(draws.normal(size=(1, 1, 3)))),
    "window of one patch": WindowBias(frozen(np.ones((2, 1, 1)))),
    "window of zeros": WindowBias(frozen(np.zeros((2, 5, 5)))),
    "window with NaN": WindowBias(frozen(np.full((2, 5, 5), np.nan))),
    "convolution": Convolution(frozen(draws.normal(size=(8, 2, 16))), frozen(np.arange(-8, 8))),
    "convolution of one weight": Convolution(frozen(draws.normal(size=(8, 2, 1))), frozen([0])),
    "convolution of zeros": Convolution(frozen(np.zeros((8, 2, 3))), frozen([-1, 0, 1])),
    "convolution with NaN": Convolution(frozen(np.full((8, 2, 3), np.nan)), frozen([-1, 0, 1])),
    "nothing": NoEncoding("the test says so"),
    "patches": patches(draws.normal(size=(12, 8)), 3, 4),
    "many patches": patches(draws.normal(size=(24 * 30, 8)), 24, 30),
    "row of patches": patches(draws.normal(size=(6, 8)), 1, 6),
    "one patch": patches(draws.normal(size=(1, 8)), 1, 1),
    "patches of zeros": patches(np.zeros((12, 8)), 3, 4),
    "every other patch zero": patches(
        draws.normal(size=(12, 8)) * (np.arange(12) % 2)[:, None], 3, 4
    ),
    "huge patches": patches(draws.normal(size=(12, 8)) * 1e300, 3, 4),
    "patches with NaN": patches(np.full((12, 8), np.nan), 3, 4),
    "window of many heads": WindowBias(frozen(draws.normal(size=(24, 13, 27)))),
    "huge window": WindowBias(frozen(draws.normal(size=(2, 5, 5)) * 1e300)),
}
EXAMPLES: dict[str, Form] = {
    **{f"table: {name}": table(values) for name, values in TABLES.items()},
    **OTHERS,
}
