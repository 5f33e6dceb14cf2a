"""Requests to the Hub by range, their cache, and responses that must not harm the client."""

import gzip
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
import torch
from safetensors.numpy import save

from generator.checkpoints.hub import repository, requests, revisions
from generator.checkpoints.hub.repository import Repository as HubFiles
from generator.checkpoints.hub.retries import WAITS, RetryBudget
from generator.checkpoints.hub.revisions import Listing
from generator.errors import RowError
from tests import inline
from tests.hub_server import Answer, Hub, Repository, Trouble, refusal, run, serving
from tests.pipeline.unrendered import without_html
from tests.support import flowing
from tests.synthetic import NOTHING, PICKLED, ROTATION, WORDS, binary, write_folder, write_list

COMMIT, TOKEN = "a" * 40, "hf_" + "ThisTokenIsNobodys"
N_WORDS, WIDTH, N_POSITIONS = 40_000, 64, 16
WEIGHTS = save(
    {
        "wpe.weight": binary(N_POSITIONS, WIDTH).astype("f4"),
        "wte.weight": np.ones((N_WORDS, WIDTH), dtype="f4"),
    }
)
FILES = {
    "config.json": (
        json.dumps(
            {
                "model_type": "gpt2",
                "n_positions": N_POSITIONS,
                "n_embd": WIDTH,
                "n_layer": 1,
                "n_head": 2,
            }
        ).encode()
    ),
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
SHARDED = {
    **ROTATION,
    "model.safetensors.index.json": (
        json.dumps({"weight_map": dict(zip(NAMES, SHARDS, strict=True))}).encode()
    ),
    **{
        shard: save({name: np.ones((16, 16), dtype="f4")})
        for shard, name in zip(SHARDS, NAMES, strict=True)
    },
}
MOVED = f"moved/large/resolve/{COMMIT}/model.safetensors"


def build(folder: Path, hub: Hub, *options: str) -> CompletedProcess[str]:
    command = [
        "build",
        "--config",
        str(write_list(folder, [ROW])),
        "--output",
        str(folder / "out"),
        *options,
    ]
    return inline.run(*command, home=folder / "hub", endpoint=hub.endpoint)


def inspect(home: Path, hub: Hub, *options: str, **environment: str) -> CompletedProcess[str]:
    return inline.run(
        "inspect",
        f"atlas/large@{COMMIT}",
        *options,
        home=home,
        endpoint=hub.endpoint,
        **environment,
    )


def forget_outcomes(output: Path) -> None:
    """Delete the results of earlier builds."""
    (output / ".built.json").unlink()
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
    """Retries without waits, in the usual number, and builds without HTML."""
    with pytest.MonkeyPatch.context() as patch, without_html():
        patch.setattr(requests, "WAITS", (0.01,) * len(WAITS))
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


def test_less_than_one_percent_of_a_large_checkpoint_is_read(built: tuple[Path, Hub]) -> None:
    assert built[1].sent < len(WEIGHTS) / 100


def test_a_rotation_whose_weights_are_in_many_files_needs_their_index_alone(tmp_path: Path) -> None:
    with serving({"atlas/sharded": Repository({COMMIT: SHARDED}, {"main": COMMIT})}) as hub:
        listed = write_list(tmp_path, [{"hub": "atlas/sharded", "revision": COMMIT}])
        done = inline.run(
            "build",
            "--config",
            str(listed),
            "--output",
            str(tmp_path / "out"),
            home=tmp_path / "hub",
            endpoint=hub.endpoint,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [request.path for request in hub.log if request.path.endswith(".safetensors")]
    page = (tmp_path / "out/docs/checkpoints/atlas-sharded.md").read_text(encoding="utf-8")
    layout = (
        (tmp_path / "out/docs/data/atlas-sharded/layout.csv")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    assert ("rotary" in page, "only headers that were needed" in flowing(page), layout[1:]) == (
        True,
        True,
        ["model.layers.#.self_attn.q_proj.weight,,,40"],
    )


def test_a_cached_commit_is_not_requested_again(built: tuple[Path, Hub]) -> None:
    folder, _ = built
    forget_outcomes(folder / "out")
    with serving(HUB) as hub:
        done = build(folder, hub)
    assert done.returncode == 0
    assert [request.method for request in hub.log] == ["HEAD"]


def test_a_cached_checkpoint_builds_offline(built: tuple[Path, Hub]) -> None:
    forget_outcomes(built[0] / "out")
    with serving(HUB) as hub:
        done = build(built[0], hub, "--offline")
    assert (done.returncode, "(0 from the store" in done.stdout, hub.log) == (0, True, [])


def test_a_damaged_blob_is_downloaded_again(tmp_path: Path) -> None:
    with serving(HUB) as hub:
        first = inspect(tmp_path, hub, "--json")
        [blob] = tmp_path.rglob("model.safetensors.beginning")
        blob.write_bytes(blob.read_bytes()[:-1] + b"\0")
        hub.log.clear()
        assert inspect(tmp_path, hub, "--json").stdout == first.stdout
    assert spans(hub) == [(0, 2**15)]


def test_a_branch_is_evaluated_again_only_after_a_new_commit(tmp_path: Path) -> None:
    later, outputs = "b" * 40, []
    command = [
        "build",
        "--config",
        str(write_list(tmp_path, [{"hub": "atlas/plain"}])),
        "--output",
        str(tmp_path / "out"),
    ]
    for commit in (COMMIT, COMMIT, later):
        with serving({"atlas/plain": Repository({commit: NOTHING}, {"main": commit})}) as hub:
            outputs.append(
                inline.run(*command, home=tmp_path / "hub", endpoint=hub.endpoint).stdout
            )
    assert ["nothing has changed" in lines for lines in outputs] == [False, True, False]
    assert later in (tmp_path / "out/site/data/atlas.json").read_text(encoding="utf-8")


def test_every_row_beyond_the_beginning_is_one_range(tmp_path: Path) -> None:
    ids = [39_000, 39_001, 39_000]
    with serving(HUB) as hub:
        command = [
            "build",
            "--config",
            str(write_list(tmp_path, [{**ROW, "sentence": ids}])),
            "--output",
            str(tmp_path / "out"),
        ]
        inline.run(*command, home=tmp_path / "hub", endpoint=hub.endpoint)
    start = len(WEIGHTS) - N_WORDS * WIDTH * 4
    assert spans(hub)[1:] == [
        (start + row * WIDTH * 4, start + (row + 1) * WIDTH * 4) for row in (39_000, 39_001)
    ]


def test_files_in_the_cache_of_the_client_are_read_there(tmp_path: Path) -> None:
    repository = tmp_path / "hub/models--atlas--large"
    write_folder(repository / "snapshots" / COMMIT, FILES)
    write_folder(repository / "refs", {"main": COMMIT.encode()})
    with serving(HUB) as hub:
        done = run(
            "inspect",
            "atlas/large",
            "--json",
            home=tmp_path,
            endpoint=hub.endpoint,
            HF_HUB_OFFLINE="1",
        )
    assert json.loads(done.stdout)["revision"] == COMMIT
    assert hub.log == []


@pytest.mark.parametrize(
    "reference", [b"", bytes(40), b"\xff" * 40], ids=["empty", "zeros", "not text"]
)
def test_a_branch_that_is_broken_in_the_cache_of_the_client_is_a_miss(
    reference: bytes, tmp_path: Path
) -> None:
    repository = tmp_path / "hub/models--atlas--large"
    write_folder(repository / "snapshots" / COMMIT, FILES)
    write_folder(repository / "refs", {"main": reference})
    done = inline.run("inspect", "atlas/large", home=tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        "no folder or file 'atlas/large', so it was looked for on the Hub: atlas/large@main: the"
        " Hub could not be reached, and the cache does not have it\n",
    )


def test_a_pickle_that_the_row_allows_is_downloaded_whole(tmp_path: Path) -> None:
    with serving(HUB) as hub:
        done = inline.run(
            "inspect", "atlas/pickled", "--pickle", home=tmp_path, endpoint=hub.endpoint
        )
    assert "torch cannot load it with weights_only" in done.stderr
    assert hub.downloads() == ["config.json", "pytorch_model.bin"]


# Files in the cache of the client, and whether they suffice to read the checkpoint without the Hub.
SNAPSHOTS = {
    "what a tokenizer needs": (["config.json", "vocab.txt"], False),
    "weights": (["config.json", "model.safetensors"], True),
    "one shard of two": (["config.json", "model.safetensors.index.json", "one.safetensors"], False),
}
INDEX = {
    "model.safetensors.index.json": (
        json.dumps({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}).encode()
    )
}


@pytest.mark.parametrize("case", SNAPSHOTS)
def test_the_cache_of_the_client_suffices_only_with_the_weights(case: str, tmp_path: Path) -> None:
    names, is_enough = SNAPSHOTS[case]
    every = {**FILES, **INDEX, "one.safetensors": WEIGHTS}
    write_folder(
        tmp_path / "hub/models--atlas--large/snapshots" / COMMIT,
        {name: every[name] for name in names},
    )
    done = run("inspect", f"atlas/large@{COMMIT}", home=tmp_path)
    assert (done.returncode == 0) == is_enough
    assert (
        "the Hub could not be reached, and the cache does not have it" in done.stderr
    ) != is_enough


def test_results_from_the_cache_of_the_client_are_replaced_when_the_hub_answers(
    tmp_path: Path,
) -> None:
    cached = {
        "config.json": NOTHING["config.json"],
        "model.safetensors": save({"other": np.ones((2, 2))}),
    }
    write_folder(tmp_path / "hub/hub/models--atlas--large/snapshots" / COMMIT, cached)
    with serving(
        {
            "atlas/large": Repository(
                {COMMIT: {**cached, "vocab.txt": FILES["vocab.txt"]}}, {"main": COMMIT}
            )
        }
    ) as hub:
        outputs = [
            build(tmp_path, hub, *options).stdout
            for options in (["--offline"], ["--offline"], [], [])
        ]
    assert ["nothing has changed" in lines for lines in outputs] == [False, True, False, True]


@pytest.mark.parametrize("damage", [b"", b"cut"])
def test_a_damaged_pickle_is_downloaded_again(damage: bytes, tmp_path: Path) -> None:
    outputs = []
    with serving(HUB) as hub:
        for _ in range(3):
            outputs.append(
                inline.run(
                    "inspect", "atlas/pickled", "--pickle", home=tmp_path, endpoint=hub.endpoint
                ).stderr
            )
            [blob] = tmp_path.rglob("pytorch_model.bin.whole")
            if len(outputs) == 2:
                assert hub.downloads() == ["config.json", "pytorch_model.bin"]
                blob.write_bytes(damage)
    assert hub.downloads() == ["config.json", "pytorch_model.bin", "pytorch_model.bin"]
    assert outputs[0] == outputs[1] == outputs[2]


def test_a_pickle_beyond_the_limit_is_refused_before_the_download(tmp_path: Path) -> None:
    endless = Answer(200, bytes(2**20), {"Content-Length": str(2**31 + 1)})
    with serving(HUB, Trouble(endless, about="pytorch_model.bin")) as hub:
        done = inline.run(
            "inspect", "atlas/pickled", "--pickle", home=tmp_path, endpoint=hub.endpoint
        )
    assert "pytorch_model.bin: 2,147,483,649 bytes; expected at most 2,147,483,648" in done.stderr


def test_without_a_writable_disk_a_row_downloads_every_range_once(tmp_path: Path) -> None:
    (tmp_path / "assets").write_bytes(b"")  # Where a folder is expected.
    with serving(HUB) as hub:
        done = run(
            "inspect", f"atlas/large@{COMMIT}", "--json", home=tmp_path, endpoint=hub.endpoint
        )
    assert done.returncode == 0, done.stderr
    assert spans(hub) == [(0, 2**15)]


def test_a_compressed_text_is_decompressed(tmp_path: Path) -> None:
    padded = {**FILES, "config.json": FILES["config.json"] + b" " * 2**20}
    with serving({"atlas/large": Repository({COMMIT: padded}, {"main": COMMIT})}) as hub:
        done = inspect(tmp_path, hub, "--json")
    assert json.loads(done.stdout)["encodings"][0]["scheme"] == "learned"
    assert hub.sent < 2**17


def test_a_compressed_text_is_decompressed_up_to_the_limit_only(tmp_path: Path) -> None:
    bomb = Answer(200, gzip.compress(bytes(2**27)), {"Content-Encoding": "gzip"})
    with serving(HUB, Trouble(bomb, about="config.json")) as hub:
        done = inspect(tmp_path, hub)
    assert (
        f"the Hub sends more than {2**26:,} bytes; expected no more than requested" in done.stderr
    )


SPAN = {"Content-Range": f"bytes 0-32767/{len(WEIGHTS)}"}
# Bad responses to a range, and their messages.
BAD_ANSWERS: Mapping[str, tuple[Answer, str]] = {
    "the whole file": (
        Answer(200, bytes(2**26)),
        "the Hub answered 200 to a range of 32,768 bytes; expected 206 and that range",
    ),
    "more than was asked for": (
        Answer(206, bytes(2**26), SPAN),
        "the Hub sends more than 32,768 bytes",
    ),
    "another range": (
        Answer(206, b"1234", {"Content-Range": "bytes 4-7/99"}),
        "the Hub sent 4 bytes as 'bytes 4-7/99'; expected bytes 0 to",
    ),
    "always cut": (
        Answer(None),
        "the download broke off (RemoteProtocolError); expected whole files",
    ),
    "cut in the middle": (
        Answer(206, b"12", {**SPAN, "Content-Length": "32768"}),
        "the download broke off (RemoteProtocolError)",
    ),
    "cut, and no ranges": (
        Answer(200, b"12", {"Content-Length": "32768"}),
        "the Hub answered 200 to a range",
    ),
    "an empty file": (Answer(416, headers={"Content-Range": "bytes */0"}), "the Hub answered 416"),
    "another port of this machine": (
        Answer(302, headers={"Location": "http://127.0.0.1:1/x"}),
        "the Hub redirects to 127.0.0.1;",
    ),
    "this machine by name": (
        Answer(302, headers={"Location": "http://localhost/x"}),
        "the Hub redirects to localhost;",
    ),
    "this machine in IPv6": (
        Answer(302, headers={"Location": "http://[::ffff:127.0.0.1]/x"}),
        "the Hub redirects to ::ffff:127.0.0.1;",
    ),
    "this machine behind a translator": (
        Answer(302, headers={"Location": "http://[64:ff9b::7f00:1]/x"}),
        "the Hub redirects to 64:ff9b::7f00:1;",
    ),
    "its own network": (
        Answer(302, headers={"Location": "http://169.254.169.254/x"}),
        "the Hub redirects to 169.254.169.254;",
    ),
    "in circles": (
        Answer(302, headers={"Location": MOVED.replace("moved", "/atlas")}),
        "the download broke off (TooManyRedirects)",
    ),
    "another scheme": (
        Answer(302, headers={"Location": "file:///etc/passwd"}),
        "the Hub redirects to 127.0.0.1;",
    ),
    "patience": (refusal(429, Retry_After="3600"), "the Hub answered 429"),
}


@pytest.mark.parametrize("case", BAD_ANSWERS)
def test_the_error_for_a_bad_response_to_a_range_is_one_line(case: str, tmp_path: Path) -> None:
    answer, message = BAD_ANSWERS[case]
    with serving(HUB, Trouble(answer, "large/resolve/" + COMMIT + "/model")) as hub:
        done = inspect(tmp_path, hub)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert message in done.stderr
    assert hub.sent < 2**20  # The client closed the connection long before the end.


def ranged(start: int, **headers: str) -> Answer:
    """An answer to the range of the last row of words. start: where it begins"""
    body = WEIGHTS[start:]
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    total = fields.pop("total", str(len(WEIGHTS)))
    return Answer(
        206,
        body,
        {
            "X-Repo-Commit": COMMIT,
            "Content-Range": f"bytes {start}-{len(WEIGHTS) - 1}/{total}",
            **fields,
        },
    )


LAST = len(WEIGHTS) - WIDTH * 4  # The first byte of the last row of words.
# Answers to a second range of a file that are about another file, and their messages.
OTHER_FILES = {
    "length": (
        ranged(LAST, total=str(len(WEIGHTS) + 4)),
        f"model.safetensors: its length was {len(WEIGHTS)} and is {len(WEIGHTS) + 4}; expected one"
        " file in all answers of the Hub",
    ),
    "ETag": (ranged(LAST, ETag='"other"'), "and is 'other'; expected one file"),
    "ETag before a redirect": (ranged(LAST, X_Linked_ETag='"other"'), "and is 'other'; expected"),
    "commit": (
        ranged(LAST, X_Repo_Commit="b" * 40),
        f"the Hub sends a file of commit '{'b' * 40}'; expected {COMMIT}",
    ),
}


@pytest.fixture
def last_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Hub], bytes]:
    """Read the first bytes of the weights, and then the last row of words."""
    # Public by its documentation.
    from huggingface_hub.utils import close_session  # type: ignore[attr-defined]

    monkeypatch.setattr("huggingface_hub.constants.HF_ASSETS_CACHE", tmp_path / "assets")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", tmp_path / "hub")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def read(hub: Hub) -> bytes:
        close_session()
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.endpoint)
        monkeypatch.setattr(
            "huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE",
            hub.endpoint + "/{repo_id}/resolve/{revision}/{filename}",
        )
        listing = Listing(COMMIT, tuple(FILES))
        files = HubFiles("atlas/large", listing, "row", offline=False, budget=RetryBudget())
        files.part("model.safetensors", 0, 8)
        return files.part("model.safetensors", LAST, len(WEIGHTS))

    return read


