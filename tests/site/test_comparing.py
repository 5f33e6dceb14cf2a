"""Pages that compare encodings, as rendered Markdown."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import Markup

from generator.contracts import (
    Analysis,
    Atlas,
    Encoding,
    Label,
    Modality,
    Outcome,
    Page,
    PageKind,
    Provenance,
    Reading,
    Result,
    discovery,
    names,
)
from generator.contracts.list_settings import ListSettings, Selection
from generator.encodings import Form, NoEncoding, PositionTable, Rotation, all_forms, sinusoid
from generator.errors import NotApplicableError
from generator.figures.svg import encode
from generator.numerics.arrays import frozen
from generator.pipeline import evaluate
from generator.reading import plan
from generator.reading.find import all_schemes
from generator.site import moved, pages
from generator.site.html.escape import literal
from generator.site.materials import OURS
from generator.site.pages import front
from generator.site.render import environment_of
from tests.support import checkpoint, flowing, save_folder, subject

pytestmark = pytest.mark.usefixtures("blank_figures")

KINDS = {kind.key: kind for kind in discovery.load(pages, PageKind)}
ANALYSES, SCHEMES = evaluate.all_analyses(), all_schemes()
NOTHING = NoEncoding("from the config")
draws = np.random.default_rng(0)


def outcome(
    slug: str, form: Form, scheme: str = "learned", modality: Modality = "text", **options: Any
) -> Outcome:
    reading = Reading.of(
        Encoding("encoder", scheme, form, Provenance(""), modality=modality),
        Label(f"Title {slug}", "#3d7fd6"),
        {analysis.key: _result(analysis, form) for analysis in ANALYSES},
        {},
        {},
    )
    return Outcome(checkpoint(slug=slug, **options), "ok", readings=(reading,))


def _result(analysis: Analysis, form: Form) -> Result:
    """Result of an analysis that accepts nearly every form; other analyses are not applicable
    here.
    """
    if len(analysis.forms) < len(all_forms()) - 1 or not isinstance(form, analysis.forms):
        return Result(reason="not computed for this test")
    try:
        return analysis.compute(subject(form))
    except NotApplicableError as error:
        return Result(reason=str(error))


def table(seed: int, n: int = 20, width: int = 6) -> PositionTable:
    return PositionTable(frozen(np.random.default_rng(seed).normal(size=(n, width))))


def every_page(key: str, *outcomes: Outcome) -> list[Page]:
    versions = {"position-atlas": "1.0"}
    return KINDS[key].pages(Atlas(outcomes, ANALYSES, SCHEMES, versions, "2020-02-20"))


def page(key: str, *outcomes: Outcome) -> Page:
    return every_page(key, *outcomes)[0]


def context(key: str, *outcomes: Outcome) -> Any:
    return page(key, *outcomes).context


def mapped(*outcomes: Outcome) -> Any:
    """The similarity map of the compare page."""
    return context("compare", *outcomes).similarity


def rendered(page: Page) -> str:
    environment = environment_of(*OURS.templates)

    def prose(kind: str, key: str) -> Any:
        return environment.get_template(f"{kind}/{key}.md.jinja").make_module({"link": Markup})

    functions = {
        "link": Markup, "prose": prose, "size": lambda _: (562, 230), "report": lambda _: "",
    }  # fmt: skip
    shared = {
        "version": "1.0", "date": "2020-02-20", "address": None, "here": None, "release": None,
        "card": None, "guests": (), "cited_at": None,
    }  # fmt: skip
    template = environment.get_template(f"pages/{page.context.template}")
    return template.render({**shared, **vars(page.context), **functions})


def cells(text: str) -> dict[tuple[str, str], int]:
    """Number in each cell of a map, by the slugs of the two encodings that it links."""
    matches = re.findall(
        r'<td class="l\d"><a'
        r' href="compare.html#a=([^/]+)/[^&]+&b=([^/]+)/[^"]+">((?:&#8722;)?\d+)</a>',
        text,
    )
    return {(first, second): int(value.replace("&#8722;", "-")) for first, second, value in matches}


def test_the_front_page_shows_each_checkpoint_once_with_its_schemes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(front, "OWN", 0)
    outcomes = (
        outcome("a", table(0)), outcome("b", table(1), scheme="sinusoidal"), outcome("c", table(2)),
    )  # fmt: skip
    gallery = context("front", *outcomes).gallery
    shown = {
        entry.outcome.checkpoint.slug: [scheme.key for scheme in entry.schemes] for entry in gallery
    }
    assert shown == {"a": ["learned"], "b": ["sinusoidal"], "c": ["learned"]}


MANY = [outcome(f"table-{seed:03}", table(seed)) for seed in range(60)]


def test_equal_encodings_are_neighbours_with_similarity_and_alignment_1() -> None:
    outcomes = [outcome("a", table(1)), outcome("b", table(2)), outcome("c", table(1))]
    found = mapped(*outcomes)
    assert [member[0].checkpoint.slug for member, _ in found.kernels.rows] in (
        ["a", "c", "b"], ["b", "a", "c"], ["b", "c", "a"],
    )  # fmt: skip
    for matrix in (found.kernels, found.tables[0][1]):
        assert matrix.nearest[0].value == pytest.approx(1.0)


def test_the_alignment_of_independent_tables_is_about_0() -> None:
    tables = [PositionTable(frozen(draws.normal(size=(200, 300)))) for _ in "abc"]
    independent = [outcome(slug, one) for slug, one in zip("abc", tables, strict=True)]
    _, matrix = mapped(*independent).tables[0]
    every = [pair for _, pairs in matrix.rows for pair in pairs]
    assert all(abs(pair.hundredths) <= 2 and pair.level == 9 for pair in every)
    assert all(pair.uncorrected == pytest.approx(0.6, abs=0.02) for pair in matrix.nearest)


def test_kernels_of_all_forms_are_compared_but_tables_only_with_tables() -> None:
    forms = {"table": table(1), "rotation": Rotation(1e4, 8, 8, 64), "nothing": NOTHING}
    found = mapped(*(outcome(slug, form) for slug, form in forms.items()))
    shown = [member[0].checkpoint.slug for member, _ in found.kernels.rows]
    assert shown == ["table", "rotation"]
    assert found.tables == []
    assert [member[0].checkpoint.slug for member in found.not_mapped] == ["nothing"]


def test_patches_are_not_compared_with_words() -> None:
    grid = PositionTable(sinusoid(20, 8), grid=(4, 5))
    patches = [outcome(slug, grid, modality="image") for slug in "ab"]
    others = (outcome("c", table(1)), outcome("d", table(2)))
    found = mapped(*patches, *others, outcome("e", table(3), modality="audio"))
    assert [name for name, _ in found.tables] == ["patches, 4 × 5", "words"]


def test_tables_are_aligned_over_their_common_positions() -> None:
    longer = PositionTable(frozen(np.vstack([table(1).vectors, draws.normal(size=(9, 6))])))
    found = mapped(outcome("a", table(1)), outcome("b", longer))
    assert found.tables[0][1].nearest[0].value == pytest.approx(1.0)


@pytest.mark.parametrize("size", [1.0, 50.0])
def test_an_odd_first_row_changes_neither_map(size: float) -> None:
    """The sinusoid says the same of all pairs at one distance, so that leaving out a row changes no
    scale but by the number of far pairs.
    """
    odd = sinusoid(200, 32).copy()
    odd[0] = size * np.eye(32)[5] * np.linalg.norm(odd[1])
    plain = outcome("a", PositionTable(sinusoid(200, 32)))
    found = mapped(plain, outcome("b", PositionTable(frozen(odd))))
    assert found.kernels.nearest[0].value > 0.995
    assert found.tables[0][1].nearest[0].value == pytest.approx(1.0)


def test_a_map_of_too_many_encodings_shows_the_most_different() -> None:
    text = rendered(page("compare", *MANY))
    assert "The map shows 16 of 60 encodings" in text
    assert len(cells(text)) == 16 * 15 / 2
    assert len(cells(rendered(page("compare", *MANY[:20])))) == 20 * 19 / 2


def test_the_map_of_kernels_links_the_map_of_tables() -> None:
    first, second = page("compare", *MANY[:5]), page("map", *MANY[:5])
    assert second.path in rendered(first)
    assert [len(cells(rendered(made))) for made in (first, second)] == [10, 10]  # All pairs.


def test_the_former_address_of_the_map_leads_to_its_section() -> None:
    atlas = Atlas(tuple(MANY[:2]), ANALYSES, SCHEMES)
    assert b'href="compare.html#map"' in moved.makers(atlas)["map.html"]()
    without = replace(atlas, settings=ListSettings(pages=Selection(exclude=("compare",))))
    for lacking in (without, replace(atlas, outcomes=tuple(MANY[:1]))):
        assert "map.html" not in moved.makers(lacking)


def test_the_map_names_20_of_the_encodings_that_are_not_on_it() -> None:
    not_mapped = [outcome(f"nothing-{number}", NOTHING) for number in range(30)]
    text = rendered(page("compare", *MANY[:2], *not_mapped))
    assert text.count("Title nothing") == 20
    assert "and 10 more" in flowing(text)


@pytest.mark.parametrize("values", [np.nan, np.inf, 0.0])
def test_a_table_without_a_finite_or_varying_kernel_is_not_on_the_map(values: float) -> None:
    odd = outcome("odd", PositionTable(frozen(np.full((20, 6), values))))
    assert len(mapped(odd, *MANY[:2]).kernels.rows) == 2


def test_the_compare_page_has_three_pairs_of_each_scheme() -> None:
    outcomes = [
        outcome(f"{scheme.key}-{seed}", table(seed), scheme=scheme.key)
        for scheme in SCHEMES[:2]
        for seed in range(6)
    ]
    pairs = context("compare", *outcomes).pairs
    slugs = [(one[0].checkpoint.slug, other[0].checkpoint.slug) for one, other, _ in pairs]
    assert slugs == [
        (f"{scheme.key}-{seed}", f"{scheme.key}-{seed + 1}")
        for scheme in SCHEMES[:2]
        for seed in range(3)
    ]
    headings = re.findall(r"^### ([^{\n]+)$", rendered(page("compare", *outcomes)), re.MULTILINE)
    assert headings == [scheme.title for scheme in SCHEMES[:2]]


def test_the_compare_page_has_24_pairs_at_most() -> None:
    outcomes = [
        outcome(f"{scheme.key}-{seed}", table(seed), scheme=scheme.key)
        for scheme in SCHEMES
        for seed in range(4)
    ]
    assert len(SCHEMES) > 8
    assert len(page("compare", *outcomes).figures) == 2 * 24


def test_an_encoding_without_a_kernel_is_in_no_pair() -> None:
    assert page("compare", outcome("a", table(1)), outcome("b", NOTHING)).figures == ()


def test_fewer_than_two_encodings_have_no_page_that_compares() -> None:
    for outcomes in ([], [Outcome(checkpoint(), "failed", "no")], [outcome("a", table(1))]):
        for key in ("compare", "map"):
            assert every_page(key, *outcomes) == []


def test_a_comparison_shows_both_encodings_of_one_part(tmp_path: Path) -> None:
    arrays = {
        "embeddings.position_embeddings.weight": draws.normal(size=(34, 16)),
        "encoder.relative_attention_bias.weight": draws.normal(size=(32, 2)),
    }
    config = {
        "model_type": "mpnet", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1,
        "max_position_embeddings": 34,
    }  # fmt: skip
    row = checkpoint(place=str(save_folder(tmp_path, config, arrays)), title="MPNet")
    outcomes = names.named([evaluate.outcome_of(plan.Task(row, offline=True))], SCHEMES)
    figures = (figure for page in every_page("analysis", *outcomes) for figure in page.figures)
    pairs = [figure for figure in figures if len(figure.results) == 2]
    titles = {"MPNet · Learned table", "MPNet · Learned relative bias"}
    assert pairs
    # The label of a line that stands back begins with an underscore.
    shown = [{label.title.removeprefix("_") for label in figure.results} for figure in pairs]
    assert all(of_figure == titles for of_figure in shown)
    drawn = encode(pairs[0].spec.draw, pairs[0].results).replace(b"&#39;", b"'")
    for title in titles:
        assert title.encode() in drawn or json.dumps(title).strip('"').encode() in drawn


def test_the_data_pages_document_analyses_and_have_a_citation_with_version_and_date() -> None:
    files, arrays = map(rendered, every_page("data_files", *MANY[:1]))
    assert all(f"<code>{literal(analysis.key)}.</code>" in arrays for analysis in ANALYSES)
    assert f"Version {literal('1.0')}" in files
    assert "year = &#123;2020&#125;" in files
