"""The layout of every figure: no text is cut off or overlaps other text or data."""

import re
from collections.abc import Callable
from itertools import combinations
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axis import Tick, XTick
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from generator.analyses.whole_table import pairs
from generator.contracts import Analysis, Label, Results
from generator.figures import placement
from generator.figures.axes_in_words import explain_axes
from generator.figures.panels import image_panels, panels
from generator.figures.scene import Panel, PickedPanel
from generator.figures.style import DIVERGING, INK, MUTED, SEQUENTIAL, SERIES, STYLE, WIDTH
from generator.figures.svg import encode, parts
from generator.figures.trails import trail
from generator.text import LONGEST_NAME
from tests.analyses.test_all import ANALYSES, applicable_results

SLACK = 3.0  # pixels: bounding boxes of text are a little too high
SPECS = [(analysis, spec) for analysis in ANALYSES for spec in analysis.figures]


def full_comparison(analysis: Analysis) -> Results:
    """Different results in turn, as many as a figure holds, with titles of the greatest length."""
    results = applicable_results(analysis)
    titles = [
        f"Checkpoint {index} · {'encoder of many words ' * 3}"[:LONGEST_NAME]
        for index in range(analysis.per_figure)
    ]
    return {
        Label(title, SERIES[index % 3]): results[index % len(results)]
        for index, title in enumerate(titles)
    }


def laid_out(draw: Callable[[Results], Figure], results: Results) -> Figure:
    with mpl.rc_context(STYLE):
        figure = draw(results)
        FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    return figure


@pytest.fixture(scope="module")
def full() -> dict[str, Figure]:
    """Every figure, as full as it may be."""
    return {
        f"{analysis.key}-{spec.key}": laid_out(spec.draw, full_comparison(analysis))
        for analysis, spec in SPECS
    }


def texts_and_boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """All visible texts of a figure with their bounding boxes."""
    ticks = [
        tick
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
    ]
    hidden = {
        id(label) for tick in ticks if not _drawn(tick) for label in (tick.label1, tick.label2)
    }
    texts = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]
    return [(text.get_text(), text.get_window_extent()) for text in texts]


def _drawn(tick: Tick) -> bool:
    """Whether a tick lies within the limits; matplotlib has others that it does not draw."""
    low, high = sorted(tick.axes.get_xlim() if isinstance(tick, XTick) else tick.axes.get_ylim())
    slack = 1e-9 * (high - low)
    return low - slack <= tick.get_loc() <= high + slack


def test_a_figure_opened_alone_fills_the_window() -> None:
    (analysis, spec), *_ = SPECS
    picture = ET.fromstring(encode(spec.draw, full_comparison(analysis)))  # noqa: S314 (our own)
    assert picture.attrib.keys().isdisjoint({"width", "height"})
    assert picture.attrib["viewBox"].startswith(f"0 0 {WIDTH * 72:g} ")


def test_a_picture_spends_no_bytes_on_nothing() -> None:
    """A trail of dots has strokes of no length, and its upright labels are not turned."""

    def dots(_: Results) -> Figure:
        figure, (axes,) = panels(1)
        trail(axes, np.random.default_rng(0).random((200, 2)), joined=False)
        return figure

    picture = parts(encode(dots, {}))[0].decode()
    assert picture.count("h0") > 190
    assert re.search(r"rotate\(-?0 |>\s+<", picture) is None


def test_axes_show_the_whole_range_of_what_is_bounded(full: dict[str, Figure]) -> None:
    """Cosines and shares end at 1, and those of opposite directions at −1."""
    limits = {
        key: axes.get_ylim()
        for key, figure in full.items()
        for axes in figure.axes
        if re.search(r"\b(cosine|similarity|share|weight)\b", axes.get_ylabel())
        and not axes.images
        and "%" not in axes.get_ylabel()
    }
    assert len(limits) > 5
    assert {
        key: (low, high)
        for key, (low, high) in limits.items()
        if not (-1.05 <= low <= 0.0 and 1.0 <= high <= 1.05)
    } == {}


def test_white_is_zero_where_colours_are_of_two_sides(full: dict[str, Figure]) -> None:
    limits = {
        key: image.get_clim()
        for key, figure in full.items()
        for axes in figure.axes
        for image in axes.images
        if image.get_cmap().name == DIVERGING
    }
    assert len(limits) > 5
    assert {key: (low, high) for key, (low, high) in limits.items() if low != -high} == {}


def test_read_positions_have_as_much_room_before_the_first_as_after_the_last(
    full: dict[str, Figure],
) -> None:
    for axes in full["position_probe-read"].axes:
        first, last = (float(x) for x in np.asarray(axes.lines[0].get_xdata()))
        low, high = axes.get_xlim()
        assert first - low == pytest.approx(high - last)
        assert 0.0 < high - last < 0.2 * (last - first)


