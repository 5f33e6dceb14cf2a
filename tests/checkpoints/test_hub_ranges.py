"""Reading from the Hub by range, its cache, and answers that do not fit."""

import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save

from generator.checkpoints.hub import client, repository, revisions
from generator.checkpoints.hub.repository import Repository as HubFiles
from generator.checkpoints.hub.revisions import Listing
from generator.errors import RowError
from tests import inline
from tests.hub_server import Answer, Hub, Repository, Trouble, client_of, refusal, serving
from tests.support import flowing
from tests.synthetic import NOTHING, PICKLED, ROTATION, WORDS, binary, write_folder, write_list

COMMIT, TOKEN = "a" * 40, "hf_" + "ThisTokenIsNobodys"
N_WORDS, WIDTH, N_POSITIONS = 40_000, 64, 16
TABLES = {"wpe.weight": binary(N_POSITIONS, WIDTH), "wte.weight": np.ones((N_WORDS, WIDTH))}
WEIGHTS = save({name: table.astype("f4") for name, table in TABLES.items()})
CONFIG = {
    "model_type": "gpt2", "n_positions": N_POSITIONS, "n_embd": WIDTH, "n_layer": 1, "n_head": 2,
}  # fmt: skip
FILES = {
    "config.json": json.dumps(CONFIG).encode(),
    "model.safetensors": WEIGHTS,
    "vocab.txt": "\n".join(WORDS).encode(),
}
LARGE = Repository({COMMIT: FILES}, {"main": COMMIT})
HUB = {
    "atlas/large": LARGE,
    "moved/large": LARGE,
    "atlas/pickled": Repository({COMMIT: PICKLED}, {"main": COMMIT}),
}
ROW = {"hub": "atlas/large", "revision": COMMIT, "sentence": "one two three"}
SHARDS = [f"model-{n:05}-of-00040.safetensors" for n in range(40)]
NAMES = [f"model.layers.{n}.self_attn.q_proj.weight" for n in range(40)]
PLACES = dict(zip(NAMES, SHARDS, strict=True))
SHARDED = {
    **ROTATION,
    "model.safetensors.index.json": json.dumps({"weight_map": PLACES}).encode(),
    **{shard: save({name: np.ones((16, 16), dtype="f4")}) for name, shard in PLACES.items()},
}
NEVER = 1e9  # seconds: a deadline that no test reaches


def build(
    folder: Path, hub: Hub, *options: str, row: Mapping[str, object] = ROW
) -> CompletedProcess[str]:
    listed, output = write_list(folder, [row]), str(folder / "out")
    command = ["build", "--config", str(listed), "--output", output, *options]
    return inline.run(*command, home=folder / "hub", endpoint=hub.endpoint)


def inspect(
    home: Path, hub: Hub, *options: str, name: str = f"atlas/large@{COMMIT}", **environment: Any
) -> CompletedProcess[str]:
    return inline.run("inspect", name, *options, home=home, endpoint=hub.endpoint, **environment)


def forget_outcomes(output: Path) -> None:
    """Delete the results of earlier builds."""
    (output / ".last-build").unlink()
    for outcome in (output / "store").glob("*.outcome"):
        outcome.unlink()


def spans(hub: Hub) -> list[tuple[int, int]]:
    """The requested ranges of the weights, sorted."""
    ranges = [
        str(request.span).removeprefix("bytes=").split("-")
        for request in hub.log
        if request.path.endswith("model.safetensors")
    ]
    return sorted((int(first), int(last) + 1) for first, last in ranges)


