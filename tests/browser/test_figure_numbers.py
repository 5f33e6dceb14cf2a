"""The numbers of every figure, as readers take them away, against the picture of it."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.scale import SymmetricalLogTransform
from playwright.sync_api import Page

from generator.figures.live import MOST_POINTS
from generator.numerics.arrays import Floats
from tests.pictures import DrawnPanel, away, panels_of

pytestmark = pytest.mark.samples

Row = dict[str, str]
SHADE = 12.0  # of 255, in a channel: pictures have 96 levels
SOME = 5  # Every so many figures are looked at where not all are.
LEFT_OUT = 0.4  # share of the points of a picture that may be missing where there are many
NEAR = 1.0  # units of a drawing, 561.6 wide; its own places are rounded to tenths
LINES = ("line", "band")
# What matplotlib's axis of predicted positions does below 1; that of the page is its own.
SYMLOG = SymmetricalLogTransform(10, 1.0, 0.6)
ALL = """names => Promise.all(names.map(name => atlas.loadFigure(name).then(data =>
    [name, atlas.csv(data), { ...data, names: atlas.panelNames(data) }])))"""


@pytest.fixture(
    scope="module", params=[SOME, pytest.param(1, marks=pytest.mark.thorough)], ids=["some", "all"]
)
def figures(
    request: pytest.FixtureRequest, tab: Page, address: str, built: Path
) -> list[tuple[str, list[Row], Any]]:
    """Name, rows and data of figures of the site: of some of each folder, or of all."""
    folder = built / "site/figures"
    every = sorted(str(path.relative_to(folder))[:-3] for path in folder.rglob("*.js"))
    assert len(every) > 200
    names = every[:: request.param]
    tab.goto(f"{address}/assets/embed.html")
    found = [
        each
        for start in range(0, len(names), 40)
        for each in tab.evaluate(ALL, names[start : start + 40])
    ]
    return [(name, list(csv.DictReader(io.StringIO(text))), data) for name, text, data in found]


def placed(axis: dict[str, Any], values: Floats, start: float, end: float) -> Floats:
    """Where values of an axis lie between the places of its two ends."""
    bend = {
        "linear": lambda value: value,
        "log": lambda value: np.log10(np.maximum(value, 1e-300)),
        "symlog": SYMLOG.transform,
    }[axis["scale"]]
    low, high = (float(bend(np.array(limit))) for limit in axis["limits"])
    return np.asarray(start + (bend(values) - low) / (high - low) * (end - start))


def numbers(rows: list[Row], column: str) -> Floats:
    return np.array([float(row.get(column) or "nan") for row in rows])


def points(panel: dict[str, Any], drawn: DrawnPanel, x: Floats, y: Floats) -> Floats:
    """Places in the drawing of those that are within the panel."""
    left, top, width, height = drawn.box
    place = np.stack(
        [placed(panel["x"], x, left, left + width), placed(panel["y"], y, top + height, top)],
        axis=1,
    )
    inside = (np.abs(place - [left + width / 2, top + height / 2]) <= [width / 2, height / 2]).all(
        axis=1
    )
    return np.asarray(place[inside & np.isfinite(place).all(axis=1)])


def marks(panel: dict[str, Any], kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    return [mark for mark in panel["marks"] if mark["kind"] in kinds and not mark.get("aside")]


def checked(figures: Any, built: Path) -> Iterator[tuple[str, list[Row], Any, DrawnPanel]]:
    """Every panel with its rows and its drawing."""
    for name, rows, data in figures:
        drawing = panels_of((built / f"site/figures/{name}.svg").read_bytes())
        shown = [
            (panel, title)
            for panel, title in zip(data["panels"], data["names"], strict=True)
            if marks(panel, (*LINES, "rule", "cells", "points", "curve"))
        ]
        assert len(shown) == len(drawing), name
        for (panel, title), drawn in zip(shown, drawing, strict=True):
            yield name, [row for row in rows if row.get("panel", "") == title], panel, drawn


def series_of(panel: dict[str, Any], data_label: str, mark: dict[str, Any]) -> str:
    return f"{data_label} {mark['name']}".strip() if "base" in mark else str(mark["name"])


def test_each_value_of_a_line_is_where_the_picture_has_it(figures: Any, built: Path) -> None:
    wrong, count = [], 0
    labels = {
        name: next((panel["y"]["label"] for panel in data["panels"] if panel["y"]["label"]), "")
        for name, _, data in figures
    }
    for name, rows, panel, drawn in checked(figures, built):
        for mark in marks(panel, LINES):
            series = series_of(panel, panel["y"]["label"] or labels[name], mark)
            mine = [row for row in rows if row.get("series") == series]
            shown = ("low", "high") if mark["kind"] == "band" else ("value",)
            for column in shown:
                x, value = numbers_of(mine, column, panel, mark)
                if not mark.get("marker"):
                    value = without_single(value)
                places = points(panel, drawn, x, value + mark.get("base", 0.0))
                count += len(places)
                traces = drawn.traces.get(mark["colour"], [])
                if not mine or not traces or (len(places) and away(places, traces).max() > NEAR):
                    worst = away(places, traces).max() if len(places) and traces else None
                    wrong.append(f"{name} {panel['title']} {series} {column} {worst}")
    assert count > 10_000
    assert wrong == [], "\n".join(wrong)


def without_single(values: Floats) -> Floats:
    """The same without values between two gaps, of which a line without markers shows nothing."""
    gaps = np.concatenate([[True], np.isnan(values), [True]])
    return np.where(gaps[:-2] & gaps[2:], np.nan, values)


def numbers_of(
    rows: list[Row], column: str, panel: dict[str, Any], mark: Any
) -> tuple[Floats, Floats]:
    """x and y of a series in its panel; values that lie across are beside the tick that x names."""
    if not mark.get("across"):
        return numbers(rows, "x"), numbers(rows, column)
    ticks = {name: float(place) for place, name in panel["y"]["ticks"]}
    lie = np.asarray(mark["y"], dtype=float)
    near = [
        row for row, place in zip(rows, lie, strict=False) if abs(ticks[row["x"]] - place) < 0.5
    ]
    return numbers(near, column), lie[: len(near)]


def test_each_value_of_a_cell_has_its_colour_in_the_picture(figures: Any, built: Path) -> None:
    """Where picture and table have the same cells; of others, both have means of blocks."""
    wrong, count = [], 0
    for name, rows, panel, drawn in checked(figures, built):
        for cells in marks(panel, ("cells",)):
            assert drawn.image, name
            pixels = drawn.image[0]
            if pixels.shape[:2] != (cells["rows"], cells["columns"]):
                continue
            mine = [row for row in rows if row.get("row")]
            down, across = cells_of(panel, cells, drawn, mine)
            colours = pixels[down, across]
            values = numbers(mine, "value")
            low, high = cells["limits"]
            shares = np.clip((values - low) / (high - low), 0.0, 1.0)
            expected = shades(cells["stops"], shares)
            seen = np.isfinite(values)
            count += int(seen.sum())
            off = np.abs(colours[seen, :3].astype(float) - expected[seen]).max(initial=0.0)
            if off > SHADE or (colours[~seen, 3] > 0).any() or len(mine) != values.size:
                wrong.append(f"{name} {panel['title']} {off}")
    assert count > 4_000
    assert wrong == [], "\n".join(wrong)


def cells_of(
    panel: dict[str, Any], cells: dict[str, Any], drawn: DrawnPanel, rows: list[Row]
) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of the picture's pixels for rows of numbers: by their places, or where these
    are picked from a table, by their order.
    """
    assert drawn.image
    if "at" in cells:
        order = [
            {str(number): index for index, number in enumerate(cells["at"][axis])}
            for axis in ("rows", "columns")
        ]
        return (
            np.array([order[0][row["row"]] for row in rows]),
            np.array([order[1][row["column"]] for row in rows]),
        )
    pixels, (left, top, width, height) = drawn.image
    x = placed(panel["x"], numbers(rows, "column"), *ends(drawn.box, 0))
    y = placed(panel["y"], numbers(rows, "row"), *ends(drawn.box, 1)[::-1])
    down = np.floor((y - top) / height * pixels.shape[0]).astype(int)
    return down, np.floor((x - left) / width * pixels.shape[1]).astype(int)


