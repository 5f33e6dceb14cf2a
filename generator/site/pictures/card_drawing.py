"""Cards: pictures of 1200 × 630 pixels that other sites show beside a link to a page."""

import io
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generator.figures import svg
from generator.figures.style import STYLE
from generator.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (1200, 630)  # pixels, the ratio that Open Graph's readers show uncut
DPI = 100
GROUND, TITLE, TEXT, NAME, VALUES = "#23345f", "#ffffff", "#d6e0f5", "#b9c7e6", "#ffb454"
MARGIN, RIGHT, GAP = 64, 668, 16  # pixels; where pictures begin, and between them
SIDE = 392  # pixels of the square of all pictures
TITLE_SIZES, TEXT_SIZE, NAME_SIZE = (44, 36, 29, 23), 20, 20  # points
MOST_TITLE_LINES = 4
LEADING = 1.85  # pixels from line to line, per point of text
COLOURS = 128
MOST_LINEAR = 1000  # ratio of the largest value to the smallest


@dataclass(frozen=True)
class Content:
    """What a card shows.

    lines: text below the title, a paragraph each; drawings: at most four, whose images it shows
    values: in ascending order, for a card without drawings
    """

    title: str
    lines: tuple[str, ...] = ()
    drawings: tuple[bytes, ...] = ()
    values: tuple[float, ...] = ()


def encode(content: Content) -> bytes:
    """A card as PNG, the same bytes for the same content."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=(SIZE[0] / DPI, SIZE[1] / DPI), dpi=DPI, facecolor=GROUND)
        canvas: Any = FigureCanvasAgg(figure)
        _write(figure, content)
        for axes, drawing in zip(
            _squares(figure, len(content.drawings)), content.drawings, strict=True
        ):
            axes.imshow(_raster(drawing), aspect="auto")
        if content.values:
            _plot(figure, content.values)
        canvas.draw()
        picture = Image.frombuffer("RGBA", SIZE, canvas.buffer_rgba()).convert("RGB")
    buffer = io.BytesIO()
    picture.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
        buffer, format="PNG"
    )
    return buffer.getvalue()


def _write(figure: "Figure", content: Content) -> None:
    """Name of the site, title and paragraphs from the top down, as many as there is room for."""
    width = (RIGHT if content.drawings or content.values else SIZE[0] - MARGIN) - MARGIN - 2 * GAP
    size, wrapped = next(_titles(_shown(content.title), width))
    _text(figure, MARGIN + 20, "Position Atlas", fontsize=NAME_SIZE, color=NAME)
    top = MARGIN + 104.0
    for line in wrapped:
        _text(figure, top, line, fontsize=size, color=TITLE, fontweight="bold")
        top += 1.55 * size
    top += 18
    for paragraph in content.lines:
        lines = _wrapped(_shown(paragraph), TEXT_SIZE, "normal", width)
        if top + len(lines) * LEADING * TEXT_SIZE > SIZE[1] - MARGIN:
            break
        for line in lines:
            _text(figure, top, line, fontsize=TEXT_SIZE, color=TEXT)
            top += LEADING * TEXT_SIZE
        top += 0.7 * TEXT_SIZE


def _shown(text: str) -> str:
    """``text`` with single spaces, and invisible characters escaped."""
    return visible(" ".join(text.split()))


def _text(figure: "Figure", top: float, text: str, **style: Any) -> None:
    figure.text(MARGIN / SIZE[0], 1 - top / SIZE[1], text, va="baseline", **style)


def _titles(title: str, width: float) -> Iterator[tuple[int, list[str]]]:
    """Size and lines of a title, the largest that fits first, and at last the smallest, cut."""
    for size in TITLE_SIZES:
        lines = _wrapped(title, size, "bold", width)
        if len(lines) <= MOST_TITLE_LINES and all(
            _width(word, size, "bold") <= width for word in title.split()
        ):
            yield size, lines
    yield (
        TITLE_SIZES[-1],
        (lines if len(lines) <= MOST_TITLE_LINES else [*lines[: MOST_TITLE_LINES - 1], "…"]),
    )


def _wrapped(text: str, size: float, weight: str, width: float) -> list[str]:
    """``text`` in lines of at most ``width`` pixels; a longer word is broken."""
    lines = [""]
    for word in text.split():
        for part in _parts(word, size, weight, width):
            longer = f"{lines[-1]} {part}".strip()
            lines = (
                [*lines[:-1], longer] if _width(longer, size, weight) <= width else [*lines, part]
            )
    return [line for line in lines if line]


def _parts(word: str, size: float, weight: str, width: float) -> Iterator[str]:
    """``word`` in parts that fit."""
    start = 0
    for stop in range(1, len(word) + 1):
        if _width(word[start : stop + 1], size, weight) > width or stop == len(word):
            yield word[start:stop]
            start = stop


def _width(text: str, size: float, weight: str) -> float:
    """Width of ``text`` in pixels."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    points, _, _ = text_to_path.get_text_width_height_descent(
        text, FontProperties(size=size, weight=weight), False
    )
    return float(points) * DPI / 72


def _squares(figure: "Figure", count: int) -> Iterator["Axes"]:
    """Axes for images: one, or up to four in two rows."""
    side = SIDE if count == 1 else (SIDE - GAP) / 2
    left, top = SIZE[0] - MARGIN - SIDE, (SIZE[1] - SIDE) / 2
    for number in range(count):
        x, y = (
            left + (number % 2) * (side + GAP),
            top + (number // 2) * (side + GAP) + ((side + GAP) / 2 if count == 2 else 0),
        )
        axes = figure.add_axes(
            (x / SIZE[0], 1 - (y + side) / SIZE[1], side / SIZE[0], side / SIZE[1])
        )
        axes.set_axis_off()
        yield axes


def _raster(drawing: bytes) -> Any:
    """The first image of a drawing, a blank one where it has none."""
    from PIL import Image

    return (
        Image.open(io.BytesIO(found)).convert("RGBA")
        if (found := svg.raster(drawing))
        else Image.new("RGB", (1, 1), NAME)
    )


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether a card shows ``values``, in ascending order, by their logarithms."""
    return values[0] > 0 and values[-1] / values[0] > MOST_LINEAR


def _plot(figure: "Figure", values: Sequence[float]) -> None:
    """``values`` as points from the left to the right."""
    axes = figure.add_axes((RIGHT / SIZE[0], 0.19, (SIZE[0] - MARGIN - RIGHT) / SIZE[0], 0.62))
    axes.vlines(range(len(values)), min(values), values, color=NAME, linewidth=1.2, alpha=0.6)
    axes.plot(range(len(values)), values, "o", color=VALUES, markersize=9)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set(yscale="log" if is_logarithmic(values) else "linear")
    axes.xaxis.set_visible(False)
    axes.yaxis.set_visible(False)
