"""Properties of every analysis of the package; none is named here."""

import ast
import builtins
import json
import re
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from generator.contracts import (
    Analysis,
    Encoding,
    FigureSpec,
    Finding,
    InputLayer,
    Label,
    LayerNorm,
    Metric,
    Provenance,
    Result,
    Sentence,
    Subject,
)
from generator.encodings import Form, NoEncoding, PositionTable, all_forms
from generator.errors import NotApplicableError
from generator.figures.panels import thumbnail
from generator.figures.svg import encode, parts
from generator.numerics.arrays import frozen
from generator.pipeline.evaluate import all_analyses, outcome_of
from generator.reading.plan import Task
from tests.forms import FORMS
from tests.forms.usual import TABLES
from tests.support import LABELS, checkpoint, save_folder

MOST_BYTES = 200_000
MOST_DATA = 300_000
UNSAID = re.compile(r"\b(nan|inf|None)\b")
UNITS = {"", "%", "°", "logit", "patches", "positions", "turns"}
# What the lines of a figure may name; ``vectors`` and ``arrays`` are of a file of the site.
NAMES = {*dir(builtins), "arrays", "np", "plt", "vectors"}
ANALYSES = all_analyses()


def sentence(*ids: int, width: int) -> Sentence:
    words = np.random.default_rng(1).normal(size=(9, width))[list(ids)]
    return Sentence(
        tuple(f"word {index}" for index in ids),
        ids,
        tuple(index == 0 for index in ids),
        frozen(words),
    )


def subject_of(form: Form, width: int) -> Subject[Form]:
    """An encoding of this form, with a sentence of five tokens and a word matrix (9, width)."""
    norm = LayerNorm(frozen(np.ones(width)), frozen(np.zeros(width)), 1e-5)
    layer = InputLayer(
        sentence(0, 1, 2, 3, 0, width=width),
        sentence(0, 3, 2, 1, 0, width=width),
        "wte.weight",
        norm=norm,
    )
    return Subject(
        Encoding("encoder", "made for a test", form, Provenance("")),
        layer,
        word_vectors=frozen(np.random.default_rng(1).normal(size=(9, width))),
    )


def computed(analysis: Analysis, form: Form) -> Result:
    """The result, or one with the reason why the analysis does not apply."""
    try:
        return analysis.compute(
            subject_of(form, form.vectors.shape[1] if isinstance(form, PositionTable) else 8)
        )
    except NotApplicableError as error:
        return Result(reason=str(error))


# Forms whose figures differ in more than their numbers: those that lead through other lines of the
# program, and those with next to nothing to draw.
DRAWN = {
    *(
        f"table: {name}"
        for name in ("random", "constant", "one row not zero", "one column", "one value", "large")
    ),
    *("bias of many heads", "causal bias", "bias of one offset", "huge bias"),
    *("rotation", "rotation of one pair", "scaled rotation"),
    *("vectors by offset", "one vector by offset"),
    *("many patches", "one patch", "window of many heads"),
    *("decays of many channels", "decay of one head", "decays, some zero"),
    *(
        "sinks",
        "one sink",
        "temperature in steps",
        "smooth temperature",
        "temperature of one position",
    ),
    *("window of one patch", "convolution", "convolution of one weight"),
}
CASES = [
    (analysis, name)
    for analysis, name in product(ANALYSES, FORMS)
    if isinstance(FORMS[name], analysis.forms)
]
RESULTS: dict[tuple[str, str], Result] = {}
PICTURES: dict[tuple[str, str, str], bytes] = {}
each_analysis = pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis.key)


def result_of(analysis: Analysis, name: str) -> Result:
    """The cached result of a case."""
    if (analysis.key, name) not in RESULTS:
        RESULTS[analysis.key, name] = computed(analysis, FORMS[name])
    return RESULTS[analysis.key, name]


@contextmanager
def of(case: str) -> Iterator[None]:
    """Say of which case it is that a check fails."""
    try:
        yield
    except Exception as error:
        error.add_note(f"of {case}")
        raise


def picture_of(analysis: Analysis, spec: FigureSpec, name: str) -> bytes:
    """The cached drawing of a figure of a case."""
    key = (analysis.key, spec.key, name)
    if key not in PICTURES:
        PICTURES[key] = encode(spec.draw, {LABELS[0]: result_of(analysis, name)})
    return PICTURES[key]


