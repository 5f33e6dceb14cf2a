"""Cosine similarity between patches, laid out like the image."""

from collections.abc import Iterator
from math import ceil
from typing import Literal

import numpy as np

from generator.contracts import (
    Analysis,
    Arrays,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Result,
    Results,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.canvas import Axes, AxesImage, Figure
from generator.figures.panels import colour_bar, image, panels, wrapped
from generator.figures.scene import Panel, StraightLine, add
from generator.figures.style import DIVERGING, PAPER, PIXELS, WIDTH
from generator.numerics.arrays import (
    Array,
    Floats,
    cosine_matrix,
    directions,
    finite,
    mean_by_distance,
    mean_of_defined,
    shrink,
)

WORDING = Wording("analyses/similarity_of_patches.md.jinja")
# On a side: every patch of an image of 224 pixels in patches of 16; every second when a figure has
# more than two tables.
MOST_TILES = 14
UNEVEN = 0.05  # A difference of mean cosines from here on is worth a sentence.
MOST_TICKS = 7


def compute(subject: Subject[PositionTable]) -> Result:
    """Cosine similarity between patches: of some patches with all, and by distance along rows and
    columns.

    Tiles as in Dosovitskiy et al. 2021 (arXiv 2010.11929), figure 7, centre; the means by distance
    are ours.
    arrays: rows (n_down,), columns (n_across,), indices of the tiles; across (n_columns,), down
        (n_rows,), mean cosine by distance; grid (2,)
    derived: tiles (n_down, n_across, n_rows, n_columns)
    errors: NotApplicableError when positions form no grid, fewer than two vectors are not zero, or
        the table is not finite
    """
    form = subject.encoding.form
    if form.grid is None:
        raise NotApplicableError("its positions form no grid")
    vectors = finite(form.vectors, "the table")
    rows, columns = form.grid
    across = mean_by_distance([cosine_matrix(row) for row in vectors.reshape(rows, columns, -1)])
    down = mean_by_distance(
        [cosine_matrix(column) for column in vectors.reshape(rows, columns, -1).swapaxes(0, 1)]
    )
    mean = mean_of_pairs(directions(vectors))
    if mean is None:
        raise NotApplicableError("fewer than two patches have a nonzero vector")
    both = min(rows, columns)
    along_rows, along_columns = mean_of_defined(across[1:both]), mean_of_defined(down[1:both])
    shown = {"rows": _tile_indices(rows), "columns": _tile_indices(columns)}
    arrays = {**shown, "across": across, "down": down, "grid": np.array(form.grid)}
    anisotropy = None if along_rows is None or along_columns is None else along_columns - along_rows
    beside, above = mean_of_defined(across[1:2]), mean_of_defined(down[1:2])
    reason = "no two such patches both have a nonzero vector"
    return Result(
        metrics=tuple(
            Metric(key, title, value, reason=reason)
            for key, title, value in (
                ("across", "Mean cosine of patches side by side", beside),
                ("down", "Mean cosine of patches one above the other", above),
                ("mean", "Mean cosine of two different patches", mean),
                ("along_rows", "Mean cosine at equal distances along rows", along_rows),
                ("along_columns", "Mean cosine at equal distances along columns", along_columns),
                ("anisotropy", "Anisotropy (columns − rows)", anisotropy),
            )
        ),
        arrays=arrays,
        findings=tuple(_findings(anisotropy)),
        derived={"tiles": tiles(form, arrays)},
    )


def mean_of_pairs(units: Floats) -> float | None:
    """Mean cosine of two different rows, from the norm of their sum: |Σ u|² = n + Σ over pairs;
    None for fewer than two rows.

    units: (n_rows, width), of norm 1, or NaN, which is left out
    returns: within [−1, 1]
    """
    defined = units[~np.isnan(units).any(axis=1)]
    n = len(defined)
    return (float(np.sum(defined.sum(axis=0) ** 2)) - n) / (n * (n - 1)) if n > 1 else None


def tiles(form: PositionTable, arrays: Arrays) -> Floats:
    """Cosines of some patches with all patches: (n_down, n_across, n_rows, n_columns), NaN for a
    vector of zeros.

    arrays: rows (n_down,), columns (n_across,), indices of these patches; grid (2,)
    """
    rows, columns = arrays["grid"]
    units = directions(form.vectors).reshape(rows, columns, -1)
    chosen = units[arrays["rows"]][:, arrays["columns"]]
    cosines = np.clip(
        chosen.reshape(-1, units.shape[2]) @ units.reshape(rows * columns, -1).T, -1.0, 1.0
    )
    return np.asarray(cosines.reshape(*chosen.shape[:2], rows, columns))


def _tile_indices(count: int) -> Array:
    """Every k-th of ``count`` indices, at most ``MOST_TILES``, centred: (n_tiles,), int."""
    step = ceil(count / MOST_TILES)
    indices = np.arange(0, count, step)
    return np.asarray(indices + (count - 1 - indices[-1]) // 2)


def _findings(anisotropy: float | None) -> Iterator[Finding]:
    if anisotropy is not None and abs(anisotropy) >= UNEVEN:
        yield Finding(WORDING("uneven", anisotropy=anisotropy), ("anisotropy",), 0.6)


def draw(results: Results) -> Figure:
    """Mosaics of tiles, one panel per table."""
    aspects = [_aspect(result) for result in results.values()]
    columns = 2 if max(aspects) > 0.5 else 1
    width = WIDTH / min(columns, len(results))
    figure, axes = panels(
        len(results),
        columns,
        height=min(width * max(aspects) + 0.6, 5.6 if len(results) == 1 else 3.9),
    )
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        picture = _draw_mosaic(ax, result, n_images=len(results))
        ax.set_title(wrapped(label.title))
    colour_bar(figure, picture, axes, "cosine similarity")
    return figure


def _aspect(result: Result) -> float:
    """Height of the grid relative to its width, limited to [1/4, 4], so that long grids remain
    legible.
    """
    return float(np.clip(result.arrays["grid"][0] / result.arrays["grid"][1], 0.25, 4.0))


def _draw_mosaic(axes: Axes, result: Result, n_images: int) -> AxesImage:
    every = 1 if n_images < 3 else 2
    tiles = result.derived["tiles"][::every, ::every]
    side = max(int(np.sqrt(PIXELS / n_images / (tiles.shape[0] * tiles.shape[1]))), 1)
    small = [[shrink(tile, side, side) for tile in line] for line in tiles]
    panel = Panel("", np.block(small), is_exact=True)
    picture = image(axes, panel, (-1.0, 1.0), DIVERGING, n_images=n_images)
    axes.set_box_aspect(_aspect(result))
    _edges(axes, "y", result.arrays["rows"][::every], small[0][0].shape[0])
    _edges(axes, "x", result.arrays["columns"][::every], small[0][0].shape[1])
    axes.set(xlabel="column of the patch", ylabel="row of the patch")
    return picture


def _edges(axes: Axes, which: Literal["x", "y"], patches: Array, side: int) -> None:
    """Draw lines in the colour of the page between tiles, and label some tiles with the index of
    their patch.

    patches: (n_tiles,), int; side: pixels of a tile
    """
    for index in range(1, patches.size):
        add(axes, StraightLine(which, index * side - 0.5, colour=PAPER, width=1.1))
    labelled = range(0, patches.size, ceil(patches.size / MOST_TICKS))
    set_ticks = axes.set_xticks if which == "x" else axes.set_yticks
    set_ticks(
        [(index + 0.5) * side - 0.5 for index in labelled],
        [f"{patches[index]}" for index in labelled],
    )
    axes.tick_params(axis="both", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


ANALYSIS = Analysis(
    key="similarity_of_patches",
    stage="see",
    after="seams",
    answer=Headline("across", WORDING, chance=Chance("mean", 1.0)),
    forms=(PositionTable,),
    compute=compute,
    derived={"tiles": tiles},
    figures=(
        FigureSpec(
            "mosaic",
            WORDING.figure("mosaic"),
            draw,
            python=(
                "units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)\n"
                'grid, rows, across = (arrays[f"similarity_of_patches.{name}"] for name in '
                '("grid", "rows", "columns"))\n'
                "tiles = (units @ units.T).reshape(*grid, *grid)[np.ix_(rows, across)]\n"
                "plt.imshow(np.concatenate(np.concatenate(tiles, axis=1), axis=1), "
                'vmin=-1, vmax=1, cmap="RdBu_r")'
            ),
        ),
    ),
    per_figure=4,
)
