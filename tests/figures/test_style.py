"""Colours of checkpoints are told apart, also by the colour-blind; those of values are fixed."""

import re
from itertools import combinations

import numpy as np
import pytest
from matplotlib import colormaps as matplotlib_colormaps
from matplotlib.colors import to_hex

from generator.figures.style import DARK, INK, MUTED, PAPER, REFERENCE, SEQUENTIAL, SERIES, STOPS
from generator.numerics.arrays import Floats
from generator.site.compare.similarity_map import LEVELS
from generator.site.pictures.layer_strips import COLOURS
from tests.built import ROOT

# Linear RGB as seen with colour blindness: Machado, Oliveira and Fernandes 2009, table 1, severity
# 1.0.
SIGHTS = {
    "usual": np.eye(3),
    "without red cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "without green cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
STYLESHEET = ROOT / "site_src/assets/colormaps.css"
NOTICED = 2.3  # The least noticeable difference in CIELAB for adjacent patches; lines need more.


def linear(colour: str) -> Floats:
    """Linear RGB (3,) of "#rrggbb", within [0, 1] (IEC 61966-2-1)."""
    values = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255.0
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: Floats) -> Floats:
    """CIELAB (3,) under D65 of linear RGB (3,)."""
    xyz = TO_XYZ @ np.clip(rgb, 0.0, 1.0) / (TO_XYZ @ np.ones(3))
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHTS)
def test_all_colours_are_distinguishable(sight: str) -> None:
    colours = [lab(SIGHTS[sight] @ linear(colour)) for colour in (*SERIES, REFERENCE)]
    assert (
        min(float(np.linalg.norm(one - other)) for one, other in combinations(colours, 2))
        > 3.5 * NOTICED
    )


def test_usual_sight_takes_no_colour_for_a_shade_of_another() -> None:
    colours = [lab(linear(colour)) for colour in SERIES]
    assert (
        min(float(np.linalg.norm(one - other)) for one, other in combinations(colours, 2))
        > 10.0 * NOTICED
    )


@pytest.mark.parametrize("paper", [PAPER, DARK[PAPER]])
def test_every_colour_contrasts_with_the_page(paper: str) -> None:
    """WCAG 2.2, 1.4.11: 3 to 1."""
    page = TO_XYZ[1] @ linear(paper) + 0.05
    for colour in SERIES:
        light, dark = sorted((TO_XYZ[1] @ linear(colour) + 0.05, page), reverse=True)
        assert light / dark >= 3.0, colour


@pytest.mark.parametrize("ink", [INK, MUTED])
def test_ink_is_legible_on_the_page_in_both_schemes(ink: str) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1."""
    for colour, paper in ((ink, PAPER), (DARK[ink], DARK[PAPER])):
        dark, light = sorted(TO_XYZ[1] @ linear(one) + 0.05 for one in (colour, paper))
        assert light / dark >= 4.5


def equal_colormap(colours: list[str], colormap: str) -> bool:
    """Whether these colours, from the low end to the high end, are those of a colormap."""
    theirs = [
        to_hex(matplotlib_colormaps[colormap](share))
        for share in np.linspace(0.0, 1.0, len(colours))
    ]
    return all(
        np.linalg.norm(lab(linear(one)) - lab(linear(other))) < NOTICED
        for one, other in zip(colours, theirs, strict=True)
    )


def test_dark_figures_have_the_background_of_dark_pages() -> None:
    stylesheet = (ROOT / "site_src/assets/atlas.css").read_text(encoding="utf-8")
    assert f"--md-default-bg-color: {DARK[PAPER]};" in stylesheet


@pytest.mark.parametrize("colormap", STOPS)
def test_the_stops_of_a_colormap_are_those_of_matplotlib(colormap: str) -> None:
    assert equal_colormap([f"#{stop}" for stop in STOPS[colormap].split()], colormap)


def test_the_levels_of_the_map_have_the_colormap_of_figures_from_its_high_end() -> None:
    rules = re.findall(
        r"\.l(\d+) { background: (#\w{6}); color: (#\w{6})", STYLESHEET.read_text(encoding="utf-8")
    )
    assert [level for level, _, _ in rules] == [str(level) for level in range(LEVELS)]
    assert equal_colormap([colour for _, colour, _ in rules][::-1], SEQUENTIAL)
    for _, background, text in rules:
        dark, light = sorted(TO_XYZ[1] @ linear(colour) + 0.05 for colour in (background, text))
        assert light / dark >= 4.5, background


def test_layers_have_their_colours_in_the_style_sheet() -> None:
    rules = re.findall(
        r"\.pa-layer-(\w+) { background-color: (\S+); stroke: (\S+);",
        STYLESHEET.read_text(encoding="utf-8"),
    )
    assert rules == [(kind, colour, colour) for kind, colour in COLOURS.items()]
