"""Rows of tables against what tokenizer and config say."""

import re
from collections.abc import Iterator, Sequence

from generator.checkpoints.model import keys
from generator.checkpoints.model.family_code import rows_beside_patches
from generator.checkpoints.model.patch_grid import config_grids, counts_patches
from generator.checkpoints.model.tokenizer_length import tokenizer_length
from generator.contracts import Examined, Json, Rule
from generator.encodings import PositionTable
from generator.reading.taken import is_read

LENGTH = re.compile(r"positions|position_embeddings$|n_ctx|seq_len")


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Tables whose first row is no position, those shorter than the tokenizer's longest text, those
    whose number of rows no length in config.json is, nor that of their positions,
    those of another grid than the config's, and those with other rows beside a grid than the code
    of the family has.
    """
    tokens, grids = tokenizer_length(examined.files), config_grids(examined.files.config)
    for one in examined.encodings:
        form, tensor = one.form, one.provenance.tensor
        if not isinstance(form, PositionTable) or tensor is None or form.acts_in != "input":
            continue
        n_positions, _ = form.shape
        table = {"tensor": tensor, "n_positions": n_positions}
        n_rows = one.provenance.shape[-2] if len(one.provenance.shape) > 1 else 0
        if one.modality == "text" and form.first_row:
            yield "offset", {**table, "first": form.first_row, "n_rows": n_rows}
        stated = _stated(examined) if n_rows and one.provenance.sha256 and one.is_of_words else {}
        if stated and not {n_rows, n_positions} & {*stated.values()}:
            values = {"paths": [*stated], "lengths": [*stated.values()]}
            yield "other_length", {"tensor": tensor, "n_rows": n_rows, **values}
        if one.modality == "text" and tokens and tokens > n_positions:
            yield "tokenizer_longer", {**table, "tokens": tokens}
        if one.modality == "image" and form.grid and grids and form.grid not in grids:
            yield "other_grid", {"tensor": tensor, "grid": form.grid, "configured": min(grids)}
        elif one.modality == "image" and grids and counts_patches(tensor, examined.files.config):
            family = examined.files.resolved.family_of(one.part)
            yield from _beside_a_grid(tensor, n_rows, grids, family)


def _stated(examined: Examined) -> dict[str, int]:
    """Lengths that a config.json states anywhere, by their keys, if it states that of the model."""
    config = examined.files.config
    is_stated = is_read(config) and bool(config.path_of("n_positions"))
    every = keys.leaves(config.settings) if is_stated else ()
    return {
        keys.dotted(path): value
        for path, value in every
        if LENGTH.search(path[-1]) and isinstance(value, int) and not isinstance(value, bool)
    }


def _beside_a_grid(
    tensor: str, n_rows: int, grids: Sequence[tuple[int, int]], family: str
) -> Iterator[tuple[str, Json]]:
    """Of a family whose code says how many rows a table has beside those of patches."""
    beside = rows_beside_patches(family)
    if beside is not None and n_rows not in {rows * columns + beside for rows, columns in grids}:
        grid = min(grids, key=lambda each: abs(n_rows - each[0] * each[1]))
        found = {"n_rows": n_rows, "grid": grid, "more": n_rows - grid[0] * grid[1]}
        yield "beside_grid", {"tensor": tensor, **found, "beside": beside, "family": family}


RULE = Rule(
    key="rows",
    levels={"offset": "fact", "tokenizer_longer": "warning", "other_grid": "warning",
            "beside_grid": "note", "other_length": "warning"},
    find=find,
    about=("max_position_embeddings", "image_size"),
)  # fmt: skip
