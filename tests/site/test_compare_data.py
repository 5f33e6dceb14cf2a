"""Data of the compare page, decoded as its JavaScript does."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from generator.contracts import (
    Analysis,
    Atlas,
    Encoding,
    Label,
    Metric,
    Outcome,
    Provenance,
    Reading,
    Result,
)
from generator.encodings import Form, NoEncoding, PositionTable, RelativeTable, sinusoid
from generator.encodings.kernels import first_kernel
from generator.figures.short_text import ALPHABET, STEPS, pack
from generator.numerics.arrays import Array, Floats, frozen
from generator.numerics.similarity import shape
from generator.pipeline.evaluate import all_analyses
from generator.site.compare import scripts as compare_data
from generator.site.compare.kernel_images import (
    BLOCKS,
    MOST_ENTRIES,
    POSITIONS,
    kernels,
    shape_of,
    windows,
)
from tests.analyses.test_all import result_of
from tests.forms import FORMS
from tests.support import checkpoint

NOTHING = NoEncoding("from the config")
NUMBERS = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e9, 1e9) | st.just(np.nan))


def unpacked(packed: Any) -> Floats:
    """Values of a packed array."""
    digits = np.array([ALPHABET.index(digit) for digit in packed["levels"]], dtype=int)
    levels = 64 * digits[::2] + digits[1::2]
    low, high = packed["low"] or 0.0, packed["high"] or 0.0
    return np.where(levels > STEPS, np.nan, low * (1 - levels / STEPS) + high * (levels / STEPS))


def entry(query: int, key: int, n: int, columns: int | None) -> int:
    """Index of a pair's entry: in the upper triangle, or by its offset on the grid."""
    if columns is None:
        return n * min(query, key) - min(query, key) * (min(query, key) + 1) // 2 + max(query, key)
    rows, width = -(-n // columns), min(columns, n)
    down, across = key // columns - query // columns, key % columns - query % columns
    return (down + rows - 1) * (2 * width - 1) + across + width - 1


def matrix(drawn: Any, packed: Any) -> Floats:
    """A kernel (n, n) of a record; a shape may be that of the stored levels, cut to [0, 1], without
    what is out.
    """
    n, columns = drawn["n"], drawn["columns"]
    indices = np.array([[entry(query, key, n, columns) for key in range(n)] for query in range(n)])
    if packed["levels"] is not None:
        return np.asarray(unpacked(packed)[indices])
    levels = unpacked({**packed, "levels": drawn["stored"]["levels"]})
    values = np.asarray(np.clip(levels, 0.0, 1.0)[indices])
    values[packed["out"]] = values[:, packed["out"]] = np.nan
    return values


def reading(form: Form, **results: Result) -> Reading:
    encoding = Encoding("encoder", "made", form, Provenance(""))
    return Reading.of(encoding, Label("Row", "#3d7fd6"), results, {}, {})


def files(*readings: Reading) -> dict[str, Any]:
    """Arguments of the function call in each file, by path."""
    failed = Outcome(checkpoint(slug="x"), "failed", "no")
    atlas = Atlas((Outcome(checkpoint(), "ok", readings=readings), failed), (), ())
    makers = compare_data.makers(atlas)
    return {path: arguments(make()) for path, make in makers.items()}


def arguments(script: bytes) -> Any:
    return json.loads(f"[{script.decode().partition('(')[2].rpartition(')')[0]}]")


@given(NUMBERS)
def test_packed_numbers_are_within_half_a_step(values: Array) -> None:
    finite = values[~np.isnan(values)]
    half = np.ptp(finite) / STEPS / 2 if finite.size else 0.0
    most = half * (1 + 1e-6) + 1e-9 * np.max(np.abs(finite), initial=0.0)
    np.testing.assert_allclose(unpacked(pack(values)), values, rtol=1e-12, atol=most)


@pytest.mark.parametrize("name", FORMS)
def test_every_kernel_and_every_shape_are_restored(name: str) -> None:
    form = FORMS[name]
    drawn, inliers = kernels(form), first_kernel(form.inliers, POSITIONS)
    with np.errstate(all="ignore"):
        kernel = form.kernel(POSITIONS).mean(axis=0)
    kernel = np.where(np.isfinite(kernel), kernel, np.nan)
    half_range = (drawn["stored"]["high"] or 0.0) * 0.5 - (drawn["stored"]["low"] or 0.0) * 0.5
    np.testing.assert_allclose(
        matrix(drawn, drawn["stored"]), kernel, rtol=1e-9, atol=1.001 * half_range / STEPS
    )
    expected = shape(inliers.heads, inliers.lines)
    assert (drawn["shape"] is None) == (expected is None)
    if expected is not None:
        step = (drawn["shape"]["high"] - drawn["shape"]["low"]) / STEPS
        np.testing.assert_allclose(matrix(drawn, drawn["shape"]), expected, atol=step)


def test_profiles_are_means_of_diagonals_from_the_past_to_the_future() -> None:
    values = FORMS["bias of one head"].kernel(128)[0]
    means = [np.diagonal(values, offset).mean() for offset in range(1 - len(values), len(values))]
    found = kernels(FORMS["bias of one head"])["stored"]["profile"]
    np.testing.assert_allclose(found, means, rtol=1e-5)


def test_profiles_of_a_grid_are_means_along_rows_and_columns() -> None:
    """Of 2 × 2 patches, the last of a row and the first of the next are no neighbours: 4 pairs lie
    side by side or above each other.
    """
    form = PositionTable(frozen([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.6, 0.8]]), grid=(2, 2))
    neighbours = (0.6 + 0.8 + 0.0 + 1.0) / 4
    assert kernels(form)["stored"]["profile"] == [
        None, None, neighbours, 1.0, neighbours, None, None,
    ]  # fmt: skip


