"""Figures that answer: values, switches, zoom and turns, and what readers take away."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from generator.numerics.arrays import Floats, cosine_matrix

pytestmark = pytest.mark.samples

MEASURE = "checkpoints/all-minilm-l6-v2.html"
ARRAYS = "site/data/all-minilm-l6-v2/encoder-learned.npz"
NAME = "all-MiniLM-L6-v2"


@pytest.fixture
def arrays(built: Path) -> "Iterator[np.lib.npyio.NpzFile[Any]]":
    with np.load(built / ARRAYS) as stored:
        yield stored


def norms_of(arrays: Any) -> Floats:
    """Norms of the vectors of the table."""
    return np.asarray(np.linalg.norm(arrays["whole_table.vectors"].astype(np.float64), axis=1))


def alive(page: Page, address: str, name: str) -> Locator:
    """A figure of MiniLM's measures that has come alive."""
    page.goto(f"{address}/{MEASURE}")
    return drawn(page.locator(f"#encoder-learned-{name}"))


def drawn(figure: Locator) -> Locator:
    figure.evaluate(
        "one => { const row = one.closest('details.pa-row'); if (row) row.open = true }"
    )
    figure.scroll_into_view_if_needed()
    figure.locator(".pa-live canvas").first.wait_for()
    return figure


def value_of(figure: Locator, name: str) -> float:
    """The value of a series in the list at the cursor."""
    row = figure.locator(".pa-tip:visible .pa-tip-row", has_text=name).first
    return float(row.locator("b").inner_text().replace("−", "-").replace(",", ""))


def test_the_picture_gives_way_to_the_live_figure(page: Page, address: str) -> None:
    figure = alive(page, address, "vector_norms-lines")
    assert figure.locator("img").is_hidden()
    page.emulate_media(media="print")
    assert figure.locator("img").is_visible()
    assert figure.locator(".pa-live").is_hidden()


