"""Transformers of diffusers whose position encoding follows from their config.json, by the class
that it names (the code of each class in diffusers 0.42).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from generator.contracts import Json, ModelConfig
from generator.encodings import BASE

HEAD = "attention_head_dim"


@dataclass(frozen=True)
class Axes:
    """A rotation along several axes, as of frames, rows and columns.

    setting: of the components of each axis, "" where they are a third of a head each (Wan);
        default: without that setting
    base: without ``base_key``, the setting of it, "" where the class has none
    layers: settings whose sum, or that of their lengths, is the number of blocks that rotate
    head: settings of the width of a head, or of all heads and their number
    others: what the class takes for a setting of ``layers`` or ``head`` that is not given
    """

    setting: str
    default: tuple[int, ...]
    base: float = BASE
    base_key: str = ""
    layers: tuple[str, ...] = ("num_layers",)
    head: tuple[str, ...] = (HEAD,)
    others: Json = field(default_factory=lambda: {HEAD: 128})

    def head_dim(self, config: ModelConfig) -> int:
        """Components of a head; 0 where its settings are no sizes."""
        width, *n_heads = (config.updated(self._missing(config)).count(name) for name in self.head)
        return (width or 0) // (n_heads[0] or 1 if n_heads else 1)

    def sizes(self, config: ModelConfig) -> tuple[int, ...]:
        """Components of each axis; empty where they are no whole numbers."""
        if not self.setting:
            width = self.head_dim(config)
            side = 2 * (width // 6)
            return (width - 2 * side, side, side)
        sizes = tuple(config.listed(self.setting)) or self.default
        return sizes if all(type(size) is int and size >= 0 for size in sizes) else ()

    def n_layers(self, config: ModelConfig) -> int | None:
        """Number of blocks that rotate; None where a setting of them is no number."""
        whole = config.updated(self._missing(config))
        counts = [len(whole.listed(name)) or whole.value(name) for name in self.layers]
        return sum(counts) if all(type(count) is int for count in counts) else None

    def _missing(self, config: ModelConfig) -> Json:
        return {name: value for name, value in self.others.items() if name not in config}


def _axes(
    setting: str, default: tuple[int, ...], base: float, base_key: str, **layers: int | list[int]
) -> Axes:
    """One of a class with a setting of the width of a head, 128 by default."""
    return Axes(setting, default, base, base_key, tuple(layers), (HEAD,), {HEAD: 128, **layers})


AXES, ROPE_AXES, THETA = "axes_dims_rope", "rope_axes_dim", "rope_theta"
OF_FLUX, OF_VIDEO = (16, 56, 56), (32, 48, 48)
FLUX = _axes(AXES, OF_FLUX, BASE, "", num_layers=19, num_single_layers=38)
BRIA = _axes(AXES, OF_FLUX, BASE, THETA, num_layers=19, num_single_layers=38)
HUNYUAN = _axes(ROPE_AXES, OF_FLUX, 256.0, THETA, num_layers=20, num_single_layers=40)
JOY = Axes(
    "rope_dim_list", OF_FLUX, 256.0, "theta", ("num_layers",),
    ("hidden_size", "num_attention_heads"),
    {"num_layers": 20, "hidden_size": 3072, "num_attention_heads": 24},
)  # fmt: skip
ROTATED: Mapping[str, Axes] = MappingProxyType(
    {
        "BriaTransformer2DModel": BRIA,
        "BriaFiboTransformer2DModel": BRIA,
        "BriaFibo2Transformer2DModel": Axes(
            "axes_dims", OF_VIDEO, 256.0, THETA, ("n_layers", "n_refiner_layers"),
            ("dim", "n_heads"),
            {"n_layers": 44, "n_refiner_layers": 2, "dim": 3584, "n_heads": 28},
        ),
        **dict.fromkeys(
            (
                "ChromaTransformer2DModel",
                "FluxTransformer2DModel",
                "LongCatImageTransformer2DModel",
            ),
            FLUX,
        ),
        "ErnieImageTransformer2DModel": Axes(
            ROPE_AXES, OF_VIDEO, 256.0, THETA, ("num_layers",),
            ("hidden_size", "num_attention_heads"),
            {"num_layers": 24, "hidden_size": 3072, "num_attention_heads": 24},
        ),
        "Flux2Transformer2DModel": _axes(
            AXES, (32,) * 4, 2000.0, THETA, num_layers=8, num_single_layers=48
        ),
        "Flux3Transformer2DModel": _axes(
            AXES, (32,) * 4, BASE, THETA, num_layers=5, num_single_layers=28
        ),
        "HeliosTransformer3DModel": _axes("rope_dim", (44, 42, 42), BASE, THETA, num_layers=40),
        "HiDreamImageTransformer2DModel": _axes(
            AXES, (32, 32), BASE, "", num_layers=16, num_single_layers=32
        ),
        "HunyuanVideoTransformer3DModel": HUNYUAN,
        "HunyuanVideoFramepackTransformer3DModel": HUNYUAN,
        "HunyuanVideo15Transformer3DModel": _axes(
            ROPE_AXES, OF_FLUX, 256.0, THETA, num_layers=54
        ),
        "HunyuanImageTransformer2DModel": _axes(
            ROPE_AXES, (64, 64), 256.0, THETA, num_layers=20, num_single_layers=40
        ),
        "JoyImageEditTransformer3DModel": JOY,
        "JoyImageEditPlusTransformer3DModel": JOY,
        "Krea2Transformer2DModel": _axes(AXES, OF_VIDEO, 1000.0, THETA, num_layers=28),
        "Lumina2Transformer2DModel": Axes(
            "axes_dim_rope", (32,) * 3, BASE, "",
            ("num_layers", "num_refiner_layers", "num_refiner_layers"),
            ("hidden_size", "num_attention_heads"),
            {"num_layers": 26, "num_refiner_layers": 2, "hidden_size": 2304,
             "num_attention_heads": 24},
        ),
        "MotifVideoTransformer3DModel": HUNYUAN,
        "NucleusMoEImageTransformer2DModel": _axes(AXES, OF_FLUX, BASE, "", num_layers=24),
        "OvisImageTransformer2DModel": _axes(
            AXES, OF_FLUX, BASE, "", num_layers=6, num_single_layers=27
        ),
        "PRXTransformer2DModel": Axes(
            "axes_dim", (32, 32), BASE, "theta", ("depth",), ("hidden_size", "num_heads"),
            {"depth": 16, "hidden_size": 1792, "num_heads": 28},
        ),
        "QwenImageTransformer2DModel": _axes(AXES, OF_FLUX, BASE, "", num_layers=60),
        "QwenImage21Transformer2DModel": _axes(AXES, OF_FLUX, BASE, "", num_layers=32),
        "SkyReelsV2Transformer3DModel": _axes("", (), BASE, "", num_layers=32),
        **dict.fromkeys(
            (
                "AnyFlowTransformer3DModel",
                "ChronoEditTransformer3DModel",
                "WanAnimateTransformer3DModel",
                "WanTransformer3DModel",
            ),
            _axes("", (), BASE, "", num_layers=40),
        ),
        "WanVACETransformer3DModel": _axes(
            "", (), BASE, "", num_layers=40, vace_layers=[*range(0, 40, 5)]
        ),
        "ZImageTransformer2DModel": Axes(
            "axes_dims", OF_VIDEO, 256.0, THETA,
            ("n_layers", "n_refiner_layers", "n_refiner_layers"),
            ("dim", "n_heads"),
            {"n_layers": 30, "n_refiner_layers": 2, "dim": 3840, "n_heads": 30},
        ),
    }
)  # fmt: skip
OF_AXES = frozenset(axes.setting for axes in ROTATED.values())
# A sinusoid of so many rows and columns of patches is stored, and its middle is used (SD3, arXiv
# 2403.03206).
CROPPED: Mapping[str, str] = MappingProxyType({"SD3Transformer2DModel": "pos_embed_max_size"})
