"""Panels, images and ridge lines: the elements of figures."""

import math
from collections.abc import Sequence
from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.figures.scene import Cells, Line, Panel, PickedPanel, StraightLine, Text, add
from generator.figures.style import (
    COLOUR_BAR,
    DIVERGING,
    GRID,
    INK,
    PAPER,
    PICKED,
    PIXELS,
    SEQUENTIAL,
    SERIES,
    WIDTH,
)
from generator.numerics.arrays import Floats, shrunk_by
from generator.numerics.picking import picked
from generator.text import rounded

if TYPE_CHECKING:  # matplotlib takes most of a second to import; only drawing needs it.
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

HALF = 28  # Letters that fit into a title of half the width.
LINE = 0.15  # Height of a line of a small title, in inches.
# Columns or rows of an image up to which ticks are whole numbers of ours, and how many there are.
FEW_CELLS, TICKS = 20, 6
MOST_DECADES = 6  # labelled on a logarithmic axis; more would overlap


def panels(
    count: int, columns: int = 2, height: float = 3.2, **shared: Any
) -> "tuple[Figure, list[Axes]]":
    """A figure of standard width with ``count`` axes in rows of ``columns``, each row ``height``
    inches high.
    """
    from matplotlib.figure import Figure

    from generator.figures.placement import PanelPlacement

    columns = min(columns, count)
    rows = ceil(count / columns)
    figure = Figure(figsize=(WIDTH, height * rows), layout=PanelPlacement())
    axes = [figure.add_subplot(rows, columns, index + 1, **shared) for index in range(count)]
    return figure, axes


def wrapped(title: str, letters: int = HALF) -> str:
    """``title`` broken into lines of at most ``letters`` letters."""
    return fill(title, letters, break_on_hyphens=False)