def test_a_band_with_gaps_is_filled_beside_them(page: Page, address: str) -> None:
    """MiniMax's recurrent layers, of which every eighth attends instead."""
    page.goto(f"{address}/checkpoints/minimax-text-01.html")
    figure = drawn(page.locator("figure[id$=exponential_decay-layers]"))
    filled = figure.locator(".pa-live canvas").first.evaluate("""canvas => {
            const [width, height] = [canvas.width, canvas.height];
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            const inked = (row, at) => data[4 * (row * width + at) + 3] > 0;
            const rows = [...Array(height).keys()];
            const column = at => rows.filter(row => inked(row, at)).length;
            return Array.from({ length: width }, (_, at) => column(at) / height);
        }""")
    inside = np.array(filled)[len(filled) // 4 : len(filled) // 2]
    assert 0.6 < np.mean(inside > 0.3) < 1.0


def test_a_bin_between_two_gaps_is_as_wide_as_one(page: Page, address: str) -> None:
    """Bins 20 pixels wide around 30, 50 … 110, of which the second and the fourth are missing: what
    is opaque in their middles and near their ends.
    """
    alive(page, address, "vector_norms-lines")  # Its script has been loaded.
    opaque = page.evaluate("""() => {
            const context = document.createElement("canvas").getContext("2d");
            const values = (height) => Float64Array.from([height, NaN, height, NaN, height]);
            const xs = Float64Array.from([0, 1, 2, 3, 4]);
            const band = { kind: "band", colour: "#ff0000", steps: true };
            const mark = { ...band, xs, lows: values(0), highs: values(1) };
            const scales = { x: { to: (x) => 30 + 20 * x }, y: { to: (y) => 50 - 40 * y } };
            const box = { left: 0, top: 0, width: 200, height: 60 };
            const view = { ...scales, box, theme: {} };
            atlas.drawMark(context, mark, view, false);
            const inked = (x, y) => context.getImageData(x, y, 1, 1).data[3] > 0;
            const filled = (x) => [15, 30, 45].every((y) => inked(x, y));
            return [70, 50, 90].map((middle) => [-8, 0, 8].map((side) => filled(middle + side)));
        }""")
    assert opaque == [[True] * 3, [False] * 3, [False] * 3]


def test_without_javascript_the_picture_stays(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}/{MEASURE}#encoder-learned-vector_norms-lines")
        expect(page.locator("#encoder-learned-vector_norms-lines img")).to_be_visible()


def test_keys_move_the_cursor_from_value_to_value(page: Page, address: str, arrays: Any) -> None:
    figure = alive(page, address, "vector_norms-lines")
    figure.locator(".pa-frame").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    norms = norms_of(arrays)
    # Four digits.
    assert value_of(figure, NAME) == pytest.approx(norms[3] / np.median(norms), rel=1e-3)
    assert figure.locator(".pa-tip-title").inner_text() == "position 3"
    assert NAME in figure.locator(".pa-said").inner_text()


def test_the_mouse_shows_values_where_it_points(page: Page, address: str, arrays: Any) -> None:
    figure = alive(page, address, "vector_norms-lines")
    frame = figure.locator(".pa-frame")
    box = frame.bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    position = int(re.sub(r"\D", "", figure.locator(".pa-tip-title").inner_text()))
    norms = norms_of(arrays)
    assert 0.4 * norms.size < position < 0.6 * norms.size
    assert value_of(figure, NAME) == pytest.approx(norms[position] / np.median(norms), rel=1e-3)


def test_the_legend_switches_series_off_and_on(page: Page, address: str) -> None:
    figure = alive(page, address, "vector_norms-lines")
    series = figure.locator(".pa-series", has_text=NAME)
    series.click()
    assert series.get_attribute("aria-pressed") == "false"
    figure.locator(".pa-frame").focus()
    page.keyboard.press("ArrowRight")
    assert figure.locator(".pa-tip-row", has_text=NAME).count() == 0
    series.click()
    figure.locator(".pa-frame").focus()
    page.keyboard.press("ArrowRight")
    assert figure.locator(".pa-tip-row", has_text=NAME).count() == 1


def test_a_figure_is_zoomed_by_dragging_and_reset(page: Page, address: str) -> None:
    figure = alive(page, address, "vector_norms-lines")
    frame, reset = figure.locator(".pa-frame"), figure.get_by_role("button", name="Reset zoom")
    box = frame.bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 60, steps=4)
    page.mouse.up()
    reset.wait_for()
    page.mouse.move(box["x"] + 0.98 * box["width"], box["y"] + 50)
    position = int(re.sub(r"\D", "", figure.locator(".pa-tip-title").inner_text()))
    assert position < 230  # Of 512, where the right edge was the last.
    reset.click()
    assert reset.is_hidden()


def test_keys_zoom_and_escape_resets(page: Page, address: str) -> None:
    figure = alive(page, address, "vector_norms-lines")
    figure.locator(".pa-frame").focus()
    page.keyboard.press("+")
    figure.get_by_role("button", name="Reset zoom").wait_for()
    page.keyboard.press("Escape")
    assert figure.get_by_role("button", name="Reset zoom").is_hidden()


def test_cells_show_the_mean_of_their_block(page: Page, address: str, arrays: Any) -> None:
    page.goto(f"{address}/checkpoints/all-minilm-l6-v2.html")
    figure = drawn(page.locator("#encoder-learned-similarity_of_positions-matrix"))
    figure.locator(".pa-frame").first.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    title = figure.locator(".pa-tip-title").first.inner_text()
    (first, last), (left, right) = (
        map(int, span) for span in re.findall(r"position (\d+)–(\d+)", title)
    )
    expected = cosine_matrix(arrays["whole_table.vectors"].astype(np.float64))[
        first : last + 1, left : right + 1
    ].mean()
    value = figure.locator(".pa-panel-value").first.inner_text()
    assert first > 0
    assert left > first
    # The panel has 4,094 steps from −1 to 1.
    assert float(value.replace("−", "-")) == pytest.approx(expected, abs=2e-3)


def test_the_cursor_over_cells_shows_the_values_of_all_panels(page: Page, address: str) -> None:
    page.goto(f"{address}/analyses/similarity_of_positions.html")
    figure = page.locator(".pa-figure").first
    figure.locator(".pa-frame").first.focus()
    page.keyboard.press("ArrowRight")
    values = figure.locator(".pa-panel-value").all_inner_texts()
    assert len(values) > 1
    assert all(re.fullmatch(r"−?[01](\.\d+)?", value) for value in values)


