"""What the labels of a picture say of its axes: that a scale is logarithmic, and how many rows or
columns stand for all. The script of live figures says the same of what it shows.
"""

from typing import TYPE_CHECKING

from generator.figures.scene import SHOWN, Cells, PickedPanel

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


def explain_axes(figure: "Figure") -> None:
    """Say it in the labels, of a figure that has been laid out."""
    panels = {
        axes: [mark for mark in SHOWN.get(axes, ()) if isinstance(mark, Cells)]
        for axes in figure.axes
    }
    every = [mark for marks in panels.values() for mark in marks]
    for axes, marks in panels.items():
        for axis, along in ((axes.yaxis, 0), (axes.xaxis, 1)):
            if label := axis.get_label_text():
                drawn = _drawn(every, along) if marks else ""
                axis.set_label_text(f"{label}{_scale(axis)}{drawn}")


def _scale(axis: "Axis") -> str:
    if axis.get_scale() == "symlog":
        return f", log scale above {getattr(axis.get_transform(), 'linthresh', 1.0):g}"
    return ", log scale" if axis.get_scale() == "log" else ""


def _drawn(images: list[Cells], along: int) -> str:
    """How images are thinned along an axis of their matrices, "" where none is; without numbers
    where these differ, as only the outer panels of a figure have labels.
    """
    counts = {
        (len(mark.picks[along]), mark.panel.matrix.shape[along])
        for mark in images
        if mark.picks is not None
    }
    if all(drawn == count for drawn, count in counts):
        return ""
    are_paired = along == 1 and any(
        isinstance(mark.panel, PickedPanel) and mark.panel.together is not None for mark in images
    )
    shown = "some drawn" if len(counts) > 1 else "{} of {} drawn".format(*next(iter(counts)))
    return f", {shown}{', in pairs' if are_paired else ''}"
