"""Two-dimensional position embeddings of documents (LayoutLM): learned tables of box coordinates
and sizes, added to the input.
"""

import re

import numpy as np

from generator.checkpoints.model.tensor_names import in_order, misshapen
from generator.contracts import Encoding, Files, Modality, Numbers, Picture, Provenance, Scheme
from generator.contracts.words import Words
from generator.encodings import Form, PositionTable
from generator.figures.canvas import Figure
from generator.figures.panels import colour_bar, image, panels
from generator.figures.scene import DOTTED, Line, Rule, Text, add
from generator.figures.style import ACCENT, DIVERGING, INK, MUTED
from generator.numerics.arrays import frozen

WORDS = Words("schemes/layout.md.jinja")
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
    indexed = WORDS("by_patches" if modality == "image" else f"by_{PARTS[kind]}")
    counted = f"{indexed} {WORDS('steps_of_page')}" if modality == "page" else indexed
    notes = [counted, WORDS("joined" if files.config.family in JOINED else "summed")]
    if modality == "text":
        # The row of position 0 is the one after that of the padding token.
        padding = files.config.integer("pad_token_id")
        after = 2 if padding is None else padding + 1
        first_row = after if 0 <= after < shape[0] else 0
        notes = [indexed, *([WORDS("no_positions", n_rows=first_row)] if first_row else [])]
    form = PositionTable(frozen(files.tensor(name)[first_row:]), first_row)
    origin = Provenance.of(files, name)
    return Encoding(PARTS[kind], SCHEME.key, form, origin, tuple(notes), modality)


# Of one word, in thousandths of the page.
BOX = {"left": 120, "top": 210, "right": 420, "bottom": 330}


def _numbers() -> Numbers:
    """The six rows for a box, of random tables, and their sum: (7, 16); and the indices of these
    rows: (6,).
    """
    left, top, right, bottom = BOX.values()
    draws = np.random.default_rng(0)
    x, y, height, width = draws.normal(size=(4, 1001, 16))
    rows = np.array([left, top, right, bottom, bottom - top, right - left])
    vectors = np.stack(
        [table[row] for table, row in zip((x, y, x, y, height, width), rows, strict=True)]
    )
    return {
        "rows": rows,
        "looked_up": np.concatenate([vectors, vectors.sum(axis=0, keepdims=True)]),
    }


def _draw(numbers: Numbers) -> Figure:
    figure, (page, strips) = panels(2, height=3.6)
    left, top, right, bottom = BOX.values()
    corners = [left, right, right, left, left], [top, top, bottom, bottom, top]
    middle = ((left + right) / 2, (top + bottom) / 2)
    word = Text("word", middle, justify="center", baseline="center")
    add(page, Line(*corners, colour=ACCENT), word)
    page.vlines([left, right], 0, top, color=MUTED, linewidth=0.8, linestyle=DOTTED)
    page.hlines([top, bottom], 0, left, color=MUTED, linewidth=0.8, linestyle=DOTTED)
    page.set(
        xlim=(0, 1000),
        ylim=(1000, 0),
        xlabel="x (thousandths of the page)",
        ylabel="y (thousandths of the page)",
        box_aspect=1.3,
    )
    picture = image(strips, numbers["looked_up"], (-5.0, 5.0), DIVERGING)
    names = [
        f"{name} [{row}]"
        for name, row in zip(("x", "y", "x", "y", "height", "width"), numbers["rows"], strict=True)
    ]
    strips.set_yticks(range(len(names) + 1), [*names, "sum"])
    add(strips, Rule("y", len(names) - 0.5, colour=INK, width=1.2))
    strips.set(xlabel="dimension")
    colour_bar(figure, picture, [strips], "value")
    return figure


PICTURE = Picture.of(
    WORDS,
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["looked_up"],
)


SCHEME = Scheme(
    key="layout",
    paper="1912.13318",
    also=("2-D position embedding (LayoutLM)",),
    acts_in="input",
    order=14,
    find=find,
    picture=PICTURE,
)
