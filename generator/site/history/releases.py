"""Releases: what was published, and when. A folder holds them, one folder each, with the data as
they were.

A release keeps the checkpoints that differ from the release before alone, so that it is small.
"""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from generator.cache import blobs
from generator.contracts import Release, ReleasedCheckpoint, ReleasedCopy
from generator.errors import RefusedError
from generator.site.history.causes import Cause, causes, versions
from generator.site.history.changes import Checkpoints, Document, changes, checkpoints

RECORD = "release.json"
WithRows = Callable[[Checkpoints, dict[str, ReleasedCheckpoint]], dict[str, ReleasedCheckpoint]]
PUBLISHED = "data/releases"  # Their folder on the site.
DATA = ("atlas.json", "metrics.csv")  # Beside the record, compressed.
UNDATED = "undated"


@dataclass(frozen=True)
class Step:
    """A release, and why it differs from the one before."""

    release: Release
    causes: Sequence[Cause]


def read(folder: Path) -> tuple[Release, ...]:
    """The releases in ``folder``, the first first; none where it is missing.

    errors: RefusedError for a record that is none
    """
    found = []
    for path in folder.glob(f"*/{RECORD}"):
        try:
            found.append(Release(**json.loads(path.read_text(encoding="utf-8"))))
        except (ValueError, TypeError, RecursionError):
            raise RefusedError(
                f"{path}: found no record of a release; expected one as an earlier build wrote it"
            ) from None
    return tuple(sorted(found, key=lambda release: release.number))


def following(
    releases: Sequence[Release], atlas: Document, with_rows: WithRows | None = None
) -> Release | None:
    """The release of ``atlas`` after these; None where nothing has changed since the last.

    atlas: as atlas.json; with_rows: says which rows of tables differ from those of the last release
    """
    before = state(releases)
    after = {slug: _record(row, before.get(slug)) for slug, row in checkpoints(atlas).items()}
    after = with_rows(before, after) if with_rows else after
    moved = {change.slug for change in changes(before, after)}
    if not moved:
        return None
    day = atlas["date"] or UNDATED
    same_day = sum(release.date == atlas["date"] for release in releases)
    return Release(
        id=f"{day}.{same_day + 1}" if same_day else day,
        number=len(releases) + 1,
        date=atlas["date"],
        version=atlas["version"],
        libraries=atlas["libraries"],
        checkpoints={slug: after.get(slug) for slug in sorted(moved)},
    )


def state(releases: Sequence[Release]) -> Checkpoints:
    """Every checkpoint by slug, as the last release had it."""
    merged: dict[str, ReleasedCheckpoint | None] = {}
    for release in releases:
        merged |= release.checkpoints
    return {slug: record for slug, record in merged.items() if record is not None}


def readable(releases: Sequence[Release]) -> list[str]:
    """The slugs of the checkpoints that could be read for the last release."""
    return [slug for slug, record in state(releases).items() if record["status"] == "ok"]


def last_read(releases: Sequence[Release], slug: str) -> tuple[Release, ReleasedCheckpoint] | None:
    """The last release for which a checkpoint was read, with what it has of it; None without
    one.
    """
    found = [
        (release, record)
        for release in releases
        if (record := release.checkpoints.get(slug)) and record["status"] == "ok"
    ]
    return found[-1] if found else None


def steps(releases: Sequence[Release]) -> list[Step]:
    """What changed with each release, the last first; the first release is all new."""
    states = [state(releases[:count]) for count in range(len(releases) + 1)]
    made_by = [{}, *map(versions, map(vars, releases))]
    found = [
        Step(release, causes(*both, *of_both))
        for release, both, of_both in zip(
            releases, pairwise(states), pairwise(made_by), strict=True
        )
    ]
    return found[::-1]


def write(folder: Path, release: Release, data: Mapping[str, bytes]) -> None:
    """Add ``release`` to ``folder``, with its ``data`` by name. errors: OSError"""
    place = folder / release.id
    for name, content in data.items():
        blobs.write(place / f"{name}.gz", [compressed(content)])
    blobs.write(place / RECORD, [encoded(release)])  # Last: without it, the folder is no release.


def encoded(release: Release) -> bytes:
    """The record of a release."""
    return (json.dumps(vars(release), separators=(",", ":"), allow_nan=False) + "\n").encode()


def compressed(content: bytes) -> bytes:
    """``content`` by gzip, without a date."""
    return gzip.compress(content, mtime=0)


def _record(row: ReleasedCheckpoint, former: ReleasedCheckpoint | None) -> ReleasedCheckpoint:
    """What a release keeps of a checkpoint: of one that could not be read, its ``former`` revision,
    settings and numbers; of one that was not compared with its original, its ``former`` verdict.
    """
    last = row if former is None or row["status"] == "ok" else former
    kept: ReleasedCheckpoint = {
        **last,
        "title": row["title"],
        "status": row["status"],
        "reason": row["reason"],
    }
    kept["copy"] = _copy(row, former)
    return kept


def _copy(row: ReleasedCheckpoint, former: ReleasedCheckpoint | None) -> ReleasedCopy | None:
    """That of ``row``, with its ``former`` verdict where it was not compared."""
    copy, before = row.get("copy"), (former or row).get("copy")
    if copy is None:
        return None
    verdict = copy["verdict"] or (before["verdict"] if before else None)
    return {"original": copy["original"], "verdict": verdict}
