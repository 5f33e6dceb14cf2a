"""The built site as a reader's browser sees it."""

import re
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.samples

KINDS = (
    "index.html",
    "404.html",
    "compare.html",
    "map.html",
    "map/tables.html",
    "data/index.html",
    "data/arrays.html",
    "checkpoints/index.html",
    "checkpoints/all-minilm-l6-v2.html",
    "checkpoints/all-minilm-l6-v2/encoder-learned/measure.html",
    "checkpoints/flan-t5-small-titles.html",
    "checkpoints/llama-3-1-8b.html",
    "checkpoints/gpt-2-small.html",
    "analyses/index.html",
    "analyses/cosine.html",
    "schemes/index.html",
    "schemes/t5_bias.html",
    "learn/index.html",
    "learn/tables.html",
    "learn/rotations.html",
    "learn/biases.html",
    "learn/training.html",
    "learn/how-to-read.html",
    "learn/method.html",
    "learn/further-schemes.html",
    "learn/checked-against.html",
    "families.html",
    "status.html",
    "about.html",
    "guide/index.html",
    "guide/configuration.html",
    "guide/data-schema.html",
    "guide/extending.html",
    "guide/publishing.html",
)

WCAG: dict[str, object] = {
    "preload": False,
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
}


def load_all(page: Page) -> None:
    """Bring in the pictures that wait for the reader to scroll."""
    page.evaluate("document.querySelectorAll('img').forEach(image => { image.loading = 'eager' })")
    page.evaluate("Promise.all([...document.images].map(one => one.complete || new Promise(end => { one.onload = one.onerror = end })))")


COLOURS: dict[str, object] = {
    "preload": False,
    "resultTypes": ["violations"],
    "runOnly": {"type": "rule", "values": ["color-contrast"]},
}  # All that differs in the dark scheme.


def serious(page: Page, options: dict[str, object]) -> list[tuple[str, str]]:
    """What axe holds for a serious barrier, and where."""
    violations = Axe().run(page, options=options).response["violations"]
    return [(rule["id"], node["html"]) for rule in violations if rule["impact"] in ("serious", "critical") for node in rule["nodes"]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole_and_open_to_all_in_both_schemes_and_on_a_narrow_screen(kind: str, page: Page, address: str) -> None:
    errors, foreign = [], []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith((address, "data:", "blob:")) else foreign.append(request.url))
    page.goto(f"{address}/{kind}")
    load_all(page)
    assert page.evaluate("[...document.images].filter(image => !image.naturalWidth).map(image => image.src)") == []
    assert page.locator("figure img:not([alt]), figure img[alt='']").count() == 0
    page.locator("html.js").wait_for()  # The theme's script has run.
    page.add_style_tag(content="* { transition: none !important }")  # Axe sees the colours of a scheme, not those on the way to it.
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
    assert serious(page, WCAG) == []
    page.emulate_media(color_scheme="dark")
    page.locator("body[data-md-color-scheme=slate]").wait_for()
    assert serious(page, COLOURS) == []
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert serious(page, COLOURS) == []
    page.emulate_media(color_scheme="light")
    page.locator("body[data-md-color-scheme=default]").wait_for()
    assert serious(page, WCAG) == []
    assert (errors, foreign) == ([], [])


def test_a_narrow_screen_does_not_scroll_sideways_without_scripts(browser: Browser, address: str) -> None:
    with browser.new_context(viewport={"width": 375, "height": 800}, java_script_enabled=False) as context:
        page = context.new_page()
        widths = {}
        for kind in KINDS:
            page.goto(f"{address}/{kind}")
            widths[kind] = page.evaluate("document.documentElement.scrollWidth")
    assert {kind: width for kind, width in widths.items() if width > 375} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["index.html", "checkpoints/all-minilm-l6-v2.html", "analyses/rank.html"])
