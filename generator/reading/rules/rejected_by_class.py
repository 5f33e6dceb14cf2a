"""A config that its own class rejects."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Rule


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """What each config class says."""
    yield from (("rejected", {"question": question}) for question in examined.rejections)


RULE = Rule(
    key="rejected-by-class",
    levels={"rejected": "warning"},
    find=find,
    about=("model_type",),
)
