"""Links to values: in each row one that the tab key reaches, and from there the others by arrow
keys.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.built import ROOT

PAGE = f"""<!doctype html><meta charset="utf-8"><title>Values</title>
<link rel="stylesheet" href="{(ROOT / "site_src/assets/atlas.css").as_uri()}">
<div class="md-typeset"><table>
<thead><tr><th>Checkpoint</th><th>Mean</th><th>Spread</th></tr></thead>
<tbody><tr id="one"><th>One</th><td id="one-mean">1</td><td id="one-spread">2</td></tr>
<tr><th>None</th><td>3</td><td>4</td></tr>
<tr><th>Two</th><td id="two-mean">5</td><td>6</td></tr></tbody></table></div>
<script src="{(ROOT / "site_src/assets/permalinks.js").as_uri()}"></script>"""


@pytest.fixture
def page(page: Page, tmp_path: Path) -> Page:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    return page


def test_every_value_with_an_address_has_a_link_to_it(page: Page) -> None:
    links = page.locator(".pa-permalink")
    assert links.evaluate_all("links => links.map(link => link.hash)") == [
        "#one", "#one-mean", "#one-spread", "#two-mean",
    ]  # fmt: skip
    names = ["Link to One", "Link to One, Mean", "Link to One, Spread", "Link to Two, Mean"]
    assert links.evaluate_all("links => links.map(link => link.ariaLabel)") == names
    assert page.get_by_role("rowheader", name="One", exact=True).count() == 1
    cells = "row => [...row.cells].map(cell => cell.textContent)"  # As they were.
    assert page.locator("tbody tr").first.evaluate(cells) == ["One", "1", "2"]


def test_a_link_shows_when_the_pointer_or_the_focus_comes(page: Page) -> None:
    first, second, *_ = page.locator(".pa-permalink").all()
    expect(second).to_have_css("opacity", "0")
    page.locator("#one-mean").hover()
    expect(second).to_have_css("opacity", "1")
    page.mouse.move(0, 700)
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    expect(first).to_have_css("opacity", "1")


def test_arrow_keys_lead_to_the_other_values_of_a_row(page: Page) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("#two-mean .pa-permalink")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    expect(page.locator("#one-mean .pa-permalink")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#one-mean$"))


def test_the_value_that_a_link_leads_to_is_marked(page: Page) -> None:
    value, other = page.locator("#one-mean"), page.locator("#one-spread")
    ground = "cell => getComputedStyle(cell).backgroundColor"
    before = value.evaluate(ground)
    page.goto(f"{page.url}#one-mean")
    assert value.evaluate(ground) != before
    assert other.evaluate(ground) == before


def test_a_row_of_the_catalogue_is_cited_with_all_its_values(page: Page, tmp_path: Path) -> None:
    row = '<tr id="two" data-pa-row="two"><th>Two</th><td>5</td><td>–</td></tr>'
    html = PAGE.replace("</tbody>", f"{row}</tbody>")
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    page.evaluate("window.atlas = { cite: { number: (...given) => (window.cited = given) } }")
    page.get_by_role("button", name="Cite Two").last.click(force=True)
    assert page.evaluate("window.cited") == ["two", "Mean = 5"]


@pytest.mark.parametrize(
    ("known", "url"),
    [
        ({"address": None, "repository": ""}, None),
        ({"address": None, "repository": "https://git.test/me/it"}, "https://git.test/me/it"),
        ({"address": "https://atlas.test/", "repository": "x"}, "https://atlas.test/a.html#b"),
    ],
)
def test_a_citation_has_no_address_that_only_this_machine_reaches(
    page: Page, known: dict[str, str], url: str | None
) -> None:
    """Nor the place of a file: without an address it names the page by its path."""
    page.add_script_tag(url=(ROOT / "site_src/assets/cite.js").as_uri())
    about = {"what": "Mean", "of": [], "path": "a.html#b", "key": "k"}
    every: dict[str, Any] = {"version": "1", "date": None, "encodings": {}, **known}
    (_, sentence), (_, entry) = page.evaluate(
        "([about, all]) => window.atlas.cite.texts(about, all)", [about, every]
    )
    assert re.findall(r"url = \{(.*)\}", entry) == ([] if url is None else [url])
    assert sentence.endswith("a.html#b")
    assert "file:" not in sentence + entry
