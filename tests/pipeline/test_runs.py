"""Training runs from checkpoints to a page: what members give, what stays out of the atlas, and the
same page from its own data.
"""

import json
from html import unescape
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from tests import inline
from tests.hub_server import Repository, serving
from tests.support import save_folder
from tests.synthetic import (
    BROKEN,
    NOTHING,
    ROTATION,
    WORDLESS,
    Contents,
    binary,
    write_folder,
    write_list,
)

ALIKE = np.ones((16, 4))  # All vectors are equal, so every cosine is 1.
CONFIG = {"model_type": "gpt2", "n_positions": 16, "n_embd": 4, "n_layer": 1, "n_head": 2}


def table(folder: Path, vectors: Any) -> Path:
    return save_folder(
        folder,
        CONFIG,
        {"wpe.weight": vectors.astype(np.float32), "wte.weight": np.ones((5, 4), dtype=np.float32)},
    )


def series(folder: Path) -> Path:
    """Four checkpoints: equal vectors, one that cannot be read, one without an encoding, and
    positions in binary.
    """
    table(folder / "run/step-5", ALIKE)
    write_folder(folder / "run/step-40", BROKEN)
    write_folder(folder / "run/step-300", NOTHING)
    table(folder / "run/step-2000", binary(16, 4))
    return folder


def built(folder: Path, *rows: dict[str, Any], **options: Any) -> CompletedProcess[str]:
    """A build of a list with these rows, into ``folder`` / out."""
    write_list(folder, rows)
    return inline.build(folder, *(("--offline",) if not options else ()), **options)


def run_of(folder: Path, slug: str = "tiny") -> dict[str, Any]:
    document = json.loads((folder / f"out/site/data/runs/{slug}.json").read_text(encoding="utf-8"))
    return dict(document["run"])


def page_of(folder: Path) -> str:
    """The Markdown of a run, whose marks are written as numbers."""
    return unescape((folder / "out/docs/runs/tiny.md").read_text(encoding="utf-8"))


