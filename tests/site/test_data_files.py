"""Data files: atlas.json, metrics.csv, and arrays."""

import csv
import io
import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.cache.lazy import LazyMapping
from generator.contracts import (
    Atlas,
    Encoding,
    Label,
    Layer,
    Limit,
    LintFinding,
    Metric,
    Outcome,
    Provenance,
    Reading,
    Result,
    TensorRow,
)
from generator.encodings import NoEncoding, PositionTable
from generator.numerics.arrays import Array, frozen
from generator.site.data import downloads as data_files
from generator.text import visible
from tests.support import checkpoint

STORED = Provenance("model.safetensors", "wpe.weight", "F32", (2, 2), "ab" * 32)
METRICS = (
    Metric("size", "Size", 1.5, "logit"), Metric("undefined", "Undefined", math.nan),
    Metric("endless", "Endless", math.inf), Metric("none", "None", None, reason="there is no word"),
)  # fmt: skip
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1")
# Names of parts may contain names of tensors, which can be any text.
PARTS = (
    "x.a", "x-a", "x_a", "X.A", "x a", "../a", "/a", "", "日本", "\ud800", "y" * 400, "y" * 401,
)  # fmt: skip
ARRAYS: dict[str, Array] = {
    "vectors": np.array([[1.0, 1 / 3], [np.nan, -np.inf]]), "positions": np.arange(3),
    "tokens": np.array(["naïve", "=1+1", ""]), "none": np.array([]), "context": np.array(7),
}  # fmt: skip


def reading(results: Mapping[str, Result] | None = None, tensor: str = "wpe.weight") -> Reading:
    provenance = Provenance(STORED.file, tensor, STORED.dtype, STORED.shape, STORED.sha256)
    encoding = Encoding(
        "decoder", "learned", PositionTable(frozen([[1.0, 2.0], [3.0, 4.0]])), provenance
    )
    return Reading.of(encoding, Label("Row", "#3d7fd6"), results or {}, {}, {})


def outcome(*readings: Reading, **options: Any) -> Outcome:
    return Outcome(checkpoint(**options), "ok", readings=readings)


def files(*outcomes: Outcome) -> Mapping[str, bytes]:
    return LazyMapping(data_files.makers(Atlas(outcomes, (), ())))


def atlas_json(*outcomes: Outcome) -> Any:
    return json.loads(files(*outcomes)["data/atlas.json"], parse_constant=pytest.fail)


def table(*outcomes: Outcome) -> list[dict[str, str]]:
    return list(
        csv.DictReader(io.StringIO(files(*outcomes)["data/metrics.csv"].decode(), newline=""))
    )


def arrays(reading: Reading) -> Any:
    return np.load(io.BytesIO(data_files.npz(reading)), allow_pickle=False)


def test_atlas_json_has_the_documented_shape() -> None:
    checkpoint = outcome(
        reading({"table": Result(METRICS)}), source="hub", id="a/b", revision="main"
    )
    layer = Layer(
        "decoder", "decoder", 0, "sliding attention", ("sliding",), 7, 0, ("decoder-learned",)
    )
    values = {"followed": ""}
    found = LintFinding(
        "two-places", "warning", "It is given twice.", ("rope_theta",), values=values
    )
    checkpoint = replace(
        checkpoint,
        unresolved=("the weights were not read",),
        layers=(layer,),
        lint=(found,),
        limits=(Limit("a.json", "n", None, "no limit by n"),),
    )
    atlas = Atlas(
        (checkpoint,),
        (),
        (),
        {"position-atlas": "1.0", "numpy": "2.0"},
        "2020-02-20",
        "https://example.org/atlas/",
    )
    document = json.loads(data_files.makers(atlas)["data/atlas.json"]())
    metrics = {
        "table.size": {"value": 1.5, "unit": "logit", "reason": None},
        "table.undefined": {"value": None, "unit": "", "reason": None},
        "table.endless": {"value": None, "unit": "", "reason": None},
        "table.none": {"value": None, "unit": "", "reason": "there is no word"},
    }
    reach = {
        "kinds": ["sliding"], "before": 7, "after": 0, "chosen": None, "positions_per_key": None,
        "at_input": [],
    }  # fmt: skip
    place = {"part": "decoder", "index": 0, "type": "sliding attention"}
    layers = [{**place, **reach, "encodings": ["decoder-learned"], "rotation": None}]
    encoding = {
        "key": "decoder-learned",
        "parameters": {"first_row": 0, "n_positions": 2, "grid": None},
        "origins": {},
        "name": "Row",
        "part": "decoder",
        "scheme": "learned",
        "form": "PositionTable",
        "shape": [2, 2],
        "tensor": "wpe.weight",
        "dtype": "F32",
    }
    encoding |= {"sha256": "ab" * 32, "arrays": "data/row/decoder-learned.npz"}
    row: dict[str, Any] = {
        "slug": "row", "title": "Row", "source": "hub", "id": "a/b", "revision": "main",
        "paper": None, "licence": None, "status": "ok", "reason": None, "stale": None,
        "described_by": None, "of": None, "settings": {},
    }  # fmt: skip
    head = {
        "schema": 3, "date": "2020-02-20", "version": "1.0", "libraries": {"numpy": "2.0"},
        "licence": data_files.WORDING("licence"),
    }  # fmt: skip
    head["address"] = "https://example.org/atlas/"
    open_ends = {
        "unmeasured": [], "unresolved": ["the weights were not read"], "layers": layers,
        "lint": [{"rule": "two-places", "level": "warning", "text": "It is given twice.",
                  "keys": ["rope_theta"], "readers": [], "values": {"followed": ""}}],
        "limits": [{"file": "a.json", "key": "n", "length": None, "text": "no limit by n"}],
        "use": None, "no_use": None, "copy": None,
    }  # fmt: skip
    assert document == {
        **head,
        "checkpoints": [{**row, **open_ends, "encodings": [{**encoding, "metrics": metrics}]}],
        "runs": [],
        "parts": [],
    }


