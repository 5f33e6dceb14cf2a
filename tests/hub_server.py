"""A local server with the part of the Hub's protocol that its client needs, and the program as a
process that uses it.
"""

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
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from generator.checkpoints.hub import client
from tests import THREADS
from tests.built import ROOT, begin

NOBODY = "http://127.0.0.1:9"  # The discard port: nothing listens there.
ALWAYS = 1_000_000
# of a commit, and of a repository
USUAL_DATE, LAST_MODIFIED = "2021-03-04T05:06:07.000Z", "2025-06-07T08:09:10.000Z"
CREATED = "2024-10-11T12:13:14.000Z"
INFO = re.compile(r"/api/models/(?P<id>.+?)(/revision/(?P<revision>.+))?")
COMMITS = re.compile(r"/api/models/(?P<id>.+?)/commits/(?P<revision>.+)")
REFERENCES = re.compile(r"/api/models/(?P<id>.+?)/refs")
FILE = re.compile(r"/(?P<id>.+?)/resolve/(?P<revision>[^/]+)/(?P<name>.+)")


@dataclass(frozen=True)
class Repository:
    """Files by commit, commits by branch, dates by commit, ``USUAL_DATE`` for the others, and tags
    of the whole.
    """

    commits: Mapping[str, Mapping[str, bytes]]
    branches: Mapping[str, str]
    dates: Mapping[str, object] = field(default_factory=dict)
    tags: Sequence[str] = ()


@dataclass(frozen=True)
class Answer:
    """An HTTP response; one without a status cuts the connection."""

    status: int | None = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Trouble:
    """An answer that replaces the true one for the first ``times`` requests of ``method`` with
    ``about`` in the path.
    """

    answer: Answer
    about: str = "/"
    method: str = ""
    times: int = ALWAYS


@dataclass(frozen=True)
class Request:
    """One request. span: its range"""

    method: str
    path: str
    token: str | None
    span: str | None = None
    query: str = ""


