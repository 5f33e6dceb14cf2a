"""What holds for the layout of every figure: nothing is cut, and no writing lies on other writing or on data."""

from collections.abc import Callable
from functools import cache
from itertools import combinations
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib.axis import Tick, XTick
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from generator.contracts import Analysis, Label, Results
from generator.figures.style import LONGEST_TITLE, SERIES, STYLE, WIDTH
from generator.figures.svg import encode
from tests.test_analyses import ANALYSES, answers

SLACK = 3.0  # pixels: boxes of writing are a little higher than what is written
SPECS = [(analysis, spec) for analysis in ANALYSES for spec in analysis.figures]
each_figure = pytest.mark.parametrize("index", range(len(SPECS)), ids=[f"{analysis.key}-{spec.key}" for analysis, spec in SPECS])


def as_many_as_it_holds(analysis: Analysis) -> Results:
    """Different answers in turn, under names as long as they come."""
    found = answers(analysis)
    titles = [f"Checkpoint {index} · {'encoder of many words ' * 3}"[:LONGEST_TITLE] for index in range(analysis.per_figure)]
    return {Label(title, SERIES[index % 3]): found[index % len(found)] for index, title in enumerate(titles)}


def laid_out(draw: Callable[[Results], Figure], results: Results) -> Figure:
    with mpl.rc_context(STYLE):
        figure = draw(results)
        FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    return figure


@cache
def full(index: int) -> Figure:
    analysis, spec = SPECS[index]
    return laid_out(spec.draw, as_many_as_it_holds(analysis))


def writing(figure: Figure) -> list[tuple[str, Bbox]]:
    """All that is written in a figure, with the box that it takes."""
    ticks = [tick for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for tick in axis.get_major_ticks()]
    hidden = {id(label) for tick in ticks if not _drawn(tick) for label in (tick.label1, tick.label2)}
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip() and id(text) not in hidden]
    return [(text.get_text(), text.get_window_extent()) for text in texts]


def _drawn(tick: Tick) -> bool:
    """matplotlib keeps ticks beyond the limits of their axis, and leaves them out."""
    low, high = sorted(tick.axes.get_xlim() if isinstance(tick, XTick) else tick.axes.get_ylim())
    slack = 1e-9 * (high - low)
    return low - slack <= tick.get_loc() <= high + slack


def test_a_figure_opened_alone_fills_the_window() -> None:
    (analysis, spec), *_ = SPECS
    picture = ET.fromstring(encode(spec.draw, as_many_as_it_holds(analysis)))  # noqa: S314 (our own)
    assert picture.attrib.keys().isdisjoint({"width", "height"})
    assert picture.attrib["viewBox"].startswith(f"0 0 {WIDTH * 72:g} ")


@each_figure
def test_no_writing_is_cut_at_the_edge(index: int) -> None:
    figure = full(index)
    frame = Bbox.from_bounds(0.0, 0.0, *(figure.get_size_inches() * figure.dpi)).padded(SLACK)
    assert [text for text, box in writing(figure) if Bbox.union([frame, box]).bounds != frame.bounds] == []


@each_figure
def test_no_writing_lies_on_other_writing(index: int) -> None:
    pairs = combinations(writing(full(index)), 2)
    shared = [(first, second, Bbox.intersection(one, other)) for (first, one), (second, other) in pairs]
    assert [(first, second) for first, second, box in shared if box is not None and min(box.width, box.height) > SLACK] == []


@each_figure
def test_no_legend_lies_on_data(index: int) -> None:
    figure = full(index)
    boxes = [legend.get_window_extent() for legend in figure.findobj(Legend)]
    assert not any(box.overlaps(axes.get_window_extent()) for box in boxes for axes in figure.axes)
