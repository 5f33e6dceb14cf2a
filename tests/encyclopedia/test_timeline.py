"""The page on time: shares and medians by year, from the dates of published configs."""

import json
from statistics import median

import numpy as np
import pytest

from generator.contracts import Atlas
from generator.encyclopedia.model_rows import FEWEST_OF_A_YEAR, dated_models
from generator.encyclopedia.pages import timeline
from generator.figures import svg
from generator.reading.find import all_schemes
from tests.encyclopedia.guests import guests
from tests.site.test_comparing import rendered
from tests.support import flowing


def model(year: int, number: int, scheme: str, base: float | None = None) -> dict[str, object]:
    return {
        "id": f"maker/{scheme}-{year}-{number}", "maker": "maker", "model_type": f"type-{number}",
        "month": f"{year}-{number % 12 + 1:02}", "schemes": [scheme], "image_schemes": [],
        "from_knowledge": False, "dated_by": None,
        "inputs": ["text"], "kinds": {"sliding": 2, "full": 2} if base else {"full": 4},
        "rotations": [{"base": base}] if base else [], "context": 512 * (year - 2018) or None,
    }  # fmt: skip


MODELS = [
    *(model(2019, number, "learned") for number in range(8)),
    *(model(2019, number, "rotary", 10_000.0) for number in (8, 9)),
    *(model(2020, number, "rotary", 10_000.0 * 2.0**number) for number in range(10)),
    model(2021, 0, "learned"),  # Alone in its year.
]


def atlas(models: list[dict[str, object]]) -> Atlas:
    return Atlas((), (), all_schemes(), guests=guests(json.dumps({"models": models}).encode()))


def test_shares_are_of_years_with_enough_models() -> None:
    [page] = timeline.pages(atlas(MODELS))
    text = flowing(rendered(page))
    assert (
        "Rotary encodings rose from 20% of the text models published in 2019 to 100% of those"
        " published in 2020." in text
    )
    assert "Learned tables fell from 80% to 0%." in text
    assert (
        "20% of the text models published in 2019 have windows or chunks, and 100% of those"
        " published in 2020." in text
    )
    assert "None of these text models has recurrent layers." in text


def test_months_are_equally_far_apart_within_a_year_and_beyond() -> None:
    months = [{**model(2019, 0, "learned"), "month": f"{2019 + n // 12}-{n % 12 + 1:02}"}
              for n in range(24)]  # fmt: skip
    times = [dated.time for dated in dated_models(atlas(months))]
    assert np.diff(times) == pytest.approx([1 / 12] * 23)
    assert 2019 < times[0] < times[11] < 2020 < times[12]


def test_the_median_of_a_year_is_that_of_its_models() -> None:
    [page] = timeline.pages(atlas(MODELS))
    assert (
        ">The median configured context rose from 512 tokens in 2019 to 1,024 in 2020.</p>"
        in flowing(rendered(page))
    )
    older = [model(2018, number, "rotary", 10_000.0) for number in range(10)]
    [page] = timeline.pages(atlas([*MODELS, *older]))
    middle = median(10_000.0 * 2.0**number for number in range(10))
    assert f"The median rotary base rose from 10,000 in 2018 to {middle:,.0f} in 2020." in rendered(
        page
    )


def test_without_two_years_there_is_no_figure() -> None:
    [page] = timeline.pages(atlas(MODELS[:FEWEST_OF_A_YEAR]))
    assert (page.figures, vars(page.context)["figures"]) == ((), ())
    assert timeline.pages(atlas([])) == []


def test_sizes_of_one_family_make_no_year() -> None:
    sizes = [{**model(2022, number, "decay"), "model_type": "one"} for number in range(12)]
    [page] = timeline.pages(atlas([*MODELS, *sizes]))
    assert 2022 not in vars(page.context)["years"]


def test_every_model_is_a_named_point() -> None:
    [page] = timeline.pages(atlas(MODELS))
    growth = page.figures[1]
    drawing = growth.spec.draw({})
    labels = {str(line.get_label()).removeprefix("_") for line in drawing.axes[1].lines}
    assert {str(one["id"]).partition("/")[2] for one in MODELS} <= labels


def test_the_page_names_each_scheme_with_its_year() -> None:
    [page] = timeline.pages(atlas(MODELS))
    text = rendered(page)
    assert all(f"<td>{scheme.year}</td>" in text for scheme in all_schemes())


@pytest.mark.parametrize("index", range(3))
def test_figures_can_be_drawn_in_another_process(index: int) -> None:
    import pickle

    [page] = timeline.pages(atlas(MODELS))
    figure = page.figures[index]
    assert pickle.dumps(figure.spec.draw)
    assert svg.encode(figure.spec.draw, {})


def test_a_last_year_with_few_families_is_shown_so_far() -> None:
    few = [model(2021, number, "rotary", 10_000.0) for number in range(1, 6)]
    [page] = timeline.pages(atlas([*MODELS, *few]))
    context = vars(page.context)
    assert (context["years"], context["newest"], context["n_newest"]) == ((2019, 2020), 2021, 6)
    assert "2021 has 6 so far, of 6 families," in flowing(rendered(page))
    [axes] = page.figures[0].spec.draw({}).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "2019 (10)", "2020 (10)", "2021 (6)",
    ]  # fmt: skip
    ends = [np.asarray(line.get_xydata())[-1] for line in axes.lines]
    so_far = [float(share) for year, share in ends if year == 2021]
    assert sorted(so_far) == pytest.approx([100 / 6, 500 / 6])
    assert (
        "2021"
        not in rendered(page)
        .partition("rose from")[2]
        .partition("</p>")[0]
        .partition("These are")[0]
    )
    [page] = timeline.pages(atlas([*MODELS, *few[:3]]))
    assert vars(page.context)["newest"] is None


def test_points_of_one_month_and_value_are_apart_within_the_month() -> None:
    points = [("A", 2020.5, 1e4), ("B", 2020.5, 1e4), ("C", 2020.5, 1e6), ("D", 2021.5, 1e4)]
    times = timeline._spread(points)
    assert times[0] < 2020.5 < times[1]
    assert times[2:] == [2020.5, 2021.5]
    assert times[1] - times[0] < 1 / 12