def image(
    axes: "Axes",
    shown: Floats | Panel,
    limits: tuple[float, float],
    colours: str,
    n_images: int = 1,
) -> "AxesImage":
    """A matrix (n_rows, n_columns) as an image with fixed colour limits; NaN is transparent.

    Averaged over blocks if it exceeds its share of the pixels of a figure, or picked where its
    panel says so. n_images: number of images in the figure, which share its pixels
    """
    panel = shown if isinstance(shown, Panel) else Panel("", shown)
    rows, columns = panel.matrix.shape
    if isinstance(panel, PickedPanel):
        at = picked(panel.matrix, PICKED // n_images, panel.together)
        small, (down, across) = panel.matrix[np.ix_(*at)], (1.0, 1.0)
        picks = at if panel.order is None else (panel.order[at[0]], panel.order[at[1]])
    else:
        small, (down, across) = shrunk_by(panel.matrix, PIXELS // n_images)
        picks = None
    extent = panel.extent or (-0.5, columns * across - 0.5, rows * down - 0.5, -0.5)
    add(axes, Cells(panel, small / panel.unit, limits, colours, extent, picks))
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    if columns < FEW_CELLS:
        axes.set_xticks(range(0, columns, math.ceil(columns / TICKS)))
    if rows < FEW_CELLS:
        axes.set_yticks(range(0, rows, math.ceil(rows / TICKS)))
    return axes.images[-1]


def image_panels(
    images: Sequence[Panel],
    limits: tuple[float, float],
    colours: str,
    labels: tuple[str, str, str],
    square: bool,
) -> "Figure":
    """Matrices side by side on one colour scale; ``labels`` of the columns, the rows and the
    values.

    Up to two are large, a single square one on the left half; more become small multiples with
    labels along the outer edges alone.
    """
    compact, single = len(images) > 2, square and len(images) == 1
    columns, letters, height = 2, HALF, 4.2 if single else 3.8
    if compact:
        columns, letters, height = (4, 16, 1.95) if square else (3, 22, 2.45)
    titles = [wrapped(panel.title, letters) for panel in images]
    if compact:
        height += LINE * max(title.count("\n") + 1 for title in titles)
    figure, axes = panels(len(images) + single, columns, height, box_aspect=1 if square else None)
    if single:
        axes.pop().set_axis_off()  # A single panel takes the left half.
    for index, (ax, panel, title) in enumerate(zip(axes, images, titles, strict=True)):
        picture = image(ax, panel, limits, colours, len(images))
        ax.set_title(title, fontsize=8.5 if compact else None)
        lowest, first = index + columns >= len(images), index % columns == 0
        ax.set(xlabel=labels[0] if lowest else None, ylabel=labels[1] if first else None)
    colour_bar(figure, picture, axes, labels[2])
    return figure


def colour_bar(
    figure: "Figure", mappable: "ScalarMappable", axes: "Sequence[Axes]", label: str
) -> None:
    """Add one colour scale for all ``axes``, to their right."""
    from generator.figures.placement import PanelPlacement

    place = figure.add_axes((0.9, 0.1, 0.02, 0.8), label=COLOUR_BAR)
    bar = figure.colorbar(mappable, cax=place)
    engine = figure.get_layout_engine()
    if isinstance(engine, PanelPlacement):
        engine.add_bar(place, axes)
    bar.outline.set_visible(False)
    bar.set_label(label)


def cell_numbers(axes: "Axes", matrix: Floats, limits: tuple[float, float], colours: str) -> None:
    """Write the integers of ``matrix`` into the cells of its image, in a dark colour on light cells
    and a light one on dark ones; those of a diverging map change places on a dark page.

    matrix: (n_rows, n_columns); limits, colours: of the image
    """
    import matplotlib as mpl

    shares = (matrix - limits[0]) / (limits[1] - limits[0])
    light = mpl.colormaps[colours](shares)[:, :, :3] @ (0.299, 0.587, 0.114) > 0.5
    for row, column in np.ndindex(matrix.shape):
        text = rounded(float(matrix[row, column]), 0)
        pair = (INK, PAPER) if colours == DIVERGING else ("#000000", "#ffffff")
        colour = pair[0] if light[row, column] else pair[1]
        style: Any = {"justify": "center", "baseline": "center", "size": 7.0}
        add(axes, Text(text, (column, row), colour=colour, **style))


def ridges(axes: "Axes", lines: Floats, names: Sequence[str], colour: str, spacing: float) -> None:
    """Plot lines above one another from the bottom up, with ``spacing`` between their baselines,
    the first at height 0.

    lines: (n_lines, n_points)
    """
    for index, (line, name) in enumerate(zip(lines, names, strict=True)):
        at, places = index * spacing, np.arange(line.size)
        add(axes, StraightLine("y", at, colour=GRID, order=0.0))
        add(axes, Line(places, line + at, colour=colour, width=0.8, name=f"_{name}"))
    axes.set_yticks([index * spacing for index in range(len(lines))], names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(-0.55 * spacing, (len(lines) - 0.45) * spacing)
    axes.margins(x=0.01)


def head_colours(n_heads: int) -> list[str]:
    """One colour per head: distinct ones for few heads, else a scale from the first head to the
    last.
    """
    if n_heads <= len(SERIES):
        return list(SERIES[:n_heads])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [
        to_hex(colormaps[SEQUENTIAL](0.35 + 0.5 * head / (n_heads - 1))) for head in range(n_heads)
    ]


def logarithmic(axes: "Axes", which: str) -> None:
    """Give the x or y axis a logarithmic scale with plain numbers at its ticks."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    axes.set(**{f"{which}scale": "log"})
    axis.set_major_locator(LogLocator(numticks=MOST_DECADES))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axis.set_minor_formatter(NullFormatter())


def thumbnail(kernel: Floats) -> "Figure":
    """A square image of a kernel (n, n) without axes, for the gallery, scaled to the kernel's own
    range.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.2, 2.2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    kernel = np.where(np.isfinite(kernel), kernel, np.nan)
    defined = kernel[~np.isnan(kernel)]
    low, high = (float(defined.min()), float(defined.max())) if defined.size else (0.0, 1.0)
    image(axes, kernel, (low, high if high > low else low + 1.0), SEQUENTIAL, n_images=8)
    return figure
