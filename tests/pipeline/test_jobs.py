"""The evaluation of a list: order, reuse of stored outcomes, isolation of rows from each other."""

import gc
import json
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from struct import pack as struct_pack
from time import process_time, sleep
from typing import Any, TypeVar

import numpy as np
import pytest
from pebble import ProcessExpired, ProcessPool

from generator.cache.blobs import BlobCache
from generator.cache.fingerprint import of_file
from generator.checkpoints.hub import repository
from generator.checkpoints.sources import hub
from generator.contracts import Checkpoint, Outcome
from generator.errors import RefusedError
from generator.figures import style
from generator.pipeline import jobs as pipeline_jobs
from generator.pipeline import local_pool, worker
from generator.pipeline.artifacts import Artifacts
from generator.pipeline.packing import pack
from generator.pipeline.store import Store
from generator.reading import plan
from generator.reading.find import find
from tests.inline import Inline
from tests.support import Deadly, checkpoint
from tests.synthetic import BROKEN, NOTHING, ROTATION, TABLE, WORDLESS, Contents, write_folder

HUNGRY_GIB = 1
T = TypeVar("T")


def header(**tensors: Sequence[int]) -> bytes:
    """The beginning of a safetensors file of 32-bit numbers; the zeros that follow need no room on
    disk.
    """
    entries, start = {}, 0
    for name, shape in tensors.items():
        stop = start + 4 * int(np.prod(shape))
        place = {"dtype": "F32", "shape": shape, "data_offsets": [start, stop]}
        entries[name.replace("__", ".")], start = place, stop
    text = json.dumps(entries).encode()
    return struct_pack("<Q", len(text)) + text


def hungry(folder: Path) -> Path:
    """A checkpoint whose table takes 2 GiB in the form in which numbers are made of it."""
    start = header(wpe__weight=(2**18, 2**10))
    config = {"config.json": TABLE["config.json"]}
    write_folder(folder, {**config, "model.safetensors": start})
    os.truncate(folder / "model.safetensors", len(start) + 4 * 2**28)
    return folder


def rows(folder: Path, contents: Mapping[str, Contents]) -> list[Checkpoint]:
    return [
        checkpoint(slug=name, id=name, place=str(write_folder(folder / name, files)))
        for name, files in contents.items()
    ]


def store_of(folder: Path) -> Store:
    return Store(folder / "store", "code")


def run(
    checkpoints: Sequence[Checkpoint],
    folder: Path,
    jobs: int = 2,
    limits: local_pool.Limits | None = None,
) -> tuple[tuple[Outcome, ...], list[pipeline_jobs.Event]]:
    """The outcomes and the events; the store is in ``folder``."""
    events: list[pipeline_jobs.Event] = []
    tasks, store = plan.plan(checkpoints, offline=False), store_of(folder)
    keys = {task: store.current(task, of_file) for task in tasks}
    outcomes = pipeline_jobs.stored(keys, store, events.append)
    with local_pool.processes(len(tasks), jobs=jobs, limits=limits) as executor:
        new = [task for task in tasks if task not in outcomes]
        outcomes |= pipeline_jobs.run(new, store, executor, events.append)
    return tuple(outcomes[task] for task in tasks), events


def stored(events: Sequence[pipeline_jobs.Event]) -> dict[str, bool]:
    """Of each row that has ended, whether its outcome was in the store."""
    return {event.slug: event.stored for event in events if event.name == "finished"}


def test_outcomes_are_the_same_where_processes_cannot_share_what_they_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = rows(tmp_path, {"rotation": ROTATION})
    shared, _ = run(checkpoints, tmp_path / "shared")
    monkeypatch.setattr("sys.platform", "darwin")
    assert pack(run(checkpoints, tmp_path / "own", jobs=1)[0]) == pack(shared)


@pytest.mark.parametrize("jobs", [1, 2])
def test_outcomes_come_in_the_order_of_the_rows_each_of_which_starts_once_and_then_finishes(
    jobs: int, tmp_path: Path
) -> None:
    three = {"broken": BROKEN, "nothing": NOTHING, "rotation": ROTATION}
    outcomes, events = run(rows(tmp_path, three), tmp_path, jobs)
    assert [outcome.status for outcome in outcomes] == ["failed", "ok", "ok"]
    for slug in three:
        assert [event.name for event in events if event.slug == slug] == ["started", "finished"]
    assert len(list((tmp_path / "store").glob("*.outcome"))) == 2  # None of the one that failed.


