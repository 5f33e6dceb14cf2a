"""Bias range: how much position alone can change attention."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results, Subject
from generator.contracts.wording import Wording
from generator.encodings import OffsetBias
from generator.figures.lines import dots, legend_below, with_line_styles
from generator.figures.panels import panels
from generator.figures.scene import Line, add
from generator.numerics.arrays import finite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("analyses/bias_range.md.jinja")


def compute(subject: Subject[OffsetBias]) -> Result:
    """Highest less lowest bias of each head, over all stored offsets.

    arrays: range (n_heads,), logits
    errors: NotApplicableError when the bias is not finite
    """
    values = finite(subject.encoding.form.values, "the bias")
    ranges = np.ptp(values, axis=1)
    widest = int(np.argmax(ranges))
    text = WORDING("widest", head=widest, span=ranges[widest])
    return Result(
        metrics=(
            Metric("mean", "Range of the bias, mean over heads", float(ranges.mean()), "logits"),
            Metric("most", "Largest range of a head", float(ranges.max()), "logits"),
        ),
        arrays={"range": ranges},
        findings=(Finding(text, ("most",), 0.3),),
    )


def draw(results: Results) -> "Figure":
    """Range by head, one line per encoding."""
    figure, (axes,) = panels(1, height=3.0)
    for label, result, dash in with_line_styles(results):
        ranges = result.arrays["range"]
        heads = np.arange(ranges.size)
        line = Line(heads, ranges, colour=label.colour, dash=dash, name=label.title)
        add(axes, replace(line, marker=dots(ranges.size)))
    axes.set(xlabel="head", ylabel="range of the bias (logits)")
    axes.set_ylim(bottom=0.0)
    legend_below(figure)
    return figure


ANALYSIS = Analysis(
    key="bias_range",
    stage="measure",
    after="bias_by_offset",
    forms=(OffsetBias,),
    compute=compute,
    figures=(FigureSpec("heads", WORDING.figure("heads"), draw),),
)
