"""The table of models: all rows, facets, order and address, and what is left without scripts."""

import re

import pytest
from playwright.sync_api import Page, expect

from generator.encyclopedia.known_models import known_models

pytestmark = pytest.mark.samples
MODELS = list(known_models())
KIND = "models.html"
LONGEST = ["Llama-4-Scout-17B-16E-Instruct", "MiniMax-M1-80k", "MiniMax-Text-01"]


def names(page: Page) -> list[str]:
    cells = page.locator(".pa-models tbody tr:visible th").all_inner_texts()
    return [cell.split()[0] for cell in cells]


def count(page: Page) -> tuple[int, int]:
    shown, _, total, _ = page.locator(".pa-filter output").inner_text().split()
    return int(shown), int(total)


def test_facets_narrow_the_rows_and_stay_in_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    shown, total = count(page)
    assert shown == total == len(names(page)) == len(MODELS)
    page.locator("[name=kind]").select_option("chunks")
    assert sorted(names(page)) == [
        "Llama-4-Maverick-17B-128E-Instruct-FP8",
        "Llama-4-Scout-17B-16E-Instruct",
    ]
    page.locator("[name=words]").fill("meta-llama scout")
    assert names(page) == LONGEST[:1]
    expect(page).to_have_url(re.compile("words="))
    there = page.url
    page.goto("about:blank")
    page.goto(there)
    assert names(page) == LONGEST[:1]


def test_every_facet_leaves_those_that_have_it(page: Page, address: str) -> None:
    for name, value in (
        ("scheme", "ALiBi"),
        ("kind", "recurrent state"),
        ("context", "262144"),
        ("year", "2025"),
        ("maker", "Google"),
        ("input", "sound"),
        ("base", "500000"),
        ("original", "32768"),
        ("cache", "65536"),
        ("heads", "4"),
        ("parameters", "1000000000"),
        ("config", "from knowledge"),
    ):
        page.goto("about:blank")
        page.goto(f"{address}/{KIND}#{name}={value}")
        shown, total = count(page)
        assert 0 < shown < total / 2, name
        assert page.locator(f"[name={name}]").input_value() == value


def test_the_order_is_in_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    button = page.locator(".pa-models thead th").nth(2).get_by_role("button")
    button.click()
    button.click()
    expect(page).to_have_url(re.compile("#sort=2-$"))
    there = page.url
    page.goto("about:blank")
    page.goto(there)
    assert names(page)[0] == LONGEST[0]
    assert set(names(page)[1:3]) == set(LONGEST[1:])


def test_without_javascript_every_row_is_there(without_scripts: Page, address: str) -> None:
    without_scripts.goto(f"{address}/{KIND}")
    assert without_scripts.locator(".pa-filter").is_hidden()
    assert len(names(without_scripts)) == len(MODELS)


def test_the_table_is_wide_and_its_heading_stays_in_sight(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    sheet, head = page.locator(".pa-sheet"), page.locator(".pa-models thead th").first
    sheet.scroll_into_view_if_needed()
    box, before = sheet.bounding_box(), head.bounding_box()
    assert box
    assert box["width"] > 1200
    sheet.evaluate("sheet => { sheet.scrollTo(150, 0); scrollTo(0, 5000) }")
    assert sheet.evaluate("sheet => sheet.scrollLeft > 0")
    page.wait_for_timeout(500)  # Tabs go away.
    after, bar = head.bounding_box(), page.locator(".md-header").bounding_box()
    assert before
    assert after
    assert bar
    assert after["x"] == before["x"]
    assert after["y"] == pytest.approx(bar["y"] + bar["height"], abs=1.0)
