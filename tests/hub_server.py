"""A small real server that speaks as much of the Hub's protocol as its client needs, and the program run against it."""

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from urllib.parse import unquote, urlsplit

from tests.built import ROOT, begin

NOBODY = "http://127.0.0.1:9"  # The discard port: nothing listens there.
ALWAYS = 1_000_000
USUAL_DATE, LAST_MODIFIED = "2021-03-04T05:06:07.000Z", "2025-06-07T08:09:10.000Z"  # of a commit, and of a repository
TEXTS = (".json", ".txt")  # files that the Hub compresses
INFO = re.compile(r"/api/models/(?P<id>.+?)(/revision/(?P<revision>.+))?")
COMMITS = re.compile(r"/api/models/(?P<id>.+?)/commits/(?P<revision>.+)")
TREE = re.compile(r"/api/models/(?P<id>.+?)/tree/(?P<revision>[^/]+)(?P<under>/.+)?")
FILE = re.compile(r"/(?P<id>.+?)/resolve/(?P<revision>[^/]+)/(?P<name>.+)")


@dataclass(frozen=True)
class Repository:
    """Files by commit, the commit that each branch points at, and the date of each commit that has another than usual."""

    commits: Mapping[str, Mapping[str, bytes]]
    branches: Mapping[str, str]
    dates: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """An HTTP response; one without a status cuts the connection."""

    status: int | None = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Trouble:
    """What the first ``times`` requests of ``method`` whose path holds ``about`` get instead of the true answer."""

    answer: Answer
    about: str = "/"
    method: str = ""
    times: int = ALWAYS


@dataclass(frozen=True)
class Asked:
    """One request: method, path, the token and the range that came with it."""

    method: str
    path: str
    token: str | None
    span: str | None = None