def test_a_curve_turns_by_keys_and_leaves_the_address_alone(page: Page, address: str) -> None:
    figure = alive(page, address, "principal_components-curve")
    canvas, before = figure.locator("canvas").first, page.url
    first = canvas.evaluate("canvas => canvas.toDataURL()")
    figure.locator(".pa-frame").first.focus()
    page.keyboard.press("ArrowLeft")
    assert canvas.evaluate("canvas => canvas.toDataURL()") != first
    assert page.url == before


def taken(figure: Locator, what: str) -> Path:
    """The file that an entry of the figure's menu saves."""
    page = figure.page
    figure.get_by_role("button", name="Download / cite").click()
    with page.expect_download() as download:
        figure.get_by_role("button", name=what, exact=True).click()
    path = download.value.path().with_name(download.value.suggested_filename)
    download.value.save_as(path)
    return path


def offered(figure: Locator, what: str) -> str:
    """The last text that an entry of the figure's menu offers for copying."""
    figure.get_by_role("button", name="Download / cite").click()
    figure.get_by_role("button", name=what, exact=True).click()
    dialog = figure.page.locator("dialog[open]")
    text = dialog.locator("textarea").last.input_value()
    figure.page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    return text


def test_the_numbers_of_a_figure_can_be_taken_away(page: Page, address: str, arrays: Any) -> None:
    file = taken(alive(page, address, "vector_norms-lines"), "CSV")
    rows = list(csv.DictReader(file.read_text("utf-8").splitlines()))
    norms = norms_of(arrays)
    mine = [float(row["value"]) for row in rows if row["series"] == NAME]
    assert file.name == "all-minilm-l6-v2-encoder-learned-vector_norms-lines.csv"
    assert list(rows[0]) == ["series", "x", "value"]
    np.testing.assert_allclose(mine, norms / np.median(norms), rtol=1e-3)


def test_the_edges_of_a_band_stand_in_the_rows_of_its_line(
    page: Page, address: str, arrays: Any
) -> None:
    """Mean cosine at distance 1, not the mean less the spread."""
    file = taken(alive(page, address, "similarity_by_distance-lines"), "CSV")
    rows = list(csv.DictReader(file.read_text("utf-8").splitlines()))
    vectors = arrays["whole_table.vectors"].astype(np.float64)
    inliers = np.delete(np.arange(len(vectors)), arrays["decay_with_distance.left_out"])
    cosines = np.full((len(vectors), len(vectors)), np.nan)
    cosines[np.ix_(inliers, inliers)] = cosine_matrix(vectors[inliers])
    for distance in (1, 10, 200):
        found = np.diagonal(cosines, distance)
        found = found[~np.isnan(found)]
        (row,) = [row for row in rows if row["series"] == NAME and row["x"] == str(distance)]
        assert float(row["value"]) == pytest.approx(found.mean(), abs=1e-4)
        assert float(row["low"]) == pytest.approx(found.mean() - found.std(), abs=2e-4)
        assert float(row["high"]) == pytest.approx(found.mean() + found.std(), abs=2e-4)


def test_a_live_line_has_its_colour_where_the_numbers_say(page: Page, address: str) -> None:
    figure = alive(page, address, "similarity_by_distance-lines")
    ink = figure.evaluate("""async figure => {
            const [, name] = figure.querySelector(".pa-scroll a").href.split("figures/");
            const data = await atlas.loadFigure(name.replace(/[.]\\w+$/, ""));
            const [canvas] = figure.querySelectorAll("canvas");
            const place = document.createElement("div");
            place.style.width = figure.querySelector(".pa-live").clientWidth + "px";
            document.body.append(place);
            const [panel] = atlas.live(place, data).panels;
            const ratio = canvas.width / panel.width;
            const context = canvas.getContext("2d");
            const [{ name: first }] = data.series;
            const mine = ({ series, value }) => series === first && Number.isFinite(value);
            const alphas = atlas.tidy(data).rows.filter(mine).map(({ x, value }) => {
                const [across, down] = [panel.view.x.to(x), panel.view.y.to(value)];
                const { data } = context.getImageData(across * ratio - 1, down * ratio - 1, 3, 3);
                return Math.max(...data.filter((_, at) => at % 4 === 3));
            });
            place.remove();
            return alphas;
        }""")
    assert len(ink) > 400
    assert min(ink) > 100  # The band alone has 41 of 255.


