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
def figures(built: Path) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name and data of every figure of one encoding, and the source of its encoding."""
    known = scripted(built / "site/data/sources.js")["encodings"]
    folder = built / "site/figures"
    every = [(str(path.relative_to(folder)), scripted(path)) for path in folder.rglob("*.js")]
    found = [
        (name, data, known[data["of"][0]])
        for name, data in sorted(every, key=lambda pair: pair[0])
        if data.get("python") and len(data["of"]) == 1 and known[data["of"][0]].get("arrays")
    ]
    assert len(found) > 100
    return found


def plotted(built: Path, data: dict[str, Any], source: dict[str, Any]) -> tuple[list[Floats], int]:
    """Values of the lines that the code draws, and how many pictures or clouds."""
    import matplotlib.pyplot as plt

    with np.load(built / "site" / source["arrays"]) as stored:
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


def test_the_lines_of_every_figure_plot_something(figures: Any, built: Path) -> None:
    empty = []
    for name, data, source in figures:
        lines, others = plotted(built, data, source)
        if not others and not any(np.isfinite(line).any() for line in lines):
            empty.append(name)
    assert empty == []


@pytest.mark.parametrize(
    ("figure", "panel"),
    [
        ("vector_norms-lines", 0), ("similarity_by_distance-lines", 0), ("seams-neighbours", 0),
        ("rank-energy", 0), ("spectrum-periods", 0), ("decay_with_distance-profiles", 0),
        ("position_probe-by_position", 0), ("positions_and_words-angles", 0),
    ],
)  # fmt: skip
def test_they_plot_the_numbers_of_the_figure(
    figures: Any, built: Path, figure: str, panel: int
) -> None:
    """Of MiniLM's table, of which most arrays follow from its rows."""
    name = f"all-minilm-l6-v2/encoder-learned/{figure}.js"
    [(data, source)] = [(data, source) for other, data, source in figures if other == name]
    lines, _ = plotted(built, data, source)
    shown = [
        np.array([np.nan if value is None else value for value in mark["y"]])
        for mark in data["panels"][panel]["marks"]
        if mark["kind"] == "line" and mark["name"] == source["title"]
    ]
    [expected] = [line for line in shown if line.size == lines[0].size]
    known = ~np.isnan(expected)
    np.testing.assert_allclose(lines[0][known], expected[known], rtol=2e-3, atol=2e-3)
