"""Properties of every analysis of the package; none is named here."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from generator.contracts import Analysis, Encoding, FigureSpec, InputLayer, Label, LayerNorm, Metric, Provenance, Result, Sentence, Subject
from generator.encodings import Convolution, Form, NoEncoding, OffsetBias, PositionTable, RelativeTable, Rotation, WindowBias, sinusoid
from generator.errors import NotApplicableError
from generator.figures.panels import thumbnail
from generator.figures.svg import svg
from generator.numerics.arrays import Floats, frozen
from generator.pipeline.evaluate import Task, all_analyses, evaluate
from tests.support import LABELS, checkpoint, save_folder

MOST_BYTES = 200_000
ANALYSES = all_analyses()
rng = np.random.default_rng(0)


def table(values: Any) -> PositionTable:
    return PositionTable(frozen(values))


def patches(values: Any, rows: int, columns: int) -> PositionTable:
    return PositionTable(frozen(values), grid=(rows, columns))


def bias(values: Any, causal: bool = False) -> OffsetBias:
    """A bias for offsets up to 0 if causal, else around it. values: (n_heads, n_offsets)"""
    array = frozen(values)
    last = 0 if causal else array.shape[1] // 2
    return OffsetBias(array, frozen(np.arange(array.shape[1]) - array.shape[1] + 1 + last), causal, "linear" if causal else "constant")


TABLES: dict[str, Any] = {
    "random": rng.normal(0, 0.02, (40, 24)),
    "sinusoid": sinusoid(64, 16),
    "constant": np.full((20, 8), 0.5),
    "zeros": np.zeros((20, 8)),
    "rank one": np.outer(np.arange(1.0, 21.0), rng.normal(size=8)),
    "one row": rng.normal(size=(1, 8)),
    "two rows": rng.normal(size=(2, 8)),
    "one column": rng.normal(size=(20, 1)),
    "one value": [[0.5]],
    "one row not zero": np.eye(20, 8)[[0, *range(9, 20), *range(9, 17)]],
    "every other row zero": rng.normal(size=(20, 8)) * (np.arange(20) % 2)[:, None],
    "one huge value": np.eye(20, 8) * 1e300,
    "tiny values": rng.normal(size=(20, 8)) * 1e-300,
    "NaN": np.full((20, 8), np.nan),
    "one NaN": np.where(np.eye(20, 8) > 0, np.nan, 1.0),
    "one infinity": np.where(np.eye(20, 8) > 0, np.inf, 1.0),
    "large": rng.normal(0, 0.02, (514, 768)),
}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
OTHERS: dict[str, Form] = {
    "bias of many heads": bias(np.repeat(rng.normal(size=(64, 43)), 6, axis=1)),
    "bias of one head": bias(rng.normal(size=(1, 9))),
    "causal bias": bias(-np.outer(2.0 ** -np.arange(1, 9), np.arange(128)[::-1]), causal=True),
    "bias of zeros": bias(np.zeros((2, 9))),
    "bias of one offset": bias(np.ones((2, 1)), causal=True),
    "huge bias": bias(rng.normal(size=(2, 9)) * 1e300),
    "bias with NaN": bias(np.full((2, 9), np.nan)),
    "bias with infinity": bias(np.where(np.eye(2, 9) > 0, -np.inf, 0.0)),
    "rotation": Rotation(1e4, 32, 64, 512),
    "rotation of one pair": Rotation(1e4, 2, 2, 1),
    "scaled rotation": Rotation(5e5, 128, 128, 131072, LLAMA3),
    "rotation by base one": Rotation(1.0, 8, 8, 64),
    "vectors by offset": RelativeTable(frozen(rng.normal(size=(33, 8))), frozen(np.arange(-16, 17))),
    "vectors by offset, zeros": RelativeTable(frozen(np.zeros((5, 8))), frozen(np.arange(-2, 3))),
    "vectors by offset, NaN": RelativeTable(frozen(np.full((5, 8), np.nan)), frozen(np.arange(-2, 3))),
    "one vector by offset": RelativeTable(frozen(rng.normal(size=(1, 8))), frozen([0])),
    "window": WindowBias(frozen(rng.normal(size=(3, 13, 13)))),
    "narrow window": WindowBias(frozen(rng.normal(size=(1, 1, 3)))),
    "window of one patch": WindowBias(frozen(np.ones((2, 1, 1)))),
    "window of zeros": WindowBias(frozen(np.zeros((2, 5, 5)))),
    "window with NaN": WindowBias(frozen(np.full((2, 5, 5), np.nan))),
    "convolution": Convolution(frozen(rng.normal(size=(8, 2, 16))), frozen(np.arange(-8, 8))),
    "convolution of one weight": Convolution(frozen(rng.normal(size=(8, 2, 1))), frozen([0])),
    "convolution of zeros": Convolution(frozen(np.zeros((8, 2, 3))), frozen([-1, 0, 1])),
    "convolution with NaN": Convolution(frozen(np.full((8, 2, 3), np.nan)), frozen([-1, 0, 1])),
    "nothing": NoEncoding("the test says so"),
    "patches": patches(rng.normal(size=(12, 8)), 3, 4),
    "many patches": patches(rng.normal(size=(24 * 30, 8)), 24, 30),
    "row of patches": patches(rng.normal(size=(6, 8)), 1, 6),
    "one patch": patches(rng.normal(size=(1, 8)), 1, 1),
    "patches of zeros": patches(np.zeros((12, 8)), 3, 4),
    "every other patch zero": patches(rng.normal(size=(12, 8)) * (np.arange(12) % 2)[:, None], 3, 4),
    "huge patches": patches(rng.normal(size=(12, 8)) * 1e300, 3, 4),
    "patches with NaN": patches(np.full((12, 8), np.nan), 3, 4),
    "window of many heads": WindowBias(frozen(rng.normal(size=(24, 13, 27)))),
    "huge window": WindowBias(frozen(rng.normal(size=(2, 5, 5)) * 1e300)),
}
FORMS: dict[str, Form] = {**{f"table: {name}": table(values) for name, values in TABLES.items()}, **OTHERS}


def sentence(*ids: int, width: int) -> Sentence:
    words = np.random.default_rng(1).normal(size=(9, width))[list(ids)]
    return Sentence(tuple(f"word {index}" for index in ids), ids, tuple(index == 0 for index in ids), frozen(words))


def subject_of(form: Form, width: int) -> Subject[Form]:
    """An encoding of this form, with a sentence of five tokens and a word matrix (9, width)."""
    norm = LayerNorm(frozen(np.ones(width)), frozen(np.zeros(width)), 1e-5)
    layer = InputLayer(sentence(0, 1, 2, 3, 0, width=width), sentence(0, 3, 2, 1, 0, width=width), "wte.weight", norm=norm)
    return Subject(
        Encoding("encoder", "made for a test", form, Provenance("")), layer, words=frozen(np.random.default_rng(1).normal(size=(9, width)))
    )


def computed(analysis: Analysis, form: Form) -> Result:
    """The result, or one with the reason why the analysis does not apply."""
    try:
        return analysis.compute(subject_of(form, form.vectors.shape[1] if isinstance(form, PositionTable) else 8))
    except NotApplicableError as error:
        return Result(reason=str(error))


# Forms whose figures differ in more than their numbers.
DRAWN = {
    *(f"table: {name}" for name in ("random", "constant", "one row not zero", "one column", "one value", "large")),
    *("bias of many heads", "causal bias", "bias of one offset", "huge bias"),
    *("rotation", "rotation of one pair", "scaled rotation"),
    *("vectors by offset", "one vector by offset"),
    *("patches", "many patches", "row of patches", "one patch", "window of many heads"),
    *("window", "window of one patch", "convolution", "convolution of one weight"),
}
CASES = [(analysis, name) for analysis, name in product(ANALYSES, FORMS) if isinstance(FORMS[name], analysis.forms)]
RESULTS: dict[tuple[str, str], Result] = {}
each_case = pytest.mark.parametrize(("analysis", "name"), CASES, ids=lambda value: getattr(value, "key", value))
each_drawn_case = pytest.mark.parametrize(
    ("analysis", "name"), [pair for pair in CASES if pair[1] in DRAWN], ids=lambda value: getattr(value, "key", value)
)
each_analysis = pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis.key)


def result_of(analysis: Analysis, name: str) -> Result:
    """The cached result of a case."""
    if (analysis.key, name) not in RESULTS:
        RESULTS[analysis.key, name] = computed(analysis, FORMS[name])
    return RESULTS[analysis.key, name]


def applicable_results(analysis: Analysis) -> list[Result]:
    """Every result of this analysis that has no reason against it."""
    results = [result_of(analysis, name) for other, name in CASES if other is analysis]
    return [result for result in results if result.reason is None]


def figures(analysis: Analysis, name: str) -> tuple[FigureSpec, ...]:
    """The figures of a case; none if the analysis does not apply."""
    return analysis.figures if result_of(analysis, name).reason is None else ()


def test_the_cases_cover_every_form() -> None:
    assert {type(form) for form in FORMS.values()} == set(get_args(Form))


def test_every_form_but_none_has_an_analysis() -> None:
    understood = {form for analysis in ANALYSES for form in analysis.forms}
    assert understood | {NoEncoding} == set(get_args(Form))


def has_a_reason_or_content_but_not_both(result: Result) -> None:
    assert result.reason is None or result.reason.strip()
    assert result.reason is None or not (result.metrics or result.arrays or result.findings)


def has_metrics_with_either_a_finite_value_or_a_reason(result: Result) -> None:
    for metric in result.metrics:
        assert (metric.value is None) != (metric.reason is None), metric.key
        assert metric.value is None or np.isfinite(metric.value), metric.key


def has_unique_keys_and_titles_of_metrics(result: Result) -> None:
    metrics = result.metrics
    assert len({metric.key for metric in metrics}) == len({metric.title for metric in metrics}) == len(metrics)


def has_arrays_that_need_no_pickle(result: Result) -> None:
    for array in result.arrays.values():
        assert isinstance(array, np.ndarray)
        assert array.dtype.kind in "biufU"


def has_findings_that_are_sentences_without_nan(result: Result) -> None:
    for finding in result.findings:
        assert re.fullmatch(r"[A-Z\d].*[.]", finding.text), finding.text
        assert not re.search(r"\b(nan|inf|None)\b", finding.text), finding.text


def has_findings_with_existing_metrics_and_valid_weights(result: Result) -> None:
    keys = {metric.key for metric in result.metrics}
    for finding in result.findings:
        assert set(finding.rests_on) <= keys, finding.text
        assert 0.0 <= finding.weight <= 1.0, finding.text
        assert finding.rests_on or finding.weight == 0.0, finding.text


CHECKS: tuple[Callable[[Result], None], ...] = (
    has_a_reason_or_content_but_not_both,
    has_metrics_with_either_a_finite_value_or_a_reason,
    has_unique_keys_and_titles_of_metrics,
    has_arrays_that_need_no_pickle,
    has_findings_that_are_sentences_without_nan,
    has_findings_with_existing_metrics_and_valid_weights,
)


@each_case
def test_a_result_is_valid_and_reproducible(analysis: Analysis, name: str) -> None:
    first, second = result_of(analysis, name), computed(analysis, FORMS[name])
    for check in CHECKS:
        check(first)
    assert (first.metrics, first.findings, first.reason) == (second.metrics, second.findings, second.reason)
    for key in first.arrays:
        np.testing.assert_array_equal(first.arrays[key], second.arrays[key])
    for spec in figures(analysis, name):
        has_an_alternative_text_without_nan(spec, first)


def has_an_alternative_text_without_nan(spec: FigureSpec, result: Result) -> None:
    text = spec.alt(dict.fromkeys(LABELS, result))
    assert re.search(r"\d", text)
    assert not re.search(r"\b(nan|inf|None)\b", text), text
    assert all(label.title in text for label in LABELS)


@each_drawn_case
def test_figures_are_small_svgs(analysis: Analysis, name: str) -> None:
    for spec in figures(analysis, name):
        picture = svg(spec.draw, {LABELS[0]: result_of(analysis, name)})
        assert ET.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 (our own)
        assert len(picture) <= MOST_BYTES


@each_analysis
def test_figures_compare_different_forms(analysis: Analysis) -> None:
    results = {LABELS[0]: applicable_results(analysis)[0], LABELS[1]: applicable_results(analysis)[-1]}
    for spec in analysis.figures:
        picture = svg(spec.draw, results)
        assert all(label.title.encode() in picture for label in LABELS)


@each_analysis
def test_the_order_of_metrics_changes_no_text_and_no_figure(analysis: Analysis) -> None:
    added = Metric("added", "Added by a test", 0.0123)
    for result in (applicable_results(analysis)[0], applicable_results(analysis)[-1]):
        other = replace(result, metrics=(added, *reversed(result.metrics)))
        for spec in analysis.figures:
            assert spec.alt({LABELS[0]: other}) == spec.alt({LABELS[0]: result})
    for spec in analysis.figures:
        assert svg(spec.draw, {LABELS[0]: other}) == svg(spec.draw, {LABELS[0]: result})


def test_an_unknown_metric_raises_an_error_that_lists_the_known_ones() -> None:
    result = Result((Metric("first", "First", 1.0), Metric("second", "Second", None, reason="none")))
    assert (result.value("first"), result.value("second")) == (1.0, None)
    with pytest.raises(KeyError, match="no metric 'third'; expected one of first, second"):
        result.metric("third")


@each_analysis
def test_a_comparison_of_the_largest_size_is_a_small_svg(analysis: Analysis) -> None:
    results = {Label(f"Checkpoint {index}", "#3d7fd6"): applicable_results(analysis)[0] for index in range(analysis.per_figure)}
    for spec in analysis.figures:
        assert len(svg(spec.draw, results)) <= MOST_BYTES


@pytest.mark.parametrize("name", FORMS)
def test_every_form_has_a_small_thumbnail(name: str) -> None:
    kernel: Floats = FORMS[name].kernel(96).mean(axis=0)
    assert len(svg(thumbnail, kernel)) <= MOST_BYTES / 4


@pytest.mark.parametrize("name", ["zeros", "rank one", "one row", "one column", "NaN", "one infinity"])
def test_a_checkpoint_with_a_degenerate_table_is_evaluated(name: str, tmp_path: Path) -> None:
    folder = save_folder(tmp_path, {"model_type": "gpt2"}, {"wpe.weight": np.asarray(TABLES[name], dtype=np.float32)})
    outcome = evaluate(Task(checkpoint(place=str(folder)), "#3d7fd6", offline=True))
    assert (outcome.status, outcome.reason, len(outcome.readings)) == ("ok", None, 1)
