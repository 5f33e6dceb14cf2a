"""Data of the compare page, decoded as its JavaScript does."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from generator.contracts import Atlas, Encoding, Label, Metric, Outcome, Provenance, Reading, Result
from generator.encodings import Form, NoEncoding, PositionTable, sinusoid
from generator.figures.packing import ALPHABET, STEPS, Layout, pack
from generator.numerics.arrays import Array, Floats, frozen
from generator.site import compare_data
from tests.forms import FORMS
from tests.support import checkpoint

NOTHING = NoEncoding("from the config")
NUMBERS = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e9, 1e9) | st.just(np.nan))


def unpacked(packed: Any) -> Floats:
    """Values of a packed array."""
    levels = np.array(
        [64 * ALPHABET.index(first) + ALPHABET.index(last) for first, last in zip(*[iter(packed["levels"])] * 2, strict=True)]
    )
    low, high = packed["low"] or 0.0, packed["high"] or 0.0
    return np.where(levels > STEPS, np.nan, low * (1 - levels / STEPS) + high * (levels / STEPS))


def entry(query: int, key: int, n: int, columns: int | None) -> int:
    """Index of a pair's entry: in the upper triangle, or by its offset on the grid."""
    if columns is None:
        return n * min(query, key) - min(query, key) * (min(query, key) + 1) // 2 + max(query, key)
    rows, width = -(-n // columns), min(columns, n)
    down, across = key // columns - query // columns, key % columns - query % columns
    return (down + rows - 1) * (2 * width - 1) + across + width - 1


def reading(form: Form, **results: Result) -> Reading:
    return Reading.of(Encoding("encoder", "made", form, Provenance("")), Label("Row", "#3d7fd6"), results, {}, {})


def files(*readings: Reading) -> dict[str, Any]:
    """Arguments of the function call in each file, by path."""
    outcomes = (Outcome(checkpoint(), "ok", readings=readings), Outcome(checkpoint(slug="x"), "failed", "no"))
    makers = compare_data.makers(Atlas(outcomes, (), ()))
    return {path: json.loads(f"[{make().decode().partition('(')[2].rpartition(')')[0]}]") for path, make in makers.items()}


@given(NUMBERS)
def test_packed_numbers_are_within_half_a_step(values: Array) -> None:
    finite = values[~np.isnan(values)]
    half = np.ptp(finite) / STEPS / 2 if finite.size else 0.0
    np.testing.assert_allclose(
        unpacked(pack(values)), values, rtol=1e-12, atol=half * (1 + 1e-6) + 1e-9 * np.max(np.abs(finite), initial=0.0)
    )


@pytest.mark.parametrize("name", FORMS)
def test_every_kernel_is_restored(name: str) -> None:
    form = FORMS[name]
    kernels = compare_data.record(reading(form))["kernels"]
    with np.errstate(all="ignore"):
        kernel = form.kernel(compare_data.POSITIONS).mean(axis=0)
    kernel = np.where(np.isfinite(kernel), kernel, np.nan)
    positions = range(kernels["n"])
    indices = np.array([[entry(query, key, kernels["n"], kernels["columns"]) for key in positions] for query in positions])
    half_range = (kernels["stored"]["high"] or 0.0) * 0.5 - (kernels["stored"]["low"] or 0.0) * 0.5
    np.testing.assert_allclose(unpacked(kernels["stored"])[indices], kernel, rtol=1e-9, atol=1.001 * half_range / STEPS)


@pytest.mark.parametrize("name", FORMS)
def test_the_file_of_an_encoding_is_ascii_and_below_40_kilobytes(name: str) -> None:
    [content] = [make() for path, make in compare_data.makers(_atlas(reading(FORMS[name]))).items() if "index" not in path]
    assert len(content) <= 40_000
    assert content.isascii()


def _atlas(reading: Reading) -> Atlas:
    return Atlas((Outcome(checkpoint(), "ok", readings=(reading,)),), (), ())


def test_entries_of_a_symmetric_kernel_are_its_upper_triangle() -> None:
    matrix = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(Layout(3, None).entries(matrix), [0, 1, 2, 4, 5, 8])


def test_profiles_are_means_of_diagonals_from_the_past_to_the_future() -> None:
    kernels = compare_data.record(reading(FORMS["bias of one head"]))["kernels"]
    values = FORMS["bias of one head"].kernel(128)[0]
    means = [np.diagonal(values, offset).mean() for offset in range(1 - len(values), len(values))]
    np.testing.assert_allclose(kernels["stored"]["profile"], means, rtol=1e-5)


def test_profiles_of_a_grid_are_means_along_rows_and_columns() -> None:
    """Of 2 × 2 patches, the last of a row and the first of the next are no neighbours: 4 pairs lie side by side or above each other."""
    form = PositionTable(frozen([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.6, 0.8]]), grid=(2, 2))
    neighbours = (0.6 + 0.8 + 0.0 + 1.0) / 4
    assert compare_data.record(reading(form))["kernels"]["stored"]["profile"] == [None, None, neighbours, 1.0, neighbours, None, None]


