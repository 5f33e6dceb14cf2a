"""Cards: pictures of pages for links to them."""

import base64
import io
import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mkdocs.utils.meta import get_data
from PIL import Image, ImageColor

from generator.contracts import Atlas, Metric, Tree
from generator.site.outline import applicable
from generator.site.pictures import cards
from generator.site.pictures.card_drawing import GROUND, MARGIN, SIZE, VALUES, Content, encode
from tests import small_site
from tests.site.test_escape import NASTY
from tests.support import checkpoint
from tests.synthetic import BUCKETS, NOTHING, TABLE, write_folder

pytestmark = pytest.mark.usefixtures("blank_figures")

MOST_BYTES = 40_000
CORNERS = ("#ff0000", "#00ff00", "#0000ff", "#ffffff")
# Of the longest no more than leaves a card: each further letter would be measured for nothing.
TITLES = (*(text[:1000] for text in NASTY), "W" * 200, "many words " * 40, "", " ")


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """A table, two biases, and a checkpoint without an encoding."""
    folder = tmp_path_factory.mktemp("cards")
    every = {"table": TABLE, "buckets": BUCKETS, "nothing": NOTHING}
    rows = [
        checkpoint(slug=slug, place=str(write_folder(folder / slug, files)), title=slug)
        for slug, files in every.items()
    ]
    return small_site.atlas_of(*small_site.evaluated(*rows), address="https://example.org/")


@pytest.fixture(scope="module")
def tree(atlas: Atlas) -> Tree:
    return small_site.tree_of(atlas, drawn=False)


def meta(page: bytes) -> dict[str, Any]:
    return dict(get_data(page.decode())[1])


def pixels(card: bytes) -> Any:
    """(height, width, 3)"""
    return np.array(Image.open(io.BytesIO(card)).convert("RGB"))


def test_what_has_numbers_and_scheme_and_analysis_has_its_card(atlas: Atlas, tree: Tree) -> None:
    paths = [
        "checkpoints/table",
        "checkpoints/buckets",
        *(f"schemes/{one.key}" for one in atlas.schemes),
        *(f"analyses/{one.key}" for one in applicable(atlas)),
    ]
    assert [meta(tree[f"{path}.md"])["card"] for path in paths] == [
        f"cards/{path}.png" for path in paths
    ]
    assert len({tree[f"cards/{path}.png"] for path in paths}) == len(paths)


def test_a_card_is_small_and_as_large_as_its_page_says(tree: Tree) -> None:
    for path in (path for path in tree if path.endswith(".md") and "card" in meta(tree[path])):
        found = meta(tree[path])
        card = tree[found["card"]]
        assert Image.open(io.BytesIO(card)).size == tuple(found["card_size"]) == (1200, 630)
        assert len(card) < MOST_BYTES
        assert found["card_alt"]


def test_without_numbers_or_an_address_there_is_no_card(atlas: Atlas, tree: Tree) -> None:
    assert "card" not in meta(tree["checkpoints/nothing.md"])
    without = small_site.tree_of(replace(atlas, address=None), drawn=False)
    assert [path for path in without if path.startswith("cards/")] == []
    assert [path for path in without if path[-3:] == ".md" and "card" in meta(without[path])] == []


def test_the_same_content_gives_the_same_bytes_without_a_date() -> None:
    content = Content("Title", ("One line",), values=(1.0, 2.0, 4.0))
    card = encode(content)
    assert card == encode(content)
    chunks, place = [], 8
    while place < len(card):
        size, kind = struct.unpack(">I4s", card[place : place + 8])
        chunks.append(kind)
        place += size + 12
    assert set(chunks) == {b"IHDR", b"PLTE", b"IDAT", b"IEND"}


def has_clear_edges(card: Any) -> bool:
    """Whether a card (height, width, 3) with red pictures shows its ground alone along its edges
    and beside the pictures.
    """
    edge, left = MARGIN // 2, np.flatnonzero((card == (255, 0, 0)).all(axis=2).any(axis=0))[0]
    strips = (
        card[:edge], card[-edge:], card[:, :edge], card[:, -edge:], card[:, left - 12 : left - 2],
    )  # fmt: skip
    return all(
        (np.abs(strip.astype(int) - ImageColor.getrgb(GROUND)) <= 8).all() for strip in strips
    )


def test_no_text_leaves_the_card_or_meets_the_pictures() -> None:
    red = (drawing(["#ff0000"] * 4),)
    assert [
        title
        for title in TITLES
        if not has_clear_edges(pixels(encode(Content(title, (title, title), red))))
    ] == []


def drawing(colours: list[str]) -> bytes:
    """A drawing with an image of 2 × 2 pixels, row by row."""
    image, file = Image.new("RGB", (2, 2)), io.BytesIO()
    image.putdata([ImageColor.getrgb(colour)[:3] for colour in colours])
    image.save(file, format="PNG")
    return b'<svg><image href="data:image/png;base64,%s"/></svg>' % base64.b64encode(
        file.getvalue()
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_pictures_are_shown_upright_and_whole(count: int) -> None:
    card = pixels(encode(Content("Title", (), (drawing(list(CORNERS)),) * count)))
    card = card[:, SIZE[0] // 2 :].astype(int)
    of_corners = [
        np.argwhere(np.abs(card - ImageColor.getrgb(colour)).max(axis=2) < 24) for colour in CORNERS
    ]
    # A quarter of each square.
    area = [392**2, 2 * 188**2, 3 * 188**2, 4 * 188**2][count - 1] / 4
    assert len(of_corners[0]) == pytest.approx(area, rel=0.05)
    (top, left), (_, right), (bottom, _), _ = (places.mean(axis=0) for places in of_corners)
    assert (top < bottom, left < right) == (True, True)


def test_values_are_shown_one_point_each_from_the_left_to_the_right() -> None:
    card = pixels(encode(Content("Title", (), values=(1.0, 2.0, 10.0))))
    places = np.argwhere(np.abs(card.astype(int) - ImageColor.getrgb(VALUES)).max(axis=2) < 8)
    columns = np.unique(places[:, 1])
    points = np.split(columns, np.flatnonzero(np.diff(columns) > 20) + 1)
    heights = [-places[np.isin(places[:, 1], point)][:, 0].mean() for point in points]
    assert len(points) == 3
    assert (heights[2] - heights[0]) / (heights[1] - heights[0]) == pytest.approx(9, rel=0.1)


def test_of_many_values_both_ends_are_shown(atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {("decay_with_distance", "half"): [float(number) for number in range(1000)]}
    monkeypatch.setattr(cards, "values_of", lambda _: values)
    analysis = next(one for one in atlas.analyses if one.key == "decay_with_distance")
    card = cards.of_analysis(atlas, analysis, Metric("half", "Half way", 1.0))
    make: Any = card and card.make
    [content] = make.args
    assert (content.values[0], content.values[-1], len(content.values)) == (
        0.0, 999.0, cards.MOST_VALUES,
    )  # fmt: skip
    assert list(content.values) == sorted(set(content.values))
