"""The grid of patches of an image model, and the rows of its position table that are patches."""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from math import isqrt

from generator.contracts import ModelConfig
from generator.contracts.wording import Wording

NOTES = Wording("wording/notes.jinja")
Grid = tuple[int, int]
SIZES, STEPS = (
    ("image_size", "pretrain_image_size", "input_size"),
    (
        "patch_size",
        "patch_stride",
        "tubelet_size",
    ),
)
# No special token (SigLIP), [CLS] (ViT), [CLS] and the distillation token (DeiT).
SPECIAL = ((0, 0), (1, 0), (2, 0))
# Words in names of tables that count frames.
IN_TIME = frozenset({"time", "temporal", "frame", "frames", "mit"})


@dataclass(frozen=True)
class Lattice:
    """The arrangement of the rows of a stored table.

    before, after: number of rows of special tokens; grid: rows and columns of patches, None without
        a grid
    source: origin of the grid, as the end of a sentence
    """

    before: int = 0
    after: int = 0
    grid: Grid | None = None
    source: str = ""


def lattice_of(name: str, n_rows: int, config: ModelConfig) -> Lattice:
    """The lattice of a table of ``n_rows`` rows: a grid that the config gives, otherwise a square
    if one fits; no grid for clips, and for tables that count frames.
    """
    if _is_in_time(name):
        return Lattice()
    grids = config_grids(config)
    special = [*SPECIAL, *_special(config)]
    fits = (Lattice(before, after, grid, NOTES("by_config")) for grid in grids for before,
        after in special
            if before + after + grid[0] * grid[1] == n_rows)  # fmt: skip
    if (fit := next(fits, None)) is not None:
        return fit
    if _has_clips(config):
        # Patches of several frames, which have no grid of two dimensions.
        has_class = any((n_rows - 1) % (rows * columns) == 0 for rows, columns in grids)
        return Lattice(1 if has_class else 0)
    return _square(n_rows, set(grids))


def counts_patches(name: str, config: ModelConfig) -> bool:
    """Whether the rows of a table are patches of one image, by its name and its config."""
    return not _is_in_time(name) and not _has_clips(config)


def _is_in_time(name: str) -> bool:
    return not IN_TIME.isdisjoint(re.split(r"[._]", name))


def _has_clips(config: ModelConfig) -> bool:
    return any("tubelet_size" in section for section in config.nested())


def _square(n_rows: int, configured: Set[Grid]) -> Lattice:
    """A square of all rows, or of all but [CLS]; no number of rows from four on fits both.

    configured: grids that do not fit, the only one of which is named
    """
    for before in (0, 1):
        side = isqrt(max(n_rows - before, 0))
        if side > 1 and side * side == n_rows - before:
            given = next(iter(configured)) if len(configured) == 1 else None
            return Lattice(before, 0, (side, side), NOTES("square", given=given))
    return Lattice()


def _special(config: ModelConfig) -> Iterator[tuple[int, int]]:
    """Numbers of special rows before and after the patches: class tokens (Pixio), detection tokens
    at the end (YOLOS).
    """
    for section in config.nested():
        for key, before in (("n_cls_tokens", None), ("num_detection_tokens", 1)):
            if (count := section.count(key)) is not None:
                yield (count, 0) if before is None else (before, count)


def config_grids(config: ModelConfig) -> list[Grid]:
    """Every grid from the sizes of images and patches, in a config and in nested ones."""
    return [grid for section in config.nested() for grid in section_grids(section)]


def section_grids(config: ModelConfig) -> Iterator[Grid]:
    """Grids from the sizes of images and patches in one config, without nested ones."""
    yield from _spectrogram(config)
    for size in (pair(config.value(key)) for key in SIZES):
        for step in (pair(config.value(key)) for key in STEPS):
            if size and step and size[0] >= step[0] and size[1] >= step[1]:
                yield size[0] // step[0], size[1] // step[1]


def _spectrogram(config: ModelConfig) -> Iterator[Grid]:
    """The grid of a spectrogram with overlapping patches, frequencies by times (AST)."""
    keys = ("num_mel_bins", "max_length", "patch_size", "frequency_stride", "time_stride")
    bins, length, patch, down, across = (config.count(key) or 0 for key in keys)
    if bins >= patch and length >= patch and patch and down and across:
        yield (bins - patch) // down + 1, (length - patch) // across + 1


def pair(value: object) -> Grid | None:
    """Rows and columns from one number, from two, or from the last two of three; None for other
    values.
    """
    if isinstance(value, int):
        return (value, value) if value > 0 else None
    match tuple(value)[-2:] if isinstance(value, list | tuple) else ():
        case (int(rows), int(columns)) if rows > 0 and columns > 0:
            return rows, columns
    return None
