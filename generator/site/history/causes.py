"""Why two published atlases differ: each cause with the values that follow from it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from generator.site.history.changes import (
    RUNS,
    Change,
    Checkpoints,
    Document,
    changes,
    checkpoints,
)
from generator.site.history.published_numbers import Read, with_rows

OF_STEPS = "steps"
# Kinds that change all of a checkpoint or of an encoding.
WHOLE = frozenset({"new", "gone", "status", "encoding gone", "new encoding"})


@dataclass(frozen=True)
class Cause:
    """A change from which others follow, or, without one, that of the ``libraries``, each with its
    version before and after; without these, no cause is known.

    size: from 0 to 1: as a share, how much it changes a checkpoint, its table, or a number
    follows: values that changed with it, the one first that changed most
    """

    change: Change | None
    size: float
    follows: Sequence[Change] = ()
    libraries: Mapping[str, tuple[str, str]] | None = None


def between(former: Document, later: Document, read: Read, read_later: Read) -> list[Cause]:
    """Why an atlas differs from a ``former`` one. read, read_later: return files of their sites"""
    before = checkpoints(former)
    after = with_rows(before, checkpoints(later), read, read_later)
    return causes(before, after, versions(former), versions(later))


def versions(atlas: Document) -> dict[str, str | None]:
    """Versions of what made an atlas or a release, by name."""
    return {"Position Atlas": atlas.get("version"), **atlas.get("libraries", {})}


def causes(
    former: Checkpoints,
    later: Checkpoints,
    versions: Mapping[str, str | None],
    later_versions: Mapping[str, str | None],
) -> list[Cause]:
    """Every cause, the largest first.

    versions: of the program and its libraries, by name, and those of the later atlas
    """
    by_slug: dict[str, list[Change]] = defaultdict(list)
    for change in _without_runs_that_failed(changes(former, later)):
        by_slug[change.slug].append(change)
    found, left = list[Cause](), list[Change]()
    for of_one in by_slug.values():
        known, unknown = _of_checkpoint(of_one)
        found += known
        left += unknown
    moved = {
        name: (str(before), str(after))
        for name, after in later_versions.items()
        if (before := versions.get(name)) and after and before != after
    }
    found += _of_rest(left, moved)
    return sorted(found, key=lambda cause: -cause.size)


def _without_runs_that_failed(every: Sequence[Change]) -> Iterator[Change]:
    """The changes, where a row that was a training run and is not read now is not also new."""
    lost = {one.slug for one in every if one.kind == "gone" and one.slug.startswith(RUNS)}
    failed = {f"{RUNS}{one.slug}": one for one in every if one.kind == "new" and one.what}
    for one in every:
        if one.slug in lost & failed.keys():
            now = failed[one.slug]
            yield Change(
                "status", now.slug, now.title, before="ok", after=now.what, reason=now.reason
            )
        elif not (one.kind == "new" and one.what and f"{RUNS}{one.slug}" in lost):
            yield one


def _of_checkpoint(of_one: Sequence[Change]) -> tuple[list[Cause], list[Change]]:
    """The causes within a checkpoint, and the values that follow from none of them."""
    values = [change for change in of_one if change.kind == "metric"]
    roots = [change for change in of_one if change.kind != "metric"]
    moved = {change.what for change in roots if change.kind == "setting"}
    roots = [replace(one, keys=[key for key in one.keys if key in moved]) for one in roots]
    given = {key for one in roots for key in one.keys}
    roots = [one for one in roots if one.kind != "setting" or one.what not in given]
    follows: dict[int, list[Change]] = defaultdict(list)
    left = list[Change]()
    for value in values:
        index = _root_of(value, roots)
        (left if index is None else follows[index]).append(value)
    found = [
        Cause(root, _size(root, follows[index]), _ranked(follows[index]))
        for index, root in enumerate(roots)
    ]
    return found, left


def _root_of(value: Change, roots: Sequence[Change]) -> int | None:
    """Index of the change from which a value follows: one of its encoding's numbers, else one of
    the settings, else new steps, else another revision.
    """
    for kinds in (("numbers", "parameter"), ("setting",), (OF_STEPS,), ("revision",)):
        for index, root in enumerate(roots):
            is_of_it = root.encoding in {"", value.encoding}
            if root.kind in kinds and is_of_it and (root.kind != OF_STEPS or value.step is None):
                return index
    return None


def _of_rest(left: Sequence[Change], moved: Mapping[str, tuple[str, str]]) -> list[Cause]:
    """One cause of the values that follow from nothing in their checkpoints: other libraries; where
    these are the same, one of each checkpoint that is not known.
    """
    if left and moved:
        return [Cause(None, _largest(left), _ranked(left), moved)]
    by_slug: dict[str, list[Change]] = defaultdict(list)
    for value in left:
        by_slug[value.slug].append(value)
    return [Cause(None, _largest(of_one), _ranked(of_one)) for of_one in by_slug.values()]


def _ranked(values: Sequence[Change]) -> tuple[Change, ...]:
    """Values, the one first that changed most."""
    return tuple(sorted(values, key=lambda value: -_share(value.before, value.after)))


def _size(root: Change, follows: Sequence[Change]) -> float:
    if root.kind in WHOLE or (root.kind == "numbers" and root.shape[0] != root.shape[1]):
        return 1.0
    if root.kind == "numbers" and root.rows is not None:
        return root.rows["share"]
    if root.kind in {"parameter", "setting"}:
        return _share(root.before, root.after)
    return _largest(follows)


def _largest(values: Sequence[Change]) -> float:
    return max((_share(value.before, value.after) for value in values), default=0.0)


def _share(before: Any, after: Any) -> float:
    """The difference of two numbers as a share of the larger; 1 where they are no numbers."""
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in (before, after)):
        return 1.0
    largest = max(abs(before), abs(after))
    return min(abs(after - before) / largest, 1.0) if largest and isfinite(largest) else 0.0
