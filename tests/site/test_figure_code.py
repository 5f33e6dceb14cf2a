"""Lines of Python that readers copy from a figure, run on the file of arrays that they name."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from generator.numerics.arrays import Floats

pytestmark = pytest.mark.samples


def scripted(path: Path) -> Any:
    """What a script hands to the page."""
    text = path.read_text("utf-8")
    return json.loads(text[text.index("(") + 1 : text.rindex(")")])


@pytest.fixture(scope="module")
def figures(of_each_list: Path) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name and data of every figure of one encoding, and the source of its encoding."""
    known = scripted(of_each_list / "site/data/sources.js")["encodings"]
    folder = of_each_list / "site/figures"
    every = [(str(path.relative_to(folder)), scripted(path)) for path in folder.rglob("*.js")]
    found = [
        (name, data, known[data["of"][0]])
        for name, data in sorted(every, key=lambda pair: pair[0])
        if data.get("python")
        and "file" not in data
        and len(data["of"]) == 1
        and known[data["of"][0]].get("arrays")
    ]
    assert len(found) > 100
    return found


def plotted(output: Path, data: dict[str, Any], source: dict[str, Any]) -> tuple[list[Floats], int]:
    """Values of the lines that the code draws, and how many pictures or clouds."""
    import matplotlib.pyplot as plt

    with np.load(output / "site" / source["arrays"]) as stored:
        arrays = {name: stored[name] for name in stored.files}
    names: dict[str, Any] = {"np": np, "plt": plt, "arrays": arrays}
    if source["table"] == "stored":
        names["vectors"] = arrays["whole_table.vectors"].astype(float)
    elif source["table"] == "waves":
        angles = arrays["whole_table.places"] @ arrays["whole_table.frequencies"]
        waves = np.where(arrays["whole_table.is_cosine"], np.cos(angles), np.sin(angles))
        names["vectors"] = arrays["whole_table.scale"] * waves
    try:
        exec(data["python"], names)  # noqa: S102 (our own)
        return _content(plt.gcf())
    finally:
        plt.close("all")


def _content(figure: Figure) -> tuple[list[Floats], int]:
    lines = [np.asarray(line.get_data()[1], float) for ax in figure.axes for line in ax.lines]
    return lines, sum(len(ax.images) + len(ax.collections) for ax in figure.axes)


def test_the_lines_of_every_figure_plot_something(figures: Any, of_each_list: Path) -> None:
    empty = []
    for name, data, source in figures:
        lines, others = plotted(of_each_list, data, source)
        if not others and not any(np.isfinite(line).any() for line in lines):
            empty.append(name)
    assert empty == []


@pytest.fixture(scope="module")
def others(of_each_list: Path) -> list[tuple[str, dict[str, Any]]]:
    """Name and data of every figure whose lines read a file of their own."""
    folder = of_each_list / "site/figures"
    every = [(str(path.relative_to(folder)), scripted(path)) for path in folder.rglob("*.js")]
    return [(name, data) for name, data in sorted(every) if data.get("file")]


def test_lines_of_all_other_figures_plot_something(others: Any, of_each_list: Path) -> None:
    """Of schemes, of what a model does, of training runs and of the timeline."""
    folders = {name.partition("/")[0] for name, _ in others}
    assert {"schemes", "runs", "timeline"} <= folders
    assert any("/use/" in name for name, _ in others)
    empty = [
        name for name, data in others if not drawn(read(of_each_list / "site" / data["file"]), data)
    ]
    assert empty == []


def read(path: Path) -> dict[str, Any]:
    """What the first of the lines makes of a file."""
    if path.suffix == ".json":
        return {"data": json.loads(path.read_text("utf-8"))}
    with np.load(path) as stored:
        return {"arrays": {name: stored[name] for name in stored.files}}


def drawn(names: dict[str, Any], data: dict[str, Any]) -> bool:
    """Whether the lines draw a value."""
    import matplotlib.pyplot as plt

    try:
        exec(data["python"], {"np": np, "plt": plt, **names})  # noqa: S102 (our own)
        lines, others = _content(plt.gcf())
        return others > 0 or any(np.isfinite(line).any() for line in lines)
    finally:
        plt.close("all")


def test_lines_of_a_timeline_plot_the_numbers_of_its_figure(of_each_list: Path) -> None:
    import matplotlib.pyplot as plt

    for figure in ("schemes", "layers"):
        data = scripted(of_each_list / f"site/figures/timeline/{figure}.js")
        exec(data["python"], {"np": np, "plt": plt, **read(of_each_list / "site" / data["file"])})  # noqa: S102
        lines, _ = _content(plt.gcf())
        plt.close("all")
        marks = [mark for mark in data["panels"][0]["marks"] if mark["kind"] == "line"]
        np.testing.assert_allclose(lines, [mark["y"] for mark in marks], rtol=1e-3)


@pytest.mark.parametrize(
    ("figure", "panel"),
    [
        ("vector_norms-lines", 0), ("similarity_by_distance-lines", 0), ("seams-neighbours", 0),
        ("rank-energy", 0), ("spectrum-periods", 0), ("decay_with_distance-profiles", 0),
        ("position_probe-by_position", 0), ("positions_and_words-angles", 0),
    ],
)  # fmt: skip
def test_they_plot_the_figures_numbers(
    figures: Any, of_each_list: Path, figure: str, panel: int
) -> None:
    """Of MiniLM's table, of which most arrays follow from its rows."""
    name = f"all-minilm-l6-v2/encoder-learned/{figure}.js"
    [(data, source)] = [(data, source) for other, data, source in figures if other == name]
    lines, _ = plotted(of_each_list, data, source)
    shown = [
        np.array([np.nan if value is None else value for value in mark["y"]])
        for mark in data["panels"][panel]["marks"]
        if mark["kind"] == "line" and mark["name"] == source["title"]
    ]
    [expected] = [line for line in shown if line.size == lines[0].size]
    known = ~np.isnan(expected)
    np.testing.assert_allclose(lines[0][known], expected[known], rtol=2e-3, atol=2e-3)
