"""Differences between two published atlases, as atlas.json has them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Document = Mapping[str, Any]
Kind = Literal[
    "new", "gone", "status", "revision", "new encoding", "encoding gone", "numbers", "metric"
]
TOLERANCE = 1e-6  # relative: other processors and libraries may change the last digits
ROUNDED = 2e-4  # The same for numbers of training runs, which have five digits.
RUNS = "runs/"  # Before their slugs.
LEAST = 1e-12  # Below it, a number is zero up to rounding.


@dataclass(frozen=True)
class Change:
    """One difference.

    slug, title: of the checkpoint; encoding: its name, "" where the change is that of the
        checkpoint; what: the metric, or what else changed; of a new checkpoint its status, unless
        that is ok
    before, after: None where there is none; unit: of both
    """

    kind: Kind
    slug: str
    title: str
    encoding: str = ""
    what: str = ""
    before: float | str | None = None
    after: float | str | None = None
    unit: str = ""


def changes(before: Document, after: Document) -> list[Change]:
    """Every difference between two atlases, checkpoint by checkpoint, in the order of slugs, and of
    training runs.
    """
    former, later = _by(rows(before), "slug"), _by(rows(after), "slug")
    return [
        change
        for slug in sorted(former.keys() | later.keys())
        for change in _of_checkpoint(former.get(slug), later.get(slug))
    ]


def rows(atlas: Document) -> list[Document]:
    """The checkpoints of an atlas, and its training runs as if each were one, with its numbers at
    the end of training.
    """
    runs = [
        {
            "slug": f"{RUNS}{run['slug']}",
            "title": run["title"],
            "status": "ok",
            "reason": None,
            "revision": None,
            "encodings": [
                {
                    "key": encoding["key"],
                    "name": f"{run['title']}, {encoding['part']}",
                    "sha256": None,
                    "metrics": encoding.get("metrics", {}),
                }
                for encoding in run["encodings"]
            ],
        }
        for run in atlas.get("runs", ())
    ]
    return [*atlas["checkpoints"], *runs]


def _by(records: list[Document], key: str) -> dict[str, Document]:
    return {record[key]: record for record in records}


def _of_checkpoint(before: Document | None, after: Document | None) -> Iterator[Change]:
    if before is None or after is None:
        present: Document = after or before or {}
        kind: Kind = "gone" if after is None else "new"
        status = "" if after is None or after["status"] == "ok" else after["status"]
        yield Change(kind, present["slug"], present["title"], what=status)
        return
    here = (after["slug"], after["title"])
    if before["status"] != after["status"]:
        yield Change(
            "status",
            *here,
            what=after["reason"] or "",
            before=before["status"],
            after=after["status"],
        )
    if after["status"] != "ok" or (before["status"] != "ok" and not before["encodings"]):
        return  # One of them says nothing of what the checkpoint holds.
    if before["revision"] != after["revision"]:
        yield Change("revision", *here, before=before["revision"], after=after["revision"])
    yield from _of_encodings(here, _by(before["encodings"], "key"), _by(after["encodings"], "key"))


def _of_encodings(
    here: tuple[str, str], former: dict[str, Document], later: dict[str, Document]
) -> Iterator[Change]:
    for key in sorted(former.keys() | later.keys()):
        if key not in former or key not in later:
            yield Change(
                "new encoding" if key in later else "encoding gone",
                *here,
                (later.get(key) or former[key])["name"],
            )
            continue
        before, after = former[key], later[key]
        if before["sha256"] != after["sha256"]:
            yield Change(
                "numbers", *here, after["name"], "SHA-256", before["sha256"], after["sha256"]
            )
        yield from _of_metrics(here, after["name"], before["metrics"], after["metrics"])


def _of_metrics(
    here: tuple[str, str], name: str, former: Document, later: Document
) -> Iterator[Change]:
    """Metrics of both whose values differ; one that is new or gone says something of the program,
    not of the checkpoint.
    """
    known = {metric: entry["value"] for metric, entry in former.items()}
    for metric in later:
        if metric in known:
            before, after = known[metric], later[metric]["value"]
            if not alike(before, after, ROUNDED if here[0].startswith(RUNS) else TOLERANCE):
                yield Change("metric", *here, name, metric, before, after, later[metric]["unit"])


def alike(before: float | None, after: float | None, tolerance: float = TOLERANCE) -> bool:
    """Whether two values are equal up to a relative ``tolerance``; None is equal to None alone."""
    if before is None or after is None:
        return before is after
    return math.isclose(before, after, rel_tol=tolerance, abs_tol=LEAST)
