"""The page that teaches how to read the figures: which figure stands for an analysis, and what
becomes of paragraphs without one.
"""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas, Metric, Outcome, Result
from generator.pipeline.evaluate import all_analyses
from generator.reading.find import all_schemes
from generator.site.pages import how_to_read
from tests.site.test_comparing import outcome, rendered, table

ANALYSES = all_analyses()
FIGURE = replace(ANALYSES[0].figures[0], appeal=lambda result: result.metrics[0].value or 0.0)
FIRST = replace(ANALYSES[0], figures=(FIGURE,))
DRAWING = f"{FIRST.key}-{FIRST.figures[0].key}"


def with_appeal(*appeals: float | None) -> list[Outcome]:
    """Checkpoints m0, m1, … whose figure of FIRST has these appeals; None for one without that
    figure.
    """
    outcomes = [outcome(f"m{number}", table(number)) for number in range(len(appeals))]
    return [_drawn(one, appeal) for one, appeal in zip(outcomes, appeals, strict=True)]


def _drawn(one: Outcome, appeal: float | None) -> Outcome:
    [reading] = one.readings
    names = () if appeal is None else (DRAWING,)
    results = {**reading.results, FIRST.key: Result((Metric("appeal", "Appeal", appeal),))}
    drawings, alts = dict.fromkeys(names, b""), dict.fromkeys(names, "seen")
    drawn = replace(reading, results=results, drawings=drawings, alts=alts)
    return replace(one, readings=(drawn,))


def page(outcomes: Sequence[Outcome]) -> BeautifulSoup:
    """The page, whose HTML stands in Markdown."""
    [made] = how_to_read.pages(Atlas(tuple(outcomes), (FIRST, *ANALYSES[1:]), all_schemes()))
    return BeautifulSoup(rendered(made), "html.parser")


@pytest.mark.parametrize(
    ("appeals", "shown"),
    [((0.2, 0.9, 0.5), "m1"), ((None, 0.0, 0.0), "m1"), ((0.5, 0.5), "m0")],
    ids=["greatest appeal", "first that has it", "first of equals"],
)
def test_the_figure_that_appeals_most_is_shown(
    appeals: tuple[float | None, ...], shown: str
) -> None:
    [image] = page(with_appeal(*appeals)).select("figure img")
    assert image["src"] == f"figures/{shown}/encoder-learned/{DRAWING}.svg"


def test_the_figure_stands_beside_words_that_link_its_analysis_and_its_encoding() -> None:
    [pair] = page(with_appeal(0.1)).select(".pa-beside:has(figure)")
    assert f"](analyses/{FIRST.key}.md)" in pair.get_text()
    first, *_ = pair.select("div > div a")
    assert first["href"] == "checkpoints/m0.html"


def test_paragraphs_without_a_figure_are_there_all_the_same() -> None:
    with_figures, without = page(with_appeal(0.1)), page(with_appeal(None))
    assert not without.select("figure")
    assert len(with_figures.select(".pa-beside")) == len(without.select(".pa-beside")) > 9
