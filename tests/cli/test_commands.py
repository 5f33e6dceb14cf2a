"""The commands: their output, their files and their exit codes."""

import codecs
import json
import pickle
import re
import shutil
import socket
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import typer
from mkdocs import livereload
from typer.testing import CliRunner, Result

from generator.__main__ import PLAIN, plainly
from generator.cli.application import GROUP_OF, GROUPS, reporting_errors
from generator.cli.commands import app
from generator.cli.progress import STAGES, Build, reporting
from generator.cli.serving import for_this_machine, not_found
from generator.cli.terminal import Terminal
from generator.errors import RefusedError
from generator.pipeline import local_pool
from generator.pipeline.jobs import Event, JobStage, Models
from generator.reading.find import all_schemes
from tests import inline
from tests.built import ROOT, contents
from tests.hub_server import Repository, run, serving
from tests.support import Planted
from tests.synthetic import (
    BROKEN,
    NOTHING,
    PICKLED,
    ROTATION,
    WORDLESS,
    Contents,
    write_folder,
    write_list,
)

# It is a group of commands.
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
PUBLIC = sorted(name for name, command in COMMANDS.items() if not command.hidden)
FOLDERS: Mapping[str, Contents] = {
    "table": WORDLESS, "rotation": ROTATION, "nothing": NOTHING, "broken": BROKEN,
}  # fmt: skip
# A limit on the size of files, which fails like a full disk.
FULL_DISK = ("/bin/sh", "-c", 'ulimit -f 100; exec "$@"', "sh")


@dataclass(frozen=True)
class World:
    """A finished build of the folders above and of one row on the Hub that no server answers."""

    folder: Path
    done: CompletedProcess[str]

    @property
    def rows(self) -> dict[str, Any]:
        document = json.loads(
            (self.folder / "out/site/data/atlas.json").read_text(encoding="utf-8")
        )
        return {row["slug"]: row for row in document["checkpoints"]}


def build(folder: Path, *options: str, **settings: Any) -> CompletedProcess[str]:
    """A build in processes of its own."""
    command = ("build", "--config", str(folder / "checkpoints.yml"), "--jobs", "2")
    output = ("--output", str(folder / "out"))
    return run(*command, *output, *options, home=folder / "hub", **settings)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    for name, files in FOLDERS.items():
        write_folder(folder / name, files)
    write_list(folder, [*({"folder": name} for name in FOLDERS), {"hub": "atlas/none"}])
    return World(folder, inline.build(folder))


@pytest.fixture
def here(world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of ``world``, as the working directory."""
    monkeypatch.chdir(world.folder)
    return world.folder


def invoke(*arguments: str) -> Result:
    """Run a command in this process and no other; exceptions that it does not handle are raised
    here.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_pool, "processes", lambda *_, **__: nullcontext(inline.Inline()))
        return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_every_command_and_every_option_has_help() -> None:
    for name, command in COMMANDS.items():
        done = invoke(name, "--help")
        assert done.exit_code == 0
        assert command.help.split(".")[0][:40] in done.output
        assert [one.name for one in command.params if one.name != "help" and not one.help] == []
    shown = " ".join(invoke("--help").stdout.split())
    assert [name for name in PUBLIC if f" {name} " not in shown] == []
    grouped = [word for title, names in GROUPS.items() for word in (f"─ {title} ─", *names)]
    places = [shown.index(word if "─" in word else f"│ {word} ") for word in grouped]
    assert places == sorted(places)
    assert {*PUBLIC} == {*GROUP_OF}
    assert "Exit codes, unless a command says otherwise: 0 done;" in shown
    assert invoke("--version").stdout == f"position-atlas {version('position-atlas')}\n"


def test_the_readme_names_no_command_that_does_not_exist() -> None:
    commands = re.findall(
        r"(?:python -m generator|position-atlas) ([a-z]+)",
        (ROOT / "README.md").read_text(encoding="utf-8"),
    )
    assert set(commands) <= set(COMMANDS)


def test_a_mistyped_command_ends_with_2() -> None:
    mistyped = (["bild"], ["build", "--outptu", "x"], ["build", "--jobs", "0"], ["inspect"])
    assert [invoke(*arguments).exit_code for arguments in mistyped] == [2] * 4


