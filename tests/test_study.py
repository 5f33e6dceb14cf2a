"""The plan and the run: order, colours, time limits, and that nothing goes wrong for more than one row."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from generator import study
from generator.contracts import Checkpoint, Outcome
from generator.store import Store, pack
from generator.style import SERIES
from tests.support import checkpoint
from tests.synthetic import BROKEN, NOTHING, ROTATION, write_folder


def rows(folder: Path) -> list[Checkpoint]:
    contents = {"broken": BROKEN, "nothing": NOTHING, "rotation": ROTATION}
    return [checkpoint(slug=name, id=name, place=str(write_folder(folder / name, files))) for name, files in contents.items()]


def run(tasks: Sequence[study.Task], folder: Path, jobs: int = 2) -> tuple[tuple[Outcome, ...], list[str]]:
    """The outcomes, and the slugs in the order in which they were told; what is done is kept in ``folder``."""
    told: list[str] = []
    keys = dict(zip(tasks, study.keys(tasks, "code"), strict=True))
    return study.run(keys, jobs, Store(folder / "store"), lambda outcome: told.append(outcome.checkpoint.slug)), told


@pytest.mark.parametrize("jobs", [1, 2])
def test_outcomes_come_in_the_order_of_the_rows_however_many_run_at_once(jobs: int, tmp_path: Path) -> None:
    outcomes, told = run(study.plan(rows(tmp_path), offline=False), tmp_path, jobs)
    assert [outcome.status for outcome in outcomes] == ["failed", "ok", "ok"]
    assert told == ["broken", "nothing", "rotation"]


def test_a_row_that_takes_too_long_fails_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "SECONDS", 0.01)
    outcomes, _ = run(study.plan(rows(tmp_path)[2:], offline=False), tmp_path)
    assert [(outcome.status, outcome.reason) for outcome in outcomes] == [("failed", "took longer than 0 seconds")]


def test_finished_work_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = study.plan(rows(tmp_path)[2:], offline=False)
    run(tasks, tmp_path)
    monkeypatch.setattr(study, "SECONDS", 0.01)  # No work is done in so short a time.
    assert run(tasks, tmp_path)[0][0].status == "ok"


def test_finished_work_that_is_cut_is_done_again(tmp_path: Path) -> None:
    tasks = study.plan(rows(tmp_path)[1:2], offline=False)
    first, _ = run(tasks, tmp_path)
    [kept] = (tmp_path / "store").iterdir()
    kept.write_bytes(kept.read_bytes()[:100])
    assert pack(run(tasks, tmp_path)[0]) == pack(first)


def test_work_is_done_again_when_a_file_of_the_checkpoint_changes(tmp_path: Path) -> None:
    tasks = study.plan(rows(tmp_path)[2:], offline=False)
    before = study.keys(tasks, "code")
    write_folder(tmp_path / "rotation", {"config.json": ROTATION["config.json"] + b" "})
    assert study.keys(tasks, "code") != before


def test_a_row_that_failed_is_not_kept(tmp_path: Path) -> None:
    run(study.plan(rows(tmp_path)[:1], offline=False), tmp_path)
    assert not (tmp_path / "store").exists()


def test_a_fault_of_this_program_fails_its_own_row_alone() -> None:
    outcome = study.study(study.Task(checkpoint(source="of no kind"), "#3d7fd6", offline=False))
    assert outcome.status == "failed"
    assert str(outcome.reason).startswith("unexpected StopIteration")


def test_a_row_without_encodings_says_what_was_looked_for(tmp_path: Path) -> None:
    outcome = study.study(study.plan(rows(tmp_path)[1:2], offline=False)[0])
    assert outcome.looked_for == tuple(scheme.looked_for for scheme in study.all_schemes())


def test_colours_are_given_in_order_and_begin_again() -> None:
    tasks = study.plan([checkpoint(slug=f"row-{index}") for index in range(len(SERIES) + 1)], offline=False)
    assert [task.colour for task in tasks] == [*SERIES, SERIES[0]]


def test_a_folder_is_read_offline_as_well(tmp_path: Path) -> None:
    [task] = study.plan(rows(tmp_path)[2:], offline=True)
    assert study.study(task).status == "ok"
