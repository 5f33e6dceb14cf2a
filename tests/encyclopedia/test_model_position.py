"""The page on one position of any published model."""

import json
from urllib.parse import unquote

import numpy as np
import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas
from generator.encyclopedia import model_rows as models
from generator.encyclopedia import table as published
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.pages import model_position
from generator.encyclopedia.turning import positions
from generator.reading.find import all_schemes
from tests.encyclopedia.guests import guests
from tests.site.test_comparing import rendered

IDS = (
    "google-bert/bert-base-uncased", "meta-llama/Llama-3.1-8B-Instruct", "google/gemma-3-4b-it",
    "Qwen/Qwen3-0.6B", "openai/gpt-oss-20b",
)  # fmt: skip


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    table = published.table([model for name in IDS if (model := known_model(name))])
    return Atlas((), (), all_schemes(), guests=guests(table))


def test_models_with_rotations_and_a_context_can_be_chosen(atlas: Atlas) -> None:
    """The config of Gemma 3 gives no context, and its config class does."""
    [page] = model_position.pages(atlas)
    soup = BeautifulSoup(rendered(page), "html.parser")
    names = [option.get_text() for option in soup.select("option")]
    assert names == [
        *("google/gemma-3-4b-it", "meta-llama/Llama-3.1-8B-Instruct", "openai/gpt-oss-20b"),
        "Qwen/Qwen3-0.6B",
    ]
    assert "one of\n4 models with a rotary encoding" in soup.get_text()
    # The newest scaled one is shown first.
    texts = [element.get_text() for element in soup.select("h2, option[selected]")]
    assert texts == ["openai/gpt-oss-20b"] * 2


def test_the_numbers_are_those_of_the_paper(atlas: Atlas) -> None:
    """Llama 3.1 8B, by the rule that Meta published: 29 pairs unchanged, 29 eight times slower."""
    made = GUEST.files(atlas)["data/positions.js"]().decode()
    found = json.loads(made.removeprefix("window.atlasPositions = ").removesuffix(";\n"))
    llama = found["meta-llama/Llama-3.1-8B-Instruct"]
    assert (llama["last"], llama["layers"]) == (131_071, 32)
    assert llama["seeing"] == [{"limit": None, "count": 32, "which": ""}]
    [rotation] = llama["rotations"]
    assert (rotation["base"], rotation["pairs"], rotation["components"]) == (5e5, 64, 128)
    ratios = np.array(rotation["slower"])
    assert [int(np.isclose(ratios, ratio, rtol=1e-6).sum()) for ratio in (1.0, 8.0)] == [29, 29]


def test_a_makers_setting_for_more_positions_is_a_choice() -> None:
    """Qwen's YaRN × 4 on 32,768: of 64 pairs with base 10⁶, those with more than 32 turns within
    that length are as before, those with less than one are four times slower (arXiv 2309.00071,
    section 3.2).
    """
    model = known_model("Qwen/Qwen3-8B")
    assert model is not None
    table = published.table([model])
    found = positions(Atlas((), (), all_schemes(), guests=guests(table)))
    assert [*found] == ["Qwen/Qwen3-8B", "Qwen/Qwen3-8B, to 131,072"]
    extended = found["Qwen/Qwen3-8B, to 131,072"]
    assert extended["last"] == 131_071
    [rotation] = extended["rotations"]
    turns = 32_768 / (2 * np.pi) * 1e6 ** (-np.arange(64) / 64)
    ratios = np.array(rotation["slower"])
    assert np.allclose(ratios[turns > 40], 1.0)
    assert np.allclose(ratios[turns < 0.8], 4.0)
    assert (np.diff(ratios) > -1e-6).all()


def test_rows_of_the_table_lead_to_it(atlas: Atlas) -> None:
    base = [*models.COLUMNS].index("base")
    addresses = {row.id: row.cells[base].address for row in models.rows(atlas)}
    assert addresses["openai/gpt-oss-20b"] == "models/position.html#model=openai%2Fgpt-oss-20b"
    assert addresses["google-bert/bert-base-uncased"] == ""
    [page] = model_position.pages(atlas)
    options = BeautifulSoup(rendered(page), "html.parser").select("option")
    named = {unquote(address.removeprefix(models.AT_POSITION)) for address in addresses.values()}
    assert named - {""} == {option.get_text() for option in options}


def test_a_site_without_rotary_models_has_no_such_page() -> None:
    assert model_position.pages(Atlas((), (), all_schemes())) == []
