"""The built site as a reader's browser sees it."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.conftest import problems_of
from tests.site.test_escape import NASTY

pytestmark = pytest.mark.samples

KINDS = (
    "index.html", "404.html", "compare.html", "map/tables.html", "data/index.html",
    "data/arrays.html", "checkpoints/index.html", "checkpoints/all-minilm-l6-v2.html",
    "checkpoints/mobilesam/layers.html", "checkpoints/flan-t5-small-titles.html",
    "checkpoints/llama-3-1-8b.html", "checkpoints/gpt-2-small.html", "analyses/index.html",
    "analyses/similarity_of_positions.html", "schemes/index.html", "schemes/t5_bias.html",
    "learn/index.html", "learn/tables.html", "learn/rotations.html", "learn/biases.html",
    "learn/training.html", "learn/how-to-read.html", "learn/glossary.html", "learn/method.html",
    "learn/further-schemes.html", "learn/checked-against.html", "models.html",
    "models/how-far.html", "models/position.html", "status.html", "about.html", "guide/index.html",
    "guide/configuration.html", "guide/data-schema.html", "guide/extending.html",
    "guide/publishing.html",
)  # fmt: skip

WCAG: dict[str, object] = {
    "preload": False,
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
}


# One of each kind of page: they have all that colours and the width of a screen change. The others
# differ by their words and numbers.
IN_EVERY_SETTING = {
    "index.html", "compare.html", "data/arrays.html",
    "checkpoints/all-minilm-l6-v2.html", "analyses/similarity_of_positions.html",
    "schemes/t5_bias.html", "learn/tables.html", "guide/configuration.html", "status.html",
}  # fmt: skip

MOST_ALIKE = 3
# A barrier in one of several rows with equal tags, attributes and styles is in the others, too.
REMOVE_MORE_ALIKE = """most => {
    const names = one => [one.tagName, one.className, ...one.getAttributeNames()];
    const marks = one => [...names(one), one.getAttribute("style")].join(" ");
    for (const list of document.querySelectorAll("tbody, pre code, ul:has(> .pa-card)")) {
        const seen = {};
        for (const one of [...list.children]) {
            const kind = [one, ...one.querySelectorAll("*")].map(marks).join();
            seen[kind] = (seen[kind] || 0) + 1;
            if (seen[kind] > most) one.remove();
        }
    }
}"""


def load_all(page: Page) -> None:
    """Bring in the pictures that wait for the reader to scroll."""
    page.evaluate("document.querySelectorAll('img').forEach(image => { image.loading = 'eager' })")
    page.evaluate(
        "Promise.all([...document.images].map(one => one.complete || new Promise(end => {"
        " one.onload = one.onerror = end })))"
    )


def show_all(page: Page, url: str) -> None:
    """Open a page with its pictures, and with all that a reader may open."""
    page.goto(url)
    load_all(page)
    page.evaluate(
        "document.querySelectorAll('details').forEach(details => { details.open = true })"
    )


COLOURS: dict[str, object] = {
    "preload": False,
    "resultTypes": ["violations"],
    "runOnly": {"type": "rule", "values": ["color-contrast"]},
}  # All that differs in the dark scheme.

Scheme = Literal["light", "dark"]
Setting = tuple[Scheme, int, dict[str, object]]
SETTINGS: list[Setting] = [
    ("light", 1280, WCAG), ("dark", 1280, COLOURS), ("dark", 375, COLOURS), ("light", 375, WCAG),
]  # fmt: skip
BODY = {"light": "body[data-md-color-scheme=default]", "dark": "body[data-md-color-scheme=slate]"}
BARRIERS = """options => axe.run(options).then(({ violations }) => violations
    .filter(rule => ["serious", "critical"].includes(rule.impact))
    .flatMap(rule => rule.nodes.map(node => [rule.id, node.html])))"""


def barriers(
    page: Page, scheme: Scheme, width: int, rules: dict[str, object]
) -> list[tuple[str, str]]:
    """What axe holds for a serious barrier, and where."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.locator(BODY[scheme]).wait_for()
    found: list[tuple[str, str]] = page.evaluate(BARRIERS, rules)
    return found


