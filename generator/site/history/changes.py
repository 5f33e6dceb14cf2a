"""Differences between two published atlases."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from generator.contracts import ReleasedCheckpoint, ReleasedEncoding

Document = Mapping[str, Any]  # atlas.json
Checkpoints = Mapping[str, ReleasedCheckpoint]  # By slug.
Kind = Literal[
    "new",
    "gone",
    "status",
    "revision",
    "verdict",
    "new encoding",
    "encoding gone",
    "numbers",
    "metric",
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


def changes(former: Checkpoints, later: Checkpoints) -> list[Change]:
    """Every difference, checkpoint by checkpoint, in the order of slugs."""
    return [
        change
        for slug in sorted(former.keys() | later.keys())
        for change in _of_checkpoint(former.get(slug), later.get(slug))
    ]


def checkpoints(atlas: Document) -> dict[str, ReleasedCheckpoint]:
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
    return {row["slug"]: row for row in [*atlas["checkpoints"], *runs]}


def _of_checkpoint(
    before: ReleasedCheckpoint | None, after: ReleasedCheckpoint | None
) -> Iterator[Change]:
    if after is None:
        if before is not None:
            yield Change("gone", before["slug"], before["title"])
        return
    if before is None:
        status = "" if after["status"] == "ok" else after["status"]
        yield Change("new", after["slug"], after["title"], what=status)
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
    verdicts = [copy["verdict"] for row in (before, after) if (copy := row.get("copy"))]
    if len(verdicts) == 2 and None not in verdicts and verdicts[0] != verdicts[1]:
        yield Change("verdict", *here, before=verdicts[0], after=verdicts[1])
    yield from _of_encodings(here, before["encodings"], after["encodings"])


def _of_encodings(
    here: tuple[str, str], before_all: list[ReleasedEncoding], after_all: list[ReleasedEncoding]
) -> Iterator[Change]:
    former, later = ({each["key"]: each for each in every} for every in (before_all, after_all))
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
        tolerance = ROUNDED if here[0].startswith(RUNS) else TOLERANCE
        for metric, later_entry in after["metrics"].items():
            # One that is new or gone says something of the program, not of the checkpoint.
            entry = before["metrics"].get(metric, later_entry)
            values = entry["value"], later_entry["value"]
            if not alike(*values, tolerance):
                yield Change("metric", *here, after["name"], metric, *values, later_entry["unit"])


def alike(before: float | None, after: float | None, tolerance: float) -> bool:
    """Whether two values are equal up to a relative ``tolerance``; None is equal to None alone."""
    if before is None or after is None:
        return before is after
    return math.isclose(before, after, rel_tol=tolerance, abs_tol=LEAST)
