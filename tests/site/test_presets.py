"""Pairs that the compare page proposes, and the values among which it ranks encodings."""

from dataclasses import replace

import pytest

from generator.contracts import (
    Atlas,
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
from generator.encodings import (
    Form,
    NoEncoding,
    PositionTable,
    Rotation,
    sinusoid,
    sinusoid_formula,
)
from generator.pipeline.evaluate import all_analyses
from generator.reading.find import all_schemes
from generator.site.compare.presets import Preset, presets
from generator.site.compare.scripts import sorted_values
from tests.support import checkpoint

LEARNED, FORMULA = (
    next(scheme.key for scheme in all_schemes() if scheme.by_formula is by) for by in (False, True)
)
STORED, COMPUTED = Provenance("model.safetensors", "wpe.weight"), Provenance("config.json")
MEASURE = replace(
    all_analyses()[0],
    headlines=(Headline("size", {"size_title": "Size", "size_sentence": ""}.__getitem__),),
    about="order",
)


def outcome(
    slug: str, *encodings: Encoding[Form], results: dict[str, Result] | None = None
) -> Outcome:
    readings = [
        Reading.of(encoding, Label(f"{slug} {encoding.part}", "#3d7fd6"), results or {}, {}, {})
        for encoding in encodings
    ]
    return Outcome(checkpoint(slug=slug), "ok", readings=tuple(readings))


def sized(value: float, unit: str, *findings: Finding) -> dict[str, Result]:
    return {MEASURE.key: Result((Metric("size", "Size", value, unit),), findings=findings)}


def table(width: int) -> PositionTable:
    return PositionTable(sinusoid(64, width))


def titles(*outcomes: Outcome) -> dict[str, set[str]]:
    """Slugs of the pair by rule, without its number."""
    found = presets(Atlas(outcomes, (), all_schemes()))
    return {preset.why.partition(",")[0]: slugs_of(preset) for preset in found}


def slugs_of(preset: Preset) -> set[str]:
    return {member[0].checkpoint.slug for member in (preset.first, preset.second)}


def encoding(
    form: Form,
    scheme: str = LEARNED,
    source: Provenance = STORED,
    part: str = "encoder",
    modality: Modality = "text",
) -> Encoding[Form]:
    return Encoding(part, scheme, form, source, modality=modality)


def test_two_schemes_with_equal_kernels_are_a_pair() -> None:
    outcomes = (
        outcome("a", encoding(table(64))),
        outcome("b", encoding(table(64), FORMULA, COMPUTED)),
        outcome("c", encoding(table(4))),
    )
    preset = presets(Atlas(outcomes, (), all_schemes()))[0]
    assert (preset.difference, preset.why) == (0.0, "different schemes, similarity 100 out of 100")
    assert [member[0].checkpoint.slug for member in (preset.first, preset.second)] == ["a", "b"]


def test_two_that_formulas_make_equal_are_no_pair() -> None:
    rotation = encoding(Rotation(1e4, 64, 64, 64), "rotary", COMPUTED)
    waves = encoding(PositionTable(sinusoid_formula(64, 64)), FORMULA, COMPUTED)
    others = (outcome("b", waves), outcome("c", encoding(table(4))))
    assert "different schemes" not in titles(outcome("a", rotation), others[0])
    chosen = presets(Atlas((outcome("a", rotation), *others), (), all_schemes()))
    assert chosen
    assert all(slugs_of(preset) != {"a", "b"} for preset in chosen)


def test_the_most_different_of_one_scheme_and_those_of_one_model_are_pairs() -> None:
    of_scheme = (outcome(str(width), encoding(table(width))) for width in (64, 62, 4))
    assert titles(*of_scheme)["same scheme"] == {"64", "4"}
    two = outcome("a", encoding(table(64)), encoding(table(4), part="decoder"))
    assert titles(two) == {"two encodings of one model": {"a"}}


def test_no_pair_mixes_words_and_patches_or_has_an_encoding_without_a_shape() -> None:
    patches = encoding(table(64), FORMULA, COMPUTED, modality="image")
    assert titles(outcome("a", encoding(table(64))), outcome("b", patches)) == {}
    nothing = outcome("a", encoding(NoEncoding("from the config")))
    assert titles(nothing, outcome("b", encoding(table(4)))) == {}


def test_what_no_tensor_holds_is_not_called_learned() -> None:
    pair = (
        outcome("a", encoding(table(64), source=COMPUTED)),
        outcome("b", encoding(table(64), FORMULA, COMPUTED)),
    )
    assert "one learned" not in titles(*pair)


def test_a_checkpoint_is_in_one_pair_while_there_are_others() -> None:
    learned = [outcome(f"learned{width}", encoding(table(width))) for width in (64, 16, 4)]
    formula = outcome("formula", encoding(table(62), FORMULA, COMPUTED))
    slugs = [slugs_of(one) for one in presets(Atlas((*learned, formula), (), all_schemes()))]
    assert slugs[:2] == [{"learned64", "formula"}, {"learned16", "learned4"}]


@pytest.mark.parametrize(
    ("unit", "groups"),
    [("positions", {"text": [2.0, 3.0], "image": [1.0]}), ("%", {"": [1.0, 2.0, 3.0]})],
)
def test_numbers_of_positions_are_ranked_by_kind(unit: str, groups: dict[str, list[float]]) -> None:
    kinds: tuple[tuple[Modality, float], ...] = (("text", 3.0), ("image", 1.0), ("text", 2.0))
    outcomes = tuple(
        outcome(
            f"r{index}",
            encoding(table(4), modality=modality),
            results=sized(value, unit, Finding("It is ordered.")),
        )
        for index, (modality, value) in enumerate(kinds)
    )
    assert sorted_values(Atlas(outcomes, (MEASURE,), ())) == {f"{MEASURE.key}.size": groups}


def test_a_table_without_findings_of_order_is_not_ranked() -> None:
    odd = Finding("Row 3 is odd.", of_single_rows=True)
    outcomes = tuple(
        outcome(f"r{value}", encoding(table(4)), results=sized(value, "%", *findings))
        for value, findings in ((1.0, ()), (2.0, (odd,)), (3.0, (Finding("It is ordered."),)))
    )
    assert sorted_values(Atlas(outcomes, (MEASURE,), ())) == {f"{MEASURE.key}.size": {"": [3.0]}}
