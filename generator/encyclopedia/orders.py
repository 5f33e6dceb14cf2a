"""Which two components of a head a published model turns together, in the files that hold it."""

from dataclasses import dataclass

from generator.checkpoints.model.pair_order import PairOrder
from generator.contracts import Json
from generator.encyclopedia import details
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.made import made

# Owners on the Hub that publish files of their own beside those of transformers, whose params.json
# goes with neighbours (apply_rotary_emb of meta-llama/llama-models, mistralai/mistral-inference).
WITH_ORIGINALS = frozenset({"codellama", "meta-llama", "mistralai"})


@dataclass(frozen=True)
class Pairs:
    """order: in the weights on the Hub; halves: the components from one of a pair to the other
    where these are halves, each that layers have, none where that is not known; gguf: the order in
    GGUF, "" where that is not known; has_originals: whether its maker publishes a params.json with
    neighbours
    """

    order: PairOrder
    halves: tuple[int, ...]
    gguf: str
    has_originals: bool


def pairs_of(model: Json) -> Pairs | None:
    """Of a model as in models.json; None without a rotation of text, or where it is not known."""
    known = known_model(model["id"]) if model["rotations"] else None
    if known is None:
        return None
    turned = made(known.id).get("expected", {}).get("rotations", ())
    of_family, in_gguf = details.of(known)["pairs"]
    # That of the code that was run with its settings, where it has one for all layers.
    by_code = {one["pair_order"] for one in turned}
    order = by_code.pop() if len(by_code) == 1 and None not in by_code else of_family
    if order is None:
        return None
    halves = tuple(sorted({one["rotary_dim"] // 2 for one in turned}))
    has_originals = known.id.partition("/")[0] in WITH_ORIGINALS
    return Pairs(order, halves, in_gguf or "", has_originals)