def test_pictures_are_light_and_say_where_they_are_from(own_page: Page, address: str) -> None:
    from PIL import Image

    own_page.emulate_media(color_scheme="dark")
    figure = alive(own_page, address, "vector_norms-lines")
    picture, slide = taken(figure, "PNG picture"), taken(figure, "PNG slide, 16:9")
    with Image.open(picture) as plain, Image.open(slide) as wide:
        assert (plain.width, wide.size) == (1600, (2560, 1440))
        for image in (plain.convert("RGB"), wide.convert("RGB")):
            assert image.getpixel((2, 2)) == (255, 255, 255)
            assert len(image.getcolors(2**24) or []) > 50
    drawing = ElementTree.parse(taken(figure, "SVG"))  # noqa: S314 (our own)
    text = " ".join(element.text or "" for element in drawing.iter())
    whole = "".join(text.split())  # Long addresses go over two lines.
    for part in (NAME, "licence Apache-2.0", "Position Atlas", MEASURE):
        assert "".join(part.split()) in whole
    assert "samples/" not in whole


def test_the_finding_is_the_title_of_a_slide(page: Page, address: str) -> None:
    figure = alive(page, address, "vector_norms-lines")
    svg = taken(figure, "SVG").read_text("utf-8")
    found = figure.locator("xpath=preceding::p[contains(@class, 'pa-found')][1]").inner_text()
    words = re.findall(r'font-weight="bold"[^>]*>([^<]+)<', svg)
    assert " ".join(words)[:60] in re.sub(r"^\d+\s+", "", found)


def test_lines_of_python_plot_the_numbers_as_they_stand(page: Page, address: str) -> None:
    code = offered(alive(page, address, "vector_norms-lines"), "Copy Python")
    assert f"{address}/data/all-minilm-l6-v2/encoder-learned.npz" in code
    assert len(code.splitlines()) <= 8
    compile(code, "copied", "exec")


def test_a_citation_has_revision_and_version_but_no_address_that_only_this_machine_reaches(
    page: Page, address: str
) -> None:
    figure = alive(page, address, "vector_norms-lines")
    text = offered(figure, "Cite")
    known = page.evaluate("atlas.known")
    encoding = known["encodings"]["all-minilm-l6-v2/encoder-learned"]
    assert text.startswith("@misc{position-atlas-all-minilm-l6-v2-encoder-learned-vector_norms")
    assert "url = " not in text
    parts = (encoding["sha256"], known["version"], known["date"])
    assert [part for part in parts if part not in text] == []
    assert (encoding["id"], "samples/" in text) == (None, False)  # A folder is nobody else's.
    assert f"a copy of {encoding['copy_of']}, revision not known" in text


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (MEASURE, "encoder-learned-rank.within_for_90"),
        ("analyses/rank.html", "all-minilm-l6-v2-encoder-learned-within_for_90"),
    ],
)
def test_a_number_is_cited_at_its_link(page: Page, address: str, path: str, value: str) -> None:
    page.goto(f"{address}/{path}#{value}")
    place = page.locator(f"[id='{value}']")
    place.scroll_into_view_if_needed()
    place.locator(".pa-quote").focus()
    page.keyboard.press("Enter")
    page.locator("dialog[open]").wait_for()
    sentence, bibtex = (area.input_value() for area in page.locator("dialog textarea").all())
    known = page.evaluate("atlas.known")["encodings"]["all-minilm-l6-v2/encoder-learned"]
    digits = re.escape(place.locator("td").first.or_(place).last.inner_text().split()[0])
    assert re.search(rf"{re.escape(known['title'])}: Components for 90% .* = {digits}", sentence)
    assert (sentence.endswith(f". {path}#{value}"), "url = " in bibtex) == (True, False)
    assert f"; {path}\\#{value}" in bibtex.replace("\\_", "_")  # Where no address is known.
    original = "a copy of sentence-transformers/all-MiniLM-L6-v2, revision not known"
    assert (original in sentence, original in bibtex) == (True, True)
    assert known["sha256"] in sentence
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(place.locator(".pa-quote")).to_be_focused()


