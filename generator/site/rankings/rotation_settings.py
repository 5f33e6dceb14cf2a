"""What the settings of a model with rotations say first: of which base, scaling and share they are,
and in which layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Layer, Outcome, Reading
from generator.contracts.wording import Wording
from generator.encodings import Rotation

WORDING = Wording("wording/standings.jinja")


@dataclass(frozen=True)
class Acting:
    """A rotation, and the layers of its part in which it acts.

    limit: "sliding" or "chunked"; width: in positions; of layers that have one, where all agree
    """

    base: float
    head_dim: int
    rotary_dim: int
    scaling: str
    factor: float | None
    original: int | None
    n_layers: int
    n_full: int
    n_limited: int
    limit: str
    width: int | None


def rotations_of(outcome: Outcome) -> list[Reading]:
    """The encodings by rotation of the first part that reads words and has any."""
    found = [
        reading
        for reading in outcome.readings
        if reading.encoding.form == Rotation.__name__ and reading.encoding.is_of_words
    ]
    parts = {key: _part(outcome, key) for key in (reading.encoding.key for reading in found)}
    return [one for one in found if parts[one.encoding.key] == parts[found[0].encoding.key]]


def sentence(outcome: Outcome) -> str:
    """ "" without a rotation."""
    readings = rotations_of(outcome)
    if not readings:
        return ""
    part, others = _part(outcome, readings[0].encoding.key), outcome.readings
    layers = [layer for layer in outcome.layers if layer.part == part]
    is_known = all(layer.encodings is not None for layer in layers)
    attending = [layer for layer in layers if layer.attends]
    bare = [layer.index for layer in attending if not layer.encodings and not layer.at_input]
    return WORDING(
        "settings",
        rotations=[_acting(reading, layers) for reading in readings],
        n_layers=len(layers) if is_known else 0,
        bare=bare if is_known else [],
        n_recurrent=sum("recurrent" in layer.mixers for layer in layers),
        part=part if any(_part(outcome, one.encoding.key) != part for one in others) else "",
    )


def _part(outcome: Outcome, key: str) -> str:
    return next((one.part for one in outcome.layers if key in (one.encodings or ())), "")


def _acting(reading: Reading, layers: Sequence[Layer]) -> Acting:
    encoding = reading.encoding
    own = [layer for layer in layers if encoding.key in (layer.encodings or ())]
    limited = [layer for layer in own if layer.mixers in (("sliding",), ("chunked",))]
    kinds = {(layer.mixers[0], layer.width) for layer in limited}
    limit, width = next(iter(kinds)) if len(kinds) == 1 else ("", None)
    scaling = encoding.parameters["scaling"] or {}
    rotary_dim = encoding.parameters["rotary_dim"]
    return Acting(
        base=encoding.parameters["base"],
        rotary_dim=rotary_dim,
        head_dim=encoding.parameters["head_dim"] or rotary_dim,
        scaling=scaling.get("rope_type", ""),
        factor=scaling.get("factor"),
        original=scaling.get("original_max_position_embeddings"),
        n_layers=len(own),
        n_full=sum(layer.mixers == ("full",) for layer in own),
        n_limited=len(limited),
        limit=limit,
        width=width,
    )