def test_an_outlier_has_values_but_no_shape() -> None:
    table = sinusoid(64, 16).copy()
    table[5] = -table[5]
    drawn = kernels(PositionTable(frozen(table)))
    assert not np.isnan(matrix(drawn, drawn["stored"])).any()
    undefined = np.isnan(matrix(drawn, drawn["shape"]))
    assert undefined[5].all()
    assert undefined.sum() == 64 + 63


def test_each_encoding_has_files_and_is_listed_with_its_metrics() -> None:
    made = files(reading(NOTHING, made=Result((Metric("size", "Size", 1.0, "logit"),))))
    names = ["index", "row/encoder-made-windows", "row/encoder-made"]
    assert sorted(made) == [f"data/compare/{name}.js" for name in names]
    [catalogue] = made["data/compare/index.js"]
    assert [encoding["name"] for encoding in catalogue["encodings"]] == ["row/encoder-made"]
    assert catalogue["metrics"] == {"made.size": ["Size", "logit"]}


def test_each_encoding_leads_to_its_section_on_either_page() -> None:
    """The fifth encoding of one scheme, and those before it but the first, are on a second page;
    another scheme's is on the first page.
    """
    later = [(f"layer_{layer}", "made") for layer in range(1, 5)]
    plain = reading(NOTHING)
    readings = [
        replace(plain, encoding=replace(plain.encoding, part=part, scheme=scheme))
        for part, scheme in (("layer_0", "made"), ("other", "another"), *later)
    ]
    [catalogue] = files(*readings)["data/compare/index.js"]
    pages = [encoding["page"] for encoding in catalogue["encodings"]]
    assert pages[:3] == [
        "checkpoints/row.html#layer_0-made",
        "checkpoints/row.html#other-another",
        "checkpoints/row/layers.html#layer_1-made",
    ]


def test_a_metric_is_a_number_or_its_reason() -> None:
    result = Result((Metric("size", "Size", 1 / 3), Metric("none", "None", None, reason="no word")))
    assert compare_data.record(reading(NOTHING, made=result))["metrics"] == {
        "made.size": 0.333333,
        "made.none": "no word",
    }


@pytest.mark.parametrize(
    ("form", "n_positions", "step", "columns"),
    [
        (NOTHING, 512, 1, None), (NOTHING, 513, 2, None), (NOTHING, 1025, 3, None),
        (PositionTable(sinusoid(6, 4), grid=(2, 3)), 6, 1, 3),
    ],
)  # fmt: skip
def test_the_curve_is_made_of_coordinates_with_the_last_position_once(
    form: Form, n_positions: int, step: int, columns: int | None
) -> None:
    points = np.random.default_rng(0).normal(size=(n_positions, 3))
    found = reading(form, made=Result(arrays={"coordinates": points}))
    curve = compare_data.record(found)["curve"]
    last = n_positions - 1
    assert (curve["step"], curve["last"], curve["columns"]) == (step, last, columns)
    expected = points[sorted({*range(0, n_positions, step), last})]
    shown = unpacked(curve).reshape(-1, 3)
    np.testing.assert_allclose(shown, expected, atol=np.ptp(points) / STEPS)
    assert compare_data.record(reading(form))["curve"] is None


