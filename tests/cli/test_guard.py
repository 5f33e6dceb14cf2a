"""Whatever the system refuses a command, it ends with one sentence and its exit code."""

import ctypes
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from generator import __main__ as program
from generator.checkpoints.files.folder import Folder
from generator.cli import command_records, published
from generator.cli.commands import app
from generator.pipeline import local_pool
from generator.site.history import former_site
from tests import hub_server, inline
from tests.support import save_folder
from tests.synthetic import TABLE, write_folder

if sys.platform != "linux":
    pytest.skip("these limits and devices are those of Linux", allow_module_level=True)

Run = Callable[..., CompletedProcess[str]]
CONFIG = {"model_type": "gpt2", "n_positions": 16, "n_embd": 4, "n_layer": 1, "n_head": 2}
# What a command is given, where X is what cannot be read or written; A is a checkpoint, B one with
# a warning, L a list.
GIVEN = {
    "build": ["--config X --output new", "--config L --output X", "--config L --log X"],
    "inspect": ["X", "X --json", "X --readers", "A --config X", "A --weights X"],
    "lint": ["X", "A X --json", "A X --sarif", "--config X"],
    "compare": ["X A", "A X", "A X --json"],
    "check": ["--config X", "--config X --bytes"],
    "add": ["X --config L", "owner/name --config X"],
    "pin": ["--config X"],
    "diff": ["X X"],
    "summary": ["X"],
    "init": ["X"],
    "schema": ["X"],
    "expected": ["--check X"],
    "serve": [],  # Its builds read the list.
    "models refresh": [],  # It reads no file of a user.
}
# How it is called where its output is lost; O is the output of a build.
PRINTS = {
    "build": ["--config L --output new --offline"],
    "inspect": ["A", "A --json", "A --readers"],
    "lint": ["A --json", "A --sarif", "B", "A --level fact"],
    "compare": ["A A", "A B --json"],
    "check": ["--config L", "--config L --bytes"],
    "add": ["A --config L"],
    "pin": ["--config L"],
    "diff": ["O O", "O O --markdown"],
    "summary": ["O"],
    "init": ["new", "A"],
    "schema": [],  # It prints nothing.
    "expected": ["", "Qwen/Qwen3-8B"],
    "serve": [],  # It prints beside its builds.
    "models refresh": [""],
}
DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2  # By these, root reads what it likes (capability.h).
VERSION_3 = 0x20080522


@contextmanager
def as_others() -> Iterator[None]:
    """This process may read and write as its user may, even if that is root."""
    system, header = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(VERSION_3, 0)
    before, now = (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 6)()
    for held in (before, now):
        assert system.capget(header, held) == 0
    now[0] &= ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH)
    assert system.capset(header, now) == 0
    try:
        yield
    finally:
        assert system.capset(header, before) == 0


def forbidden(folder: Path) -> Path:
    (folder / "a.json").write_text("{}", encoding="utf-8")
    (folder / "a.json").chmod(0)
    return folder / "a.json"


def forbidden_folder(folder: Path) -> Path:
    save_folder(folder / "a", CONFIG).chmod(0)
    return folder / "a"


def forbidden_within(folder: Path) -> Path:
    (save_folder(folder / "a", CONFIG) / "config.json").chmod(0)
    return folder / "a"


def a_folder(folder: Path) -> Path:
    (folder / "a.json").mkdir()
    (folder / "a.json/b").mkdir()
    return folder / "a.json"


def fifo(folder: Path) -> Path:
    os.mkfifo(folder / "a.json")
    return folder / "a.json"


def device(_: Path) -> Path:
    return Path("/dev/zero")


def full(_: Path) -> Path:
    return Path("/dev/full")


def long(folder: Path) -> Path:
    return folder / ("x" * 300 + ".json")


def of_bytes(folder: Path) -> Path:
    path = folder / os.fsdecode(b"\xff\xfe.json")
    path.write_text("[]", encoding="utf-8")
    return path


def circle(folder: Path) -> Path:
    (folder / "a.json").symlink_to("a.json")
    return folder / "a.json"


def circle_within(folder: Path) -> Path:
    (folder / "a").mkdir()
    (folder / "a/config.json").symlink_to("config.json")
    return folder / "a"