@pytest.mark.parametrize("what", OTHER_FILES)
def test_answers_about_two_files_under_one_name_fail_the_row(
    what: str, last_row: Callable[[Hub], bytes]
) -> None:
    answer, message = OTHER_FILES[what]
    true = Answer(206, WEIGHTS[: 2**15], {**SPAN, "X-Repo-Commit": COMMIT, "ETag": '"first"'})
    with (
        serving(HUB, Trouble(true, "model", times=1), Trouble(answer, "model")) as hub,
        pytest.raises(RowError, match=re.escape(message)),
    ):
        last_row(hub)
    # The same answers without a difference are accepted.
    with serving(HUB, Trouble(ranged(LAST, ETag='"first"'), "model")) as hub:
        assert last_row(hub) == WEIGHTS[LAST:]


def test_a_range_in_the_cache_is_of_the_file_whose_beginning_is_there(
    tmp_path: Path, last_row: Callable[[Hub], bytes]
) -> None:
    with serving(HUB) as hub:
        last_row(hub)
        last_row(hub)
    assert len(spans(hub)) == 2
    [beginning] = tmp_path.rglob("model.safetensors.beginning")
    beginning.unlink()
    other = WEIGHTS[:-1] + b"1"
    changed = Repository({COMMIT: {**FILES, "model.safetensors": other}}, {})
    with serving({"atlas/large": changed}) as hub:
        assert last_row(hub) == other[LAST:]


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_file_of_another_commit_fails_the_row(name: str, tmp_path: Path) -> None:
    other = Repository({"b" * 40: FILES}, {COMMIT: "b" * 40})
    elsewhere = Trouble(
        Answer(302, headers={"Location": f"/moved/large/resolve/main/{name}"}),
        f"large/resolve/{COMMIT}/{name}",
    )
    repositories = {**HUB, "moved/large": Repository(other.commits, {"main": "b" * 40})}
    with serving(repositories, elsewhere) as hub:
        done = inspect(tmp_path, hub)
    assert done.returncode == 1
    assert f"{name}: the Hub sends a file of commit '{'b' * 40}'; expected {COMMIT}" in done.stderr