def test_a_log_has_an_object_for_each_event_and_ends_with_the_stages_and_the_summary(
    world: World, tmp_path: Path
) -> None:
    """Of the same build again, after its pages were deleted."""
    shutil.rmtree(world.folder / "out/docs")
    done = inline.build(world.folder, "--log", str(tmp_path / "log"))
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    finished = {event["slug"]: event for event in events if event["event"] == "finished"}
    statuses = {slug: row["status"] for slug, row in world.rows.items()}
    assert {slug: event["status"] for slug, event in finished.items()} == statuses
    stored = {slug for slug, event in finished.items() if event["stored"]}
    assert stored == {"nothing", "rotation", "table"}
    assert [event.get("name") for event in events[-4:]] == ["comparisons", "pages", "mkdocs", None]
    last = {key: value for key, value in events[-1].items() if key not in ("second", "seconds")}
    counts = {"built": 3, "stale": 0, "failed": 1, "not_reached": 1, "stored": 3}
    assert last == {"event": "summary", **counts, "unchanged": False, "received": 0}
    assert done.stdout.splitlines()[-1].endswith(
        f"(3 from the store, 0 bytes of files read over the network, {events[-1]['seconds']:.1f} s)"
    )


def test_a_summary_counts_the_bytes_of_files_and_a_branch_is_resolved_once(tmp_path: Path) -> None:
    write_list(tmp_path, [{"hub": "atlas/plain"}])
    repositories = {"atlas/plain": Repository({"a" * 40: NOTHING}, {"main": "a" * 40})}
    with serving(repositories) as hub:
        done = build(tmp_path, "--log", str(tmp_path / "log"), endpoint=hub.endpoint)
    n_bytes = len(NOTHING["config.json"])
    last = (tmp_path / "log").read_text(encoding="utf-8").splitlines()[-1]
    assert json.loads(last)["received"] == n_bytes < hub.sent
    assert f", {n_bytes} bytes of files read over the network, " in done.stdout
    with serving(repositories) as hub:
        home = tmp_path / "other"
        done = inline.run("inspect", "atlas/plain", home=home, endpoint=hub.endpoint)
    assert done.returncode == 0, done.stderr
    asked = [request.path for request in hub.log if "/revision/" in request.path]
    assert asked == ["/api/models/atlas/plain/revision/main"]


def test_a_file_that_is_no_log_is_left_as_it_was(here: Path) -> None:
    Path("notes").write_text("checkpoints:", encoding="utf-8")
    done = invoke("build", "--offline", "--output", "out", "--log", "notes")
    assert (done.exit_code, Path("notes").read_text(encoding="utf-8")) == (2, "checkpoints:")
    assert "not a log" in done.stderr


def test_a_log_that_cannot_be_written_ends_with_2(here: Path) -> None:
    done = invoke("build", "--offline", "--output", "out", "--log", "none/events.jsonl")
    assert done.exit_code == 2
    assert done.stderr.startswith("none/events.jsonl: No such file or directory")


def test_a_terminal_shows_a_bar_with_the_stages_and_the_lines(tmp_path: Path) -> None:
    console = Terminal(file=StringIO(), force_terminal=True, width=100)
    end = Event("finished", "first", status="ok", encodings=1, stored=True, received=2_000_000)
    with reporting(console, 2, None, Build(tmp_path / "index.html", 2)) as reporter:
        reporter.report(Event("started", "first"))
        assert reporter.in_progress == ["first"]
        reporter.report(end)
        reporter.report(JobStage("pages"))
        assert reporter.bar is not None
        assert reporter.bar.tasks[-1].description == STAGES["pages"]
        reporter.report(Models(1, 7, 300.0))
        reporter.report(Event("started", "first", "order"))
        assert reporter.bar.tasks[-1].description == "first, order"
        reporter.report(Event("finished", "first", "order", "ok", "no weights", seconds=9.0))
        reporter.report(Event("finished", "second", status="ok", unmeasured=1))
        reporter.report(Event("finished", "first", "pairs", "ok", inapplicable="no rotation"))
    # It is a StringIO.
    printed: Any = console.file
    assert "ok  first: 1 encoding, from the store" in printed.getvalue()
    assert "index.html; 1 model is still being measured, about 2 minutes" in printed.getvalue()
    assert "1 scheme; its numbers are in weights" in printed.getvalue()
    assert "ok  first, pairs: no rotation" in printed.getvalue()
    lacking, said = reporter.close({"ok": 1})
    assert lacking == "    missing  first: no weights"
    assert "(1 from the store, 2.0 MB of files read over the network" in said


