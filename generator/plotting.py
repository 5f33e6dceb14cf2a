"""One visual language for every figure: style, panels, images, and SVG that follows the reader's colour scheme."""

import base64
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.numerics import Array, Floats, shrink

if TYPE_CHECKING:  # matplotlib takes most of a second to import, and only drawing needs it.
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

INK, MUTED, GRID, PAPER = "#1c2230", "#5a6375", "#d8dde6", "#fffffe"
DARK = {INK: "#e8ebf2", MUTED: "#a3adbf", GRID: "#3b4354", PAPER: "#1a1e28"}
# Distinct for the colour-blind, and dark and light enough for either background.
SERIES = (
    "#3d7fd6", "#d9772b", "#2b9a78", "#a565c9", "#cf4f5e", "#2a9fb5",
    "#94891f", "#c45c98", "#8d6f52", "#6677c9",
)  # fmt: skip
REFERENCE = "#8a93a3"
ACCENT = "#d9772b"
DIVERGING, SEQUENTIAL = "RdBu_r", "viridis"
LEVELS = 96  # Colours an image uses: finer than the eye tells, and small as a palette.
WIDTH = 7.8  # inches; 72 SVG units each
PIXELS = 150_000  # all images of one figure together
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "position-atlas",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "axes.unicode_minus": True,
    "lines.linewidth": 1.3,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "text.parse_math": False,
    "image.interpolation": "none",
    **{key: INK for key in ("text.color", "axes.titlecolor")},
    **{key: MUTED for key in ("axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor")},
    "grid.color": GRID,
}


def panels(count: int, columns: int = 2, height: float = 3.2, **shared: Any) -> "tuple[Figure, list[Axes]]":
    """A figure of the usual width with ``count`` axes in rows of ``columns``, each row ``height`` inches high."""
    from matplotlib.figure import Figure

    columns = min(columns, count)
    rows = ceil(count / columns)
    figure = Figure(figsize=(WIDTH, height * rows), layout="constrained")
    axes = [figure.add_subplot(rows, columns, index + 1, **shared) for index in range(count)]
    return figure, axes


def image(axes: "Axes", matrix: Floats, limits: tuple[float, float], colours: str, share: int = 1) -> "AxesImage":
    """``matrix`` as an image on fixed ``limits``; ``share`` is how many images the figure has.

    Large ones are averaged over blocks first. What is not defined stays empty.
    """
    import matplotlib as mpl

    side = int(np.sqrt(PIXELS / share))
    small = shrink(matrix, side, side)
    rows, columns = matrix.shape
    colormap = mpl.colormaps[colours].resampled(LEVELS).with_extremes(bad=(0, 0, 0, 0))
    extent = (-0.5, columns - 0.5, rows - 0.5, -0.5)
    return axes.imshow(small, cmap=colormap, vmin=limits[0], vmax=limits[1], extent=extent, aspect="auto")


@dataclass(frozen=True)
class Panel:
    """A matrix to be shown as an image, with the name and colour of what it belongs to."""

    title: str
    colour: str
    matrix: Floats


def image_panels(
    shown: Sequence[Panel], limits: tuple[float, float], colours: str, labels: tuple[str, str, str], square: bool
) -> "Figure":
    """Matrices side by side on one scale; ``labels`` name the columns, the rows and the values.

    One or two fill the width; more become small multiples.
    """
    columns, height = (2, 3.5) if len(shown) < 3 else (4, 2.1) if square else (3, 2.6)
    figure, axes = panels(len(shown), columns, height, box_aspect=1 if square else None)
    for each, panel in zip(axes, shown, strict=True):
        picture = image(each, panel.matrix, limits, colours, share=len(shown))
        each.set(title=panel.title, xlabel=labels[0], ylabel=labels[1])
        each.title.set_color(panel.colour)
    colour_bar(figure, picture, axes, labels[2])
    return figure


def colour_bar(figure: "Figure", shown: "AxesImage", axes: "Sequence[Axes]", label: str) -> None:
    """One scale for all ``axes``, at their right."""
    bar = figure.colorbar(shown, ax=list(axes), shrink=0.85, aspect=28, pad=0.015)
    bar.outline.set_visible(False)  # type: ignore[operator]  # Spine, which matplotlib types as a string here
    bar.set_label(label)


def ridges(axes: "Axes", lines: Floats, names: Sequence[str], colour: str, spacing: float) -> None:
    """Lines (n_lines, n_points) above each other from the bottom up, ``spacing`` apart, the first at height 0."""
    for index, line in enumerate(lines):
        axes.axhline(index * spacing, color=GRID, linewidth=0.6, zorder=0)
        axes.plot(line + index * spacing, color=colour, linewidth=0.8)
    axes.set_yticks([index * spacing for index in range(len(lines))], names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.01)


def thumbnail(kernel: Floats) -> bytes:
    """A square picture of a kernel without axes, for the gallery: (n, n), scaled to its own range."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.2, 2.2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    defined = kernel[~np.isnan(kernel)]
    low, high = (float(defined.min()), float(defined.max())) if defined.size else (0.0, 1.0)
    image(axes, kernel, (low, high if high > low else low + 1.0), SEQUENTIAL, share=8)
    return svg(lambda: figure)


def svg(draw: "Callable[[], Figure]") -> bytes:
    """The figure that ``draw`` returns as SVG, the same bytes for the same numbers, light or dark as its page is."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        buffer = io.StringIO()
        draw().savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = re.sub(r"data:image/png;base64,([^\"]+)", _palette_png, buffer.getvalue())
    text = re.sub(r'(?<= d=")[^"]+', _short_numbers, text)
    return text.replace("<defs>", f"<defs>\n  <style>{_scheme_css()}</style>", 1).encode()


def _scheme_css() -> str:
    dark = "".join(
        f'[style*="{what}: {light}"]{{{what}:{colour}!important}}' for light, colour in DARK.items() for what in ("fill", "stroke")
    )
    return (
        ":root{color-scheme:light dark}text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif!important}"
        f"image{{image-rendering:pixelated}}@media(prefers-color-scheme:dark){{{dark}}}"
    )


def _short_numbers(match: re.Match[str]) -> str:
    return re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), match[0])


def _palette_png(match: re.Match[str]) -> str:
    from PIL import Image

    pixels: Array = np.array(Image.open(io.BytesIO(base64.b64decode(match[1]))).convert("RGBA"))
    colours, index = np.unique(pixels.reshape(-1, 4), axis=0, return_inverse=True)
    if len(colours) > 256:
        return match[0]
    picture = Image.fromarray(index.reshape(pixels.shape[:2]).astype(np.uint8), "P")
    picture.putpalette(colours[:, :3].tobytes())
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG", optimize=True, transparency=colours[:, 3].tobytes())
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
