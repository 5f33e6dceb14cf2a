"""What a figure shows, as records: matplotlib draws them, and ``live`` writes them as data."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from generator.encodings import SinusoidFormula
from generator.figures.style import INK, LEVELS, MUTED, PAPER, STYLE
from generator.numerics.arrays import Array, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Colour = str | tuple[float, float, float, float]
Dash = str | tuple[int, tuple[float, ...]]
DOTTED: Dash = (0, (1, 1.5))  # For reference lines.
LINE_WIDTH: float = STYLE["lines.linewidth"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Styled:
    """What lines and areas have in common.

    name: in the legend, or hidden from it by "_" before; "" for none
    is_aside: whether it only marks values of others, which have the name
    order: of drawing, the highest last
    """

    colour: Colour
    dash: Dash = "solid"
    width: float = LINE_WIDTH
    alpha: float | None = None
    name: str = ""
    is_aside: bool = False
    order: float

    @property
    def in_legend(self) -> str:
        """Its name there; "" for none."""
        return "" if self.is_aside or self.name.startswith("_") else self.name

    @property
    def style(self) -> dict[str, Any]:
        """Of matplotlib."""
        return {
            "color": self.colour,
            "linewidth": self.width,
            "alpha": self.alpha,
            "zorder": self.order,
            "label": None if self.is_aside else self.name,
        }


@dataclass(frozen=True, eq=False)
class Line(Styled):
    """A line through points.

    x, y: (n_points,); edges: (n_points + 1,) of a line of steps, whose middles ``x`` are
    marker: at each point; is_joined: whether anything joins them; is_quiet: whether it stands back
    more: style of matplotlib that data do not have
    """

    x: Array | Sequence[float]
    y: Array | Sequence[float]
    _: KW_ONLY
    order: float = 2.0
    marker: str | None = None
    size: float = 6.0
    is_hollow: bool = False
    is_joined: bool = True
    is_quiet: bool = False
    drawstyle: Literal["default", "steps-mid", "steps-post"] = "default"
    edges: Array | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class StraightLine(Styled):
    """A line across the whole panel at a value of an axis."""

    axis: Literal["x", "y"]
    at: float
    _: KW_ONLY
    colour: Colour = MUTED
    width: float = 0.6
    order: float = 2.0


@dataclass(frozen=True, eq=False)
class Band(Styled):
    """The area between two lines over the same places.

    x, low, high: (n_points,); edges: (n_points + 1,) of lines of steps, whose middles ``x`` are
    """

    x: Array
    low: Floats
    high: Floats
    _: KW_ONLY
    order: float = 1.0
    edges: Array | None = None


@dataclass(frozen=True, eq=False)
class Dots:
    """Points that who adds them draws, without markers, which take three times as many bytes.

    points: (n_points, 2), or (n_points, 3) for a curve that readers can turn; NaN where there is
        none
    is_joined: whether a line joins each point to the next; colour: None for colours from the first
        point to the last
    """

    points: Floats
    is_joined: bool
    colour: str | None = None
    order: float = 0.0


@dataclass(frozen=True)
class Panel:
    """A matrix (n_rows, n_columns) for display as an image, in multiples of ``unit``, with a
    title.

    extent: left, right, bottom and top, where cells do not count from 0
    is_exact: whether data average no cells
    """

    title: str
    matrix: Floats
    unit: float = 1.0
    extent: tuple[float, float, float, float] | None = None
    is_exact: bool = False


@dataclass(frozen=True)
class PickedPanel(Panel):
    """One of which a picture without room for all shows single rows and columns, not means.

    order: (n,), int, the numbers of rows and columns of a square matrix; None where they count up
    together: (n_groups, n_together), int, columns that are picked together; None for each alone
    table: its place among tables whose values readers can see all; None where they cannot
    formula: from which the values follow
    """

    order: Array | None = None
    together: Array | None = None
    table: int | None = None
    formula: SinusoidFormula | None = None


@dataclass(frozen=True, eq=False)
class Cells:
    """A panel's image.

    values: (n_rows, n_columns), NaN where transparent; extent: left, right, bottom and top
    picks: the numbers of the rows and columns of a picked panel, as readers count them
    """

    panel: Panel
    values: Floats
    limits: tuple[float, float]
    colours: str
    extent: tuple[float, float, float, float]
    picks: tuple[Array, Array] | None = None


@dataclass(frozen=True, eq=False)
class Text:
    """A text.

    at: the point that it is about; within: of the axes across and upwards, whose coordinates these
        are; shift: from there, in points; None for a text that stands at the point itself
    beside: where a name at the end of a line stands, in data coordinates
    more: style of matplotlib that data do not have
    """

    text: str
    at: tuple[float, float]
    shift: tuple[float, float] | None = None
    _: KW_ONLY
    within: tuple[str, str] = ("data", "data")
    beside: tuple[float, float] | None = None
    colour: Colour = INK
    justify: Literal["left", "center", "right"] = "left"
    baseline: Literal["baseline", "center", "top", "bottom"] = "baseline"
    size: float = STYLE["font.size"]
    is_ringed: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)


Mark = Line | StraightLine | Band | Dots | Cells | Text
# What has been added to the axes of figures that are being drawn.
SHOWN: "WeakKeyDictionary[Axes, list[Mark]]" = WeakKeyDictionary()


def add(axes: "Axes", *marks: Mark) -> None:
    """Draw marks, which then are among the data of the figure."""
    for mark in marks:
        _draw(axes, mark)
    SHOWN.setdefault(axes, []).extend(marks)


def make_room(axes: "Axes", *marks: Mark) -> None:
    """Have the axes reach as far as if they showed the marks."""
    before = axes.get_children()
    for mark in marks:
        _draw(axes, mark)
    for artist in axes.get_children():
        if artist not in before:
            artist.remove()


def _draw(axes: "Axes", mark: Mark) -> None:
    style: dict[str, Any]
    match mark:
        case Line(edges=None):
            style = {"linestyle": mark.dash if mark.is_joined else "", "marker": mark.marker}
            style |= {"markersize": mark.size, "drawstyle": mark.drawstyle}
            hollow = {"markerfacecolor": PAPER} if mark.is_hollow else {}
            axes.plot(mark.x, mark.y, **{**mark.style, **style, **hollow, **mark.more})
        case Line():
            axes.stairs(mark.y, mark.edges, baseline=None, **mark.style)
        case StraightLine():
            across = axes.axhline if mark.axis == "y" else axes.axvline
            across(mark.at, linestyle=mark.dash, **mark.style)
        case Band(edges=None):
            axes.fill_between(mark.x, mark.low, mark.high, **{**mark.style, "linewidth": 0})
        case Band():
            style = {**mark.style, "linewidth": None, "fill": True}
            axes.stairs(mark.high, mark.edges, baseline=mark.low, **style)
        case Text():
            _draw_text(axes, mark)
        case Cells():
            _draw_cells(axes, mark)


def _draw_cells(axes: "Axes", cells: Cells) -> None:
    import matplotlib as mpl

    axes.imshow(
        cells.values,
        cmap=mpl.colormaps[cells.colours].resampled(LEVELS).with_extremes(bad=(0, 0, 0, 0)),
        vmin=cells.limits[0],
        vmax=cells.limits[1],
        extent=cells.extent,
        aspect="auto",
    )


def _draw_text(axes: "Axes", text: Text) -> None:
    style: dict[str, Any] = {"ha": text.justify, "va": text.baseline, **text.more}
    style |= {"fontsize": text.size, "color": text.colour}
    if text.beside is not None:
        axes.annotate(text.text, text.at, text.beside, **style)
    elif text.shift is not None:
        system = tuple("data" if one == "data" else "axes fraction" for one in text.within)
        style |= {"xycoords": system, "textcoords": "offset points"}
        axes.annotate(text.text, text.at, text.shift, **style)
    else:
        axes.text(*text.at, text.text, **style)