def test_paper_is_light_and_its_ink_dark_whichever_scheme_the_screen_has(
    kind: str, scheme: Literal["light", "dark"], page: Page, address: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{address}/{kind}")
    page.locator("html.js").wait_for()  # The theme has chosen the scheme.
    page.emulate_media(media="print", color_scheme=scheme)
    inks = page.evaluate("['body', 'h1', 'article p', 'article a'].map(one => getComputedStyle(document.querySelector(one)).color)")
    assert all(max(map(float, re.findall(r"[\d.]+", ink)[:3])) < 190 for ink in inks), inks
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_keys_reach_a_table_where_it_scrolls_and_only_there(page: Page, address: str) -> None:
    page.goto(f"{address}/status.html")
    table = page.locator(".pa-wide").first
    assert table.get_attribute("tabindex") is None
    page.set_viewport_size({"width": 200, "height": 800})
    page.locator(".pa-wide[tabindex='0'][role][aria-label]").first.wait_for()
    table.focus()
    page.keyboard.press("ArrowRight")
    table.evaluate("table => new Promise(function wait(end) { table.scrollLeft > 0 ? end() : requestAnimationFrame(() => wait(end)) })")


def test_a_figure_stands_beside_its_words_on_a_wide_screen_and_below_them_on_a_phone(page: Page, address: str) -> None:
    places = {}
    for width in (1440, 375):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{address}/learn/how-to-read.html")
        pair = page.locator(".pa-beside:has(> figure)").first
        places[width] = [pair.locator(f"> {part}").evaluate("part => part.getBoundingClientRect().toJSON()") for part in ("div", "figure")]
    (words, figure), (words_above, figure_below) = places[1440], places[375]
    assert figure["left"] >= words["right"]
    assert figure_below["top"] >= words_above["bottom"]


def test_a_finding_leads_to_the_figures_that_show_it(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/all-minilm-l6-v2.html")
    link = page.locator(".pa-rests a").first
    title = link.inner_text()
    link.click()
    page.wait_for_url("**#*")
    heading = page.locator(f"[id='{page.url.partition('#')[2]}']")
    assert title in heading.inner_text()
    assert heading.locator("xpath=following::figure").first.is_visible()


def test_an_address_leads_to_its_section_though_tables_above_are_not_laid_out_yet(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/all-minilm-l6-v2/encoder-learned/measure.html#order_probe")
    page.wait_for_timeout(500)
    assert 0 <= page.locator("#order_probe").evaluate("heading => heading.getBoundingClientRect().top") <= 200


def test_the_table_of_contents_follows_the_reader_though_the_theme_starts_late(page: Page, address: str) -> None:
    page.goto(f"{address}/learn/method.html")
    page.locator("html.js").wait_for()
    page.locator("h2").last.scroll_into_view_if_needed()
    page.locator(".md-sidebar--secondary .md-nav__link--active").last.wait_for()


def test_figures_follow_the_scheme_that_the_reader_chose(browser: Browser, address: str) -> None:
    page = browser.new_page(color_scheme="light")
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    inks = [_darkness_of_first_figure(page)]
    page.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    inks.append(_darkness_of_first_figure(page))
    page.close()
    assert inks[0] < 0.25
    assert inks[1] > 0.75


def _darkness_of_first_figure(page: Page) -> float:
    """Share of the figure's pixels that are nearer to black than to white, as the reader sees it."""
    from io import BytesIO

    from PIL import Image

    figure = page.locator("figure:has(.pa-scroll)").first
    figure.scroll_into_view_if_needed()
    figure = figure.locator(".pa-frame").first
    page.wait_for_timeout(300)
    grey = Image.open(BytesIO(figure.screenshot())).convert("L")
    return sum(grey.histogram()[:128]) / (grey.width * grey.height)


def test_the_site_works_from_a_file_without_javascript(browser: Browser, built: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((built / "site/index.html").as_uri())
    page.get_by_role("link", name="all-MiniLM-L6-v2", exact=True).first.click()
    assert page.get_by_role("heading", level=1).inner_text().startswith("all-MiniLM-L6-v2")
    page.close()


FOUND = {
    "MiniLM": "checkpoints/all-minilm-l6-v2.html",  # A checkpoint,
    "position_embeddings.weight": "checkpoints/all-minilm-l6-v2.html",  # a tensor,
    "position_embeddings": "checkpoints/all-minilm-l6-v2.html",  # a part of its name,
    "helix": "analyses/pca.html",  # a term,
    "RoPE": "schemes/rotary.html",  # and other names of a scheme.
    "positional encoding": "learn/how-to-read.html",
    "NTK": "schemes/rotary.html",  # In brackets there.
}


@pytest.mark.parametrize("sought", [tuple(FOUND), ("helix",)], ids=["served", "on disk"])
def test_search_finds(sought: tuple[str, ...], page: Page, address: str, built: Path) -> None:
    page.goto(f"{address if len(sought) > 1 else (built / 'site').as_uri()}/index.html")
    page.locator(".md-search__input").click()
    for words in sought:
        page.locator(".md-search__input").fill("")
        page.locator(".md-search__input").press_sequentially(words, delay=20)
        page.locator(f".md-search-result__link[href*='{FOUND[words]}']").first.wait_for()


def test_the_gallery_is_filtered_by_scheme_name_and_family(page: Page, address: str) -> None:
    page.goto(f"{address}/index.html")
    cards = page.locator(".pa-card:visible")
    every = cards.count()
    page.locator(".pa-filter [name=scheme]").select_option(label="Rotary")
    assert 0 < cards.count() < every
    page.locator(".pa-filter [name=name]").fill("llama 2")
    assert cards.locator("strong").all_inner_texts() == ["Llama 2, 7B"]
    page.locator(".pa-filter [name=family]").select_option("bloom")
    assert cards.count() == 0
    assert page.locator(".pa-filter output").inner_text() == "0 shown"


def test_without_javascript_the_whole_gallery_is_there_and_no_filter(browser: Browser, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(f"{address}/index.html")
    assert page.locator(".pa-filter").is_hidden()
    assert page.locator(".pa-card:visible").count() == page.locator(".pa-card").count() > 0
    page.close()


def test_a_keyboard_alone_opens_a_checkpoint_and_shows_where_it_is(page: Page, address: str) -> None:
    page.goto(f"{address}/index.html")
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.pa-card a')"):
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    page.wait_for_url("**/checkpoints/*.html")


PLANTED = """<script>ran = 1</script><img src="nothing.png" onerror="ran = 1"><a id="planted" href="javascript:ran = 1">a</a>
<img src="http://127.0.0.1:1/foreign.png">"""


@pytest.mark.parametrize("kind", ["index.html", "compare.html", "checkpoints/all-minilm-l6-v2.html", "learn/tables.html", "404.html"])
@pytest.mark.parametrize("keeps", [True, False], ids=["with the policy", "without it"])
def test_what_is_planted_in_a_page_runs_only_without_its_policy(keeps: bool, kind: str, page: Page, address: str, built: Path) -> None:
    html = (built / "site" / kind).read_text(encoding="utf-8").replace("</body>", f"{PLANTED}</body>")
    html = html if keeps else re.sub("<meta http-equiv=.Content-Security-Policy[^>]*>", "", html)
    page.route(f"{address}/{kind}", lambda route: route.fulfill(body=html, content_type="text/html"))
    failures = []
    page.on("requestfailed", lambda request: failures.append(request.failure) if "foreign" in request.url else None)
    page.goto(f"{address}/{kind}")
    page.locator("html.js").wait_for()
    page.locator("#planted").evaluate("link => link.click()")
    load_all(page)
    assert page.evaluate("typeof ran") == ("undefined" if keeps else "number")
    assert [failure == "csp" for failure in failures] == [keeps]