def _large_libraries() -> bytes:
    """Which of them this process has imported."""
    return " ".join(name for name in ("torch", "transformers") if name in sys.modules).encode()


def _stored_kernel(store: Store, key: str) -> bytes:
    outcome = store.get(key)
    return outcome.readings[0].form.load().kernel(8).tobytes() if outcome is not None else b""


def test_a_scaled_rotation_from_the_store_does_not_need_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # These share nothing.
    monkeypatch.setattr(local_pool, "_context", lambda _: multiprocessing.get_context("spawn"))
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
    config = json.dumps({**json.loads(ROTATION["config.json"]), "rope_scaling": yarn}).encode()
    [row], store = rows(tmp_path, {"yarn": {"config.json": config}}), store_of(tmp_path)
    with local_pool.processes(jobs=1) as pool:
        done = pool.submit(worker.run_task, plan.Task(row, offline=True), store).result()
        assert pool.submit(_large_libraries).result() == b"torch transformers"
    with local_pool.processes(jobs=1) as pool:
        kernel = pool.submit(_stored_kernel, store, done.key).result()
        assert pool.submit(_large_libraries).result() == b""
    assert kernel == find(plan.opened(plan.Task(row, offline=True)))[0].form.kernel(8).tobytes()


def test_a_row_that_takes_too_long_fails_and_says_so(tmp_path: Path) -> None:
    limits = local_pool.Limits(seconds=0.01)
    [outcome], _ = run(rows(tmp_path, {"rotation": ROTATION}), tmp_path, limits=limits)
    assert (outcome.status, outcome.reason) == ("failed", "took longer than 0.01 seconds")


def _compute(seconds: float) -> None:
    until = process_time() + seconds
    while process_time() < until:
        pass


def test_a_row_that_computes_too_long_fails_and_waiting_is_no_computing() -> None:
    if not hasattr(signal, "setitimer"):
        pytest.skip("This system limits no processor time, so that was not tested here")
    with local_pool.processes(jobs=1, limits=local_pool.Limits(processor=1.0)) as pool:
        endless, waiting = pool.submit(_compute, 1e9), pool.submit(sleep, 1.2)
        with pytest.raises(ProcessExpired) as caught:
            endless.result()
        assert pool.explain(caught.value) == "took more than 1 seconds of processor time"
        assert waiting.result() is None
        # Each has its own time.
        assert [pool.submit(_compute, 0.6).result() for _ in range(2)] == [None, None]


def test_a_row_with_a_tensor_beyond_its_memory_fails_naming_the_tensor_and_no_other_does(
    tmp_path: Path,
) -> None:
    large = checkpoint(slug="hungry", place=str(hungry(tmp_path / "hungry")))
    limits = local_pool.Limits(memory=HUNGRY_GIB * 2**30)
    both = [large, *rows(tmp_path, {"nothing": NOTHING})]
    [failed, other], _ = run(both, tmp_path, jobs=1, limits=limits)
    assert (failed.status, other.status, other.reason) == ("failed", "ok", None)
    assert failed.reason == (
        "row: wpe.weight: its header asks for F32 of shape (262144, 1024), 1,073,741,824 bytes; "
        "expected a tensor that fits into the memory of an entry"
    )


def test_a_download_leaves_a_checkpoint_time_and_memory_for_its_work() -> None:
    """A pickle is loaded whole."""
    limits = local_pool.Limits()
    assert limits.seconds >= 2 * hub.ROW_SECONDS
    assert limits.memory >= 2 * repository.MOST_FILE_BYTES


def test_workers_share_frozen_objects_and_end_by_themselves_or_because_the_pool_says_so() -> None:
    with local_pool.processes(jobs=2) as pool:
        assert pool.submit(gc.get_freeze_count).result() > 10_000
        workers = multiprocessing.active_children()
    assert len(workers) == 2
    # Pebble sends SIGTERM, which a worker answers with that number, unless it has not begun yet.
    assert {worker.exitcode for worker in workers} <= {0, signal.SIGTERM, -signal.SIGTERM}


