"""What a model reads beside text: patches of images and frames of sound, by its config."""

from collections.abc import Iterable
from itertools import chain
from math import isqrt, prod
from typing import Any

from generator.checkpoints.model.patch_grid import config_grids, pair
from generator.checkpoints.model.resizing import resizing_of
from generator.contracts import Encoding, ModelConfig, Resolved
from generator.encodings import Form, PositionTable

ENCODER = "vision_config"
VIDEO = "video"  # Part of an encoding of the frames of a clip.
ROWS = ("num_position_embeddings", "num_patches")  # of a square table for images of any size
SIDES = ("init_pos_emb_height", "init_pos_emb_width")
# Patches along each side that one token of the text stands for.
MERGED = ("spatial_merge_size", "merge_kernel_size", "pooling_kernel_size")
# Samples a second of what wav2vec 2.0 reads (arXiv 2006.11477, section 3), and seconds from one
# frame to the next of the encoder of Whisper (arXiv 2212.04356, section 2.2): features every 10 ms,
# of which a convolution leaves every second.
RATE, OF_FEATURES = 16_000, 0.02


def image(resolved: Resolved, encodings: Iterable[Encoding[Form]]) -> dict[str, Any] | None:
    """What reads images, as in models.json; None without patches."""
    given, whole = resolved.given, resolved.config
    patch = _pair(whole, ("patch_size",))
    # Sizes that the section of its encoder leaves to its class are known; those of no section are
    # those of another model (a copy of the text model's config).
    if not any("patch_size" in one for one in given.nested()):
        if given.section(ENCODER) is None:
            return None
        given = whole
    if patch is None or patch[0] != patch[1]:
        return None
    grid = next(chain(config_grids(given), _tables(given)), None)
    way = resizing_of(whole)
    tables = (one.form for one in encodings if one.part == VIDEO)
    of_time = (form for form in tables if isinstance(form, PositionTable))
    return {
        "size": _pair(given, ("image_size",)),
        "patch": patch[0],
        "grid": list(grid) if grid else None,
        "extra": way.special if way and grid else None,
        "merged": next(iter(_pair(given, MERGED) or ()), None),
        "tokens": given.anywhere.count("mm_tokens_per_image"),
        "frames": next((form.shape[0] for form in of_time), None),
        "resizing": None
        if way is None
        else {
            "mode": way.mode,
            "antialias": way.antialias,
            "asked_for": way.is_asked_for,
            "read": way.is_read,
        },
    }


def _tables(config: ModelConfig) -> Iterable[tuple[int, int]]:
    """Grids of tables whose size a config states by itself."""
    for section in config.nested():
        rows = next((count for key in ROWS if (count := section.count(key))), 0)
        sides = [section.count(key) or 0 for key in SIDES]
        if all(sides):
            yield sides[0], sides[1]
        elif rows and isqrt(rows) ** 2 == rows:
            yield isqrt(rows), isqrt(rows)


def _pair(config: ModelConfig, keys: Iterable[str]) -> list[int] | None:
    """The first of some sizes in a config or a nested one, as rows and columns."""
    values = (section.value(key) for section in config.nested() for key in keys)
    return next((list(found) for value in values if (found := pair(value))), None)


def sound(given: ModelConfig) -> dict[str, Any] | None:
    """What reads sound, as in models.json; None where its frames are not known."""
    for section in given.nested():
        strides = [step for step in section.listed("conv_stride") if isinstance(step, int)]
        frames = section.count("max_source_positions")
        if section.count("num_mel_bins") and frames:
            seconds = OF_FEATURES
        elif strides:
            frames, seconds = None, prod(strides) / RATE
        else:
            continue
        return {
            "frames": frames,
            "seconds_of_frame": seconds,
            "tokens": given.count("max_target_positions"),
        }
    return None