def test_a_hidden_series_takes_its_marks_along(page: Page, address: str) -> None:
    """The rings and numbers of findings, beside another series that stays."""
    figure = alive(page, address, "similarity_by_distance-lines")
    ink = """figure => {
            const [canvas] = figure.querySelectorAll("canvas");
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            const dark = (at) => data[at + 3] > 200 && data[at] + data[at + 1] + data[at + 2] < 150;
            return [...Array(width * height).keys()].filter((at) => dark(4 * at)).length;
        }"""
    before = figure.evaluate(ink)
    figure.locator(".pa-series", has_text=NAME).click()
    page.mouse.move(0, 0)
    assert before > 20
    assert figure.evaluate(ink) == 0


def test_escape_and_a_choice_close_the_menu_and_the_focus_returns(page: Page, address: str) -> None:
    figure = alive(page, address, "vector_norms-lines")
    opener = figure.get_by_role("button", name="Download / cite")
    opener.focus()
    page.keyboard.press("Enter")
    assert opener.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Tab")
    expect(figure.get_by_role("button", name="PNG picture")).to_be_focused()
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    assert opener.get_attribute("aria-expanded") == "false"
    assert figure.locator(".pa-menu").is_hidden()


def test_what_a_menu_offers_works_from_a_disk_too(own_page: Page, built: Path) -> None:
    own_page.goto((built / "site" / MEASURE).as_uri())
    figure = drawn(own_page.locator("#encoder-learned-vector_norms-lines"))
    for what, ending in (("PNG slide, 16:9", "-slide.png"), ("SVG", ".svg"), ("CSV", ".csv")):
        assert taken(figure, what).name.endswith(ending)
    code = offered(figure, "Copy Python")
    assert "file://" in code
    names: dict[str, Any] = {}
    exec(f"import matplotlib; matplotlib.use('agg')\n{code}", names)  # noqa: S102
    line = names["plt"].gca().lines[0].get_ydata()
    names["plt"].close("all")
    with np.load(built / ARRAYS) as stored:
        norms = norms_of(stored)
    np.testing.assert_allclose(line, norms / np.median(norms))


@pytest.mark.parametrize(
    ("path", "kind"), [("schemes/alibi", ".npz"), ("runs/tiny-gpt-on-this-repository", ".json")]
)
def test_lines_of_python_read_a_file_of_its_own(
    path: str, kind: str, own_page: Page, built: Path
) -> None:
    own_page.goto((built / f"site/{path}.html").as_uri())
    figure = drawn(own_page.locator("figure:has(.pa-live)").first)
    code = offered(figure, "Copy Python")
    assert f'{kind}"' in code
    names: dict[str, Any] = {}
    exec(f"import matplotlib; matplotlib.use('agg')\n{code}", names)  # noqa: S102
    assert names["plt"].gcf().axes
    names["plt"].close("all")


def test_where_sources_cannot_be_loaded_a_sentence_says_so(own_page: Page, address: str) -> None:
    own_page.route("**/data/sources.js", lambda route: route.abort())
    figure = alive(own_page, address, "vector_norms-lines")
    figure.get_by_role("button", name="Download / cite").click()
    figure.get_by_role("button", name="Cite", exact=True).click()
    expect(figure.locator(".pa-done")).to_have_text(
        "Cite: The file with the sources could not be loaded."
    )


def test_a_short_drag_does_not_zoom(page: Page, address: str) -> None:
    figure = alive(page, address, "vector_norms-lines")
    box = figure.locator(".pa-frame").bounding_box()
    assert box
    page.mouse.move(box["x"] + 300, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 318, box["y"] + 60, steps=4)
    page.mouse.up()
    assert figure.locator(".pa-foot > button").is_hidden()