def test_a_description_of_another_commit_fails_the_row(tmp_path: Path) -> None:
    described = json.dumps({"sha": "b" * 40, "siblings": []}).encode()
    with serving(HUB, Trouble(Answer(200, described), "/api/models/atlas/large/rev")) as hub:
        done = inspect(tmp_path, hub)
    assert f"the Hub describes commit {'b' * 40}; expected {COMMIT}" in done.stderr


# Names in a description, and what the message shows of them.
NAMES_OF_NO_FILE = {
    "NUL": ("a\0b", r"'a\x00b'"),
    "half of a letter": ("\ud800.json", r"'\ud800.json'"),
    "5,000 letters": ("a" * 5_000, "'aaa"),
    "a long part": ("é" * 200, "'ééé"),
    "nothing": ("", "''"),
    "another folder": ("../model.safetensors", "'../model.safetensors'"),
    "this folder": ("./model.safetensors", "'./model.safetensors'"),
    "the root": ("/model.safetensors", "'/model.safetensors'"),
}


@pytest.mark.parametrize("case", NAMES_OF_NO_FILE)
def test_a_listed_name_that_no_file_has_is_a_row_error(case: str, tmp_path: Path) -> None:
    name, shown = NAMES_OF_NO_FILE[case]
    siblings = [{"rfilename": each} for each in (*FILES, name)]
    described = json.dumps({"sha": COMMIT, "siblings": siblings}).encode()
    with serving(HUB, Trouble(Answer(200, described), "/api/models/atlas/large/rev")) as hub:
        done = inspect(tmp_path, hub)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"the Hub lists a file {shown}" in done.stderr
    assert "expected names of files within the repository" in done.stderr


