"""Tables that can be sorted, filtered and downloaded; without JavaScript they are plain tables."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from generator.site.html.long_tables import MOST_ROWS, shortened
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


def test_a_value_with_its_error_or_its_side_is_sorted_as_its_number(
    page: Page, tmp_path: Path
) -> None:
    shown = ("1.2", "over 0.9999", "0.78 ± 0.02", "word", "0.9")
    rows = "".join(f"<tr><th>{text}</th><td>{text}</td></tr>" for text in shown)
    (tmp_path / "page.html").write_text(PAGE.replace(ROWS, rows), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    page.get_by_role("button", name="Value").click()
    assert names(page) == ["0.78 ± 0.02", "0.9", "over 0.9999", "1.2", "word", "short"]


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


ASSETS = (ROOT / "site_src/assets").as_uri()
MANY = MOST_ROWS + 30
# Names in the order opposite to that of the values.
LONG = "".join(
    f'<tr id="row-{n}" data-pa-row="row/{n}"><th>{MANY - n:03}</th><td>{n}</td></tr>'
    for n in range(MANY)
)
LONG_PAGE = f"""<!doctype html><meta charset="utf-8"><title>Long</title>
<form class="pa-filter" data-pa-rows="table tbody tr" data-pa-noun="rows" hidden>
<label>Name <input type="search" name="name"></label> <output></output></form>
<table data-pa-sortable data-pa-filtered data-pa-long><caption>Many</caption>{HEAD}
<tbody>{LONG}</tbody></table>
<script src="{ASSETS}/tables.js"></script><script src="{ASSETS}/filter.js"></script>"""


def long_table(page: Page, folder: Path, address: str = "", *, has_script: bool = True) -> None:
    html, script = shortened(LONG_PAGE, "long.rows.js")
    (folder / "long.html").write_text(html, encoding="utf-8")
    if has_script:
        (folder / "long.rows.js").write_bytes(script)
    page.goto(f"{(folder / 'long.html').as_uri()}{address}")


def test_a_long_table_loads_its_other_rows_when_it_is_sorted(page: Page, tmp_path: Path) -> None:
    long_table(page, tmp_path)
    expect(page.locator("tbody tr")).to_have_count(MOST_ROWS)
    expect(page.locator("output")).to_have_text(f"{MOST_ROWS} of {MANY} rows")
    expect(page.locator("caption")).to_contain_text(f"The first {MOST_ROWS} of {MANY} rows.")
    page.get_by_role("button", name="Name").click()
    expect(page.locator("tbody tr")).to_have_count(MANY)
    expect(page.locator("tbody tr th").first).to_contain_text("001")
    expect(page.locator("output")).to_have_text(f"{MANY} of {MANY} rows")
    expect(page.locator("caption")).to_have_text("Many")


def test_a_filter_finds_rows_that_a_long_table_leaves_out(page: Page, tmp_path: Path) -> None:
    long_table(page, tmp_path)
    page.locator("input").fill("003")
    expect(page.locator("tbody tr:visible th")).to_have_text([f"{3:03}"])
    expect(page.locator("output")).to_have_text(f"1 of {MANY} rows")
    page.locator("tbody tr:visible .pa-pin").click()
    expect(page).to_have_url(re.compile(f"pin=row%2F{MANY - 3}"))


@pytest.mark.parametrize("address", [f"#row-{MANY - 2}", f"#pin=row%2F{MANY - 2}"])
def test_an_address_finds_a_row_that_a_long_table_leaves_out(
    address: str, page: Page, tmp_path: Path
) -> None:
    long_table(page, tmp_path, address)
    expect(page.locator(f"#row-{MANY - 2}")).to_be_in_viewport()


def test_all_rows_of_a_long_table_are_downloaded(page: Page, tmp_path: Path) -> None:
    long_table(page, tmp_path)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="These rows as CSV").click()
    assert len(waiting.value.path().read_text(encoding="utf-8").splitlines()) == MANY + 1


def test_a_long_table_without_its_script_keeps_the_rows_it_has(page: Page, tmp_path: Path) -> None:
    long_table(page, tmp_path, has_script=False)
    page.get_by_role("button", name="Value").click()
    page.get_by_role("button", name="Value").click()
    expect(page.locator("tbody tr td").first).to_have_text(f"{MOST_ROWS - 1}")
    expect(page.locator("tbody tr")).to_have_count(MOST_ROWS)
