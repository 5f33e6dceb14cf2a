"""The pages of models: rows, parts, facets, links, and their data."""

import csv
import io
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas, Outcome, Provenance
from generator.encyclopedia import model_rows as models
from generator.encyclopedia import table as published
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.pages import known_models as models_page
from generator.encyclopedia.pages import published_model
from generator.reading.find import all_schemes
from generator.text import plural
from tests.encyclopedia.guests import guests
from tests.site.test_comparing import rendered
from tests.support import checkpoint

IDS = (
    "google/gemma-3-4b-it", "deepseek-ai/deepseek-vl2-tiny", "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct", "google-bert/bert-base-uncased",
    "EleutherAI/pythia-1.4b", "openai/whisper-tiny", "mosaicml/mosaic-bert-base",
)  # fmt: skip


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    chosen = [model for name in IDS if (model := known_model(name))]
    table = published.table(chosen)
    rows = (
        checkpoint(slug="ours", of="meta-llama/Llama-3.1-8B-Instruct", place="x"),
        checkpoint(slug="pythia", source="hub", id="EleutherAI/pythia-1.4b", place="y"),
    )
    outcomes = tuple(Outcome(row, "not reached", "x") for row in rows)
    return Atlas(outcomes, (), all_schemes(), guests=guests(table))


@pytest.fixture(scope="module")
def cells(atlas: Atlas) -> dict[str, dict[str, str]]:
    """Text of each cell, by the id of the model and its column."""
    return {
        row.id: {
            column: " ".join(text for text in (cell.text, cell.hint) if text)
            for column, cell in zip(models.COLUMNS.values(), row.cells, strict=True)
        }
        for row in models.rows(atlas)
    }


def test_a_row_says_what_its_config_says(cells: dict[str, dict[str, str]]) -> None:
    """Values of config.json: Llama 3.1 8B (model card), Gemma 3 (report, section 2)."""
    llama, gemma = cells["meta-llama/Llama-3.1-8B-Instruct"], cells["google/gemma-3-4b-it"]
    said = {
        "Configured context": "131,072", "Rotary base": "500,000",
        "original_max_position_embeddings": "8,192 llama3 × 8",
        "Parameters": "8B", "Published": "2024-07", "Developer": "Meta",
    }  # fmt: skip
    assert {column: llama[column] for column in said} == said
    assert (
        gemma["Rotary base"] == "10,000; 1,000,000" or gemma["Rotary base"] == "1,000,000; 10,000"
    )
    assert gemma["Layers"] == "34 29 windows of 1,024, 5 full attention"
    assert cells["EleutherAI/pythia-1.4b"]["Position encoding"] == (
        "Rotary 25% of each head rotates"
    )
    assert cells["EleutherAI/pythia-1.4b"]["Model"].endswith(" · gpt_neox")
    mosaic = cells["mosaicml/mosaic-bert-base"]["Model"]
    assert mosaic.endswith(" · bert · from knowledge, not checked")
    assert llama["Model"].endswith(" · llama")


@pytest.mark.parametrize(("name", "text"), [
    ("CohereLabs/c4ai-command-r7b-12-2024", "24 windows of 4,096, 8 full attention without"),
    ("HuggingFaceTB/SmolLM3-3B", "9 without encoding"),
    ("ai21labs/Jamba-v0.1", "28 recurrent state, 4 full attention without encoding"),
])  # fmt: skip
def test_layers_without_encoding_are_counted_once(name: str, text: str) -> None:
    model = known_model(name)
    assert model is not None
    [row] = json.loads(published.table([model]))["models"]
    assert models.WORDING("mixing", model=row).startswith(text)


def test_what_was_entered_from_knowledge_is_marked_in_its_row_and_explained(atlas: Atlas) -> None:
    [page] = models_page.pages(atlas)
    soup = BeautifulSoup(rendered(page), "html.parser")
    unchecked = {
        model.id for name in IDS if (model := known_model(name)) and model.is_from_knowledge
    }
    mark = "entered from knowledge, not checked against the published file"
    marked = soup.select(f'tbody th small[title="{mark}"]')
    assert [small.text.split(" · ")[-1] for small in marked] == [
        "from knowledge, not checked"
    ] * len(unchecked)
    assert 0 < len(unchecked) < len(IDS)
    assert f"The other {plural(len(unchecked), 'config')}, marked" in rendered(page)
    assert rendered(page).count(f"{mark}, because") == 1


