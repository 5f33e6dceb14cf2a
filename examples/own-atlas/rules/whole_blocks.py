"""A context that does not fill whole blocks of the cache."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Rule

BLOCK = 256  # positions that our server keeps together


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """The context, where it is no multiple of a block."""
    context = examined.context
    if context is not None and context % BLOCK:
        yield "rest", {"context": context, "rest": context % BLOCK, "block": BLOCK}


RULE = Rule(
    key="whole-blocks",
    levels={"rest": "warning"},
    find=find,
    about=("max_position_embeddings",),
)
