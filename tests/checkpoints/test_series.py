"""Rows that name a series: ranges of names, the steps in names, and the checkpoints of folders and
of revisions on the Hub.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.checkpoints import series
from generator.checkpoints.hub import client
from generator.checkpoints.sources import folder as folders
from generator.checkpoints.sources import hub
from generator.contracts import Checkpoint
from generator.errors import NotReachedError, RowError
from generator.reading import plan
from tests.hub_server import Answer, Repository, Trouble, client_of, refusal, serving
from tests.support import checkpoint

# The first branches, and some others, of EleutherAI's Pythia.
PYTHIA = [f"step{step}" for step in (0, 1, 2, 4, 8, 512, 1000, 2000, 143000)]
COMMITS = {name: f"{index:040x}" for index, name in enumerate(["main", *PYTHIA, "v1.0"])}


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("step2 … step512", ["step2", "step8", "step512"], ["step1", "step1000"]),
        ("step2 … step512", [], ["step4-fixed", "my-step4"]),
        ("step2 ... step512", ["step8"], ["step1000"]),
        ("step1-tokens4B … step9-tokens40B", ["step5-tokens9999B"], ["step10-tokens5B", "step5"]),
        ("stage1-step1 … stage1-step9", ["stage1-step5"], ["stage2-step5"]),
    ],
)
def test_a_range_goes_by_the_first_number_in_which_its_ends_differ(
    text: str, inside: list[str], outside: list[str]
) -> None:
    within = series.range_of(text)
    assert within is not None
    assert [name for name in [*inside, *outside] if within.holds(name)] == inside


@pytest.mark.parametrize(
    "text", ["step1", "step1 … step1", "step2 … step1", "a1 … b2", "main … dev", "step1…step2", ""]
)
def test_other_text_is_no_range(text: str) -> None:
    assert series.range_of(text) is None


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["checkpoint-50", "checkpoint-500", "checkpoint-6"], [50, 500, 6]),
        (["step1-tokens4B", "step2-tokens8B"], [1, 2]),
        (["gpt2-1", "gpt2-2"], [1, 2]),
        (["checkpoint-1", "checkpoint-2-best"], [1, 2]),
        (["v2/checkpoint-7"], [7]),
        (["checkpoint-1", "final"], None),
        (["epoch=0-step=99.ckpt", "epoch=1-step=199.ckpt"], [99, 199]),
        (["epoch=0-step=99", "epoch=0-step=199", "epoch=1-step=299"], [99, 199, 299]),
        (["checkpoint-1", "checkpoint-01"], None),
    ],
)
def test_a_step_is_the_number_by_which_names_differ(
    names: list[str], expected: list[int] | None
) -> None:
    assert series.steps(names) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a/checkpoint-1", "a/checkpoint-20", "b/checkpoint-1"], ["a/checkpoint-*", None]),
        (["a/step_1/hf", "a/step_2/hf", "a/step_2/other"], ["a/step_*/hf", None]),
        (["seed-3/iter_0001", "seed-3/iter_0002"], ["seed-3/iter_*"]),
        (["ep=1-step=9.ckpt", "ep=2-step=19.ckpt"], ["ep=*-step=*.ckpt"]),
        (["v2-step10", "v2-step20"], ["v2-step*"]),
        (["global_step1", "global_step2"], ["global_step*"]),
        # Numbers of other things than steps.
        (["seed1", "seed2"], [None, None]),
        (["bert-7b", "bert-13b"], [None, None]),
        (["footstep1", "footstep2"], [None, None]),
        (["2024-01-01", "2024-01-02"], [None, None]),
    ],
)
def test_checkpoints_of_a_run_differ_by_the_numbers_of_their_steps(
    names: list[str], expected: list[str | None]
) -> None:
    runs = series.runs_of(tuple(name.split("/")) for name in names)
    assert [next(series.patterns(run)) if len(run) > 1 else None for run in runs] == expected


def row(place: Path | str, **options: Any) -> Checkpoint:
    given = {"slug": "run", "title": "Run", "id": f"runs/{Path(place).name}", "place": str(place)}
    return checkpoint(**{**given, **options})


def made(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).mkdir(parents=True)
    return folder


def steps_of(members: Any) -> list[int]:
    return [member.series.step for member in members]


def test_folders_become_checkpoints_in_the_order_of_their_steps(tmp_path: Path) -> None:
    made(tmp_path, "checkpoint-1000", "checkpoint-50", "checkpoint-500", "other")
    (tmp_path / "checkpoint-7.zip").write_bytes(b"no folder")
    members = folders.SOURCE.members(row(tmp_path / "checkpoint-*"), offline=True)
    assert steps_of(members) == [50, 500, 1000]
    assert [member.id for member in members] == [f"runs/checkpoint-{n}" for n in (50, 500, 1000)]
    assert {member.series.slug for member in members if member.series} == {"run"}
    assert len({member.slug for member in members}) == 3


def test_files_become_checkpoints_where_no_folder_matches(tmp_path: Path) -> None:
    for name in ("step=10.ckpt", "step=9.ckpt", "step=9.txt"):
        (tmp_path / name).write_bytes(b"weights")
    members = folders.SOURCE.members(row(tmp_path / "step=*"), offline=True)
    assert [(member.id, member.place) for member in members] == [
        ("runs/step=9.ckpt", str(tmp_path / "step=9.ckpt")),
        ("runs/step=10.ckpt", str(tmp_path / "step=10.ckpt")),
    ]


def test_every_match_of_the_parts_before_the_last_is_a_run(tmp_path: Path) -> None:
    steps = ("a_b/checkpoint-1", "a_b/checkpoint-2", "a-b/checkpoint-2", "c/notes")
    made(tmp_path / "runs", *steps)
    asked = row(tmp_path / "runs/*/checkpoint-*", id="runs/*/checkpoint-*")
    found = [(each.series, each.id) for each in folders.SOURCE.members(asked, offline=True)]
    assert [(series.slug, series.title, name) for series, name in found if series] == [
        ("run--a-b", "Run · a-b", "runs/a-b/checkpoint-2"),
        ("run--a-b-2", "Run · a_b", "runs/a_b/checkpoint-1"),
        ("run--a-b-2", "Run · a_b", "runs/a_b/checkpoint-2"),
    ]


def test_a_pattern_may_go_on_after_the_step(tmp_path: Path) -> None:
    made(tmp_path, "step1/model", "step2/model", "step3/other")
    asked = row(tmp_path / "step*/model", id="step*/model")
    assert steps_of(folders.SOURCE.members(asked, offline=True)) == [1, 2]


@pytest.mark.parametrize(
    ("every", "expected"), [(1, [1, 2, 3, 4, 5, 6]), (2, [1, 3, 5, 6]), (5, [1, 6]), (100, [1, 6])]
)
def test_one_in_so_many_is_taken_and_the_last(
    every: int, expected: list[int], tmp_path: Path
) -> None:
    made(tmp_path, *(f"step{number}" for number in range(1, 7)))
    assert (
        steps_of(folders.SOURCE.members(row(tmp_path / "step*", every=every), offline=True))
        == expected
    )


def test_a_folder_without_a_star_or_with_one_in_its_name_is_itself(tmp_path: Path) -> None:
    for alone in (row(tmp_path / "checkpoint-1"), row(made(tmp_path, "step*") / "step*")):
        assert folders.SOURCE.members(alone, offline=True) == (alone,)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["other-1"], r"^runs/step\*: no folder matches; expected the folders of checkpoints"),
        (
            ["step-a", "step-b"],
            "^runs: found 'step-a', 'step-b'; expected names with different num",
        ),
    ],
)
def test_folders_that_are_no_series_are_refused(
    names: list[str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(RowError, match=message):
        folders.SOURCE.members(row(made(tmp_path, *names) / "step*"), offline=True)


def test_a_series_that_cannot_be_listed_costs_its_own_row_alone(tmp_path: Path) -> None:
    far = row(tmp_path / ("x" * 300) / "*", id="far/*")
    near = row(made(tmp_path, "near") / "near")
    first, second = plan.plan([far, near], offline=True)
    assert str(first.problem) == "far/*: File name too long; expected folders that can be read"
    assert second.problem is None


def test_too_many_checkpoints_are_refused_with_a_way_out(tmp_path: Path) -> None:
    many = row(made(tmp_path, *(f"step{number}" for number in range(600))) / "step*")
    with pytest.raises(
        RowError, match=r"600 checkpoints; expected at most 256, which 'every: 3' l"
    ):
        folders.SOURCE.members(many, offline=True)
    assert len(folders.SOURCE.members(replace(many, every=3), offline=True)) == 201


@pytest.fixture
def on_hub(tmp_path: Path) -> Callable[..., list[Checkpoint]]:
    """The checkpoints of a row of a repository with the branches of PYTHIA."""

    def found(*troubles: Trouble, offline: bool = False, **options: Any) -> list[Checkpoint]:
        row = checkpoint(source="hub", id="a/b", place="a/b", slug="run", **options)
        with (
            serving({"a/b": Repository({}, COMMITS)}, *troubles) as server,
            client_of(tmp_path, server.endpoint),
        ):
            return list(hub.SOURCE.members(row, offline))

    return found


OnHub = Callable[..., list[Checkpoint]]


def test_revisions_are_pinned_to_their_commits(on_hub: OnHub) -> None:
    members = on_hub(revisions="step2 … step1000")
    assert steps_of(members) == [2, 4, 8, 512, 1000]
    expected = [COMMITS[f"step{step}"] for step in (2, 4, 8, 512, 1000)]
    assert [member.revision for member in members] == expected
    assert steps_of(on_hub(revisions=("step143000", "step8"))) == [8, 143000]


@pytest.mark.parametrize(
    ("revisions", "message"),
    [
        ("epoch1 … epoch9", "a/b: no branch or tag within 'epoch1 … epoch9'; expected one of 11"),
        (("step8", "step80"), "a/b: no branch or tag 'step80'; nearest: step8"),
    ],
)
def test_revisions_that_the_repository_does_not_have_are_refused(
    revisions: str | tuple[str, ...], message: str, on_hub: OnHub
) -> None:
    with pytest.raises(RowError) as caught:
        on_hub(revisions=revisions)
    assert str(caught.value).startswith(message)


def test_without_an_answer_the_last_one_is_used(on_hub: OnHub) -> None:
    with pytest.raises(NotReachedError, match=client.UNREACHED):
        on_hub(offline=True, revisions="step2 … step8")
    before = on_hub(revisions="step2 … step8")
    assert on_hub(offline=True, revisions="step2 … step8") == before


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"[]"),
        Answer(200, b'{"branches": [], "converts": [], "tags": []}'),
        refusal(404, "RepoNotFound", "Repository not found"),
    ],
    ids=["no list", "an empty list", "no repository"],
)
def test_an_answer_without_revisions_fails_the_row(answer: Answer, on_hub: OnHub) -> None:
    with pytest.raises(RowError, match="a/b"):
        on_hub(Trouble(answer, "/refs"), revisions="step2 … step8")
