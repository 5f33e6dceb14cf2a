"""Causes of changes, each with the values that follow from it, against cases by hand."""

from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from generator import ROOT
from generator.checkpoints import run_file
from generator.site.data.npz import archive
from generator.site.history import published_numbers
from generator.site.history.causes import Cause, causes, versions
from generator.site.history.changes import Change, checkpoints
from generator.site.history.curves import BARS, MOST, WIDTH, drawn
from generator.site.history.published_numbers import TABLE as VECTORS
from generator.site.history.published_numbers import changed_rows, with_rows
from generator.site.history.sentences import MOST_ROWS, line, since
from generator.site.runs import downloads_of_runs
from tests.site.history.test_changes import atlas, lines


def rotary(base: float = 1e4, **settings: object) -> dict[str, Any]:
    """An atlas with one model of four layers, three of which have a rotation."""
    layers = [
        {"part": "decoder", "encodings": ["decoder-rotary"] if index else []} for index in range(4)
    ]
    encoding = {
        "key": "decoder-rotary",
        "name": "Llama · decoder",
        "part": "decoder",
        "sha256": None,
        "parameters": {"base": base, "window": None, "inverse_frequencies": [1.0, base]},
        "origins": {"base": {"keys": ["rope_theta", "model_type"], "default_of": None}},
        "metrics": {"decay.half": {"value": base / 10, "unit": "positions", "reason": None}},
    }
    row = {
        "slug": "llama", "title": "Llama", "status": "ok", "reason": None, "revision": None,
        "layers": layers, "encodings": [encoding],
        "settings": {"rope_theta": base, "model_type": "llama", **settings},
    }  # fmt: skip
    return {"schema": 3, "checkpoints": [row]}


def test_a_base_says_its_layers_and_its_key_and_values_follow_from_it() -> None:
    assert lines(rotary(), rotary(5e5)) == [
        "base of Llama · decoder: 10,000 → 500,000 in 3 of 4 layers (config key rope_theta);"
        " 1 value changed with it"
    ]


@pytest.mark.parametrize(("former", "later", "said"), [
    (4096, 1024, "config key window of Llama: 4,096 → 1,024"),
    (True, 1, "config key window of Llama: true → 1"),
    ("sha256:12", "sha256:34", "config key window of Llama: another value"),
])  # fmt: skip
def test_a_config_key_is_a_cause(former: object, later: object, said: str) -> None:
    assert lines(rotary(window=former), rotary(window=later)) == [said]
    assert lines(rotary(window=former), rotary(window=former)) == []


def test_a_program_that_published_no_settings_gives_no_causes_of_them() -> None:
    former = rotary()
    del former["checkpoints"][0]["settings"]
    assert lines(former, rotary()) == []


def test_libraries_are_the_cause_of_what_follows_from_nothing_else() -> None:
    """And of nothing where something of the checkpoint itself changed."""
    former, later = atlas(), atlas()
    former |= {"version": "1", "libraries": {"transformers": "5.23.0", "numpy": "2.4"}}
    later |= {"version": "1", "libraries": {"transformers": "5.24.0", "numpy": "2.4"}}
    for row in later["checkpoints"]:
        row["encodings"][0]["metrics"]["rank.stable"]["value"] = 3.0

    def said() -> list[str]:
        pair = checkpoints(former), checkpoints(later)
        return [line(cause) for cause in causes(*pair, versions(former), versions(later))]

    assert said() == ["transformers 5.23.0 → 5.24.0: 2 values of 2 rows changed"]
    later["checkpoints"][0]["revision"] = "d" * 40
    assert said() == [
        "GPT: revision cccccccccccc → dddddddddddd; 1 value changed with it",
        "transformers 5.23.0 → 5.24.0: 1 value of 1 row changed",
    ]
    assert [cause.libraries for cause in causes({}, {}, versions(former), versions(later))] == []


def test_the_largest_cause_is_first() -> None:
    former, later = rotary(1e4, window=100), rotary(1.1e4, window=10)
    new = {**deepcopy(former["checkpoints"][0]), "slug": "new", "title": "New"}
    later["checkpoints"].append(new)
    found = causes(checkpoints(former), checkpoints(later), {}, {})
    assert [round(cause.size, 2) for cause in found] == [1.0, 0.9, 0.09]
    assert line(found[0]) == "row added: New"


