"""Sinusoids in two dimensions that heads for detection and segmentation compute for a feature
map.
"""

from generator.checkpoints.model.patch_grid import Grid, pair
from generator.contracts import ModelConfig
from generator.contracts.model_config import whole
from generator.contracts.wording import Wording
from generator.encodings import BASE, PositionTable, grid_formula, whole_turn_formula
from generator.errors import RowError
from generator.schemes.sinusoidal.families import HEADS, HYBRID, MOST_VALUES, Head
from generator.text import as_json

WORDING = Wording("schemes/sinusoidal.md.jinja")
DEFAULT_SIZE = (640, 640)  # Rows and columns of pixels, of RT-DETR and related models.
DEFAULT_STRIDE, DEFAULT_WIDTH = 32, 256


def feature_map(config: ModelConfig) -> tuple[PositionTable, str] | None:
    """The sinusoid of the feature map that the hybrid encoder takes, else of the coarsest, for
    images of the size in the config, and a note on its size; None where the head computes none.

    config: of a family in ``HEADS``
    errors: RowError for an invalid size
    """
    head = HEADS[config.family]
    # A hybrid encoder computes its sinusoid unless it has no layers or an eval_size.
    no_layers, stored = config.value("encoder_layers", 1) == 0, config.value("eval_size")
    if head is HYBRID and (no_layers or stored is not None):
        return None
    width = _width(config, head)
    stride = _stride(config, head)
    size, is_given = _size(config)
    grid = (max(size[0] // stride, 1), max(size[1] // stride, 1))
    if grid[0] * grid[1] * width > MOST_VALUES:
        raise RowError(
            f"{config.where}: a sinusoid of {grid[0]:,} × {grid[1]:,} places × {width:,}; expected"
            f" at most {MOST_VALUES:,} values"
        )
    base = config.positive("positional_encoding_temperature", BASE)
    formula = (
        whole_turn_formula(grid, width)
        if head.turns
        else grid_formula(grid, width, columns_first=False, base=base)
    )
    note = WORDING(
        "feature_map", turns=head.turns, stride=stride, size=size, is_given=is_given, grid=grid
    )
    return PositionTable(formula, grid=grid), note


def _width(config: ModelConfig, head: Head) -> int:
    place = config if head.strides else config.section("decoder_config")
    given = None if place is None else place.first(*head.width)
    width = whole(DEFAULT_WIDTH if given is None else given, f"{config.where}: {head.width[0]}")
    if width % 4:
        raise RowError(
            f"{config.where}: {head.width[0]} is {width}; expected a multiple of 4, for sines and"
            " cosines of rows and columns"
        )
    return width


def _stride(config: ModelConfig, head: Head) -> int:
    """Stride of the feature map of the hybrid encoder, otherwise the coarsest."""
    strides = config.listed(head.strides)
    if not strides:
        return DEFAULT_STRIDE
    chosen = config.listed("encode_proj_layers") if head is HYBRID else ()
    index = chosen[-1] if chosen else -1
    if not isinstance(index, int) or not -1 <= index < len(strides):
        raise RowError(
            f"{config.where}: encode_proj_layers is {as_json(chosen)}; expected numbers below"
            f" {len(strides)}"
        )
    return whole(strides[index], f"{config.where}: {head.strides}")


def _size(config: ModelConfig) -> tuple[Grid, bool]:
    """Rows and columns of pixels of an image, and whether the config gives them."""
    sizes = (
        pair(section.value(key))
        for section in config.nested()
        for key in ("anchor_image_size", "image_size")
    )
    size = next((pixels for pixels in sizes if pixels and min(pixels) >= DEFAULT_STRIDE), None)
    return (size, True) if size else (DEFAULT_SIZE, False)