def test_a_description_of_too_many_files_is_a_row_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revisions, "MOST_NAMES", 2)
    with serving(HUB) as hub:
        assert "the Hub lists 3 files; expected at most 2" in inspect(tmp_path, hub).stderr


def test_names_are_looked_through_once_for_each_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("config.json", "model.safetensors", "onnx/model.onnx", "a.onnx")
    files = HubFiles("atlas/x", Listing(COMMIT, names), "row", offline=True, budget=RetryBudget())
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


def test_a_file_that_is_downloaded_whole_has_the_digest_that_the_hub_states(tmp_path: Path) -> None:
    stated = {"X-Linked-ETag": f'"{"0" * 64}"', "X-Repo-Commit": COMMIT}
    answer = Answer(200, PICKLED["pytorch_model.bin"], stated)
    with serving(HUB, Trouble(answer, "pytorch_model.bin", times=1)) as hub:
        for message in (f"expected {'0' * 64}, which the Hub states", "torch cannot load it"):
            done = inline.run(
                "inspect", "atlas/pickled", "--pickle", home=tmp_path, endpoint=hub.endpoint
            )
            assert message in done.stderr


def test_a_hub_with_a_long_retry_after_gets_one_request(tmp_path: Path) -> None:
    with serving(HUB, Trouble(refusal(429, Retry_After="3600"), "/resolve/")) as hub:
        inspect(tmp_path, hub)
    assert sum("/resolve/" in request.path for request in hub.log) == 1


