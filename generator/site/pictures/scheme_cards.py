"""Small pictures that stand for schemes on cards: images in few colours, drawn for their size."""

from itertools import groupby

import numpy as np

from generator.contracts import Scheme
from generator.figures.style import SEQUENTIAL, STOPS
from generator.numerics.arrays import Array
from generator.site.pictures.scheme_pictures import picture_of

COLOURS = STOPS[SEQUENTIAL].split()
OVERLAP = 1.04  # of the height of a row, without which seams show between rows


def path(scheme: Scheme) -> str:
    """Where the docs have the card of a scheme."""
    return f"assets/schemes/{scheme.key}.svg"


def card(scheme: Scheme) -> bytes:
    """The card of a scheme, as a square SVG."""
    picture = picture_of(scheme)
    values = picture.card(picture.numbers()).astype(np.float64)
    rows, columns = values.shape
    levels = _levels(values)
    lines: dict[int, str] = {}
    for row in range(rows):
        column = 0
        for level, run in groupby(levels[row].tolist()):
            length = len(list(run))
            if level >= 0:
                lines[level] = f"{lines.get(level, '')}M{column} {row}h{length}"
            column += length
    paths = "".join(f'<path stroke="#{COLOURS[level]}" d="{d}"/>' for level, d in lines.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -0.5 {columns} {rows}" width="158"'
        f' height="158" preserveAspectRatio="none"><g stroke-width="{OVERLAP}">{paths}</g></svg>\n'
    ).encode()


def _levels(values: Array) -> Array:
    """Number of the colour of each value; −1 of NaN. values: (rows, columns)"""
    low, high = np.nanmin(values), np.nanmax(values)
    share = (values - low) / ((high - low) or 1.0)
    return np.where(
        np.isnan(values), -1, np.minimum(np.nan_to_num(share) * len(COLOURS), len(COLOURS) - 1)
    ).astype(np.int64)