@pytest.fixture
def problems(page: Page, address: str) -> Iterator[list[str]]:
    """Errors in the console, and requests for what is not of the site."""
    with problems_of(page, address, "data:", "blob:") as found:
        yield found


def prepare(page: Page, url: str) -> None:
    """Open a page for axe, in the colours of a scheme, not those on the way to it."""
    show_all(page, url)
    page.locator("html.js").wait_for()  # The theme's script has run.
    page.add_style_tag(content="* { transition: none !important }")
    page.evaluate(Axe().axe_script)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole_and_narrow(
    kind: str, page: Page, address: str, problems: list[str]
) -> None:
    show_all(page, f"{address}/{kind}")
    assert (
        page.evaluate(
            "[...document.images].filter(image => !image.naturalWidth).map(image => image.src)"
        )
        == []
    )
    assert page.locator("figure img:not([alt]), figure img[alt='']").count() == 0
    page.set_viewport_size({"width": 375, "height": 800})
    page.wait_for_function("document.documentElement.scrollWidth <= 375")  # Scripts follow it.
    assert problems == []


@pytest.mark.parametrize("kind", sorted(IN_EVERY_SETTING))
def test_a_kind_of_page_is_open_to_all_in_every_setting(
    kind: str, page: Page, address: str
) -> None:
    prepare(page, f"{address}/{kind}")
    page.evaluate(REMOVE_MORE_ALIKE, MOST_ALIKE)
    # Colours differ by scheme, sizes by width.
    of_both = [setting for setting in SETTINGS if setting[:2] != ("dark", 375)]
    assert [barriers(page, *setting) for setting in of_both] == [[]] * len(of_both)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_every_row_is_open_to_all_in_every_setting(kind: str, page: Page, address: str) -> None:
    prepare(page, f"{address}/{kind}")
    assert [barriers(page, *setting) for setting in SETTINGS] == [[]] * len(SETTINGS)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


@pytest.mark.parametrize(
    "kinds",
    [IN_EVERY_SETTING, pytest.param(KINDS, marks=pytest.mark.thorough)],
    ids=["one of each kind", "all"],
)
def test_without_scripts_a_narrow_screen_fits(
    kinds: Iterable[str], browser: Browser, address: str
) -> None:
    with browser.new_context(
        viewport={"width": 375, "height": 800}, java_script_enabled=False
    ) as context:
        page = context.new_page()
        widths = {}
        for kind in kinds:
            page.goto(f"{address}/{kind}")
            widths[kind] = page.evaluate("document.documentElement.scrollWidth")
    assert {kind: width for kind, width in widths.items() if width > 375} == {}


