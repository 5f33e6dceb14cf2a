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
    expect(page).to_have_url(re.compile("#sort=context-$"))
    there = page.url
    page.goto("about:blank")
    page.goto(there)
    assert names(page)[0] == LONGEST[0]
    assert set(names(page)[1:3]) == set(LONGEST[1:])


def test_an_address_of_before_columns_had_names_sorts_by_the_same_one_or_by_none(
    page: Page, address: str
) -> None:
    for former, head in (("2-", "Configured context"), ("3-", None), ("99", None)):
        page.goto("about:blank")
        page.goto(f"{address}/{KIND}#sort={former}")
        expect(page.locator(".pa-filter output")).to_be_visible()
        assert [one.split("\n")[0] for one in page.locator("[aria-sort]").all_inner_texts()] == (
            [head] if head else []
        )


def test_what_a_context_costs_is_shown_for_the_length_that_is_chosen(
    page: Page, address: str
) -> None:
    page.goto(f"{address}/{KIND}#sort=cache-")
    caption, asks = page.locator(".pa-models caption"), page.locator("[data-pa-ask]")
    expect(caption).to_have_text("Published configs, by KV cache per token, bf16, descending")
    expect(asks).to_be_visible()
    page.locator("[name=context]").select_option("8192")
    expect(caption).to_have_text("Published configs, by KV cache of 8,192 tokens, descending")
    expect(asks).to_be_hidden()
    rows = page.locator(".pa-models tbody tr:visible")
    costs = [
        float(one)
        for one in rows.evaluate_all("rows => rows.map(one => one.cells[3].dataset.value ?? 0)")
    ]
    assert costs == sorted(costs, reverse=True)
    page.locator("[name=words]").fill("google gemma-2-9b")
    # 21 layers keep all and 21 the last 4,096 positions; 8 heads of 256 for keys, as for values.
    by_hand = 21 * 2 * 8 * 256 * 2 * (8192 + 4096)
    cell = page.locator(".pa-models tbody tr:visible td:nth-child(4)")
    assert float(cell.first.get_attribute("data-value") or 0) == by_hand
    expect(cell.first).to_have_text("2.114 GB (1.969 GiB)", use_inner_text=True)
    expect(cell.locator("small").first).to_be_hidden()


def test_a_filter_that_leaves_nothing_says_what_to_do(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}#words=no+such+model")
    line = page.locator("[data-pa-none]")
    expect(line.get_by_role("link")).to_have_attribute(
        "href", "guide/quick-start.html#add-your-own-row"
    )
    expect(page.locator(".pa-models thead")).to_be_hidden()
    line.get_by_role("button").click()
    expect(line).to_be_hidden()
    assert len(names(page)) == len(MODELS)


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
    heads = page.locator(".pa-compared thead th")
    expect(heads).to_have_count(4)  # The page is there.
    assert [name.split("-")[-1] for name in heads.all_inner_texts()[1:]] == ["v0.1", "v0.2", "v0.3"]


def test_the_models_side_by_side_stay_in_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}/models/compare.html")
    field = page.get_by_label("Model 4")
    field.fill("qwen3-")
    expect(page.locator(".pa-compared thead th")).to_have_count(4)  # No model has that name.
    field.fill("qwen3-8b")
    expect(page).to_have_url(re.compile("#models=.*Qwen%2FQwen3-8B$"))
    expect(page.locator(".pa-compared thead th").last).to_have_text("Qwen3-8B")
    page.goto("about:blank")
    page.goto(f"{address}/models/compare.html?models=Qwen/Qwen3-8B,openai/gpt-oss-20b")
    expect(page.locator(".pa-compared thead th")).to_have_count(3)
    base = page.locator(".pa-compared tr", has_text="Rotary base")
    assert base.locator("td").all_inner_texts() == ["1,000,000", "150,000"]
    expect(base).to_have_class("pa-differs")
    commands = page.locator(".pa-compared td code")
    assert {text.split()[0] for text in commands.all_inner_texts()} == {"vllm"}
    expect(page.locator(".pa-compared tr", has_text="Scaling")).to_be_visible()
    page.goto(f"{address}/models/compare.html#models=Qwen/Qwen3-8B,Qwen/Qwen3-0.6B")
    expect(page.locator(".pa-compared tr", has_text="Scaling")).to_be_hidden()


def test_a_row_is_two_lines_on_a_phone_and_whole_after_a_press(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 375, "height": 900})
    page.goto(f"{address}/{KIND}")
    rows = page.locator(".pa-models tbody tr")
    heights = rows.evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
    assert max(heights) < 60
    row = rows.first
    more = row.locator("td").nth(4)  # How its layers mix positions.
    is_cut = """(one, row) => {
        const [inner, outer] = [one, row].map(each => each.getBoundingClientRect());
        return inner.bottom > outer.bottom || inner.right > outer.right;
    }"""
    assert more.evaluate(is_cut, row.element_handle())
    row.click(position={"x": 330, "y": 20})
    assert not more.evaluate(is_cut, row.element_handle())
    row.click(position={"x": 330, "y": 20})
    row.locator("a").first.focus()
    page.keyboard.press("Shift")  # A key, so that the focus is seen.
    assert not more.evaluate(is_cut, row.element_handle())


def test_a_cell_that_is_cut_is_whole_after_a_press_and_by_key(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}/{KIND}")
    is_cut = "one => one.scrollWidth > one.clientWidth"
    rows = page.locator(".pa-models tbody tr")
    cut = f"rows => rows.findIndex(row => [...row.querySelectorAll('small')].some({is_cut}))"
    row = rows.nth(rows.evaluate_all(cut))
    notes = row.locator("small")
    assert any(note.evaluate(is_cut) for note in notes.all())
    row.locator("td").nth(4).click()
    assert not any(note.evaluate(is_cut) for note in notes.all())


def test_without_javascript_rows_on_a_phone_are_whole(without_scripts: Page, address: str) -> None:
    without_scripts.set_viewport_size({"width": 375, "height": 900})
    without_scripts.goto(f"{address}/{KIND}")
    row = without_scripts.locator(".pa-models tbody tr").first
    assert row.evaluate("row => row.scrollHeight <= row.clientHeight + 1")
