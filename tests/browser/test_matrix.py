"""The table of all encodings: its filter, its pins, and what is left of both without JavaScript."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.samples
KIND = "checkpoints/index.html"


def names(page: Page) -> list[str]:
    return page.locator(".pa-matrix tbody tr:visible th a:not(.pa-permalink)").all_inner_texts()


def test_rows_are_filtered_by_name_scheme_and_family(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    every = len(names(page))
    page.locator(".pa-filter [name=scheme]").select_option(label="Rotary")
    assert 0 < len(names(page)) < every
    page.locator(".pa-filter [name=name]").fill("llama 2")
    assert names(page) == ["Llama 2, 7B"]
    page.locator(".pa-filter [name=family]").select_option("bloom")
    assert names(page) == []
    assert page.locator(".pa-filter output").inner_text() == f"0 of {every} encodings"


def test_a_pinned_row_stays_first_and_in_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    pin = page.get_by_role("button", name="Pin Llama 2, 7B to the top")
    pin.click()
    expect(pin).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Sort by Half way to its far level").click()
    page.locator(".pa-filter [name=name]").fill("mistral")
    assert names(page) == ["Llama 2, 7B", "Mistral 7B, v0.1"]
    page.goto("about:blank")
    page.goto(f"{address}/{KIND}#pin=mistral-7b-v0-1/decoder-rotary,llama-2-7b/decoder-rotary")
    assert names(page)[:2] == ["Mistral 7B, v0.1", "Llama 2, 7B"]


def test_an_address_that_is_not_encoded_pins_nothing(page: Page, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{address}/{KIND}#pin=%")
    expect(page.locator(".pa-filter")).to_be_visible()
    assert page.locator(".pa-pin[aria-pressed=true]").count() == 0
    assert len(names(page)) > 1


def test_a_row_that_is_no_longer_pinned_goes_back_to_its_place(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    order, pin = names(page), page.get_by_role("button", name="Pin Llama 2, 7B to the top")
    pin.click()
    assert names(page) != order
    pin.press("Enter")  # It is in focus; what lies below a pointer moves while the page scrolls.
    assert names(page) == order
    expect(page).not_to_have_url(re.compile("#"))


def test_numbers_are_sorted_as_numbers(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    page.get_by_role("button", name="Sort by Longest wavelength").click()
    column = page.locator(".pa-matrix [aria-sort]").evaluate("heading => heading.cellIndex")
    cells = page.locator(f".pa-matrix tbody tr :nth-child({column + 1})").all_inner_texts()
    values = [float(text.replace(",", "")) for text in cells if text[0].isdigit()]
    assert values == sorted(values)
    assert len(values) > 5


def test_the_table_scrolls_with_its_page_and_its_heading_stays(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(f"{address}/{KIND}")
    sheet, head = page.locator(".pa-matrix"), page.locator(".pa-matrix thead")
    assert sheet.evaluate("sheet => sheet.scrollHeight - sheet.clientHeight") <= 0
    page.locator(".pa-matrix tbody tr").last.scroll_into_view_if_needed()
    bar = page.locator(".md-header").bounding_box()
    assert bar
    expect(head).to_be_in_viewport()
    page.wait_for_timeout(500)  # Tabs go away.
    box = head.bounding_box()
    assert box
    assert box["y"] == pytest.approx(bar["y"] + bar["height"], abs=1.0)


def test_without_javascript_it_is_a_plain_table(without_scripts: Page, address: str) -> None:
    without_scripts.goto(f"{address}/{KIND}")
    assert without_scripts.locator(".pa-filter").is_hidden()
    assert without_scripts.locator(".pa-matrix button").count() == 0
    assert len(names(without_scripts)) > 20
