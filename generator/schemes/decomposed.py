"""Decomposed relative position embeddings (MViTv2, ViTDet, SAM): vectors by row offset and by
column offset, multiplied with the query.
"""

import re
from collections import Counter
from typing import Any

import numpy as np

from generator.checkpoints.model.tensor_names import in_order, misshapen
from generator.contracts import Encoding, Files, Numbers, Picture, Provenance, Scheme
from generator.contracts.words import Words
from generator.encodings import Form, RelativeTable
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Line, Panel, add
from generator.figures.style import ACCENT, DIVERGING, INK
from generator.numerics.arrays import frozen

WORDS = Words("schemes/decomposed.md.jinja")
NAME = re.compile(r"(^|\.)rel_pos_([hwt])$")
NUMBER = re.compile(r"(?:^|\.)(\d+)(?=\.)")
ALONG = {"h": "rows", "w": "columns", "t": "frames"}  # Frames of clips (MViT).


def find(files: Files) -> list[Encoding[Form]]:
    """One table for every layer and axis.

    errors: RowError when a tensor is not (2 · n_patches − 1, head_dim)
    """
    parts = {name: _part(name) for name in in_order(files.tensors) if NAME.search(name)}
    counts = Counter(parts.values())
    return [
        _encoding(files, name, part if counts[part] == 1 else f"{part} of {name}")
        for name, part in parts.items()
    ]


def _part(name: str) -> str:
    """Layer and axis; of several numbers in the name, the last one is the layer."""
    layer = "".join(f" layer {number}" for number in NUMBER.findall(name)[-1:])
    return f"vision{layer} {ALONG[name[-1]]}"


def _encoding(files: Files, name: str, part: str) -> Encoding[Form]:
    shape = files.tensors[name].shape
    if len(shape) != 2 or shape[0] % 2 == 0 or shape[1] == 0:
        raise misshapen(files, name, "(2 · patches − 1, width)")
    reach = shape[0] // 2
    form = RelativeTable(frozen(files.tensor(name)[::-1]), frozen(np.arange(-reach, reach + 1)))
    covered = WORDS("covered", n_vectors=shape[0], along=ALONG[name[-1]], n_patches=reach + 1)
    notes = (covered, WORDS("resized"))
    return Encoding(part, SCHEME.key, form, Provenance.of(files, name), notes, "image")


GRID, QUERY = (6, 8), (2, 3)


def _numbers() -> Numbers:
    """Logits of one query for the rows, the columns and both, from random vectors: (n_rows,
    n_columns) each.
    """
    draws = np.random.default_rng(0)
    query, tables = draws.normal(size=4), [draws.normal(size=(2 * side - 1, 4)) for side in GRID]
    offsets = [np.arange(side) - place for side, place in zip(GRID, QUERY, strict=True)]
    rows, columns = (
        table[offset + side - 1] @ query
        for table, offset, side in zip(tables, offsets, GRID, strict=True)
    )
    down, across = np.meshgrid(rows, columns, indexing="ij")
    return {"down": down, "across": across, "both": down + across}


def _draw(numbers: Numbers) -> Figure:
    titles = {"down": "by rows, from H", "across": "by columns, from W", "both": "their sum"}
    shown = [Panel(title, numbers[name]) for name, title in titles.items()]
    figure = image_panels(
        shown,
        (-2.0, 2.0),
        DIVERGING,
        ("column of the key", "row of the key", "added to the logit"),
        square=False,
    )
    for axes in figure.axes[: len(shown)]:
        style: dict[str, Any] = {"marker": "o", "size": 7.0, "more": {"markeredgecolor": INK}}
        add(axes, Line([QUERY[1]], [QUERY[0]], colour=ACCENT, is_aside=True, **style))
        axes.set_box_aspect(GRID[0] / GRID[1])
    return figure


PICTURE = Picture.of(
    WORDS,
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["both"],
)


SCHEME = Scheme(
    key="decomposed",
    paper="2112.01526",
    also=("decomposed relative position embedding (MViTv2, SAM)",),
    acts_in="logits",
    order=64,
    find=find,
    picture=PICTURE,
)
