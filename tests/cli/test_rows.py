"""Rows from the command line, against a Hub: added, pinned, and weighed before they are read."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import sleep

import pytest
import safetensors.numpy

from generator.checkpoints import list_edit
from tests.built import ROOT
from tests.hub_server import Hub, Repository, serving
from tests.inline import run
from tests.synthetic import BUCKETS, NOTHING, PICKLED, ROTATION, WORDLESS, write_folder, write_list

OLD, NEW, OTHER = "a" * 40, "b" * 40, "c" * 40
LIST = f"""\
checkpoints:
  # A comment.
  - atlas/moving   # the first
  - hub: atlas/pinned
    revision: {OLD}
    title: Pinned
  - folder: local
"""


@pytest.fixture
def hub() -> Iterator[Hub]:
    repositories = {
        "atlas/moving": Repository({OLD: ROTATION, NEW: ROTATION}, {"main": NEW}),
        "atlas/pinned": Repository({OLD: NOTHING, OTHER: NOTHING}, {"main": OTHER}),
        "atlas/new": Repository({OTHER: BUCKETS, OLD: BUCKETS}, {"main": OTHER, "former": OLD}),
        "atlas/other": Repository({OLD: NOTHING}, {"main": OLD}),
    }
    with serving(repositories) as server:
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_folder(tmp_path / "local", ROTATION)
    place = tmp_path / "checkpoints.yml"
    place.write_text(LIST, encoding="utf-8")
    return place


def command(hub: Hub, path: Path, *arguments: str) -> tuple[int, str]:
    done = run(*arguments, "--config", str(path), home=path.parent / "hub", endpoint=hub.endpoint)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("name", "commit"), [("atlas/new", OTHER), ("atlas/new@former", OLD)])
def test_a_repository_is_added_at_its_commit(name: str, commit: str, hub: Hub, path: Path) -> None:
    assert command(hub, path, "add", name) == (
        0, f"{path}: 1 entry of 4 is new, atlas/new at {commit}\n"
    )  # fmt: skip
    assert path.read_text(encoding="utf-8") == f"{LIST}  - hub: atlas/new\n    revision: {commit}\n"
    assert command(hub, path, "check")[0] == 0


@pytest.mark.parametrize("name", ["atlas/moving", "atlas/absent"])
def test_what_is_listed_or_nowhere_is_not_added(name: str, hub: Hub, path: Path) -> None:
    code, said = command(hub, path, "add", name)
    assert (code, name in said, path.read_text(encoding="utf-8")) == (2, True, LIST)


def test_a_name_that_is_no_path_says_so(hub: Hub, path: Path) -> None:
    code, said = command(hub, path, "add", "nosuch")
    assert (code, path.read_text(encoding="utf-8")) == (2, LIST)
    assert said.startswith("no folder or file 'nosuch', so it was looked for on the Hub: nosuch@")


@pytest.mark.parametrize("arguments", [("add", "atlas/other"), ("pin",)])
def test_a_command_waits_for_another_that_changes_the_list(
    arguments: Sequence[str], hub: Hub, path: Path
) -> None:
    holds = Event()

    def hold() -> None:
        with list_edit.locked(path, pytest.fail):
            holds.set()
            sleep(0.5)
            list_edit.append(path, "- hub: atlas/new\n")

    with ThreadPoolExecutor(1) as threads:
        held = threads.submit(hold)
        assert holds.wait(10)
        code, said = command(hub, path, *arguments)
        held.result()
    assert f"{path}: another command changes it; waiting for its end" in said.replace("\n", "")
    assert (code, "atlas/new" in path.read_text(encoding="utf-8")) == (0, True)


def test_without_an_upgrade_a_pin_stays(hub: Hub, path: Path) -> None:
    assert command(hub, path, "pin")[0] == 0
    pinned = LIST.replace(
        "- atlas/moving   # the first", f"- hub: atlas/moving   # the first\n    revision: {NEW}"
    )
    assert path.read_text(encoding="utf-8") == pinned
    assert "0 entries pinned" in command(hub, path, "pin")[1]
    assert path.read_text(encoding="utf-8") == pinned


def test_an_upgrade_moves_pins(hub: Hub, path: Path) -> None:
    code, said = command(hub, path, "pin", "--upgrade")
    assert (code, f"{OLD} → {OTHER}" in said) == (0, True)
    assert f"revision: {OTHER}\n    title: Pinned" in path.read_text(encoding="utf-8")


def test_bytes_are_those_of_the_tensors_that_are_read_of_a_pickle_all_and_of_a_run_none(
    hub: Hub, tmp_path: Path
) -> None:
    hub.repositories = {
        "atlas/table": Repository({OLD: WORDLESS}, {"main": OLD}),
        "atlas/rotation": Repository({OLD: ROTATION}, {"main": OLD}),
    }
    write_folder(tmp_path / "pickled", PICKLED)  # Not opened: it is none.
    rows: list[dict[str, object]] = [{"hub": name} for name in hub.repositories]
    rows += [{"folder": "pickled", "pickle": True}]
    rows += [{"run": str(ROOT / "references/tiny-gpt.json"), "title": "Tiny"}]
    code, said = command(hub, write_list(tmp_path, rows), "check", "--bytes")
    positions = safetensors.numpy.load(WORDLESS["model.safetensors"])["wpe.weight"].nbytes
    size = len(PICKLED["pytorch_model.bin"])
    assert code == 0
    for line in (
        f"table: {positions:,} bytes (wpe.weight {positions:,})",
        "rotation: 0 bytes",
        f"pickled: {size} bytes (pytorch_model.bin {size})",
        "tiny: 0 bytes",
    ):
        assert f"{line}\n" in said


def test_a_row_that_cannot_be_opened_is_a_problem(hub: Hub, tmp_path: Path) -> None:
    names = ("atlas/absent", "atlas/moving", "atlas/nowhere")
    path = write_list(tmp_path, [{"hub": name} for name in names])
    code, said = command(hub, path, "check", "--bytes")
    lines = said.splitlines()
    problems = [line for line in lines if line.startswith(("atlas/absent@", "atlas/nowhere@"))]
    assert (code, len(problems), "moving: 0 bytes" in said) == (1, 2, True)
