"""Transformers of diffusers whose position encoding follows from their config.json, by the class
that it names (the code of each class in diffusers 0.42).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from generator.contracts import ModelConfig
from generator.encodings import BASE


@dataclass(frozen=True)
class Axes:
    """A rotation along several axes, as of frames, rows and columns.

    setting: of the components of each axis, "" where they are a third of a head each (Wan);
        default: without that setting
    base: where ``rope_theta`` is no setting of the class, or is not given
    """

    setting: str
    default: tuple[int, ...]
    base: float = BASE

    def sizes(self, config: ModelConfig) -> tuple[int, ...]:
        """Components of each axis; empty where they are no whole numbers."""
        if not self.setting:
            width = config.count("attention_head_dim") or 0
            side = 2 * (width // 6)
            return (width - 2 * side, side, side)
        sizes = tuple(config.listed(self.setting)) or self.default
        return sizes if all(type(size) is int and size >= 0 for size in sizes) else ()


FLUX = Axes("axes_dims_rope", (16, 56, 56))
HUNYUAN = Axes("rope_axes_dim", (16, 56, 56), 256.0)
ROTATED: Mapping[str, Axes] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "BriaFiboTransformer2DModel",
                "BriaTransformer2DModel",
                "ChromaTransformer2DModel",
                "FluxTransformer2DModel",
                "LongCatImageTransformer2DModel",
                "QwenImageTransformer2DModel",
            ),
            FLUX,
        ),
        "Flux2Transformer2DModel": Axes("axes_dims_rope", (32, 32, 32, 32), 2000.0),
        "HiDreamImageTransformer2DModel": Axes("axes_dims_rope", (32, 32)),
        **dict.fromkeys(
            ("HunyuanVideoTransformer3DModel", "HunyuanVideoFramepackTransformer3DModel"), HUNYUAN
        ),
        "HunyuanImageTransformer2DModel": Axes("rope_axes_dim", (64, 64), 256.0),
        "Lumina2Transformer2DModel": Axes("axes_dim_rope", (32, 32, 32)),
        "WanTransformer3DModel": Axes("", ()),
        "ZImageTransformer2DModel": Axes("axes_dims", (32, 48, 48), 256.0),
    }
)
# A sinusoid of so many rows and columns of patches is stored, and its middle is used (SD3, arXiv
# 2403.03206).
CROPPED: Mapping[str, str] = MappingProxyType({"SD3Transformer2DModel": "pos_embed_max_size"})
