"""Files of arrays: nothing is lost that the source has, and no file is too large for common
hosts.
"""

import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generator.numerics.arrays import Array
from generator.site.data import npz as array_files
from generator.site.data.npz import archive
from tests.site.test_comparing import outcome, page, rendered, table
from tests.support import flowing

rng = np.random.default_rng(0)


def read(**arrays: Array) -> Any:
    return np.load(io.BytesIO(archive(arrays)), allow_pickle=False)


def test_an_array_with_numbers_beyond_float32_stays_in_float64() -> None:
    large, usual = np.array([1e300, np.nan]), np.array([0.1, np.inf])
    archived = read(large=large, usual=usual)
    np.testing.assert_array_equal(archived["large"], large)
    np.testing.assert_array_equal(archived["usual"], usual.astype(np.float32))


def test_a_table_is_in_the_precision_of_its_source() -> None:
    for dtype in (np.float16, np.float32):
        table: Array = rng.standard_normal((64, 64)).astype(dtype)
        stored = read(table=table.astype(np.float64))["table"]
        np.testing.assert_array_equal(stored, table, strict=True)
    assert read(shares=np.array([0.5, 0.25]))["shares"].dtype == np.float32  # Few are no source.


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of 4 KiB for an array and 6,000 bytes for a file."""
    monkeypatch.setattr(array_files, "MOST_OF_ARRAY", 4096)
    monkeypatch.setattr(array_files, "MOST_BYTES", 6000)


@pytest.mark.usefixtures("small")
def test_a_large_table_has_every_kth_row_and_says_so() -> None:
    table = rng.standard_normal((100, 32))
    archived = read(table=table, norms=np.arange(100.0))
    assert (archived["table"].nbytes, int(archived["table_every"])) == (25 * 32 * 4, 4)
    np.testing.assert_array_equal(archived["table"], table[::4].astype(np.float32))
    assert sorted(archived.files) == ["norms", "table", "table_every"]
    assert read(table=table[:32]).files == ["table"]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("shape", [(100, 30), (3, 1000), (1, 1200), (1200,), (8, 8, 20)])
def test_several_large_arrays_stay_within_the_limit_of_a_file(shape: tuple[int, ...]) -> None:
    archived = read(**{name: rng.standard_normal(shape) for name in "abcd"}, one=np.array(1.5))
    assert sum(archived[name].nbytes for name in "abcd") <= max(6000, 4 * archived["a"][:1].nbytes)
    assert archived["one"] == 1.5


@pytest.mark.parametrize(("shape", "says_so"), [((16_384, 512), True), ((1024, 768), False)])
def test_the_page_of_a_large_table_says_it_may_be_in_part(
    shape: tuple[int, ...], says_so: bool
) -> None:
    small = outcome("a", table(1))
    [reading] = small.readings
    provenance = replace(reading.encoding.provenance, shape=shape)
    large = replace(reading, encoding=replace(reading.encoding, provenance=provenance))
    text = flowing(rendered(page("checkpoint", replace(small, readings=(large,)))))
    assert ("every <em>k</em>-th row of large arrays" in text) == says_so


def test_pages_of_a_row_without_arrays_link_to_its_measures_alone() -> None:
    usual = outcome("a", table(1))
    without = replace(usual, checkpoint=replace(usual.checkpoint, arrays=False))
    downloads, fewer = (
        re.findall(r'"[./]*(data/[^"]+)" download', rendered(page("checkpoint", row)))
        for row in (usual, without)
    )
    assert set(downloads) == {"data/a/metrics.csv", "data/a/encoder-learned.npz"}
    assert set(fewer) == {"data/a/metrics.csv"}


def test_a_table_that_changes_slowly_from_row_to_row_is_stored_by_columns() -> None:
    slow = np.repeat(np.random.default_rng(0).standard_normal((8, 96)), 64, axis=0)
    stored = read(slow=slow, noise=np.random.default_rng(1).standard_normal((96, 64)))
    assert stored["slow"].flags.f_contiguous
    np.testing.assert_array_equal(stored["slow"], slow.astype(np.float32))


def test_what_follows_is_left_out_of_a_whole_table_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {"table": np.zeros((64, 16), np.float32), "norms": np.zeros(64, np.float32)}
    following = frozenset({"norms"})
    assert np.load(io.BytesIO(archive(arrays, following))).files == ["table"]
    monkeypatch.setattr(array_files, "MOST_OF_ARRAY", 1024)
    assert np.load(io.BytesIO(archive(arrays, following))).files == [
        "table", "table_every", "norms",
    ]  # fmt: skip
