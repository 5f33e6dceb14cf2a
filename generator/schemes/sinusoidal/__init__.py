"""Sinusoidal position encoding: a fixed table, stored in one of several arrangements or computed
when the model runs.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

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
from generator.checkpoints.model.tensor_names import misshapen
from generator.contracts import Claimed, Encoding, Files, ModelConfig, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, PositionTable, grid_formula, sinusoid_formula
from generator.errors import RowError
from generator.schemes.sinusoidal.families import (
    DEFAULT,
    HEADS,
    MOST_VALUES,
    OF_CLIPS,
    OF_FRAMES,
    RuntimeSinusoid,
    TablePart,
    runtime_sinusoid,
)
from generator.schemes.sinusoidal.feature_maps import feature_map

WORDING = Wording("schemes/sinusoidal.md.jinja")
FLAGS = ("sinusoidal_pos_embds", "sinusoidal_embeddings", "static_position_embeddings")
FACTOR = re.compile(r"(^|\.)(encoder|decoder)\.prenet\.encode_positions\.alpha$")
SIDES = {
    "encoder": TablePart("text encoder", ("max_text_positions",)),
    "decoder": TablePart("speech decoder", ("max_speech_positions",), "audio"),
}
VISION = TablePart("vision", modality="image")
OF_TIME = TablePart("video", modality="image")
DEFAULT_LENGTHS = {"encoder": 450, "decoder": 4000}


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
    config, guessed = files.config, guessed_tables(files, is_claimed)
    parts = {table.part for table in (*stored_tables(files), *guessed)}
    scaled = [
        _times(files, name, SIDES[match[2]], DEFAULT_LENGTHS[match[2]])
        for name in files.tensors
        if (match := FACTOR.search(name))
    ]
    # A scaled sinusoid replaces the plain one.
    scaled_stacks = {encoding.stack for encoding in scaled}
    runtime = [
        encoding
        for stack in files.resolved.stacks
        for encoding in _runtime(stack.config, parts, has_weights=bool(files.tensors))
        if encoding.stack not in scaled_stacks
    ]
    of_images = []
    if config.family in HEADS and (found := feature_map(completed(config))):
        of_images.append(_computed(VISION, *found))
    if config.family in OF_CLIPS:
        of_images.append(_of_clips(config))
    if config.family in OF_FRAMES:
        of_images.append(_of_frames(config))
    if config.family in CROPPED and not files.tensors:
        of_images.append(_of_crop(config))
    return [*_stored(files, guessed), *runtime, *scaled, *of_images]


def _stored(files: Files, tables: Sequence[StoredTable]) -> list[Encoding[Form]]:
    encodings = []
    for table in tables:
        if table.arrangement is not None:
            note = WORDING(
                "equal",
                scale=table.scale,
                tolerance=table.tolerance,
                description=_description(table.arrangement),
            )
            encodings.append(as_encoding(files, table, SCHEME.key, (note,)))
    return encodings


def _description(arrangement: str) -> str:
    return WORDING(arrangement.replace(" ", "_"))


def _computed(part: TablePart, form: PositionTable, note: str) -> Encoding[Form]:
    """The encoding of a table that no tensor holds."""
    origin = Provenance("config.json", shape=form.shape)
    return Encoding(part.name, SCHEME.key, form, origin, (note,), part.modality, part.stack)


def _limited(config: ModelConfig, n_positions: int, d_model: int) -> tuple[int, int]:
    """The shape of a table. errors: RowError for one with no values, or too many"""
    if not 0 < n_positions * d_model <= MOST_VALUES:
        raise RowError(
            f"{config.where}: a sinusoid of {n_positions:,} × {d_model:,}; expected 1 to"
            f" {MOST_VALUES:,} values"
        )
    return n_positions, d_model


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


def _times(files: Files, name: str, part: TablePart, default: int) -> Encoding[Form]:
    """The sinusoid times a trained number (SpeechT5; Li et al. 2019, arXiv 1809.08895, section
    3.2).
    """
    if math.prod(files.tensors[name].shape) != 1:
        raise misshapen(files, name, "one number")
    n_positions = files.config.whole(part.sizes[0], default)
    shape = _limited(files.config, n_positions, files.config.needed("d_model"))
    factor = float(files.tensor(name).reshape(-1)[0])
    form = PositionTable(replace(sinusoid_formula(*shape), scale=factor))
    computed = _computed(part, form, WORDING("multiplied", factor=factor))
    return replace(computed, provenance=Provenance.of(files, name))


def _of_crop(config: ModelConfig) -> Encoding[Form]:
    """The middle of a stored sinusoid, which a picture of the configured size gets (SD3, arXiv
    2403.03206).

    errors: RowError for an invalid size
    """
    setting = CROPPED[config.family]
    most = config.whole(setting)
    side = config.whole("sample_size") // config.whole("patch_size")
    if side > most:
        raise RowError(
            f"{config.where}: {side:,} patches on a side; expected at most {setting} ({most:,})"
        )
    width = config.whole("num_attention_heads") * config.whole("attention_head_dim")
    _limited(config, side * side, width)
    whole = grid_formula((side, side), width)
    form = PositionTable(
        replace(whole, places=(whole.places + (most - side) // 2) * (side / most)),
        grid=(side, side),
    )
    note = WORDING("cropped", most=most, side=side, family=config.family)
    return _computed(TablePart("transformer", modality="image"), form, note)


def _of_clips(config: ModelConfig) -> Encoding[Form]:
    """The sinusoid of the patches of a clip, numbered through all frames."""
    grid = next(section_grids(config), None)
    if grid is None:
        raise RowError(
            f"{config.where}: config.json has no image_size and patch_size; expected both, to count"
            " the clip's patches"
        )
    steps = config.whole("num_frames", 16) // config.whole("tubelet_size", 2)
    shape = _limited(config, steps * grid[0] * grid[1], config.needed("d_model"))
    note = WORDING("numbered_through_clip", n_steps=steps, grid=grid)
    return _computed(VISION, PositionTable(sinusoid_formula(*shape)), note)


def _of_frames(config: ModelConfig) -> Encoding[Form]:
    """The sinusoid of the frames of a clip: transformers' Kimi_K25VisionPositionEmbeddings."""
    given = config.section("vision_config") or ModelConfig({}, config.where)
    vision = completed(given, f"{config.family}_vision")
    count, width = (
        vision.whole(first, vision.settings.get(second))
        for first, second in (
            ("init_pos_emb_time", "pos_emb_time"),
            ("vt_hidden_size", "hidden_size"),
        )
    )
    formula = sinusoid_formula(*_limited(vision, count, width), "halves")
    return _computed(OF_TIME, PositionTable(formula), WORDING("of_frames"))