RUN = run_file.read(ROOT / "references/tiny-gpt.json", "run")


def of_run(n_members: int, factor: float = 1.0) -> dict[str, Any]:
    """An atlas with the first checkpoints of a run, values of its second one times ``factor``."""
    encodings = tuple(
        replace(
            encoding,
            kernel=encoding.kernel[:n_members],
            metrics=tuple(
                replace(
                    metric,
                    values=tuple(
                        value and value * (factor if index == 1 else 1.0)
                        for index, value in enumerate(metric.values[:n_members])
                    ),
                )
                for metric in encoding.metrics
            ),
        )
        for encoding in RUN.encodings
    )
    run = replace(RUN, members=RUN.members[:n_members], encodings=encodings, uses=())
    document = {"schema": 3, "checkpoints": [], "runs": [downloads_of_runs.record(run)]}
    return dict(published_numbers.with_steps(document, lambda _: run_file.encoded(run)))


def test_a_new_step_is_compared_with_the_last_and_others_with_the_same() -> None:
    _, second, third = RUN.steps[:3]
    [said] = lines(of_run(2), of_run(3))
    assert said.startswith(f"step {third} added to {RUN.title} (was {second}); ")
    assert said.endswith(" values changed with it")
    step, same = sorted(lines(of_run(2), of_run(3, factor=2.0)), reverse=True)
    assert step.startswith(f"step {third} added to")
    assert f" changed at step {second}; " in same
    assert lines(of_run(2), of_run(2)) == []
    assert lines(of_run(2), of_run(1))[0].startswith(f"step {second} gone from {RUN.title}")


def test_a_run_whose_folder_is_gone_is_one_row_with_its_reason() -> None:
    later = of_run(0)
    row = {**atlas()["checkpoints"][0], "slug": RUN.slug, "title": RUN.title, "encodings": []}
    row |= {"status": "failed", "reason": "no such folder", "revision": None}
    later |= {"checkpoints": [row], "runs": []}
    assert lines(of_run(2), later) == [f"row gone: {RUN.title}, failed: no such folder"]


def test_a_run_shows_its_last_checkpoints_side_by_side() -> None:
    runs = [
        replace(RUN, members=RUN.members[:n], uses=(), encodings=tuple(
            replace(one, kernel=one.kernel[:n], metrics=()) for one in RUN.encodings
        ))
        for n in (1, 2)
    ]  # fmt: skip
    found = causes(checkpoints(of_run(1)), checkpoints(of_run(2)), {}, {})
    readers = [partial(lambda run, _: run_file.encoded(run), run) for run in runs]
    first, *others = drawn(found, *readers)
    assert first.name == f"{RUN.title}, {RUN.encodings[0].part}, by distance"
    assert first.before != first.after
    assert len(others) < MOST
    assert set(first.before + first.after) <= set(BARS)
    assert drawn(found, lambda _: None, readers[1]) == ()
    assert drawn(found, readers[1], readers[1]) == ()


TABLE = np.random.default_rng(0).normal(size=(196, 8)).astype(np.float32)


def compared(after: np.ndarray[Any, Any], **fields: object) -> list[Cause]:
    """Causes where the table of one checkpoint is ``after`` in place of TABLE."""
    former, later = atlas(), atlas()
    later["checkpoints"][0]["encodings"][0] |= {"sha256": "b" * 64, **fields}
    contents = [archive({VECTORS: table}) for table in (TABLE, after)]
    before = checkpoints(former)
    found = with_rows(before, checkpoints(later), lambda _: contents[0], lambda _: contents[1])
    return causes(before, found, {}, {})


def test_rows_of_a_table_are_counted_and_the_one_that_differs_most_is_named() -> None:
    after = TABLE.copy()
    after[5] *= np.float32(1.03)
    [cause] = compared(after)
    assert line(cause) == (
        "table of GPT · decoder: 1 of 196 rows changed, row 5, by 3% of its norm"
    )
    share = 0.03 * np.linalg.norm(TABLE[5]) / np.linalg.norm(TABLE)
    assert cause.size == pytest.approx(share, rel=1e-5)
    [cause] = compared(after, parameters={"first_row": 2})
    assert "row 7, by" in line(cause)


