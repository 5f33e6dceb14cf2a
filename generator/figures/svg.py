"""Rendering of figures as SVG: deterministic, small, and light or dark with the page around them.

A drawing holds the picture and the data of the figure, as its metadata; ``parts`` takes them apart.
"""

import base64
import gc
import io
import json
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.figures.compact import compact
from generator.figures.style import DIVERGING, STOPS, STYLE, WIDTH
from generator.numerics.arrays import Array
from generator.text import json_in_markup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXTENSION = ".svg"
TOO_LARGE = "This figure needs more memory than one checkpoint may take."
BACKEND = "matplotlib.backends.backend_svg"
RC: Any = {"svg.fonttype": "none", "svg.hashsalt": "position-atlas"}
METADATA = re.compile(rb"<metadata>(.*)</metadata>\n", re.DOTALL)
RASTER = re.compile(rb'data:image/png;base64,([^"]+)')
VIEW_BOX = re.compile(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def encode(draw: "Callable[..., Figure]", *inputs: object) -> bytes:
    """The figure that ``draw(*inputs)`` returns, as SVG with its data; a sentence in its place
    where it needs too much memory.

    Equal numbers give equal bytes. Colours follow the reader's light or dark scheme.
    """
    try:
        text, data = _saved(draw, *inputs)
    except MemoryError:
        text, data = _saved(_too_large)
    # Figures hold reference cycles, which would pile up until the next full collection.
    gc.collect(1)
    # Opened alone it then fills the window.
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text, count=2)
    text = compact(
        re.sub(r"data:image/png;base64,([^\"]+)", _palette_png, text),
        is_diverging=any(
            mark.get("stops") == STOPS[DIVERGING]
            for panel in data["panels"]
            for mark in panel["marks"]
        ),
    )
    packed = json_in_markup(json.dumps(data, separators=(",", ":"), allow_nan=False))
    return text.replace("</svg>", f"<metadata>{packed}</metadata>\n</svg>").encode()


def file_of(path: str) -> str:
    """Path of the file of a figure, from ``path`` without extension."""
    return path + EXTENSION


def parts(drawing: bytes) -> tuple[bytes, bytes]:
    """The picture of a drawing, and its data as JSON in ASCII, which is valid within a script."""
    data = METADATA.search(drawing)
    return METADATA.sub(b"", drawing, count=1), data[1] if data else b"{}"


def size(drawing: bytes) -> tuple[int, int]:
    """Width and height of its view box as whole numbers, which a page takes for pixels when it
    reserves room; zeros where it has none.
    """
    box = VIEW_BOX.search(drawing)
    return (round(float(box[1])), round(float(box[2]))) if box else (0, 0)


def raster(drawing: bytes) -> bytes | None:
    """The first image of cells in a drawing, as PNG with a pixel for each; None where it has
    none.
    """
    found = RASTER.search(drawing)
    return base64.b64decode(found[1]) if found else None


def _saved(draw: "Callable[..., Figure]", *inputs: object) -> tuple[str, dict[str, Any]]:
    """The figure as matplotlib writes it, and its data. errors: MemoryError"""
    import matplotlib as mpl

    with mpl.rc_context({**STYLE, **RC}), warnings.catch_warnings():
        # The reader's browser has other fonts.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        buffer = io.StringIO()
        data = _save(draw(*inputs), buffer)
    return buffer.getvalue(), data


def _too_large() -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 1.0))
    figure.text(0.5, 0.5, TOO_LARGE, ha="center", va="center")
    return figure


def _save(figure: "Figure", file: io.StringIO) -> dict[str, Any]:
    """Write the figure to ``file``, and return its data; ``savefig`` alone would draw everything
    once more to place its panels.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    from generator.figures.axes_in_words import explain_axes
    from generator.figures.live import described

    FigureCanvasSVG(figure)  # Text is measured by the backend that draws it.
    for axis in (
        axis
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        if not axis.get_label_text()
    ):
        axis.set_label_coords(0, 0)  # Else matplotlib would search for room for an empty label.
    engine, dpi = figure.get_layout_engine(), figure.dpi
    if engine is not None:
        # The engine changes the resolution to that of SVG; images need the figure's own.
        engine.execute(figure)
        figure.set(layout_engine=None, dpi=dpi)
    data = described(figure)
    explain_axes(figure)
    figure.savefig(
        file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
    )
    return data


def _palette_png(match: re.Match[str]) -> str:
    from PIL import Image

    pixels: Array = np.array(Image.open(io.BytesIO(base64.b64decode(match[1]))).convert("RGBA"))
    # Integers sort faster than rows of four.
    unique, index = np.unique(pixels.view(">u4").astype(np.uint32), return_inverse=True)
    if unique.size > 256:
        return match[0]
    colours = unique.astype(">u4").view(np.uint8).reshape(-1, 4)
    picture = Image.fromarray(index.reshape(pixels.shape[:2]).astype(np.uint8), "P")
    picture.putpalette(colours[:, :3].tobytes())
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG", optimize=True, transparency=colours[:, 3].tobytes())
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
