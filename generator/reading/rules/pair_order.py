"""Which components of a head make a pair."""

from collections.abc import Iterator

from generator.checkpoints.model.pair_order import (
    by_weights,
    projections,
    stated_orders,
    types_not_read,
)
from generator.contracts import Examined, Json, Rule
from generator.contracts.model_config import PAIR_ORDER
from generator.encodings import Rotation


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """What a key, or the format, says of it, and what the weights do."""
    if not any(isinstance(one.form, Rotation) for one in examined.encodings):
        return
    said = list(stated_orders(examined.files.config))
    for by, name, order in said:
        if by != "family":
            yield f"by_{by}", {"name": name, "order": order}
    weighed = by_weights(examined.files, examined.encodings)
    if weighed is not None and said and said[0][2] != weighed["order"]:
        yield "contradicted", {"by": said[0][0], "name": said[0][1], **weighed}
    elif weighed is not None:
        yield "by_weights", weighed
    elif types := types_not_read(examined.files):
        yield "not_weighed", {"types": types}
    elif not said and projections(examined.files):
        yield "unknown", {}


RULE = Rule(
    key="pair-order",
    levels={"by_key": "fact", "by_params": "fact", "by_gguf": "fact", "by_weights": "fact",
            "not_weighed": "fact", "unknown": "note", "contradicted": "error"},
    find=find,
    about=(*PAIR_ORDER, "model_type"),
)  # fmt: skip