def ends(box: tuple[float, float, float, float], which: int) -> tuple[float, float]:
    return box[which], box[which] + box[which + 2]


def shades(stops: str, shares: Floats) -> Floats:
    """Colours (n, 3) of shares from 0 to 1, between the stops of a map."""
    colours = np.array([[int(stop[at : at + 2], 16) for at in (0, 2, 4)] for stop in stops.split()])
    places = shares * (len(colours) - 1)
    return np.stack(
        [np.interp(places, range(len(colours)), channel) for channel in colours.T], axis=1
    )


def test_each_point_of_the_picture_is_among_the_numbers(figures: Any, built: Path) -> None:
    """The picture may leave points out that the numbers have; of many points, both do."""
    wrong, count = [], 0
    for name, rows, panel, drawn in checked(figures, built):
        if not marks(panel, ("points",)):
            continue
        places = points(panel, drawn, numbers(rows, "x"), numbers(rows, "y"))
        left, top, width, height = drawn.box
        found = np.concatenate(
            [
                point
                for colour, traces in drawn.traces.items()
                for point in traces
                if colour.startswith("#")
            ]
        )
        middle, half = np.array([left + width / 2, top + height / 2]), np.array([width, height]) / 2
        # What is beyond an axis stands at its edge.
        within = found[(np.abs(found - middle) < half - NEAR).all(axis=1)]
        count += len(within)
        far = float(np.mean(away(within, list(places[:, None, :])) > NEAR))
        if far > (LEFT_OUT if len(rows) == MOST_POINTS else 0.0):
            wrong.append(f"{name} {panel['title']} {far}")
    assert count > 400
    assert wrong == [], "\n".join(wrong)
