"""Lines that stand back behind those that a figure speaks of: thin, grey, without a place in the
legend, and named where a reader points at them.
"""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from generator.figures.style import QUIET

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

HIDDEN = "_"  # Before a label that legends leave out, as matplotlib has it.
WIDTH, OPACITY, BEHIND = 0.8, 0.6, 1.9  # The last is below matplotlib's order of lines, 2.
LabelT = TypeVar("LabelT")
ValueT = TypeVar("ValueT")


def hidden(title: str) -> str:
    """``title`` as the label of a line without a place in the legend."""
    return f"{HIDDEN}{title}"


def standing_back(
    draw: "Callable[[Mapping[LabelT, ValueT]], Figure]",
    titles: Collection[str],
    results: Mapping[LabelT, ValueT],
) -> "Figure":
    """What ``draw(results)`` returns, with the lines of the colour QUIET thin and behind the
    others; bands, rules and marks of that colour are left out.

    titles: hidden ones, of these lines
    """
    figure = draw(results)
    for axes in figure.axes:
        areas: list[Any] = [*axes.collections, *axes.patches]
        for area in areas:
            if _is_quiet(area.get_facecolor()):
                area.remove()
        for line in [*axes.lines]:
            if _is_quiet(line.get_color()):
                _subdue(line, titles)
    return figure


def _subdue(line: "Line2D", titles: Collection[str]) -> None:
    """Leave out a line that is not the main one of its result."""
    label = str(line.get_label())
    is_main = not label or any(label == title or label.startswith(f"{title} (") for title in titles)
    if not is_main:
        line.remove()
        return
    line.set(linestyle="solid", linewidth=WIDTH, alpha=OPACITY, zorder=BEHIND, marker="")


def _is_quiet(colour: Any) -> bool:
    import numpy as np
    from matplotlib.colors import to_rgba_array

    colours = to_rgba_array(colour)
    return len(colours) > 0 and bool(np.allclose(colours[0, :3], to_rgba_array(QUIET)[0, :3]))
