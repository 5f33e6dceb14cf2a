"""Finished work on disk: what comes back is what was put in, or nothing."""

import json
import os
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save
from threadpoolctl import threadpool_limits

from generator.cache.fingerprint import Digests
from generator.contracts import Encoding, Label, Outcome, Provenance, Reading, Result
from generator.encodings import PositionTable
from generator.figures.svg import encode
from generator.numerics.arrays import Array
from generator.pipeline import evaluate
from generator.pipeline.packing import RECORDS, pack, unpack
from generator.pipeline.store import Store
from generator.reading import plan
from tests.support import checkpoint
from tests.synthetic import BUCKETS, NOTHING, ROTATION, TABLE, WORDLESS, Contents, write_folder

pytestmark = pytest.mark.usefixtures("blank_figures")

TASK = plan.Task(checkpoint(), offline=True)
WORDS = st.sampled_from(
    ["kind", "items", "fields", "start", "stop", "dtype", "shape", "stored", "value", "ok"]
) | st.text(max_size=5)
LONGROPE: Contents = {
    "config.json": json.dumps({**json.loads(ROTATION["config.json"]),
        "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.0, 2.0, 4.0],
        "long_factor": [1.0, 2.0, 4.0, 8.0], "original_max_position_embeddings": 64}}).encode(),
}  # fmt: skip
FOLDERS = {
    "table": TABLE, "buckets": BUCKETS, "rotation": ROTATION, "scaled rotation": LONGROPE,
    "nothing": NOTHING,
}  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
)


def reading(form: PositionTable, results: dict[str, Result]) -> Reading:
    encoding = Encoding("text", "learned", form, Provenance(""))
    return Reading.of(encoding, Label("A table", "#000000"), results, {}, {})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", "code")


def again(store: Store, outcome: Outcome) -> Outcome:
    """``outcome`` as it comes back from the store."""
    stored = store.get(store.put(TASK, outcome))
    assert stored is not None
    return stored


@pytest.mark.parametrize("name", FOLDERS)
def test_the_outcome_of_any_form_comes_back_as_it_was(
    name: str, tmp_path: Path, store: Store
) -> None:
    row = checkpoint(place=str(write_folder(tmp_path / "files", FOLDERS[name])))
    outcome = evaluate.outcome_of(plan.Task(row, offline=True))
    stored = again(store, outcome)
    assert pack(stored) == pack(replace(outcome, key=stored.key))
    assert stored.checkpoint == row


@given(VALUES)
def test_any_plain_value_comes_back_as_it_was(value: object) -> None:
    assert unpack(pack(value)) == value


@pytest.mark.parametrize(
    "array",
    [np.eye(3), np.array(7), np.array(["naïve", ""]), np.array([]), np.array([np.nan, np.inf])],
    ids=lambda array: str(array.shape),
)
def test_an_array_comes_back_as_it_was_and_cannot_be_changed(array: np.ndarray) -> None:
    stored = unpack(pack(array))
    assert isinstance(stored, np.ndarray)
    np.testing.assert_array_equal(stored, array, strict=True)
    assert not stored.flags.writeable


def test_what_is_loaded_later_goes_to_another_process_as_its_address_on_disk(store: Store) -> None:
    form = PositionTable(np.random.default_rng(0).standard_normal((400, 64)))
    result = Result(arrays={"squares": np.square(form.vectors)})
    stored = again(store, Outcome(checkpoint(), "ok", readings=(reading(form, {"a": result}),)))
    sent = pickle.dumps((stored.readings[0].form, stored.readings[0].results))
    assert len(sent) < form.vectors.nbytes / 50
    lazy_form, results = pickle.loads(sent)  # noqa: S301 (it was made here)
    assert pack((lazy_form.load(), results)) == pack((form, {"a": result}))


OUTCOME = Outcome(
    checkpoint(),
    "ok",
    "a reason",
    readings=(reading(PositionTable(np.eye(4)), {"table": Result(arrays={"vectors": np.eye(4)})}),),
)