def test_the_menu_takes_the_room_that_was_kept_for_it(own_page: Page, address: str) -> None:
    own_page.route("**/assets/figures.js", lambda route: route.abort())
    own_page.goto(f"{address}/{MEASURE}#encoder-learned-vector_norms-lines")
    caption = own_page.locator("#encoder-learned-vector_norms-lines figcaption")
    expect(caption).to_be_visible()
    before = caption.evaluate("caption => caption.getBoundingClientRect().height")
    own_page.unroute_all()
    alive(own_page, address, "vector_norms-lines")
    after = caption.evaluate("caption => caption.getBoundingClientRect().height")
    assert after == pytest.approx(before, abs=1)


def test_controls_of_a_figure_are_high_enough_for_fingers(own_page: Page, address: str) -> None:
    own_page.set_viewport_size({"width": 375, "height": 800})
    figure = alive(own_page, address, "vector_norms-lines")
    figure.get_by_role("button", name="Download / cite").click()
    heights = figure.locator("button:visible").evaluate_all(
        "buttons => buttons.map(button => button.getBoundingClientRect().height)"
    )
    assert len(heights) > 8
    assert min(heights) >= 24
    assert own_page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_table_shows_the_numbers(page: Page, address: str) -> None:
    figure = alive(page, address, "vector_norms-lines")
    figure.get_by_role("button", name="Table").click()
    assert figure.locator(".pa-below th").all_inner_texts() == ["series", "x", "value"]
    assert "x: position" in figure.locator(".pa-below caption").inner_text()
    assert figure.locator(".pa-below tbody tr").count() > 100


def test_an_embedded_figure_is_a_page_of_its_own(page: Page, address: str) -> None:
    figure = alive(page, address, "vector_norms-lines")
    source = re.search(r'src="([^"]+)"', offered(figure, "Embed"))
    assert source
    foreign: list[str] = []
    page.on(
        "request",
        lambda request: None if request.url.startswith(address) else foreign.append(request.url),
    )
    page.goto(source[1])
    page.locator(".pa-live canvas").first.wait_for()
    assert page.locator("#caption").inner_text().startswith("Euclidean norm")
    page.locator("#source").evaluate("link => link.removeAttribute('target')")
    page.locator("#source").click()
    expect(page).to_have_url(f"{address}/{MEASURE}#encoder-learned-vector_norms-lines")
    assert foreign == []


def test_an_address_of_an_embedded_figure_reaches_nothing_else(page: Page, address: str) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{address}/assets/embed.html#../../secret")
    page.get_by_text("This figure is no longer there.").wait_for()
    assert not any("secret.js" in request for request in requests)


@pytest.mark.parametrize("name", ["%", "%E0%A4%A", "%2", ""])
def test_an_address_that_names_no_figure_says_so(page: Page, address: str, name: str) -> None:
    page.goto("about:blank")
    page.goto(f"{address}/assets/embed.html#{name}")
    page.get_by_text("This figure is no longer there.").wait_for()


def test_the_link_to_a_figure_leads_to_it(page: Page, address: str) -> None:
    figure = alive(page, address, "seams-neighbours")
    page.goto(offered(figure, "Link"))
    page.wait_for_timeout(800)
    box = page.locator("#encoder-learned-seams-neighbours").bounding_box()
    assert box
    assert -50 < box["y"] < 400


def test_on_a_phone_panels_stand_below_one_another(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 375, "height": 800})
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    figure = drawn(page.locator(".pa-figure", has_text="Similarity").last)
    frames = figure.locator(".pa-frame").all()
    boxes = [box for frame in frames if (box := frame.bounding_box())]
    page.close()
    assert len({box["x"] for box in boxes}) == 1
    assert max(box["x"] + box["width"] for box in boxes) <= 375


def test_a_figure_not_yet_drawn_anew_does_not_widen_a_screen(own_page: Page, address: str) -> None:
    own_page.add_init_script(
        "window.ResizeObserver = class { observe() {} unobserve() {} disconnect() {} }"
    )  # No figure hears of the new width.
    figure = alive(own_page, address, "vector_norms-lines")
    assert figure.locator(".pa-frame").evaluate("frame => frame.clientWidth") > 375
    own_page.set_viewport_size({"width": 375, "height": 800})
    assert own_page.evaluate("document.documentElement.scrollWidth") <= 375
