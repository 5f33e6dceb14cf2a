"""Lines that stand back behind those that a figure speaks of."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from generator.figures.lines import DOTTED, legend_below
from generator.figures.live import described
from generator.figures.panels import panels
from generator.figures.quiet import BEHIND, hidden, standing_back
from generator.figures.style import ASIDE, QUIET

COLOURS = {hidden("grey"): QUIET, "blue": "#3d7fd6"}


def draw(results: Mapping[str, Any]) -> Figure:
    """Each result with all that figures draw of one: line, band, rule, control and mark."""
    figure, (axes,) = panels(1, height=3.0)
    for title, values in results.items():
        colour = COLOURS[title]
        axes.fill_between(np.arange(3), values - 1.0, values + 1.0, color=colour, alpha=0.2)
        axes.plot(values, color=colour, linestyle="dashed", marker=".", label=title)
        axes.plot(values, color=colour, linestyle=DOTTED)
        axes.plot(values / 2.0, color=colour, label=f"_{title}, shuffled")
        axes.plot([1.0], [1.0], "o", color=colour, label=ASIDE)
        axes.axhline(0.5, color=colour)
    legend_below(figure)
    return figure


def drawn() -> Figure:
    results = {title: np.array([1.0, 2.0, 3.0]) for title in COLOURS}
    return standing_back(draw, [hidden("grey")], results)


def test_only_the_line_of_a_quiet_result_is_left_behind_the_others() -> None:
    [axes] = drawn().axes
    [quiet] = [line for line in axes.lines if line.get_color() == QUIET]
    assert (quiet.get_linestyle(), quiet.get_marker(), quiet.get_zorder()) == ("-", "", BEHIND)
    others = [line for line in axes.lines if line.get_color() != QUIET]
    assert len(others) == 5
    assert all(line.get_zorder() > BEHIND for line in others)
    assert len(axes.collections) == 1


def test_it_has_no_place_in_the_legend() -> None:
    [legend] = drawn().legends
    assert [text.get_text() for text in legend.get_texts()] == ["blue"]


def test_the_live_figure_has_its_name_and_that_it_is_quiet() -> None:
    data = described(drawn())
    lines = [mark for mark in data["panels"][0]["marks"] if mark["kind"] == "line"]
    assert [mark["name"] for mark in lines if mark.get("quiet")] == ["grey"]
    assert [entry["name"] for entry in data["series"]] == ["blue"]


def test_what_a_draw_function_adds_to_a_name_leaves_the_line() -> None:
    def with_remark(results: Mapping[str, Any]) -> Figure:
        figure, (axes,) = panels(1, height=3.0)
        for title, values in results.items():
            axes.plot(values, color=QUIET, label=f"{title} (does not fall)")
        return figure

    [axes] = standing_back(with_remark, [hidden("grey")], {hidden("grey"): np.ones(3)}).axes
    assert len(axes.lines) == 1