def test_a_row_says_whether_code_confirms_it(cells: dict[str, dict[str, str]]) -> None:
    """In one place, where it is not so."""
    assert cells["google/gemma-3-4b-it"]["Config"] == "config.json"
    unread = cells["deepseek-ai/deepseek-vl2-tiny"]
    assert unread["Config"] == "config.json no code in transformers"
    assert unread["Layers"] == "12 full attention"


def with_models(atlas: Atlas, column: str, *rows: dict[str, Any]) -> list[Any]:
    """Cells of a column where the first model is changed into each of ``rows``."""
    first = models.records(atlas)[0]
    table = json.dumps({"models": [{**first, **row} for row in rows]}).encode()
    shown = models.rows(replace(atlas, guests=guests(table)))
    return [row.cells[[*models.COLUMNS.values()].index(column)] for row in shown]


def test_what_was_not_checked_says_so(atlas: Atlas) -> None:
    differs = {"outcome": "differs", "why": "twice", "transformers": "5"}
    checks = (differs, {"outcome": "not run", "why": None, "transformers": "5"}, None)
    cells = with_models(atlas, "Config", *({"check": check} for check in checks))
    assert [(cell.hint, cell.title) for cell in cells] == [
        ("differs from transformers", "twice"), ("its code did not run", ""), ("not checked", ""),
    ]  # fmt: skip


def test_sizes_are_split_where_name_or_source_say_both(atlas: Atlas) -> None:
    sizes = (
        (None, 671_000_000_000, 37_000_000_000), (None, None, 2_700_000_000), ("8x7B", None, None)
    )  # fmt: skip
    names = ("size", "parameters", "active_parameters")
    cells = with_models(
        atlas, "Parameters", *(dict(zip(names, each, strict=True)) for each in sizes)
    )
    assert [cell.text for cell in cells] == ["671B, 37B active", "2.7B active", "8x7B"]


def test_what_is_not_known_is_said_so(atlas: Atlas) -> None:
    unread = {"schemes": [], "image_schemes": [], "rotations": [], "layers": 0, "stacks": []}
    [encoding] = with_models(atlas, "Position encoding", unread)
    [base] = with_models(atlas, "Rotary base", unread)
    assert (encoding.text, base.text) == ("unknown", "–")


def test_rows_lead_to_pages_of_models_and_these_to_pages_of_checkpoints(atlas: Atlas) -> None:
    addresses = [row.cells[0].address for row in models.rows(atlas)]
    own = {page.path.replace(".md", ".html"): page for page in published_model.pages(atlas)}
    assert sorted(addresses) == sorted(own)
    assert {
        name: vars(page.context)["measured"]
        for name, page in own.items()
        if vars(page.context)["measured"]
    } == {
        "models/meta-llama--Llama-3.1-8B-Instruct.html": "checkpoints/ours.html",
        "models/EleutherAI--pythia-1.4b.html": "checkpoints/pythia.html",
    }


def test_what_follows_from_settings_alone_is_computed_and_not_measured(atlas: Atlas) -> None:
    def of(tensor: str | None) -> Any:
        return SimpleNamespace(encoding=SimpleNamespace(provenance=Provenance("x", tensor)))

    pairs = zip(atlas.outcomes, ("wpe.weight", None), strict=True)
    shown = replace(
        atlas, outcomes=tuple(replace(one, readings=(of(tensor),)) for one, tensor in pairs)
    )
    ids = "meta-llama/Llama-3.1-8B-Instruct", "EleutherAI/pythia-1.4b"
    assert models.marks_of(shown) == dict(zip(ids, ("measured", "computed"), strict=True))
    assert models.marks_of(atlas) == {}
    hints = {row.id: row.cells[0].hint for row in models.rows(shown)}
    assert [hints[name].rpartition(" · ")[2] for name in ids] == ["measured", "computed"]
    states = {page.path: vars(page.context)["state"] for page in published_model.pages(shown)}
    assert sorted(filter(None, states.values())) == ["computed", "measured"]


def test_a_cache_whose_layers_all_have_windows_is_what_they_take_until_these_are_full() -> None:
    """StarCoder2 7B: 32 layers with windows of 4,096, and 4 heads of 128 for keys and values."""
    names = ("bigcode/starcoder2-7b", "google/recurrentgemma-2b", "intfloat/e5-mistral-7b-instruct")
    table = published.table([model for name in names if (model := known_model(name))])
    column = list(models.COLUMNS).index("cache")
    rows = models.rows(Atlas((), (), all_schemes(), guests=guests(table)))
    found = {row.id: row.cells[column] for row in rows}
    assert len(found) == len(names)
    assert not [cell for cell in found.values() if cell.text == "0 bytes" or cell.value != 0]
    cell = found["bigcode/starcoder2-7b"]
    assert cell.text == f"{32 * 2 * 4 * 128 * 2 / 1000:.2f} kB"
    assert cell.hint.startswith("for each of the first 4,096, then nothing more")


