"""The compare page and the map in a browser, opened from disk."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from scipy.stats import rankdata

from generator.encodings import sinusoid
from generator.numerics.arrays import cosine_matrix
from generator.text import measured
from tests.browser.conftest import problems_of
from tests.small_site import BLOOM, ENCODER, LLAMA, SINUSOID, TINY, small

FOUR = f"#a={SINUSOID}&b={BLOOM}&c={LLAMA}&d={TINY}"
SIX = f"{FOUR}&e={ENCODER}&f={ENCODER.replace('encoder-', 'decoder-')}"
TITLES, VALUES = "#pac-kernels .pa-panel-title > span", "#pac-kernels .pa-panel-value"
CURVES = "#pac-curves .pa-frame"


@pytest.fixture(scope="module")
def site() -> Path:
    return small() / "site"


@pytest.fixture
def no_errors(page: Page) -> Iterator[None]:
    """Fails the test after errors in the console, or requests for anything but files."""
    with problems_of(page, "file:", "data:", "blob:") as problems:
        yield
    assert problems == []


def show(page: Page, site: Path, view: str = "") -> None:
    page.goto((site / "compare.html").as_uri() + view)
    page.locator("#pac-kernels").scroll_into_view_if_needed()
    expect(page.locator("#pac-kernels canvas").first).to_be_visible()


def titles(page: Page) -> list[str]:
    return page.locator(TITLES).all_inner_texts()


def numbers(page: Page) -> list[float]:
    """The values at the cross."""
    return [float(text.replace("−", "-")) for text in page.locator(VALUES).all_inner_texts()]


def curve(page: Page, index: int = 0) -> Locator:
    """A curve that has come into view and been drawn."""
    page.locator("#pac-curves").scroll_into_view_if_needed()
    frame = page.locator(CURVES).nth(index)
    frame.wait_for()
    frame.scroll_into_view_if_needed()
    return frame


def pictures(page: Page) -> list[str]:
    """The curves as drawn."""
    drawn: list[str] = page.evaluate(
        "[...document.querySelectorAll('#pac-curves canvas:first-child')].map((canvas) =>"
        " canvas.toDataURL())"
    )
    return drawn


def count_writes(page: Page) -> None:
    """Count every writing of the address from now on in ``window.writes``."""
    page.evaluate("""() => {
        window.writes = 0;
        const write = history.replaceState.bind(history);
        history.replaceState = (...all) => (window.writes++, write(...all));
    }""")


def stored(site: Path, name: str) -> Any:
    """The data that a script of the page hands over."""
    text = (site / f"data/compare/{name}.js").read_text()
    return json.loads(f"[{text.partition('(')[2].rpartition(')')[0]}]")[-1]


@pytest.mark.usefixtures("no_errors")
class TestCompare:
    def test_it_opens_with_two_schemes_and_offers_nothing_failed(
        self, page: Page, site: Path
    ) -> None:
        show(page, site)
        assert set(titles(page)[:2]) == {"Sinusoid", "table"}
        assert titles(page)[2:] == ["Difference (B − A)"]
        assert "broken" not in " ".join(page.locator("#pac-a option").all_inner_texts())

    def test_paper_shows_figures_that_no_reader_scrolled_to(self, page: Page, site: Path) -> None:
        show(page, site, FOUR)
        places = page.locator("#pac .pac-place:visible, #pac-curves:visible, #pac-metrics")
        drawn = "all => all.filter(one => one.childElementCount).length"
        assert places.evaluate_all(drawn) < places.count()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert places.evaluate_all(drawn) == places.count()

    def test_a_phone_folds_all_below_the_profiles_and_paper_shows_it(
        self, page: Page, site: Path
    ) -> None:
        page.set_viewport_size({"width": 375, "height": 800})
        show(page, site, f"#a={SINUSOID}&b={LLAMA}")
        folds = page.locator("#pac details.pac-row:visible")
        count, are_open = folds.count(), "all => all.filter(one => one.open).length"
        assert count > 2
        assert folds.evaluate_all(are_open) == 0
        assert page.evaluate("document.documentElement.scrollHeight") < 8000
        decay = folds.filter(has=page.get_by_role("heading", name="Decay with distance"))
        expect(decay.locator(".pa-row-says")).to_contain_text(" (Sinusoid) and ")
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(decay.locator("canvas, svg").first).to_be_visible()
        page.emulate_media(media="null")
        page.get_by_role("button", name="Open all").click()
        assert folds.evaluate_all(are_open) == count

    def test_an_encoding_alone_in_its_form_meets_another(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={BLOOM}")
        assert titles(page)[0] == "BLOOM"
        assert titles(page)[1] != "BLOOM"
        chosen = [page.locator(f"#pac-{slot}").input_value() for slot in "ab"]
        expect(page).to_have_url(re.compile(f"#a={chosen[0]}&b={chosen[1]}$"))

    def test_open_page_leads_to_the_section_of_the_encoding(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={ENCODER}")
        page.get_by_role("link", name=re.compile("Open page: buckets")).click()
        expect(page).to_have_url(re.compile("/checkpoints/buckets.html#encoder-t5_bias$"))
        expect(page.locator("h2#encoder-t5_bias")).to_be_in_viewport()

    def test_choosing_changes_the_address_and_back_returns(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}")
        page.get_by_label("B", exact=True).select_option(LLAMA)
        expect(page.locator(TITLES).nth(1)).to_have_text("Llama 2")
        expect(page).to_have_url(re.compile(f"#a={SINUSOID}&b={LLAMA}$"))
        page.go_back()
        expect(page.locator(TITLES).nth(1)).to_have_text("BLOOM")
        page.get_by_role("button", name="Swap").click()
        expect(page.locator(TITLES).first).to_have_text("BLOOM")

    def test_reload_restores_the_whole_view(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}")
        page.get_by_label("as stored").check()
        page.get_by_label("512").check()
        # What is drawn when its files have come sets the fields anew.
        expect(page.get_by_label("Query", exact=True)).to_have_attribute("max", "511")
        page.get_by_label("Query", exact=True).fill("20")
        page.get_by_label("Query", exact=True).press("Enter")
        expect(page).to_have_url(re.compile("at=20,8"))
        page.reload()
        expect(page.get_by_label("as stored")).to_be_checked()
        expect(page.get_by_label("512")).to_be_checked()
        expect(page.get_by_label("Query", exact=True)).to_have_value("20")

    def test_encodings_of_an_address_can_be_added_to_and_removed(
        self, page: Page, site: Path
    ) -> None:
        show(page, site, FOUR)
        assert titles(page) == ["Sinusoid", "BLOOM", "Llama 2", "table"]
        for count in (5, 6):
            page.get_by_role("button", name="Add another").click()
            expect(page.locator(TITLES)).to_have_count(count)
        expect(page.get_by_role("button", name="Add another")).to_be_hidden()
        page.get_by_role("button", name="Remove").first.click()
        expect(page.locator(TITLES).first).to_have_text("BLOOM")

    def test_six_encodings_have_six_colours(self, page: Page, site: Path) -> None:
        show(page, site, SIX)
        colours = {
            chooser.evaluate("each => getComputedStyle(each).borderLeftColor")
            for chooser in page.locator(".pac-chooser").all()
        }
        assert len(colours) == 6
        lines = page.locator("#pac-profiles .pa-series path").all()
        assert {line.evaluate("each => getComputedStyle(each).stroke") for line in lines} == colours

    def test_choosing_by_keyboard_keeps_the_focus(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={BLOOM}")
        page.locator("#pac-a").select_option(LLAMA)
        page.locator("#pac-a").focus()
        page.keyboard.press("ArrowDown")
        expect(page).not_to_have_url(re.compile(f"a={LLAMA}"))
        expect(page.locator("#pac-a")).to_be_focused()

    def test_a_button_that_disappears_passes_its_focus_on(self, page: Page, site: Path) -> None:
        show(page, site, SIX.rpartition("&")[0])
        page.get_by_role("button", name="Add another").press("Enter")
        expect(page.locator("#pac-f")).to_be_focused()

    def test_a_link_to_an_anchor_of_the_page_keeps_the_view(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}")
        page.evaluate("location.hash = 'numbers'")
        page.wait_for_timeout(300)
        assert titles(page)[:2] == ["Sinusoid", "Llama 2"]

    def test_values_are_those_of_the_kernel_in_every_picture(self, page: Page, site: Path) -> None:
        """Stored kernels: a cosine by numpy; ALiBi's mean slope of 32 heads, Σ 2^(−h/4) / 32, times
        the offset.
        """
        show(page, site, f"#a={SINUSOID}&b={BLOOM}&scale=stored&at=30,20")
        cosine = cosine_matrix(sinusoid(64, 512))[30, 20]
        slope = float(np.mean(2.0 ** -(np.arange(1, 33) / 4)))
        first, second = numbers(page)
        assert first == pytest.approx(cosine, abs=2e-3)
        assert second == pytest.approx(-10 * slope, abs=2e-2)
        # Different quantities have no difference.
        expect(page.locator("#pac-kernels .pac-note")).to_contain_text(
            "Only the shapes can be compared"
        )
        page.locator("#pac-profiles").scroll_into_view_if_needed()
        expect(page.locator("#pac-profiles .pac-note")).to_contain_text(
            "The heights of the lines cannot be compared"
        )

    def test_equal_quantities_have_a_difference_as_stored(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={TINY}&scale=stored")
        assert titles(page)[2:] == ["Difference (B − A)"]
        expect(page.locator("#pac-kernels .pa-unit").first).to_have_text(
            "cosine of two position vectors"
        )

    def test_one_cursor_moves_in_all_pictures_by_keyboard(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}&at=5,5")
        assert numbers(page)[:2] == [1.0, 1.0]
        page.locator("#pac-kernels .pa-frame").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Shift+ArrowRight")
        expect(page.get_by_label("Key", exact=True)).to_have_value("15")
        expect(page.locator("#pac-kernels .pa-said")).to_have_text(
            re.compile(r"query 6, key 15; Sinusoid: 0\.\d+; Llama 2: 0\.\d+; Difference")
        )
        first, second, difference = before = numbers(page)
        assert difference == pytest.approx(second - first, abs=2e-3)
        expect(page).to_have_url(re.compile("at=6,15"))
        page.get_by_label("Query", exact=True).focus()
        assert numbers(page) == before

    def test_one_cursor_moves_in_all_pictures_by_mouse(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}")
        frame = page.locator("#pac-kernels .pa-frame").nth(1)
        box = frame.bounding_box()
        assert box is not None
        frame.hover(position={"x": box["width"] * 0.7, "y": box["height"] * 0.3})
        title = page.locator("#pac-kernels .pa-tip:visible .pa-tip-title").inner_text()
        query, key = re.findall(r"\d+", title)
        assert int(query) < 50 < int(key)
        expect(page.get_by_label("Query", exact=True)).to_have_value(query)
        expect(page.get_by_label("Key", exact=True)).to_have_value(key)

    def test_a_masked_pair_has_no_value(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={BLOOM}&b={SINUSOID}&at=3,9")
        assert page.locator(VALUES).first.inner_text() == "not defined"

    def test_a_position_beyond_an_encoding_has_no_value(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={TINY}&b={SINUSOID}&at=40,9")
        assert page.locator(VALUES).first.inner_text() == "none here"
        expect(page.locator("#pac-kernels .pac-note")).to_contain_text(
            "Shown with fewer positions: table (16)."
        )

    def test_curves_of_tables_turn_together_by_keyboard(self, page: Page, site: Path) -> None:
        show(page, site, FOUR)
        curve(page).focus()
        expect(page.locator("#pac-curves .pac-note")).to_have_text(
            "There is no table of vectors for BLOOM; Llama 2."
        )
        before = pictures(page)
        page.keyboard.press("ArrowRight")
        assert not set(before) & set(pictures(page))
        assert len(before) == 2
        expect(page).to_have_url(re.compile("turn=40,20"))

    def test_a_turn_by_mouse_is_written_once_it_is_over(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={TINY}")
        curve(page).hover()
        count_writes(page)
        visits = page.evaluate("history.length")
        page.mouse.down()
        for step in range(20):
            page.mouse.move(400 + 5 * step, 300)
        page.wait_for_timeout(400)
        assert page.evaluate("window.writes") == 0
        page.mouse.up()
        expect(page).to_have_url(re.compile("turn="))
        assert page.evaluate("[writes, history.length]") == [1, visits]

    def test_positions_of_the_cross_are_marked_on_the_curves(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={TINY}&at=3,4")
        curve(page)
        before = pictures(page)
        page.get_by_label("Query", exact=True).fill("9")
        page.get_by_label("Query", exact=True).press("Enter")
        assert not set(before) & set(pictures(page))

    def test_lines_of_two_encodings_lie_over_each_other(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={TINY}&c={LLAMA}")
        place = page.locator(
            "details.pac-row", has=page.get_by_role("heading", name="Vector norms")
        )
        place.scroll_into_view_if_needed()
        expect(place.locator(".pa-series")).to_have_text(["Sinusoid", "table"])
        expect(place.locator(".pac-note")).to_have_text("Not applicable to Llama 2.")
        place.locator(".pa-frame").focus()
        page.keyboard.press("ArrowRight")
        expect(place.locator(".pa-said")).to_contain_text("position 0; ")
        expect(place.locator(".pa-said")).to_contain_text("Sinusoid: 1")

    def test_longer_windows_load_when_chosen_as_means(self, page: Page, site: Path) -> None:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        show(page, site, f"#a={SINUSOID}&b={LLAMA}&scale=stored&at=100,41")
        assert sum("data/compare/" in url for url in asked) == 3
        page.get_by_label("512").check()
        expect(page.locator("#pac-kernels .pac-note")).to_contain_text(
            "Each cell is the mean of 8 × 8 pairs."
        )
        assert sum("-windows.js" in url for url in asked) == 2
        assert numbers(page)[0] == pytest.approx(
            cosine_matrix(sinusoid(512, 512))[96:104, 40:48].mean(), abs=1e-3
        )

    def test_the_summary_names_the_widest_measure(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}")
        catalogue = stored(site, "index")
        spreads: dict[str, float] = {}
        shares = {one["name"]: one["shares"] for one in catalogue["encodings"]}
        records = [(stored(site, name)["metrics"], shares[name]) for name in (SINUSOID, LLAMA)]
        for key, groups in catalogue["sorted_values"].items():
            values, *others = groups.values() or ([],)
            both = [record[key in catalogue["chances"]].get(key) for record in records]
            if not others and all(isinstance(value, float) for value in both):
                ranks = dict(zip(values, rankdata(values) / len(values), strict=True))
                spreads[key] = abs(ranks[both[0]] - ranks[both[1]])
        said = page.locator("#pac-summary b").inner_text()
        widest = [
            catalogue["words"][key].split("{}")
            for key, spread in spreads.items()
            if spread == pytest.approx(max(spreads.values()))
        ]
        assert "(Sinusoid) and " in said
        assert any(said.startswith(start) and end in said for start, end in widest)

    def test_numbers_of_a_table_without_order_are_not_ranked(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={TINY}")
        said = page.locator("#pac-summary")
        expect(said).to_contain_text("no order was found in table")
        expect(said.locator("b")).to_have_count(0)
        key = "decay_with_distance.half"
        ranked = stored(site, "index")["sorted_values"][key].values()
        mine = stored(site, TINY)["metrics"][key]
        assert all(mine not in values for values in ranked)

    def test_the_summary_of_three_names_both_ends(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}&c={BLOOM}")
        catalogue, said = stored(site, "index"), page.locator("#pac-summary b").inner_text()
        assert any(said.startswith(words.split("{}")[0]) for words in catalogue["words"].values())
        assert said.count(" and ") == 1

    def test_the_summary_says_how_much_two_shapes_differ(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={SINUSOID}")
        expect(page.locator("#pac-summary")).to_contain_text("They agree in all")
        expect(page.locator("#pac-summary")).to_contain_text(
            "The shapes of their kernels have a similarity of 100 out of 100"
        )

    def test_a_proposed_pair_opens_in_place(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={BLOOM}&b={ENCODER}")
        link = page.locator(".pac-presets a").first
        names = link.locator("b").all_inner_texts()
        link.click()
        expect(page.locator(TITLES).first).to_have_text(names[0])
        expect(page.locator(TITLES).nth(1)).to_have_text(names[1])

    def test_numbers_have_no_more_digits_than_their_steps(self, page: Page, site: Path) -> None:
        show(page, site)
        cases = [
            [0.123456, 0.0004], [-0.0001, 0.0004], [1234.6, 3], [12.3, 50], [-2.5e-15, 3e-18],
            [0.85103], [1024], [-2.665e-15],
        ]  # fmt: skip
        texts = page.evaluate("cases => cases.map((numbers) => atlas.say(...numbers))", cases)
        assert texts == [
            "0.123", "0.000", "1,230", "0", "−2.5 × 10⁻¹⁵", "0.85", "1,024", "−2.67 × 10⁻¹⁵",
        ]  # fmt: skip

    def test_measured_values_are_written_as_in_pages(self, page: Page, site: Path) -> None:
        show(page, site)
        sizes = [*np.geomspace(1e-11, 1e11, 199).tolist(), 0.0, 1.0, 9.96, 99.7, 100.0, 0.9984]
        sizes += [number / 8 for number in range(1, 900)]  # Halves in both systems of numbers,
        sizes += [number / 200 for number in range(1, 3000)]  # and in that of readers alone.
        cases = [(sign * size, unit) for size in sizes for sign in (1, -1) for unit in ("", "%")]
        texts = page.evaluate("cases => cases.map((each) => atlas.measured(...each))", cases)
        assert texts == [measured(*case) for case in cases]

    def test_metrics_have_a_difference_and_no_lone_line(self, page: Page, site: Path) -> None:
        show(page, site, f"#a={SINUSOID}&b={LLAMA}")
        assert page.locator("#pac-overlays h2").all_inner_texts() == ["Decay with distance"]
        page.locator("#pac-metrics").scroll_into_view_if_needed()
        row = page.locator("#pac-metrics tbody tr", has_text="half way to its far level").first
        first, second, difference = (
            float(row.locator("td").nth(column).get_attribute("data-value") or "")
            for column in (1, 2, 3)
        )
        assert difference == pytest.approx(second - first, rel=1e-5)

    @pytest.mark.parametrize(
        "view", ["#a=no/such&b=<b>x</b>", "#a=%00&at=x,y&turn=1e9,2&scale=?", "#&&==", "#a=../../x"]
    )
    def test_an_invalid_address_is_no_error(self, view: str, page: Page, site: Path) -> None:
        show(page, site, view)
        assert len(titles(page)) == 3
        assert page.locator("#pac b", has_text=re.compile("^x$")).count() == 0

    def test_an_unknown_name_is_reported(self, page: Page, site: Path) -> None:
        show(page, site, f"#a=no/such&b={BLOOM}")
        expect(page.locator("#pac-unknown")).to_have_text(
            "This site compares no encoding called no/such."
        )

    def test_a_cell_of_the_map_opens_its_pair(self, page: Page, site: Path) -> None:
        page.goto((site / "map.html").as_uri())
        expect(page).to_have_url(re.compile("compare.html#map$"))
        page.locator("table.pam td a").first.click()
        expect(page.locator(TITLES)).to_have_count(3)

    @pytest.mark.parametrize("path", ["compare.html", f"compare.html{SIX}&window=512"])
    def test_a_narrow_screen_scrolls_not_sideways(self, path: str, page: Page, site: Path) -> None:
        page.set_viewport_size({"width": 375, "height": 800})
        page.goto(f"{site.as_uri()}/{path}")
        page.wait_for_timeout(300)
        page.evaluate(
            "document.querySelectorAll('.pac-place').forEach((place) => place.scrollIntoView())"
        )
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_without_javascript_the_page_has_figures_of_pairs(browser: Browser, site: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((site / "compare.html").as_uri())
    expect(page.get_by_role("heading", name=re.compile("encoder and buckets"))).to_be_visible()
    assert page.locator("#pac-static img").count() >= 2
    expect(page.locator("#pac")).to_be_hidden()
    page.close()


def test_a_finger_turns_a_curve_and_does_not_scroll(browser: Browser, site: Path) -> None:
    with browser.new_context(has_touch=True, viewport={"width": 375, "height": 700}) as context:
        page = context.new_page()
        show(page, site, f"#a={SINUSOID}&b={TINY}")
        page.get_by_role("button", name="Open all").click()
        box = curve(page).bounding_box()
        assert box is not None
        count_writes(page)
        before, visits = page.evaluate("scrollY"), page.evaluate("history.length")
        touch = context.new_cdp_session(page)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

        def send(kind: str, *points: dict[str, float]) -> None:
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [*points]})

        send("touchStart", {"x": x, "y": y})
        for step in range(12):
            send("touchMove", {"x": x, "y": y - 6 * step})
        page.wait_for_timeout(400)
        assert page.evaluate("[scrollY, writes]") == [before, 0]
        send("touchEnd")
        expect(page).to_have_url(re.compile("turn=35,-"))
        assert page.evaluate("[scrollY, writes, history.length]") == [before, 1, visits]


def test_scripts_and_styles_of_the_page_are_small(site: Path) -> None:
    others = [site / "assets" / name for name in ("tables.js", "compare.css")]
    files = [*(site / "assets/compare").glob("*.js"), *others]
    assert len(gzip.compress(b"".join(path.read_bytes() for path in files))) < 16_000
