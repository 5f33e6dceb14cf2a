"""The Hub as a source, against a local server."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from safetensors.numpy import save

from generator.checkpoints.hub import client
from tests import inline
from tests.hub_server import NOBODY, Answer, Repository, Trouble, refusal, run, serving
from tests.synthetic import NOTHING, PICKLED, TABLE, binary, write_list

OLD, NEW = "a" * 40, "b" * 40
UNWANTED = dict.fromkeys(
    ("pytorch_model.bin", "flax_model.msgpack", "onnx/model.onnx", "tf_model.h5", "run.py"),
    b"not asked for",
)  # fmt: skip
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
PLACES = {"wte.weight": SHARDS[0], "wpe.weight": SHARDS[1]}
SHARDED = {
    "config.json": TABLE["config.json"],
    "model.safetensors.index.json": json.dumps({"weight_map": PLACES}).encode(),
    SHARDS[0]: save({"wte.weight": binary(5, 4)}),
    SHARDS[1]: save({"wpe.weight": binary(16, 4)}),
}
# Troubles of a repository, and the message for its row.
NO_REVISION = "no such revision; expected a branch, tag or full commit"
ROW_ERRORS: dict[str, tuple[Trouble | None, str]] = {
    "none": (None, "no such repository; expected a public one, or HF_TOKEN for a private one"),
    "branch": (None, NO_REVISION),
    "commit": (None, NO_REVISION),
    "pickled": (None, "only a pickle (pytorch_model.bin or another torch file), which is"),
    "gated": (Trouble(refusal(401, "GatedRepo"), "models/atlas/gated/"), "gated; expected access"),
    "gated-files": (Trouble(refusal(403, "GatedRepo"), "gated-files/res"), "config.json: gated"),
    "bad-token": (Trouble(refusal(401), "models/atlas/bad-token"), "Hub answered 401; expected"),
    "no-rights": (Trouble(refusal(403), "no-rights/resolve"), "config.json: the Hub answered 403"),
    "error": (Trouble(refusal(500), "error/resolve"), "config.json: the Hub answered 500"),
    "portal": (Trouble(Answer(body=b"<html>"), "models/atlas/portal"), "answer is invalid ("),
    "down": (Trouble(refusal(500), "models/atlas/down"), "the Hub answered 500; expected"),
    "busy": (Trouble(refusal(429, Retry_After="3600"), "models/atlas/busy"), "a pause of 3,600"),
    "lost": (Trouble(Answer(None), "models/atlas/lost"), "broke off (RemoteProtocolError)"),
}
LATER = {**TABLE, **UNWANTED}
READABLE = {
    "atlas/table": Repository({OLD: TABLE, NEW: LATER}, {"main": NEW, "former": OLD}),
    "atlas/sharded": Repository({OLD: SHARDED}, {"main": OLD}),
    # Quick to build: there is nothing to draw.
    "atlas/plain": Repository({OLD: NOTHING}, {"main": OLD}),
}
REPOSITORIES = {
    **{
        f"atlas/{case}": Repository({OLD: PICKLED if case == "pickled" else TABLE}, {"main": OLD})
        for case in ROW_ERRORS
        if case != "none"
    },
    **READABLE,
}
Run = Callable[..., CompletedProcess[str]]
TOKEN = "hf_" + "ThisTokenIsNobodys"
REVISIONS = {"branch": "step9", "commit": "c" * 40}
ROWS = [
    {"hub": f"atlas/{case}", **({"revision": REVISIONS[case]} if case in REVISIONS else {})}
    for case in ROW_ERRORS
]
PINNED = [{"hub": f"atlas/{name}", "revision": OLD} for name in ("table", "sharded", "pickled")]


@dataclass(frozen=True)
class Built:
    """A finished build: its output, and rows of atlas.json by slug."""

    done: CompletedProcess[str]
    output: Path

    @property
    def rows(self) -> dict[str, dict[str, object]]:
        document = json.loads((self.output / "site/data/atlas.json").read_text(encoding="utf-8"))
        return {row["slug"]: row for row in document["checkpoints"]}


def build(
    folder: Path,
    rows: list[dict[str, str]],
    *options: str,
    run: Run = inline.run,
    endpoint: str = NOBODY,
    **environment: str,
) -> Built:
    command = ["build", "--config", str(write_list(folder, rows)), "--output", str(folder / "out")]
    done = run(*command, *options, home=folder / "hub", endpoint=endpoint, **environment)
    return Built(done, folder / "out")


@pytest.fixture(autouse=True, scope="module")
def short_builds() -> Iterator[None]:
    """Retries without waits, in the usual number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "WAITS", (0.01,) * len(client.WAITS))
        yield


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """One readable repository, and one for each kind of failure."""
    with serving(REPOSITORIES, *(trouble for trouble, _ in ROW_ERRORS.values() if trouble)) as hub:
        rows, folder = [{"hub": "atlas/plain"}, *ROWS], tmp_path_factory.mktemp("published")
        return build(folder, rows, endpoint=hub.endpoint, HF_TOKEN=TOKEN)


@pytest.mark.parametrize(
    ("source", "commit"),
    [("atlas/table", NEW), ("atlas/table@former", OLD), (f"atlas/table@{OLD}", OLD)],
)
def test_a_revision_is_resolved_to_its_commit_and_needed_files_come_from_it(
    source: str, commit: str, tmp_path: Path
) -> None:
    with serving(READABLE) as hub:
        done = inline.run("inspect", source, "--json", home=tmp_path, endpoint=hub.endpoint)
    report = json.loads(done.stdout)
    assert (report["revision"], report["encodings"][0]["tensor"]) == (commit, "wpe.weight")
    assert all(commit in request.path for request in hub.log if "/resolve/" in request.path)
    assert hub.downloads() == ["config.json", "model.safetensors"]


