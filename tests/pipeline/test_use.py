"""What trained models do, from the list to atlas.json and its pages."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from generator.contracts import Finding, Metric, Result, UseResult
from generator.errors import RefusedError
from generator.pipeline import jobs, use
from generator.site.data import downloads as data_files
from generator.site.use import Measured
from tests import inline, tiny
from tests.hub_server import Repository, serving
from tests.synthetic import write_list

WORDS = 300
SIZES = {"n_layer": 2, "n_positions": 128, "max_position_embeddings": 128, "vocab_size": WORDS}
NAMED = (  # At least these are in atlas.json.
    "heads.previous", "heads.next", "heads.first", "heads.none", "induction.highest",
    "induction.count", "induction.previous_highest", "probe.r2_input", "probe.r2_highest",
    "probe.r2_last", "probe.layer_highest", "probe.r2_random", "order.share_1", "order.share_16",
    "position.as_is", "position.off", "position.shift_64", "position.shift_most", "position.half",
    "position.double", "position.reversed", "pairs.share_fastest_quarter",
    "pairs.share_slowest_quarter", "pairs.highest_share",
)  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of a model that runs, one whose first layer is read, one that lacks a tensor, and one
    without weights.
    """
    folder = tmp_path_factory.mktemp("use")
    tiny.build("gpt2", **SIZES).save_pretrained(folder / "whole")
    tiny.build("gpt2", **SIZES).save_pretrained(folder / "first")
    tiny.build("gpt2", **SIZES).save_pretrained(folder / "broken")
    config = json.loads((folder / "broken/config.json").read_text())
    (folder / "broken/config.json").write_text(
        json.dumps({**config, "n_layer": 3, "num_hidden_layers": 3})
    )
    (folder / "empty").mkdir()
    (folder / "empty/config.json").write_text(json.dumps(config))
    rows: list[dict[str, Any]] = [
        {"folder": "whole", "use": True},
        {"folder": "first", "use": "first_layer"},
        {"folder": "broken", "use": True},
        {"folder": "empty", "use": True},
    ]
    run(folder, write_list(folder, rows))
    return folder