def names_of(analysis: Analysis) -> Iterator[str]:
    """The forms that this analysis understands."""
    return (name for other, name in CASES if other is analysis)


@each_analysis
def test_what_a_store_leaves_out_follows_from_the_form_and_the_arrays(analysis: Analysis) -> None:
    for name in names_of(analysis):
        result = result_of(analysis, name)
        with of(name):
            assert set(result.derived) == (set() if result.reason else set(analysis.derived))
            for key, array in result.derived.items():
                assert_array_equal(
                    analysis.derived[key](FORMS[name], result.arrays), array, strict=True
                )


def applicable_results(analysis: Analysis) -> list[Result]:
    """Every result of this analysis that has no reason against it."""
    results = [result_of(analysis, name) for name in names_of(analysis)]
    return [result for result in results if result.reason is None]


def figures(analysis: Analysis, name: str) -> tuple[FigureSpec, ...]:
    """The figures of a case; none if the analysis does not apply."""
    return analysis.figures if result_of(analysis, name).reason is None else ()


def test_every_form_but_none_has_an_analysis() -> None:
    understood = {form for analysis in ANALYSES for form in analysis.forms}
    assert understood | {NoEncoding} == set(all_forms())


def faults_of(result: Result) -> Iterator[str]:
    """What a result has that none may have."""
    has_content = bool(result.metrics or result.arrays or result.findings)
    if result.reason is not None and (has_content or not result.reason.strip()):
        yield "a reason without words, or beside content"
    reasons = (result.reason, *(metric.reason for metric in result.metrics))
    if any(reason and not re.match(r"[a-z\d]", reason) for reason in reasons):
        yield "a reason that does not go on after other words"
    keys = {metric.key for metric in result.metrics}
    titles = {metric.title for metric in result.metrics}
    if not len(keys) == len(titles) == len(result.metrics):
        yield "two metrics with one key or title"
    for metric in result.metrics:
        has_value = metric.value is not None
        if has_value == (metric.reason is not None) or not np.isfinite(metric.value or 0.0):
            yield f"{metric.key}: neither a finite value nor a reason"
        if metric.unit not in UNITS:
            yield f"{metric.key}: the unit {metric.unit}"
    for name, array in result.arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufU":
            yield f"{name}: an array that needs pickle"
    for finding in result.findings:
        yield from faults_of_finding(finding, keys)


def faults_of_finding(finding: Finding, keys: Set[str]) -> Iterator[str]:
    """keys: of metrics"""
    if not re.fullmatch(r"[A-Z\d].*[.]", finding.text) or UNSAID.search(finding.text):
        yield f"no sentence, or one with nan: {finding.text}"
    if not set(finding.rests_on) <= keys or not 0.0 <= finding.weight <= 1.0:
        yield f"an unknown metric, or a weight beyond 0 to 1: {finding.text}"
    if finding.weight and not finding.rests_on:
        yield f"a weight that rests on nothing: {finding.text}"


@each_analysis
def test_a_result_is_valid_and_reproducible(analysis: Analysis) -> None:
    for name in names_of(analysis):
        with of(name):
            is_valid_and_reproducible(analysis, name)


def is_valid_and_reproducible(analysis: Analysis, name: str) -> None:
    first, second = result_of(analysis, name), computed(analysis, FORMS[name])
    assert list(faults_of(first)) == []
    for field in ("metrics", "findings", "reason"):
        assert getattr(first, field) == getattr(second, field)
    for key in first.arrays:
        assert_array_equal(first.arrays[key], second.arrays[key])
    for spec in figures(analysis, name):
        text = spec.alt(dict.fromkeys(LABELS, first))
        assert re.search(r"\d", text)
        assert not UNSAID.search(text), text
        assert all(label.title in text for label in LABELS)


