"""Repositories on the Hugging Face Hub, at one commit; only the bytes that are needed are
downloaded.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from urllib.parse import quote

from typing_extensions import override

from generator.checkpoints import series
from generator.checkpoints.files import pipelines
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice, check_allowed
from generator.checkpoints.hub import client
from generator.checkpoints.hub.repository import Repository
from generator.checkpoints.hub.revisions import (
    COMMIT,
    LISTING_SECONDS,
    commits_by_name,
    committed,
    listing,
    only_cached,
)
from generator.contracts import Call, Checkpoint, Digest, Files, Source
from generator.errors import AtlasError, RowError

ADDRESS = "https://huggingface.co/"  # For readers, also where a build asks a mirror.
# seconds that all requests of a row may take: half of the time that it has
ROW_SECONDS = 1800.0
# seconds that a revision may wait to be pinned, which is done for all rows before the first starts;
# a row that is late asks again in its evaluation, beside the others
BEFORE_A_RUN = 5.0


def _row(checkpoint: Checkpoint) -> str:
    return f"{checkpoint.place}@{checkpoint.revision or 'main'}"


def _repository(checkpoint: Checkpoint, offline: bool, seconds: float = ROW_SECONDS) -> Repository:
    """errors: RowError, NotReachedError"""
    row, end = _row(checkpoint), time.monotonic() + seconds
    place, folder = _split(checkpoint.place)
    revision = listing(place, checkpoint.revision or "main", row, offline, end)
    return Repository(place, revision.within(folder), row, offline, end)


def _split(place: str) -> tuple[str, str]:
    """The id of a repository, and the folder in it, "" for the whole."""
    owner, slash, rest = place.partition("/")
    name, _, folder = rest.partition("/")
    # No folder leads out of the repository: such a place is no id, which is reported.
    is_plain = not {"", ".", ".."} & {*folder.split("/")}
    return (f"{owner}{slash}{name}", folder) if is_plain else (place, "")


class HubSource(Source):
    """Repositories, each row at the commit to which its branch or tag points."""

    key = "hub"
    after = "folder"
    describes = (
        "A repository on the Hugging Face Hub, owner/name, or a folder in it, owner/name/folder."
    )
    example = "EleutherAI/pythia-160m"
    is_path = False

    @override
    def open(self, checkpoint: Checkpoint, offline: bool) -> Files:
        """The files of a row; without requests if ``offline``.

        errors: RowError, NotReachedError
        """
        row = _row(checkpoint)
        repository = _repository(checkpoint, offline)
        choice = Choice(checkpoint.pickle, checkpoint.weights, ("hub", checkpoint.id))
        check_allowed(repository, row, choice)
        return FolderFiles(repository, checkpoint.id, choice, repository.commit, checkpoint.config)

    @override
    def state(self, checkpoint: Checkpoint, digest: Digest, calls: Sequence[Call]) -> str | None:
        """The commit, and the names of the files if these come from the cache of huggingface_hub
        alone; None without a commit.
        """
        commit = checkpoint.revision or ""
        return (
            " ".join((commit, *only_cached(_split(checkpoint.place)[0], commit)))
            if COMMIT.fullmatch(commit)
            else None
        )

    @override
    def pin(self, checkpoint: Checkpoint, offline: bool) -> Checkpoint:
        """The row with its branch or tag replaced by the commit, and with the date of that commit
        if available.

        The commit is the current one, or the cached one without an answer; the row is unchanged if
        there is neither.
        """
        client.check_settings()
        revision, end = checkpoint.revision or "main", time.monotonic() + BEFORE_A_RUN
        place, _ = _split(checkpoint.place)
        try:
            commit = listing(place, revision, checkpoint.place, offline, end).commit
        except AtlasError:
            return checkpoint  # Reported when the row is opened, which requests it again.
        return replace(
            checkpoint,
            revision=commit,
            committed=committed(place, commit, checkpoint.place, offline),
        )

    @override
    def address(self, hub_id: str, revision: str | None) -> str:
        """The page of a repository or of a folder in it, at ``revision`` if there is one."""
        place, folder = _split(hub_id)
        tree = f"/tree/{quote(revision or 'main')}" if revision or folder else ""
        return ADDRESS + quote(place) + tree + (f"/{quote(folder)}" if folder else "")

    @override
    def members(self, checkpoint: Checkpoint, offline: bool) -> Sequence[Checkpoint]:
        """The revisions of a row that names those of a training run, each at its commit.

        errors: RowError where there is none, or one is missing; NotReachedError
        """
        if not checkpoint.revisions:
            return (checkpoint,)
        commits = commits_by_name(_split(checkpoint.place)[0], offline)
        if isinstance(checkpoint.revisions, str):
            wanted = series.range_of(checkpoint.revisions)
            names = [name for name in commits if wanted is not None and wanted.holds(name)]
            if not names:
                raise RowError(
                    f"{checkpoint.id}: no branch or tag within {checkpoint.revisions!r}; expected"
                    f" one of {len(commits):,}"
                )
        else:
            names = list(checkpoint.revisions)
            if missing := [name for name in names if name not in commits]:
                near = "".join(
                    f"; nearest: {name}" for name in get_close_matches(missing[0], commits, n=1)
                )
                raise RowError(f"{checkpoint.id}: no branch or tag {missing[0]!r}{near}")
        named = {name: {"id": checkpoint.id, "revision": commits[name]} for name in names}
        return series.members(checkpoint, (checkpoint.slug, checkpoint.title), named, checkpoint.id)

    @override
    def parts(self, checkpoint: Checkpoint, offline: bool) -> Sequence[Checkpoint]:
        """The models that a pipeline of diffusers names; else the row itself, as for one that was
        not pinned, or that is of a training run.

        errors: RowError, NotReachedError
        """
        commit, row = checkpoint.revision or "", _row(checkpoint)
        if checkpoint.series or not COMMIT.fullmatch(commit):
            return (checkpoint,)
        place, folder = _split(checkpoint.place)
        end = time.monotonic() + LISTING_SECONDS
        try:  # From the cache, where pinning has left it.
            names = listing(place, commit, row, offline=True, deadline=end).within(folder)
        except AtlasError:
            return (checkpoint,)  # Reported when the row is opened.
        return pipelines.parts(checkpoint, Repository(place, names, row, offline, end))

    @override
    def text(self, checkpoint: Checkpoint, name: str, offline: bool) -> bytes | None:
        """All of a small file; None without such a file. errors: RowError, NotReachedError"""
        return _repository(checkpoint, offline, LISTING_SECONDS).read(name)

    @override
    def reach(self) -> None:
        client.reach()

    @override
    def received(self) -> int:
        return client.received[0]


SOURCE = HubSource()
