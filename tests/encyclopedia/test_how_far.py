"""The pages on how far models see: order, bars, strips, parts, and the first sentences."""

import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas
from generator.encyclopedia import table as published
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.pages import how_far
from generator.encyclopedia.reach import SightRow, sight_rows
from generator.reading.find import all_schemes
from generator.site.pictures.reach_bars import along
from tests.encyclopedia.guests import guests
from tests.site.test_comparing import rendered

IDS = (
    "google/gemma-3-4b-it", "deepseek-ai/deepseek-vl2-tiny", "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct", "mistralai/Mistral-7B-v0.1", "google-t5/t5-small",
    "state-spaces/mamba-130m",
)  # fmt: skip


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    table = published.table([model for name in IDS if (model := known_model(name))])
    return Atlas((), (), all_schemes(), guests=guests(table))


@pytest.fixture(scope="module")
def rows(atlas: Atlas) -> dict[str, SightRow]:
    return {row.title: row for row in sight_rows(atlas)}


def test_the_farthest_comes_first_and_what_is_not_known_last(rows: dict[str, SightRow]) -> None:
    """Contexts of config.json; Mistral 7B (arXiv 2310.06825), table 1: a window of 4,096."""
    assert [(title, row.sees) for title, row in rows.items()] == [
        ("Llama-4-Scout-17B-16E-Instruct", 10_485_760), ("Llama-3.1-8B-Instruct", 131_072),
        ("deepseek-vl2-tiny", 4096), ("Mistral-7B-v0.1", 4096), ("t5-small", 512),
        ("gemma-3-4b-it", None), ("mamba-130m", None),
    ]  # fmt: skip


def test_bars_are_context_length_before_scaling_and_windows(rows: dict[str, SightRow]) -> None:
    assert [(bar.css, bar.positions) for bar in rows["Llama-4-Scout-17B-16E-Instruct"].bars] == [
        ("pa-reach-context", 10_485_760), ("pa-reach-trained", 8192), ("pa-layer-chunk", 8192),
    ]  # fmt: skip
    mistral = rows["Mistral-7B-v0.1"]
    assert [bar.text for bar in mistral.bars] == [
        "Configured context: 32,768",
        "Window, in 32 of 32 layers: 4,096",
    ]
    assert (mistral.context, mistral.windows) == (32_768, (("4,096", "32 of 32 layers"),))


def test_strips_have_every_layer_in_order(rows: dict[str, SightRow]) -> None:
    """Gemma 3 (arXiv 2503.19786), section 2: five local layers to one global."""
    [(count, (windows, full))] = rows["gemma-3-4b-it"].stacks
    assert (count, windows.css, full.css) == (34, "pa-layer-window", "pa-layer-full")
    assert full.line == "".join(f"M{index} .5h1" for index in range(5, 34, 6))
    assert windows.line.startswith("M0 .5h5M6 .5h5")
    assert windows.line.endswith("M30 .5h4")
    assert [count for count, _ in rows["t5-small"].stacks] == [6, 6]
    bare = [
        stroke.css for _, lines in rows["Llama-4-Scout-17B-16E-Instruct"].stacks for stroke in lines
    ]
    assert bare == ["pa-layer-chunk", "pa-layer-full pa-layer-bare"]


def test_the_first_sentences_count_the_rows(rows: dict[str, SightRow]) -> None:
    assert how_far.lead(tuple(rows.values())) == (
        "1 of 7 models is configured for 200,000 tokens or more.",
        "Llama-4-Scout-17B-16E-Instruct has the longest context, 10,485,760 tokens.",
        "For 2 models it is not known how far a layer sees.",
    )


def test_every_model_has_its_row_with_its_bars(
    atlas: Atlas, rows: dict[str, SightRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(how_far, "FEWEST", 1)
    [page] = how_far.pages(atlas)
    found = BeautifulSoup(rendered(page), "html.parser").select("tbody tr")
    assert [row.select("th")[0].get_text().split()[0] for row in found] == list(rows)
    llama = found[1]
    assert (llama["data-sees"], found[-1]["data-sees"]) == ("131072", "")
    assert [bar["style"] for bar in llama.select("td i")] == [
        *(f"--x:{along(131_072)}%", f"--x:{along(8192)}%")
    ]


def test_ranges_of_length_hold_every_row_once_in_order(rows: dict[str, SightRow]) -> None:
    found = how_far.bands(tuple(rows.values()))
    assert [row for band in found for row in band.rows] == list(rows.values())
    assert [(band.least, band.below, len(band.rows)) for band in found] == [
        (1_000_000, None, 1), (100_000, 200_000, 1), (2_000, 8_000, 2), (1, 2_000, 1),
        (None, None, 2),
    ]  # fmt: skip


def test_few_models_have_no_page_that_compares_them() -> None:
    assert how_far.pages(Atlas((), (), all_schemes())) == []
