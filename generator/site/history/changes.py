"""Differences between two published atlases."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from generator.contracts import (
    ReleasedCheckpoint,
    ReleasedEncoding,
    ReleasedMetric,
    ReleasedRows,
)

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
    "parameter",
    "setting",
    "steps",
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
        checkpoint; what: the metric, the parameter, the key of a setting, or what else changed; of
        a new checkpoint its status, unless that is ok
    before, after: None where there is none; unit: of both
    reason: why a checkpoint, or the last of a training run, was not read; "" where it was
    key: of the encoding
    step: at which a metric of a training run changed; None for that of its last
    rows, shape, dtype: of stored numbers, where known; the latter two before and after
    keys, layers: of a parameter: keys of the file of settings that give it; in how many layers it
        acts, and of how many
    """

    kind: Kind
    slug: str
    title: str
    encoding: str = ""
    what: str = ""
    before: Any = None
    after: Any = None
    unit: str = ""
    reason: str = ""
    key: str = ""
    step: int | None = None
    rows: ReleasedRows | None = None
    shape: tuple[Any, Any] = (None, None)
    dtype: tuple[str | None, str | None] = (None, None)
    keys: Sequence[str] = ()
    layers: Sequence[int] = ()


def changes(former: Checkpoints, later: Checkpoints) -> list[Change]:
    """Every difference, checkpoint by checkpoint, in the order of slugs."""
    return [
        change
        for slug in sorted(former.keys() | later.keys())
        for change in _of_checkpoint(former.get(slug), later.get(slug))
    ]


