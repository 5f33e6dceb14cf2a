"""The data of the compare page, read back by what its format says."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from generator.contracts import Atlas, Encoding, Label, Metric, Outcome, Provenance, Reading, Result
from generator.encodings import Form, NoEncoding
from generator.numerics.arrays import Array, Floats
from generator.site import compare_data
from generator.site.compare_packing import ALPHABET, STEPS, Layout, pack
from tests.forms import FORMS
from tests.support import checkpoint

NUMBERS = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e9, 1e9) | st.just(np.nan))


def unpacked(packed: Any) -> Floats:
    """As the page does it, in a few lines of its own."""
    levels = np.array(
        [64 * ALPHABET.index(first) + ALPHABET.index(last) for first, last in zip(*[iter(packed["levels"])] * 2, strict=True)]
    )
    low, high = packed["low"] or 0.0, packed["high"] or 0.0
    return np.where(levels > STEPS, np.nan, low * (1 - levels / STEPS) + high * (levels / STEPS))


def entry(query: int, key: int, n: int, columns: int | None) -> int:
    """Where a pair's value stands: in the upper triangle, or by its offset on a grid."""
    if columns is None:
        return n * min(query, key) - min(query, key) * (min(query, key) + 1) // 2 + max(query, key)
    rows, width = -(-n // columns), min(columns, n)
    down, across = key // columns - query // columns, key % columns - query % columns
    return (down + rows - 1) * (2 * width - 1) + across + width - 1


def reading(form: Form, **results: Result) -> Reading:
    return Reading.of(Encoding("encoder", "made", form, Provenance("")), Label("Row", "#3d7fd6"), results, {}, {})


def files(*readings: Reading) -> dict[str, Any]:
    """What each file tells the page: the arguments of its call."""
    made = compare_data.makers(
        Atlas((Outcome(checkpoint(), "ok", readings=readings), Outcome(checkpoint(slug="x"), "failed", "no")), (), ())
    )
    return {path: json.loads(f"[{make().decode().partition('(')[2].rpartition(')')[0]}]") for path, make in made.items()}


@given(NUMBERS)
def test_packed_numbers_are_within_half_a_step(values: Array) -> None:
    known = values[~np.isnan(values)]
    half = np.ptp(known) / STEPS / 2 if known.size else 0.0
    np.testing.assert_allclose(
        unpacked(pack(values)), values, rtol=1e-12, atol=half * (1 + 1e-6) + 1e-9 * np.max(np.abs(known), initial=0.0)
    )


@pytest.mark.parametrize("name", FORMS)
def test_every_kernel_comes_back(name: str) -> None:
    form = FORMS[name]
    told = compare_data.record(reading(form))["kernels"]
    with np.errstate(all="ignore"):
        kernel = form.kernel(compare_data.POSITIONS).mean(axis=0)
    kernel = np.where(np.isfinite(kernel), kernel, np.nan)
    place = np.array([[entry(query, key, told["n"], told["columns"]) for key in range(told["n"])] for query in range(told["n"])])
    spread = (told["stored"]["high"] or 0.0) * 0.5 - (told["stored"]["low"] or 0.0) * 0.5
    np.testing.assert_allclose(unpacked(told["stored"])[place], kernel, rtol=1e-9, atol=1.001 * spread / STEPS)


@pytest.mark.parametrize("name", FORMS)
def test_every_encoding_is_a_small_file_without_nan(name: str) -> None:
    [content] = [make() for path, make in compare_data.makers(_atlas(reading(FORMS[name]))).items() if "index" not in path]
    assert len(content) <= 40_000
    assert content.isascii()


def _atlas(found: Reading) -> Atlas:
    return Atlas((Outcome(checkpoint(), "ok", readings=(found,)),), (), ())


def test_an_upper_triangle_is_that_of_numpy() -> None:
    matrix = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(Layout(3, None).entries(matrix), [0, 1, 2, 4, 5, 8])


def test_profiles_are_means_of_diagonals_from_the_past_on() -> None:
    told = compare_data.record(reading(FORMS["bias of one head"]))["kernels"]
    values = FORMS["bias of one head"].kernel(128)[0]
    np.testing.assert_allclose(
        told["stored"]["profile"], [np.diagonal(values, k).mean() for k in range(1 - len(values), len(values))], rtol=1e-5
    )


def test_there_is_a_file_for_each_encoding_and_none_for_what_failed() -> None:
    assert sorted(files(reading(NoEncoding("told")))) == ["data/compare/index.js", "data/compare/row/encoder-made.js"]


def test_a_catalogue_names_what_there_is() -> None:
    result = Result((Metric("size", "Size", 1.0, "logit"),))
    [told] = files(reading(NoEncoding("told"), made=result))["data/compare/index.js"]
    assert [encoding["name"] for encoding in told["encodings"]] == ["row/encoder-made"]
    assert told["metrics"] == {"made.size": ["Size", "logit"]}


def test_a_metric_is_a_number_or_its_reason() -> None:
    result = Result((Metric("size", "Size", 1 / 3), Metric("none", "None", None, reason="no word")))
    assert compare_data.record(reading(NoEncoding("told"), made=result))["metrics"] == {"made.size": 0.333333, "made.none": "no word"}


def test_coordinates_are_found_under_whichever_analysis() -> None:
    points = np.random.default_rng(0).normal(size=(1024, 3))
    curve = compare_data.record(reading(NoEncoding("told"), made=Result(arrays={"coordinates": points})))["curve"]
    assert (curve["step"], curve["last"]) == (2, 1023)
    np.testing.assert_allclose(unpacked(curve).reshape(-1, 3), points[[*range(0, 1024, 2), 1023]], atol=np.ptp(points) / STEPS)


@pytest.mark.parametrize(("count", "step", "shown"), [(512, 1, 512), (513, 2, 257), (1025, 3, 343)])
def test_the_last_point_of_a_curve_is_there_once(count: int, step: int, shown: int) -> None:
    points = np.random.default_rng(0).normal(size=(count, 3))
    curve = compare_data.record(reading(NoEncoding("told"), made=Result(arrays={"coordinates": points})))["curve"]
    assert (curve["step"], curve["last"], unpacked(curve).size) == (step, count - 1, 3 * shown)


def test_without_coordinates_there_is_no_curve() -> None:
    assert compare_data.record(reading(NoEncoding("told")))["curve"] is None


def test_all_alike_has_no_shape() -> None:
    assert compare_data.record(reading(NoEncoding("told")))["kernels"]["shape"] is None
