"""Drawings in fewer bytes: the same points, and styles, ids and text with their meaning."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

from generator.figures.compact import compact
from generator.figures.style import DARK, INK

OPENING = '<svg xmlns="http://www.w3.org/2000/svg"><defs></defs>'
PIECE = re.compile(r"([A-Za-z])([^A-Za-z]*)")
Point = tuple[float, float]


def inside(content: str) -> str:
    """``content`` of a drawing, compacted, without the style sheet."""
    return compact(f"{OPENING}{content}</svg>").partition("</style></defs>")[2][:-6]


def points(path: str) -> Iterator[Point]:
    """Where the pen comes, by SVG 2, section 9.3: small letters name steps, letters repeat."""
    x = y = 0.0
    start = (x, y)
    for letter, text in PIECE.findall(path):
        numbers = [float(number) for number in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)]
        if letter == "z":
            x, y = start
        elif letter == "h":
            x += numbers[0]
        else:
            for index in range(0, len(numbers), 2):
                base = (x, y) if letter.islower() else (0.0, 0.0)
                x, y = base[0] + numbers[index], base[1] + numbers[index + 1]
                if letter in "Mm" and index == 0:
                    start = (x, y)
                yield x, y
            continue
        yield x, y


def written(random: np.random.Generator, n_points: int) -> str:
    """A path as matplotlib writes it: lines, curves, dots, and figures that are closed."""
    letters = ["M", *random.choice(["L", "L", "L", "M", "C", "z", "same"], n_points)]
    place, path = "0 0", []
    for letter in letters:
        pairs = [
            " ".join(f"{value:.6f}" for value in random.uniform(-2.0, 300.0, 2))
            for _ in range(3 if letter == "C" else 1)
        ]
        place = place if letter == "same" else pairs[-1]
        path.append(
            "z"
            if letter == "z"
            else f"L {place}"
            if letter == "same"
            else f"{letter} {' '.join(pairs)}"
        )
        if letter == "z":
            path.append(f"M {pairs[-1]}")
    return "\n".join(path)


@pytest.mark.parametrize("seed", range(20))
def test_a_path_leads_through_the_same_points_to_half_a_tenth(seed: int) -> None:
    path = written(np.random.default_rng(seed), 400)
    (shorter,) = re.findall(r' d="([^"]+)"', inside(f'<path d="{path}"/>'))
    assert len(shorter) < len(path) / 2
    assert_allclose(list(points(shorter)), list(points(path)), atol=0.05 + 1e-9)


def test_a_path_by_hand_and_text_that_looks_like_one() -> None:
    assert (
        inside('<path d="M 10 20 \nL 10.5 19.96 \nL 10.5 19.96 \nL 12 22 \nz \nM 4 5 \nL 4 5 \n"/>')
        == '<path d="m10 20 .5 0h0l1.5 2zm-6-15h0"/>'
    )
    text = ' style="fill: red} text{display:none" id="x" d="M 1 2" x="1.23456" '
    assert f"<text>{text}</text>" in inside(f"<text>{text}</text>")
    assert "display" not in compact(f"{OPENING}<text>{text}</text></svg>").partition("</style>")[0]


def test_equal_styles_share_a_class_whose_colours_change_on_dark_pages() -> None:
    drawing = compact(
        f'{OPENING}<path style="fill: none; stroke: {INK}"/><path style="fill: none; stroke:'
        f' {INK}"/><path style="fill: #123456"/></svg>'
    )
    assert re.findall(r"<path[^>]*>", drawing) == [
        '<path class="c0"/>',
        '<path class="c0"/>',
        '<path class="c1"/>',
    ]
    sheet = drawing.partition("</style>")[0]
    assert (
        f".c0{{fill:none;stroke:{INK}}}.c1{{fill:#123456}}"
        f"@media(prefers-color-scheme:dark){{.c0{{stroke:{DARK[INK]}}}}}" in sheet
    )


def test_ids_that_something_names_stay_and_innermost_groups_without_attributes_go() -> None:
    content = (
        '<g id="axes_1"><g id="mark_1"><path id="mark"/></g><g clip-path="url(#box)"><rect'
        ' id="box"/><use xlink:href="#mark"/></g></g>'
    )
    assert (
        inside(content) == '<g><path id="mark"/><g clip-path="url(#box)"><rect id="box"/><use'
        ' xlink:href="#mark"/></g></g>'
    )
