"""Rotary position embedding of images: some pairs of a head rotate with the row of a patch, others
with its column.
"""

from collections.abc import Iterator
from math import isqrt, pi

from generator.checkpoints.model.patch_grid import section_grids
from generator.checkpoints.model.resolved import completed, defaults
from generator.contracts import Encoding, Files, ModelConfig, Provenance, Scheme
from generator.contracts.model_config import DEEPEST
from generator.contracts.wording import Wording
from generator.encodings import BASE, Form, Rotation
from generator.schemes.rotary_2d.families import (
    BY_TURNS,
    CENTRED,
    ENDS,
    ROWS_AND_COLUMNS,
    SIDE,
    SPECIAL,
    AxisRotation,
    base_of,
    head_dim_of,
)

WORDING = Wording("schemes/rotary_2d.md.jinja")
VISION = "vision_config"
CENTRED_BASE = 100.0


def find(files: Files) -> list[Encoding[Form]]:
    """One or two rotations for every image model, along rows and columns.

    errors: RowError when a size is missing or invalid
    """
    # Where a file has no section of images, that of its config class (Qwen 3.8 Flash Next).
    given, of_class = files.resolved.readable, files.resolved.config
    models = list(_image_models(given if VISION in given else of_class, ""))
    origin = Provenance("config.json")
    names = [f"vision {index}" for index in range(len(models))] if len(models) > 1 else ["vision"]
    return [
        Encoding(f"{name}{along}", SCHEME.key, form, origin, notes, "image")
        for name, (family, config) in zip(names, models, strict=False)
        for along, form, notes in _rotations(family, config)
    ]


def _image_models(
    config: ModelConfig, outer: str, name: str = "", depth: int = 0
) -> Iterator[tuple[str, ModelConfig]]:
    """Family and settings of the image models in ``config`` and in nested ones, with the defaults
    of the family, which is ``outer`` where a config does not say it.

    name: of the section
    """
    if depth > DEEPEST:
        return
    # The published files of MiniMax M3 call its vision model one of CLIP, with words.
    is_3d = config.text("rope_mode") == "3d"
    model_type = config.family if "model_type" in config and not is_3d else outer
    family = next(
        (model_type.removesuffix(end) for end in ENDS if model_type.endswith(end)), model_type
    )
    size_key = SPECIAL[family][0] if family in SPECIAL else "patch_size"
    of_class = _with_default(family, size_key)
    # Some files leave the size of a patch to the config class (GLM-4.1V).
    is_left = name == VISION and bool(of_class)
    if (
        family in ROWS_AND_COLUMNS | BY_TURNS | CENTRED | SPECIAL.keys()
        and (size_key in config or is_left)
        and ("vocab_size" not in config or is_3d or name == VISION)
    ):
        yield family, completed(config, of_class)
        if size_key == "patch_size":
            return
    for key, section in config.sections.items():
        yield from _image_models(section, family, key, depth + 1)


def _with_default(family: str, name: str) -> str:
    """The model type of ``family``, with or without a suffix, whose defaults have the setting
    ``name``.
    """
    return next((f"{family}{end}" for end in (*ENDS, "") if name in defaults(f"{family}{end}")), "")


def _rotations(family: str, config: ModelConfig) -> Iterator[AxisRotation]:
    if family in SPECIAL:
        yield from SPECIAL[family][1](config)
        return
    head_dim = head_dim_of(config)
    quarter, half = head_dim // 4, head_dim // 4 * 2
    base = base_of(config, CENTRED_BASE if family in CENTRED else BASE)
    (rows, columns), is_known, grid_note = _grid(config)
    values = {"head_dim": head_dim, "n_pairs": quarter, "base": base, "grid": grid_note}
    if family in BY_TURNS:
        note = WORDING("frequencies_by_turns", **values)
        for along, side, step in (
            (" rows", rows, 1.0),
            (" columns", columns, base ** (-2.0 / head_dim)),
        ):
            form = Rotation(base, half, head_dim, side, step=step, is_length_known=is_known)
            yield along, form, (note,)
        return
    note = WORDING("same_frequencies", **values)
    if family not in CENTRED:
        form = Rotation(base, half, head_dim, max(rows, columns), is_length_known=is_known)
        yield "", form, (note,)
        return
    notes = (note, WORDING("patches_not_counted"))
    sides = {" rows": rows, " columns": columns} if rows != columns else {"": rows}
    for along, side in sides.items():
        step = 4.0 * pi / side
        form = Rotation(base, half, head_dim, side, step=step, is_length_known=is_known)
        yield along, form, notes


def _grid(config: ModelConfig) -> tuple[tuple[int, int], bool, str]:
    """n_rows and n_columns of patches, whether the model has so many, and a note."""
    grid, is_of_table = next(section_grids(config), None), False
    stored = config.integer("num_position_embeddings")
    if grid is None and stored is not None and (side := isqrt(max(stored, 0))) > 1:
        grid, is_of_table = (side, side), True
    if grid:
        return grid, True, WORDING("grid", grid=grid, of_table=is_of_table)
    return (SIDE, SIDE), False, WORDING("any_size", side=SIDE)


SCHEME = Scheme(
    key="rotary_2d",
    paper="2303.11331",
    plural="rotary encodings of images",
    also=("2-D or axial RoPE", "rotary embedding for images"),
    acts_in="queries and keys",
    after="rotary",
    find=find,
    by_formula=True,
)