class Hub(ThreadingHTTPServer):
    """Repositories by id, troubles in order, and a log of all that was asked about them."""

    daemon_threads = True

    def __init__(self, repositories: Mapping[str, Repository], troubles: Sequence[Trouble]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories, self.troubles = repositories, troubles
        self.log: list[Asked] = []
        self.sent = 0  # bytes of bodies
        self.rate: float | None = None  # bytes a second to each that asks
        self._met = [0] * len(troubles)
        self._one_at_a_time = Lock()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def downloads(self) -> list[str]:
        """Names of the files whose bytes were sent, sorted."""
        return sorted(match["name"] for asked in self.log if asked.method == "GET" and (match := FILE.fullmatch(asked.path)))

    def answer(self, asked: Asked) -> Answer:
        with self._one_at_a_time:
            self.log.append(asked)
            for index, trouble in enumerate(self.troubles):
                if trouble.about in asked.path and trouble.method in ("", asked.method) and self._met[index] < trouble.times:
                    self._met[index] += 1
                    return trouble.answer
        return _of_range(_true_answer(self.repositories, asked), asked.span)


def refusal(status: int, code: str = "", message: str = "", **headers: str) -> Answer:
    """An answer that says no, as the Hub says it."""
    said = {"X-Error-Code": code, "X-Error-Message": message, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Answer(status, headers={name: value for name, value in said.items() if value})


@contextmanager
def serving(repositories: Mapping[str, Repository], *troubles: Trouble) -> Iterator[Hub]:
    """A Hub that answers on this machine until the block ends."""
    with Hub(repositories, troubles) as hub:
        thread = Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()


def run(
    *arguments: str, home: Path, endpoint: str = NOBODY, before: Sequence[str] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """``python -m generator`` with a Hub and a cache of its own; no setting of whoever runs the tests gets in.

    A build begins with what is drawn for every list alike.

    before: a command that runs the rest of its line
    """
    if "--output" in arguments:
        begin(Path(arguments[arguments.index("--output") + 1]))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING", "TRANSFORMERS_"))}
    hub = {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1"}
    fixed = {"SOURCE_DATE_EPOCH": "1700000000", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "PYTHONPATH": str(ROOT)}
    command = [*before, sys.executable, "-m", "generator", *arguments]
    return subprocess.run(command, env={**kept, **fixed, **hub, **environment}, capture_output=True, text=True, check=False, timeout=120)


def _true_answer(repositories: Mapping[str, Repository], asked: Asked) -> Answer:
    match = COMMITS.fullmatch(asked.path) or TREE.fullmatch(asked.path) or FILE.fullmatch(asked.path) or INFO.fullmatch(asked.path)
    repository = repositories.get(match["id"]) if match else None
    if match is None or repository is None:
        return (
            Answer() if asked.path == "/" else refusal(401 if asked.token is None else 404, "RepoNotFound", "Invalid username or password.")
        )
    revision = match["revision"] or "main"
    commit = repository.branches.get(revision, revision)
    if commit not in repository.commits:
        return refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
    if match.re is FILE:
        return _file(repository.commits[commit].get(match["name"]), commit)
    if match.re is TREE and match["under"]:
        return refusal(404, "EntryNotFound", "No such folder", X_Repo_Commit=commit)
    return _json(_described(match, repository, commit))


def _described(match: re.Match[str], repository: Repository, commit: str) -> object:
    """What the Hub says of a commit: when it was made, its files, or what its repository is."""
    files = repository.commits[commit]
    if match.re is COMMITS:
        date = repository.dates.get(commit, USUAL_DATE)
        return [{"id": commit, "title": "Upload", "message": "", "authors": [{"user": "atlas"}], "date": date}]
    if match.re is TREE:
        return [{"type": "file", "oid": _oid(body), "size": len(body), "path": name} for name, body in files.items()]
    return {"id": match["id"], "sha": commit, "lastModified": LAST_MODIFIED, "siblings": [{"rfilename": name} for name in files]}


def _file(body: bytes | None, commit: str) -> Answer:
    if body is None:
        return refusal(404, "EntryNotFound", "Entry not found", X_Repo_Commit=commit)
    return Answer(200, body, {"X-Repo-Commit": commit, "ETag": f'"{_oid(body)}"', "X-Linked-Size": str(len(body))})


def _of_range(answer: Answer, span: str | None) -> Answer:
    """What a server that knows ranges sends of an answer."""
    found = re.fullmatch(r"bytes=(\d+)-(\d+)", span or "")
    if found is None or answer.status != 200:
        return answer
    start, stop, total = int(found[1]), min(int(found[2]) + 1, len(answer.body)), len(answer.body)
    if start >= total:
        return Answer(416, headers={"Content-Range": f"bytes */{total}"})
    return Answer(206, answer.body[start:stop], {**answer.headers, "Content-Range": f"bytes {start}-{stop - 1}/{total}"})


def _compressed(answer: Answer) -> Answer:
    """A whole text as the Hub sends it to those who take it so."""
    if answer.status != 200 or "Content-Encoding" in answer.headers:
        return answer
    return Answer(200, gzip.compress(answer.body, mtime=0), {**answer.headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"})


def _json(document: object) -> Answer:
    return Answer(200, json.dumps(document).encode(), {"Content-Type": "application/json"})


def _oid(body: bytes) -> str:
    """The name that git gives to a file of these bytes; of a file that is mapped, one made of its length."""
    if not isinstance(body, bytes):
        return f"{len(body):040x}"
    return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        answer = self.server.answer(Asked(self.command, path, self.headers.get("Authorization"), self.headers.get("Range")))
        if path.endswith(TEXTS) and "gzip" in self.headers.get("Accept-Encoding", ""):
            answer = _compressed(answer)
        self.close_connection = True
        if answer.status is None:
            return
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.body)), "Connection": "close", **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            with suppress(ConnectionError):  # Whoever asked may have heard enough.
                self._send(answer.body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, body: bytes) -> None:
        piece = len(body) or 1 if self.server.rate is None else 2**16
        for start in range(0, len(body), piece):
            part = body[start : start + piece]
            self.wfile.write(part)
            self.server.sent += len(part)
            if self.server.rate is not None:
                sleep(len(part) / self.server.rate)

    def log_message(self, *arguments: object) -> None:
        """The log is the server's own."""
