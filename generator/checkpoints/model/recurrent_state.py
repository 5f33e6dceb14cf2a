"""What recurrent layers of a decoder keep in place of keys and values: a state, as large after one
token as after a million; and what short convolutions keep, which is as large.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checkpoints.model.kv_cache import BYTES, DECODER, width_of_keys
from generator.contracts import Layer, ModelConfig

# Keys of a config whose product is the numbers in the state of a layer; a pair is a product of its
# own. Sources: the modules of transformers 5.24, whose cache has these shapes.
SHAPES: tuple[tuple[str | tuple[str, str], ...], ...] = (
    # Heads, key and value of a delta rule: Gated DeltaNet, arXiv 2412.06464.
    ("linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim"),
    # Heads, their components and the state of each: Mamba-2, arXiv 2405.21060.
    ("mamba_n_heads", "mamba_d_head", "mamba_d_state"),
    ("mamba_num_heads", "mamba_head_dim", "ssm_state_size"),
    # Channels and the state of each: Mamba, arXiv 2312.00752.
    (("mamba_expand", "hidden_size"), "mamba_d_state"),
)
# The same of a model without attention, whose width between its projections has a name that others
# give their feed-forward layers.
ALONE = ("intermediate_size", "state_size")
# A section with heads of as many components for keys as for values: Kimi Linear, arXiv 2510.26692.
SECTION, OF_SECTION = "linear_attn_config", ("num_heads", "head_dim", "head_dim")
TYPES = ("mamba_ssm_cache_dtype", "mamba_ssm_dtype")
# Widths of the convolution that takes the place of attention (LFM2, modeling_lfm2.py), and of those
# on keys, on values and behind attention and feed-forward (modeling_inkling.py).
IN_PLACE, BESIDE = ("conv_L_cache",), ("sconv_kernel_size", "conv_kernel_size")


@dataclass(frozen=True)
class StateOfLayers:
    """count: of layers; sizes: the shape of the state of one"""

    count: int
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class ConvolutionsOfLayers:
    """count: of layers that are alike; channels: of each convolution in one of them, with one
    filter each; width: inputs that one output sees, and that transformers keeps
    """

    count: int
    channels: tuple[int, ...]
    width: int


def short_convolutions(
    given: ModelConfig, layers: Sequence[Layer]
) -> tuple[ConvolutionsOfLayers, ...]:
    """Layers of a decoder with short convolutions but no recurrent state, alike ones together; none
    where the config does not state their width.

    given: the config without defaults. errors: RowError
    """
    of_text = given.text_model
    found: dict[tuple[tuple[int, ...], int], int] = {}
    for layer in layers:
        if layer.part == DECODER and "convolution" in layer.mixers:
            for alone, names in ((True, IN_PLACE), (False, BESIDE)):
                width = next((size for name in names if (size := of_text.count(name))), None)
                if width and alone is not layer.attends:
                    channels = _channels(of_text, layer)
                    found[channels, width] = found.get((channels, width), 0) + 1
    return tuple(ConvolutionsOfLayers(count, *key) for key, count in found.items())


def _channels(config: ModelConfig, layer: Layer) -> tuple[int, ...]:
    whole = config.needed("d_model")
    if not layer.attends:
        return (whole,)
    return (*(2 * (width_of_keys(config, layer),)), whole, whole)


def recurrent_state(given: ModelConfig, layers: Sequence[Layer]) -> StateOfLayers | None:
    """The states of the recurrent layers of a decoder; None without any, and where the config does
    not state every size, since a default need not be that of the published model.

    given: the config without defaults
    """
    own = [layer for layer in layers if layer.part == DECODER]
    recurrent = [layer for layer in own if "recurrent" in layer.mixers]
    shape = next(_shapes(given.text_model, is_alone=len(recurrent) == len(own)), None)
    return StateOfLayers(len(recurrent), shape) if recurrent and shape else None


def type_of_state(given: ModelConfig) -> tuple[str, str] | None:
    """Type of the numbers in the states, one of ``BYTES``, and the key that says it; None where
    none does.
    """
    config = given.text_model
    found = ((config.text(key), key) for key in TYPES)
    return next(((name, key) for name, key in found if name is not None and name in BYTES), None)


def _shapes(config: ModelConfig, *, is_alone: bool) -> Iterator[tuple[int, ...]]:
    """Those that a config states in whole, the most exact first."""
    section = config.section(SECTION)
    of_section = () if section is None else tuple(section.count(key) for key in OF_SECTION)
    stated = (
        *(tuple(_size(config, key) for key in keys) for keys in SHAPES),
        tuple(config.count(key) for key in ALONE) if is_alone else (),
        of_section,
    )
    for sizes in stated:
        whole = tuple(size for size in sizes if size)
        if whole and len(whole) == len(sizes):
            yield whole


def _size(config: ModelConfig, key: str | tuple[str, str]) -> int:
    """A size, or the product of two; 0 where one is not stated."""
    if isinstance(key, str):
        return config.count(key) or 0
    first, second = (config.count(one) or 0 for one in key)
    return first * second