def test_windows_are_means_of_blocks_with_profiles_at_their_offsets() -> None:
    form = PositionTable(sinusoid(300, 32))
    drawn = windows(form)
    assert list(drawn) == ["512"]
    (window,) = drawn.values()
    cosines, block = form.kernel(300)[0], window["block"]
    assert (window["n"], block) == (300 // block, -(-300 // BLOCKS))
    expected = [
        [cosines[row : row + block, key : key + block].mean() for key in range(0, 300, block)]
        for row in range(0, 300, block)
    ]
    np.testing.assert_allclose(matrix(window, window["stored"]), expected, atol=2.0 / STEPS)
    offsets = range(-(window["n"] - 1) * block, 300, block)
    means = [np.diagonal(cosines, offset).mean() for offset in offsets]
    np.testing.assert_allclose(window["stored"]["profile"], means, rtol=1e-5)
    # Of the shape, which is 1 where the cosine is highest.
    shape = window["shape"]["profile"]
    assert (len(shape), np.argmax(shape), max(shape)) == (len(means), np.argmax(means), 1.0)


def test_a_window_of_positions_that_do_not_fill_their_blocks_leaves_out_the_last() -> None:
    (window,) = windows(PositionTable(sinusoid(322, 32))).values()
    assert (window["n"], window["block"]) == (53, 6)


def test_short_tables_and_grids_have_no_windows_and_others_take_bounded_memory() -> None:
    short = (PositionTable(sinusoid(128, 8)), PositionTable(sinusoid(150, 8)))
    assert list(windows(PositionTable(sinusoid(200, 8)))) == ["512"]
    for form in (*short, PositionTable(sinusoid(400, 8), grid=(20, 20))):
        assert windows(form) == {}
    assert all(
        window["heads"] * int(count) ** 2 <= MOST_ENTRIES
        for form in FORMS.values()
        for count, window in windows(form).items()
    )


OVERLAID = [analysis for analysis in all_analyses() if analysis.overlay]


@pytest.mark.parametrize("analysis", OVERLAID, ids=lambda analysis: analysis.key)
def test_every_overlay_has_as_many_places_as_values(analysis: Analysis) -> None:
    for name in FORMS:
        if not isinstance(FORMS[name], analysis.forms):
            continue
        result = result_of(analysis, name)
        found = compare_data.record(reading(FORMS[name], **{analysis.key: result}), (analysis,))
        assert result.reason is None or not found["lines"]
        for line in found["lines"].values():
            count = line["x"]["count"] if isinstance(line["x"], dict) else len(line["x"])
            assert 0 < count == len(line["y"]) <= 512


def test_a_line_has_the_values_of_its_array() -> None:
    """Norms of a 4 × 2 table by hand: 1, 2, 5 and 3; their median is 2.5."""
    analysis = next(analysis for analysis in all_analyses() if analysis.title == "Vector norms")
    norms = Result(arrays={"norms": np.array([1.0, 2.0, 5.0, 3.0])})
    record = compare_data.record(reading(NOTHING, **{analysis.key: norms}), (analysis,))
    line = record["lines"][analysis.key]
    assert line == {"x": {"first": 0, "step": 1, "count": 4}, "y": [0.4, 0.8, 2, 1.2]}


def test_a_band_without_values_at_far_offsets_has_no_shape() -> None:
    """A window of 9 offsets in 128 positions would be compared over a few pairs alone."""
    vectors = np.random.default_rng(3).normal(size=(11, 8))
    offsets = frozen(np.arange(-5, 6))
    assert shape_of(RelativeTable(frozen(vectors), offsets)) is not None
    vectors[[0, -1]] = 0.0
    assert shape_of(RelativeTable(frozen(vectors), offsets)) is None
