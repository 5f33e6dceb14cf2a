"""Releases: what was published, and when. A folder holds them, one folder each, with the data as
    they were.

A release keeps the checkpoints that differ from the release before alone, so that it is small.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from generator.contracts import Release
from generator.errors import RefusedError
from generator.history.changes import Change, Document, changes, rows

RECORD = "release.json"
PUBLISHED = "data/releases"  # Their folder on the site.
DATA = ("atlas.json", "metrics.csv")  # Beside the record, compressed.
UNDATED = "undated"
OF_CHECKPOINT = ("slug", "title", "status", "reason", "revision")
OF_ENCODING = ("key", "name", "sha256")


@dataclass(frozen=True)
class Step:
    """A release, and what changed from the one before."""

    release: Release
    changes: Sequence[Change]


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


def following(releases: Sequence[Release], atlas: Document) -> Release | None:
    """The release of ``atlas`` after these; None where nothing has changed since the last.

    atlas: as atlas.json
    """
    before = state(releases)
    after = {row["slug"]: _record(row, before.get(row["slug"])) for row in rows(atlas)}
    moved = {change.slug for change in changes(_document(before), _document(after))}
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


def state(releases: Sequence[Release]) -> dict[str, Document]:
    """Every checkpoint by slug, as the last release had it."""
    merged: dict[str, Document | None] = {}
    for release in releases:
        merged |= release.checkpoints
    return _present(merged)


def readable(releases: Sequence[Release]) -> list[str]:
    """The slugs of the checkpoints that could be read for the last release."""
    return [slug for slug, record in state(releases).items() if record["status"] == "ok"]


def last_read(releases: Sequence[Release], slug: str) -> tuple[Release, Document] | None:
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
    found, before = [], state(())
    for release in releases:
        after = _present({**before, **release.checkpoints})
        found.append(Step(release, changes(_document(before), _document(after))))
        before = after
    return found[::-1]


def write(folder: Path, release: Release, data: Mapping[str, bytes]) -> None:
    """Add ``release`` to ``folder``, with its ``data`` by name. errors: OSError"""
    place = folder / release.id
    place.mkdir(parents=True, exist_ok=True)
    for name, content in data.items():
        (place / f"{name}.gz").write_bytes(compressed(content))
    (place / RECORD).write_bytes(encoded(release))  # Last: without it, the folder is no release.


def encoded(release: Release) -> bytes:
    """The record of a release."""
    return (json.dumps(asdict(release), separators=(",", ":"), allow_nan=False) + "\n").encode()


def compressed(content: bytes) -> bytes:
    """``content`` by gzip, without a date."""
    return gzip.compress(content, mtime=0)


def _present(records: Mapping[str, Document | None]) -> dict[str, Document]:
    """``records`` by slug, without checkpoints that are gone."""
    return {slug: record for slug, record in records.items() if record is not None}


def _document(records: Mapping[str, Document]) -> Document:
    return {"checkpoints": list(records.values())}


def _record(row: Document, former: Document | None) -> Document:
    """What a release keeps of a checkpoint in atlas.json.

    One that could not be read keeps its ``former`` revision and numbers.
    """
    about = {name: row[name] for name in OF_CHECKPOINT}
    if former is not None and row["status"] != "ok":
        return {**about, "revision": former["revision"], "encodings": former["encodings"]}
    encodings = [
        {
            **{name: encoding[name] for name in OF_ENCODING},
            "metrics": {
                key: {"value": metric["value"], "unit": metric["unit"]}
                for key, metric in encoding["metrics"].items()
            },
        }
        for encoding in row["encodings"]
    ]
    return {**about, "encodings": encodings}