def test_a_row_that_fails_ends_with_1_and_the_others_are_built(world: World) -> None:
    assert (world.done.returncode, world.done.stderr) == (1, "")
    others = {"atlas-none": "not reached", "broken": "failed"}
    statuses = dict.fromkeys(("nothing", "rotation", "table"), "ok") | others
    assert {slug: row["status"] for slug, row in world.rows.items()} == statuses
    pages = {path.stem for path in (world.folder / "out/site/checkpoints").glob("*.md")}
    assert pages == {*world.rows, "index"}
    # Every row and stage has one line; then what is missing, and a line that counts all.
    lines = world.done.stdout.splitlines()
    *_, atlas_none, broken, last = lines
    assert lines[-6:-3] == [f"{'':>11}  {stage}" for stage in STAGES.values()]
    assert atlas_none.startswith("    missing  atlas-none: ")
    assert broken.startswith("    missing  broken: ")
    assert len(lines) == len(world.rows) + len(STAGES) + 3
    assert last.startswith("3 built, 1 failed, 1 not reached: ")
    assert "failed  broken: broken/config.json: not JSON" in world.done.stdout


@pytest.mark.usefixtures("here")
def test_inspect_prints_the_row_of_atlas_json_without_metrics_and_arrays(world: World) -> None:
    for name in ("table", "rotation", "nothing"):
        row = world.rows[name]
        bare = [
            {key: value for key, value in encoding.items() if key not in ("metrics", "arrays")}
            for encoding in row["encodings"]
        ]
        assert json.loads(invoke("inspect", name, "--json").output) == {**row, "encodings": bare}


def test_inspect_of_an_unknown_model_lists_what_it_looked_for(here: Path) -> None:
    done = invoke("inspect", "nothing")
    assert done.exit_code == 0
    output = " ".join(done.output.split())
    assert output.startswith("nothing ? No weights were read")
    assert "Nothing recognised. Looked for:" in output
    assert all(scheme.looked_for in output for scheme in all_schemes())


def _place(folder: Path, bad: str) -> str:
    """A place by this name that nothing can be read from."""
    if bad == "only a pickle":
        write_folder(folder / bad, PICKLED)
    elif bad in ("nothing in it", "a link out"):
        (folder / bad).mkdir()
    if bad == "a link out":
        (folder / bad / "config.json").symlink_to(ROOT / "README.md")
    return bad


BAD_PLACES = {
    "nothing in it": "nothing in it: no config.json",
    "a link out": "a link out/config.json: a link that leads out of the folder",
    "only a pickle": "only a pickle: only a pickle",
    "./none": "no such folder",
    "/dev/null": "not a folder",
    "./" + "x" * 300: "long",
}


def test_inspect_reports_a_bad_place_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for bad, message in BAD_PLACES.items():
        done = invoke("inspect", _place(tmp_path, bad))
        assert (done.exit_code != 0, done.stdout, done.stderr.count("\n")) == (True, "", 1), bad
        assert message in done.stderr, bad


def test_a_malicious_pickle_is_not_executed(tmp_path: Path) -> None:
    planted = pickle.dumps({"wpe.weight": Planted(tmp_path / "trace")})
    write_folder(tmp_path, {**PICKLED, "pytorch_model.bin": planted})
    done = invoke("inspect", str(tmp_path), "--pickle")
    assert done.exit_code == 1
    assert "expected tensors alone" in done.stderr
    assert not (tmp_path / "trace").exists()


def test_characters_that_a_terminal_cannot_show_are_in_ascii(world: World) -> None:
    done = run(
        "inspect", str(world.folder / "table"), home=world.folder / "hub", PYTHONIOENCODING="ascii"
    )
    assert done.returncode == 0, done.stderr
    assert " x " in done.stdout
    codecs.register_error(PLAIN, plainly)
    assert "“é” → 2 × 3".encode("ascii", PLAIN) == b'"\\xe9" -> 2 x 3'


def test_a_bad_list_ends_with_2_and_one_line_per_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_list(tmp_path, [{"hub": "../x"}, {"folder": "x", "revison": "main"}])
    for command in ("check", "build"):
        done = invoke(command)
        assert (done.exit_code, done.stdout) == (2, "")
        assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["checkpoints.yml"] * 2
        assert [path.name for path in tmp_path.iterdir()] == ["checkpoints.yml"]


def test_a_build_into_an_unsuitable_folder_ends_with_2_and_changes_nothing(here: Path) -> None:
    before = contents(here)
    for output in ("/", ".", "table", "checkpoints.yml"):
        done = invoke("build", "--offline", "--output", output)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert contents(here) == before


def test_a_full_disk_gets_one_line_and_leaves_the_previous_site(tmp_path: Path) -> None:
    write_folder(tmp_path / "nothing", NOTHING)
    write_list(tmp_path, [{"folder": "nothing"}])
    assert inline.build(tmp_path).returncode == 0
    before = contents(tmp_path / "out/site")
    write_list(tmp_path, [{"folder": "nothing", "title": "Renamed"}])
    done = build(tmp_path, before=FULL_DISK)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "File too large" in done.stderr
    assert contents(tmp_path / "out/site") == before


