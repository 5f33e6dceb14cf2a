"""The panel of a rotary model by position, against what the site publishes of the model."""

import json
import re
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.samples

MODELS = ("llama-3-1-8b", "gemma-3-4b", "llama-4-scout-text", "gpt-oss-20b", "minimax-text-01")
SAID, FIELD, SLIDER = ".pa-position-said", "[name=position]", ".pa-position [name=place]"


def published(built: Path, slug: str) -> dict[str, Any]:
    site = built / "site"
    atlas = json.loads((site / "data/atlas.json").read_text(encoding="utf-8"))
    rows = list(atlas["checkpoints"])
    for part in atlas["parts"]:
        rows += json.loads((site / part).read_text(encoding="utf-8"))["checkpoints"]
    return next(row for row in rows if row["slug"] == slug)


def expected(row: dict[str, Any], position: int) -> list[str]:
    """Parts of the sentence, from the frequencies and the layers of ``atlas.json``."""
    parts = []
    for encoding in row["encodings"]:
        settings = encoding["parameters"]
        if encoding["scheme"] == "rotary":
            size = settings["rotary_dim"]
            plain = settings["base"] ** (-2 * np.arange(size // 2) / size)
            now, before = (
                int(np.sum(position * np.array(frequencies) / (2 * pi) >= 1))
                for frequencies in (settings["inverse_frequencies"], plain)
            )
            without = f" ({before} without scaling)" if now != before else ""
            have = "has" if now == 1 else "have"
            parts.append(f"{now} of {size // 2} pairs {have} turned at least once{without}")
    seeing = [
        layer
        for layer in row["layers"]
        if "recurrent" not in layer["kinds"]
        and (layer["before"] is None or position <= layer["before"])
    ]
    see = "sees" if len(seeing) == 1 else "see"
    return [*parts, f"{len(seeing)} of {len(row['layers'])} layers still {see} position 0"]


@pytest.mark.parametrize("slug", MODELS)
def test_any_position_has_the_numbers_of_the_published_frequencies(
    slug: str, page: Page, address: str, built: Path
) -> None:
    row = published(built, slug)
    page.goto(f"{address}/checkpoints/{slug}.html")
    last = int(page.locator(FIELD).get_attribute("max") or 0)
    for position in (1, 7, 127, 128, 1023, 1024, 8191, 8192, 100_000, last):
        page.locator(FIELD).fill(str(position))
        expect(page.locator(SAID)).to_contain_text(f"At position {position:,}: ")
        said = page.locator(SAID).inner_text()
        assert [part for part in expected(row, position) if part not in said] == []


@pytest.mark.parametrize("slug", MODELS)
def test_scripts_say_of_the_last_position_what_the_page_said_before(
    slug: str, page: Page, without_scripts: Page, address: str
) -> None:
    plain = f"{address}/checkpoints/{slug}.html"
    without_scripts.goto(plain)
    page.goto("about:blank")
    page.goto(plain)
    page.locator(FIELD).fill(page.locator(FIELD).get_attribute("max") or "")
    for part in (SAID, ".pa-position table"):
        assert page.locator(part).inner_text() == without_scripts.locator(part).inner_text()
    assert not without_scripts.locator(FIELD).is_visible()


def test_a_position_is_in_the_address_and_read_from_it(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    page.locator(FIELD).fill("8192")
    expect(page).to_have_url(re.compile("#position=8192$"))
    page.goto("about:blank")
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html#position=500")
    expect(page.locator(FIELD)).to_have_value("500")
    expect(page.locator(SAID)).to_contain_text("At position 500:")
    expect(page.locator(FIELD)).to_be_in_viewport()


def test_keys_move_the_slider_from_one_end_to_the_other(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    page.locator(SLIDER).focus()
    page.keyboard.press("Home")
    expect(page.locator(SAID)).to_contain_text("At position 1: 0 of 64 pairs have")
    page.keyboard.press("End")
    expect(page.locator(FIELD)).to_have_value("131071")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(SLIDER)).to_have_attribute("aria-valuetext", "126,023")


def test_a_position_beyond_the_context_is_its_last(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    page.locator(FIELD).fill("999999999")
    page.locator(FIELD).press("Enter")
    expect(page.locator(FIELD)).to_have_value("131071")
    expect(page.locator(SAID)).to_contain_text("At position 131,071:")


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("slug", ["llama-3-1-8b", "gemma-3-4b"])
def test_controls_are_large_enough_and_nothing_moves_when_they_change(
    slug: str, width: int, browser: Browser, address: str
) -> None:
    page = browser.new_context(viewport={"width": width, "height": 1200}).new_page()
    page.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => list.getEntries().forEach(entry => {"
        " window.shifts += entry.value })).observe({ type: 'layout-shift', buffered: true })"
    )
    page.goto(f"{address}/checkpoints/{slug}.html")
    page.locator(SAID).scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    page.evaluate("window.shifts = 0")
    for control in (FIELD, SLIDER):
        box = page.locator(control).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24
    for position in ("3", "100", "9000", "131071"):
        page.locator(FIELD).fill(position)
        page.wait_for_timeout(100)
    assert page.evaluate("window.shifts") < 0.001
    page.close()
