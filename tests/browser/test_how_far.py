"""How far models see: the filter by a number, which stays in the address, and the list without
scripts.
"""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from generator.encyclopedia.known_models import known_models

pytestmark = pytest.mark.samples
MODELS = list(known_models())
KIND = "models/how-far.html"
FIELD = ".pa-filter [name=sees]"


def lengths(page: Page) -> list[int | None]:
    rows = page.locator(".pa-far tbody tr:not([hidden])").all()
    texts = [row.get_attribute("data-sees") for row in rows]
    return [int(text) if text else None for text in texts]


def test_a_number_leaves_models_that_see_as_far_by_address(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    everything = lengths(page)
    assert len(everything) == len(MODELS)
    page.locator(FIELD).fill("200000")
    expected = [length for length in everything if length is not None and length >= 200_000]
    assert lengths(page) == expected
    assert page.locator(".pa-far tbody tr:visible").count() == len(expected)
    assert f"{len(expected)} of {len(everything)} models" == (
        page.locator(".pa-filter output").inner_text()
    )
    expect(page).to_have_url(re.compile("#sees=200000$"))
    assert f"{len(expected)} of {len(everything)} models" in page.locator(".pa-lead").inner_text()
    there = page.url
    page.goto("about:blank")
    page.goto(there)
    expect(page.locator(FIELD)).to_have_value("200000")
    assert lengths(page) == expected
    page.locator(FIELD).fill("")
    assert len(lengths(page)) == len(everything)
    expect(page).not_to_have_url(re.compile("#"))


def test_a_name_opens_the_range_that_has_the_model(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    title = page.locator(".pa-far tbody th a").last.text_content() or ""
    expect(page.get_by_role("link", name=title, exact=True)).to_be_hidden()
    page.locator(".pa-filter [name=q]").fill(title)
    expect(page.get_by_role("link", name=title, exact=True)).to_be_visible()


def test_the_page_takes_few_screens_of_a_phone(browser: Browser, address: str) -> None:
    with browser.new_context(viewport={"width": 375, "height": 812}, has_touch=True) as context:
        page = context.new_page()
        page.goto(f"{address}/{KIND}")
        assert page.evaluate("document.documentElement.scrollHeight") <= 12 * 812


def test_without_scripts_every_row_is_there_in_order(without_scripts: Page, address: str) -> None:
    without_scripts.goto(f"{address}/{KIND}")
    assert without_scripts.locator(".pa-filter").is_hidden()
    found = lengths(without_scripts)
    assert len(found) == len(MODELS)
    known = [length for length in found if length is not None]
    assert known == sorted(known, reverse=True)
    assert found[: len(known)] == known


@pytest.mark.parametrize("width", [375, 1280])
def test_bars_fit_and_end_where_the_axis_says(width: int, browser: Browser, address: str) -> None:
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    page.goto(f"{address}/{KIND}")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    ends = page.locator(".pa-far tbody tr:first-child td:nth-child(5)").first.evaluate(
        "cell => { const box = cell.getBoundingClientRect(); return [...cell.children].map(bar =>"
        " (bar.getBoundingClientRect().right - box.left) / box.width) }"
    )
    assert ends == pytest.approx([1.0, 0.559, 0.559], abs=0.01)  # log10(8,192) / 7
    page.close()