def long_shard(folder: Path) -> Path:
    index = {"weight_map": {"wpe.weight": "x" * 300 + ".safetensors"}}
    written = json.dumps(index)
    (save_folder(folder / "a", CONFIG) / "model.safetensors.index.json").write_text(written)
    return folder / "a"


THINGS = (
    forbidden, forbidden_folder, forbidden_within, a_folder, fifo, device, full, long, of_bytes,
    circle, circle_within, long_shard,
)  # fmt: skip
LATER = {full, forbidden_folder, forbidden_within, circle_within, a_folder}
# What is no mistake: a name of any bytes, an output or a log that is a device, settings alone.
TAKEN = {
    (of_bytes, "lint X"), (of_bytes, "lint A X --json"), (of_bytes, "lint A X --sarif"),
    (of_bytes, "schema X"), (device, "schema X"), (device, "build --config L --log X"),
    (long_shard, "inspect X --readers"),
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_folder(folder / "A", TABLE)
    twice = {"rope_theta": 1e6, "rope_parameters": {"rope_theta": 1e4}, "hidden_size": 64}
    save_folder(folder / "B", {"model_type": "llama", "num_attention_heads": 4, **twice})
    (folder / "checkpoints.yml").write_text("checkpoints:\n  - folder: A\n", encoding="utf-8")
    (folder / "O").write_text(json.dumps({"schema": 1, "checkpoints": []}), encoding="utf-8")
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def arguments(name: str, given: str, world: Path, thing: Path | None = None) -> list[str]:
    """The words of a call; names of files are paths of ``world``."""
    words = {letter: str(world / letter) for letter in "ABO"}
    words |= {"L": str(world / "checkpoints.yml"), "X": str(thing)}
    return [*name.split(), *(words.get(word, word) for word in given.split())]


def calls(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, given) for name, every in table.items() for given in every]


def test_the_tables_name_every_command() -> None:
    known = {command.name for command in command_records.commands(app)}
    assert known == GIVEN.keys() == PRINTS.keys()


@pytest.mark.parametrize(
    "thing",
    [pytest.param(thing, marks=[pytest.mark.thorough] * (thing in LATER)) for thing in THINGS],
    ids=lambda thing: thing.__name__,
)
def test_what_the_system_refuses_is_one_sentence(
    thing: Callable[[Path], Path], world: Path, here: Path
) -> None:
    (here / "things").mkdir()
    made = thing(here / "things")
    wrong = []
    with as_others():
        for name, given in calls(GIVEN):
            if (thing, f"{name} {given}") in TAKEN:
                continue
            done = inline.run(*arguments(name, given, world, made), home=here / "home")
            lines = done.stderr.splitlines()
            if done.returncode not in codes(name) or is_none(lines):
                wrong.append((name, given, done.returncode, lines))
    assert not wrong


def codes(name: str) -> tuple[int, ...]:
    """Those of what cannot be read or written; a verdict has another."""
    return (1, 2) if name in {"inspect", "check"} else (2,)


def is_none(lines: Sequence[str]) -> bool:
    """Whether these are no sentences; of several checkpoints, each has one."""
    return not 1 <= len(lines) <= 2 or any("unexpected" in line for line in lines)


def lost(*words: str, stdout: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    """The exit code of a command in this process that prints to ``stdout``, and what it says."""
    stderr = io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["position-atlas", *words])
        patch.setattr(sys, "stdout", stdout)
        patch.setattr(sys, "stderr", stderr)
        with stdout:
            code = program.run(app)
    return code, stderr.getvalue().splitlines()


def onto_full_disk() -> Any:
    return Path("/dev/full").open("w", encoding="utf-8")


def into_broken_pipe() -> Any:
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "w", encoding="utf-8")


def closed() -> Any:
    return program.refusing("stdout")


@pytest.mark.parametrize(
    ("opened", "reason"),
    [
        (onto_full_disk, "No space left on device"),
        (into_broken_pipe, ""),
        (closed, "Bad file descriptor"),
    ],
)
def test_a_command_whose_output_is_lost_ends_with_2_and_says_why_unless_its_reader_left(
    opened: Callable[[], Any], reason: str, world: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published, "_read", lambda *_, **__: ())
    monkeypatch.setattr(local_pool, "processes", inline.processes)
    wrong = []
    with hub_server.client_of(here / "home"), inline.unrendered_pages():
        for name, given in calls(PRINTS):
            if name == "build" and opened is into_broken_pipe:
                continue  # Its result is the site.
            words = arguments(name, given, world)
            code, lines = lost(*words, stdout=opened(), monkeypatch=monkeypatch)
            said = [line.partition(";")[0] for line in lines]
            if code != 2 or said != [f"disk or output: {reason}"] * bool(reason):
                wrong.append((name, given, code, lines))
    assert not wrong


