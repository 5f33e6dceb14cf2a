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


def test_the_table_begins_high_and_its_rows_have_two_lines(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}/{KIND}")
    box = page.locator(".pa-models tbody tr").first.bounding_box()
    assert box
    assert box["y"] < 640
    rows = page.locator(".pa-models tbody tr")
    heights = rows.evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
    assert max(heights) < 3 * 18


def test_filters_that_an_address_names_are_unfolded(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    assert page.locator(".pa-filter > label:visible").count() == 4
    assert page.locator("[name=maker]").is_hidden()
    page.goto("about:blank")
    page.goto(f"{address}/{KIND}#maker=Google")
    assert page.locator("[name=maker]").is_visible()


def test_three_versions_of_mistral_stand_side_by_side_in_two_clicks(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/index.html")
    page.locator(f"a[href$='{KIND}']:visible").first.click()
    page.get_by_role("link", name="Side by side").click()
    heads = page.locator(".pa-beside thead th")
    assert [name.split("-")[-1] for name in heads.all_inner_texts()[1:]] == ["v0.1", "v0.2", "v0.3"]


def test_the_models_side_by_side_stay_in_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}/models/compare.html")
    page.get_by_label("Model 4").select_option("Qwen/Qwen3-8B")
    expect(page).to_have_url(re.compile("#models=.*Qwen%2FQwen3-8B$"))
    expect(page.locator(".pa-beside thead th").last).to_have_text("Qwen3-8B")
    page.goto("about:blank")
    page.goto(f"{address}/models/compare.html?models=Qwen/Qwen3-8B,openai/gpt-oss-20b")
    expect(page.locator(".pa-beside thead th")).to_have_count(3)
    base = page.locator(".pa-beside tr", has_text="Rotary base")
    assert base.locator("td").all_inner_texts() == ["1,000,000", "150,000"]
    expect(base).to_have_class("pa-differs")