def test_a_busy_hub_gets_a_retry_after_its_retry_after(tmp_path: Path) -> None:
    limited = refusal(429, RateLimit='"api";r=0;t=1')
    with serving(HUB, Trouble(limited, "/resolve/", times=2)) as hub:
        assert inspect(tmp_path, hub).returncode == 0


def test_a_signed_address_that_has_expired_is_resolved_anew(tmp_path: Path) -> None:
    moved = Trouble(
        Answer(302, headers={"Location": f"/{MOVED}"}), "atlas/large/resolve/" + COMMIT + "/model"
    )
    with serving(
        HUB, moved, Trouble(Answer(403, b"<Error><Code>AccessDenied</Code>"), MOVED, times=1)
    ) as hub:
        done = inspect(tmp_path, hub)
    assert done.returncode == 0, done.stderr
    asked = [
        request.path.split("/")[1]
        for request in hub.log
        if request.path.endswith("model.safetensors")
    ]
    assert asked[:4] == ["atlas", "moved", "atlas", "moved"]


def test_a_refusal_of_the_hub_behind_a_redirect_is_final(tmp_path: Path) -> None:
    moved = Trouble(
        Answer(302, headers={"Location": f"/{MOVED}"}), "atlas/large/resolve/" + COMMIT + "/model"
    )
    with serving(HUB, moved, Trouble(refusal(403, "GatedRepo"), MOVED)) as hub:
        assert "gated; expected access" in inspect(tmp_path, hub).stderr
    assert sum(MOVED in request.path for request in hub.log) == 1


