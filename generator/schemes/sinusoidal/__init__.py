"""Sinusoidal position encoding: a fixed table, stored in one of several layouts or computed when
the model runs.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from generator.checkpoints.model.diffusion_transformers import CROPPED
from generator.checkpoints.model.patch_grid import section_grids
from generator.checkpoints.model.position_tables import (
    StoredTable,
    as_encoding,
    guessed_tables,
    stored_tables,
)
from generator.checkpoints.model.resolved import completed
from generator.checkpoints.model.stacks import stacks
from generator.contracts import (
    Claimed,
    Encoding,
    Files,
    ModelConfig,
    Numbers,
    Picture,
    Provenance,
    Scheme,
)
from generator.encodings import Form, PositionTable, grid_formula, sinusoid, sinusoid_formula
from generator.errors import RowError
from generator.figures.panels import colour_bar, image, panels
from generator.figures.style import DIVERGING, SERIES
from generator.schemes.sinusoidal.families import (
    DEFAULT,
    HEADS,
    OF_CLIPS,
    RuntimeSinusoid,
    TablePart,
    runtime_sinusoid,
)
from generator.schemes.sinusoidal.feature_maps import feature_map
from generator.text import rounded, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLAGS = ("sinusoidal_pos_embds", "sinusoidal_embeddings", "static_position_embeddings")
FACTOR = re.compile(r"(^|\.)(encoder|decoder)\.prenet\.encode_positions\.alpha$")
SIDES = {
    "encoder": TablePart("text encoder", ("max_text_positions",)),
    "decoder": TablePart("speech decoder", ("max_speech_positions",), "audio"),
}
DEFAULT_LENGTHS = {"encoder": 450, "decoder": 4000}
MOST_VALUES = 2**27  # 1 GB in float64; ten times the largest in use.
COSINES_FIRST_DESCRIPTION = (
    "cosines in the first half of the vector, sines in the second, with the exponent k/(d/2 − 1)"
)
DESCRIPTIONS = {
    "interleaved": "interleaved sines and cosines, as printed in the paper",
    "halves": "sines in the first half of the vector, cosines in the second",
    "tensor2tensor": "sines and cosines in halves, with the exponent k/(d/2 − 1) of tensor2tensor",
    "columns first": (
        "half of the vector is the sinusoid of the patch's column, the other half that of its row"
    ),
    "shifted": "interleaved sines and cosines, mean-centred and then scaled",
    "rows first": (
        "half of the vector is the sinusoid of the patch's row, the other half that of its column"
    ),
}


def find(files: Files) -> list[Encoding[Form]]:
    """Stored tables that equal a sinusoid.

    errors: RowError when a table and the config do not match
    """
    return _stored(files, stored_tables(files))


def find_last(files: Files, is_claimed: Claimed) -> list[Encoding[Form]]:
    """Tables that equal a sinusoid and that nothing but their shape tells, and sinusoids that the
    model computes where none is stored.

    errors: RowError when a table and the config do not match, or a size is missing or invalid
    """
    guessed = guessed_tables(files, is_claimed)
    parts = {table.part for table in (*stored_tables(files), *guessed)}
    scaled = _scaled(files)
    runtime = [
        encoding
        for stack in stacks(files.config)
        for encoding in _runtime(stack.config, parts, has_weights=bool(files.tensors))
    ]
    # A scaled sinusoid replaces the plain one.
    scaled_stacks = {encoding.stack for encoding in scaled}
    runtime = [encoding for encoding in runtime if encoding.stack not in scaled_stacks]
    of_clips = _of_clips(files.config) if files.config.family in OF_CLIPS else []
    cropped = [] if files.tensors else _of_crop(files.config)
    return [
        *_stored(files, guessed),
        *runtime,
        *scaled,
        *_of_map(files.config),
        *of_clips,
        *cropped,
    ]


def _stored(files: Files, tables: Sequence[StoredTable]) -> list[Encoding[Form]]:
    return [
        as_encoding(
            files,
            table,
            SCHEME.key,
            (
                (
                    f"The stored table equals the sinusoid{_scale(table)} to within"
                    f" {significant(table.tolerance, 2)}: {DESCRIPTIONS[table.layout]}."
                ),
            ),
        )
        for table in tables
        if table.layout is not None
    ]


def _scale(table: StoredTable) -> str:
    return "" if table.scale == 1.0 else f" times {significant(table.scale, 4)}"


def _runtime(config: ModelConfig, stored: set[str], *, has_weights: bool) -> list[Encoding[Form]]:
    """Sinusoids computed at run time, and those that weights would store; none if a part of the
    same name has a stored table.
    """
    declared = config.text("position_embedding_type") == "sinusoidal" or any(
        config.flag(name) is True for name in FLAGS
    )
    spec = runtime_sinusoid(config) or (DEFAULT if declared else None)
    if spec is None or (spec.stored and has_weights):
        return []
    if stored if spec is DEFAULT else stored & {part.name for part in spec.parts}:
        return []
    lengths = {part: _n_positions(config, part.sizes) for part in spec.parts}
    return [_encoding(config, spec, part, length) for part, length in lengths.items() if length]


def _scaled(files: Files) -> list[Encoding[Form]]:
    """Sinusoids times a trained number, as in SpeechT5 (Li et al. 2019, arXiv 1809.08895, section
    3.2).
    """
    return [
        _times(files, name, SIDES[match[2]], DEFAULT_LENGTHS[match[2]])
        for name in files.tensors
        if (match := FACTOR.search(name))
    ]


def _times(files: Files, name: str, part: TablePart, default: int) -> Encoding[Form]:
    tensor = files.tensors[name]
    n_positions, d_model = (
        files.config.whole(part.sizes[0], default),
        files.config.needed("d_model"),
    )
    if math.prod(tensor.shape) != 1 or not 0 < n_positions * d_model <= MOST_VALUES:
        raise RowError(
            f"{files.where}: {name} has shape {tensor.shape}, for {n_positions:,} × {d_model:,}"
            " values; expected one number"
        )
    factor = float(files.tensor(name).reshape(-1)[0])
    form = PositionTable(replace(sinusoid_formula(n_positions, d_model), scale=factor))
    note = (
        f"The model computes it at run time: {DESCRIPTIONS['interleaved']}, multiplied by a trained"
        f" number ({significant(factor, 4)}). It is shown after that multiplication."
    )
    return Encoding(
        part.name, SCHEME.key, form, Provenance.of(files, name), (note,), part.modality, part.stack
    )


def _of_map(config: ModelConfig) -> list[Encoding[Form]]:
    """The sinusoid of a head for detection or segmentation, over a feature map of the size in the
    config.
    """
    # Saves the import of transformers for other families.
    feature = feature_map(completed(config)) if config.family in HEADS else None
    if feature is None:
        return []
    form = PositionTable(feature.formula, grid=feature.grid)
    return [
        Encoding(
            "vision",
            SCHEME.key,
            form,
            Provenance("config.json", shape=form.shape),
            (feature.note,),
            "image",
        )
    ]


def _of_crop(config: ModelConfig) -> list[Encoding[Form]]:
    """The middle of a stored sinusoid, which a picture of the configured size gets (SD3, arXiv
    2403.03206).

    errors: RowError for an invalid size
    """
    setting = CROPPED.get(config.family)
    if setting is None:
        return []
    most = config.whole(setting)
    side = config.whole("sample_size") // config.whole("patch_size")
    width = config.whole("num_attention_heads") * config.whole("attention_head_dim")
    if not 0 < side <= most or side * side * width > MOST_VALUES:
        raise RowError(
            f"{config.where}: {side:,} × {side:,} patches of {width:,} values; expected 1 to"
            f" {setting} ({most:,}) on a side, and at most {MOST_VALUES:,} values"
        )
    whole = grid_formula((side, side), width)
    form = PositionTable(
        replace(whole, places=(whole.places + (most - side) // 2) * (side / most)),
        grid=(side, side),
    )
    note = (
        f"A sinusoid of {most:,} × {most:,} patches is stored and not trained. It was not read; it"
        f" follows from the class ({config.family}): {DESCRIPTIONS['columns first']}, counted in"
        f" steps of {significant(side / most, 3)}. Its middle is shown, {side:,} × {side:,}"
        " patches, which a picture of the configured size gets."
    )
    return [
        Encoding(
            "transformer",
            SCHEME.key,
            form,
            Provenance("config.json", shape=form.shape),
            (note,),
            "image",
        )
    ]


def _of_clips(config: ModelConfig) -> list[Encoding[Form]]:
    """The sinusoid of the patches of a clip, numbered through all frames."""
    grid = next(section_grids(config), None)
    if grid is None:
        raise RowError(
            f"{config.where}: config.json has no image_size and patch_size; expected both, to count"
            " the clip's patches"
        )
    steps = config.whole("num_frames", 16) // config.whole("tubelet_size", 2)
    shape = steps * grid[0] * grid[1], config.needed("d_model")
    if not 0 < shape[0] * shape[1] <= MOST_VALUES:
        raise RowError(
            f"{config.where}: a sinusoid of {shape[0]:,} × {shape[1]:,}; expected 1 to"
            f" {MOST_VALUES:,} values"
        )
    counted = (
        f"Patches are numbered through the clip, step by step and row by row: {steps} steps of"
        f" {grid[0]} rows by {grid[1]} columns."
    )
    note = (
        f"No tensor is stored. The model computes it at run time: {DESCRIPTIONS['interleaved']}."
        f" {counted}"
    )
    form = PositionTable(sinusoid_formula(*shape))
    return [
        Encoding(
            "vision", SCHEME.key, form, Provenance("config.json", shape=shape), (note,), "image"
        )
    ]


def _encoding(
    config: ModelConfig, spec: RuntimeSinusoid, part: TablePart, length: int
) -> Encoding[Form]:
    shape = length - spec.skipped, _width(config, spec)
    if shape[0] < 1:
        raise RowError(
            f"{config.where}: {length:,} positions, of which the first {spec.skipped} are not used;"
            " expected more"
        )
    if shape[0] * shape[1] > MOST_VALUES:
        raise RowError(
            f"{config.where}: a sinusoid of {shape[0]:,} × {shape[1]:,}; expected at most"
            f" {MOST_VALUES:,} values"
        )
    first_row = _first_angle(config, spec)
    formula = sinusoid_formula(*shape, spec.layout, first=first_row)
    if spec.cosines_first:
        moved = (
            np.roll(formula.frequencies, shape[1] // 2, axis=1),
            np.roll(formula.is_cosine, shape[1] // 2),
        )
        formula = replace(formula, frequencies=moved[0], is_cosine=moved[1])
    if spec.scaled:
        formula = replace(formula, scale=1.0 / math.sqrt(shape[1]))
    description = COSINES_FIRST_DESCRIPTION if spec.cosines_first else DESCRIPTIONS[spec.layout]
    counts = f" The first position uses the angles of number {first_row}." if first_row else ""
    scaled = " Its values are divided by the square root of the width." if spec.scaled else ""
    origin = (
        f"The table is stored and not trained. It was not read; {spec.stored}:"
        if spec.stored
        else "No tensor is stored. The model computes it at run time:"
    )
    note = f"{origin} {description}.{counts}{scaled}{_restart(config, spec)}"
    form = PositionTable(formula, first_row)
    return Encoding(
        part.name,
        SCHEME.key,
        form,
        Provenance("config.json", shape=shape),
        (note,),
        part.modality,
        part.stack,
    )


def _restart(config: ModelConfig, spec: RuntimeSinusoid) -> str:
    """A sentence on chunks that are each counted from 0 (Qwen2.5-Omni, arXiv 2503.20215, section
    2.2), "" without them.
    """
    half = config.count(spec.half_chunk)
    return (
        ""
        if half is None
        else (
            f" Positions restart every {2 * half:,} frames of sound, so only the first rows are"
            " used."
        )
    )


def _first_angle(config: ModelConfig, spec: RuntimeSinusoid) -> int:
    """Index in the sinusoid of the first position."""
    if not spec.after_padding:
        return spec.skipped
    padding = config.integer("pad_token_id")
    return padding + 1 if padding is not None and 0 <= padding < 2**20 else 2


def _width(config: ModelConfig, spec: RuntimeSinusoid) -> int:
    return (
        math.prod(config.whole(name) for name in spec.width)
        if spec.width
        else config.needed("d_model")
    )


def _n_positions(config: ModelConfig, names: tuple[str, ...]) -> int:
    """Sum of the settings ``names``, 0 without any of them; ``n_positions`` if ``names`` is
    empty.
    """
    if not names:
        return config.needed("n_positions")
    return sum(config.whole(name) for name in names if config.value(name) is not None)


def _numbers() -> Numbers:
    """A table of 64 positions × 32 dimensions, and the cosine of position 0 with 128 positions for
    a width of 768: (128,).
    """
    wide = sinusoid(128, 768)
    return {"waves": sinusoid(64, 32), "cosines": wide @ wide[0] / (wide[0] @ wide[0])}


def _draw(numbers: Numbers) -> "Figure":
    figure, (left, right) = panels(2, height=3.2)
    picture = image(left, numbers["waves"], (-1.0, 1.0), DIVERGING, n_images=2)
    left.set_title("64 positions, 32 dimensions")
    left.set(xlabel="dimension", ylabel="position")
    colour_bar(figure, picture, [left], "value")
    right.plot(numbers["cosines"], color=SERIES[0])
    right.set_title("768 dimensions")
    right.set(
        xlabel="offset (positions)",
        ylabel="cosine of two positions",
        ylim=(0.0, 1.02),
        xlim=(0, 127),
    )
    right.grid(axis="y")
    return figure


def _alt(numbers: Numbers) -> str:
    near, far = numbers["cosines"][[1, 10]]
    return (
        "First: a heat map of waves that lengthen from dimension to dimension. Second: a line that"
        f" falls from 1 to {rounded(near, 3)} at offset 1, {rounded(far, 3)} at 10."
    )


PICTURE = Picture(
    caption=(
        "First: a small table of interleaved sines and cosines. Second: the cosine of two positions"
        " in a table of the usual width."
    ),
    how_to_read=(
        "First: each column is one wave over the positions, short at the left and almost constant"
        " at the right. Second: only the offset counts, wherever the two positions stand. The"
        " cosine falls steadily up to offset 43, then in waves."
    ),
    numbers=_numbers,
    alt=_alt,
    draw=_draw,
    card=lambda numbers: numbers["waves"],
)


SCHEME = Scheme(
    key="sinusoidal",
    title="Sinusoid",
    paper="1706.03762",
    plural="sinusoids",
    also=("sinusoidal positional encoding (Transformer)", "fixed absolute position embedding"),
    summary=(
        "A vector of sines and cosines for each position, from a formula; wavelengths usually grow"
        " from 2π to 10000 · 2π positions."
    ),
    acts_in="input",
    looked_for="a stored table equal to the sinusoid, or a config that asks for one",
    order=20,
    find=find,
    find_last=find_last,
    claims=re.compile(r"sinusoid", re.IGNORECASE),
    picture=PICTURE,
    words=("sinusoidal",),
    by_formula=True,
)
