"""The panel of a rotary model by position, against what the site publishes of the model."""

import json
import re
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from generator.site.materials import OURS
from generator.site.render import environment_of

pytestmark = pytest.mark.samples

SCRIPT = Path("site_src/assets/position.js")
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
            parts.append(f"{now} of {size // 2} rotation pairs {have} completed a turn{without}")
    seeing = [
        layer
        for layer in row["layers"]
        if "recurrent" not in layer["kinds"]
        and (layer["before"] is None or position <= layer["before"])
    ]
    return [*parts, seen(len(seeing), len(row["layers"]))]


def seen(count: int, layers: int) -> str:
    """Part of the sentence on the layers that see the first position."""
    if not count:
        return "no layer still sees position 0"
    if count == layers > 1:
        return f"all {count} layers still see position 0"
    return f"{count} of {layers} layers still {'sees' if count == 1 else 'see'} position 0"


@pytest.mark.parametrize("slug", MODELS)
def test_any_position_has_the_published_numbers(
    slug: str, page: Page, address: str, built: Path
) -> None:
    row = published(built, slug)
    page.goto(f"{address}/checkpoints/{slug}.html")
    last = int(page.locator(FIELD).get_attribute("max") or 0)
    for position in (1, 7, 127, 128, 1023, 1024, 8191, 8192, 100_000, last):
        page.locator(FIELD).fill(str(position))
        expect(page.locator(SAID)).to_contain_text(f"At position {position:,}, ")
        said = page.locator(SAID).inner_text()
        assert [part for part in expected(row, position) if part not in said] == []