def test_the_newest_come_first(atlas: Atlas) -> None:
    months = [row.cells[[*models.COLUMNS].index("published")].text for row in models.rows(atlas)]
    known = [month.removeprefix("≈ ") for month in months if month != models.UNKNOWN]
    assert known == sorted(known, reverse=True)
    assert months[: len(known)] == [month for month in months if month != models.UNKNOWN]


def test_a_month_of_a_paper_is_marked() -> None:
    """Santacoder is dated by its paper; Whisper's third version by OpenAI's change log."""
    names = ("openai/whisper-large-v3", "bigcode/gpt_bigcode-santacoder")
    table = published.table([model for name in names if (model := known_model(name))])
    shown = models.rows(Atlas((), (), all_schemes(), guests=guests(table)))
    cells = [row.cells[[*models.COLUMNS].index("published")] for row in shown]
    assert [(cell.text, cell.hint) for cell in cells] == [("2023-11", ""), ("2023-01", "paper")]


def test_an_undated_model_is_sorted_by_its_best_known_month() -> None:
    """Beside GPT-2 of the same maker; by its paper; by its maker's statement."""
    names = ("openai-community/gpt2", "openai-community/gpt2-xl", "MiniMaxAI/MiniMax-M3",
             "allenai/Olmo-3.1-32B-Instruct", "internlm/internlm-chat-7b")  # fmt: skip
    chosen = [model for name in names if (model := known_model(name))]
    first, *others = json.loads(published.table(chosen))["models"]
    assert first["id"] == names[0]
    near = models.best_months([first, *({**one, "month": None} for one in others)])
    gpt2 = near["openai-community/gpt2"]
    assert near == {
        names[0]: gpt2, names[1]: gpt2, names[3]: "2025-12", names[4]: "2024-01",
    }  # fmt: skip


def test_facets_hold_every_value_once(atlas: Atlas) -> None:
    facets = {facet.name: facet.values for facet in models_page.facets(models.rows(atlas))}
    assert facets["input"] == ["images", "sound", "text"]
    assert {"windows", "chunks", "full attention", "attention without encoding"} <= set(
        facets["kind"]
    )
    assert facets["maker"] == sorted(set(facets["maker"]))
    assert facets["base"] == sorted(set(facets["base"]), key=int)


def test_the_first_sentences_count_the_rows(atlas: Atlas) -> None:
    first, second = models_page.lead(models.rows(atlas))
    assert first == (
        "Of 8 models, 63% use a rotary encoding. The longest configured context is 10,485,760"
        " tokens (Llama-4-Scout-17B-16E-Instruct)."
    )
    assert second == (
        "Windows or chunks limit attention in some or all layers of 2 models, and none has a"
        " recurrent state."
    )


def test_a_site_without_models_says_so() -> None:
    [page] = models_page.pages(Atlas((), (), all_schemes()))
    soup = BeautifulSoup(rendered(page), "html.parser")
    assert "No published config was read." in soup.get_text()
    assert soup.select("table") == []


def test_csv_has_a_row_for_each_model(atlas: Atlas) -> None:
    table = list(csv.DictReader(io.StringIO(GUEST.files(atlas)["data/models.csv"]().decode())))
    assert [row["id"] for row in table] == list(IDS)
    llama = table[IDS.index("meta-llama/Llama-3.1-8B-Instruct")]
    assert (llama["context"], llama["trained"], llama["base"]) == ("131072", "8192", "500000.0")
    # 2 bytes of keys and values of 8 heads with 128 components in each of 32 layers
    cache = (llama["kv_bytes_per_token_bf16"], llama["cache_type"], llama["heads_for_keys"])
    assert cache == ("131072", "bfloat16", "8")


def test_the_page_has_every_model_with_what_its_filter_asks(atlas: Atlas) -> None:
    [page] = models_page.pages(atlas)
    found = BeautifulSoup(rendered(page), "html.parser").select("tbody tr")
    names = [row.select("th")[0].get_text().split()[0] for row in found]
    assert sorted(names) == sorted(name.partition("/")[2] for name in IDS)
    llama = found[names.index("Llama-3.1-8B-Instruct")]
    asked = ("scheme", "kind", "input", "context", "year", "maker")
    assert [llama[f"data-{name}"] for name in asked] == [
        *("Rotary", "full attention|full attention in every layer", "text", "131072", "2024"),
        "Meta",
    ]
