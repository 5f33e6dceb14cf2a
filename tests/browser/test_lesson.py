"""The lesson in a browser, on the checkpoints of the default list."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.samples

START = "the dog chased the cat"


@pytest.fixture
def site(built: Path) -> Path:
    return built / "site"


def numbers(site: Path) -> dict[str, np.ndarray]:
    text = (site / "data/lesson.js").read_text(encoding="utf-8")
    data = json.loads(text.partition(".lesson = ")[2].removesuffix(";\n"))
    return {
        "tokens": np.array(data["words"]),
        **{name: np.array(rows) for name, rows in data["vocabulary"].items()},
    }


def vectors(site: Path, sentence: str, tell: bool) -> np.ndarray:
    """Inner products of all words of a sentence at their places."""
    data = numbers(site)
    ids = np.array([np.flatnonzero(data["tokens"] == word)[0] for word in sentence.split()])
    places = np.arange(ids.size)
    words, order = data["words"][ids][:, ids], data["order"][places][:, places]
    across = data["positions"][ids][:, places]
    return np.asarray(words + tell * (across + across.T + order))


def cosines(products: np.ndarray) -> np.ndarray:
    sizes = np.sqrt(np.diag(products))
    return np.asarray(products / np.outer(sizes, sizes))


def shown(page: Page) -> np.ndarray:
    rows = page.locator(".pa-lesson table tr").all()[1:]
    return np.array(
        [
            [float(cell.replace("−", "-")) for cell in row.locator("td").all_inner_texts()]
            for row in rows
        ]
    )


@pytest.fixture
def order(page: Page, site: Path) -> Page:
    page.goto((site / "learn/index.html").as_uri())
    expect(page.locator(".pa-lesson table")).to_be_visible()
    return page


def press(page: Page, *words: str) -> None:
    for word in words:
        page.locator(".pa-lesson-words button", has_text=re.compile(f"^{word}$")).first.click()


@pytest.mark.parametrize("tell", [False, True])
def test_the_matrix_shows_the_cosines_of_the_model(order: Page, site: Path, tell: bool) -> None:
    order.get_by_label("encode positions").set_checked(tell)
    np.testing.assert_allclose(
        shown(order), cosines(vectors(site, START, tell)), rtol=0, atol=0.0051
    )


def test_without_positions_a_swap_changes_nothing(order: Page) -> None:
    press(order, "dog", "cat")
    expect(order.locator(".pa-lesson-said")).to_have_text("0 of 10 similarities changed.")
    assert order.locator(".pa-lesson-words button").all_inner_texts() == [
        "the", "cat", "chased", "the", "dog",
    ]  # fmt: skip
    expect(order.get_by_label("A sentence")).to_have_value("the cat chased the dog")


def test_with_positions_a_swap_changes_similarities(order: Page) -> None:
    """As many as are printed with another number."""
    order.get_by_label("encode positions").check()
    before = shown(order)
    press(order, "dog", "cat")
    swap = [0, 4, 2, 3, 1]
    moved = shown(order)[np.ix_(swap, swap)]
    count = int((np.abs(moved - before) > 0.001)[np.triu_indices(5, 1)].sum())
    assert count
    expect(order.locator(".pa-lesson-said")).to_have_text(f"{count} of 10 similarities changed.")


def test_a_typed_sentence_is_shown_and_an_unknown_word_is_named(order: Page, site: Path) -> None:
    order.get_by_label("A sentence").fill("a small bird")
    np.testing.assert_allclose(
        shown(order), cosines(vectors(site, "a small bird", tell=False)), rtol=0, atol=0.0051
    )
    order.get_by_label("A sentence").fill("a small zyzzyva")
    expect(order.get_by_role("alert")).to_contain_text("zyzzyva")


def test_the_parts_of_a_score_add_up(page: Page, site: Path) -> None:
    page.goto((site / "learn/tables.html").as_uri())
    page.get_by_role("button", name="move right").click()
    parts = shown(page)
    np.testing.assert_allclose(
        parts.sum(axis=1), vectors(site, "the chased dog the cat", tell=True)[2], rtol=0, atol=0.005
    )


def test_a_common_shift_turns_hands_and_changes_no_score(page: Page, site: Path) -> None:
    page.goto((site / "learn/rotations.html").as_uri())
    said = page.locator(".pa-lesson-said")
    before, hands = said.inner_text(), page.locator(".pa-query").first.get_attribute("d")
    page.get_by_role("button", name="shift both by 10").click()
    assert said.inner_text().partition("offset")[2] == before.partition("offset")[2]
    assert page.locator(".pa-query").first.get_attribute("d") != hands


def test_shares_of_a_head_are_a_softmax_of_its_bias(page: Page, site: Path) -> None:
    page.goto((site / "learn/biases.html").as_uri())
    texts = page.locator(".pa-bars > span:nth-child(3n)").all_inner_texts()
    bias, share = np.array(
        [[float(part.strip(" %").replace("−", "-")) for part in text.split("·")] for text in texts]
    ).T
    expected = np.exp(bias - bias.max())
    np.testing.assert_allclose(share, 100.0 * expected / expected.sum(), rtol=0.02, atol=0.06)


@pytest.mark.parametrize("step", ["index", "tables", "rotations", "biases", "training"])
def test_a_phone_needs_no_sideways_scroll(step: str, page: Page, site: Path) -> None:
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto((site / f"learn/{step}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 375
