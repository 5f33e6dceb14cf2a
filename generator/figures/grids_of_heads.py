"""Pictures of all heads of a model at once: layers downwards, heads across."""

from typing import TYPE_CHECKING

import numpy as np

from generator.figures.panels import colour_bar, image, panels
from generator.figures.scene import Panel
from generator.figures.style import SEQUENTIAL
from generator.numerics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 0.16  # Height of a layer of strips, in inches.
LEAST, MOST = 1.6, 6.5  # inches
GAP = 0.2  # Width of the space between two heads, as a share of a head.


def strips(
    values: Floats, most: float, label: str, across: str = "head", middle: float | None = None
) -> "Figure":
    """Each head as a strip of its values.

    values: (n_layers, n_heads, n_values); most: the upper end of the colours
    across: what its numbers below are; middle: the value above them, if not that in the middle
    """
    height = float(np.clip(len(values) * ROW, LEAST, MOST))
    figure = _mosaic(values[:, :, None, :], most, label, height, middle)
    figure.axes[0].tick_params(axis="x", length=3)
    figure.axes[0].set_xlabel(across)
    return figure


def pictures(values: Floats) -> "Figure":
    """Each head as a small picture, scaled to its own highest value.

    values: (n_layers, n_heads, n_rows, n_columns)
    """
    highest = values.max(axis=(2, 3), keepdims=True)
    scaled = values / np.where(highest > 0.0, highest, 1.0)
    n_layers, n_heads = values.shape[:2]
    height = min(7.0 * n_layers / n_heads, 11.0)
    return _mosaic(scaled, 1.0, "share of the head's maximum", height)


def cells(values: Floats, most: float, label: str, titles: tuple[str, ...]) -> "Figure":
    """Matrices of one number for each head, side by side.

    values: (n_matrices, n_layers, n_heads)
    """
    height = float(np.clip(values.shape[1] * ROW, LEAST, MOST)) + 0.9
    figure, axes = panels(len(values), height=height)
    for ax, matrix, title in zip(axes, values, titles, strict=True):
        picture = image(ax, matrix, (0.0, most), SEQUENTIAL, n_images=len(values))
        ax.set_title(title)
        ax.set(xlabel="head", ylabel="layer")
    colour_bar(figure, picture, axes, label)
    return figure


def _mosaic(
    values: Floats, most: float, label: str, height: float, middle: float | None = None
) -> "Figure":
    n_layers, n_heads, n_rows, n_columns = values.shape
    down, across = (max(1, round(GAP * size)) if size > 1 else 0 for size in (n_rows, n_columns))
    whole = np.full((n_layers * (n_rows + down), n_heads * (n_columns + across)), np.nan)
    for layer in range(n_layers):
        for head in range(n_heads):
            top, left = layer * (n_rows + down), head * (n_columns + across)
            whole[top : top + n_rows, left : left + n_columns] = values[layer, head]
    figure, (axes,) = panels(1, height=height + 0.8)
    picture = image(axes, Panel("", whole, is_exact=True), (0.0, most), SEQUENTIAL)
    step = max(1, n_layers // 12)
    places = np.arange(0, n_layers, step)
    axes.set_yticks(places * (n_rows + down) + (n_rows - 1) / 2, [str(place) for place in places])
    axes.set_xticks(
        np.arange(n_heads) * (n_columns + across)
        + ((n_columns - 1) / 2 if middle is None else middle),
        [str(head) for head in range(n_heads)],
    )
    axes.tick_params(length=0)
    axes.set(xlabel="head", ylabel="layer")
    colour_bar(figure, picture, [axes], label)
    return figure
