"""The page of model types."""

from functools import partial
from string import ascii_lowercase

import pytest
from bs4 import BeautifulSoup, Tag

from generator.contracts import Atlas
from generator.pipeline import families
from generator.pipeline.find import all_schemes
from generator.site.pages import model_types
from tests.site.test_comparing import rendered

TYPES = (
    "bert",
    "clvp",
    "gemma3_text",
    "jamba",
    "led",
    "llama",
    "mamba",
    "smollm3",
    "t5",
    "gemma4_assistant",
    "swin",
    "vit",
    "deepseek_v32",
)


@pytest.fixture(scope="module")
def page() -> BeautifulSoup:
    atlas = Atlas((), (), all_schemes(), families=partial(families.table, TYPES))
    """All pages, one after the other."""
    text = "".join(rendered(page) for page in model_types.pages(atlas))
    return BeautifulSoup(text, "html.parser")


def tables(page: BeautifulSoup) -> list[Tag]:
    found = page.select("table.pa-families")
    assert len(found) == len(model_types.INITIALS)
    return found


def rows(page: BeautifulSoup) -> dict[str, list[str]]:
    """Cells of each row, by model type and stack."""
    found = [
        [cell.get_text() for cell in row.find_all(["th", "td"])]
        for table in tables(page)
        for row in table.select("tbody tr")
    ]
    return {f"{cells[0]} {cells[1]}".strip(): cells[2:] for cells in found}


def test_the_page_says_whose_defaults_it_shows_and_that_checkpoints_differ(
    page: BeautifulSoup,
) -> None:
    import transformers

    assert (
        f"Defaults of the config classes of transformers {transformers.__version__}; published"
        " checkpoints differ" in page.get_text()
    )


def test_the_table_can_be_sorted_and_every_cell_has_a_heading(page: BeautifulSoup) -> None:
    for table in tables(page):
        assert "data-pa-sortable" in table.attrs
        headings = table.select("thead th[scope=col]")
        rows = table.select("tbody tr")
        assert {len(row.find_all(["th", "td"])) for row in rows} <= {len(headings)}
        assert all(row.select("th[scope=row]") for row in rows)


def test_every_initial_has_one_page() -> None:
    assert sorted("".join(model_types.INITIALS)) == list(ascii_lowercase)


def test_stacks_have_their_rows(page: BeautifulSoup) -> None:
    assert [name for name in rows(page) if name.startswith(("led", "t5"))] == [
        "led encoder",
        "led decoder",
        "t5 encoder",
        "t5 decoder",
    ]
    assert [name for name in rows(page) if name.startswith("clvp ")] == [
        "clvp clvp_encoder encoder",
        "clvp clvp_decoder",
        "clvp clvp_encoder speech encoder",
    ]


def test_only_a_family_without_encoding_is_said_to_have_none(page: BeautifulSoup) -> None:
    assert {name for name, cells in rows(page).items() if cells[3] == "No encoding"} == {
        "jamba",
        "mamba",
    }
    assert {
        name for name, cells in rows(page).items() if cells[3] == "unknown without weights"
    } >= {"bert", "t5 encoder", "t5 decoder"}


def test_layers_that_differ_are_counted_and_shown_in_order(page: BeautifulSoup) -> None:
    assert rows(page)["gemma3_text"] == [
        "26",
        "sliding-window attention (22); attention to all positions (4)",
        "4,096",
        (
            "Rotary: base 10,000, 256 of 256 components (22); Rotary: base 1,000,000, 256 of 256"
            " components (4)"
        ),
        "□□□□□■" * 4 + "□□",
    ]
    assert (
        rows(page)["smollm3"][3]
        == "Rotary: base 2,000,000, 128 of 128 components (27); no rotation (9)"
    )


def test_an_image_model_with_attention_to_all_patches_has_a_row(page: BeautifulSoup) -> None:
    assert rows(page)["vit"] == [
        "12",
        "attention to all positions",
        "",
        "unknown without weights",
        "",
    ]


def test_attention_to_chosen_positions_is_not_to_all(page: BeautifulSoup) -> None:
    assert rows(page)["deepseek_v32"][1] == "attention to chosen positions"


def test_types_without_a_row_are_named_those_that_failed_with_the_reason(
    page: BeautifulSoup,
) -> None:
    assert [names.get_text() for names in page.select("details .pa-hint")] == ["swin"]
    assert [row.get_text().partition("Error: ")[0] for row in page.select("details li")] == [
        "gemma4_assistant: StrictDataclassClassValidation"
    ]