def test_shards_are_downloaded_and_read(tmp_path: Path) -> None:
    with serving(READABLE) as hub:
        asked = ("inspect", "atlas/sharded", "--json")
        done = inline.run(*asked, home=tmp_path, endpoint=hub.endpoint)
    [encoding] = json.loads(done.stdout)["encodings"]
    assert encoding["tensor"] == "wpe.weight"


def test_the_error_of_a_row_is_one_sentence(published: Built) -> None:
    for case, (_, message) in ROW_ERRORS.items():
        row = published.rows[f"atlas-{case}"]
        assert row["status"] == "failed", case
        assert str(row["reason"]).startswith(f"atlas/{case}@")
        assert message in str(row["reason"])


def test_failed_rows_have_a_page_and_do_not_remove_others(published: Built) -> None:
    page = (published.output / "docs/checkpoints/atlas-none.md").read_text(encoding="utf-8")
    assert "no such repository" in page
    assert published.done.returncode == 1
    assert published.rows["atlas-plain"]["status"] == "ok"
    assert "Traceback" not in published.done.stdout + published.done.stderr


def test_an_invalid_id_is_not_requested(tmp_path: Path) -> None:
    with serving(READABLE) as hub:
        done = inline.run("inspect", "atlas/table/../more", home=tmp_path, endpoint=hub.endpoint)
    assert done.stderr.strip() == (
        "no folder or file 'atlas/table/../more', so it was looked for on the Hub:"
        " atlas/table/../more@main: not a Hub id; expected 'owner/name'"
    )
    assert [request.method for request in hub.log] == ["HEAD"]


def test_a_token_is_sent_and_never_printed(tmp_path: Path) -> None:
    refused = Trouble(refusal(403, "GatedRepo", "Not for this token"), "/resolve/")
    with serving(READABLE, refused) as hub:
        done = run("inspect", "atlas/table", home=tmp_path, endpoint=hub.endpoint, HF_TOKEN=TOKEN)
    assert any(request.token == f"Bearer {TOKEN}" for request in hub.log)
    assert TOKEN not in done.stdout + done.stderr


def test_a_token_is_in_no_file_of_the_site(published: Built) -> None:
    written = [path for path in published.output.rglob("*") if path.is_file()]
    assert not [path.name for path in written if TOKEN.encode() in path.read_bytes()]


def test_a_failing_hub_gets_a_bounded_number_of_requests(tmp_path: Path) -> None:
    with serving(READABLE, Trouble(refusal(503, Retry_After="0"), "/revision/")) as hub:
        done = inline.run("inspect", "atlas/table", home=tmp_path, endpoint=hub.endpoint)
    assert "the Hub answered 503" in done.stderr
    # Before the run, and when the row is opened.
    assert sum("/revision/" in request.path for request in hub.log) == 2 * (1 + len(client.WAITS))


def test_an_unreachable_hub_leaves_rows_not_reached_which_fails_when_strict(tmp_path: Path) -> None:
    built = build(tmp_path, PINNED)
    assert (built.done.returncode, built.done.stderr) == (0, "")
    assert {row["status"] for row in built.rows.values()} == {"not reached"}
    # Each is told as it ends, and at the end.
    assert built.done.stdout.count(client.UNREACHED) == 2 * len(PINNED)
    assert build(tmp_path, PINNED, "--strict").done.returncode == 1


def test_inspect_reports_an_unreachable_hub_at_once(tmp_path: Path) -> None:
    done = inline.run("inspect", f"atlas/table@{OLD}", home=tmp_path)
    assert done.returncode == 1
    assert done.stderr.strip() == f"atlas/table@{OLD}: {client.UNREACHED}"


def test_offline_builds_read_the_cache_and_send_no_request(tmp_path: Path) -> None:
    with serving(READABLE) as hub:
        inline.run("inspect", "atlas/plain", home=tmp_path / "hub", endpoint=hub.endpoint)
        hub.log.clear()
        rows = [{"hub": "atlas/plain"}, {"hub": "atlas/sharded"}]
        built = build(tmp_path, rows, "--offline", endpoint=hub.endpoint)
    statuses = {slug: (row["status"], row["revision"]) for slug, row in built.rows.items()}
    assert statuses == {"atlas-plain": ("ok", OLD), "atlas-sharded": ("not reached", None)}
    assert hub.log == []


# Unusable settings of the environment, and what their message names.
SETTINGS = {
    "no host": ({"endpoint": "http://[::1"}, "Invalid IPv6 URL"),
    "no scheme": ({"endpoint": "localhost"}, "HF_ENDPOINT is"),
    "a proxy without a port": ({"HTTPS_PROXY": "http://localhost:x"}, ""),
    "no port": ({"endpoint": "http://localhost:99999"}, "Port out of range"),
    "another kind of proxy": (
        {"ALL_PROXY": "gopher://127.0.0.1:9"},
        "Unknown scheme for proxy URL",
    ),
    "no token": ({"HF_TOKEN": "hf_é"}, "'ascii' codec"),
    "no certificates": ({"SSL_CERT_FILE": "/no/such/file"}, "[Errno 2]"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_unusable_settings_are_refused_in_one_line(case: str, tmp_path: Path) -> None:
    settings, cause = SETTINGS[case]
    done = run("inspect", "atlas/table", home=tmp_path, **settings)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert f"the Hub's client cannot start ({cause}" in done.stderr


def test_an_invalid_address_is_refused_offline_too(tmp_path: Path) -> None:
    built = build(tmp_path, [{"hub": "atlas/plain"}], "--offline", run=run, endpoint="http://[::1")
    assert (built.done.returncode, (built.output / "site").exists()) == (2, False)