def _encoding(
    config: ModelConfig, spec: RuntimeSinusoid, part: TablePart, length: int
) -> Encoding[Form]:
    width = (
        math.prod(config.whole(name) for name in spec.width)
        if spec.width
        else config.needed("d_model")
    )
    shape = _limited(config, length - spec.skipped, width)
    first_row = spec.skipped
    if spec.after_padding:
        padding = config.integer("pad_token_id")
        first_row = padding + 1 if padding is not None and 0 <= padding < 2**20 else 2
    formula = sinusoid_formula(*shape, spec.arrangement, first=first_row)
    if spec.cosines_first:
        frequencies = np.roll(formula.frequencies, width // 2, axis=1)
        is_cosine = np.roll(formula.is_cosine, width // 2)
        formula = replace(formula, frequencies=frequencies, is_cosine=is_cosine)
    if spec.scaled:
        formula = replace(formula, scale=1.0 / math.sqrt(width))
    return _computed(part, PositionTable(formula, first_row), _note(config, spec, first_row))


def _note(config: ModelConfig, spec: RuntimeSinusoid, first_row: int) -> str:
    return WORDING(
        "computed",
        description=(
            WORDING("cosines_first") if spec.cosines_first else _description(spec.arrangement)
        ),
        stored=WORDING(spec.stored) if spec.stored else "",
        first_row=first_row,
        scaled=spec.scaled,
        # Qwen2.5-Omni, arXiv 2503.20215, section 2.2.
        n_frames=2 * (config.count(spec.half_chunk) or 0),
    )


def _n_positions(config: ModelConfig, names: tuple[str, ...]) -> int:
    """Sum of the settings ``names``, 0 without any of them; ``n_positions`` if ``names`` is
    empty.
    """
    if not names:
        return config.needed("n_positions")
    return sum(config.whole(name) for name in names if config.value(name) is not None)


SCHEME = Scheme(
    key="sinusoidal",
    paper="1706.03762",
    plural="sinusoids",
    also=("sinusoidal positional encoding (Transformer)", "fixed absolute position embedding"),
    acts_in="input",
    after="layout",
    sought=("sine cosine table", "rows and columns"),
    find=find,
    find_last=find_last,
    claims=re.compile(r"sinusoid", re.IGNORECASE),
    asked_by=("sinusoidal",),
    by_formula=True,
)
