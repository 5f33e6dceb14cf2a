"""What opens a checkpoint's page: marks of a table, small drawings, and claims of findings."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from generator.contracts import Limit
from generator.figures import svg
from generator.figures.panels import image_panels, panels
from generator.figures.scene import Line, Panel, add
from generator.figures.style import DIVERGING
from generator.site.pictures.leading_picture import limits_at, row_marks
from generator.site.pictures.small import HEIGHT, WIDTH, small
from generator.text import claim, first_clause


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Position 127 is odd: its cosines are 0.44 and 0.55.", "Position 127 is odd"),
        ("4 of 512 are unusual (positions 0–3); the farthest is 0.", "4 of 512 are unusual"),
        ("It falls within 2.2 positions (4 left out). It rises.", "It falls within 2.2 positions"),
        ("A base of 10,000.5 in all layers.", "A base of 10,000.5 in all layers"),
        ("Head 5 avoids it, where its bias is 18.9 logits low.", "Head 5 avoids it"),
        ("No stop", "No stop"),
    ],
)  # fmt: skip
def test_a_claim_stands_without_its_evidence(text: str, said: str) -> None:
    assert claim(text) == said
    assert text.startswith(first_clause(text))
    assert first_clause("A (b; c, so d): e. f") == "A (b; c, so d): "
    assert first_clause("It is high, but b: c") == "It is high,"


def test_marks_are_of_runs_and_named_where_there_is_room() -> None:
    marks = row_marks(np.array([0, 127, 510, 511]), 512)
    assert [mark.name for mark in marks] == ["0", "127", "510–511"]
    assert [mark.top for mark in marks] == pytest.approx([0.0, 24.8, 99.61], abs=0.01)
    crowded = row_marks(np.array([10, 12, 14, 60]), 100)
    assert [mark.name for mark in crowded] == ["10", "", "", "60"]
    assert row_marks(np.array([], dtype=np.int64), 512) == ()


def test_a_limit_whose_last_position_is_named_is_that_of_its_file() -> None:
    """Positions count from 0: the last of 128 tokens is 127. The end of the table is none."""
    limits = [Limit("tokenizer.json", "truncation.max_length", length, "") for length in (64, 128)]
    whole = Limit("config.json", "max_position_embeddings", 512, "")
    endless = Limit("tokenizer_config.json", "model_max_length", None, "")
    rows = np.array([0, 127, 510, 511])
    assert limits_at(rows, 512, [*limits, whole, endless]) == (limits[1],)


def drawn(kind: str) -> bytes:
    def draw() -> object:
        figure, (axes,) = panels(1)
        add(axes, Line([1.0, 10.0, np.nan, 1000.0], [0.0, 1.0, 0.0, 0.5], colour="#3d7fd6"))
        axes.set(xscale=kind, xlim=(1.0, 1000.0), ylim=(0.0, 1.0))
        return figure

    return small(svg.encode(draw), (WIDTH, HEIGHT))  # type: ignore[arg-type]


def test_a_small_drawing_has_its_axis_and_its_gaps() -> None:
    """At a third of the width where the axis is logarithmic: (log 10 − 0) ÷ log 1,000."""
    places = {
        kind: re.findall(r"[ML]([\d.]+) ([\d.]+)", drawn(kind).decode())
        for kind in ("log", "linear")
    }
    edge, inner = 3.0, WIDTH - 6.0
    assert float(places["log"][1][0]) == pytest.approx(edge + inner / 3.0, abs=0.1)
    assert float(places["linear"][1][0]) == pytest.approx(edge + inner * 9.0 / 999.0, abs=0.1)
    assert [float(up) for _, up in places["log"][:2]] == [HEIGHT - edge, edge]


def test_a_small_image_has_few_of_its_cells() -> None:
    matrix = np.random.default_rng(0).normal(size=(96, 96))
    labels = ("dimension", "position", "value")

    def draw() -> object:
        return image_panels([Panel("A", matrix)], (-3.0, 3.0), DIVERGING, labels, square=False)

    drawing = small(svg.encode(draw), (WIDTH, HEIGHT))  # type: ignore[arg-type]
    found = re.search(rb'base64,([^"]+)"', drawing)
    assert found is not None
    image = Image.open(io.BytesIO(base64.b64decode(found[1])))
    assert image.size == (44, 44)
    assert b"invert(1)" in drawing  # On a dark page.
