"""Model families that rotate by the rows and columns of patches, and the rotations of those that do more: by time as well, in windows, of a
memory, across heads."""

from collections.abc import Callable, Iterator, Mapping

from generator.checkpoints.model.patch_grid import section_grids
from generator.contracts import ModelConfig
from generator.contracts.model_config import positive, whole
from generator.encodings import BASE, Rotation
from generator.errors import RowError

Found = tuple[str, Rotation, tuple[str, ...]]  # What follows "vision" in the part, the rotation along one axis, and how it was read.
MOST_COMPONENTS = 2**16
SIDE = 64  # Patches drawn where the config names no size.

# Count rows and columns alike; each of these names may go on with one of ENDS. All families count patches but those of CENTRED.
ROWS_AND_COLUMNS = frozenset(
    {"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "qwen4_exp", "qwen2_5_omni", "qwen3_omni_moe",
     "glm4v", "glm4v_moe", "glm_ocr", "glm5_next", "paddleocr_vl", "video_llama_3", "mlcd", "kimi_k25", "exaone4_5",
     "ernie4_5_vl_moe", "cohere_compass", "gemma4", "muse_glimmer", "muse_spark", "dots3_note", "inkling2", "lfm3_vl", "step3p5", "llama4"}
)  # fmt: skip
BY_TURNS = frozenset({"pixtral"})  # Rows and columns have every other frequency of one series.
CENTRED = frozenset({"dinov3_vit", "eomt_dinov3", "sapiens2"})  # Count from −1 to 1 over the whole image.
ENDS = ("_vision_encoder", "_vision_model", "_vision")


def head_dim_of(config: ModelConfig) -> int:
    """How many components a head has, those that four do not divide left out.

    errors: RowError when the config has no such number
    """
    width = config.value("embed_dim") or config.value("hidden_size")
    heads = config.value("num_heads") or config.value("num_attention_heads")
    where = config.where
    given = config.value("head_dim") or whole(width, f"{where}: hidden_size") // whole(heads, f"{where}: num_attention_heads")
    return _fit(whole(given, f"{where}: head_dim"), where)


def _fit(head_dim: int, where: str, least: int = 4) -> int:
    if not least <= head_dim <= MOST_COMPONENTS:
        raise RowError(f"{where}: a head of {head_dim:,} components in the model of images; expected {least} to {MOST_COMPONENTS:,}")
    return head_dim


def base_of(config: ModelConfig, default: float) -> float:
    """The base that the config names, under whichever key, or the default."""
    rope = config.section("rope_parameters")
    inner = default if rope is None else rope.first("rope_theta", default=default)
    return positive(config.first("rope_theta", default=inner), f"{config.where}: rope_theta")


def of_video(config: ModelConfig) -> Iterator[Found]:
    """A third of each head, cut to whole pairs, turns with each of time, row and column (MiniMax M3)."""
    head_dim = _fit(head_dim_of(config), config.where, least=6)
    yield from _thirds("", head_dim, base_of(config, BASE), _side(config))


def of_vjepa2(config: ModelConfig) -> Iterator[Found]:
    """The encoder's and the predictor's, whose code gives neighbouring frequencies to the two components of a pair."""
    side = config.whole("crop_size") // config.whole("patch_size")
    own = "In this code the two components of a pair are not turned by one frequency but by two that are neighbours in the series."
    for along, start in (("", ""), (" predictor", "pred_")):
        width, heads = (config.whole(f"{start}{key}") for key in ("hidden_size", "num_attention_heads"))
        for _, form, notes in _thirds(along, _fit(width // heads, config.where, least=6), BASE, max(side, 1)):
            yield along, form, (*notes, own)


def _thirds(along: str, head_dim: int, base: float, side: int) -> Iterator[Found]:
    third = 2 * (head_dim // 3 // 2)
    still = f"; {head_dim - 3 * third} turn with none" if head_dim > 3 * third else ""
    note = f"Of the {head_dim} components of each head, {third} turn with time, {third} with the row of the patch and {third} with its column{still}"
    yield (
        along,
        Rotation(base, third, head_dim, side),
        (f"{note}, by the same {third // 2} frequencies of base {base:g}; shown is one of the three.",),
    )


def in_windows(config: ModelConfig) -> Iterator[Found]:
    """Layers that see a window count its patches; those that see the whole image count in smaller steps (SAM 3)."""
    head_dim, base = head_dim_of(config), base_of(config, BASE)
    window, side = config.whole("window_size"), _side(config)
    note = _halves(head_dim, base)
    yield " in windows", Rotation(base, head_dim // 4 * 2, head_dim, window), (note, f"Layers of windows count {window} patches each way.")
    smaller = f"Layers that see the whole image count in steps of {window}/{side}, so that its {side} patches reach as far as a window's {window}."
    yield " of the whole image", Rotation(base, head_dim // 4 * 2, head_dim, side, step=window / side), (note, smaller)


def of_memory(config: ModelConfig) -> Iterator[Found]:
    """Attention from a frame of a video to earlier ones (SAM 2)."""
    width, rate, heads = (config.whole(f"memory_attention_{key}") for key in ("hidden_size", "downsample_rate", "num_attention_heads"))
    older = {"rope_theta": config.value("rope_theta", config.value("memory_attention_rope_theta"))}
    head_dim, base = _fit(width // (rate * heads), config.where), base_of(config.updated(older), BASE)
    name = "memory_attention_rope_feat_sizes"
    side = max((whole(each, f"{config.where}: {name}") for each in config.listed(name)), default=SIDE)
    coarse = config.listed("memory_attention_rope_k_sizes")
    keys = (f"Keys of the memory are counted in a grid of {' by '.join(f'{each!r:.9}' for each in coarse)}.",) if len(coarse) == 2 else ()
    turned = "Turned are the queries and keys of the attention to remembered frames, and of the attention within a frame before it."
    yield " memory", Rotation(base, head_dim // 4 * 2, head_dim, side), (_halves(head_dim, base), turned, *keys)


def across_heads(config: ModelConfig) -> Iterator[Found]:
    """The whole width is turned before it is split into heads, rows and columns by turns (Efficient LoFTR)."""
    width, base = _fit(config.whole("hidden_size"), config.where), base_of(config, BASE)
    half = width // 4 * 2
    note = f"All {width} components of a query are turned before it is split into heads: pairs turn with the row and the column of the feature by turns"
    yield (
        "",
        Rotation(base, half, width, SIDE),
        (
            f"{note}, by the same {half // 2} frequencies of base {base:g}; shown is one of the two.",
            f"The model takes images of any size; a side of {SIDE} is shown.",
        ),
    )


def _halves(head_dim: int, base: float) -> str:
    quarter, half = head_dim // 4, head_dim // 4 * 2
    return (
        f"Of the {head_dim} components of each head, {half} turn with the row of the patch and {half} with its column, "
        f"by the same {quarter} frequencies of base {base:g}; shown is one of the two."
    )


def _side(config: ModelConfig) -> int:
    return max(next(section_grids(config), (SIDE, SIDE)))


# Families that need a reading of their own, each with the key of config.json that its part of the config has.
OWN: Mapping[str, tuple[str, Callable[[ModelConfig], Iterator[Found]]]] = {
    "minimax_m3_vl": ("patch_size", of_video),
    "vjepa2": ("patch_size", of_vjepa2),
    "sam3_vit_model": ("patch_size", in_windows),
    **dict.fromkeys(("sam2_video", "edgetam_video", "sam3_tracker_video"), ("memory_attention_hidden_size", of_memory)),
    "efficientloftr": ("hidden_size", across_heads),
}