def test_the_norms_of_a_table_are_drawn_before_and_after_on_one_scale() -> None:
    former, later = np.full((64, 2), 3.0), np.full((64, 2), 3.0)
    later[62:] = 4.0
    contents = [archive({VECTORS: table}) for table in (former, later)]
    change = Change("numbers", "gpt", "GPT", "GPT · decoder", key="decoder-learned")
    found = [Cause(change, 1.0)]
    [one] = drawn(found, lambda _: contents[0], lambda _: contents[1])
    assert (one.name, one.before) == ("GPT · decoder, norms of the rows", BARS[0] * WIDTH)
    assert one.after == BARS[0] * (WIDTH - 1) + BARS[-1]
    said = since(found, [replace(one, name="a|b @me")])
    assert said.splitlines()[-1].startswith("| a&#124;b @\u2060me | `▁")
    assert drawn([Cause(change, 1.0)] * 99, lambda _: contents[0], lambda _: None) == ()


def test_a_comment_has_so_many_causes_and_then_their_number() -> None:
    found = [Cause(Change("new", "x", "X"), 1.0)] * (MOST_ROWS + 2)
    assert since(found).endswith(" | 0 |\n\nAnd 2 more causes.")
    assert len(since(found).encode()) < 65_536


def test_a_table_that_is_stored_anew_says_so() -> None:
    [cause] = compared(TABLE.copy(), dtype="float32")
    assert line(cause) == "table of GPT · decoder: none of 196 rows changed"


def test_a_row_of_zeros_and_a_table_in_part() -> None:
    former, later = np.zeros((4, 2)), np.zeros((4, 2))
    assert changed_rows(former, later, 0, 1)["share"] == 0.0
    later[3] = 1.0
    rows = changed_rows(former, later, 1, 4)
    assert (rows["changed"], rows["row"], rows["by"], rows["share"]) == (1, 13, None, 1.0)


@pytest.mark.parametrize("content", [
    None, b"", b"PK\x03\x04", archive({"other": TABLE}), archive({VECTORS: TABLE[:3]}),
    archive({VECTORS: np.array(["text"])}), archive({VECTORS: TABLE * np.nan}),
])  # fmt: skip
def test_arrays_that_cannot_be_compared_leave_the_hashes(content: bytes | None) -> None:
    former, later = checkpoints(atlas()), atlas()
    later["checkpoints"][0]["encodings"][0]["sha256"] = "b" * 64
    good = archive({VECTORS: TABLE})
    found = with_rows(former, checkpoints(later), lambda _: content, lambda _: good)
    assert [line(cause) for cause in causes(former, found, {}, {})] == [
        "GPT · decoder: its stored numbers changed"
    ]


def test_a_table_that_unpacks_to_more_than_it_may_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(published_numbers, "MOST_BYTES", TABLE.nbytes)
    [cause] = compared(TABLE * np.float32(2.0))
    assert cause.change is not None
    assert cause.change.rows is None


@pytest.mark.parametrize("slug", ["../../etc", "a/b", "A", "%2e%2e"])
def test_no_name_leads_out_of_the_folder_of_data(slug: str) -> None:
    former, later = atlas(), atlas()
    for document in (former, later):
        document["checkpoints"][0]["slug"] = slug
    later["checkpoints"][0]["encodings"][0]["sha256"] = "b" * 64
    asked: list[str] = []
    read = asked.append
    with_rows(checkpoints(former), checkpoints(later), read, read)
    change = Change("metric", slug, "GPT", "GPT · decoder", key="decoder-learned")
    for one in (change, replace(change, slug=f"runs/{slug}")):
        assert drawn([Cause(None, 1.0, (one,))], read, read) == ()
    published_numbers.with_steps({"runs": [{"data": f"data/{slug}.json", "encodings": []}]}, read)
    assert [path for path in asked if ".." in path] == []
