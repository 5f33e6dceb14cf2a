"""Two-dimensional position embeddings of documents (LayoutLM): learned tables of box coordinates
and sizes, added to the input.
"""

import re

from generator.checkpoints.model.tensor_names import in_order, misshapen
from generator.contracts import Encoding, Files, Modality, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, PositionTable
from generator.numerics.arrays import frozen

WORDING = Wording("schemes/layout.md.jinja")
# Concatenate the vectors; others add them up.
JOINED = frozenset({"layoutlmv2", "layoutxlm", "layoutlmv3", "lilt"})

NAME = re.compile(r"(^|\.)(x|y|h|w|row|col|box)_position_embeddings\.weight$")
PARTS = {"x": "x", "y": "y", "h": "height", "w": "width", "row": "y", "col": "x", "box": "order"}
# "page" for the others; "box" is the table of the order of boxes (LiLT).
MODALITIES: dict[str, Modality] = {"row": "image", "col": "image", "box": "text"}


def find(files: Files) -> list[Encoding[Form]]:
    """One table for every coordinate and size.

    errors: RowError when a tensor is not (n_coordinates, d_model)
    """
    matches = {name: NAME.search(name) for name in in_order(files.tensors)}
    return [_encoding(files, name, match[2]) for name, match in matches.items() if match]


def _encoding(files: Files, name: str, kind: str) -> Encoding[Form]:
    shape, modality, first_row = files.tensors[name].shape, MODALITIES.get(kind, "page"), 0
    if len(shape) != 2 or min(shape) < 1:
        raise misshapen(files, name, "(coordinates, width)")
    indexed = WORDING("by_patches" if modality == "image" else f"by_{PARTS[kind]}")
    counted = f"{indexed} {WORDING('steps_of_page')}" if modality == "page" else indexed
    notes = [counted, WORDING("joined" if files.config.family in JOINED else "summed")]
    if modality == "text":
        # The row of position 0 is the one after that of the padding token.
        padding = files.config.integer("pad_token_id")
        after = 2 if padding is None else padding + 1
        first_row = after if 0 <= after < shape[0] else 0
        notes = [indexed, *([WORDING("no_positions", n_rows=first_row)] if first_row else [])]
    form = PositionTable(frozen(files.tensor(name)[first_row:]), first_row)
    origin = Provenance.of(files, name)
    return Encoding(PARTS[kind], SCHEME.key, form, origin, tuple(notes), modality)


SCHEME = Scheme(
    key="layout",
    paper="1912.13318",
    also=("2-D position embedding (LayoutLM)",),
    acts_in="input",
    after="axial",
    find=find,
)
