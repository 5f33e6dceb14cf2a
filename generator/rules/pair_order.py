"""Which components of a head make a pair."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Rule
from generator.contracts.model_config import PAIR_ORDER
from generator.encodings import Rotation

# Original files of Meta and Mistral.
BESIDE = "params.json"


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """What a key, or the format, says of it."""
    if not any(isinstance(one.form, Rotation) for one in examined.encodings):
        return
    config = examined.files.config
    for section in config.nested():
        for name in PAIR_ORDER:
            if (is_adjacent := section.flag(name)) is not None:
                yield "by_key", {"key": name, "is_adjacent": is_adjacent}
    if config.source == BESIDE:
        yield "by_format", {"file": BESIDE}


RULE = Rule(key="pair-order", levels={"by_key": "note", "by_format": "note"}, find=find)
