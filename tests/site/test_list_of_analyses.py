"""The list of analyses: a question, a picture and an answer made of the numbers."""

from dataclasses import replace

from bs4 import BeautifulSoup

from generator.contracts import Atlas, Metric, Outcome, Result
from generator.pipeline.evaluate import all_analyses
from generator.reading.find import all_schemes
from generator.site.pages import analysis as page_kind
from tests.site.test_comparing import outcome, rendered, table
from tests.support import flowing

FIRST = replace(all_analyses()[0], headlines=())


def with_values(*values: float | None) -> list[Outcome]:
    """A checkpoint for each value of a metric of FIRST; other analyses do not apply."""
    outcomes = [outcome(f"m{number}", table(number)) for number in range(len(values))]
    return [
        _with(one, Metric("share", "Share", value, "%", None if value is not None else "unknown"))
        for one, value in zip(outcomes, values, strict=True)
    ]


def _with(one: Outcome, metric: Metric) -> Outcome:
    [reading] = one.readings
    results = {**reading.results, FIRST.key: Result((metric,))}
    return replace(one, readings=(replace(reading, results=results),))


def answer(*values: float | None) -> str:
    """The text of the answer of FIRST, which draws nothing here."""
    drawn_nowhere = replace(FIRST, figures=())
    atlas = Atlas(tuple(with_values(*values)), (drawn_nowhere,), all_schemes())
    html = BeautifulSoup(rendered(page_kind.pages(atlas)[0]), "html.parser")
    return flowing(" ".join(found.get_text() for found in html.select(".pa-answer")))


def test_the_answer_names_the_two_extremes_and_counts_those_that_share_one() -> None:
    """As it is shown; equal values are no range, and without a value there is no answer."""
    assert answer(4.0, 512.0, 3.1) == "Share: from 3.1% (Title m2) to 512% (Title m1)"
    assert answer(1.0, 2.0, 2.0004) == "Share: from 1% (Title m0) to 2% (Title m1 and 1 more)"
    assert answer(5.0, 5.0) == "Share: 5% (Title m0 and 1 more)"
    assert answer(None) == answer() == ""


def test_an_analysis_that_applies_is_listed_with_its_question_and_the_others_by_name() -> None:
    every = tuple(replace(one, figures=()) for one in all_analyses())
    atlas = Atlas(tuple(with_values(4.0)), every, all_schemes())
    shown, *of_analyses = page_kind.pages(atlas)
    html = BeautifulSoup(rendered(shown), "html.parser")
    items = html.select(".pa-analyses > li")
    questions = [(item.h3.get_text(), item.p.get_text()) for item in items if item.h3 and item.p]
    [absent] = html.select("#absent")
    applying = [one for one in every if f"analyses/{one.key}.md" in
                {page.path for page in of_analyses}]  # fmt: skip
    assert FIRST.key in {one.key for one in applying}
    assert sorted(questions) == sorted((one.title, one.question) for one in applying)
    names = flowing(absent.get_text()).partition(": ")[2].removesuffix(".").split("; ")
    assert names == [one.title for one in every if one not in applying]