def test_a_file_that_shrinks_while_it_is_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Folder.part

    def shrunk(self: Folder, name: str, start: int, stop: int) -> bytes:
        data = part(self, name, start, stop)
        os.truncate(self.folder / name, start + 1)
        return data

    for name in ("inspect", "lint", "compare"):
        folder = write_folder(tmp_path / name, TABLE)
        with monkeypatch.context() as patch:
            patch.setattr(Folder, "part", shrunk)
            done = run(name, *[folder] * (1 + (name == "compare")))
        assert (done.returncode in codes(name), is_none(done.stderr.splitlines())) == (True, False)


def test_one_that_cannot_be_read_leaves_the_findings_of_others(
    run: Run, world: Path, tmp_path: Path
) -> None:
    other = forbidden(tmp_path)
    reason = f"{other}: Permission denied; expected a file that can be read"
    with as_others():
        done = run("lint", world / "B", other, "--json")
        sarif = json.loads(run("lint", other, world / "B", "--sarif").stdout)["runs"][0]
    told = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (2, f"{reason}\n")
    assert told["unread"] == [{"file": str(other), "reason": reason}]
    assert {one["rule"] for one in told["findings"]} == {one["ruleId"] for one in sarif["results"]}
    assert "two-places" in {one["rule"] for one in told["findings"]}
    [note] = sarif["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == reason


def test_what_no_code_foresaw_is_one_sentence(
    run: Run, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def surprised(_: str) -> None:
        try:
            raise KeyError("x")
        except KeyError as error:
            raise ImportError("several\nlines") from error

    monkeypatch.setattr(former_site, "atlas", surprised)
    done = run("summary", world / "O")
    assert done.returncode == 2
    assert re.fullmatch(
        r"unexpected KeyError at test_guard\.py:\d+: 'x'; expected more memory, or no fault of"
        r" this program or a library\n",
        done.stderr,
    )


def limited(limit: str, *words: str, home: Path) -> CompletedProcess[str]:
    """A command in a process with a limit of the shell."""
    return hub_server.run(
        *words, home=home, before=("/bin/sh", "-c", f'ulimit {limit} && exec "$@"', "sh")
    )


FILES, LITTLE, MUCH = "-n 16", "-v 65536", "-v 1048576"
ALWAYS = {(FILES, "lint A --json"), (LITTLE, "compare A A")}


@pytest.mark.parametrize(
    ("limit", "name", "given"),
    [
        pytest.param(
            *(limit, name, given),
            marks=[pytest.mark.thorough] * ((limit, f"{name} {given}") not in ALWAYS),
        )
        for limit in (FILES, LITTLE, MUCH)
        for name, given in calls(PRINTS)
        if name != "models refresh"
    ],
)
def test_too_few_files_or_too_little_memory_is_one_sentence(
    limit: str, name: str, given: str, world: Path, here: Path
) -> None:
    done = limited(limit, *arguments(name, given, world), home=here / "home")
    lines = done.stderr.splitlines()
    assert (
        (done.returncode, lines) == (0, [])
        or ((done.returncode in {1, 2}) and len(lines) == 1 and "Traceback" not in done.stderr)
        or (name in {"lint", "compare"} and (done.returncode, lines) == (1, []))
    )


def test_streams_that_are_closed_or_full_do_not_end_in_a_traceback(here: Path) -> None:
    for redirection, words, said in (
        (">&-", ["--version"], "disk or output: Bad file descriptor"),
        (">/dev/full", ["lint", "--help"], "disk or output: No space left on device"),
        ("2>/dev/full", ["nonsense"], ""),
        ("<&-", ["lint", "-"], "-: Bad file descriptor; expected a file that can be read"),
    ):
        before = ("/bin/sh", "-c", f'exec "$@" {redirection}', "sh")
        done = hub_server.run(*words, home=here, before=before)
        assert (done.returncode, done.stderr.strip()) == (2, said)