def test_a_row_whose_process_is_killed_fails_and_no_other_does(tmp_path: Path) -> None:
    [task] = plan.plan(rows(tmp_path, {"nothing": NOTHING}), offline=False)
    limits = local_pool.Limits(seconds=300.0, memory=3 * 2**30)
    with local_pool.processes(jobs=1, limits=limits) as pool:
        deadly, store = plan.Task(checkpoint(place=Deadly()), False), store_of(tmp_path)
        lost, finished = (pool.submit(worker.run_task, each, store) for each in (deadly, task))
        with pytest.raises(ProcessExpired) as caught:
            lost.result()
        assert pool.explain(caught.value).startswith(
            "its process ended with code -9; it had 3 GiB of memory, 600 seconds of processor"
            " time and"
        )
        done = finished.result()
    outcome = store.get(done.key or "")
    assert done.packed is None
    assert outcome is not None
    assert outcome.status == "ok"


def test_a_pool_in_which_no_process_can_start_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def schedule(*_: object, **__: object) -> None:
        raise RuntimeError("Unexpected error within the Pool")

    with local_pool.processes(jobs=1) as pool:
        monkeypatch.setattr(ProcessPool, "schedule", schedule)
        with pytest.raises(BrokenExecutor):
            pool.submit(int)


@pytest.mark.thorough
def test_a_tokenizer_that_doubles_its_text_forty_times_fails_its_row(tmp_path: Path) -> None:
    doubled = {"type": "Replace", "pattern": {"String": "e"}, "content": "ee"}
    tokenizer = {
        "version": "1.0",
        "normalizer": {"type": "Sequence", "normalizers": [doubled] * 40},
        "model": {"type": "WordLevel", "vocab": {"x": 0}, "unk_token": "x"},
    }
    files = {**TABLE, "tokenizer.json": json.dumps(tokenizer).encode()}
    [task] = plan.plan(rows(tmp_path, {"table": files}), offline=True)
    limits = local_pool.Limits(memory=3 * 2**30)
    with local_pool.processes(jobs=1, limits=limits) as pool:
        lost = pool.submit(worker.run_task, task, store_of(tmp_path))
        with pytest.raises(ProcessExpired) as caught:
            lost.result()
        assert "it had 3 GiB of memory" in pool.explain(caught.value)


def _noisy(task: plan.Task, _: object) -> Outcome:
    """As where a library warns, and another, which is not written in Python, panics."""
    warnings.warn("invalid value encountered", RuntimeWarning, stacklevel=1)
    os.write(2, b"thread panicked\n")
    return Outcome(task.checkpoint, "ok")


def _run_noisily(task: plan.Task, store: Store) -> worker.Done:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "outcome_of", _noisy)
        return worker.run_task(task, store)


def test_what_libraries_write_to_stderr_is_in_the_log_and_not_on_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    task = plan.Task(checkpoint(), offline=False)
    with local_pool.processes(jobs=1) as pool:
        done = pool.submit(_run_noisily, task, store_of(tmp_path)).result()
    assert "RuntimeWarning: invalid value encountered" in done.stderr
    assert "thread panicked" in done.stderr
    assert capfd.readouterr().err == ""


def _nothing_can_be_made() -> bytes:
    raise ValueError("no such colour")


def test_an_artifact_that_cannot_be_made_is_named_with_the_reason(tmp_path: Path) -> None:
    reason = r"^a\.svg: unexpected ValueError: no such colour; expected it to be made$"
    with local_pool.processes(jobs=1) as pool:
        artifacts = Artifacts(BlobCache(tmp_path), "code", False, pool)
        with pytest.raises(RefusedError, match=reason):
            artifacts.get("a.svg 0123", _nothing_can_be_made)


def _made_by_the_second(trace: Path) -> bytes:
    if not trace.exists():
        trace.touch()
        os.kill(os.getpid(), 9)
    return b"made"