class Hub(ThreadingHTTPServer):
    """The server: repositories by id, troubles in order of preference, and a log of requests."""

    daemon_threads = True

    def __init__(self, repositories: Mapping[str, Repository], troubles: Sequence[Trouble]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories, self.troubles = repositories, troubles
        self.log: list[Request] = []
        self.sent = 0  # bytes of bodies
        self.rate: float | None = None  # bytes a second for one connection
        self._met = [0] * len(troubles)
        self._one_at_a_time = Lock()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def downloads(self) -> list[str]:
        """Names of the files whose bytes were sent, sorted."""
        return sorted(
            match["name"]
            for request in self.log
            if request.method == "GET" and (match := FILE.fullmatch(request.path))
        )

    def answer(self, request: Request) -> Answer:
        with self._one_at_a_time:
            self.log.append(request)
            for index, trouble in enumerate(self.troubles):
                is_met = trouble.about in request.path and trouble.method in ("", request.method)
                if is_met and self._met[index] < trouble.times:
                    self._met[index] += 1
                    return trouble.answer
        return _of_range(_true_answer(self.repositories, request), request.span)


def refusal(status: int, code: str = "", message: str = "", **headers: str) -> Answer:
    """An error response with the headers of the Hub."""
    fields = {"X_Error_Code": code, "X_Error_Message": message, **headers}
    stated = {name.replace("_", "-"): value for name, value in fields.items() if value}
    return Answer(status, headers=stated)


@contextmanager
def serving(repositories: Mapping[str, Repository], *troubles: Trouble) -> Iterator[Hub]:
    """A running server, stopped at the end of the block."""
    with Hub(repositories, troubles) as hub:
        thread = Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()


def run(
    *arguments: str,
    home: Path,
    endpoint: str = NOBODY,
    before: Sequence[str] = (),
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """``python -m generator`` in a process, without settings of the Hub from the environment of the
    tests.

    A build starts with the figures that are the same for every list.

    before: a command whose arguments are the command line of the program
    """
    if "--output" in arguments:
        begin(Path(arguments[arguments.index("--output") + 1]))
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in THREADS and not name.startswith(("HF_", "HUGGING", "TRANSFORMERS_"))
    }
    hub = {
        "HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
    }  # fmt: skip
    fixed = {
        "SOURCE_DATE_EPOCH": "1700000000", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = [*before, sys.executable, "-m", "generator", *arguments]
    return subprocess.run(
        command, env={**inherited, **fixed, **hub, **environment}, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip


@contextmanager
def client_of(home: Path, endpoint: str = NOBODY) -> Iterator[pytest.MonkeyPatch]:
    """The Hub's client in this process asks ``endpoint``, with its caches in ``home``, and again
    without a wait where nobody answers.
    """
    # Public by its documentation.
    from huggingface_hub.utils import close_session  # type: ignore[attr-defined]

    settings = {
        "ENDPOINT": endpoint,
        "HUGGINGFACE_CO_URL_TEMPLATE": f"{endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
        "HF_ASSETS_CACHE": str(home / "assets"),
        "HF_HUB_CACHE": str(home / "hub"),
        "HF_HUB_OFFLINE": False,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "REACH_WAITS", (0.0,) * len(client.REACH_WAITS))
        for name, value in settings.items():
            patch.setattr(f"huggingface_hub.constants.{name}", value)
        for name in ("NO_PROXY", "no_proxy"):
            patch.setenv(name, "127.0.0.1")
        close_session()
        yield patch
        close_session()


def _true_answer(repositories: Mapping[str, Repository], request: Request) -> Answer:
    if (asked := REFERENCES.fullmatch(request.path)) and asked["id"] in repositories:
        return _json(_references(repositories[asked["id"]]))
    if request.path in {"/", "/api/models"}:
        return _json(_of_owner(repositories, parse_qs(request.query).get("author", [])))
    matches = (form.fullmatch(request.path) for form in (COMMITS, FILE, INFO))
    match = next(filter(None, matches), None)
    repository = repositories.get(match["id"]) if match else None
    if match is None or repository is None:
        status = 401 if request.token is None else 404
        return refusal(status, "RepoNotFound", "Invalid username or password.")
    revision = match["revision"] or "main"
    commit = repository.branches.get(revision, revision)
    if commit not in repository.commits:
        return refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
    if match.re is FILE:
        return _file(repository.commits[commit].get(match["name"]), commit)
    return _json(_described(match, repository, commit))


def _of_owner(repositories: Mapping[str, Repository], owners: Sequence[str]) -> object:
    """Models with their tags, as the Hub lists them."""
    named = [name for name in repositories if name.partition("/")[0] in owners]
    return [{"id": name, "tags": repositories[name].tags} for name in named]


def _described(match: re.Match[str], repository: Repository, commit: str) -> object:
    """The JSON for a commit: its date, its files, or its repository."""
    files = repository.commits[commit]
    if match.re is COMMITS:
        date = repository.dates.get(commit, USUAL_DATE)
        authors = [{"user": "atlas"}]
        return [{"id": commit, "title": "Upload", "message": "", "authors": authors, "date": date}]
    named = [{"rfilename": name} for name in files]
    dates = {"lastModified": LAST_MODIFIED, "createdAt": CREATED}
    return {"id": match["id"], "sha": commit, **dates, "siblings": named}


def _references(repository: Repository) -> object:
    """Every branch, as the Hub lists them."""
    branches = [
        {"name": name, "ref": f"refs/heads/{name}", "targetCommit": commit}
        for name, commit in repository.branches.items()
    ]
    return {"branches": branches, "tags": [], "converts": []}


def _file(body: bytes | None, commit: str) -> Answer:
    if body is None:
        return refusal(404, "EntryNotFound", "Entry not found", X_Repo_Commit=commit)
    stated = {"X-Repo-Commit": commit, "ETag": f'"{_oid(body)}"', "X-Linked-Size": str(len(body))}
    return Answer(200, body, stated)


def _of_range(answer: Answer, span: str | None) -> Answer:
    """The response to a range request."""
    requested = re.fullmatch(r"bytes=(\d+)-(\d+)", span or "")
    if requested is None or answer.status != 200:
        return answer
    start, total = int(requested[1]), len(answer.body)
    stop = min(int(requested[2]) + 1, total)
    if start >= total:
        return Answer(416, headers={"Content-Range": f"bytes */{total}"})
    stated = {**answer.headers, "Content-Range": f"bytes {start}-{stop - 1}/{total}"}
    return Answer(206, answer.body[start:stop], stated)


def _json(document: object) -> Answer:
    return Answer(200, json.dumps(document).encode(), {"Content-Type": "application/json"})


def _oid(body: bytes) -> str:
    """The object id of a file in git; for a mapped file, its length in place of a digest."""
    if not isinstance(body, bytes):
        return f"{len(body):040x}"
    return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_GET(self) -> None:
        url, token = urlsplit(self.path), self.headers.get("Authorization")
        span = self.headers.get("Range")
        asked = Request(self.command, unquote(url.path), token, span, url.query)
        answer = self.server.answer(asked)
        self.close_connection = True
        if answer.status is None:
            return
        self.send_response(answer.status)
        always = {"Content-Length": str(len(answer.body)), "Connection": "close"}
        for name, value in {**always, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            with suppress(ConnectionError):  # The client may close the connection early.
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
        """Do nothing: ``Hub.log`` has the requests."""
