"""Which two components of a head a published model turns together, in the files that hold it."""

from dataclasses import dataclass

from generator.checkpoints.model.pair_order import PairOrder, gguf_order, stated_orders
from generator.contracts import Json
from generator.encyclopedia.known_models import KnownModel, known_model
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
    order = _order(known, turned)
    if order is None:
        return None
    halves = tuple(sorted({one["rotary_dim"] // 2 for one in turned}))
    gguf = gguf_order(known.files.config.text_model.family) or ""
    return Pairs(order, halves, gguf, known.id.partition("/")[0] in WITH_ORIGINALS)


def _order(known: KnownModel, turned: list[Json]) -> PairOrder | None:
    """By the code that was run with its settings, or else by what is known of its family."""
    by_code: set[PairOrder | None] = {one["pair_order"] for one in turned}
    if len(by_code) == 1 and None not in by_code:
        return by_code.pop()
    return next((order for _, _, order in stated_orders(known.files.config)), None)
