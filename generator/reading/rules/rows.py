"""Rows of tables against what tokenizer and config say."""

from collections.abc import Iterator

from generator.checkpoints.model.patch_grid import config_grids
from generator.checkpoints.model.tokenizer_length import tokenizer_length
from generator.contracts import Examined, Json, Rule
from generator.encodings import PositionTable


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Tables whose first row is no position, those shorter than the tokenizer's longest text, and
    those of another grid than the config's.
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
        if one.modality == "text" and tokens and tokens > n_positions:
            yield "tokenizer_longer", {**table, "tokens": tokens}
        if one.modality == "image" and form.grid and grids and form.grid not in grids:
            yield "other_grid", {"tensor": tensor, "grid": form.grid, "configured": min(grids)}


RULE = Rule(
    key="rows",
    levels={"offset": "fact", "tokenizer_longer": "warning", "other_grid": "warning"},
    find=find,
)