@pytest.fixture(autouse=True, scope="module")
def short_builds() -> Iterator[None]:
    """Retries without waits, in the usual number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "WAITS", (0.01,) * len(client.WAITS))
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Hub]:
    """A build of one checkpoint of 10 MB, and its Hub."""
    folder = tmp_path_factory.mktemp("built")
    with serving(HUB) as hub:
        done = build(folder, hub)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, hub


def test_only_the_beginning_of_the_weights_and_the_rows_of_words_are_requested(
    built: tuple[Path, Hub],
) -> None:
    start = len(WEIGHTS) - N_WORDS * WIDTH * 4  # of the word table, which comes last
    rows = [start + WORDS.index(word) * WIDTH * 4 for word in WORDS]
    assert spans(built[1]) == [(0, 2**15)]
    assert all(row + WIDTH * 4 <= 2**15 for row in rows)
    assert built[1].sent < len(WEIGHTS) / 100


def test_a_rotation_whose_weights_are_in_many_files_needs_their_index_alone(tmp_path: Path) -> None:
    with serving({"atlas/sharded": Repository({COMMIT: SHARDED}, {"main": COMMIT})}) as hub:
        done = build(tmp_path, hub, row={"hub": "atlas/sharded", "revision": COMMIT})
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [request.path for request in hub.log if request.path.endswith(".safetensors")]
    docs = tmp_path / "out/docs"
    page = (docs / "checkpoints/atlas-sharded.md").read_text(encoding="utf-8")
    layout = (docs / "data/atlas-sharded/layout.csv").read_text(encoding="utf-8").splitlines()
    assert "rotary" in page
    assert "only the headers that were needed" in flowing(page)
    assert layout[1:] == ["model.layers.#.self_attn.q_proj.weight,,,40"]


def test_a_cached_commit_is_not_requested_again_and_builds_offline(built: tuple[Path, Hub]) -> None:
    folder, _ = built
    for options, methods in (([], ["HEAD"]), (["--offline"], [])):
        forget_outcomes(folder / "out")
        with serving(HUB) as hub:
            done = build(folder, hub, *options)
        assert (done.returncode, "(0 from the store" in done.stdout) == (0, True)
        assert [request.method for request in hub.log] == methods


def test_a_branch_is_evaluated_again_only_after_a_new_commit(tmp_path: Path) -> None:
    later, outputs = "b" * 40, []
    for commit in (COMMIT, COMMIT, later):
        with serving({"atlas/plain": Repository({commit: NOTHING}, {"main": commit})}) as hub:
            outputs.append(build(tmp_path, hub, row={"hub": "atlas/plain"}).stdout)
    assert ["nothing has changed" in lines for lines in outputs] == [False, True, False]
    assert later in (tmp_path / "out/site/data/atlas.json").read_text(encoding="utf-8")


def test_every_row_beyond_the_beginning_is_one_range(tmp_path: Path) -> None:
    with serving(HUB) as hub:
        build(tmp_path, hub, row={**ROW, "sentence": [39_000, 39_001, 39_000]})
    start = len(WEIGHTS) - N_WORDS * WIDTH * 4
    assert spans(hub)[1:] == [
        (start + row * WIDTH * 4, start + (row + 1) * WIDTH * 4) for row in (39_000, 39_001)
    ]


def test_files_in_the_cache_of_the_client_are_read_there(tmp_path: Path) -> None:
    stored = tmp_path / "hub/models--atlas--large"
    write_folder(stored / "snapshots" / COMMIT, FILES)
    write_folder(stored / "refs", {"main": COMMIT.encode()})
    done = inline.run("inspect", "atlas/large", "--json", home=tmp_path)
    assert json.loads(done.stdout)["revision"] == COMMIT
    for broken in (b"", bytes(40), b"\xff" * 40):
        write_folder(stored / "refs", {"main": broken})
        done = inline.run("inspect", "atlas/large", home=tmp_path)
        assert done.returncode == 1
        assert done.stderr.endswith(
            f"looked for on the Hub: atlas/large@main: {client.UNREACHED}\n"
        )


# Files in the cache of the client, and whether they suffice to read the checkpoint without the Hub.
SNAPSHOTS = {
    "what a tokenizer needs": (["config.json", "vocab.txt"], False),
    "weights": (["config.json", "model.safetensors"], True),
    "one shard of two": (["config.json", "model.safetensors.index.json", "one.safetensors"], False),
}
INDEX = json.dumps({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}).encode()


@pytest.mark.parametrize("case", SNAPSHOTS)
def test_the_cache_of_the_client_suffices_only_with_the_weights(case: str, tmp_path: Path) -> None:
    names, is_enough = SNAPSHOTS[case]
    every = {**FILES, "model.safetensors.index.json": INDEX, "one.safetensors": WEIGHTS}
    snapshot = tmp_path / "hub/models--atlas--large/snapshots" / COMMIT
    write_folder(snapshot, {name: every[name] for name in names})
    done = inline.run("inspect", f"atlas/large@{COMMIT}", home=tmp_path)
    assert (done.returncode == 0) == is_enough
    assert (client.UNREACHED in done.stderr) != is_enough


def test_results_from_the_cache_of_the_client_are_replaced_when_the_hub_answers(
    tmp_path: Path,
) -> None:
    weights = save({"other": np.ones((2, 2))})
    cached = {"config.json": NOTHING["config.json"], "model.safetensors": weights}
    write_folder(tmp_path / "hub/hub/models--atlas--large/snapshots" / COMMIT, cached)
    files = {**cached, "vocab.txt": FILES["vocab.txt"]}
    with serving({"atlas/large": Repository({COMMIT: files}, {"main": COMMIT})}) as hub:
        each: tuple[list[str], ...] = (["--offline"], ["--offline"], [], [])
        outputs = [build(tmp_path, hub, *options).stdout for options in each]
    assert ["nothing has changed" in lines for lines in outputs] == [False, True, False, True]


def test_a_pickle_that_the_row_allows_is_downloaded_once_and_again_if_damaged(
    tmp_path: Path,
) -> None:
    downloads, errors = ["config.json", "pytorch_model.bin"], []
    with serving(HUB) as hub:
        for number in range(3):
            errors.append(inspect(tmp_path, hub, "--pickle", name="atlas/pickled").stderr)
            [blob] = tmp_path.rglob("pytorch_model.bin.file")
            if number == 1:
                assert hub.downloads() == downloads
                blob.write_bytes(b"cut")
    assert hub.downloads() == [*downloads, "pytorch_model.bin"]
    assert "torch cannot load it with weights_only" in errors[0]
    assert errors[0] == errors[1] == errors[2]


def test_a_pickle_beyond_the_limit_is_refused_before_the_download(tmp_path: Path) -> None:
    endless = Answer(200, bytes(2**20), {"Content-Length": str(2**31 + 1)})
    with serving(HUB, Trouble(endless, about="pytorch_model.bin")) as hub:
        done = inspect(tmp_path, hub, "--pickle", name="atlas/pickled")
    assert "pytorch_model.bin: 2,147,483,649 bytes; expected at most 2,147,483,648" in done.stderr


def test_a_file_that_is_downloaded_as_a_whole_has_the_digest_that_the_hub_states(
    tmp_path: Path,
) -> None:
    stated = {"X-Linked-ETag": f'"{"0" * 64}"', "X-Repo-Commit": COMMIT}
    answer = Answer(200, PICKLED["pytorch_model.bin"], stated)
    with serving(HUB, Trouble(answer, "pytorch_model.bin", times=1)) as hub:
        for message in (f"expected {'0' * 64}, which the Hub states", "torch cannot load it"):
            done = inspect(tmp_path, hub, "--pickle", name="atlas/pickled")
            assert message in done.stderr


def test_without_a_writable_disk_a_row_downloads_every_range_once(tmp_path: Path) -> None:
    (tmp_path / "assets").write_bytes(b"")  # Where a folder is expected.
    with serving(HUB) as hub:
        done = inspect(tmp_path, hub, "--json")
    assert done.returncode == 0, done.stderr
    assert spans(hub) == [(0, 2**15)]


def test_a_text_is_decompressed_up_to_the_limit_only(tmp_path: Path) -> None:
    compressed = {"Content-Encoding": "gzip"}
    small = Answer(200, gzip.compress(FILES["config.json"]), compressed)
    bomb = Answer(200, gzip.compress(bytes(2**27)), compressed)
    with serving(HUB, Trouble(bomb, "config.json", times=1), Trouble(small, "config.json")) as hub:
        assert f"the Hub sends more than {2**26:,} bytes" in inspect(tmp_path, hub).stderr
        assert inspect(tmp_path, hub).returncode == 0


SPAN = {"Content-Range": f"bytes 0-32767/{len(WEIGHTS)}"}
MOVED = Answer(302, headers={"Location": f"/moved/large/resolve/{COMMIT}/model.safetensors"})
AT_WEIGHTS = f"atlas/large/resolve/{COMMIT}/model"
# Bad responses to a range, and their messages.
BAD_ANSWERS: Mapping[str, tuple[Answer, str]] = {
    "the whole file": (Answer(200, bytes(2**26)), "the Hub answered 200 to a range of 32,768"),
    "more than was asked for": (Answer(206, bytes(2**26), SPAN), "more than 32,768 bytes"),
    "another range": (Answer(206, b"1234", {"Content-Range": "bytes 4-7/99"}), "as 'bytes 4-7/99'"),
    "fewer than stated": (Answer(206, b"{}", {"Content-Range": "bytes 0-9/99"}), "sent 2 bytes as"),
    "cut": (Answer(206, b"12", {**SPAN, "Content-Length": "32768"}), "off (RemoteProtocolError)"),
    "compressed": (
        Answer(206, gzip.compress(bytes(32768)), {**SPAN, "Content-Encoding": "gzip"}),
        "the Hub compressed its answer to a range; expected bytes of the file",
    ),
    "an empty file": (Answer(416, headers={"Content-Range": "bytes */0"}), "the Hub answered 416"),
    "in circles": (
        Answer(302, headers={"Location": f"/{AT_WEIGHTS}.safetensors"}), "off (TooManyRedirects)"
    ),
    "disabled": (refusal(403, message="This is disabled."), "answered 403 (“This is disabled.”);"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_ANSWERS)
def test_the_error_for_a_bad_response_to_a_range_is_one_line(case: str, tmp_path: Path) -> None:
    answer, message = BAD_ANSWERS[case]
    with serving(HUB, Trouble(answer, AT_WEIGHTS)) as hub:
        done = inspect(tmp_path, hub)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert message in done.stderr
    assert hub.sent < 2**20  # The client closed the connection long before the end.


LAST = len(WEIGHTS) - WIDTH * 4  # The first byte of the last row of words.


def ranged(start: int, total: int = len(WEIGHTS), **headers: str) -> Answer:
    """An answer to a range from the byte ``start`` of the weights: the first one, or the last row
    of words.
    """
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    stop = len(WEIGHTS) if start else 2**15
    span = f"bytes {start}-{stop - 1}/{total}"
    stated = {"X-Repo-Commit": COMMIT, "Content-Range": span, **fields}
    return Answer(206, WEIGHTS[start:stop], stated)


# Answers to a second range of a file that are about another file, and their messages.
LONGER, OTHER = len(WEIGHTS) + 4, "b" * 40
OTHER_FILES = {
    "length": (
        ranged(LAST, LONGER),
        f"its length was {len(WEIGHTS)} and is {LONGER}; expected one",
    ),
    "ETag": (ranged(LAST, ETag='"other"'), "its ETag was first and is other; expected one file"),
    "ETag before a redirect": (ranged(LAST, X_Linked_ETag='"other"'), "and is other; expected"),
    "commit": (ranged(LAST, X_Repo_Commit=OTHER), f"of commit '{OTHER}'; expected {COMMIT}"),
}


@pytest.fixture
def last_row(tmp_path: Path) -> Callable[[Hub], bytes]:
    """Read the first bytes of the weights, and then the last row of words."""

    def read(hub: Hub) -> bytes:
        with client_of(tmp_path, hub.endpoint):
            files = HubFiles("atlas/large", Listing(COMMIT, tuple(FILES)), "row", False, NEVER)
            files.part("model.safetensors", 0, 8)
            return files.part("model.safetensors", LAST, len(WEIGHTS))

    return read


@pytest.mark.parametrize("what", OTHER_FILES)
def test_answers_about_two_files_under_one_name_fail_the_row(
    what: str, last_row: Callable[[Hub], bytes]
) -> None:
    answer, message = OTHER_FILES[what]
    true = ranged(0, ETag='"first"')
    with (
        serving(HUB, Trouble(true, "model", times=1), Trouble(answer, "model")) as hub,
        pytest.raises(RowError) as caught,
    ):
        last_row(hub)
    assert message in str(caught.value)
    # The same answers without a difference are accepted.
    with serving(HUB, Trouble(ranged(LAST, ETag='W/"first"'), "model")) as hub:
        assert last_row(hub) == WEIGHTS[LAST:]


def test_a_range_in_the_cache_is_of_the_file_whose_beginning_is_there(
    tmp_path: Path, last_row: Callable[[Hub], bytes]
) -> None:
    with serving(HUB) as hub:
        last_row(hub)
        last_row(hub)
    assert len(spans(hub)) == 2
    [beginning] = tmp_path.rglob("model.safetensors.opening")
    beginning.unlink()
    other = WEIGHTS[:-1] + b"1"
    changed = Repository({COMMIT: {**FILES, "model.safetensors": other}}, {})
    with serving({"atlas/large": changed}) as hub:
        assert last_row(hub) == other[LAST:]


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_file_of_another_commit_fails_the_row(name: str, tmp_path: Path) -> None:
    elsewhere = Answer(302, headers={"Location": f"/moved/large/resolve/main/{name}"})
    moved = Repository({"b" * 40: FILES}, {"main": "b" * 40})
    trouble = Trouble(elsewhere, f"atlas/large/resolve/{COMMIT}/{name}")
    with serving({**HUB, "moved/large": moved}, trouble) as hub:
        done = inspect(tmp_path, hub)
    assert done.returncode == 1
    assert f"{name}: the Hub sends a file of commit '{'b' * 40}'; expected {COMMIT}" in done.stderr


def described(commit: str, names: Iterable[str]) -> Trouble:
    """An answer to the request for the commit and the names of files."""
    siblings = [{"rfilename": name} for name in names]
    content = json.dumps({"id": "atlas/large", "sha": commit, "siblings": siblings}).encode()
    return Trouble(Answer(200, content), "/api/models/atlas/large/rev")


def test_a_description_of_another_commit_fails_the_row(tmp_path: Path) -> None:
    with serving(HUB, described("b" * 40, ())) as hub:
        done = inspect(tmp_path, hub)
    assert f"the Hub describes commit {'b' * 40}; expected {COMMIT}" in done.stderr


def test_a_card_is_not_requested(tmp_path: Path) -> None:
    with serving(HUB) as hub:
        assert inspect(tmp_path, hub).returncode == 0
        listed = [one.query for one in hub.log if "/revision/" in one.path]
    assert listed == ["expand=sha&expand=siblings"]


def test_a_listed_name_that_leads_out_of_a_folder_is_not_taken(tmp_path: Path) -> None:
    outside = ("../vocab.txt", "/vocab.txt", "a/../../model.safetensors", "", "./config.json")
    with serving(HUB, described(COMMIT, (*FILES, *outside))) as hub:
        assert inspect(tmp_path, hub).returncode == 0
    with client_of(tmp_path):
        assert set(revisions.listing("atlas/large", COMMIT, "row", True, 0.0).names) == set(FILES)


def test_names_are_looked_through_once_for_each_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("config.json", "model.safetensors", "onnx/model.onnx", "a.onnx")
    files = HubFiles("atlas/x", Listing(COMMIT, names), "row", True, NEVER)
    compared: list[str] = []

    def compare(name: str, pattern: str) -> bool:
        compared.append(name)
        return fnmatchcase(name, pattern)

    monkeypatch.setattr(repository, "fnmatchcase", compare)
    for _ in range(2):
        assert files.matching("config.json") == ["config.json"]
        assert files.matching("*.onnx") == ["a.onnx"]
        assert files.matching("onnx/*.onnx") == ["onnx/model.onnx"]
    assert sorted(compared) == sorted(["config.json", *names[:2], "a.onnx", names[2]])


def test_a_signed_address_that_has_expired_is_resolved_anew(tmp_path: Path) -> None:
    expired = Answer(403, b"<Error><Code>AccessDenied</Code>")
    with serving(HUB, Trouble(MOVED, AT_WEIGHTS), Trouble(expired, "moved", times=1)) as hub:
        done = inspect(tmp_path, hub)
    assert done.returncode == 0, done.stderr
    asked = [request.path for request in hub.log if request.path.endswith("model.safetensors")]
    assert [path.split("/")[1] for path in asked[:4]] == ["atlas", "moved", "atlas", "moved"]


def test_a_refusal_of_the_hub_behind_a_redirect_is_final(tmp_path: Path) -> None:
    refused = Trouble(refusal(403, "GatedRepo"), "moved")
    with serving(HUB, Trouble(MOVED, AT_WEIGHTS), refused) as hub:
        assert "gated; expected access" in inspect(tmp_path, hub).stderr
    assert sum("moved" in request.path for request in hub.log) == 1


def test_pickles_in_shards_are_read_where_the_row_allows_it(tmp_path: Path) -> None:
    torch.save({"wpe.weight": torch.ones(16, 4)}, written := io.BytesIO())
    shards = {"pytorch_model-00001-of-00001.bin": written.getvalue()}
    index = json.dumps({"weight_map": {"wpe.weight": next(iter(shards))}}).encode()
    files = {"config.json": FILES["config.json"], "pytorch_model.bin.index.json": index, **shards}
    with serving({"atlas/large": Repository({COMMIT: files}, {"main": COMMIT})}) as hub:
        done = inspect(tmp_path, hub, "--pickle")
    assert (done.returncode, "wpe.weight" in done.stdout) == (0, True), done.stderr


def test_a_token_is_not_sent_to_hosts_of_redirects(tmp_path: Path) -> None:
    elsewhere = Answer(302, headers={"Location": f"http://192.0.2.1{MOVED.headers['Location']}"})
    # The other host is behind a proxy, which is this same server.
    with serving(HUB, Trouble(elsewhere, AT_WEIGHTS)) as hub:
        done = inspect(tmp_path, hub, HF_TOKEN=TOKEN, http_proxy=hub.endpoint)
    assert done.returncode == 0, done.stderr
    assert {request.token for request in hub.log if "moved" in request.path} == {None}
    assert {request.token for request in hub.log if "atlas" in request.path} == {f"Bearer {TOKEN}"}


def test_a_redirect_is_followed_to_this_machine_too_without_the_token(tmp_path: Path) -> None:
    """The Hub that is configured is trusted to say where its files are."""
    with serving({"moved/large": LARGE}) as other:
        there = Answer(302, headers={"Location": f"{other.endpoint}{MOVED.headers['Location']}"})
        with serving(HUB, Trouble(there, AT_WEIGHTS)) as hub:
            done = inspect(tmp_path, hub, HF_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    assert {request.token for request in hub.log if "atlas" in request.path} == {f"Bearer {TOKEN}"}
    assert [request.path for request in other.log] != []
    assert {request.token for request in other.log} == {None}
