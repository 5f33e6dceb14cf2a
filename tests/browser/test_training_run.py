"""The slider of a training run in a browser, on the run of the default list."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.samples

NAME = "tiny-gpt-on-this-repository"


@pytest.fixture
def run(built: Path) -> dict[str, Any]:
    return dict(
        json.loads((built / f"site/data/runs/{NAME}.json").read_text(encoding="utf-8"))["run"]
    )


@pytest.fixture
def opened(page: Page, address: str) -> Page:
    """The page with its slider."""
    return open_run(page, address)


def open_run(page: Page, address: str) -> Page:
    page.goto(f"{address}/runs/{NAME}.html")
    page.locator(".pa-figure").nth(1).scroll_into_view_if_needed()
    expect(page.get_by_role("slider", name="Step")).to_be_visible()
    return page


def values_at(page: Page, distance: int) -> dict[str, float]:
    """Values of both lines at a distance, as the cursor shows them."""
    page.locator(".pa-run .pa-frame").focus()
    for _ in range(distance + 1):
        page.keyboard.press("ArrowRight")
    rows = page.locator(".pa-run .pa-tip:visible .pa-tip-row")
    texts = {
        row.locator("span").last.inner_text(): row.locator("b").inner_text() for row in rows.all()
    }
    return {name: float(value.replace("−", "-")) for name, value in texts.items()}


def test_keys_move_from_step_to_step(opened: Page, run: dict[str, Any]) -> None:
    slider = opened.get_by_role("slider", name="Step")
    slider.focus()
    opened.keyboard.press("Home")
    steps = [member["step"] for member in run["members"]]
    for step in steps[:3]:
        expect(slider).to_have_attribute("aria-valuetext", f"step {step:,}")
        expect(opened.locator(".pa-run output").first).to_have_text(f"{step:,}")
        opened.keyboard.press("ArrowRight")
    opened.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", f"step {steps[-1]:,} (last)")
    expect(slider).to_be_focused()


def test_the_figure_shows_the_chosen_step_beside_the_last(
    opened: Page, run: dict[str, Any]
) -> None:
    opened.get_by_role("slider", name="Step").focus()
    opened.keyboard.press("Home")
    [encoding] = run["encodings"]
    found = values_at(opened, 4)
    assert found["step 0"] == pytest.approx(encoding["kernel"][0][4], abs=6e-3)
    assert found["step 2,000 (last)"] == pytest.approx(encoding["kernel"][-1][4], abs=6e-3)


def test_without_javascript_the_pictures_stand_alone(without_scripts: Page, address: str) -> None:
    without_scripts.goto(f"{address}/runs/{NAME}.html")
    assert without_scripts.locator(".pa-figure img").first.is_visible()
    assert without_scripts.locator(".pa-run").first.is_hidden()


def test_a_phone_needs_no_sideways_scroll(own_page: Page, address: str) -> None:
    """Not even before the figure hears of the new width."""
    own_page.add_init_script(
        "window.ResizeObserver = class { observe() {} unobserve() {} disconnect() {} }"
    )
    open_run(own_page, address).set_viewport_size({"width": 375, "height": 800})
    assert (
        own_page.locator(".pa-run .pa-frame canvas").first.evaluate("canvas => canvas.width") > 375
    )
    assert own_page.evaluate("document.documentElement.scrollWidth") == 375
