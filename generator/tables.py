"""Stored position tables, found by the end of a tensor's name, whichever scheme they turn out to follow."""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from generator.contracts import Encoding, Files, Json, Provenance
from generator.encodings import Form, PositionTable, SinusoidLayout, sinusoid
from generator.errors import RowError
from generator.model_config import family, number
from generator.numerics import Floats, frozen

NAME = re.compile(r"(^|\.)(position_embeddings?|positions_embed|embed_positions|wpe|pos_embed|positional_embedding)(\.weight)?$")
# The first row is padding_idx + 1 in these, as in fairseq.
AFTER_PADDING = frozenset(
    {"roberta", "camembert", "xlm-roberta", "xlm-roberta-xl", "longformer", "mpnet", "luke", "data2vec-text",
     "roberta-prelayernorm", "xmod", "ibert", "esm", "layoutlmv3", "lilt", "markuplm", "fsmt", "prophetnet", "xlm-prophetnet"}
)  # fmt: skip
# And 2 in these, as in fairseq's learned tables, with as many extra rows.
AFTER_TWO = frozenset({"bart", "mbart", "opt", "biogpt", "plbart", "mvp", "trocr", "nystromformer", "yoso", "mra"})
DECODERS = frozenset({"gpt2", "gpt_neo", "gpt_bigcode", "openai-gpt", "opt", "biogpt"})
NOT_ADDED = frozenset({"rotary", "rope", "relative_key", "relative_key_query", "nope"})
PARTS = (("encoder", "encoder"), ("decoder", "decoder"), ("text", "text"), ("vision", "vision"), ("visual", "vision"))
# Stored sinusoids were made in float32, some by other formulas for the same angle; half precision rounds them once more.
TOLERANCE = {"F16": 5e-4, "BF16": 4e-3}
FLOAT32_TOLERANCE = 1e-4
LAYOUTS: tuple[SinusoidLayout, ...] = ("interleaved", "halves", "tensor2tensor")


@dataclass(frozen=True)
class StoredTable:
    """A tensor that holds a position table: its name, its part and the first row that is a position.

    tolerance: how near to a sinusoid its values must be to count as one
    """

    name: str
    part: str
    first_row: int
    tolerance: float


def stored_tables(files: Files) -> list[StoredTable]:
    """Every two-dimensional tensor whose name says that it is a position table."""
    held = files.tensors.items() if _added(files.config) else ()
    found = {name: tensor for name, tensor in held if NAME.search(name) and len(tensor.shape) == 2 and min(tensor.shape) > 0}
    parts = {name: _part(name, files.config) for name in found}
    alike = Counter(parts.values())
    return [
        StoredTable(
            name,
            parts[name] if alike[parts[name]] == 1 else f"{parts[name]} {NAME.sub('', name)}",
            _first_row(files, name, tensor.shape[0]),
            TOLERANCE.get(tensor.dtype, FLOAT32_TOLERANCE),
        )
        for name, tensor in found.items()
    ]


def _part(name: str, config: Json) -> str:
    words = re.split(r"[._]", name)
    default = "decoder" if family(config) in DECODERS else "encoder"
    return next((title for word, title in PARTS if word in words), default)


def vectors(files: Files, table: StoredTable) -> Floats:
    """The rows that are positions: (n_positions, d_model)."""
    return frozen(files.tensor(table.name)[table.first_row :])


def layout_of(table: StoredTable, rows: Floats) -> SinusoidLayout | None:
    """Which layout of the sinusoid ``rows`` (n_positions, d_model) of ``table`` equal, if any, counted from 0 or from its first row."""
    for layout in LAYOUTS:
        made = sinusoid(table.first_row + rows.shape[0], rows.shape[1], layout)
        starts = {0, table.first_row}
        if any(np.allclose(rows, made[start:][: len(rows)], rtol=0.0, atol=table.tolerance) for start in starts):
            return layout
    return None


def as_encoding(files: Files, table: StoredTable, rows: Floats, scheme: str, notes: tuple[str, ...] = ()) -> Encoding[Form]:
    """The record of a stored table that follows ``scheme``."""
    tensor = files.tensors[table.name]
    provenance = Provenance(tensor.file, table.name, tensor.dtype, tensor.shape, files.sha256(table.name))
    said = (*_rows_note(files, table, tensor.shape[0]), *notes)
    return Encoding(table.part, scheme, PositionTable(rows, table.first_row), provenance, said)


def _added(config: Json) -> bool:
    """Whether a stored table is added to the input. ESM-2 and DeBERTa may hold one without use, RoFormer one of angles."""
    elsewhere = config.get("position_embedding_type") in NOT_ADDED or family(config) == "roformer"
    return not elsewhere and config.get("position_biased_input") is not False


def _first_row(files: Files, name: str, n_rows: int) -> int:
    kind = family(files.config)
    first_row = 2 if kind in AFTER_TWO else 0
    if kind in AFTER_PADDING:
        padding = files.config.get("pad_token_id")
        first_row = (padding if isinstance(padding, int) and not isinstance(padding, bool) else 1) + 1
    if not 0 <= first_row < n_rows:
        raise RowError(
            f"{files.where}: {name} has {n_rows:,} rows, and positions begin at row {first_row}; expected one row of them at least"
        )
    return first_row


def _rows_note(files: Files, table: StoredTable, n_rows: int) -> tuple[str, ...]:
    notes = []
    if table.first_row:
        notes.append(f"The tensor has {n_rows:,} rows; the first {table.first_row} are not positions in this family and are left out.")
    said = number(files.config, "n_positions", files.where)
    held = n_rows - table.first_row
    if said is not None and said not in (n_rows, held):
        notes.append(f"config.json speaks of {said:,} positions; the tensor holds {held:,}, and these are shown.")
    return tuple(notes)
