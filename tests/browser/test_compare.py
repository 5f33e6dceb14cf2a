"""The compare page and the map in a browser, opened from disk."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from generator.encodings import sinusoid
from generator.numerics.arrays import cosine_matrix
from tests.small_site import BLOOM, ENCODER, LLAMA, SINUSOID, TINY, build, small_atlas

FOUR = f"#a={SINUSOID}&b={BLOOM}&c={LLAMA}&d={TINY}"
VALUES = "#pac-kernels .pac-value"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    return build(small_atlas(folder / "checkpoints"), folder)


@pytest.fixture
def no_errors(page: Page) -> Iterator[None]:
    """Fails the test after errors in the console, or requests for anything but files."""
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else problems.append(request.url))
    yield
    assert problems == []


def show(page: Page, site: Path, view: str = "") -> None:
    page.goto((site / "compare.html").as_uri() + view)
    expect(page.locator("#pac-kernels figure").first).to_be_visible()


def titles(page: Page) -> list[str]:
    return page.locator("#pac-kernels figcaption").all_inner_texts()


@pytest.mark.usefixtures("no_errors")
class TestCompare:
    def test_it_opens_with_two_schemes_of_one_form_and_their_difference(self, page: Page, site: Path) -> None:
        show(page, site)
        assert set(titles(page)[:2]) == {"Sinusoid", "table"}
        assert titles(page)[2:] == ["Difference (B − A)"]

    def test_an_encoding_without_another_of_its_form_is_compared_with_one_of_another_form(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={BLOOM}")
        assert titles(page)[0] == "BLOOM"
        assert titles(page)[1] != "BLOOM"

    def test_the_address_contains_the_first_view(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={BLOOM}")
        chosen = [page.locator(f"#pac-{slot}").input_value() for slot in "ab"]
        assert page.url.endswith(f"#a={chosen[0]}&b={chosen[1]}")

    def test_an_address_opens_its_encodings(self, page: Page, site: Path) -> None:
        show(page, site, FOUR)
        assert titles(page) == ["Sinusoid", "BLOOM", "Llama 2", "table"]

    def test_open_page_leads_to_the_section_of_the_encoding(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={ENCODER}")
        page.get_by_role("link", name=re.compile("open page: buckets")).click()
        expect(page).to_have_url(re.compile("/checkpoints/buckets.html#encoder-t5_bias$"))
        expect(page.locator("h2#encoder-t5_bias")).to_be_in_viewport()

    def test_choosing_changes_the_address_and_back_returns(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}")
        page.get_by_label("B", exact=True).select_option(LLAMA)
        expect(page.locator("#pac-kernels figcaption").nth(1)).to_have_text("Llama 2")
        assert page.url.endswith(f"#a={SINUSOID}&b={LLAMA}")
        page.go_back()
        expect(page.locator("#pac-kernels figcaption").nth(1)).to_have_text("BLOOM")

    def test_reload_restores_the_whole_view(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}")
        page.get_by_label("as they are stored").check()
        page.get_by_label("Query", exact=True).fill("20")
        page.get_by_label("Query", exact=True).press("Enter")
        page.wait_for_function("location.hash.includes('at=20,8')")
        page.reload()
        expect(page.get_by_label("as they are stored")).to_be_checked()
        expect(page.get_by_label("Query", exact=True)).to_have_value("20")

    def test_encodings_can_be_added_up_to_four_and_removed(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}&c={LLAMA}")
        page.get_by_role("button", name="Add another").click()
        expect(page.locator("#pac-kernels figure")).to_have_count(4)
        expect(page.get_by_role("button", name="Add another")).to_be_hidden()
        page.get_by_role("button", name="remove").first.click()
        expect(page.locator("#pac-kernels figcaption").first).to_have_text("BLOOM")

    def test_choosing_by_keyboard_keeps_the_focus(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}")
        page.locator("#pac-a").select_option(LLAMA)
        page.locator("#pac-a").focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_function(f"!location.hash.includes('a={LLAMA}')")
        expect(page.locator("#pac-a")).to_be_focused()

    def test_a_button_that_disappears_passes_its_focus_on(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}&c={LLAMA}")
        page.get_by_role("button", name="Add another").press("Enter")
        expect(page.locator("#pac-d")).to_be_focused()

    def test_a_link_to_an_anchor_of_the_page_keeps_the_view(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}")
        page.evaluate("location.hash = 'numbers'")
        page.wait_for_timeout(300)
        assert titles(page)[:2] == ["Sinusoid", "Llama 2"]

    def test_the_first_two_can_be_swapped(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}")
        page.get_by_role("button", name="Swap").click()
        expect(page.locator("#pac-kernels figcaption").first).to_have_text("BLOOM")

    def test_values_are_those_of_the_kernel_in_every_picture(self, page: Page, site: Path) -> None:
        """Stored kernels: a cosine by numpy; ALiBi's mean slope of 32 heads, Σ 2^(−h/4) / 32, times the offset."""
        show(page, site, f"#a={SINUSOID}&b={BLOOM}&scale=stored&at=30,20")
        cosine = cosine_matrix(sinusoid(64, 512))[30, 20]
        slope = float(np.mean(2.0 ** -(np.arange(1, 33) / 4)))
        values = [float(text.replace("−", "-")) for text in page.locator(VALUES).all_inner_texts()]
        assert values == [pytest.approx(cosine, abs=2e-3), pytest.approx(-10 * slope, abs=2e-2)]

    def test_different_quantities_have_no_difference_as_stored(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}&scale=stored")
        assert "only their shapes can be compared" in page.locator("#pac-kernels .pac-missing").inner_text()
        expect(page.locator("#pac-profiles .pac-unit")).to_contain_text("heights cannot be compared")

    def test_equal_quantities_have_a_difference_as_stored(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={TINY}&scale=stored")
        assert page.locator("#pac-kernels .pac-missing").count() == 0
        expect(page.locator("#pac-profiles .pac-unit")).to_have_text("cosine of two position vectors")

    def test_one_cursor_moves_in_all_pictures_by_keyboard(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}&at=5,5")
        assert page.locator(VALUES).all_inner_texts()[:2] == ["1.000", "1.000"]
        page.locator(".pac-frame").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Shift+ArrowRight")
        expect(page.get_by_label("Key", exact=True)).to_have_value("15")
        expect(page.locator("#pac-live")).to_contain_text("Query 6, key 15, offset 9. Sinusoid: 0.")
        assert len({frame.get_attribute("data-at") for frame in page.locator(".pac-frame").all()}) == 1

    def test_one_cursor_moves_in_all_pictures_by_mouse(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}")
        frame = page.locator(".pac-frame").nth(1)
        box = frame.bounding_box()
        assert box is not None
        frame.hover(position={"x": box["width"] * 100.5 / 128, "y": box["height"] * 50.5 / 128})
        expect(page.get_by_label("Query", exact=True)).to_have_value("50")
        expect(page.get_by_label("Key", exact=True)).to_have_value("100")

    def test_a_masked_pair_has_no_value(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={BLOOM}&b={SINUSOID}&at=3,9")
        assert page.locator(VALUES).first.inner_text() == "not defined"

    def test_a_position_beyond_an_encoding_shows_its_number_of_positions(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={TINY}&b={SINUSOID}&at=40,9")
        assert page.locator(VALUES).first.inner_text() == "only 16 positions"

    def test_curves_of_tables_turn_together_by_keyboard(self, page: Page, site: Path) -> None:
        show(page, site, FOUR)
        assert page.locator("#pac-curves .pac-missing").all_inner_texts() == ["No table, so no curve."] * 2
        page.locator(".pac-curve").first.focus()
        page.keyboard.press("ArrowRight")
        assert [curve.get_attribute("data-turn") for curve in page.locator(".pac-curve").all()] == ["40,20", "40,20"]
        page.wait_for_function("location.hash.includes('turn=40,20')")

    def test_curves_turn_by_mouse(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={TINY}")
        page.locator(".pac-curve").first.hover()
        page.mouse.down()
        page.mouse.move(0, 0)
        page.mouse.up()
        assert page.locator(".pac-curve").nth(1).get_attribute("data-turn") != "35,20"

    def test_numbers_have_no_more_digits_than_their_steps(self, page: Page, site: Path) -> None:
        show(page, site)
        cases = [[0.123456, 0.0004], [-0.0001, 0.0004], [1234.6, 3], [12.3, 50], [-2.5e-15, 3e-18], [0.85103], [1024], [-2.665e-15]]
        texts = page.evaluate("cases => cases.map((numbers) => atlas.say(...numbers))", cases)
        assert texts == ["0.123", "0.000", "1,230", "0", "−2.500 × 10⁻¹⁵", "0.8510", "1,024", "−2.665 × 10⁻¹⁵"]

    def test_metrics_are_shown_with_their_difference(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}")
        row = page.locator("#pac-metrics tbody tr", has_text="Half-distance")
        first, second, difference = (float(row.locator("td").nth(column).get_attribute("data-value") or "") for column in (1, 2, 3))
        assert difference == pytest.approx(second - first, rel=1e-5)

    @pytest.mark.parametrize("view", ["#a=no/such&b=<b>x</b>", "#a=%00&at=x,y&turn=1e9,2&scale=?", "#&&==", "#a=../../x"])
    def test_an_invalid_address_opens_the_page_without_errors(self, view: str, page: Page, site: Path) -> None:
        show(page, site, view)
        assert len(titles(page)) == 3
        assert page.locator("#pac b").count() == 0

    def test_an_unknown_name_is_reported(self, page: Page, site: Path) -> None:
        show(page, site, f"#a=no/such&b={BLOOM}")
        expect(page.locator("#pac-unknown")).to_have_text("This atlas has no encoding called no/such.")

    def test_a_failed_checkpoint_cannot_be_chosen(self, page: Page, site: Path) -> None:
        show(page, site)
        assert not [value for value in page.locator("#pac-a option").all_inner_texts() if "broken" in value]

    def test_a_cell_of_the_map_opens_its_pair(self, page: Page, site: Path) -> None:
        page.goto((site / "map.html").as_uri())
        page.locator("table.pam td a").first.click()
        expect(page.locator("#pac-kernels figure")).to_have_count(3)

    @pytest.mark.parametrize("path", ["compare.html", f"compare.html{FOUR}", "map.html", "data/index.html"])
    def test_a_narrow_screen_does_not_scroll_sideways(self, path: str, page: Page, site: Path) -> None:
        page.set_viewport_size({"width": 375, "height": 800})
        page.goto(f"{site.as_uri()}/{path}")
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_without_javascript_the_page_has_figures_of_pairs(browser: Browser, site: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((site / "compare.html").as_uri())
    expect(page.get_by_role("heading", name=re.compile("encoder and buckets"))).to_be_visible()
    assert page.locator("#pac-static img").count() >= 2
    expect(page.locator("#pac")).to_be_hidden()
    page.close()


def test_scripts_and_styles_of_the_page_are_small(site: Path) -> None:
    import gzip

    files = [*(site / "assets/compare").glob("*.js"), site / "assets/tables.js", site / "assets/compare.css"]
    assert len(gzip.compress(b"".join(path.read_bytes() for path in files))) < 15_000
