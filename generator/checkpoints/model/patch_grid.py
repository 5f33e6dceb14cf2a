"""How the rows of an image model's position table lie on the grid of its patches."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

from generator.contracts import ModelConfig

Grid = tuple[int, int]
SIZES, STEPS = ("image_size", "pretrain_image_size", "input_size"), ("patch_size", "patch_stride", "tubelet_size")
SPECIAL = ((0, 0), (1, 0), (2, 0))  # None (SigLIP), [CLS] (ViT), [CLS] and the distillation token (DeiT).
IN_TIME = frozenset({"time", "temporal", "frame", "frames", "mit"})  # Words in names of tables that count frames.


@dataclass(frozen=True)
class Lattice:
    """before, after: stored rows of tokens that are no patches; grid: rows and columns of the patches, None where they lie on none."""

    before: int = 0
    after: int = 0
    grid: Grid | None = None
    source: str = ""


def lattice_of(name: str, n_rows: int, config: ModelConfig) -> Lattice:
    """Where the patches stand among ``n_rows`` stored rows: as the config's sizes say, otherwise a square if there is one."""
    if IN_TIME & set(re.split(r"[._]", name)):
        return Lattice()
    grids = stated(config)
    special = [*SPECIAL, *_special(config)]
    fits = (Lattice(before, after, grid, "as config.json says") for grid in grids for before, after in special
            if before + after + grid[0] * grid[1] == n_rows)  # fmt: skip
    return next(fits, None) or (_clips(n_rows, grids) if any("tubelet_size" in each for each in config.nested()) else _square(n_rows))


def _square(n_rows: int) -> Lattice:
    """A square of all rows, or of all but [CLS]: from four rows on, never both."""
    for before in (0, 1):
        side = isqrt(max(n_rows - before, 0))
        if side > 1 and side * side == n_rows - before:
            return Lattice(before, 0, (side, side), "taken to be square")
    return Lattice()


def _clips(n_rows: int, grids: list[Grid]) -> Lattice:
    """A table of several frames, one after the other: no grid of two dimensions holds it."""
    return Lattice(1 if any((n_rows - 1) % (rows * columns) == 0 for rows, columns in grids) else 0)


def _special(config: ModelConfig) -> Iterator[tuple[int, int]]:
    """Counts of special rows that a config states: several class tokens (Pixio), tokens for detection at the end (YOLOS)."""
    for each in config.nested():
        for key, before in (("n_cls_tokens", None), ("num_detection_tokens", 1)):
            if (count := each.count(key)) is not None:
                yield (count, 0) if before is None else (before, count)


def stated(config: ModelConfig) -> list[Grid]:
    """Every grid that the sizes of images and patches give, in a config and in those nested in it."""
    return [grid for each in config.nested() for grid in own_grids(each)]


def own_grids(config: ModelConfig) -> Iterator[Grid]:
    """As ``stated``, of one config alone."""
    yield from _spectrogram(config)
    for size in (pair(config.value(key)) for key in SIZES):
        for step in (pair(config.value(key)) for key in STEPS):
            if size and step and size[0] >= step[0] and size[1] >= step[1]:
                yield size[0] // step[0], size[1] // step[1]


def _spectrogram(config: ModelConfig) -> Iterator[Grid]:
    """Frequencies by times, of patches that overlap (AST)."""
    keys = ("num_mel_bins", "max_length", "patch_size", "frequency_stride", "time_stride")
    bins, length, patch, down, across = (config.count(key) or 0 for key in keys)
    if bins >= patch and length >= patch and patch and down and across:
        yield (bins - patch) // down + 1, (length - patch) // across + 1


def pair(value: object) -> Grid | None:
    """Rows and columns, of one number for both, of two, or of the last two of three."""
    both = (value, value) if isinstance(value, int) else tuple(value)[-2:] if isinstance(value, list | tuple) else ()
    match both:
        case (int(rows), int(columns)) if rows > 0 and columns > 0:
            return rows, columns
    return None
