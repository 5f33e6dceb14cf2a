"""Model families with rotations by rows and columns of patches, and readers for special ones: by
time, in windows, of a memory, across heads.
"""

from collections.abc import Callable, Iterator, Mapping

from generator.checkpoints.model.patch_grid import section_grids
from generator.contracts import ModelConfig
from generator.contracts.model_config import positive, whole
from generator.contracts.wording import Wording
from generator.encodings import BASE, Rotation
from generator.errors import RowError

WORDING = Wording("schemes/rotary_2d.md.jinja")
# Suffix of the part "vision", rotation along one axis, notes.
AxisRotation = tuple[str, Rotation, tuple[str, ...]]
MOST_COMPONENTS = 2**16
SIDE = 64  # Patches per side without a size in the config.

# Rows and columns with the same frequencies; names may end with one of ENDS.
ROWS_AND_COLUMNS = frozenset(
    {"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "qwen4_exp",
     "qwen2_5_omni", "qwen3_omni_moe",
     "glm4v", "glm4v_moe", "glm_ocr", "glm5_next", "paddleocr_vl", "video_llama_3", "mlcd",
     "kimi_k25", "exaone4_5",
     "ernie4_5_vl_moe", "cohere_compass", "gemma4", "muse_glimmer", "muse_spark", "dots3_note",
     "inkling2", "lfm3_vl", "step3p5", "llama4"}
)  # fmt: skip
BY_TURNS = frozenset({"pixtral"})  # Rows and columns with alternate frequencies of one series.
# Coordinates from −1 to 1 over the image, in place of patch numbers.
CENTRED = frozenset({"dinov3_vit", "eomt_dinov3", "sapiens2"})
ENDS = ("_vision_encoder", "_vision_model", "_vision")


def head_dim_of(config: ModelConfig) -> int:
    """Components of a head.

    errors: RowError when the config has no valid size
    """
    width = config.value("embed_dim") or config.value("hidden_size")
    heads = config.value("num_heads") or config.value("num_attention_heads")
    where = config.where
    head_dim = config.value("head_dim") or whole(width, f"{where}: hidden_size") // whole(
        heads, f"{where}: num_attention_heads"
    )
    return _fit(whole(head_dim, f"{where}: head_dim"), where)


def _fit(head_dim: int, where: str, least: int = 4) -> int:
    if not least <= head_dim <= MOST_COMPONENTS:
        raise RowError(
            f"{where}: a head of {head_dim:,} components in the model of images; expected {least}"
            f" to {MOST_COMPONENTS:,}"
        )
    return head_dim


def base_of(config: ModelConfig, default: float) -> float:
    """The base of the rotation in the config, or ``default``.

    errors: RowError for an invalid base
    """
    rope = config.section("rope_parameters")
    inner = default if rope is None else rope.first("rope_theta", default=default)
    return positive(config.first("rope_theta", default=inner), f"{config.where}: rope_theta")


def of_video(config: ModelConfig) -> Iterator[AxisRotation]:
    """MiniMax M3: a third of each head, in whole pairs, for each of time, row and column."""
    head_dim = _fit(head_dim_of(config), config.where, least=6)
    form, note = _thirds(head_dim, base_of(config, BASE), *_side(config))
    yield "", form, (note,)


def of_vjepa2(config: ModelConfig) -> Iterator[AxisRotation]:
    """V-JEPA 2, encoder and predictor: a third of each head for each of time, row and column, with
    two frequencies in a pair.
    """
    side = config.whole("crop_size") // config.whole("patch_size")
    for along, start in (("", ""), (" predictor", "pred_")):
        width = config.whole(f"{start}hidden_size")
        head_dim = width // config.whole(f"{start}num_attention_heads")
        head_dim = _fit(head_dim, config.where, least=6)
        form, note = _thirds(head_dim, BASE, max(side, 1), is_known=True)
        yield along, form, (note, WORDING("neighbouring_frequencies"))


def _thirds(head_dim: int, base: float, side: int, is_known: bool) -> tuple[Rotation, str]:
    third = 2 * (head_dim // 3 // 2)
    note = WORDING("thirds", head_dim=head_dim, third=third, base=base)
    return Rotation(base, third, head_dim, side, is_length_known=is_known), note


def in_windows(config: ModelConfig) -> Iterator[AxisRotation]:
    """SAM 3: positions in a window for window layers, in smaller steps over the image for the
    others.
    """
    head_dim, base = head_dim_of(config), base_of(config, BASE)
    window, (side, is_known) = config.whole("window_size"), _side(config)
    note, half = _halves(head_dim, base), head_dim // 4 * 2
    counted = WORDING("window_layers", window=window)
    smaller = WORDING("whole_image_layers", window=window, side=side)
    yield " in windows", Rotation(base, half, head_dim, window), (note, counted)
    step = window / side
    of_image = Rotation(base, half, head_dim, side, step=step, is_length_known=is_known)
    yield " of the whole image", of_image, (note, smaller)


def of_memory(config: ModelConfig) -> Iterator[AxisRotation]:
    """SAM 2 video: attention from a frame to a memory of earlier frames."""
    width, rate, heads = (
        config.whole(f"memory_attention_{key}")
        for key in ("hidden_size", "downsample_rate", "num_attention_heads")
    )
    older = {"rope_theta": config.value("rope_theta", config.value("memory_attention_rope_theta"))}
    head_dim = _fit(width // (rate * heads), config.where)
    base = base_of(config.updated(older), BASE)
    name = "memory_attention_rope_feat_sizes"
    sizes = [whole(size, f"{config.where}: {name}") for size in config.listed(name)]
    notes = [_halves(head_dim, base), WORDING("attention_to_frames")]
    coarse = config.listed("memory_attention_rope_k_sizes")
    if len(coarse) == 2:
        notes.append(WORDING("memory_grid", sizes=coarse))
    side, half = max(sizes, default=SIDE), head_dim // 4 * 2
    form = Rotation(base, half, head_dim, side, is_length_known=bool(sizes))
    yield " memory", form, tuple(notes)


def across_heads(config: ModelConfig) -> Iterator[AxisRotation]:
    """Efficient LoFTR: one rotation of the whole width before the split into heads, rows and
    columns alternating.
    """
    width, base = _fit(config.whole("hidden_size"), config.where), base_of(config, BASE)
    half = width // 4 * 2
    note = WORDING("across_heads", width=width, n_pairs=half // 2, base=base)
    form = Rotation(base, half, width, SIDE, is_length_known=False)
    yield "", form, (note, WORDING("any_size_of_features", side=SIDE))


def _halves(head_dim: int, base: float) -> str:
    return WORDING("halves", head_dim=head_dim, n_pairs=head_dim // 4, base=base)


def _side(config: ModelConfig) -> tuple[int, bool]:
    """The longer side in patches, and whether the config gives it."""
    grid = next(section_grids(config), None)
    return max(grid or (SIDE,)), grid is not None


# Readers of special families, with a key that identifies their section of config.json.
SPECIAL: Mapping[str, tuple[str, Callable[[ModelConfig], Iterator[AxisRotation]]]] = {
    "minimax_m3_vl": ("patch_size", of_video),
    "vjepa2": ("patch_size", of_vjepa2),
    "sam3_vit_model": ("patch_size", in_windows),
    **dict.fromkeys(
        ("sam2_video", "edgetam_video", "sam3_tracker_video"),
        ("memory_attention_hidden_size", of_memory),
    ),
    "efficientloftr": ("hidden_size", across_heads),
}
