"""The pages on which encodings are compared, as they are before a browser has them."""

import re
from typing import Any, get_args

import numpy as np
import pytest

from generator.contracts import Analysis, Atlas, Encoding, Label, Modality, Outcome, Page, PageKind, Provenance, Reading, Result, discovery
from generator.encodings import Form, NoEncoding, PositionTable, Rotation, sinusoid
from generator.errors import NotApplicableError
from generator.numerics.arrays import frozen
from generator.pipeline import evaluate
from generator.pipeline.build import TEMPLATES
from generator.site import pages
from generator.site.escape import literal
from generator.site.render import environment_of
from tests.support import checkpoint, subject

KINDS = {kind.key: kind for kind in discovery.load(pages, PageKind)}
ANALYSES, SCHEMES = evaluate.all_analyses(), evaluate.all_schemes()
draws = np.random.default_rng(0)


def outcome(slug: str, form: Form, scheme: str = "learned", modality: Modality = "text", **options: Any) -> Outcome:
    reading = Reading.of(
        Encoding("encoder", scheme, form, Provenance(""), modality=modality),
        Label(f"Title {slug}", "#3d7fd6"),
        {analysis.key: _asked(analysis, form) for analysis in ANALYSES},
        {},
        {},
    )
    return Outcome(checkpoint(slug=slug, **options), "ok", readings=(reading,))


def _asked(analysis: Analysis, form: Form) -> Result:
    """What is asked of nearly every form is asked here, and nothing else."""
    if len(analysis.forms) < len(get_args(Form)) - 1 or not isinstance(form, analysis.forms):
        return Result(reason="not asked")
    try:
        return analysis.compute(subject(form))
    except NotApplicableError as error:
        return Result(reason=str(error))


def table(seed: int, n: int = 20, width: int = 6) -> PositionTable:
    return PositionTable(frozen(np.random.default_rng(seed).normal(size=(n, width))))


def every_page(key: str, *outcomes: Outcome) -> list[Page]:
    return KINDS[key].pages(Atlas(outcomes, ANALYSES, SCHEMES, {"position-atlas": "1.0"}, "2020-02-20"))


def page(key: str, *outcomes: Outcome) -> Page:
    return every_page(key, *outcomes)[0]


def rendered(shown: Page) -> str:
    environment = environment_of(TEMPLATES)
    prose = lambda kind, key: environment.get_template(f"{kind}/{key}.md.jinja").module  # noqa: E731
    around = {"link": literal_link, "prose": prose, "size": lambda _: (562, 230)}
    told = {"version": "1.0", "date": "2020-02-20", "address": None, "here": None}
    return environment.get_template(f"pages/{shown.template}").render({**told, **shown.context, **around})


def literal_link(path: str) -> Any:
    return literal("").__class__(path)


def cells(text: str) -> dict[tuple[str, str], int]:
    """What each cell of the maps says, by the two encodings that it leads to."""
    found = re.findall(r'<td class="l\d"><a href="compare.html#a=([^/]+)/[^&]+&b=([^/]+)/[^"]+">((?:&#8722;)?\d+)</a>', text)
    return {(first, second): int(value.replace("&#8722;", "-")) for first, second, value in found}


MANY = [outcome(f"table-{seed:03}", table(seed)) for seed in range(60)]


def test_every_pair_has_a_cell_that_leads_to_it() -> None:
    assert len(cells(rendered(page("map", *MANY[:5])))) == 10


def test_what_is_alike_stands_together_and_says_0_and_100() -> None:
    same = [outcome("a", table(1)), outcome("b", table(2)), outcome("c", table(1))]
    context = page("map", *same).context
    assert [member[0].checkpoint.slug for member, _ in context["kernels"].rows] in (["a", "c", "b"], ["b", "a", "c"], ["b", "c", "a"])
    assert (context["kernels"].nearest[0].value, context["tables"][0][1].nearest[0].value) == (0.0, pytest.approx(1.0))


def test_tables_that_have_nothing_in_common_come_to_about_0_on_their_map() -> None:
    wide = [outcome(slug, PositionTable(frozen(draws.normal(size=(200, 300))))) for slug in "abc"]
    (_, shown) = page("map", *wide).context["tables"][0]
    assert all(abs(pair.hundredths) <= 2 and pair.level == 9 for _, pairs in shown.rows for pair in pairs)
    assert all(pair.further == pytest.approx(0.6, abs=0.02) for pair in shown.nearest)


def test_kernels_of_all_forms_meet_but_tables_meet_tables() -> None:
    context = page(
        "map", outcome("table", table(1)), outcome("turn", Rotation(1e4, 8, 8, 64)), outcome("nothing", NoEncoding("told"))
    ).context
    assert [member[0].checkpoint.slug for member, _ in context["kernels"].rows] == ["table", "turn"]
    assert context["tables"] == []
    assert [member[0].checkpoint.slug for member in context["without"]] == ["nothing"]


