"""Tables of image patches other than one matrix: separate ones for rows and columns, in windows, or
with a gate.
"""

import math
import re
from collections.abc import Iterator

import numpy as np

from generator.checkpoints.model.patch_grid import lattice_of
from generator.contracts import Encoding, Files, Provenance
from generator.contracts.wording import Wording
from generator.encodings import Form, PositionTable
from generator.errors import RowError
from generator.numerics.arrays import Floats, frozen

WORDING = Wording("schemes/learned.md.jinja")
AXIS = re.compile(r"(^|\.)(row|column)_embedder\.weight$")  # Pix2Struct, Kosmos 2.5
HALF = re.compile(r"(^|\.)image_pos\w*\.(row|column)_embeddings\.weight$")  # Florence-2
BOTH_AXES = re.compile(r"(^|\.)position_embedding_table$")  # Gemma 4
SIDES = ("columns", "rows")  # In the order of the tensor (Gemma 4).
WINDOW = re.compile(r"(^|\.)pos_embed_window$")  # SAM 2
GATED = re.compile(r"(^|\.)gated_positional_embedding\.embedding$")  # Mllama
KINDS = (AXIS, HALF, BOTH_AXES, WINDOW, GATED)

# Part, table and notes.
PatchTable = tuple[str, PositionTable, tuple[str, ...]]


def patch_tables(files: Files, scheme: str) -> Iterator[Encoding[Form]]:
    """Every table of patches other than one matrix, under the scheme with the key ``scheme``.

    errors: RowError when the gate of a table is missing
    """
    # The shape of another tensor may be in a file that need not be opened.
    for name in (name for name in files.tensors if any(kind.search(name) for kind in KINDS)):
        for part, form, notes in _tables(files, name):
            yield Encoding(part, scheme, form, Provenance.of(files, name), notes, "image")


def _tables(files: Files, name: str) -> Iterator[PatchTable]:
    shape = files.tensors[name].shape
    if min(shape, default=0) < 1:
        return
    if (axis := AXIS.search(name)) and len(shape) == 2:
        yield _side(f"{axis[2]}s", frozen(files.tensor(name)))
    elif (half := HALF.search(name)) and len(shape) == 2:
        yield _side(f"{half[2]}s", frozen(files.tensor(name)), "halves_of_two")
    elif BOTH_AXES.search(name) and len(shape) == 3 and shape[0] == 2 and shape[1] != 2:
        for side, rows in zip(SIDES, files.tensor(name), strict=True):
            yield _side(side, frozen(rows))
    elif WINDOW.search(name) and len(shape) == 4 and shape[0] == 1:
        yield _window(files.tensor(name)[0])
    elif GATED.search(name) and len(shape) == 2:
        yield _gated(files, name)


def _side(side: str, vectors: Floats, how: str = "sum_of_two") -> PatchTable:
    notes = (WORDING(how), WORDING("for_side", side=side))
    return f"vision {side}", PositionTable(vectors), notes


def _window(stored: Floats) -> PatchTable:
    """A table within windows; stored: (d_model, n_rows, n_columns)."""
    width, rows, columns = stored.shape
    laid = WORDING("tiled", n_rows=rows, n_columns=columns)
    vectors = frozen(np.moveaxis(stored, 0, -1).reshape(-1, width))
    return "vision within a window", PositionTable(vectors, grid=(rows, columns)), (laid,)


def _gated(files: Files, name: str) -> PatchTable:
    """The table for every tile: the stored one times 1 − tanh(gate) (Mllama)."""
    gate_name = name.removesuffix("embedding") + "gate"
    shape = files.tensors[gate_name].shape if gate_name in files.tensors else None
    if shape is None or math.prod(shape) != 1:
        raise RowError(
            f"{files.where}: {gate_name} has shape {shape}; expected one number, the gate of {name}"
        )
    share = 1.0 - math.tanh(float(files.tensor(gate_name).reshape(-1)[0]))
    stored = files.tensor(name)
    patches = lattice_of(name, len(stored), files.config)
    vectors = frozen(share * stored[patches.before : len(stored) - patches.after])
    form = PositionTable(vectors, patches.before, patches.grid)
    counted = WORDING("counted", n_rows=len(stored), patches=patches)
    return "vision", form, (WORDING("gated", share=share), WORDING("table_of_tiles"), counted)
