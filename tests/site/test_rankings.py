"""The answer of an analysis: sentences on the ends of its ranking, and the ranking as dots."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from bs4 import BeautifulSoup

from generator.contracts import (
    Atlas,
    Chance,
    Encoding,
    Finding,
    Headline,
    Label,
    Metric,
    Modality,
    Outcome,
    Provenance,
    Reading,
    Result,
)
from generator.encodings import PositionTable, sinusoid
from generator.pipeline.evaluate import all_analyses
from generator.reading.find import all_schemes
from generator.site.pages import analysis as page_kind
from generator.site.pictures.dot_plot import MOST, DotPlot, dot_plot
from generator.site.rankings.ranking import Ranking, ranking_of
from tests.site.test_comparing import rendered
from tests.support import checkpoint, flowing

WORDS = {"size_title": "Size", "size_sentence": "it spreads over {}", "wide": "it is wide"}
SIZE = Headline("size", WORDS.__getitem__)
MEASURE = replace(all_analyses()[0], answer=SIZE, headlines=(), figures=(), about="order")


def outcome(
    name: str,
    value: float | None,
    *,
    modality: Modality = "text",
    scheme: str = "learned",
    findings: Sequence[Finding] = (Finding("It is ordered."),),
) -> Outcome:
    metric = Metric("size", "Size", value, "metres", None if value is not None else "none")
    stored, form = Provenance("model.safetensors", "wpe"), PositionTable(sinusoid(16, 4))
    encoding = Encoding("decoder", scheme, form, stored, modality=modality)
    result = Result((metric,), findings=tuple(findings))
    reading = Reading.of(encoding, Label(name, "#3d7fd6"), {MEASURE.key: result}, {}, {})
    return Outcome(checkpoint(slug=name.lower(), title=name), "ok", readings=(reading,))


def ranking(*outcomes: Outcome) -> Ranking | None:
    return ranking_of(Atlas(outcomes, (MEASURE,), all_schemes()), MEASURE)


def sentences(*outcomes: Outcome) -> str:
    found = ranking(*outcomes)
    return found.sentence if found else ""


SAID: list[tuple[list[float], str]] = [
    ([3, 153, 10], "It spreads over 3 (A) to 153 metres (B)."),
    ([3, 3.0001, 3, 9], "It spreads over 3 (A and 2 more) to 9 metres (D)."),
    ([0, 1], "It spreads over 0 (A) to 1 metre (B)."),
    ([5, 5], "It spreads over 5 metres in both encodings."),
    ([5, 5.05], "It spreads over 5 to 5.05 metres in both encodings."),
    ([5], "It spreads over 5 metres. The only encoding here to which this applies is that of A."),
]  # fmt: skip


@pytest.mark.parametrize(("values", "expected"), SAID)
def test_sentences_name_both_ends_in_the_words_of_the_measure(values: Any, expected: str) -> None:
    rows = (outcome(name, value) for name, value in zip("ABCD", values, strict=False))
    assert sentences(*rows) == expected


def test_only_what_is_measured_alone_is_said_to_be_alone() -> None:
    assert "only" not in sentences(outcome("A", 5.0), outcome("B", 9.0, modality="image"))


def test_positions_of_words_are_not_compared_with_patches() -> None:
    words = [outcome(name, value) for name, value in (("A", 3.0), ("B", 9.0))]
    patches = outcome("Patches", 100.0, modality="image")
    assert sentences(*words, patches) == (
        "It spreads over 3 (A) to 9 metres (B), among 2 encodings for text."
    )


def test_an_encoding_that_a_model_has_twice_counts_once() -> None:
    twice = outcome("B", 9.0)
    [reading] = twice.readings
    again = replace(reading, encoding=replace(reading.encoding, part="encoder"))
    found = ranking(outcome("A", 3.0), replace(twice, readings=(reading, again)))
    assert found is not None
    assert (len(found.entries), len(found.compared)) == (2, 2)
    assert found.high is not None
    assert found.high.more == 0
    assert found.sentence == "It spreads over 3 (A) to 9 metres (B)."


@pytest.mark.parametrize("findings", [(), (Finding("Row 3 is odd.", of_single_rows=True),)])
def test_a_table_without_structure_has_a_dot_but_no_sentence(findings: Sequence[Finding]) -> None:
    noise = outcome("Noise", 1.0, findings=findings)
    found = ranking(outcome("A", 3.0), outcome("B", 9.0), noise)
    assert found is not None
    assert [entry.reading.label.title for entry in found.entries] == ["A", "B", "Noise"]
    assert found.sentence == "It spreads over 3 (A) to 9 metres (B)."


def test_what_acts_beside_encodings_is_ranked_too() -> None:
    [beside, *_] = (scheme.key for scheme in all_schemes() if not scheme.tells_position)
    assert sentences(outcome("A", 5.0, scheme=beside)).endswith("that of A.")


@pytest.mark.parametrize("value", [None, float("inf"), float("nan")])
def test_without_a_finite_value_there_is_no_answer(value: float | None) -> None:
    assert ranking(outcome("A", value)) is None


def test_the_lowest_the_median_and_the_highest_are_chosen_once_each() -> None:
    for values, chosen in (
        ({f"M{size}": size for size in (5, 1, 4, 2, 3)}, ["M1", "M3", "M5"]),
        ({name: 9 if name > "B" else 1 for name in "ABCDE"}, ["A", "C"]),
        ({"A": 5}, ["A"]),
    ):
        found = ranking(*(outcome(name, float(value)) for name, value in values.items()))
        assert found is not None
        assert [entry.reading.label.title for entry in found.chosen] == chosen


def test_every_analysis_has_a_metric_that_answers() -> None:
    assert [one.key for one in all_analyses() if one.answering is None] == []


def plotted(*values: float) -> DotPlot | None:
    found = ranking(*(outcome(f"M{place}", value) for place, value in enumerate(values)))
    assert found is not None
    return dot_plot(found)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([4.0, 1.0, 2.0], [("M1", 25.0), ("M2", 50.0), ("M0", 100.0)]),
        ([-1.0, 1.0, 3.0], [("M0", 0.0), ("M1", 50.0), ("M2", 100.0)]),
        ([1.0, 100.0, 10.0], [("M0", 0.0), ("M2", 50.0), ("M1", 100.0)]),
        ([0.0, 0.0], [("M0", 0.0), ("M1", 0.0)]),
    ],
    ids=["from 0", "left of 0", "logarithmic", "equal"],
)
def test_dots_stand_by_their_values(values: list[float], expected: list[tuple[str, float]]) -> None:
    shown = plotted(*values)
    assert shown is not None
    assert [(dot.entry.reading.label.title, dot.x) for dot in shown.first] == expected
    assert plotted(1.0) is None


def test_a_long_plot_shows_both_ends_and_folds_the_rest() -> None:
    shown = plotted(*map(float, range(1, 31)))
    assert shown is not None
    assert [len(rows) for rows in (shown.first, shown.folded, shown.last)] == [12, 6, 12]
    assert len(shown.first) + len(shown.last) == MOST
    assert shown.last[-1].entry.value == 30.0


def test_of_very_many_a_page_only_says_how_many_are_hidden() -> None:
    html = page(*(outcome(f"M{size}", float(size)) for size in range(1, 51)))
    assert len(html.select(".pa-dots > li")) == MOST
    assert "26 more, from 13 to 38" in flowing(html.get_text())
    assert not html.select("details.pa-fold > .pa-dots")


def page(*outcomes: Outcome) -> BeautifulSoup:
    """The page of MEASURE, after the list of analyses."""
    _, shown, *_ = page_kind.pages(Atlas(outcomes, (MEASURE,), all_schemes()))
    return BeautifulSoup(rendered(shown), "html.parser")


def test_the_page_opens_with_the_answer_and_the_dots_link_their_encodings() -> None:
    html = page(outcome("A", 3.0), outcome("B", 9.0), outcome("Noise", 1.0, findings=()))
    [verdict] = html.select(".pa-verdict")
    assert flowing(verdict.get_text()).startswith("It spreads over 3 (A)")
    rows = html.select(".pa-dots > li")
    assert [(row.a["href"], row.b.get_text()) for row in rows if row.a and row.b] == [
        ("checkpoints/a.html", "3"),
        ("checkpoints/b.html", "9"),
        ("checkpoints/noise.html", "1"),
    ]
    assert [row.get("class") for row in rows] == [None, None, ["pa-left-out"]]
    assert "Hollow dots" in html.get_text()


def test_the_list_of_analyses_has_the_same_answer() -> None:
    rows = (outcome("A", 3.0), outcome("B", 9.0))
    shown, _ = page_kind.pages(Atlas(rows, (MEASURE,), all_schemes()))
    [answer] = BeautifulSoup(rendered(shown), "html.parser").select(".pa-answer")
    assert flowing(answer.get_text()).startswith("It spreads over 3 (A)")


def test_a_page_without_values_says_so_and_has_no_dots() -> None:
    html = page(outcome("A", None))
    [verdict] = html.select(".pa-verdict")
    assert flowing(verdict.get_text()) == (
        "No encoding here has a value that answers this question."
    )
    assert html.select(".pa-dots") == []


@pytest.mark.parametrize(("values", "expected"), [
    ((3.0, None, 9.0), "In 2 of the 3 encodings to which this applies, it is wide. It spreads over"
     " 3 (A) to 9 metres (C)."),
    ((3.0, None), "In 1 of the 2 encodings to which this applies, it is wide. It spreads over 3"
     " metres (A)."),
    ((3.0,), "In the only encoding, it is wide. It spreads over 3 metres. The only encoding here to"
     " which this applies is that of A."),
    ((3.0, 9.0), "In both encodings to which this applies, it is wide. It spreads over 3 (A) to 9"
     " metres (B)."),
])  # fmt: skip
def test_a_value_under_a_condition_comes_after_it(
    values: tuple[float | None, ...], expected: str
) -> None:
    wide = replace(MEASURE, answer=replace(SIZE, where="wide"))
    rows = tuple(outcome(name, value) for name, value in zip("ABC", values, strict=False))
    found = ranking_of(Atlas(rows, (wide,), all_schemes()), wide)
    assert found is not None
    assert found.sentence == expected


def with_chance(
    name: str, value: float, chance: float, spread: float = 0.1, **kwargs: Any
) -> Outcome:
    """As ``outcome``, with a chance level, and a standard deviation of four values of each."""
    one = outcome(name, value, **kwargs)
    [reading] = one.readings
    metrics = (
        *reading.results[MEASURE.key].metrics,
        Metric("chance", "Chance", chance, "metres"),
        Metric("spread", "Spread", spread, "metres"),
    )
    result = replace(reading.results[MEASURE.key], metrics=metrics)
    return replace(one, readings=(replace(reading, results={MEASURE.key: result}),))


BESIDE = replace(
    MEASURE, answer=replace(SIZE, chance=Chance("chance", 0.0, ("spread", 4), ("spread", 4)))
)
BESIDE_CHANCE = (
    with_chance("A", 5.0, 50.0),
    with_chance("B", 2.0, 4.0),
    with_chance("C", 8.0, 32.0, 2.0),
    with_chance("D", 1.0, 1.01),
)


def test_what_has_a_chance_level_is_ranked_beside_it_and_by_chance_not_at_all() -> None:
    found = ranking_of(Atlas(BESIDE_CHANCE, (BESIDE,), all_schemes()), BESIDE)
    assert found is not None
    assert [entry.reading.label.title for entry in found.entries] == ["A", "C", "B", "D"]
    assert [entry.counts for entry in found.entries] == [True, True, True, False]
    assert found.sentence == (
        "It spreads over 5 (A; 50 by chance) and 2 metres (B; 4 by chance): one of the lowest"
        " and one of the highest of 3 learned encodings, relative to chance; 1 other is not told"
        " apart from it."
    )


@pytest.mark.parametrize(("others", "expected"), [
    ((), ", from the low end, the middle and the high end of 3 encodings."),
    ((outcome("P", 0.0, modality="image"),),
     ", from the low end, the middle and the high end of 3 encodings for text."),
])  # fmt: skip
def test_a_page_says_among_which_encodings_its_figures_are_chosen(
    others: tuple[Outcome, ...], expected: str
) -> None:
    rows = (outcome("A", 1.0), outcome("B", 5.0), outcome("C", 9.0))
    assert expected in flowing(page(*rows, *others).get_text())


def by_formula(one: Outcome) -> Outcome:
    [reading] = one.readings
    encoding = replace(reading.encoding, scheme="sinusoidal")
    return replace(one, readings=(replace(reading, encoding=encoding),))


MADE = by_formula(with_chance("E", 0.1, 50.0))
UNORDERED = with_chance("F", 5.0, 50.0, findings=())
UNRANKED = [
    ((BESIDE_CHANCE[0], BESIDE_CHANCE[3]), "It spreads over 5 metres (A; 50 by chance); 1 other"
     " learned encoding is not told apart from chance."),
    ((BESIDE_CHANCE[0],), "It spreads over 5 metres (50 by chance). The only encoding here to"
     " which this applies is that of A."),
    ((BESIDE_CHANCE[3],) * 2, "By the size, none of the 2 encodings here is told apart from"
     " chance."),
    ((BESIDE_CHANCE[3], MADE), "By the size, the only learned encoding here is not told apart from"
     " chance."),
    ((MADE,), "A formula gives the only encoding here, so none is compared with chance."),
    ((BESIDE_CHANCE[3], UNORDERED), "By the size, none of the 2 encodings here is both told apart"
     " from chance and ordered enough to be compared."),
]  # fmt: skip


@pytest.mark.parametrize(("outcomes", "expected"), UNRANKED)
def test_where_one_or_none_is_told_apart_from_chance(
    outcomes: tuple[Outcome, ...], expected: str
) -> None:
    found = ranking_of(Atlas(outcomes, (BESIDE,), all_schemes()), BESIDE)
    assert found is not None
    assert found.verdict == expected


def test_what_a_formula_makes_true_is_no_end_of_an_order_beside_chance() -> None:
    every = (*BESIDE_CHANCE, MADE)
    found, without = (
        ranking_of(Atlas(outcomes, (BESIDE,), all_schemes()), BESIDE)
        for outcomes in (every, BESIDE_CHANCE)
    )
    assert found is not None
    assert without is not None
    assert found.entries[0].reading.label.title == "E"
    assert found.sentence == without.sentence


def test_a_row_has_a_tick_for_chance_and_a_bar_for_the_standard_error() -> None:
    _, shown, *_ = page_kind.pages(Atlas(BESIDE_CHANCE, (BESIDE,), all_schemes()))
    html = BeautifulSoup(rendered(shown), "html.parser")
    rows = html.select(".pa-dots > li")
    assert [row.em.get_text() for row in rows if row.em] == ["10%", "25%", "50%", "–"]
    assert [row.s["style"] for row in rows if row.s] == [
        "--x:100.0%", "--x:88.7%", "--x:36.3%", "--x:1.5%",
    ]  # fmt: skip
    [plot] = html.select(".pa-dot-plot figcaption")
    assert "A tick marks the value by chance" in flowing(plot.get_text())
    assert "Bars are one standard error" in flowing(plot.get_text())
    assert [bool(row.u) for row in rows] == [True] * 4
    assert rows[-1].get("class") == ["pa-left-out"]


def test_positions_and_patches_are_in_an_order_of_their_own() -> None:
    measure = replace(MEASURE, key="lengths")

    def of(name: str, value: float, unit: str, modality: Modality) -> Outcome:
        one = outcome(name, value, modality=modality)
        [reading] = one.readings
        result = Result((Metric("size", "Size", value, unit),), findings=(Finding("Ordered."),))
        return replace(one, readings=(replace(reading, results={"lengths": result}),))

    members = (
        of("A", 3.0, "positions", "text"),
        of("B", 9.0, "positions", "text"),
        of("Patches", 5.0, "patches", "image"),
    )
    found = ranking_of(Atlas(members, (measure,), all_schemes()), measure)
    assert found is not None
    shown = dot_plot(found)
    assert shown is not None
    assert [dot.entry.reading.label.title for dot in shown.first] == ["A", "B", "Patches"]
    assert found.sentence == "It spreads over 3 (A) to 9 positions (B), among 2 encodings for text."