def test_the_margin_above_axes_grows_by_the_lines_of_their_title() -> None:
    heights, margins = [], []
    for n_lines in (1, 3):
        figure, (axes,) = panels(1)
        axes.set_title("\n".join(["Title"] * n_lines))
        FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
        heights.append(axes.title.get_window_extent().height * 72 / figure.dpi)
        margins.append(placement._margins(axes).top)
    assert margins[1] - margins[0] == pytest.approx(heights[1] - heights[0], rel=0.2)


def cut_off(figure: Figure) -> list[str]:
    """Texts that leave the figure."""
    frame = Bbox.from_bounds(0.0, 0.0, *(figure.get_size_inches() * figure.dpi)).padded(SLACK)
    return [
        text
        for text, box in texts_and_boxes(figure)
        if Bbox.union([frame, box]).bounds != frame.bounds
    ]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that share room."""
    pairs = combinations(texts_and_boxes(figure), 2)
    shared = [(first, second, Bbox.intersection(a, b)) for (first, a), (second, b) in pairs]
    return [
        (first, second)
        for first, second, box in shared
        if box is not None and min(box.width, box.height) > SLACK
    ]


def test_no_text_is_cut_off(full: dict[str, Figure]) -> None:
    assert {key: texts for key, figure in full.items() if (texts := cut_off(figure))} == {}


def test_every_text_can_be_read_in_both_schemes(full: dict[str, Figure]) -> None:
    """Ink and its shade have contrast (test_style.py); black and white stand on cells."""
    texts = [
        (key, text)
        for key, figure in full.items()
        for text in figure.findobj(Text)
        if text.get_text().strip()
    ]
    colours = {(key, to_hex(text.get_color())) for key, text in texts}
    assert {
        (key, colour) for key, colour in colours if colour not in {INK, MUTED, "#000000", "#ffffff"}
    } == set()


def test_no_texts_overlap_and_no_legend_data(full: dict[str, Figure]) -> None:
    assert {key: pairs for key, figure in full.items() if (pairs := overlapping(figure))} == {}
    extents = {
        key: [legend.get_window_extent() for legend in figure.findobj(Legend)]
        for key, figure in full.items()
    }
    axes = {key: [one.get_window_extent() for one in figure.axes] for key, figure in full.items()}
    assert [
        key for key in full if any(box.overlaps(one) for box in extents[key] for one in axes[key])
    ] == []


def test_an_axis_in_logarithms_says_so_in_every_figure(full: dict[str, Figure]) -> None:
    """Inner panels leave their labels to those at the edge."""
    silent, n_logarithmic = [], 0
    for key, figure in full.items():
        explain_axes(figure)
        for which in ("xaxis", "yaxis"):
            every = [getattr(axes, which) for axes in figure.axes if axes.axison]
            scaled = [axis for axis in every if axis.get_scale() != "linear"]
            labels = [axis.get_label_text() for axis in scaled if axis.get_label_text()]
            n_logarithmic += len(scaled)
            if scaled and not (labels and all("log scale" in label for label in labels)):
                silent.append((key, labels))
            others = [axis.get_label_text() for axis in every if axis not in scaled]
            silent += [(key, label) for label in others if "log scale" in label]
    assert silent == []
    assert n_logarithmic > 10


def test_a_thinned_matrix_says_how_many_rows_and_columns_are_drawn() -> None:
    panels = [PickedPanel(title, np.ones((500, 300)), together=pairs(300, None)) for title in "ab"]
    figure = image_panels(panels, (-1, 1), DIVERGING, ("dimension", "position", ""), square=False)
    explain_axes(figure)
    assert [axes.get_xlabel() for axes in figure.axes[:2]] == 2 * [
        "dimension, 140 of 300 drawn, in pairs"
    ]
    assert figure.axes[0].get_ylabel() == "position, 141 of 500 drawn"
    small = [PickedPanel("c", np.ones((5, 4)))]
    figure = image_panels(small, (-1, 1), DIVERGING, ("dimension", "position", ""), square=False)
    explain_axes(figure)
    assert figure.axes[0].get_xlabel() == "dimension"


def test_a_diverging_map_has_a_dark_middle_on_a_dark_page() -> None:
    """Of the picture; that of the page's script is looked at in a browser."""

    def drawn(_: Results, colours: str) -> Figure:
        labels = ("column", "row", "value")
        return image_panels([Panel("", np.eye(3))], (-1, 1), colours, labels, square=True)

    for colours, is_turned in ((DIVERGING, True), (SEQUENTIAL, False)):
        picture = encode(drawn, {}, colours).decode()
        dark = picture.partition("@media(prefers-color-scheme:dark)")[2].partition("</style>")[0]
        assert ("image{filter:invert(1)" in dark) is is_turned