def test_the_last_position_comes_first(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    expect(page.locator(FIELD)).to_have_value("131071")
    expect(page.locator(SAID)).to_contain_text("At position 131,071,")


# Frequencies 1, 1/8, 1/64 and 1/512: at position 127, 20.2, 2.5, 0.3 and 0.04 turns.
ROTATION = {"label": "decoder", "step": 1, "base": 4096, "components": 8, "pairs": 4, "slower": [1]}
SLOW = {**ROTATION, "label": "decoder 2", "base": 1e9}
FULL = [{"limit": None, "count": 1, "which": ""}]
WHOLE: dict[str, Any] = {
    "last": 1000, "longer": None, "rotations": [ROTATION], "layers": 1, "seeing": FULL,
}  # fmt: skip
WHOLE |= {"beside": ""}
WINDOWS = [{"limit": 127, "count": 1, "which": "layer 0"}, {"limit": 99, "count": 3, "which": ""}]
SENTENCES: list[tuple[dict[str, Any], int, str]] = [
    (
        {"seeing": WINDOWS, "layers": 3},
        127,
        "At position 127, 2 of 4 rotation pairs have completed a turn, and 1 of 3 layers still sees"
        " position 0: layer 0.",
    ),
    (
        {"seeing": WINDOWS, "layers": 3},
        99,
        "At position 99, 2 of 4 rotation pairs have completed a turn, and all 3 layers still see"
        " position 0.",
    ),
    (
        {"seeing": WINDOWS, "layers": 3, "beside": "; 1 may attend to it: layer 3"},
        128,
        "At position 128, 2 of 4 rotation pairs have completed a turn, and no layer still sees"
        " position 0; 1 may attend to it: layer 3.",
    ),
    (
        {"rotations": [{**ROTATION, "slower": [8]}], "layers": 0, "seeing": []},
        127,
        "At position 127, 1 of 4 rotation pairs has completed a turn (2 without scaling).",
    ),
    (
        {"rotations": [ROTATION, SLOW]},
        127,
        "At position 127, the only layer still sees position 0. Decoder: 2 of 4 rotation pairs have"
        " completed a turn. Decoder 2: 1 of 4 rotation pairs has completed a turn.",
    ),
]


def shown(page: Page, model: dict[str, Any], position: int) -> None:
    """Have a page show the panel of ``model`` alone."""
    whole = WHOLE | model
    macros = environment_of(*OURS.templates).get_template("pages/at_position.jinja").module
    page.set_content(str(macros.at_position(whole, str)))  # type: ignore[attr-defined]
    page.add_script_tag(path=SCRIPT)
    page.locator(FIELD).fill(str(position))


def test_the_sentence_counts_pairs_and_layers(page: Page) -> None:
    for model, position, sentence in SENTENCES:
        shown(page, model, position)
        assert page.locator(SAID).inner_text() == sentence


def test_angles_below_a_turn_are_in_degrees(page: Page) -> None:
    """Of a step of ¼, 1 and 2½ turns, and of the slowest pair of base 1e12."""
    cells = []
    for turns in (0.25, 1.0, 2.5):
        step = {**ROTATION, "step": 2 * pi * turns, "base": 1e12, "components": 8}
        shown(page, {"rotations": [step]}, 1)
        cells.append(page.locator("tbody td").all_inner_texts()[::2])
    shown(page, {}, 0)
    assert page.locator("tbody td").all_inner_texts()[1::2] == ["0°", "0°"]
    assert page.locator(SAID).inner_text().startswith("At position 0, 0 of 4 rotation pairs")
    assert [first for first, _ in cells] == ["90°", "1 turn", "2.500 turns"]
    assert [last for _, last in cells] == ["9.000 × 10⁻⁸°", "3.600 × 10⁻⁷°", "9.000 × 10⁻⁷°"]


def test_a_bar_is_as_high_as_the_share_of_the_first_turn(page: Page) -> None:
    shown(page, {}, 127)
    path = page.locator(".pa-turning path").get_attribute("d") or ""
    heights = [float(step) for step in re.findall(r"V([\d.]+)h1", path)]
    np.testing.assert_allclose(heights, [0, 0, 1 - 127 / 64 / (2 * pi), 1 - 127 / 512 / (2 * pi)])


def test_frequencies_of_longer_texts_are_said_not_to_be_shown(page: Page) -> None:
    for longer, text in (
        (4096, "Texts of more than 4,096 positions use other frequencies, which are not"),
        (None, ""),
    ):
        shown(page, {"longer": longer}, 5)
        note = page.locator(".pa-longer")
        assert note.is_visible() is bool(text)
        assert text in note.inner_text()


def test_a_position_is_in_the_address_and_read_from_it(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    page.locator(FIELD).fill("8192")
    expect(page).to_have_url(re.compile("#position=8192$"))
    page.goto("about:blank")
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html#position=500")
    expect(page.locator(FIELD)).to_have_value("500")
    expect(page.locator(SAID)).to_contain_text("At position 500,")
    expect(page.locator(FIELD)).to_be_in_viewport()


def test_keys_move_the_slider_from_one_end_to_the_other(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    page.locator(SLIDER).focus()
    page.keyboard.press("Home")
    expect(page.locator(SAID)).to_contain_text("At position 1, 0 of 64 rotation pairs have")
    page.keyboard.press("End")
    expect(page.locator(FIELD)).to_have_value("131071")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(SLIDER)).to_have_attribute("aria-valuetext", "126,023")


def test_a_position_beyond_the_context_says_so(page: Page, address: str) -> None:
    page.goto(f"{address}/checkpoints/llama-3-1-8b.html")
    page.locator(FIELD).fill("200000")
    expect(page.locator(SAID)).to_contain_text(
        "Position 200,000 is beyond the context of 131,072 positions. At position"
    )


def test_beyond_the_context_dynamic_scaling_changes_all_angles(page: Page) -> None:
    shown(page, {"grows": True}, 2000)
    assert "changes all angles with the length" in page.locator(SAID).inner_text()


def test_longer_texts_turn_by_their_own_list(page: Page) -> None:
    """At position 127 two pairs have completed a turn, and with 64 times the wavelength none."""
    model = {"longer": 100, "rotations": [{**ROTATION, "slower_beyond": [64]}]}
    shown(page, model, 99)
    assert "2 of 4 rotation pairs" in page.locator(SAID).inner_text()
    shown(page, model, 127)
    assert (
        "0 of 4 rotation pairs have completed a turn (2 without" in page.locator(SAID).inner_text()
    )
    assert "shown from that position on" in page.locator(".pa-longer").inner_text()


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("slug", ["llama-3-1-8b", "gemma-3-4b"])
def test_controls_are_large_and_nothing_moves(
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
