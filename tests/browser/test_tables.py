"""Tables that can be sorted, filtered and downloaded; without JavaScript they are plain tables."""

import csv
import io
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.built import ROOT

NAMES = ("ten", "two", "none", "minus", "tiny", "=formula", 'a "quote", b')
VALUES = ("10", "2", "–", "−1,024.5", "1.2 × 10⁻⁷", "3", '<span title="exact">rounded</span>')
# 1e3 by its data-value is the largest number.
SORTED = ["minus", "tiny", "two", "=formula", "ten", 'a "quote", b', "none"]
ROWS = "".join(
    "<tr><th"
    f' scope="row">{name}</th><td{" data-value=1e3" if "span" in value else ""}>{value}</td></tr>'
    for name, value in zip(NAMES, VALUES, strict=True)
)
HEAD = (
    '<thead><tr><th scope="col">Name</th><th scope="col">Value (<em>logit</em>)</th></tr></thead>'
)
PAGE = f"""<!doctype html><meta charset="utf-8"><title>Tables</title>
<table data-pa-sortable><caption>Some numbers</caption>{HEAD}
<tbody>{ROWS}<tr><th>short</th></tr></tbody></table>
<table><caption>Plain</caption>{HEAD}<tbody>{ROWS}</tbody></table>
<script src="{(ROOT / "site_src/assets/tables.js").as_uri()}"></script>"""


@pytest.fixture
def table(page: Page, tmp_path: Path) -> Page:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    return page


def names(page: Page) -> list[str]:
    return page.locator("table[data-pa-sortable] tbody tr:visible th").all_inner_texts()


def test_numbers_are_sorted_by_value_with_missing_ones_last_in_either_order(table: Page) -> None:
    table.get_by_role("button", name="Value").click()
    assert names(table) == [*SORTED, "short"]
    table.get_by_role("button", name="Value").click()
    assert names(table) == [*SORTED[-2::-1], "none", "short"]


def test_words_are_sorted_alphabetically_and_the_order_is_announced(table: Page) -> None:
    headings = table.locator("table[data-pa-sortable] thead th")
    table.get_by_role("button", name="Name").click()
    assert names(table) == sorted([*NAMES, "short"], key=str.lower)
    expect(headings.first).to_have_attribute("aria-sort", "ascending")
    table.get_by_role("button", name="Value").press("Enter")
    expect(headings.nth(1)).to_have_attribute("aria-sort", "ascending")
    assert headings.first.get_attribute("aria-sort") is None


def test_a_filter_keeps_rows_with_all_words_and_counts_them(table: Page) -> None:
    table.get_by_label("Filter rows").fill("t 1")
    assert names(table) == ["ten", "tiny"]
    expect(table.get_by_role("status")).to_have_text("2 of 8 rows")
    table.get_by_label("Filter rows").fill("")
    assert len(names(table)) == 8
    # A table without the attribute has no buttons.
    assert table.locator("table").nth(1).locator("button").count() == 0


def downloaded(page: Page, name: str) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name).click()
    assert waiting.value.suggested_filename == f"some-numbers.{name.lower()}"
    return Path(waiting.value.path()).read_text(encoding="utf-8")


def test_csv_has_the_rows_in_the_order_shown(table: Page) -> None:
    table.get_by_role("button", name="Value").click()
    rows = list(csv.reader(io.StringIO(downloaded(table, "CSV"))))
    assert rows[0] == ["Name", "Value (logit)"]
    assert [name for name, _ in rows[1:]] == [
        name.replace("=", "'=") for name in [*SORTED, "short"]
    ]
    assert [value for _, value in rows[1:]] == ["-1024.5", "1.2e-7", "2", "3", "10", "1000", "", ""]


def test_json_has_only_the_rows_shown(table: Page) -> None:
    table.get_by_label("Filter rows").fill("minus")
    assert json.loads(downloaded(table, "JSON")) == [{"Name": "minus", "Value (logit)": -1024.5}]


def test_without_javascript_a_table_has_no_controls(without_scripts: Page, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    without_scripts.goto((tmp_path / "page.html").as_uri())
    assert names(without_scripts) == [*NAMES, "short"]
    assert without_scripts.locator("button, input, a").count() == 0
