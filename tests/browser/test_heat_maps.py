"""Heat maps of a table: picked values at first, every value once zoomed."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from generator.figures.style import DIVERGING, STOPS
from generator.numerics.arrays import Floats, root_mean_square

pytestmark = pytest.mark.samples

PAGE = "checkpoints/all-minilm-l6-v2.html"
ARRAYS = "data/all-minilm-l6-v2/encoder-learned.npz"
NEARER = 6  # Times that the view is halved.


@pytest.fixture
def table(built: Path) -> Iterator[Floats]:
    """The table in units of its root mean square."""
    with np.load(built / "site" / ARRAYS) as stored:
        vectors = stored["whole_table.vectors"].astype(np.float64)
        yield vectors / root_mean_square(vectors)


def heat_map(page: Page, address: str) -> Locator:
    page.goto(f"{address}/{PAGE}#encoder-learned-whole_table-heatmap")
    figure = page.locator("figure[id$=whole_table-heatmap]").first
    figure.scroll_into_view_if_needed()
    figure.locator(".pa-live canvas").first.wait_for()
    figure.locator(".pa-frame").first.focus()
    return figure


def moved_to(page: Page, figure: Locator, key: str) -> tuple[int, int, float]:
    """Position, dimension and value at the cursor after a key."""
    page.keyboard.press(key)
    title = figure.locator(".pa-tip-title").first.inner_text()
    found = re.fullmatch(r"position (\d+), dimension (\d+)", title)
    assert found is not None, title
    value = figure.locator(".pa-panel-value").first.inner_text().replace("−", "-")
    return int(found[1]), int(found[2]), float(value)


def test_cells_are_values_of_single_positions(page: Page, address: str, table: Floats) -> None:
    figure = heat_map(page, address)
    for key in ("ArrowDown", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown"):
        position, dimension, value = moved_to(page, figure, key)
        assert value == pytest.approx(
            table[position, dimension], abs=0.07
        )  # Of the range, one of 4,094 levels.


def test_zoomed_in_every_value_is_shown_until_reset(
    page: Page, address: str, table: Floats
) -> None:
    figure = heat_map(page, address)
    for _ in range(NEARER):
        page.keyboard.press("+")
    expect(figure.locator(".pa-in-view")).to_have_text("Every value in view is shown.")
    places = [moved_to(page, figure, "ArrowRight") for _ in range(4)]
    assert np.diff([dimension for _, dimension, _ in places]).tolist() == [1, 1, 1]
    for position, dimension, value in places:
        assert value == pytest.approx(table[position, dimension], abs=1e-4)
    page.keyboard.press("Escape")
    expect(figure.locator(".pa-in-view")).to_be_empty()
    steps = np.diff([moved_to(page, figure, "ArrowRight")[1] for _ in range(9)])
    assert set(steps[::2].tolist()) == {1} or set(steps[1::2].tolist()) == {1}  # Whole pairs.
    assert steps.max() > 1


def test_labels_say_how_many_are_drawn_of_what_is_in_view(page: Page, address: str) -> None:
    page.add_init_script("""window.written = new Set();
        const draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
            written.add(text);
            return draw.call(this, text, ...more);
        };""")
    figure = heat_map(page, address)
    texts = page.evaluate("[...written]")
    assert {"dimension, 140 of 384 drawn, in pairs", "position, 141 of 512 drawn"} <= set(texts)
    page.evaluate("written.clear()")
    page.keyboard.press("+")
    expect(figure.locator(".pa-in-view")).not_to_be_empty()
    expect(figure.locator(".pa-in-view")).not_to_have_text("Loading the whole table …")
    counts = [
        int(count)
        for text in page.evaluate("[...written]")
        for count in re.findall(r"dimension, (\d+) of 384 drawn", text)
    ]
    assert counts[-1] > 140


# Mean of the middle of a heat map, from 0 to 255.
BRIGHTNESS = """figure => {
    const canvas = figure.querySelector(".pa-live canvas");
    const [x, y] = [canvas.width / 4, canvas.height / 4].map(Math.round);
    const { data } = canvas.getContext("2d").getImageData(x, y, 2 * x, 2 * y);
    const parts = data.filter((_, index) => index % 4 < 3);
    return parts.reduce((sum, part) => sum + part, 0) / parts.length;
}"""


def test_a_diverging_map_is_dark_in_the_middle_on_a_dark_page(page: Page, address: str) -> None:
    """The hues stay: positive is red and negative blue."""
    figure = heat_map(page, address)
    assert figure.evaluate(BRIGHTNESS) > 140
    page.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    page.wait_for_timeout(500)
    assert figure.evaluate(BRIGHTNESS) < 115
    middle, red, blue = (
        page.evaluate("([map, share]) => atlas.shade(atlas.colormap(map, true), share)", [map_, at])
        for map_, at in ((STOPS[DIVERGING], share) for share in (0.5, 0.75, 0.25))
    )
    assert max(middle) < 20
    assert (red[0] > 2 * red[2], blue[2] > 2 * blue[0]) == (True, True)
    bar = figure.locator(".pa-bar").first
    assert "invert" in bar.evaluate("bar => getComputedStyle(bar).filter")


def test_without_the_file_the_figure_says_so_and_keeps_its_values(page: Page, address: str) -> None:
    page.route("**/*.npz", lambda route: route.abort())
    figure = heat_map(page, address)
    page.keyboard.press("+")
    expect(figure.locator(".pa-in-view")).to_have_text(
        "The whole table could not be loaded, so the figure still shows only the selected values."
    )


def test_a_page_from_a_disk_says_why_it_shows_no_more(own_page: Page, built: Path) -> None:
    figure = heat_map(own_page, (built / "site").as_uri())
    own_page.keyboard.press("+")
    expect(figure.locator(".pa-in-view")).to_have_text(
        "A page opened from disk may not load the whole table, so the figure still shows only the"
        " selected values."
    )