@each_analysis
def test_columns_and_answers_are_of_metrics_and_leave_room_for_a_value(
    analysis: Analysis,
) -> None:
    known = {metric.key for result in applicable_results(analysis) for metric in result.metrics}
    assert {one.metric for one in analysis.shown} <= known
    chances = [one.chance for one in analysis.shown if one.chance]
    spreads = [pair for one in chances for pair in (one.samples, one.shuffles) if pair]
    assert {one.metric for one in chances} | {key for key, _ in spreads} <= known
    sentences = [one.sentence for one in analysis.shown if one.sentence]
    assert [text for text in sentences if text.count("{}") != 1 or text[0].isupper()] == []


def test_the_lines_of_a_figure_name_what_they_have_been_given() -> None:
    arrays = {
        f"{analysis.key}.{name}"
        for analysis in ANALYSES
        for result in applicable_results(analysis)
        for name in result.arrays
    }
    for code in [spec.python for analysis in ANALYSES for spec in analysis.figures if spec.python]:
        names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
        assigned = {name.id for name in names if isinstance(name.ctx, ast.Store)}
        assert {name.id for name in names} <= NAMES | assigned, code
        assert set(re.findall(r'arrays\["([^"]+)"\]', code)) <= arrays, code


@each_analysis
def test_figures_are_small_svgs(analysis: Analysis) -> None:
    drawn = [
        (spec, name)
        for name in names_of(analysis)
        if name in DRAWN
        for spec in figures(analysis, name)
    ]
    assert drawn
    for spec, name in drawn:
        with of(f"{name}: {spec.key}"):
            picture, data = parts(picture_of(analysis, spec, name))
            # Our own.
            assert ET.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314
            assert len(picture) <= MOST_BYTES
            assert len(data) <= MOST_DATA
            assert json.loads(data)["panels"]


@each_analysis
def test_the_order_of_metrics_changes_no_text_and_no_figure(analysis: Analysis) -> None:
    added = Metric("added", "Added by a test", 0.0123)
    for result in (applicable_results(analysis)[0], applicable_results(analysis)[-1]):
        other = replace(result, metrics=(added, *reversed(result.metrics)))
        for spec in analysis.figures:
            assert spec.alt({LABELS[0]: other}) == spec.alt({LABELS[0]: result})
    name = next(name for name in names_of(analysis) if name in DRAWN and figures(analysis, name))
    other = replace(
        result_of(analysis, name), metrics=(added, *reversed(result_of(analysis, name).metrics))
    )
    for spec in analysis.figures:
        assert encode(spec.draw, {LABELS[0]: other}) == picture_of(analysis, spec, name)


def test_an_unknown_metric_raises_an_error_that_lists_the_known_ones() -> None:
    result = Result((Metric("first", "First", 1.0), Metric("second", "2nd", None, reason="none")))
    assert (result.value("first"), result.value("second")) == (1.0, None)
    with pytest.raises(KeyError, match="no metric 'third'; expected one of first, second"):
        result.metric("third")


@each_analysis
def test_a_comparison_of_the_largest_size_and_of_different_forms_is_small(
    analysis: Analysis,
) -> None:
    found = applicable_results(analysis)
    labels = [
        Label(f"Checkpoint {index}", "#3d7fd6") for index in range(max(2, analysis.per_figure))
    ]
    results = dict.fromkeys(labels, found[-1]) | {labels[0]: found[0]}
    for spec in analysis.figures:
        picture, data = parts(encode(spec.draw, results))
        assert len(picture) <= MOST_BYTES
        assert len(data) <= MOST_DATA
        assert all(label.title.encode() in picture for label in results)


def test_every_form_has_a_small_thumbnail() -> None:
    kernels = {name: form.kernel(96).mean(axis=0) for name, form in FORMS.items()}
    assert [
        name for name, kernel in kernels.items() if len(encode(thumbnail, kernel)) > MOST_BYTES / 4
    ] == []


@pytest.mark.parametrize(
    "name", ["zeros", "rank one", "one row", "one column", "NaN", "one infinity"]
)
def test_a_checkpoint_with_a_degenerate_table_is_evaluated(name: str, tmp_path: Path) -> None:
    folder = save_folder(
        tmp_path, {"model_type": "gpt2"}, {"wpe.weight": np.asarray(TABLES[name], dtype=np.float32)}
    )
    outcome = outcome_of(Task(checkpoint(place=str(folder)), offline=True))
    assert (outcome.status, outcome.reason, len(outcome.readings)) == ("ok", None, 1)