def test_patches_are_not_compared_with_words() -> None:
    patches = [outcome(slug, PositionTable(sinusoid(20, 8), grid=(4, 5)), modality="image") for slug in "ab"]
    context = page("map", *patches, outcome("c", table(1)), outcome("d", table(2)), outcome("e", table(3), modality="audio")).context
    assert [name for name, _ in context["tables"]] == ["patches, 4 × 5", "words"]


def test_tables_are_aligned_over_the_positions_that_both_have() -> None:
    longer = PositionTable(frozen(np.vstack([table(1).vectors, draws.normal(size=(9, 6))])))
    context = page("map", outcome("a", table(1)), outcome("b", longer)).context
    assert context["tables"][0][1].nearest[0].value == pytest.approx(1.0)


def test_beyond_what_a_map_holds_the_most_different_are_shown() -> None:
    text = rendered(page("map", *MANY))
    assert "60 encodings, more than a map holds" in text
    assert len(cells(text)) == 16 * 15 / 2


def test_a_map_holds_fewer_where_names_are_long() -> None:
    long = [outcome(f"{'long-' * 20}{seed:03}", table(seed)) for seed in range(20)]
    assert len(cells(rendered(page("map", *MANY[:20])))) == 190
    assert len(cells(rendered(page("map", *long)))) == 120


def test_tables_have_a_map_of_their_own_that_the_first_leads_to() -> None:
    first, second = every_page("map", *MANY[:5])
    assert second.path in rendered(first)
    assert len(cells(rendered(second))) == 10


def test_of_those_that_are_not_on_the_map_few_are_named() -> None:
    without = [outcome(f"nothing-{number}", NoEncoding("told")) for number in range(30)]
    text = rendered(page("map", *MANY[:2], *without))
    assert text.count("Title nothing") == 20
    assert "and 10 more" in text


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_make_no_map(count: int) -> None:
    assert "no map" in rendered(page("map", *MANY[:count]))


@pytest.mark.parametrize("values", [np.nan, np.inf, 0.0])
def test_a_table_that_has_no_kernel_is_left_out(values: float) -> None:
    context = page("map", outcome("odd", PositionTable(frozen(np.full((20, 6), values)))), *MANY[:2]).context
    assert len(context["kernels"].rows) == 2


def test_pairs_of_each_scheme_stand_in_for_the_explorer() -> None:
    rows = [outcome(f"{scheme.key}-{seed}", table(seed), scheme=scheme.key) for scheme in SCHEMES[:2] for seed in range(6)]
    drawn = dict(page("compare", *rows).context["groups"])
    first, second = SCHEMES[:2]
    pairs = [(one[0].checkpoint.slug, other[0].checkpoint.slug) for one, other, _ in drawn[first.title]]
    assert pairs == [(f"{first.key}-{seed}", f"{first.key}-{seed + 1}") for seed in range(3)]
    assert list(drawn) == [first.title, second.title]


def test_however_many_schemes_there_are_few_pairs_are_drawn() -> None:
    rows = [outcome(f"{scheme.key}-{seed}", table(seed), scheme=scheme.key) for scheme in SCHEMES for seed in range(4)]
    assert len(SCHEMES) > 8
    assert [len(shown.figures) for shown in every_page("compare", *rows)] == [2 * 8] * 3


def test_each_page_of_pairs_leads_to_the_others() -> None:
    rows = [outcome(f"{scheme.key}-{seed}", table(seed), scheme=scheme.key) for scheme in SCHEMES[:6] for seed in range(4)]
    assert ["compare/3.html" in rendered(shown) for shown in every_page("compare", *rows)] == [True, True, False]


def test_a_pair_of_one_scheme_needs_two_that_have_a_kernel() -> None:
    assert page("compare", outcome("a", table(1)), outcome("b", NoEncoding("told"))).figures == ()


@pytest.mark.parametrize("outcomes", [(), (Outcome(checkpoint(), "failed", "no"),)])
def test_with_nothing_to_compare_the_page_says_so(outcomes: tuple[Outcome, ...]) -> None:
    assert "nothing to compare" in rendered(page("compare", *outcomes))


def test_the_data_page_documents_analyses_and_is_cited_with_version_and_date() -> None:
    files, arrays = map(rendered, every_page("data_files", *MANY[:1]))
    assert all(f"<code>{literal(analysis.key)}</code>" in arrays for analysis in ANALYSES)
    assert "Version {}".format(literal("1.0")) in files
    assert "year = &#123;2020&#125;" in files
