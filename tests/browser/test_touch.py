"""Pages on a phone: targets are large enough for fingers; code can be reached and copied."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_pages import KINDS

pytestmark = pytest.mark.samples
# WCAG 2.2, 2.5.8: 24 pixels, of which rounding may take a part of one. What stands in a line of
# text is an exception; here it is at least as high, or its line is.
SMALL = """root => [...root.querySelectorAll(
    "a[href], button, input, select, textarea, summary, label"
)].flatMap(target => {
    const boxes = [...target.getClientRects()].filter(box => box.width > 1 && box.height > 1);
    if (!boxes.length || !target.checkVisibility({ visibilityProperty: true })) return [];
    if (target.closest(".md-skip") || getComputedStyle(target).clipPath === "inset(50%)") return [];
    let line = target.parentElement;
    while (getComputedStyle(line).display.startsWith("inline")) line = line.parentElement;
    const [height, width] = ["height", "width"].map(
        side => Math.max(...boxes.map(box => box[side]))
    );
    const isInText = getComputedStyle(target).display === "inline"
        && line.textContent.trim().length > target.textContent.trim().length;
    const high = isInText ? parseFloat(getComputedStyle(line).lineHeight) || 0 : 0;
    const fits = Math.max(height, high) >= 23.5 && (isInText || width >= 23.5);
    return fits ? [] : [`${width} x ${height}: ${target.outerHTML.slice(0, 120)}`];
})"""


@pytest.fixture(scope="module")
def phone(browser: Browser) -> Iterator[Page]:
    with browser.new_context(
        viewport={"width": 375, "height": 812}, has_touch=True, is_mobile=True
    ) as context:
        yield context.new_page()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_touched_is_as_large_as_a_fingertip(kind: str, phone: Page, address: str) -> None:
    phone.goto(f"{address}/{kind}")
    phone.locator("html.js").wait_for()  # The theme's script has run.
    phone.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    assert phone.locator("html").evaluate(SMALL) == []


def test_the_drawer_is_for_fingers_too(phone: Page, address: str) -> None:
    phone.goto(f"{address}/index.html")
    phone.locator(".md-header__button[for=__drawer]").click()
    expect(phone.locator(".md-sidebar--primary")).to_be_in_viewport()
    assert phone.locator("html").evaluate(SMALL) == []


def test_code_that_scrolls_takes_the_focus_and_can_be_copied(
    browser: Browser, address: str
) -> None:
    with browser.new_context(
        viewport={"width": 375, "height": 812}, has_touch=True, is_mobile=True,
        permissions=["clipboard-read", "clipboard-write"],
    ) as context:  # fmt: skip
        page = context.new_page()
        page.goto(f"{address}/guide/quick-start.html")
        button = page.locator(".md-code__button").first
        expect(button).to_be_visible()
        wide = page.locator("pre > code").evaluate_all(
            "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.tabIndex)"
        )
        assert wide
        assert set(wide) == {0}
        code = page.locator("pre > code").first.inner_text()
        button.click()
        expect(page.locator(".md-dialog")).to_have_class("md-dialog md-dialog--active")
        assert page.evaluate("navigator.clipboard.readText()").strip() == code.strip()