def run(folder: Path, listed: Path) -> str:
    done = inline.run(
        "build", "--config", str(listed), "--output", str(folder / "build"), home=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def atlas(folder: Path) -> dict[str, Any]:
    document = json.loads((folder / "build/site/data/atlas.json").read_text(encoding="utf-8"))
    return {row["slug"]: row for row in document["checkpoints"]}


def test_all_numbers_are_in_atlas_json_with_those_of_a_second_run(built: Path) -> None:
    found = atlas(built)["whole"]["use"]["decoder"]
    assert set(NAMED) <= found.keys()
    assert all(
        found[name].keys() == {"value", "unit", "reason", "second", "sequences"} for name in found
    )
    assert found["heads.none"]["value"] == 100.0
    assert found["heads.none"]["sequences"] == 16
    assert found["order.share_1"]["value"] is None
    assert "no head that predicts tokens" in found["order.share_1"]["reason"]


def test_the_first_layer_alone_gives_its_kernel_alone(built: Path) -> None:
    found = atlas(built)["first"]["use"]["decoder"]
    assert {name.partition(".")[0] for name in found} == {"kernel"}


@pytest.mark.parametrize(
    ("slug", "reason"), [("broken", "its weights lack h.1."), ("empty", "there are no weights")]
)
def test_a_model_that_cannot_run_says_why_and_its_row_is_whole(
    slug: str, reason: str, built: Path
) -> None:
    row = atlas(built)[slug]
    assert row["status"] == "ok"
    assert row["use"] is None
    assert reason in row["no_use"]
    page = (built / f"build/docs/checkpoints/{slug}.md").read_text(encoding="utf-8")
    assert "What the trained model does with position could not be measured" in page


def test_pages_show_what_a_model_does(built: Path) -> None:
    own = (built / "build/docs/checkpoints/whole/use.md").read_text(encoding="utf-8")
    story = (built / "build/docs/use.md").read_text(encoding="utf-8")
    assert "Attention by offset" in own
    assert "Second run" in own
    assert "checkpoints/whole/use.html" in story
    assert not (built / "build/docs/checkpoints/empty/use.md").exists()
    # Tables without a figure above them are few rows, and not folded.
    (section,) = re.findall(r"\{ #induction \}(.*?)\n## ", story, re.DOTALL)
    assert "are found in" in section
    assert "All numbers" not in section
    assert "2 models with 2 parts were measured" in " ".join(story.split())


def test_every_number_of_heads_has_its_error(built: Path) -> None:
    atlas = json.loads((built / "build/site/data/atlas.json").read_text())
    (known,) = (one["use"] for one in atlas["checkpoints"] if one["slug"] == "whole")
    (values,) = known.values()
    for key in ("heads.previous", "heads.none", "heads.previous_highest", "heads.within",
                "induction.count", "induction.highest", "probe.r2_random"):  # fmt: skip
        assert values[f"{key}_error"]["value"] is not None, key
        assert values[f"{key}_error"]["unit"] == values[key]["unit"]


def test_the_main_number_is_that_of_the_weightiest_finding() -> None:
    (heads,) = (one for one in use.all_measures() if one.key == "heads")
    metrics = (Metric("own", "Own", 1.4, "%"), Metric("first", "First", 11.0, "%"),
               Metric("first_error", "Standard error: First", 2.0, "%"))  # fmt: skip
    said = (Finding("It reads.", (), 0.9), Finding("Two.", ("first",), 0.5))
    for findings, key in ((said, "first"), (said[:1], "own"), ((), "own")):
        result = Result(metrics, findings=findings)
        found = UseResult("heads", "vision", result, {"first": 12.0, "own": None})
        shown = Measured(heads, "vision", result, found, ())
        assert shown.main is not None
        assert shown.main.key == key
        assert [metric.key for metric in shown.shown] == ["own", "first"]
        assert [(metric.key, metric.value) for metric in shown.second.metrics] == [("first", 12.0)]


def test_a_build_without_changes_measures_nothing_again(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured_again(*_: object) -> UseResult:
        raise AssertionError("measured again")

    monkeypatch.setattr(use, "_of_stack", measured_again)
    assert "nothing has changed" in run(built, built / "checkpoints.yml")
    (built / "build/.last-build").unlink()
    assert "4 from the store" in run(built, built / "checkpoints.yml")


def test_measures_that_do_not_apply_have_their_main_numbers_with_the_reason() -> None:
    (pairs,) = (one for one in use.all_measures() if one.key == "pairs")
    found = UseResult("pairs", "encoder", Result(reason="it has no rotation"))
    listed = dict(data_files._use_metrics(pairs, found))
    assert listed["pairs.highest_share"] == {
        "value": None, "unit": "%", "reason": "it has no rotation", "second": None,
        "sequences": None,
    }  # fmt: skip


def test_a_first_layer_on_the_hub_is_read_by_range(tmp_path: Path) -> None:
    """Of a model with many layers, those after the first are not asked for."""
    tiny.build("gpt2", **{**SIZES, "num_hidden_layers": 12}).save_pretrained(tmp_path / "deep")
    contents = {path.name: path.read_bytes() for path in (tmp_path / "deep").iterdir()}
    commit = "c" * 40
    with serving({"atlas/deep": Repository({commit: contents}, {"main": commit})}) as hub:
        listed = write_list(
            tmp_path, [{"hub": "atlas/deep", "revision": commit, "use": "first_layer"}]
        )
        done = inline.run(
            "build", "--config", str(listed), "--output", str(tmp_path / "build"),
            home=tmp_path / "home", endpoint=hub.endpoint,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    row = atlas(tmp_path)["atlas-deep"]
    assert row["use"]["decoder"]["kernel.by_offset"]["value"] is not None
    assert hub.sent < len(contents["model.safetensors"]) / 2


def test_a_run_has_what_its_model_does_at_each_step(tmp_path: Path) -> None:
    for step in (10, 20):
        tiny.build("gpt2", **SIZES).save_pretrained(tmp_path / f"run/step-{step}")
    run(tmp_path, write_list(tmp_path, [{"folder": "run/step-*", "title": "Tiny", "use": True}]))
    document = json.loads((tmp_path / "build/site/data/runs/tiny.json").read_text())
    (of_decoder,) = document["run"]["uses"]
    values = {metric["key"]: metric["values"] for metric in of_decoder["metrics"]}
    assert values["heads.none"] == [100.0, 100.0]
    assert len(values["probe.r2_input"]) == 2
    page = (tmp_path / "build/docs/runs/tiny.md").read_text(encoding="utf-8")
    assert "by training step" in page


def test_a_build_that_ends_while_models_are_read_leaves_a_site_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.build("gpt2", **SIZES).save_pretrained(tmp_path / "whole")
    listed = write_list(tmp_path, [{"folder": "whole", "use": True}])
    collect = jobs.collect

    def interrupted(begun: jobs.Begun, *rest: Any) -> Any:
        found = collect(begun, *rest)
        if any(task.measure for task in begun.values()):
            raise RefusedError("interrupted")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "collect", interrupted)
        with pytest.raises(
            AssertionError, match="1 model is still being measured, less than a minute"
        ):
            run(tmp_path, listed)
    page = tmp_path / "build/site/checkpoints/whole.md"
    assert page.is_file()
    assert not page.with_suffix("").joinpath("use.md").exists()
    assert atlas(tmp_path)["whole"]["use"] is None
    story = tmp_path / "build/docs/use.md"
    text = " ".join(story.read_text(encoding="utf-8").split())
    assert '1 model is being measured: <a href="checkpoints/whole.html">whole</a>.' in text
    assert "No model of this list was measured. " not in text
    assert "from the store" in run(tmp_path, listed)
    assert page.with_suffix("").joinpath("use.md").exists()
    assert "being measured" not in story.read_text(encoding="utf-8")
