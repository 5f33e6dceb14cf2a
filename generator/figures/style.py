"""The common style of all figures: colours, sizes and matplotlib's settings."""

import hashlib
from typing import Any

INK, MUTED, GRID, PAPER = "#1c2230", "#5a6375", "#d8dde6", "#fffffe"
DARK = {INK: "#e8ebf2", MUTED: "#a3adbf", GRID: "#3b4354", PAPER: "#1a1e28"}
# Distinct, also for colour-blind readers, from one another and from REFERENCE; legible on a light
# and a dark background.
SERIES = (
    "#3d7fd6", "#d9772b", "#20a870", "#e86098", "#9060a0",
    "#7a50f0", "#30a0c8", "#608050", "#a06070", "#189088",
)  # fmt: skip
REFERENCE = "#8a93a3"
QUIET = "#808a9b"  # Of lines behind those that a figure speaks of, on either background.
ACCENT = "#d9772b"
# Colormaps of matplotlib, perceptually even and legible for colour-blind readers.
DIVERGING, SEQUENTIAL = "RdBu_r", "viridis"
# Evenly spaced colours of both, for what matplotlib does not draw; a test compares them.
STOPS = {
    SEQUENTIAL: (
        "440154 481a6c 472f7d 414487 39568c 31688e 2a788e 23888e 1f988b 22a884 35b779 54c568 7ad151"
        " a5db36 d2e21b fde725"
    ),
    DIVERGING: "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f",
}
LEVELS = 96  # Colours of an image: finer than the eye resolves, and small as a palette.
COLOUR_BAR = "_colour_bar"  # Label of the axes of a scale of colours.
WIDTH = 7.8  # inches; 72 SVG units each
PIXELS = 60_000  # all images of one figure together
PICKED = 40_000  # of them where each is a value of its own, which live figures have too
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    # The default position, fixed: matplotlib would otherwise measure all ticks several times per
    # figure.
    "axes.titley": 1.0,
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
    **dict.fromkeys(("text.color", "axes.titlecolor"), INK),
    **dict.fromkeys(("axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), MUTED),
    "grid.color": GRID,
}


def series_colour(name: str) -> str:
    """The colour of what has this name, whatever stands beside it."""
    return SERIES[hashlib.sha256(name.encode()).digest()[0] % len(SERIES)]
