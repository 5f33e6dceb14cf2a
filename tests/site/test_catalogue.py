"""The table of all encodings, and the checkpoints below it that have none."""

from dataclasses import replace
from itertools import groupby

import pytest
from bs4 import BeautifulSoup, Tag

from generator.contracts import Analysis, Fact, Layer, Outcome, Provenance
from generator.encodings import Rotation
from generator.site.pages import catalogue
from generator.site.rankings.columns import common
from tests.analyses.test_all import applicable_results, each_analysis
from tests.site.test_comparing import NOTHING, context, outcome, page, rendered, table
from tests.support import checkpoint

ROTATION = Rotation(10000.0, 8, 8, 64)


def html(*outcomes: Outcome) -> BeautifulSoup:
    return BeautifulSoup(rendered(page("catalogue", *outcomes)), "html.parser")


def rows(found: BeautifulSoup, selector: str = ".pa-matrix tbody tr") -> list[list[str]]:
    return [
        [cell.get_text(" ", strip=True) for cell in row.find_all(["th", "td"])]
        for row in found.select(selector)
    ]


@pytest.mark.parametrize(
    ("value", "values", "expected"),
    [
        (1.0, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 0),
        (4.0, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 3),  # 3 of the 7 others are lower.
        (8.0, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 6),
        (1.0, [0.5, 1.0, 1.0, 1.0], 6),  # All different ones are lower.
        (0.0, [0.0, 0.0, 9.0], 0),
        (2.0, [2.0, 2.0], None),
        (2.0, [], None),
    ],
)
def test_a_shade_is_the_share_of_the_other_values_that_are_lower(
    value: float, values: list[float], expected: int | None
) -> None:
    assert catalogue.shade(value, values) == expected


def test_every_encoding_has_a_row_and_every_cell_a_heading() -> None:
    found = html(outcome("a", table(1), title="a"), outcome("b", ROTATION, "rotary", title="b"))
    headings = found.select(".pa-matrix thead th")
    assert [row[0] for row in rows(found)] == ["a", "b"]
    assert {len(row) for row in rows(found)} == {len(headings)}
    assert all(heading.get_text(strip=True) for heading in headings)


def test_no_scheme_is_called_the_most_common_where_each_is_used_once() -> None:
    rows = [outcome("a", table(1)), outcome("b", ROTATION, "rotary")]

    def lead(*outcomes: Outcome) -> str:
        return " ".join(html(*outcomes).select(".pa-lead")[0].get_text().split())

    assert lead(*rows) == "These 2 models use 2 different schemes."
    again = outcome("c", ROTATION, "rotary")
    assert lead(*rows, again).startswith("The most common scheme among these 3 models is")
    assert lead(rows[0]).startswith("The most common scheme among this one model is")


def test_a_row_says_where_the_encoding_acts_and_where_its_numbers_come_from() -> None:
    learned = outcome("a", table(1))
    [reading] = learned.readings
    stored = replace(reading.encoding, provenance=Provenance("model.safetensors", "wpe.weight"))
    learned = replace(learned, readings=(replace(reading, encoding=stored),))
    found = rows(html(learned, outcome("b", ROTATION, "rotary"), outcome("c", NOTHING, "none")))
    assert [row[-3:-1] for row in found] == [
        ["input", "trained"], ["attention", "by formula"], ["–", "–"],
    ]  # fmt: skip


def test_columns_of_the_analyses_that_apply_to_most_come_first() -> None:
    columns = context(
        "catalogue",
        outcome("a", table(1)),
        outcome("b", ROTATION, "rotary"),
        outcome("c", NOTHING, "none"),
    ).columns
    most = [
        max(column.n_values for column in members)
        for _, members in groupby(columns, key=lambda column: column.analysis.key)
    ]
    assert most == sorted(most, reverse=True)
    assert {column.n_values for column in columns} <= {1, 2, 3}


def test_several_encodings_are_summed_up_by_the_first_metric_that_most_of_them_have() -> None:
    first, second = (outcome(slug, table(seed)).readings[0] for seed, slug in enumerate("ab"))
    nothing = outcome("c", NOTHING, "none").readings[0]
    columns = context("catalogue", outcome("a", table(1))).columns
    assert common(columns, [first, second, nothing]) == columns[0]
    assert common(columns, [nothing]) is None


def test_a_checkpoint_without_an_encoding_is_below_the_table_with_its_state() -> None:
    lost = Outcome(checkpoint(slug="lost", title="Lost"), "failed", "no config")
    found = html(outcome("a", table(1)), lost)
    assert rows(found, ".pa-wide:not(.pa-matrix) tbody tr") == [["Lost", "failed", "–"]]


def test_the_region_that_scrolls_can_be_reached_by_keyboard_and_has_a_name() -> None:
    [region] = html(outcome("a", table(1))).select(".pa-matrix")
    assert isinstance(region, Tag)
    assert (region["tabindex"], region["role"]) == ("0", "region")
    assert region["aria-label"]


@each_analysis
def test_headlines_are_metrics_of_their_analysis(analysis: Analysis) -> None:
    keys = {metric.key for result in applicable_results(analysis) for metric in result.metrics}
    assert {headline.metric for headline in analysis.headlines} <= keys


def test_a_row_begins_with_context_window_and_base() -> None:
    rotation = outcome("a", ROTATION, "rotary", title="a")
    key = rotation.readings[0].encoding.key
    layers = tuple(
        Layer("decoder", "decoder", index, "sliding attention", ("sliding",), before, 0, acting)
        for index, (before, acting) in enumerate([(7, (key,)), (None, (key,)), (3, ())])
    )
    of_config = replace(rotation, layers=layers, facts=(Fact("Configured context", 64),))
    found = html(of_config, outcome("b", table(1), title="b"))
    every = [row[1:5] for row in rows(found)]
    assert every[0] == ["Rotary", "64", "8 (1 of 2 layers)", "10,000"]
    assert every[1][2:] == ["–", "–"]
    # Layers of the other model are not known, and may see windows too.
    lead = " ".join(found.select(".pa-lead")[0].get_text().split())
    assert "In the only listed model whose layers are known, some or all layers do not at" in lead
    lead = " ".join(html(of_config, of_config).select(".pa-lead")[0].get_text().split())
    assert "of the 2 listed models whose layers are known, some or all layers do not attend" in lead


def test_the_table_says_what_each_number_of_checkpoints_counts() -> None:
    lost = replace(outcome("c", table(1), title="c"), status="not reached", readings=())
    hint = html(outcome("a", table(1), title="a"), replace(lost, status="ok"), lost)
    text = " ".join(hint.select(".pa-hint")[0].get_text().split())
    assert text.startswith(
        "The list has 3 checkpoints. This build read 2 of them, and 1 of these has numbers of its"
        " own, computed from settings alone. Each row is one of their position encodings"
    )
    assert "The layers of 0 listed models are known, with or without such numbers." in text


def test_numbers_of_weights_and_of_settings_are_counted_apart() -> None:
    one = outcome("a", table(1), title="a")
    (reading,) = one.readings
    stored = replace(reading.encoding, provenance=Provenance("model.safetensors", "wpe.weight"))
    weights = replace(one, readings=(replace(reading, encoding=stored),))
    other = outcome("b", table(2), title="b")
    counted = "those of 1 are measured on weights, and those of 1 computed from settings alone."
    for shown, words in (((weights, other), f"own: {counted} Each"), ((weights,), "own. Each")):
        hint = html(*shown).select(".pa-hint")[0].get_text()
        assert words in " ".join(hint.split())
