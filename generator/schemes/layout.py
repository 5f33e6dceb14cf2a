"""Where a word stands on its page: learned tables for the coordinates and the size of its box, added to the input."""

import re

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.encodings import Form, PositionTable
from generator.errors import RowError
from generator.model_config import family
from generator.naming import in_order
from generator.numerics import frozen

NAME = re.compile(r"(^|\.)(x|y|h|w|row|col)_position_embeddings\.weight$")
PARTS = {"x": "x", "y": "y", "h": "height", "w": "width", "row": "y", "col": "x"}
EDGES = {
    "x": "Looked up for the left edge of a word's box and for its right edge.",
    "y": "Looked up for the upper edge of a word's box and for its lower edge.",
    "height": "Looked up for the height of a word's box.",
    "width": "Looked up for the width of a word's box.",
}
PATCHES = "Looked up for the patches of an image."
JOINED = frozenset({"layoutlmv2", "layoutxlm", "layoutlmv3", "lilt"})  # These join the vectors; the others add them up.


def find(files: Files) -> list[Encoding[Form]]:
    found = {name: match[2] for name in in_order(files.tensors) if (match := NAME.search(name))}
    return [_encoding(files, name, kind) for name, kind in found.items()]


def _encoding(files: Files, name: str, kind: str) -> Encoding[Form]:
    tensor, part = files.tensors[name], PARTS[kind]
    if len(tensor.shape) != 2 or min(tensor.shape) < 1:
        raise RowError(f"{files.where}: {name} has shape {tensor.shape}; expected (coordinates, width)")
    provenance = Provenance(tensor.file, name, tensor.dtype, tensor.shape, files.sha256(name))
    used = PATCHES if kind in ("row", "col") else EDGES[part]
    put = "joined to one vector" if family(files.config) in JOINED else "added up"
    notes = (f"{used} Rows are counted in steps of the page, not in words.", f"The vectors of all coordinates are {put}.")
    return Encoding(part, SCHEME.key, PositionTable(frozen(files.tensor(name))), provenance, notes)


SCHEME = Scheme(
    key="layout",
    title="Place on the page",
    summary="Learned vectors for the edges and the size of each word's box on its page, added to the input beside the word.",
    looked_for="x_, y_, h_ and w_position_embeddings among the tensors",
    order=14,
    find=find,
)