@given(data=st.data())
def test_a_file_with_changed_bytes_is_a_miss(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = Store(tmp_path_factory.mktemp("store"), "code")
    key = store.put(TASK, OUTCOME)
    for file in store.folder.iterdir():
        whole = file.read_bytes()
        start = data.draw(st.integers(0, len(whole)) | st.integers(0, 200))
        stop = data.draw(st.integers(start, len(whole)) | st.integers(start, start + 9))
        changed = whole[:start] + data.draw(st.binary(min_size=1, max_size=9)) + whole[stop:]
        file.write_bytes(changed)
        found = store.get(key) if file.suffix == ".outcome" else store.record(TASK)
        assert (found is None) == (changed != whole)
        file.write_bytes(whole)


KINDS = st.sampled_from([*RECORDS, "tuple", "list", "mapping", "lazy", "bytes", "ndarray"])
PLAIN = st.recursive(
    st.none() | st.integers() | KINDS | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(WORDS, inner, max_size=4).flatmap(
            lambda plain: KINDS.map(lambda kind: {**plain, "kind": kind})
        )
    ),
)


@given(
    rest=st.binary()
    | st.builds(
        lambda length, rest: length.to_bytes(8) + rest, st.integers(0, 2**64 - 1), st.binary()
    )
    | PLAIN.map(lambda value: pack_json(json.dumps(value).encode()))
)
def test_a_foreign_file_is_a_miss_even_with_its_digests(
    rest: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = Store(tmp_path_factory.mktemp("store"), "code")
    key = store.put(TASK, OUTCOME)
    for file in store.folder.iterdir():
        store.blobs.put(file.name, rest)
    tracemalloc.start()
    assert (store.get(key), store.record(TASK)) == (None, None)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2**22


def pack_json(document: bytes) -> bytes:
    """A document behind its length, as records are packed."""
    return len(document).to_bytes(8) + document


@pytest.mark.parametrize("record", [checkpoint(), ["ok"]], ids=["another record", "no record"])
def test_what_is_no_outcome_is_a_miss(record: object, store: Store) -> None:
    key = store.put(TASK, OUTCOME)
    store.blobs.put(f"{key}.outcome", pack(record))
    assert store.get(key) is None


def test_an_outcome_that_cannot_be_found_again_does_not_replace_one_that_can(store: Store) -> None:
    store.put(TASK, replace(OUTCOME, state="a state"))
    before = store.record(TASK)
    store.put(TASK, replace(OUTCOME, state=""))
    assert (store.record(TASK), before is not None) == (before, True)


def test_a_record_follows_a_list_that_names_the_same_in_another_way(
    tmp_path: Path, store: Store
) -> None:
    row = checkpoint(place=str(write_folder(tmp_path / "files", TABLE)))
    digests = Digests(store.blobs)
    task = plan.Task(row, offline=True, listed="a commit")
    outcome = evaluate.outcome_of(task)
    key, other = store.put(task, outcome), replace(task, listed="main")
    assert store.current(other, digests.of) == key
    record = store.record(other)
    assert record is not None
    assert record.listed == "main"


def test_beyond_its_limit_the_store_removes_the_least_recently_used(store: Store) -> None:
    tasks = [plan.Task(checkpoint(slug=name), offline=True) for name in "abcd"]
    keys = [store.put(task, OUTCOME) for task in tasks]
    for second, key in enumerate(keys):
        os.utime(store.folder / f"{key}.outcome", (second, second))
    store.get(keys[0])
    sizes = [path.stat().st_size for path in store.folder.iterdir()]
    store.limit([], set(), most=sum(sizes) - 2 * max(sizes))
    assert [store.get(key) is not None for key in keys] == [True, False, False, True]


def test_what_the_present_list_needs_stays_beyond_the_limit(store: Store) -> None:
    outcome = replace(OUTCOME, state="a state")
    key = store.put(TASK, outcome)
    store.put(replace(TASK, checkpoint=checkpoint(slug="former")), outcome)
    store.blobs.put("used", b"<svg/>")
    store.blobs.put("former", b"<svg/>")
    (store.folder / "x.unfinished").write_bytes(b"half")
    store.limit([TASK], {"used"})
    assert len(list(store.folder.iterdir())) == 6  # All but what is unfinished.
    store.limit([TASK], {"used"}, most=0)
    [record] = store.folder.glob("*.row")
    assert {path.name for path in store.folder.iterdir()} == {f"{key}.outcome", record.name, "used"}


def test_arrays_are_read_on_access_and_not_held(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = checkpoint(place=str(write_folder(tmp_path / "files", WORDLESS)))
    whole = [one for one in evaluate.all_analyses() if one.key == "whole_table"]
    monkeypatch.setattr(evaluate, "all_analyses", lambda: whole)
    stored = again(store, evaluate.outcome_of(plan.Task(row, offline=True)))
    lazy_form, arrays = stored.readings[0].form, stored.readings[0].results["whole_table"].arrays
    form = lazy_form.load()
    assert isinstance(form, PositionTable)
    assert lazy_form.load() is not form
    assert arrays["vectors"] is not arrays["vectors"]
    np.testing.assert_array_equal(arrays["vectors"], form.vectors)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_table_takes_the_bytes_of_its_tensor_although_a_form_and_an_analysis_have_it(
    dtype: type,
) -> None:
    tensor: Array = np.random.default_rng(0).standard_normal((400, 64)).astype(dtype)
    vectors = tensor.astype(np.float64)
    of_table = reading(PositionTable(vectors), {"table": Result(arrays={"vectors": vectors})})
    whole = pack(Outcome(checkpoint(), "ok", readings=(of_table,)))
    assert len(whole) < tensor.nbytes + 4000  # bytes of names and numbers
    [stored] = unpack(whole).readings
    for found in (stored.form.load().vectors, stored.results["table"].arrays["vectors"]):
        np.testing.assert_array_equal(found, vectors, strict=True)


def random_table(folder: Path) -> plan.Task:
    """The task of a checkpoint with a table (100, 32) of random numbers."""
    config = {**json.loads(TABLE["config.json"]), "n_positions": 100, "n_embd": 32}
    table = np.random.default_rng(0).standard_normal((100, 32), dtype=np.float32)
    weights = {"model.safetensors": save({"wpe.weight": table})}
    write_folder(folder, {"config.json": json.dumps(config).encode(), **weights})
    return plan.Task(checkpoint(place=str(folder)), offline=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a store with one outcome."""
    return tmp_path_factory.mktemp("derived")


@pytest.fixture(scope="module")
def derived(folder: Path) -> tuple[Reading, Reading]:
    """A reading as it was computed, and as it comes from the store."""
    outcome = evaluate.outcome_of(random_table(folder / "files"))
    [stored] = again(Store(folder / "store", "code"), outcome).readings
    return outcome.readings[0], stored.deriving(evaluate.all_analyses())


def holds(content: bytes, array: Array) -> bool:
    """Whether the bytes of an array, at any precision, are among others."""
    types = (np.float16, np.float32, np.float64)
    return any(array.astype(dtype).tobytes() in content for dtype in types)


def test_the_store_has_no_array_that_follows_from_the_form(
    derived: tuple[Reading, Reading], folder: Path
) -> None:
    [file] = (folder / "store").glob("*.outcome")
    content, shown = file.read_bytes(), 0
    for result in derived[0].results.values():
        for array in (array for name, array in result.derived.items() if name not in result.arrays):
            shown += 1
            assert not holds(content, array)
    # the cosines of positions and of dimensions, curves, single positions, and the kernel
    assert shown == 5


def test_the_store_has_no_table_that_a_formula_gives(tmp_path: Path, store: Store) -> None:
    sizes = {"d_model": 32, "max_position_embeddings": 64, "attention_heads": 4}
    config = json.dumps({"model_type": "xglm", **sizes}).encode()
    write_folder(tmp_path / "files", {"config.json": config})
    outcome = evaluate.outcome_of(
        plan.Task(checkpoint(place=str(tmp_path / "files")), offline=True)
    )
    stored, [file] = again(store, outcome), store.folder.glob("*.outcome")
    form, computed = (readings[0].form.load() for readings in (stored.readings, outcome.readings))
    np.testing.assert_array_equal(form.numbers, computed.numbers)
    assert not holds(file.read_bytes(), form.numbers)


def test_figures_from_the_store_are_those_of_a_fresh_evaluation(
    derived: tuple[Reading, Reading],
) -> None:
    # It was made here, as for another process.
    computed = derived[0].results
    stored = pickle.loads(pickle.dumps(derived[1].results))  # noqa: S301
    label, drawn = derived[0].label, 0
    with threadpool_limits(1):
        for analysis in evaluate.all_analyses():
            ours, fresh = {label: stored[analysis.key]}, {label: computed[analysis.key]}
            for spec in analysis.figures if computed[analysis.key].derived else ():
                drawn += 1
                assert spec.alt(ours) == spec.alt(fresh)
                assert encode(spec.draw, ours) == encode(spec.draw, fresh)
    assert drawn == 7


def test_a_result_that_does_not_apply_derives_nothing(tmp_path: Path) -> None:
    row = checkpoint(place=str(write_folder(tmp_path, BUCKETS)))
    outcome = evaluate.outcome_of(plan.Task(row, offline=True))
    results = outcome.readings[0].deriving(evaluate.all_analyses()).results
    assert not any(result.derived for result in results.values() if result.reason is not None)
    assert set(results["decay_with_distance"].derived) == {"matrix"}
