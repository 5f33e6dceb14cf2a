"""What a word means opens at the word by pointing, a tap and Enter, on a page opened as a file."""

import pytest
from playwright.sync_api import Browser, Page, expect

from generator.site import glossary
from generator.site.html.policy import with_policy
from tests.built import ROOT

POLICY = "default-src 'self' file:; script-src 'self' file:; style-src 'self' file: 'unsafe-inline'"
ASSETS = ROOT / "site_src/assets"
BODY = """<article class="md-content__inner md-typeset"><h1>Words</h1>
<p>The kernel is <a href="#there">half way to its far level</a>.</p>
<p>Its seam is elsewhere.</p></article>"""
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Words</title>
<link rel="stylesheet" href="../assets/atlas.css"></head>
<body data-md-color-scheme="default"><div class="md-content">{BODY}</div>
<script src="../assets/words.js"></script></body></html>"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("words")
    for name in ("assets", "learn"):
        (folder / name).mkdir()
    for name in ("atlas.css", "words.js", "words.svg"):
        (folder / "assets" / name).write_bytes((ASSETS / name).read_bytes())
    (folder / glossary.PAGE).write_text("<title>Glossary</title>", encoding="utf-8")
    html = glossary.with_terms(with_policy(PAGE, POLICY), "learn/page.html")
    (folder / "learn/page.html").write_text(html, encoding="utf-8")
    return (folder / "learn/page.html").as_uri()


@pytest.fixture
def page(page: Page, address: str) -> Page:
    page.goto(address)
    return page


def expect_meaning(page: Page, number: int) -> None:
    """That the box at the word with this number is open, with sentence, picture and link."""
    word, box = page.locator("a.pa-word").nth(number), page.locator("#pa-meaning")
    key = (word.get_attribute("href") or "").partition("#")[2]
    [meaning] = [each.meaning for each in glossary.TERMS if each.key == key]
    expect(box).to_be_visible()
    expect(box).to_contain_text(meaning)
    expect(word).to_have_attribute("aria-expanded", "true")
    picture = box.locator("img")
    expect(picture).to_have_js_property("complete", True)
    expect(picture).not_to_have_js_property("naturalWidth", 0)
    expect(box.locator("a")).to_have_js_property("hash", f"#{key}")


def test_enter_opens_and_escape_closes(page: Page) -> None:
    page.keyboard.press("Tab")
    word = page.locator("a.pa-word").first
    expect(word).to_be_focused()
    page.keyboard.press("Enter")
    expect_meaning(page, 0)
    page.keyboard.press("Escape")
    expect(page.locator("#pa-meaning")).to_be_hidden()
    expect(word).to_be_focused()
    expect(word).to_have_attribute("aria-expanded", "false")


def test_the_next_stop_is_the_link_to_the_glossary(page: Page) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect_meaning(page, 0)
    page.keyboard.press("Tab")
    expect(page.locator("#pa-meaning a")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/learn/glossary.html#kernel")


def test_pointing_opens_and_the_box_stays_while_the_pointer_is_in_it(page: Page) -> None:
    page.locator("a.pa-word").nth(1).hover()
    expect_meaning(page, 1)
    page.locator("#pa-meaning").hover()
    page.wait_for_timeout(500)
    expect_meaning(page, 1)
    page.mouse.move(900, 800)
    expect(page.locator("#pa-meaning")).to_be_hidden()


def test_a_tap_opens_within_the_screen_of_a_phone(browser: Browser, address: str) -> None:
    with browser.new_context(has_touch=True, viewport={"width": 375, "height": 300}) as context:
        page = context.new_page()
        page.goto(address)
        page.locator("a.pa-word").first.tap()
        expect_meaning(page, 0)
        box = page.locator("#pa-meaning").bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= 375 - box["width"]
        assert 0 <= box["y"] <= 300 - box["height"]
        page.touchscreen.tap(360, 290)
        expect(page.locator("#pa-meaning")).to_be_hidden()


def test_nothing_moves_when_a_box_opens(page: Page) -> None:
    before = page.locator("article").bounding_box()
    page.locator("a.pa-word").first.click()
    expect_meaning(page, 0)
    assert page.locator("article").bounding_box() == before


def test_a_word_is_a_link_without_scripts(without_scripts: Page, address: str) -> None:
    without_scripts.goto(address)
    word = without_scripts.locator("a.pa-word").first
    expect(word).to_have_attribute("title", glossary.TERMS[0].meaning)
    word.click()
    without_scripts.wait_for_url("**/learn/glossary.html#kernel")