def atlas_of(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "out/site/data/atlas.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build of a series and of a checkpoint."""
    folder = series(tmp_path_factory.mktemp("runs"))
    done = built(
        folder,
        {"folder": "run/step-*", "title": "Tiny"},
        {"folder": str(write_folder(folder / "one", WORDLESS)), "title": "One"},
    )
    assert done.returncode == 1, done.stderr
    assert "step 40" not in done.stdout
    return folder


def test_members_are_in_the_order_of_their_steps_and_those_that_failed_say_why(world: Path) -> None:
    members = run_of(world)["members"]
    assert [(member["step"], member["status"]) for member in members] == [
        (5, "ok"),
        (40, "failed"),
        (300, "ok"),
        (2000, "ok"),
    ]
    assert members[1]["reason"].startswith("run/step-40")


def test_the_kernel_is_the_mean_cosine_at_each_distance(world: Path) -> None:
    """In binary with entries ±¼, a cosine is 1 − (different bits) ÷ 2; counting from 0 to 15 flips
    15 + 7 + 3 + 1 bits in 15 steps.
    """
    [encoding] = run_of(world)["encodings"]
    equal, failed, without, counted = encoding["kernel"]
    assert equal == pytest.approx([1.0] * 16)
    assert (failed, without) == ([], [])
    assert counted[:2] == pytest.approx([1.0, 1.0 - (26 / 15) / 2], abs=1e-5)
    assert counted[15] == pytest.approx(-1.0)


def test_a_metric_has_gaps_where_a_member_has_no_value(world: Path) -> None:
    [encoding] = run_of(world)["encodings"]
    values = {metric["key"]: metric["values"] for metric in encoding["metrics"]}
    assert values["vector_norms.median"] == [2.0, None, None, 0.5]


def test_members_have_no_pages_of_their_own(world: Path) -> None:
    atlas = atlas_of(world)
    assert [row["slug"] for row in atlas["checkpoints"]] == ["one"]
    assert sorted(path.name for path in (world / "out/site/checkpoints").glob("*.md")) == [
        "index.md",
        "one.md",
    ]
    assert "step-" not in (world / "out/site/data/metrics.csv").read_text(encoding="utf-8")


def test_atlas_json_names_the_run_and_its_file(world: Path) -> None:
    [run] = atlas_of(world)["runs"]
    assert (run["slug"], run["steps"], run["data"]) == (
        "tiny",
        [5, 40, 300, 2000],
        "data/runs/tiny.json",
    )
    assert [member["step"] for member in run["unread"]] == [40]
    [encoding] = run["encodings"]
    metrics = encoding.pop("metrics")
    assert encoding == {
        "key": "decoder-learned",
        "part": "decoder",
        "scheme": "learned",
        "form": "PositionTable",
    }
    numbers = json.loads((world / "out/site/data/runs/tiny.json").read_text(encoding="utf-8"))
    [series] = numbers["run"]["encodings"]
    assert {key: entry["value"] for key, entry in metrics.items()} == {
        metric["key"]: [value for value in metric["values"] if value is not None][-1]
        for metric in series["metrics"]
    }


def test_the_page_says_which_checkpoint_is_missing_and_why(world: Path) -> None:
    text = page_of(world)
    assert "1 of 4 checkpoints could not be read (step 40)." in text
    assert "Step 40: config.json" in text


def test_the_same_page_is_made_from_its_own_data(world: Path, tmp_path: Path) -> None:
    stored = world / "out/site/data/runs/tiny.json"
    assert built(tmp_path, {"run": str(stored), "title": "Tiny"}).returncode == 0
    for name in (
        "docs/runs/tiny.md",
        "site/data/runs/tiny.json",
        "docs/figures/runs/tiny/decoder-learned-metrics.svg",
    ):
        assert (tmp_path / "out" / name).read_bytes() == (world / "out" / name).read_bytes(), name


def test_a_file_that_is_no_run_is_a_failed_row(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    done = built(tmp_path, {"run": "bad.json"})
    assert done.returncode == 1
    assert "bad.json: no 'format': 1; expected numbers of a training run" in done.stdout


def test_a_pattern_without_a_match_is_a_failed_row(tmp_path: Path) -> None:
    done = built(tmp_path, {"folder": "runs/step-*"})
    assert done.returncode == 1
    assert "runs/step-*: no folder matches" in done.stdout


def test_a_further_checkpoint_costs_its_own_evaluation_alone(tmp_path: Path) -> None:
    for step in (1, 2):
        table(tmp_path / f"run/step-{step}", ALIKE)
    assert "0 from the store" in built(tmp_path, {"folder": "run/step-*", "title": "Tiny"}).stdout
    table(tmp_path / "run/step-3", binary(16, 4))
    assert "2 from the store" in built(tmp_path, {"folder": "run/step-*", "title": "Tiny"}).stdout
    assert [member["step"] for member in run_of(tmp_path)["members"]] == [1, 2, 3]
    assert (
        "nothing has changed" in built(tmp_path, {"folder": "run/step-*", "title": "Tiny"}).stdout
    )


def test_a_run_that_cannot_be_read_at_all_has_a_page_that_says_so(tmp_path: Path) -> None:
    for step in (1, 2):
        write_folder(tmp_path / f"run/step-{step}", BROKEN)
    built(tmp_path, {"folder": "run/step-*", "title": "Tiny"})
    text = page_of(tmp_path)
    assert "2 of 2 checkpoints could not be read (steps 1, 2)." in text
    assert text.count("config.json: not JSON") == 1
    assert "How position forms" not in text
    assert "that could be read has a position encoding" not in text


def test_new_notes_of_a_row_reach_a_stored_run(tmp_path: Path, world: Path) -> None:
    row = {"run": str(world / "out/site/data/runs/tiny.json"), "title": "Tiny"}
    for notes in ("First notes.", "Other notes."):
        built(tmp_path, {**row, "notes": notes})
        assert notes in page_of(tmp_path)


def test_revisions_on_the_hub_are_a_run(tmp_path: Path) -> None:
    def commit(contents: Contents) -> dict[str, bytes]:
        return dict(contents)

    branches = {"main": "0" * 40, "step1": "1" * 40, "step2": "2" * 40, "step30": "3" * 40}
    with serving(
        {"a/b": Repository(dict.fromkeys(branches.values(), commit(ROTATION)), branches)}
    ) as hub:
        done = built(
            tmp_path,
            {"hub": "a/b", "revisions": "step1 … step30", "every": 2},
            endpoint=hub.endpoint,
        )
        assert done.returncode == 0, done.stdout
        run = run_of(tmp_path, "a-b")
        assert [(member["step"], member["name"]) for member in run["members"]] == [
            (1, "step1"),
            (30, "step30"),
        ]
        assert (run["source"], run["id"]) == ("hub", "a/b")
        assert not any(branches["step2"] in request.path for request in hub.log)


def test_without_an_answer_the_row_is_not_reached(tmp_path: Path) -> None:
    done = built(tmp_path, {"hub": "a/b", "revisions": "step1 … step30"})
    assert done.returncode == 0
    assert "0 built, 0 failed, 1 not reached" in done.stdout


def test_inspect_shows_the_last_checkpoint_of_a_pattern(world: Path, tmp_path: Path) -> None:
    done = inline.run("inspect", f"{world}/run/step-*", "--json", home=tmp_path / "home")
    assert json.loads(done.stdout)["title"].endswith("step 2,000")


def test_pin_leaves_a_series_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.yml"
    path.write_text("checkpoints:\n  - hub: a/b\n    revisions: step1 … step30\n", encoding="utf-8")
    before = path.read_bytes()
    done = inline.run("pin", "--config", str(path), home=tmp_path / "home")
    assert (done.returncode, path.read_bytes()) == (0, before)