def test_a_site_on_a_port_in_use_is_refused_before_it_is_built(here: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = str(occupied.getsockname()[1])
        done = invoke("serve", "--output", "served", "--port", port)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"--port {port}: Address already in use")
    assert not (here / "served").exists()


def test_one_row_alone_is_built_into_a_site_that_stands(tmp_path: Path) -> None:
    for name in ("table", "rotation", "nothing"):
        write_folder(tmp_path / name, FOLDERS[name])
    write_list(tmp_path, [{"folder": "table"}, {"folder": "rotation"}])
    assert inline.build(tmp_path).returncode == 0
    write_folder(tmp_path / "rotation", NOTHING)  # As if somebody were at work there.
    write_list(tmp_path, [{"folder": "table"}, {"folder": "rotation"}, {"folder": "nothing"}])
    done = inline.build(tmp_path, "--only", "nothing")
    assert done.returncode == 0, done.stderr
    assert "changed  row added: nothing\n" in done.stdout
    rows = World(tmp_path, done).rows
    assert [rows[name]["status"] for name in ("table", "rotation", "nothing")] == ["ok"] * 3
    assert rows["rotation"]["stale"] == "left out of a build of nothing"
    assert len(rows["rotation"]["encodings"]) == 1


def test_check_counts_the_rows_of_a_list_and_a_command_writes_the_schema(here: Path) -> None:
    done = invoke("check")
    assert (done.exit_code, "5 checkpoints, no problem found" in done.output) == (0, True)
    assert invoke("schema", "schema.json").exit_code == 0
    ours = (ROOT / "checkpoints.schema.json").read_bytes()
    assert (here / "schema.json").read_bytes() == ours


def test_a_row_that_cannot_be_built_alone_is_refused(here: Path) -> None:
    for options, reason in (
        (("--only", "tabel"), "expected one (did you mean 'table'?)\n"),
        (("--only", "table", "--fresh"), "found --fresh too; expected one of the two\n"),
    ):
        done = invoke("build", "--offline", *options)
        assert (done.exit_code, done.stderr.startswith(f"--only {options[1]}: ")) == (2, True)
        assert done.stderr.endswith(reason)


@pytest.mark.parametrize(
    ("error", "said"), [(MemoryError, "memory: "), (BrokenExecutor, "no process could start; ")]
)
def test_too_little_memory_ends_with_2_and_one_line(
    error: type[Exception], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended, reporting_errors("; the last site remains"):
        raise error
    assert ended.value.exit_code == 2
    written = capsys.readouterr().err
    assert (written.startswith(said), written.count("\n")) == (True, 1)


def test_a_site_is_served_at_the_address_of_this_machine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}

    def server(**settings: Any) -> None:
        told.update(settings)
        raise RefusedError("no server")

    monkeypatch.setattr(livereload, "LiveReloadServer", server)
    for replaced in ("commands.subprocess.run", "serving.require_free"):
        monkeypatch.setattr(f"generator.cli.{replaced}", lambda *_, **__: None)
    done = invoke("serve", "--config", str(write_list(tmp_path, [])), "--output", str(tmp_path))
    assert (done.stderr, told["host"]) == ("no server\n", "127.0.0.1")


def test_a_site_that_is_served_has_its_own_page_for_what_isnot_found(tmp_path: Path) -> None:
    assert not_found(tmp_path, 404) is None
    write_folder(tmp_path, {"404.html": b"<p>Not here</p>"})
    assert not_found(tmp_path, 404) == b"<p>Not here</p>"


@pytest.mark.parametrize(
    ("host", "path", "status"),
    [
        ("localhost:8000", "/", "200 OK"), ("127.0.0.1:8000", "/", "200 OK"),
        ("[::1]:8000", "/", "200 OK"), ("evil.example:8000", "/", "400 Bad Request"),
        ("[", "/", "400 Bad Request"), ("localhost:8000", "/a\0b", "400 Bad Request"),
    ],
)  # fmt: skip
def test_a_site_is_served_under_the_names_of_this_machine_alone(
    host: str, path: str, status: str
) -> None:
    def app(_: object, start: Any) -> list[bytes]:
        start("200 OK", [])
        return [b"page"]

    told: list[str] = []
    request = {"HTTP_HOST": host, "PATH_INFO": path}
    body = for_this_machine(app)(request, lambda status, _: told.append(status))
    assert told == [status]
    assert (list(body) == [b"page"]) is (status == "200 OK")
