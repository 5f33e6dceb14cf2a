"""Readers of the three ways to store the bias of a window."""

from itertools import product
from math import isqrt

import numpy as np

from generator.checkpoints.model.patch_grid import Grid, config_grids, pair, section_grids
from generator.checkpoints.model.tensor_names import misshapen
from generator.contracts import Files, ModelConfig
from generator.contracts.wording import Wording
from generator.errors import RowError
from generator.numerics.arrays import Floats

WORDING = Wording("schemes/window_bias.md.jinja")
SPECIAL = 3  # Rows of BEiT for [CLS] to a patch, a patch to [CLS], and [CLS] to itself.
LARGEST = 512  # Patches per side; the largest window in use has 64.
# Liu et al. 2022: 16 · sigmoid, and coordinates up to ±8 before the logarithm.
REACH, STEEP = 16.0, 8.0


# The bias of a window, (n_heads, 2 · n_rows − 1, 2 · n_columns − 1), logits by offset, key minus
# query, (0, 0) in the middle; and a note on the way it is stored.
Unfolded = tuple[Floats, str]


def from_table(files: Files, name: str) -> Unfolded:
    """The bias from a table (n_offsets, n_heads) in the order of query minus key (Swin); BEiT has
    three more rows, for [CLS].

    errors: RowError when no window has this number of rows
    """
    table = files.tensor(name)
    rows, columns, special = _window(files, name, table.shape)
    values = table[: len(table) - special].T.reshape(-1, 2 * rows - 1, 2 * columns - 1)
    note = WORDING("in_table", window=(rows, columns), n_special=special, n_rows=len(table))
    return values[:, ::-1, ::-1], note


def from_sizes(files: Files, name: str) -> Unfolded:
    """The bias from a table (n_heads, n_rows · n_columns) by size of offsets, whatever their signs
    (LeViT).

    errors: RowError when the number of columns is not a square
    """
    table = files.tensor(name)
    side = isqrt(table.shape[1]) if table.ndim == 2 else 0
    if side < 1 or side * side != table.shape[1]:
        raise misshapen(files, name, "(heads, a square number of offsets)")
    size = np.abs(np.arange(1 - side, side))
    values = table.reshape(-1, side, side)[:, size[:, None], size]
    return values, WORDING("by_size", side=side)


def from_network(files: Files, stem: str, stage: int | None) -> Unfolded:
    """The bias from a network of two layers (Swin v2): 16 · sigmoid(W₂ · relu(W₁ · offset + b₁)).

    stage: number of times that the grid of patches is halved before this layer; None for a model
        without stages
    errors: RowError when the config has no window, or a weight is missing or has an unexpected
        shape
    """
    names = [f"{stem}.{end}" for end in ("0.weight", "0.bias", "2.weight")]
    shapes = [files.tensors[name].shape if name in files.tensors else () for name in names]
    width = shapes[0][:1]
    if shapes[0][1:] != (2,) or shapes[1] != width or shapes[2][1:] != width:
        raise RowError(
            f"{files.where}: {stem} has weights {', '.join(map(str, shapes))}; expected (n, 2),"
            " (n), (heads, n)"
        )
    first, shift, second = (files.tensor(name) for name in names)
    window, trained = _configured(files, stage)
    # (n_rows, n_columns, n), one for each offset
    hidden = np.maximum(_coordinates(window, trained) @ first.T + shift, 0.0)
    values = REACH / (1.0 + np.exp(-np.moveaxis(hidden @ second.T, -1, 0)))
    return values[:, ::-1, ::-1], WORDING("from_network", side=window, network=stem)


def _coordinates(window: int, trained: int) -> Floats:
    """Input of the network by offset, query minus key: (2 · window − 1, 2 · window − 1, 2), for
    rows and columns.

    sign · log₂(1 + 8 |offset| / (trained − 1)) / log₂ 8
    trained: patches per side of the window in training; 0 for ``window``
    """
    # In float32, as in the models; the factor of 16 would show the difference.
    offsets = (
        np.arange(1 - window, window, dtype=np.float32)
        / np.float32(max((trained or window) - 1, 1))
        * np.float32(STEEP)
    )
    scaled = (
        np.sign(offsets) * np.log2(np.float32(1.0) + np.abs(offsets)) / np.float32(np.log2(STEEP))
    ).astype(np.float64)
    return np.stack(np.meshgrid(scaled, scaled, indexing="ij"), axis=-1)


def _window(files: Files, name: str, shape: tuple[int, ...]) -> tuple[int, int, int]:
    """n_rows and n_columns of the window, and the number of rows of the table for special
    tokens.
    """
    n_rows = shape[0] if len(shape) == 2 else 0
    sides = [isqrt(max(n_rows - special, 0)) for special in (0, SPECIAL)]
    squares = [((side + 1) // 2, (side + 1) // 2) for side in sides if side % 2]
    for (rows, columns), special in product([*_windows(files.config), *squares], (0, SPECIAL)):
        if (2 * rows - 1) * (2 * columns - 1) + special == n_rows:
            return rows, columns, special
    expected = f"(2 · rows − 1) · (2 · columns − 1) offsets, or {SPECIAL} more, by heads"
    raise misshapen(files, name, expected)


def _windows(config: ModelConfig) -> list[Grid]:
    """Windows in the config, then its grids of patches."""
    windows = (pair(section.value("window_size")) for section in config.nested())
    return [*(window for window in windows if window), *config_grids(config)]


def _configured(files: Files, stage: int | None) -> tuple[int, int]:
    """Patches per side of the window, at most the rows of the grid, and that in training, 0 for the
    same.
    """
    for section in files.config.nested():
        if window := pair(section.value("window_size")):
            rows = [grid[0] >> (stage or 0) for grid in section_grids(section)][:1]
            pretrained = section.listed("pretrained_window_sizes")
            trained = pretrained[stage] if stage is not None and stage < len(pretrained) else 0
            side = min([window[0], *rows])
            if 0 < side <= LARGEST and isinstance(trained, int) and 0 <= trained <= LARGEST:
                return side, trained
    raise RowError(
        f"{files.where}: config.json has no window_size from 1 to {LARGEST}; expected one, since"
        " the bias is made from it"
    )
