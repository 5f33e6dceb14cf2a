"""What stays open about a checkpoint."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Rule


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Each question."""
    yield from (("open", {"question": question}) for question in examined.questions)


RULE = Rule(
    key="not-understood",
    levels={"open": "note"},
    find=find,
    about=("model_type", "architectures"),
)
