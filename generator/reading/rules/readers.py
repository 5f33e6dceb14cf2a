"""What programs take from a config.json that transformers 5 reads otherwise."""

from collections.abc import Iterator, Mapping
from typing import Any

from generator.contracts import Examined, Json, Rule
from generator.contracts.model_config import ROPE
from generator.reading.taken import Taken, agreed, by_rotation, is_read, ours_of, taken


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Programs that turn by other angles without a word, and programs that refuse the file."""
    config = examined.files.config
    if not is_read(config):
        return
    every = taken(config.settings, config.where)
    ours = ours_of(every)
    if not ours.is_known or ours.refused or not ours.rotations:
        return
    others = [group for group in by_rotation(every) if not group[0].turns_as(ours)]
    mend = agreed(config.settings, config.where) if others else {}
    for group in others:
        kind = "otherwise" if _is_stated(config.settings) else "by_default"
        yield kind, {"mend": mend, "source": config.source, **_both(group, ours)}
    for one in every:
        if one.refused:
            yield "refused", {"reader": _named(one), "reason": one.refused}


def _both(group: list[Taken], ours: Taken) -> Json:
    return {
        "readers": [_named(one) for one in group],
        "theirs": group[0].words,
        "ours": ours.words,
        "apart": ours.apart(group[0]),
    }


def _named(one: Taken) -> str:
    return f"{one.reader.name} {one.reader.version}"


def _is_stated(settings: Json) -> bool:
    """Whether the file, or a config in it, gives a base or a scaling."""
    values: list[Any] = [settings, *(v for v in settings.values() if isinstance(v, Mapping))]
    return any(value.get(name) for value in values for name in (*ROPE, "rope_theta"))


RULE = Rule(
    key="readers",
    levels={"otherwise": "warning", "by_default": "note", "refused": "note"},
    find=find,
)