@pytest.mark.parametrize("status", [403, 410, 451])
def test_the_message_of_the_hub_is_passed_on(tmp_path: Path, status: int) -> None:
    with serving(
        HUB, Trouble(refusal(status, message="Access to this resource is disabled."), "/resolve/")
    ) as hub:
        assert (
            f"the Hub answered {status} (“Access to this resource is disabled.”); expected"
            in inspect(tmp_path, hub).stderr
        )


def test_a_pause_of_hundreds_of_digits_is_more_than_a_day(tmp_path: Path) -> None:
    with serving(HUB, Trouble(refusal(429, Retry_After="9" * 400), "/resolve/")) as hub:
        assert (
            "asks for a pause of more than a day; expected at most" in inspect(tmp_path, hub).stderr
        )


def test_a_git_lfs_pointer_from_a_mirror_is_named(tmp_path: Path) -> None:
    pointer = (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
    )
    files = {"config.json": FILES["config.json"], "model.safetensors": pointer}
    with serving({"atlas/large": Repository({COMMIT: files}, {"main": COMMIT})}) as hub:
        assert (
            "model.safetensors: a Git LFS pointer; expected the file itself"
            in inspect(tmp_path, hub).stderr
        )


def test_pickles_in_shards_are_read_where_the_row_allows_it(tmp_path: Path) -> None:
    torch.save({"wpe.weight": torch.ones(16, 4)}, written := io.BytesIO())
    shards = {"pytorch_model-00001-of-00001.bin": written.getvalue()}
    index = json.dumps({"weight_map": {"wpe.weight": next(iter(shards))}}).encode()
    files = {"config.json": FILES["config.json"], "pytorch_model.bin.index.json": index, **shards}
    with serving({"atlas/large": Repository({COMMIT: files}, {"main": COMMIT})}) as hub:
        done = inspect(tmp_path, hub, "--pickle")
    assert (done.returncode, "wpe.weight" in done.stdout) == (0, True), done.stderr


def test_a_token_is_not_sent_to_hosts_of_redirects(tmp_path: Path) -> None:
    elsewhere = Trouble(
        Answer(302, headers={"Location": f"http://192.0.2.1/{MOVED}"}),
        "atlas/large/resolve/" + COMMIT + "/model",
    )
    # The other host is behind a proxy, which is this same server.
    with serving(HUB, elsewhere) as hub:
        done = inspect(tmp_path, hub, HF_TOKEN=TOKEN, http_proxy=hub.endpoint)
    assert done.returncode == 0, done.stderr
    assert {request.token for request in hub.log if "moved" in request.path} == {None}
    assert {request.token for request in hub.log if "atlas" in request.path} == {f"Bearer {TOKEN}"}