def test_an_outlier_has_values_but_no_shape() -> None:
    table = sinusoid(64, 16).copy()
    table[5] = -table[5]
    kernels = compare_data.record(reading(PositionTable(frozen(table))))["kernels"]
    of_outlier = [entry(5, key, 64, None) for key in range(64)]
    assert not np.isnan(unpacked(kernels["stored"])).any()
    assert np.flatnonzero(np.isnan(unpacked(kernels["shape"]))).tolist() == sorted(of_outlier)


def test_each_encoding_has_a_file_and_a_failed_checkpoint_has_none() -> None:
    assert sorted(files(reading(NOTHING))) == ["data/compare/index.js", "data/compare/row/encoder-made.js"]


def test_the_catalogue_lists_encodings_and_metrics() -> None:
    result = Result((Metric("size", "Size", 1.0, "logit"),))
    [catalogue] = files(reading(NOTHING, made=result))["data/compare/index.js"]
    assert [encoding["name"] for encoding in catalogue["encodings"]] == ["row/encoder-made"]
    assert catalogue["metrics"] == {"made.size": ["Size", "logit"]}


def test_each_encoding_leads_to_its_own_section_or_to_its_own_page() -> None:
    """The fifth encoding of one scheme, and those before it but the first, have pages of their own; another scheme's is on the first page."""
    encodings = [("layer_0", "made"), ("other", "another"), *((f"layer_{layer}", "made") for layer in range(1, 5))]
    readings = [
        Reading.of(Encoding(part, scheme, NOTHING, Provenance("")), Label(part, "#3d7fd6"), {}, {}, {}) for part, scheme in encodings
    ]
    [catalogue] = files(*readings)["data/compare/index.js"]
    pages = [encoding["page"] for encoding in catalogue["encodings"]]
    assert pages[:3] == [
        "checkpoints/row.html#layer_0-made",
        "checkpoints/row.html#other-another",
        "checkpoints/row/layer_1-made.html#layer_1-made",
    ]


def test_a_metric_is_a_number_or_its_reason() -> None:
    result = Result((Metric("size", "Size", 1 / 3), Metric("none", "None", None, reason="no word")))
    assert compare_data.record(reading(NOTHING, made=result))["metrics"] == {"made.size": 0.333333, "made.none": "no word"}


def test_the_curve_is_made_of_the_coordinates_of_any_analysis() -> None:
    points = np.random.default_rng(0).normal(size=(1024, 3))
    curve = compare_data.record(reading(NOTHING, made=Result(arrays={"coordinates": points})))["curve"]
    assert (curve["step"], curve["last"]) == (2, 1023)
    np.testing.assert_allclose(unpacked(curve).reshape(-1, 3), points[[*range(0, 1024, 2), 1023]], atol=np.ptp(points) / STEPS)


@pytest.mark.parametrize(("n_positions", "step", "n_points"), [(512, 1, 512), (513, 2, 257), (1025, 3, 343)])
def test_a_curve_contains_the_last_position_once(n_positions: int, step: int, n_points: int) -> None:
    points = np.random.default_rng(0).normal(size=(n_positions, 3))
    curve = compare_data.record(reading(NOTHING, made=Result(arrays={"coordinates": points})))["curve"]
    assert (curve["step"], curve["last"], unpacked(curve).size) == (step, n_positions - 1, 3 * n_points)


@pytest.mark.parametrize(("form", "columns"), [(PositionTable(sinusoid(6, 4)), None), (PositionTable(sinusoid(6, 4), grid=(2, 3)), 3)])
def test_a_curve_has_the_patches_of_a_row(form: Form, columns: int | None) -> None:
    curve = compare_data.record(reading(form, made=Result(arrays={"coordinates": np.zeros((6, 3))})))["curve"]
    assert curve["columns"] == columns


def test_without_coordinates_there_is_no_curve() -> None:
    assert compare_data.record(reading(NOTHING))["curve"] is None


def test_a_constant_kernel_has_no_shape() -> None:
    assert compare_data.record(reading(NOTHING))["kernels"]["shape"] is None
