"""The page on one position of any published model: the same panel as on pages of checkpoints."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.samples
KIND = "models/position.html"
SAID, FIELD = ".pa-position-said", "[name=position]"
CHOICE = "#pa-position-model select"
SEVERAL = "answerdotai/ModernBERT-base"
SCALED, PLAIN = "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-0.6B"


def model(built: Path, name: str) -> dict[str, Any]:
    rows = json.loads((built / "site/data/models.json").read_text(encoding="utf-8"))["models"]
    found: dict[str, Any] = next(row for row in rows if row["id"] == name)
    return found


@pytest.mark.parametrize("name", [SCALED, PLAIN, SEVERAL, "openai/gpt-oss-20b"])
def test_any_model_has_its_published_numbers(
    name: str, page: Page, address: str, built: Path
) -> None:
    row = model(built, name)
    page.goto(f"{address}/{KIND}")
    page.locator(CHOICE).select_option(name)
    for position in (1, 500, row["at_position"]["last"]):
        page.locator(FIELD).fill(str(position))
        said = page.locator(SAID).inner_text()
        assert f"At position {position:,}, " in said
        for rotation in row["at_position"]["rotations"]:
            plain = rotation["base"] ** (-2 * np.arange(rotation["pairs"]) / rotation["components"])
            turned = position * plain / np.array(rotation["slower"]) / (2 * np.pi) >= 1
            have = "has" if turned.sum() == 1 else "have"
            assert f"{turned.sum()} of {rotation['pairs']} rotation pairs {have} completed" in said
        seeing = sum(
            group["keys"] is None or position < group["keys"]
            for stack in row["stacks"]
            for group in (stack["groups"][index] for index in stack["layers"])
        )
        # A window to both sides sees half of its positions before.
        if name != SEVERAL:
            some = f"{seeing} of {row['layers']}" if seeing < row["layers"] else f"all {seeing}"
            assert f"{some} layers still see position 0" in said


def test_a_model_has_what_the_page_of_its_checkpoint_has(page: Page, address: str) -> None:
    shown = []
    for place in ("checkpoints/gpt-oss-20b.html#", f"{KIND}#model=openai%2Fgpt-oss-20b&"):
        page.goto("about:blank")
        page.goto(f"{address}/{place}position=9000")
        expect(page.locator(SAID)).to_contain_text("At position 9,000,")
        shown.append(page.locator(".pa-position").inner_text())
    assert shown[0] == shown[1]


def test_the_layers_that_still_see_the_first_position_are_named(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}#model=openai%2Fgpt-oss-20b&position=127")
    expect(page.locator(SAID)).to_contain_text("all 24 layers still see position 0.")
    page.locator(FIELD).fill("128")
    expect(page.locator(SAID)).to_contain_text(
        "12 of 24 layers still see position 0: layers 1, 3, … 23 (one in 2)."
    )


def test_model_and_position_stay_in_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    page.locator(CHOICE).select_option(PLAIN)
    expect(page).to_have_url(re.compile("#model=Qwen%2FQwen3-0.6B&position=40959$"))
    page.locator(FIELD).fill("700")
    expect(page).to_have_url(re.compile("#model=Qwen%2FQwen3-0.6B&position=700$"))
    there = page.url
    page.goto("about:blank")
    page.goto(there)
    expect(page.locator(CHOICE)).to_have_value(PLAIN)
    expect(page.locator(FIELD)).to_have_value("700")
    expect(page.locator("#at-position")).to_have_text(PLAIN)
    page.evaluate(f"location.hash = '#model={SCALED.replace('/', '%2F')}&position=8192'")
    expect(page.locator(CHOICE)).to_have_value(SCALED)
    expect(page.locator(SAID)).to_contain_text("At position 8,192,")


def test_rows_and_figures_are_those_of_the_model(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    for name, figures, columns in ((SEVERAL, 2, 3), (SCALED, 1, 4), (PLAIN, 1, 3)):
        page.locator(CHOICE).select_option(name)
        assert page.locator(".pa-turning").count() == figures
        assert page.locator(".pa-position tbody tr").count() == 2 * figures
        assert page.locator(".pa-position thead th").count() == columns
        assert page.locator(".pa-position tbody tr").first.locator("> *").count() == columns
        assert "" not in page.locator(".pa-position tbody td").all_inner_texts()


def test_an_unknown_model_in_the_address_leaves_the_first(page: Page, address: str) -> None:
    page.goto(f"{address}/{KIND}")
    first = page.locator(CHOICE).input_value()
    page.goto("about:blank")
    page.goto(f"{address}/{KIND}#model=constructor&position=5")
    expect(page.locator(CHOICE)).to_have_value(first)
    expect(page.locator(SAID)).to_contain_text("At position 5,")


def test_without_the_file_of_the_models_there_is_the_first_alone(
    own_page: Page, address: str
) -> None:
    own_page.route("**/data/positions.js", lambda route: route.abort())
    own_page.goto(f"{address}/{KIND}#position=5")
    expect(own_page.locator(SAID)).to_contain_text("At position 5,")
    assert own_page.locator("#pa-position-model").is_hidden()


@pytest.mark.parametrize("width", [375, 1280])
def test_every_model_fits(width: int, browser: Browser, address: str) -> None:
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    page.goto(f"{address}/{KIND}")
    for name in page.locator(f"{CHOICE} option").all_inner_texts()[::12]:
        page.locator(CHOICE).select_option(name)
        assert page.evaluate("document.documentElement.scrollWidth") == width, name
    page.close()


def test_without_scripts_a_sentence_takes_its_place(without_scripts: Page, address: str) -> None:
    without_scripts.goto(f"{address}/{KIND}")
    assert without_scripts.locator("#pa-position-model").is_hidden()
    assert without_scripts.locator(".pa-position").is_hidden()
    assert without_scripts.locator("noscript p").is_visible()