def test_an_atlas_within_the_limit_is_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [outcome(reading({"table": Result(METRICS)}), slug=slug) for slug in "bac"]
    size = sum(len(json.dumps(data_files.checkpoint(row))) for row in rows)
    monkeypatch.setattr(data_files, "MOST_RECORDS", size)
    assert [row["slug"] for row in atlas_json(*rows)["checkpoints"]] == ["b", "a", "c"]
    assert [path for path in files(*rows) if path.startswith("data/atlas/")] == []


def test_a_larger_atlas_is_in_parts_that_hold_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [outcome(reading({"table": Result(METRICS)}), slug=slug) for slug in "abcde"]
    whole = atlas_json(*rows)
    monkeypatch.setattr(
        data_files, "MOST_RECORDS", 2 * len(json.dumps(data_files.checkpoint(rows[0])))
    )
    made = files(*rows)
    index = json.loads(made["data/atlas.json"])
    parts = [json.loads(made[path]) for path in index["parts"]]
    assert [[row["slug"] for row in part["checkpoints"]] for part in parts] == [
        ["a", "b"], ["c", "d"], ["e"],
    ]  # fmt: skip
    assert {
        **index,
        "checkpoints": [row for part in parts for row in part["checkpoints"]],
        "parts": [],
    } == whole
    assert all({**part, "checkpoints": whole["checkpoints"]} == whole for part in parts)


def test_a_checkpoint_beyond_the_limit_is_a_part_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "MOST_RECORDS", 1)
    assert atlas_json(outcome(slug="a"), outcome(slug="b"))["parts"] == [
        "data/atlas/0001.json",
        "data/atlas/0002.json",
    ]


def test_a_checkpoint_has_its_commit_the_address_of_its_paper_and_its_licence() -> None:
    row = checkpoint(revision="main", paper="1706.03762", licence="MIT", title="Été 日本")
    made = Outcome(row, "ok", revision="a" * 40)
    [found] = atlas_json(made)["checkpoints"]
    assert (found["revision"], found["paper"], found["licence"]) == (
        *("a" * 40, "https://arxiv.org/abs/1706.03762"),
        "MIT",
    )
    assert "Été 日本".encode() in files(made)["data/atlas.json"]


@pytest.mark.parametrize("status", ["failed", "not reached"])
def test_a_checkpoint_that_could_not_be_read_has_a_reason_and_no_encodings(status: Any) -> None:
    [row] = atlas_json(Outcome(checkpoint(), status, "no such folder"))["checkpoints"]
    assert (row["status"], row["reason"], row["encodings"]) == (status, "no such folder", [])


def test_a_lone_surrogate_in_a_tensor_name_is_an_escape() -> None:
    """Of an analysis that does not apply, there are no metrics."""
    found = reading({"bias": Result(reason="other form")}, tensor="\ud800.wpe")
    [encoding] = atlas_json(outcome(found))["checkpoints"][0]["encodings"]
    assert (encoding["tensor"], encoding["metrics"]) == ("\ud800.wpe", {})


