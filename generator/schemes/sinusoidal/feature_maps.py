"""Sinusoids in two dimensions that heads for detection and segmentation make for a feature map; no tensor holds them."""

from dataclasses import dataclass
from typing import Any

from generator.checkpoints.model.config_json import family, positive, whole
from generator.checkpoints.model.patch_grid import Grid, configs, pair
from generator.contracts import Json
from generator.encodings import BASE, grid_sinusoid, whole_turn_sinusoid
from generator.errors import RowError
from generator.numerics.arrays import Floats

MOST_VALUES = 2**27  # 1 GB in float64
USUAL_SIZE = (640, 640)  # What RT-DETR and its descendants are published for.
USUAL_STRIDE = 32


@dataclass(frozen=True)
class Head:
    """What a family calls the width of its vectors and the strides of its feature maps.

    turns: whether coordinates are scaled to one whole turn (DETR) rather than counted from 0 (RT-DETR)
    """

    width: tuple[str, ...]
    strides: str
    turns: bool


HYBRID = Head(("encoder_hidden_dim",), "feat_strides", turns=False)
MASKS = Head(("hidden_dim", "hidden_size"), "feature_strides", turns=True)
HEADS = {
    **dict.fromkeys(("rt_detr", "rt_detr_v2", "d_fine", "deimv2", "pp_doclayout_v2", "pp_doclayout_v3", "pp_doclayout_v4"), HYBRID),
    "mask2former": MASKS,
    "oneformer": Head(("hidden_dim", "hidden_size"), "strides", turns=True),
    "maskformer": Head(("d_model", "hidden_size"), "", turns=True),
}
LAID = {
    True: "half of the vector is the sinusoid of the place's row, the other half that of its column; both are counted from 1 and scaled,"
    " so that the last comes to 2π",
    False: "half of the vector is the sinusoid of the place's row, the other half that of its column",
}


@dataclass(frozen=True)
class FeatureMap:
    """The map that is shown: its grid, its vectors (n_positions, d_model), and what was made of config.json to get there."""

    grid: Grid
    vectors: Floats
    note: str


def feature_map(config: Json, where: str) -> FeatureMap | None:
    """The coarsest map for which the head of ``config`` makes a sinusoid, for images of the size that the config tells.

    errors: RowError where a size is none
    """
    head = HEADS.get(family(config))
    if head is None or (head is HYBRID and not _encodes(config)):
        return None
    width = _width(config, head, where)
    stride = _stride(config, head, where)
    size, told = _size(config)
    grid = (max(size[0] // stride, 1), max(size[1] // stride, 1))
    if grid[0] * grid[1] * width > MOST_VALUES:
        raise RowError(f"{where}: a sinusoid of {grid[0]:,} × {grid[1]:,} places × {width:,}; expected at most {MOST_VALUES:,} values")
    base = positive(config.get("positional_encoding_temperature", BASE), f"{where}: positional_encoding_temperature")
    vectors = whole_turn_sinusoid(grid, width) if head.turns else grid_sinusoid(grid, width, columns_first=False, base=base)
    made = f"No tensor holds it; the head makes one for a feature map of any size, and attention adds it: {LAID[head.turns]}."
    shown = f"Shown is the map of stride {stride} for images of {size[0]} × {size[1]} pixels, {told}: {grid[0]} rows by {grid[1]} columns."
    return FeatureMap(grid, vectors, f"{made} {shown}")


def _encodes(config: Json) -> bool:
    """Whether the hybrid encoder has layers, and makes its sinusoid when it is used: with eval_size it leaves it out."""
    return config.get("encoder_layers", 1) != 0 and config.get("eval_size") is None


def _width(config: Json, head: Head, where: str) -> int:
    place: Any = config if head.strides else config.get("decoder_config")
    values = place if isinstance(place, dict) else {}
    value = next((values[key] for key in head.width if values.get(key) is not None), 256)
    width = whole(value, f"{where}: {head.width[0]}")
    if width % 4:
        raise RowError(f"{where}: {head.width[0]} is {width}; expected a multiple of 4, for sines and cosines of rows and columns")
    return width


def _stride(config: Json, head: Head, where: str) -> int:
    """That of the map which the hybrid encoder takes, otherwise the coarsest."""
    strides = config.get(head.strides)
    if not isinstance(strides, list | tuple) or not strides:
        return USUAL_STRIDE
    chosen = config.get("encode_proj_layers") if head is HYBRID else None
    index = chosen[-1] if isinstance(chosen, list | tuple) and chosen else -1
    if not isinstance(index, int) or not -1 <= index < len(strides):
        raise RowError(f"{where}: encode_proj_layers is {chosen!r:.60}; expected numbers below {len(strides)}")
    return whole(strides[index], f"{where}: {head.strides}")


def _size(config: Json) -> tuple[Grid, str]:
    """Of the images, and where it is from."""
    found = (pair(each.get(key)) for each in configs(config) for key in ("anchor_image_size", "image_size"))
    size = next((each for each in found if each and min(each) >= USUAL_STRIDE), None)
    return (size, "as its config says") if size else (USUAL_SIZE, "an assumption, for its config tells none")