def test_an_artifact_whose_worker_is_lost_is_made_by_another(tmp_path: Path) -> None:
    make = partial(_made_by_the_second, tmp_path / "trace")
    with local_pool.processes(jobs=1) as pool:
        artifacts = Artifacts(BlobCache(tmp_path), "code", False, pool)
        assert artifacts.submit("a.svg", make)() == b"made"


def test_a_cached_artifact_is_not_made_again_unless_all_is_to_be_fresh_and_then_once(
    tmp_path: Path,
) -> None:
    first, second, fresh = (
        Artifacts(BlobCache(tmp_path), "code", is_fresh, Inline())
        for is_fresh in (False, False, True)
    )
    assert first.get("a.svg", partial(bytes, 3)) == bytes(3)
    for artifacts in (first, second):
        assert artifacts.get("a.svg", _nothing_can_be_made) == bytes(3)
    with pytest.raises((ValueError, RefusedError), match="no such colour"):
        fresh.get("a.svg", _nothing_can_be_made)
    assert fresh.get("b.svg", partial(bytes, 2)) == bytes(2)
    assert fresh.submit("b.svg", _nothing_can_be_made)() == bytes(2)


def test_a_stored_outcome_is_not_evaluated_again_unless_it_is_cut_or_a_file_changes(
    tmp_path: Path,
) -> None:
    checkpoints = rows(tmp_path, {"rotation": ROTATION})
    first, _ = run(checkpoints, tmp_path)
    # No work is done in so short a time.
    outcomes, events = run(checkpoints, tmp_path, limits=local_pool.Limits(seconds=0.01))
    assert outcomes[0].status == "ok"
    assert [(event.name, event.stored) for event in events] == [("finished", True)]
    [file] = (tmp_path / "store").glob("*.outcome")
    file.write_bytes(file.read_bytes()[:100])
    assert pack(run(checkpoints, tmp_path)[0]) == pack(first)
    write_folder(tmp_path / "rotation", {"config.json": ROTATION["config.json"] + b" "})
    assert stored(run(checkpoints, tmp_path)[1]) == {"rotation": False}


def test_what_a_row_says_and_the_program_are_in_its_key_and_the_spelling_of_its_path_is_not(
    tmp_path: Path,
) -> None:
    [row] = rows(tmp_path, {"nothing": NOTHING})
    run([row], tmp_path)

    def is_current(code: str = "code", **options: Any) -> bool:
        task = plan.Task(replace(row, **options), offline=True)
        return Store(tmp_path / "store", code).current(task, of_file) is not None

    assert is_current()
    assert is_current(place=f"{row.place}/.")
    assert is_current(notes="new", paper="1706.03762", licence="MIT", group="other", arrays=False)
    assert not is_current(code="other")
    changes: list[dict[str, Any]] = [{"title": "x"}, {"sentence": "x"}, {"pickle": True}]
    assert [change for change in changes if is_current(**change)] == []
    # Options that only pages show are those of the list now.
    [outcome], events = run([replace(row, notes="new", arrays=False)], tmp_path)
    assert stored(events) == {"nothing": True}
    assert (outcome.checkpoint.notes, outcome.checkpoint.arrays) == ("new", False)


def test_a_file_that_cannot_be_read_is_the_trouble_of_its_own_row(tmp_path: Path) -> None:
    checkpoints = rows(tmp_path, {"nothing": NOTHING})
    run(checkpoints, tmp_path)

    def refused(path: Path, start: int = 0, stop: int | None = None) -> str:
        raise PermissionError(13, f"Permission denied: {start} to {stop}", str(path))

    [task] = plan.plan(checkpoints, offline=True)
    assert store_of(tmp_path).current(task, refused) is None


def test_a_new_row_costs_no_other_one_its_finished_work(tmp_path: Path) -> None:
    checkpoints = rows(tmp_path, {"nothing": NOTHING, "table": WORDLESS})
    run(checkpoints, tmp_path)
    outcomes, events = run([*rows(tmp_path, {"first": NOTHING}), *checkpoints], tmp_path)
    assert stored(events) == {"first": False, "nothing": True, "table": True}
    [reading] = outcomes[2].readings
    assert reading.label.colour == style.series_colour("table")
    assert reading.label.colour.encode() in b"".join(reading.drawings.values())