@pytest.mark.parametrize(
    ("kind", "scheme"),
    [
        ("index.html", "light"), ("index.html", "dark"),
        ("checkpoints/all-minilm-l6-v2.html", "dark"), ("analyses/rank.html", "dark"),
    ],
)  # fmt: skip
def test_paper_is_light_and_its_ink_dark(
    kind: str, scheme: Scheme, page: Page, address: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{address}/{kind}")
    page.locator("html.js").wait_for()  # The theme has chosen the scheme.
    page.emulate_media(media="print", color_scheme=scheme)
    inks = page.evaluate(
        "['body', 'h1', 'article p', 'article a'].map(one =>"
        " getComputedStyle(document.querySelector(one)).color)"
    )
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
    table.evaluate(
        "table => new Promise(function wait(end) { table.scrollLeft > 0 ? end() :"
        " requestAnimationFrame(() => wait(end)) })"
    )


def test_a_figure_stands_beside_its_words_and_below_on_a_phone(page: Page, address: str) -> None:
    places = {}
    for width in (1440, 375):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{address}/learn/how-to-read.html")
        pair = page.locator(".pa-beside:has(> figure)").first
        places[width] = [
            pair.locator(f"> {part}").evaluate("part => part.getBoundingClientRect().toJSON()")
            for part in ("div", "figure")
        ]
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
    heading.locator("xpath=following::figure").first.wait_for()


TOP_AT_REST = """heading => new Promise(function wait(end, frames = 0, before = null) {
    const { top } = heading.getBoundingClientRect();
    const still = document.readyState === "complete" && top === before ? frames + 1 : 0;
    still > 15 ? end(top) : requestAnimationFrame(() => wait(end, still, top));
})"""


@pytest.mark.parametrize(
    ("former", "now"),
    [
        (
            "all-minilm-l6-v2/encoder-learned/measure.html#order_probe",
            "encoder-learned-order_probe",
        ),
        ("mobilesam/vision-stage-3-block-1-window_bias.html", "vision-stage-3-block-1-window_bias"),
    ],
)
def test_a_former_address_leads_to_its_section(
    former: str, now: str, page: Page, address: str
) -> None:
    page.goto(f"{address}/checkpoints/{former}")
    page.wait_for_url(f"**/*#{now}")
    assert 0 <= page.locator(f"[id='{now}']").evaluate(TOP_AT_REST) <= 200


def test_contents_follow_the_reader_though_the_theme_is_late(page: Page, address: str) -> None:
    page.goto(f"{address}/learn/method.html")
    page.locator("html.js").wait_for()
    page.locator("h2").last.scroll_into_view_if_needed()
    page.locator(".md-sidebar--secondary .md-nav__link--active").last.wait_for()


def test_figures_follow_the_scheme_that_the_reader_chose(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    page.locator("details.pa-row").first.evaluate("row => { row.open = true }")
    inks = [_darkness_of_first_figure(page)]
    page.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    inks.append(_darkness_of_first_figure(page))
    assert inks[0] < 0.25
    assert inks[1] > 0.75


def _darkness_of_first_figure(page: Page) -> float:
    """Share of the figure's pixels that are nearer to black than to white, as the reader sees
    it.
    """
    from io import BytesIO

    from PIL import Image

    figure = page.locator("figure:has(.pa-scroll)").first
    figure.scroll_into_view_if_needed()
    figure = figure.locator(".pa-frame").first
    page.wait_for_timeout(300)
    grey = Image.open(BytesIO(figure.screenshot())).convert("L")
    return sum(grey.histogram()[:128]) / (grey.width * grey.height)


def test_the_site_works_from_a_file_without_javascript(without_scripts: Page, built: Path) -> None:
    without_scripts.goto((built / "site/index.html").as_uri())
    without_scripts.get_by_role("link", name="all-MiniLM-L6-v2", exact=True).first.click()
    assert (
        without_scripts.get_by_role("heading", level=1).inner_text().startswith("all-MiniLM-L6-v2")
    )


FOUND = {
    "MiniLM": "checkpoints/all-minilm-l6-v2.html",  # A checkpoint,
    "position_embeddings.weight": "checkpoints/all-minilm-l6-v2.html",  # a tensor,
    "position_embeddings": "checkpoints/all-minilm-l6-v2.html",  # a part of its name,
    "helix": "analyses/principal_components.html",  # a term,
    "RoPE": "schemes/rotary.html",  # and other names of a scheme.
    "positional encoding": "learn/how-to-read.html",
    "NTK": "schemes/rotary.html",  # In brackets there.
}


@pytest.mark.parametrize("sought", [tuple(FOUND), ("helix",)], ids=["served", "on disk"])
def test_search_finds(sought: tuple[str, ...], page: Page, address: str, built: Path) -> None:
    page.goto(f"{address if len(sought) > 1 else (built / 'site').as_uri()}/index.html")
    page.locator(".md-search__input").click()
    for words in sought:
        page.locator(".md-search__input").fill(words[:-1])
        # The theme searches when a key comes up.
        page.locator(".md-search__input").press(words[-1])
        page.locator(f".md-search-result__link[href*='{FOUND[words]}']").first.wait_for()


GALLERY = "summary:has(~ .pa-gallery)"


def test_the_gallery_is_filtered_by_scheme_name_and_family(page: Page, address: str) -> None:
    page.goto(f"{address}/index.html")
    page.locator(GALLERY).click()
    cards = page.locator(".pa-card:visible")
    every = cards.count()
    page.locator(".pa-filter [name=scheme]").select_option(label="Rotary")
    assert 0 < cards.count() < every
    page.locator(".pa-filter [name=name]").fill("llama 2")
    assert cards.locator("strong").all_inner_texts() == ["Llama 2, 7B"]
    page.locator(".pa-filter [name=family]").select_option("bloom")
    assert cards.count() == 0
    assert page.locator(".pa-filter output").inner_text().startswith("0 of ")


def test_without_javascript_the_gallery_is_whole(without_scripts: Page, address: str) -> None:
    without_scripts.goto(f"{address}/index.html")
    without_scripts.locator(GALLERY).click()
    assert without_scripts.locator(".pa-filter").is_hidden()
    assert (
        without_scripts.locator(".pa-card:visible").count()
        == without_scripts.locator(".pa-card").count()
        > 0
    )


def test_a_keyboard_alone_opens_a_checkpoint_in_sight(page: Page, address: str) -> None:
    page.goto(f"{address}/index.html")
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(f"document.activeElement.matches('{GALLERY}')"):
            page.keyboard.press("Enter")
        if page.evaluate("document.activeElement.matches('.pa-card a')"):
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    page.wait_for_url("**/checkpoints/*.html")


PLANTED = """<script>ran = 1</script><img src="nothing.png" onerror="ran = 1">
<a id="planted" href="javascript:ran = 1">a</a>
<img src="http://127.0.0.1:1/foreign.png">"""


GUARDED = (
    "index.html", "compare.html", "checkpoints/all-minilm-l6-v2.html", "learn/tables.html",
    "404.html",
)  # fmt: skip


# What is planted is the same in every page, so that one shows that it would run.
@pytest.mark.parametrize(
    ("kind", "keeps"), [*((kind, True) for kind in GUARDED), ("learn/tables.html", False)]
)
def test_what_is_planted_in_a_page_runs_only_without_its_policy(
    kind: str, keeps: bool, page: Page, address: str, built: Path
) -> None:
    html = (
        (built / "site" / kind).read_text(encoding="utf-8").replace("</body>", f"{PLANTED}</body>")
    )
    html = html if keeps else re.sub("<meta http-equiv=.Content-Security-Policy[^>]*>", "", html)
    page.route(
        f"{address}/{kind}", lambda route: route.fulfill(body=html, content_type="text/html")
    )
    failures = []
    page.on(
        "requestfailed",
        lambda request: failures.append(request.failure) if "foreign" in request.url else None,
    )
    page.goto(f"{address}/{kind}")
    page.locator("html.js").wait_for()
    page.locator("#planted").evaluate("link => link.click()")
    load_all(page)
    assert page.evaluate("typeof ran") == ("undefined" if keeps else "number")
    assert [failure == "csp" for failure in failures] == [keeps]


# All that a reader may type into, as scripts hear it; and what would be there if it were markup.
TYPED = """texts => {
    for (const field of document.querySelectorAll("input:not([type=checkbox], [type=radio])"))
        for (const text of texts) {
            field.value = text;
            for (const kind of ["input", "keyup", "change"])
                field.dispatchEvent(new Event(kind, { bubbles: true }));
        }
}"""
MADE = """() => document.querySelectorAll(
    "iframe, object, embed, [onerror], [onload], [onclick], [onmouseover], [src=x]"
    + ", [href^='javascript:' i]"
).length"""


@pytest.mark.parametrize(
    "kind",
    [
        "index.html", "compare.html", "models.html", "checkpoints/index.html", "404.html",
        "checkpoints/all-minilm-l6-v2.html", "models/how-far.html", "models/position.html",
    ],
)  # fmt: skip
def test_what_a_reader_types_is_text(
    kind: str, page: Page, address: str, problems: list[str]
) -> None:
    page.goto(f"{address}/{kind}")
    page.locator("html.js").wait_for()
    page.locator(".md-search__input").focus()  # Which loads what is sought in.
    page.wait_for_load_state("networkidle")
    page.evaluate(TYPED, [*NASTY, "9" * 400, "NaN", "__proto__", "1e999", "-1", NASTY[0]])
    page.locator(".md-search__input").fill(NASTY[0])
    page.wait_for_load_state("networkidle")
    assert (page.evaluate(MADE), problems) == (0, [])
