"""What pages say first of an encoding: what is unusual among the encodings of its scheme."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from generator.contracts import (
    Atlas,
    Chance,
    Encoding,
    Finding,
    Headline,
    Label,
    Layer,
    Metric,
    Mixer,
    Outcome,
    Provenance,
    Reading,
    Result,
)
from generator.encodings import PositionTable, Rotation, sinusoid
from generator.pipeline.evaluate import all_analyses
from generator.reading.find import all_schemes
from generator.site.rankings.peers import (
    FIRST,
    SHAPE,
    Spread,
    Statement,
    openings_of,
    peers_of,
    without_numbers,
)
from generator.site.rankings.rotation_settings import sentence
from tests.support import checkpoint

LEARNED = next(scheme for scheme in all_schemes() if not scheme.by_formula)
SIZE = Headline("size", {"size_title": "Size", "size_sentence": "its size is {}"}.__getitem__)
FIRST_ANALYSIS = replace(all_analyses()[0], headlines=(SIZE,))
MEASURES = tuple(replace(FIRST_ANALYSIS, key=f"measure{number}") for number in range(3))


def reading(name: str, results: Sequence[Result]) -> Reading:
    provenance = Provenance("model.safetensors", "wpe.weight")
    form = PositionTable(sinusoid(64, 8))
    encoding = Encoding("decoder", LEARNED.key, form, provenance)
    by_key = {analysis.key: result for analysis, result in zip(MEASURES, results, strict=True)}
    return Reading.of(encoding, Label(name, "#3d7fd6"), by_key, {}, {})


def result(value: float | None, *, weight: float = 0.5, found: bool = True) -> Result:
    metric = Metric("size", "Size", value, "m", None if value is not None else "none")
    finding = Finding(f"The size is {value} metres.", ("size",), weight)
    return Result((metric,), findings=(finding,) if found else ())


def atlas(values: dict[str, Sequence[float | None]], **kwargs: object) -> Atlas:
    """A checkpoint for each name, with one value for each of the three measures."""
    outcomes = [
        Outcome(
            checkpoint(slug=name, title=name),
            "ok",
            readings=(reading(name, [result(value, **kwargs) for value in of_name]),),  # type: ignore[arg-type]
        )
        for name, of_name in values.items()
    ]
    return Atlas(tuple(outcomes), MEASURES, all_schemes())


def statements(shown: Atlas, name: str) -> list[Statement]:
    [of_name] = [reading for outcome, reading in shown.encodings if outcome.checkpoint.slug == name]
    return peers_of(shown).statements(of_name)


SIZES: dict[str, Sequence[float | None]] = {
    "a": (1.0, 5.0, 5.0), "b": (9.0, 5.0, 5.0), "c": (10.0, 5.0, 5.0), "d": (11.0, 5.0, 5.0),
    "e": (10.5, 5.0, 5.0),
}  # fmt: skip


def test_an_extreme_value_opens_beside_the_median() -> None:
    """What is alike in all weighs nothing."""
    first, *others = statements(atlas(SIZES), "a")
    assert first.is_standing
    assert first.finding.text == (
        f"Its size is 1 m; the median of 5 models with {LEARNED.plural} for text here is 10 m."
    )
    assert {one.weight for one in others if one.analysis != "measure0"} == {0.0}


@pytest.mark.parametrize("scaling", [None, {"rope_type": "linear", "factor": 8.0}])
def test_a_sentence_is_of_texts_of_any_length_without_scaling(
    scaling: dict[str, object] | None,
) -> None:
    size = {"size_title": "Size", "size_sentence": "its size is {}{texts}"}.__getitem__
    analysis = replace(MEASURES[0], headlines=(Headline("size", size),))
    outcomes = list(atlas(SIZES).outcomes)
    [of_a] = outcomes[0].readings
    record = replace(of_a.encoding, parameters={"scaling": scaling})
    outcomes[0] = replace(outcomes[0], readings=(replace(of_a, encoding=record),))
    shown = Atlas(tuple(outcomes), (analysis, *MEASURES[1:]), all_schemes())
    text = statements(shown, "a")[0].finding.text
    assert text.startswith(
        "Its size is 1 m, at least in short texts;" if scaling else "Its size is 1 m;"
    )


def test_what_speaks_of_few_rows_comes_last_and_a_shape_first() -> None:
    """An outlier that is far from the median of the peers, and a shape near theirs."""
    shown = atlas(SIZES)
    [of_a] = shown.outcomes[0].readings
    odd = replace(of_a.results["measure0"].findings[0], rows=(127,))
    round_one = replace(FIRST_ANALYSIS.figures[0], appeal=lambda _: 0.5)
    shaped = replace(MEASURES[2], figures=(round_one,))
    results = {**of_a.results, "measure0": replace(of_a.results["measure0"], findings=(odd,))}
    outcome = replace(shown.outcomes[0], readings=(replace(of_a, results=results),))
    measures = (*MEASURES[:2], shaped)
    changed = Atlas((outcome, *shown.outcomes[1:]), measures, all_schemes())
    found = [one for one in statements(changed, "a") if not one.is_standing]
    assert [one.analysis for one in found] == ["measure2", "measure0", "measure1"]
    assert [one.weight for one in found] == pytest.approx([SHAPE + 0.025, 0.0, 0.0])


def test_rows_that_are_many_are_weighed_like_anything_else() -> None:
    odd = Finding("Many are odd.", (), 0.8, rows=tuple(range(43)))
    assert not odd.is_of_few_rows
    assert replace(odd, rows=(0, 127, 510, 511)).is_of_few_rows


def test_a_model_has_one_vote_however_many_encodings_it_has() -> None:
    """The median of its own."""
    many = atlas({f"m{number}": (float(number),) * 3 for number in range(1, 10)})
    one = replace(many.outcomes[0], readings=tuple(one.readings[0] for one in many.outcomes))
    alone = Atlas((one,), MEASURES, all_schemes())
    for reading_of in one.readings:
        assert not [found for found in peers_of(alone).statements(reading_of) if found.is_standing]
    others = atlas({"b": (40.0,) * 3, "c": (50.0,) * 3}).outcomes
    together = peers_of(Atlas((one, *others), MEASURES, all_schemes()))
    [first, *_] = together.statements(one.readings[0])
    assert first.finding.text == (
        f"Its size is 1 m; the median of 3 models with {LEARNED.plural} for text here is 40 m."
    )


def test_a_value_with_a_chance_level_is_compared_beside_it() -> None:
    def with_chance(name: str, value: float, chance: float) -> Outcome:
        metrics = (Metric("size", "Size", value, "m"), Metric("chance", "Chance", chance, "m"))
        results = [Result(metrics, findings=(Finding("It is ordered."),)), result(5.0), result(5.0)]
        return Outcome(checkpoint(slug=name), "ok", readings=(reading(name, results),))

    sizes = {"a": (4.0, 80.0), "b": (3.0, 5.0), "c": (3.0, 6.0), "d": (5.0, 10.0), "e": (1.0, 1.01)}
    outcomes = tuple(with_chance(name, *pair) for name, pair in sizes.items())
    beside = replace(SIZE, chance=Chance("chance"))
    measures = (replace(MEASURES[0], headlines=(beside,)), *MEASURES[1:])
    first, *_ = peers_of(Atlas(outcomes, measures, all_schemes())).statements(
        outcomes[0].readings[0]
    )
    assert first.finding.text == (
        "Its size is 4 m, 5% of what chance gives (80 m); the median of 4 models with"
        f" {LEARNED.plural} for text here is 50%."
    )


def test_values_near_the_median_have_no_place() -> None:
    assert not [one for one in statements(atlas(SIZES), "e") if one.is_standing]


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}


@pytest.mark.parametrize(("form", "mixers", "n_layers", "text"), [
    (Rotation(1e6, 128, 128, 4096), ["full"] * 36, 36,
     "RoPE with base 1,000,000 and no scaling in all 36 layers, each with full attention."),
    (Rotation(1e4, 64, 128, 4096), ["full"], 5,
     "RoPE with base 10,000 on 64 of a head's 128 components, without scaling, in 1 of 5 layers,"
     " with full attention. Layers 1–4 have no position encoding."),
    (Rotation(1e4, 8, 8, 4096, {"rope_type": "linear", "factor": 4.0}), ["sliding"] * 2, 3,
     "RoPE with base 10,000, scaled by linear interpolation (factor 4), in 2 of 3 layers, each with"
     " a window of 128 positions. Layer 2 has no position encoding."),
    (Rotation(1e4, 8, 8, 4096, YARN), ["full", "chunked", "full"], 3,
     "RoPE with base 10,000, scaled by YaRN (factor 4, extended from 2,048 positions), in all 3"
     " layers, 1 of them with attention within chunks of 128 positions."),
    (Rotation(1e4, 8, 8, 4096), [], 0, "RoPE with base 10,000 and no scaling."),
])  # fmt: skip
def test_the_page_of_a_rotation_opens_with_its_settings(
    form: Rotation, mixers: Sequence[Mixer], n_layers: int, text: str
) -> None:
    """It acts in the first of ``n_layers`` layers, as many as there are ``mixers``."""
    record = Encoding("decoder", "rotary", form, Provenance("config.json")).record
    stack = tuple(
        Layer("decoder", "decoder", index, mixer, (mixer,), before, 0, (record.key,))
        for index, mixer in enumerate(mixers)
        for before in [None if mixer == "full" else 127]
    ) + tuple(
        Layer("decoder", "decoder", index, "full", ("full",), None, 0)
        for index in range(len(mixers), n_layers)
    )
    outcomes = [
        replace(one, layers=stack, readings=(replace(one.readings[0], encoding=record),))
        for one in atlas(SIZES).outcomes
    ]
    shown = Atlas(tuple(outcomes), MEASURES, all_schemes())
    assert set(openings_of(shown).values()) == {text}


def test_the_part_of_a_rotation_is_named_beside_another_part() -> None:
    [one, *_] = atlas(SIZES).outcomes
    texts = Encoding("decoder", "rotary", Rotation(1e6, 8, 8, 64), Provenance("config.json"))
    images = replace(texts, part="vision", modality="image")
    readings = tuple(replace(one.readings[0], encoding=each.record) for each in (images, texts))
    stack = (Layer("decoder", "decoder", 0, "full", ("full",), None, 0, (texts.record.key,)),)
    said = sentence(replace(one, layers=stack, readings=readings))
    assert said == (
        "RoPE with base 1,000,000 and no scaling in the only layer of the decoder, with full"
        " attention."
    )


def test_without_a_finding_a_value_has_no_place() -> None:
    """Tables without structure have numbers, but no findings."""
    assert statements(atlas(SIZES, found=False), "a") == []


def test_with_few_peers_findings_have_their_own_weight() -> None:
    two = {name: SIZES[name] for name in "ab"}
    assert [one.weight for one in statements(atlas(two), "a")] == [0.5, 0.5, 0.5]


def test_what_makes_a_table_none_comes_first() -> None:
    weights = [one.weight for one in statements(atlas(SIZES, weight=1.0), "e")]
    assert weights[:3] == [1.0, 1.0, 1.0]
    assert max(one.weight for one in statements(atlas(SIZES), "a")) <= FIRST


def test_numbers_that_hardly_differ_are_alike() -> None:
    close: dict[str, Sequence[float | None]] = {
        name: (1.0 + 1e-9 * index,) * 3 for index, name in enumerate("abcd")
    }
    assert max(one.weight for one in statements(atlas(close), "d") if not one.is_standing) < 1e-6


def test_a_value_that_many_share_has_no_place() -> None:
    for equal in (1, 2):
        values = {**SIZES, **{f"same{number}": SIZES["a"] for number in range(equal)}}
        standing = [one for one in statements(atlas(values), "a") if one.is_standing]
        assert bool(standing) == (equal == 1)


def test_no_two_pages_open_alike_unless_their_numbers_are() -> None:
    rising: dict[str, Sequence[float | None]] = {
        f"m{number}": (2.0**number, 3.0 ** (6 - number), 1.0 + number) for number in range(7)
    }
    rising["twin"] = rising["m0"]
    openings = openings_of(atlas(rising))
    forms: dict[str, str] = {}
    for text in openings.values():
        form = without_numbers(text)
        assert forms.setdefault(form, text) == text
    assert openings["twin"] == openings["m0"]


def test_what_all_share_is_alike_in_every_number_of_the_sentence() -> None:
    def with_mean(name: str, mean: float) -> Outcome:
        metrics = (Metric("size", "Size", 5.0, "m"), Metric("mean", "Mean", mean, "m"))
        finding = Finding("The size is 5 metres.", ("size",), 0.5)
        both = Finding(f"The size is 5 metres, against {mean}.", ("size", "mean"), 0.5)
        results = [Result(metrics, findings=(finding, both)), result(1.0), result(1.0)]
        return Outcome(checkpoint(slug=name), "ok", readings=(reading(name, results),))

    outcomes = tuple(with_mean(name, mean) for name, mean in (("a", 1.0), ("b", 2.0), ("c", 3.0)))
    shared = peers_of(Atlas(outcomes, MEASURES, all_schemes())).shared(LEARNED.key)
    texts = {finding.text for _, finding in shared}
    assert "The size is 5 metres." in texts
    assert not any("against" in text for text in texts)


def test_two_tables_that_are_none_both_say_so_first() -> None:
    shown = atlas({"a": (1.0, 1.0, 1.0), "b": (2.0, 2.0, 2.0), "c": (3.0, 3.0, 3.0)}, weight=1.0)
    openings = openings_of(shown)
    assert [openings[name] for name in "abc"] == [
        f"The size is {size} metres." for size in (1.0, 2.0, 3.0)
    ]


def test_no_two_pages_of_a_scheme_open_in_the_same_words(of_each_list: Path) -> None:
    atlas = json.loads((of_each_list / "site/data/atlas.json").read_text(encoding="utf-8"))
    opened: dict[tuple[str, str], set[str]] = {}
    for row in atlas["checkpoints"]:
        page = of_each_list / f"site/checkpoints/{row['slug']}.html"
        opening = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select_one(
            ".pa-findings li > p"
        )
        if not row["encodings"] or opening is None:
            continue
        for part in opening.select(".pa-kind"):
            part.extract()
        text = opening.get_text(" ", strip=True)
        form = (
            text if text.startswith("RoPE with") else without_numbers(text)
        )  # Settings may agree.
        opened.setdefault((row["encodings"][0]["scheme"], form), set()).add(text)
    assert len(opened) > 15
    assert [texts for texts in opened.values() if len(texts) > 1] == []


def test_a_number_without_a_logarithm_has_no_place_among_positive_ones() -> None:
    positive = Spread([1.0, 2.0, 8.0])
    assert positive.times(2.0) == 0.0
    assert positive.times(-2.0) is None
    assert Spread([-1.0, 2.0, 8.0]).times(-1.0) == pytest.approx(-1.0)