def test_metrics_csv_has_a_row_for_each_metric() -> None:
    rows = table(outcome(reading({"table": Result(METRICS)})))
    assert [(row["metric"], row["value"], row["reason"]) for row in rows] == [
        ("table.size", "1.5", ""), ("table.undefined", "", ""), ("table.endless", "", ""),
        ("table.none", "", "there is no word"),
    ]  # fmt: skip


def test_a_row_of_metrics_csv_identifies_checkpoint_encoding_and_metric() -> None:
    [row] = table(
        outcome(reading({"table": Result(METRICS[:1])}), source="hub", id="a/b", revision="main")
    )
    assert list(row.values()) == [
        "row", "Row", "hub", "a/b", "main", "decoder", "learned", "PositionTable", "table.size",
        "1.5", "logit", "", "Row",
    ]  # fmt: skip


@pytest.mark.parametrize("column", ["title", "id", "revision", "reason"])
def test_no_cell_of_metrics_csv_is_a_formula(column: str) -> None:
    for formula in FORMULAS:
        metric = Metric("size", "Size", None, reason=formula if column == "reason" else "")
        options = {} if column == "reason" else {column: formula}
        [row] = table(outcome(reading({"table": Result((metric,))}), **options))
        assert row[column] == f"'{formula.strip()}"


def test_a_negative_number_has_no_apostrophe() -> None:
    [row] = table(outcome(reading({"table": Result((Metric("size", "Size", -1.5),))})))
    assert row["value"] == "-1.5"


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.text("=+-@\t\r\n ,;\"'"))
def test_any_title_is_one_cell_on_one_line(title: str) -> None:
    [row] = table(outcome(reading({"table": Result(METRICS[:1])}), title=title))
    line = visible(" ".join(title.split()))
    assert row["title"] == (f"'{line}" if line[:1] in set("=+-@") else line)


def test_each_encoding_has_a_file_of_arrays() -> None:
    assert sorted(files(outcome(reading(), slug="x"))) == [
        "data/atlas.json", "data/atlas.schema.json", "data/metrics.csv", "data/releases/index.json",
        "data/x/decoder-learned.npz", "data/x/metrics.csv",
    ]  # fmt: skip


def test_a_row_without_arrays_has_all_data_but_these() -> None:
    row = outcome(reading({"table": Result(METRICS[:1], ARRAYS)}), slug="x", arrays=False)
    other = outcome(reading({"table": Result(METRICS[:1], ARRAYS)}), slug="y")
    assert {path for path in files(row, other) if path.endswith(".npz")} == {
        "data/y/decoder-learned.npz"
    }
    arrays = [
        checkpoint["encodings"][0]["arrays"] for checkpoint in atlas_json(row, other)["checkpoints"]
    ]
    assert arrays == [None, "data/y/decoder-learned.npz"]
    assert [line["value"] for line in table(row, other)] == ["1.5", "1.5"]


def test_keys_of_encodings_are_unique_and_valid_in_paths_whatever_their_parts_are_called() -> None:
    keys = {
        part: Encoding(part, "learned", NoEncoding("from the config"), STORED).record.key
        for part in (*PARTS, "decoder layer 3")
    }
    assert len(set(keys.values())) == len(PARTS) + 1
    assert all(re.fullmatch("[a-z0-9_-]{1,100}", key) for key in keys.values())
    assert keys["decoder layer 3"] == "decoder-layer-3-learned"  # Plain words need no digest.


def test_arrays_are_read_back_without_pickles_from_reproducible_files() -> None:
    row = reading({"table": Result(arrays=ARRAYS)})
    found = arrays(row)
    for name, array in ARRAYS.items():
        expected = array.astype(np.float32) if array.dtype == np.float64 else array
        np.testing.assert_array_equal(found[f"table.{name}"], expected, strict=True)
    assert data_files.npz(row) == data_files.npz(reading({"table": Result(arrays=ARRAYS)}))


def test_an_array_that_needs_a_pickle_is_an_error() -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        data_files.npz(reading({"table": Result(arrays={"objects": np.array([{}])})}))


def test_layout_csv_has_a_row_for_tensors_that_differ_only_in_layer_numbers() -> None:
    rows = (TensorRow("=h.#.attn.weight", (8, 2), "F16", 12), TensorRow("\ud800", (), "I64", 1))
    layout = files(Outcome(checkpoint(), "ok", inventory=rows))["data/row/layout.csv"].decode()
    assert layout == "tensor,shape,dtype,times\n'=h.#.attn.weight,8 × 2,F16,12\n\\ud800,,I64,1\n"
