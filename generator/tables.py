"""Stored position tables, found by the end of a tensor's name, whichever scheme they turn out to follow."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from generator.contracts import Encoding, Files, Provenance
from generator.encodings import Form, PositionTable, SinusoidLayout, sinusoid
from generator.model_config import family, number
from generator.numerics import Floats, frozen

NAME = re.compile(r"(^|\.)(position_embeddings?|positions_embed|embed_positions|wpe|pos_embed|positional_embedding)(\.weight)?$")
# The first row is padding_idx + 1 in these, as in fairseq.
AFTER_PADDING = frozenset(
    {"roberta", "camembert", "xlm-roberta", "xlm-roberta-xl", "longformer", "mpnet", "luke", "data2vec-text",
     "roberta-prelayernorm", "xmod", "ibert", "esm", "layoutlmv3", "lilt", "markuplm"}
)  # fmt: skip
# And 2 in these, as in fairseq's learned tables, with as many extra rows.
AFTER_TWO = frozenset({"bart", "mbart", "opt", "biogpt", "plbart", "led"})
PARTS = (("encoder", "encoder"), ("decoder", "decoder"), ("text", "text"), ("vision", "vision"), ("visual", "vision"))
SINUSOID_TOLERANCE = 1e-4  # Stored tables were made in float32 or float16, some by other formulas for the same angle.
LAYOUTS: tuple[SinusoidLayout, ...] = ("interleaved", "halves", "tensor2tensor")


@dataclass(frozen=True)
class StoredTable:
    """A tensor that holds a position table: its name, its part and the first row that is a position."""

    name: str
    part: str
    first_row: int


def stored_tables(files: Files) -> Iterator[StoredTable]:
    """Every two-dimensional tensor whose name says that it is a position table."""
    default = "decoder" if family(files.config) in {"gpt2", "openai-gpt", "opt", "biogpt"} else "encoder"
    for name, tensor in files.tensors.items():
        if NAME.search(name) and len(tensor.shape) == 2 and min(tensor.shape) > 0:
            words = re.split(r"[._]", name)
            part = next((title for word, title in PARTS if word in words), default)
            yield StoredTable(name, part, _first_row(files))


def vectors(files: Files, table: StoredTable) -> Floats:
    """The rows that are positions: (n_positions, d_model)."""
    return frozen(files.tensor(table.name)[table.first_row :])


def layout_of(rows: Floats) -> SinusoidLayout | None:
    """Which layout of the sinusoid ``rows`` (n_positions, d_model) equal, if any."""
    for layout in LAYOUTS:
        if np.allclose(rows, sinusoid(rows.shape[0], rows.shape[1], layout), rtol=0.0, atol=SINUSOID_TOLERANCE):
            return layout
    return None


def as_encoding(files: Files, table: StoredTable, rows: Floats, scheme: str, notes: tuple[str, ...] = ()) -> Encoding[Form]:
    """The record of a stored table that follows ``scheme``."""
    tensor = files.tensors[table.name]
    provenance = Provenance(tensor.file, table.name, tensor.dtype, tensor.shape, files.sha256(table.name))
    said = (*_rows_note(files, table, tensor.shape[0]), *notes)
    return Encoding(table.part, scheme, PositionTable(rows, table.first_row), provenance, said)


def _first_row(files: Files) -> int:
    kind = family(files.config)
    if kind in AFTER_PADDING:
        padding = files.config.get("pad_token_id")
        return (padding if isinstance(padding, int) and not isinstance(padding, bool) else 1) + 1
    return 2 if kind in AFTER_TWO else 0


def _rows_note(files: Files, table: StoredTable, n_rows: int) -> tuple[str, ...]:
    notes = []
    if table.first_row:
        notes.append(f"The tensor has {n_rows:,} rows; the first {table.first_row} are not positions in this family and are left out.")
    said = number(files.config, "n_positions", files.where)
    held = n_rows - table.first_row
    if said is not None and said not in (n_rows, held):
        notes.append(f"config.json speaks of {said:,} positions; the tensor holds {held:,}, and these are shown.")
    return tuple(notes)
