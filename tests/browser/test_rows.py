"""Analyses of a checkpoint's page as rows: closed at first, opened by a press, by an address, all
at once, and on paper.
"""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

pytestmark = pytest.mark.samples

PAGE = "checkpoints/all-minilm-l6-v2.html"
HEIGHT = "document.documentElement.scrollHeight"


def row(page: Page, analysis: str) -> Locator:
    return page.locator(f"details.pa-row:has(#encoder-learned-{analysis})")


def n_open(page: Page) -> int:
    return page.locator("details.pa-row[open]").count()


@pytest.fixture
def shown(own_page: Page, address: str) -> Page:
    """The page on a wide screen."""
    own_page.set_viewport_size({"width": 1440, "height": 900})
    own_page.goto(f"{address}/{PAGE}")
    own_page.locator("html.js").wait_for()
    return own_page


def test_rows_are_closed_and_the_page_is_short(shown: Page) -> None:
    rows = shown.locator("details.pa-row")
    assert rows.count() > 12
    assert n_open(shown) == 0
    assert shown.evaluate(HEIGHT) <= 6000
    for one in rows.all():
        said = one.locator(".pa-row-says").inner_text()
        assert 10 < len(said) < 160, said


def test_a_first_screen_has_shape_table_and_curve(shown: Page) -> None:
    lead = shown.locator(".pa-findings li").first
    assert lead.inner_text().startswith("The positions run round a circle")
    assert "Nobody programmed that" in lead.inner_text()
    pictures = shown.locator(".pa-trio > figure")
    assert pictures.count() == 3
    for picture in pictures.all():
        box = picture.bounding_box()
        assert box is not None
        assert box["y"] < 700
    marks = shown.locator(".pa-mark")
    assert marks.all_inner_texts() == ["0", "127", "510–511"]
    for mark in marks.all():  # Whole, within their figure.
        inside = "one => one.getBoundingClientRect().right"
        outer = shown.locator(".pa-map").evaluate(inside)
        assert mark.evaluate(inside) <= outer + 0.5


def test_a_press_opens_a_row(shown: Page) -> None:
    one = row(shown, "seams")
    one.locator("summary").first.click(position={"x": 5, "y": 5})
    expect(one.locator("figure").first).to_be_visible()
    assert n_open(shown) == 1


@pytest.mark.parametrize(
    "anchor", ["seams", "seams.typical", "seams-neighbours", "principal_components"]
)
def test_an_address_opens_the_row_that_it_leads_into(
    anchor: str, own_page: Page, address: str
) -> None:
    own_page.goto(f"{address}/{PAGE}#encoder-learned-{anchor}")
    target = own_page.locator(f"[id='encoder-learned-{anchor}']")
    expect(own_page.locator("details.pa-row[open]")).to_have_count(1)
    assert target.evaluate("one => one.closest('details').open")
    expect(target).to_be_in_viewport()
    own_page.wait_for_function(  # Below the header of the page.
        "id => document.getElementById(id).getBoundingClientRect().top > 48",
        arg=f"encoder-learned-{anchor}",
    )


def test_a_link_on_the_page_opens_a_row_again(shown: Page) -> None:
    link = shown.locator(".pa-rests a").first
    for _ in range(2):
        link.click()
        opened = shown.locator("details.pa-row[open]")
        expect(opened).to_have_count(1)
        opened.evaluate("one => { one.open = false }")


def test_one_button_opens_all_and_closes_them(shown: Page) -> None:
    button = shown.locator(".pa-open-all button")
    count = shown.locator("details.pa-row").count()
    expect(button).to_have_text(f"Open all {count}")
    button.click()
    assert n_open(shown) == count
    expect(button).to_have_text("Close all")
    button.click()
    assert n_open(shown) == 0


def test_paper_shows_what_is_folded_and_the_screen_is_as_before(shown: Page) -> None:
    count = shown.locator("details.pa-row").count()
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(shown.locator("details.pa-row[open]")).to_have_count(count)
    pictures = shown.locator("details.pa-row figure img")
    assert pictures.count() >= count
    expect(pictures.last).to_be_visible()
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(shown.locator("details.pa-row[open]")).to_have_count(0)


def test_without_scripts_rows_open_and_paper_shows_them(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}/{PAGE}")
        figure = row(page, "seams").locator("figure").first
        expect(figure).to_be_hidden()
        page.emulate_media(media="print")
        expect(figure).to_be_visible()
        page.emulate_media(media="screen")
        row(page, "seams").locator("summary").first.click(position={"x": 5, "y": 5})
        expect(figure).to_be_visible()


def test_names_for_ears_are_words_alone(shown: Page) -> None:
    """Without the signs and links beside them."""
    heading = shown.get_by_role("heading", name="Seams", exact=True)
    expect(heading).to_have_count(1)
    row(shown, "seams").evaluate("one => { one.open = true }")
    name = "Median cosine of adjacent positions"
    expect(shown.get_by_role("rowheader", name=name, exact=True)).to_have_count(1)
    empty = shown.locator("dd").evaluate_all("all => all.filter(one => !one.textContent.trim())")
    assert empty == []


def test_paper_has_a_finding_and_a_figure_of_each_analysis(shown: Page) -> None:
    where = shown.locator(".pa-on-paper")
    expect(where).to_be_hidden()
    sheets = re.findall(rb"/Type\s*/Page\b", shown.pdf(format="A4"))
    assert 1 < len(sheets) <= 12
    shown.emulate_media(media="print")
    expect(where).to_contain_text("checkpoints/all-minilm-l6-v2.html")
    for one in shown.locator("details.pa-analysis").all():
        expect(one.locator(".pa-row-says")).to_be_visible()
        assert one.locator("figure:visible").count() == 1
        assert one.locator("table:visible").count() == 0
