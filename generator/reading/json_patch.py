"""Changes of a JSON object as a JSON Patch (RFC 6902)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Operation = dict[str, Any]


def added(path: Sequence[str], value: Any) -> Operation:
    """That a member has a value, whether or not it was there."""
    return {"op": "add", "path": _pointer(path), "value": value}


def operations(
    before: Mapping[str, Any], after: Mapping[str, Any], path: Sequence[str] = ()
) -> Iterator[Operation]:
    """What makes ``before`` ``after``, at the members that differ."""
    for name in dict.fromkeys((*before, *after)):
        place = (*path, name)
        if name not in after:
            yield {"op": "remove", "path": _pointer(place)}
        elif name not in before:
            yield added(place, after[name])
        elif isinstance(before[name], Mapping) and isinstance(after[name], Mapping):
            yield from operations(before[name], after[name], place)
        elif before[name] != after[name]:
            yield added(place, after[name])


def _pointer(path: Sequence[str]) -> str:
    """A path as RFC 6901 writes it."""
    return "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in path)
