"""Sinusoids in two dimensions that heads for detection and segmentation make for a feature map; no tensor holds them."""

from dataclasses import dataclass

from generator.checkpoints.model.patch_grid import Grid, pair
from generator.contracts import ModelConfig
from generator.contracts.model_config import whole
from generator.encodings import BASE, grid_sinusoid, whole_turn_sinusoid
from generator.errors import RowError
from generator.numerics.arrays import Floats
from generator.schemes.sinusoidal.families import HEADS, HYBRID, Head

MOST_VALUES = 2**27  # 1 GB in float64
USUAL_SIZE = (640, 640)  # What RT-DETR and its descendants are published for.
USUAL_STRIDE, USUAL_WIDTH = 32, 256
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


def feature_map(config: ModelConfig) -> FeatureMap | None:
    """The coarsest map for which the head of ``config`` makes a sinusoid, for images of the size that the config has.

    errors: RowError where a size is none
    """
    head = HEADS.get(config.family)
    if head is None or (head is HYBRID and not _encodes(config)):
        return None
    width = _width(config, head)
    stride = _stride(config, head)
    size, source = _size(config)
    grid = (max(size[0] // stride, 1), max(size[1] // stride, 1))
    if grid[0] * grid[1] * width > MOST_VALUES:
        raise RowError(
            f"{config.where}: a sinusoid of {grid[0]:,} × {grid[1]:,} places × {width:,}; expected at most {MOST_VALUES:,} values"
        )
    base = config.positive("positional_encoding_temperature", BASE)
    vectors = whole_turn_sinusoid(grid, width) if head.turns else grid_sinusoid(grid, width, columns_first=False, base=base)
    made = f"No tensor holds it; the head makes one for a feature map of any size, and attention adds it: {LAID[head.turns]}."
    shown = (
        f"Shown is the map of stride {stride} for images of {size[0]} × {size[1]} pixels, {source}: {grid[0]} rows by {grid[1]} columns."
    )
    return FeatureMap(grid, vectors, f"{made} {shown}")


def _encodes(config: ModelConfig) -> bool:
    """Whether the hybrid encoder has layers, and makes its sinusoid when it is used: with eval_size it leaves it out."""
    return config.value("encoder_layers", 1) != 0 and config.value("eval_size") is None


def _width(config: ModelConfig, head: Head) -> int:
    place = config if head.strides else config.section("decoder_config")
    width = USUAL_WIDTH if place is None else whole(place.first(*head.width, default=USUAL_WIDTH), f"{config.where}: {head.width[0]}")
    if width % 4:
        raise RowError(f"{config.where}: {head.width[0]} is {width}; expected a multiple of 4, for sines and cosines of rows and columns")
    return width


def _stride(config: ModelConfig, head: Head) -> int:
    """That of the map which the hybrid encoder takes, otherwise the coarsest."""
    strides = config.listed(head.strides)
    if not strides:
        return USUAL_STRIDE
    chosen = config.listed("encode_proj_layers") if head is HYBRID else ()
    index = chosen[-1] if chosen else -1
    if not isinstance(index, int) or not -1 <= index < len(strides):
        raise RowError(f"{config.where}: encode_proj_layers is {chosen!r:.60}; expected numbers below {len(strides)}")
    return whole(strides[index], f"{config.where}: {head.strides}")


def _size(config: ModelConfig) -> tuple[Grid, str]:
    """Of the images, and where it is from."""
    found = (pair(each.value(key)) for each in config.nested() for key in ("anchor_image_size", "image_size"))
    size = next((each for each in found if each and min(each) >= USUAL_STRIDE), None)
    return (size, "as its config says") if size else (USUAL_SIZE, "an assumption, for its config tells none")
