"""The command ``models refresh``, against a Hub on this machine."""

import errno
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from generator.checkpoints.hub import client
from generator.checkpoints.model.keys import leaves
from generator.cli import command_records
from generator.cli.commands import app
from generator.encyclopedia import known_models, proposed, refreshed, table
from generator.errors import RowError
from tests import inline
from tests.hub_server import Repository, Trouble, refusal, serving

COMMIT, NEXT = "a" * 40, "b" * 40
DAY = "2023-11-14"  # of the time that ``inline.run`` gives
QWEN, PHI, COMMAND = "Qwen/Qwen3-8B", "microsoft/phi-4", "CohereLabs/c4ai-command-r-plus"
# Of the published file, and of no interest.
OTHER = {
    "bos_token_id": 1, "torch_dtype": "bfloat16", "transformers_version": "4.51.0",
    "id2label": {"0": "window shade"}, "quantization_config": {"modules": {"rope": "fp8"}},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of some known models, which commands read and write."""
    copy = tmp_path / "models"
    copy.mkdir()
    for name in (QWEN, PHI, COMMAND):
        shutil.copy(known_models.file_of(name), copy)
    monkeypatch.setattr(known_models, "FOLDER", copy)
    return copy


def file(folder: Path, hub_id: str) -> Path:
    return folder / f"{hub_id.replace('/', '--')}.json"


def record(folder: Path, hub_id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file(folder, hub_id).read_text(encoding="utf-8"))
    return found


def repository(settings: Mapping[str, Any] | bytes, commit: str = COMMIT) -> Repository:
    content = settings if isinstance(settings, bytes) else json.dumps(settings).encode()
    return Repository({commit: {"config.json": content}}, {"main": commit})


def refresh(
    tmp_path: Path, repositories: Mapping[str, Repository], *arguments: str, trouble: Any = ()
) -> CompletedProcess[str]:
    with serving(repositories, *trouble) as hub:
        return inline.run(
            "models", "refresh", *arguments, home=tmp_path / "home", endpoint=hub.endpoint
        )


def test_a_changed_base_is_named_and_written(folder: Path, tmp_path: Path) -> None:
    before = record(folder, QWEN)
    published = {**before["config"], **OTHER, "rope_theta": 5e6, "layer_types": ["full"]}
    (folder / "killed.json.1-2.unfinished").write_bytes(b"half")
    done = refresh(tmp_path, {QWEN: repository(published)}, QWEN)
    assert (done.returncode, [*folder.glob("*.unfinished")]) == (0, [])
    head, line, row, *_ = done.stdout.splitlines()
    assert (head, line) == ("| Model | Position | Settings |", "| --- | --- | --- |")
    assert row.startswith("| Qwen/Qwen3-8B | In all layers of the decoder, the rotation has base")
    assert "“expected” layers were those of A" in row
    assert "rope&#95;theta: 1000000 → 5000000.0; layer&#95;types: absent" in row
    after = record(folder, QWEN)
    assert after.pop("config") == {
        **before.pop("config"), "rope_theta": 5e6, "layer_types": ["full"],
    }  # fmt: skip
    source = {"source": "config.json on the Hub", "commit": COMMIT, "read": DAY}
    assert after == {**before, **source}
    assert list(after) == [
        *("id", "maker", "published", "reference", *source, "extends", "native", "cache_type"),
        "expected",
    ]


@pytest.mark.parametrize("others", [{"torch_dtype": "float16"}, {}])
def test_the_type_of_a_cache_is_as_published(
    folder: Path, tmp_path: Path, others: dict[str, str]
) -> None:
    settings = record(folder, QWEN)["config"]
    refresh(tmp_path, {QWEN: repository({**settings, "torch_dtype": "bfloat16"})}, QWEN)
    before = record(folder, QWEN)
    done = refresh(tmp_path, {QWEN: repository({**settings, **others}, NEXT)}, QWEN)
    row = done.stdout.splitlines()[2]
    assert row.startswith(f"| {QWEN} | the same | cache&#95;type.name: bfloat16 → ")
    new = record(folder, QWEN)
    assert new.pop("cache_type", None) == (
        {"name": "float16", "by": "torch_dtype"} if others else None
    )
    assert {**before, "commit": NEXT} == {**new, "cache_type": before["cache_type"]}


def test_a_file_is_written_in_the_form_of_the_others(folder: Path, tmp_path: Path) -> None:
    before = file(folder, QWEN).read_text(encoding="utf-8")
    refresh(tmp_path, {QWEN: repository(record(folder, QWEN)["config"])}, QWEN)
    after = file(folder, QWEN).read_text(encoding="utf-8").splitlines()
    new = [line for line in after if line not in before.splitlines()]
    assert new == [
        '  "source": "config.json on the Hub",', f'  "commit": "{COMMIT}",', f'  "read": "{DAY}",',
    ]  # fmt: skip


def test_what_was_entered_from_knowledge_is_checked_by_that(folder: Path, tmp_path: Path) -> None:
    path = file(folder, COMMAND)
    known = {"from_knowledge": True, "source": "config.json on the Hub (x); a paper"}
    path.write_text(json.dumps({**record(folder, COMMAND), **known}), encoding="utf-8")
    settings = record(folder, COMMAND)["config"]
    done = refresh(tmp_path, {COMMAND: repository(settings)}, COMMAND)
    assert done.stdout.splitlines()[2] == f"| {COMMAND} | the same | the same |"
    after = record(folder, COMMAND)
    assert "from_knowledge" not in after
    assert (after["source"], after["config"]) == ("config.json on the Hub; a paper", settings)
    model = known_models.known_model(COMMAND)
    assert model is not None
    assert model.source == f"config.json on the Hub, commit {COMMIT[:12]}, read on {DAY}; a paper"


def test_an_unchanged_file_keeps_its_commit_and_its_bytes(folder: Path, tmp_path: Path) -> None:
    settings = record(folder, QWEN)["config"]
    refresh(tmp_path, {QWEN: repository({**settings, "torch_dtype": "bfloat16"})}, QWEN)
    before = file(folder, QWEN).read_bytes()
    done = refresh(tmp_path, {QWEN: repository({**settings, **OTHER}, NEXT)}, QWEN)
    assert (done.returncode, done.stdout) == (0, "Nothing has changed.\n")
    assert done.stderr == "Qwen/Qwen3-8B: unchanged\n"
    assert file(folder, QWEN).read_bytes() == before


@pytest.mark.parametrize(("changed", "code"), [
    ({"rope_theta": 5e6}, 1), ({"max_position_embeddings": 8192}, 1), ({"vocab_size": 7}, 0),
])  # fmt: skip
def test_a_check_writes_nothing_and_fails_if_position_would_change(
    folder: Path, tmp_path: Path, changed: dict[str, Any], code: int
) -> None:
    before = file(folder, QWEN).read_bytes()
    published = repository({**record(folder, QWEN)["config"], **changed})
    done = refresh(tmp_path, {QWEN: published}, "--check", QWEN)
    assert (done.returncode, done.stdout.count(QWEN)) == (code, 1)
    assert file(folder, QWEN).read_bytes() == before


def test_models_that_cannot_be_read_are_named_and_left_alone(folder: Path, tmp_path: Path) -> None:
    """One is gated, one has no repository; the third is read."""
    before = {name: file(folder, name).read_bytes() for name in (PHI, COMMAND)}
    read = {**record(folder, QWEN)["config"], "rope_theta": 5e6}
    repositories = {QWEN: repository(read), COMMAND: repository({})}
    gated = Trouble(refusal(403, "GatedRepo", "Access is restricted."), about=f"/{COMMAND}/resolve")
    done = refresh(tmp_path, repositories, trouble=[gated])
    assert done.returncode == 0
    assert done.stderr.count("not read: ") == 2
    assert f"not read: {COMMAND}: config.json: gated; expected access" in done.stderr
    assert f"not read: {PHI}: no such repository" in done.stderr
    assert [line.split(" | ")[0] for line in done.stdout.splitlines()[2:3]] == [f"| {QWEN}"]
    assert {name: file(folder, name).read_bytes() for name in before} == before


@pytest.mark.parametrize("content", [b"{", b"[]", b"{}", b'{"transformers_version": "5.0"}'])
def test_a_config_that_says_nothing_replaces_none(
    folder: Path, tmp_path: Path, content: bytes
) -> None:
    before = file(folder, QWEN).read_bytes()
    done = refresh(tmp_path, {QWEN: repository(content)}, QWEN)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "none of 1 model could be read"
    assert file(folder, QWEN).read_bytes() == before


def test_a_file_that_could_not_be_written_whole_stays_as_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    settings = {**record(folder, QWEN)["config"], "rope_theta": 5e6}

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    done = refresh(tmp_path, {QWEN: repository(settings)}, QWEN)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2, "disk or output: No space left on device",
    )  # fmt: skip
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_without_a_hub_nothing_is_read(folder: Path, tmp_path: Path) -> None:
    done = inline.run("models", "refresh", home=tmp_path / "home")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("the Hub did not answer")


def test_an_unknown_id_is_refused_with_the_nearest(folder: Path, tmp_path: Path) -> None:
    done = refresh(tmp_path, {}, "Qwen/Qwen3-8b", QWEN)
    assert done.returncode == 2
    assert done.stderr == (
        "'Qwen/Qwen3-8b': no published config of the program has this id; nearest: Qwen/Qwen3-8B\n"
    )


@pytest.mark.parametrize(("changed", "said"), [
    ({"model_type": "nobody"}, "The layers of B are not known"),
    ({"rope_scaling": {"rope_type": "yarn", "factor": "x"}},
     "The two cannot be compared: Qwen/Qwen3-8B: rotary"),
])  # fmt: skip
def test_what_can_no_longer_be_said_is_a_change(
    folder: Path, tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    published = {**record(folder, QWEN)["config"], **changed}
    done = refresh(tmp_path, {QWEN: repository(published)}, "--check", QWEN)
    assert done.returncode == 1
    assert said in done.stdout


def test_text_of_the_hub_is_no_markup(folder: Path, tmp_path: Path) -> None:
    published = {**record(folder, QWEN)["config"], "rope_note": "[a](https://b) | <b> @c `d`"}
    done = refresh(tmp_path, {QWEN: repository(published)}, QWEN)
    [row] = [line for line in done.stdout.splitlines() if line.startswith(f"| {QWEN}")]
    assert row.count("|") == 4
    assert not set("[<`") & set(row)


def test_what_is_kept_of_a_published_file() -> None:
    former = {"model_type": "x", "n_mels": 80, "vision": {"mask": 1}}
    given = {
        **OTHER, **former, "hidden_size": 8, "dropout": 0.1,
        "vision": {"mask": 1, "patch": 4, "num_layers": 2}, "text": {"rope_theta": 1e4, "eps": 1},
        "audio": {"eps": 1},
    }  # fmt: skip
    assert refreshed.relevant(given, {path for path, _ in leaves(former)}) == {
        **former, "hidden_size": 8, "vision": {"mask": 1, "num_layers": 2},
        "text": {"rope_theta": 1e4},
    }  # fmt: skip


NEW = "Qwen/Qwen3-0.6B"


def test_a_new_model_is_added_with_what_its_page_will_say(folder: Path, tmp_path: Path) -> None:
    settings = {**record(folder, QWEN)["config"], **OTHER, "num_hidden_layers": 28}
    done = refresh(tmp_path, {NEW: repository(settings)}, "--new", NEW)
    assert (done.returncode, done.stderr) == (0, f"{NEW}: changed\n")
    assert done.stdout.splitlines()[2] == (
        f"| {NEW} | New: 28 layers: 28 full; base 1,000,000; 40,960 positions;"
        " 114,688 bytes of cache for a further token. | new |"
    )
    new = record(folder, NEW)
    assert {name: value for name, value in new.items() if name != "config"} == {
        "id": NEW, "maker": "Alibaba",
        "published": {"month": "2024-10", "by": "creation of its repository on the Hub"},
        "source": "config.json on the Hub", "commit": COMMIT, "read": DAY,
        "cache_type": {"name": "bfloat16", "by": "torch_dtype"},
    }  # fmt: skip
    assert new["config"].items() <= settings.items()
    assert {"rope_theta", "head_dim", "model_type", "vocab_size"} <= new["config"].keys()
    assert refresh(tmp_path, {NEW: repository(settings)}).stderr.count("unchanged") == 1


def test_a_new_model_has_what_sizes_its_cache_and_what_names_its_layers(
    folder: Path, tmp_path: Path
) -> None:
    said = {"swa_num_key_value_heads": 2, "kv_lora_rank": 8, "hybrid_override_pattern": "M*",
            "conv_kernel": 4, "num_loops": 2, "n_group": 8, "n_routed_experts": 64,
            "mask_token_id": 7, "spatial_merge_size": 2}  # fmt: skip
    unsaid = {**OTHER, "hidden_act": "silu", "rms_norm_eps": 1e-6, "initializer_range": 0.02}
    settings = {**record(folder, QWEN)["config"], **said, **unsaid}
    assert refresh(tmp_path, {NEW: repository(settings)}, "--new", NEW).returncode == 0
    new = record(folder, NEW)["config"]
    assert new.items() >= said.items()
    assert unsaid.keys().isdisjoint(new)


def test_the_page_of_a_new_model_says_what_its_whole_config_says() -> None:
    """Of images too, whose sizes no text names, and of a class that needs more than is shown."""
    model = {"model_type": "fuyu", "image_size": 300, "patch_size": 30, "num_channels": 3,
             "num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 256,
             "vocab_size": 512, "hidden_act": "relu2"}  # fmt: skip
    kept = proposed.settings_of_new("a/b", model)
    assert kept == {name: value for name, value in model.items() if name != "hidden_act"}
    whole, short = (
        table.row(known_models.of_record({"id": "a/b", "source": "x", "config": config}))
        for config in (model, kept)
    )
    assert whole == short
    assert (whole["inputs"], whole["image"]["grid"]) == (["text", "image"], [10, 10])


def test_the_new_models_of_an_owner_are_added_without_its_copies(
    folder: Path, tmp_path: Path
) -> None:
    settings = record(folder, QWEN)["config"]
    copied = replace(repository(settings), tags=("x", f"base_model:quantized:{NEW}"))
    repositories = {
        QWEN: repository(settings), NEW: repository(settings), f"{NEW}-FP8": copied,
        "other/one": repository(settings),
    }  # fmt: skip
    done = refresh(tmp_path, repositories, "--owner", "Qwen")
    assert (done.returncode, done.stderr) == (0, f"{NEW}: changed\n")
    again = refresh(tmp_path, repositories, "--owner", "Qwen")
    assert (again.returncode, again.stdout) == (0, "Nothing has changed.\n")


def test_of_a_list_of_the_hub_only_ids_of_the_owner_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new = "Qwen/Unheard-of-1B"
    listed: list[dict[str, object]] = [{"id": new}, {"id": "other/x"}, {"id": "--mlx=x/y"}]
    monkeypatch.setattr(client, "answer", lambda *_: listed)
    assert proposed.of_owner("Qwen") == [new]
    listed.append({"tags": []})
    with pytest.raises(RowError):
        proposed.of_owner("Qwen")


def test_what_is_no_id_is_not_looked_for(folder: Path, tmp_path: Path) -> None:
    done = refresh(tmp_path, {}, "--new", "Qwen/$(x)")
    assert done.stderr.startswith("not read: Qwen/$(x): not a Hub id")
    assert not file(folder, "Qwen/$(x)").exists()


@pytest.mark.parametrize(("changed", "said"), [
    ({"model_type": "nobody"}, "In doubt: "),
    ({"rope_scaling": {"type": "yarn", "factor": "x"}}, "New: Qwen/Qwen3-0.6B: rotary"),
    ({"rope_scaling": {"type": "yarn", "factor": 4.0}, "rope_parameters": {"rope_theta": 7.0}},
     "In doubt: "),
])  # fmt: skip
def test_what_is_in_doubt_of_a_new_model_is_said(
    folder: Path, tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    settings = {**record(folder, QWEN)["config"], **changed}
    done = refresh(tmp_path, {NEW: repository(settings)}, "--new", NEW)
    assert done.returncode == 0
    assert said in done.stdout
    assert record(folder, NEW)["config"].items() >= changed.items()


def test_forty_changed_ten_new_and_five_broken_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "models"
    shutil.copytree(known_models.FOLDER, copy)
    monkeypatch.setattr(known_models, "FOLDER", copy)
    every = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(copy.iterdir())]
    simple = [one for one in every if "rope_theta" in one["config"] and "commit" not in one]
    changed, sources, broken = simple[:40], simple[40:50], simple[50:55]
    repositories = {
        **{one["id"]: repository({**one["config"], "rope_theta": 12345.0}) for one in changed},
        **{f"new/{i}": repository(one["config"]) for i, one in enumerate(sources)},
        **{one["id"]: repository(b'{"a": [' if i % 2 else b"{}") for i, one in enumerate(broken)},
    }
    ids = [one["id"] for one in (*changed, *broken)]
    before = {one["id"]: file(copy, one["id"]).read_bytes() for one in broken}
    done = refresh(tmp_path, repositories, *ids, "--owner", "new")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("not read: ") == len(broken)
    rows = done.stdout.splitlines()[2:52]
    assert [row.split(" | ")[0][2:] for row in rows] == [
        *(one["id"] for one in changed), *(f"new/{i}" for i in range(10)),
    ]  # fmt: skip
    assert all("12,345" in row for row in rows[:40])
    assert all("| New: " in row for row in rows[40:])
    assert {name: file(copy, name).read_bytes() for name in before} == before


def test_a_command_in_a_group_is_listed_with_its_name() -> None:
    names = [command.name for command in command_records.commands(app)]
    assert "models refresh" in names