def checkpoints(atlas: Document) -> dict[str, ReleasedCheckpoint]:
    """The checkpoints of an atlas, and its training runs as if each were one, with its numbers at
    the end of training, as a release has them.

    errors: LookupError, TypeError, ValueError, AttributeError for what is no atlas
    """
    runs = [
        {
            "slug": f"{RUNS}{run['slug']}",
            "title": run["title"],
            "status": "ok",
            "reason": None,
            "revision": None,
            "steps": list(map(int, run.get("steps", ()))),
            "unread": {str(one["step"]): one["reason"] or "" for one in run.get("unread", ())},
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
    return {row["slug"]: _released(row) for row in [*atlas["checkpoints"], *runs]}


def _released(row: Any) -> ReleasedCheckpoint:
    """What a release keeps of a checkpoint in atlas.json."""
    copy = row.get("copy")
    found = {
        **{key: str(row[key]) for key in ("slug", "title", "status")},
        **{key: row[key] and str(row[key]) for key in ("reason", "revision")},
        "copy": copy and {"original": copy["original"], "verdict": copy["verdict"]},
        **{key: row[key] for key in ("settings", "steps", "unread") if key in row},
        "encodings": [_encoding(one, row.get("layers", ())) for one in row["encodings"]],
    }
    return cast("ReleasedCheckpoint", found)


def _encoding(encoding: Any, layers: Sequence[Any]) -> ReleasedEncoding:
    of_part = [layer for layer in layers if layer["part"] == encoding.get("part")]
    n_acting = sum(encoding["key"] in (layer["encodings"] or ()) for layer in of_part)
    parameters = encoding.get("parameters", {}).items()
    of_type = ("dtype",) if "dtype" in encoding else ()
    found = {
        **{key: str(encoding[key]) for key in ("key", "name")},
        **{key: encoding[key] and str(encoding[key]) for key in ("sha256", *of_type)},
        **({"shape": list(map(int, encoding["shape"]))} if "shape" in encoding else {}),
        "parameters": {name: one for name, one in parameters if not isinstance(one, list)},
        "keys": {name: list(_keys(one)) for name, one in encoding.get("origins", {}).items()},
        "layers": [n_acting, len(of_part)],
        "metrics": {
            key: {
                "value": one["value"],
                "unit": str(one["unit"]),
                **({"values": list(one["values"])} if "values" in one else {}),
            }
            for key, one in encoding["metrics"].items()
        },
    }
    return cast("ReleasedEncoding", found)


def _keys(origin: Any) -> Sequence[str]:
    """Of an atlas that is being made, or of one that was read."""
    keys: Sequence[str] = origin["keys"] if isinstance(origin, dict) else origin.keys
    return keys


def _of_checkpoint(
    before: ReleasedCheckpoint | None, after: ReleasedCheckpoint | None
) -> Iterator[Change]:
    if after is None:
        if before is not None:
            yield Change("gone", before["slug"], before["title"])
        return
    here, reason = (after["slug"], after["title"]), after["reason"] or ""
    if before is None:
        status = "" if after["status"] == "ok" else after["status"]
        yield Change("new", *here, what=status, reason=reason)
        return
    if before["status"] != after["status"]:
        statuses = before["status"], after["status"]
        yield Change("status", *here, "", "", *statuses, reason=reason)
    if after["status"] != "ok" or (before["status"] != "ok" and not before["encodings"]):
        return  # One of them says nothing of what the checkpoint holds.
    if before["revision"] != after["revision"]:
        yield Change("revision", *here, before=before["revision"], after=after["revision"])
    verdicts = [copy["verdict"] for row in (before, after) if (copy := row.get("copy"))]
    if len(verdicts) == 2 and None not in verdicts and verdicts[0] != verdicts[1]:
        yield Change("verdict", *here, before=verdicts[0], after=verdicts[1])
    yield from _of_settings(here, before, after)
    yield from _of_encodings(here, before, after)


def _of_settings(
    here: tuple[str, str], before: ReleasedCheckpoint, after: ReleasedCheckpoint
) -> Iterator[Change]:
    """Keys of the file of settings, and steps of a training run."""
    former, later = before.get("settings", {}), after.get("settings", {})
    for key in sorted(former.keys() | later.keys()) if former and later else ():
        values = former.get(key), later.get(key)
        if not alike(*values, TOLERANCE):
            yield Change("setting", *here, "", key, *values)
    steps = before.get("steps", []), after.get("steps", [])
    unread = after.get("unread", {})
    if all(steps) and (steps[0] != steps[1] or before.get("unread", {}) != unread):
        reason = unread.get(str(steps[1][-1]), "")
        yield Change("steps", *here, "", "", *steps, reason=reason)


def _of_encodings(
    here: tuple[str, str], before_row: ReleasedCheckpoint, after_row: ReleasedCheckpoint
) -> Iterator[Change]:
    former, later = (
        {each["key"]: each for each in row["encodings"]} for row in (before_row, after_row)
    )
    steps = before_row.get("steps", []), after_row.get("steps", [])
    tolerance = ROUNDED if here[0].startswith(RUNS) else TOLERANCE
    for key in sorted(former.keys() | later.keys()):
        if key not in former or key not in later:
            name = (later.get(key) or former[key])["name"]
            yield Change("new encoding" if key in later else "encoding gone", *here, name)
            continue
        before, after = former[key], later[key]
        yield from _of_numbers(here, before, after)
        for metric, entry in after["metrics"].items():
            # One that is new or gone says something of the program, not of the checkpoint.
            former_entry = before["metrics"].get(metric, entry)
            for step, former_value, value in _values(steps, former_entry, entry):
                if not alike(former_value, value, tolerance):
                    of = (*here, after["name"], metric, former_value, value, entry["unit"])
                    yield Change("metric", *of, key=key, step=step)


def _of_numbers(
    here: tuple[str, str], before: ReleasedEncoding, after: ReleasedEncoding
) -> Iterator[Change]:
    """The stored numbers of an encoding, or the parameters from which its numbers follow."""
    name = after["name"]
    if before["sha256"] != after["sha256"]:
        yield Change(
            "numbers", *here, name, "SHA-256", before["sha256"], after["sha256"],
            key=after["key"], rows=after.get("rows"),
            shape=(before.get("shape"), after.get("shape")),
            dtype=(before.get("dtype"), after.get("dtype")),
        )  # fmt: skip
    elif after["sha256"] is None:
        former, later = before.get("parameters", {}), after.get("parameters", {})
        for key in sorted(former.keys() & later.keys()):
            if not alike(former[key], later[key], TOLERANCE):
                yield Change(
                    "parameter", *here, name, key, former[key], later[key],
                    key=after["key"], layers=after.get("layers", ()),
                    keys=after.get("keys", {}).get(key, ()),
                )  # fmt: skip


def _values(
    steps: tuple[Sequence[int], Sequence[int]], before: ReleasedMetric, after: ReleasedMetric
) -> Iterator[tuple[int | None, float | None, float | None]]:
    """Values of a metric before and after; of a training run those of each step that both have,
    and the last beside the last where these are two steps.

    steps: of both
    """
    former, later = (
        dict(zip(of, metric.get("values", ()), strict=False))
        for of, metric in zip(steps, (before, after), strict=True)
    )
    for step in sorted(former.keys() & later.keys()):
        yield step, former[step], later[step]
    if not former or not later or max(former) != max(later):
        yield None, before["value"], after["value"]


def alike(before: Any, after: Any, tolerance: float) -> bool:
    """Whether two values are equal, numbers up to a relative ``tolerance``."""
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in (before, after)):
        return type(before) is type(after) and bool(before == after)
    return math.isclose(before, after, rel_tol=tolerance, abs_tol=LEAST)
