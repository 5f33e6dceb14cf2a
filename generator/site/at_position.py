"""What a model with rotations has at one position: the numbers from which the page says, for any
position, which pairs have turned, by which angles, and which layers still see the first position.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import inf

import numpy as np
from typing_extensions import TypedDict

from generator.contracts import EncodingRecord, Layer, Outcome
from generator.contracts.wording import Wording
from generator.encodings import Rotation
from generator.encodings.rotations import OF_WHOLE_HEAD, frequencies_before
from generator.site.pictures.reach_bars import context_of
from generator.text import pattern

WORDING = Wording("wording/layers.jinja")
MOST_ROTATIONS = 4
DIGITS = 7  # of a ratio in the page; frequencies are known in single precision


class TurningOfModel(TypedDict):
    """A rotation of text, in models.json. From one position to the next, pair j turns by
    step · base^(−2j ÷ components) ÷ slower radians.
    """

    label: str
    """Where it acts."""
    step: float
    """Angle of the first pair, before scaling, in radians."""
    base: float
    """Base of its frequencies."""
    components: int
    """Divisor of the exponents."""
    pairs: int
    """Number of rotation pairs."""
    slower: list[float]
    """Wavelength of each pair after scaling ÷ before, or one number for all."""
    slower_beyond: list[float]
    """The same in texts longer than `longer`; empty where these are as others."""


class LayersSeeing(TypedDict):
    """Layers that reach the first position, in models.json."""

    limit: int | None
    """The last position from which all of them see it; null where every position is."""
    count: int
    """Number of these layers, including those that see farther."""
    which: str
    """Their indices from 0, in words; empty for all layers."""


class PositionOfModel(TypedDict):
    """Input of the page on what reaches a token, in models.json."""

    last: int
    """The last position of the context."""
    longer: int | None
    """Length up to which texts use these frequencies; null where all do."""
    grows: bool
    """Whether texts longer than the context use frequencies that depend on their length."""
    rotations: list[TurningOfModel]
    """Its rotations of text."""
    layers: int
    """Number of layers in the stacks with these rotations."""
    seeing: list[LayersSeeing]
    """Which of them see the first position, and from where; the farthest first."""
    beside: str
    """Further layers, in words that end a sentence."""


def at_position(outcome: Outcome) -> PositionOfModel | None:
    """What the page of a checkpoint computes from, as by ``panel``."""
    loaded = (
        (reading.encoding, reading.form.load())
        for reading in outcome.readings
        if reading.encoding.form == Rotation.__name__ and reading.encoding.is_of_words
    )
    pairs = [(record, form) for record, form in loaded if isinstance(form, Rotation)]
    return panel(context_of(outcome), pairs, outcome.layers)


def panel(
    context: int | None,
    pairs: Iterable[tuple[EncodingRecord, Rotation]],
    layers: Sequence[Layer],
) -> PositionOfModel | None:
    """The numbers of a model with these rotations; None without a rotation of text or a configured
    context, or with more than MOST_ROTATIONS rotations, which no reader takes in side by side.
    """
    turning = [
        (record, form)
        for record, form in pairs
        if record.is_of_words and np.isfinite(form.frequencies).all()
    ]
    if context is None or not 0 < len(turning) <= MOST_ROTATIONS:
        return None
    short = [form for _, form in turning if form.short is not None and form.short < context]
    longer = min((form.short for form in short if form.short is not None), default=None)
    # The frequencies of longer texts may be no list of numbers.
    last = (context if all(form.long_factors for form in short) else longer or context) - 1
    if last < 2:
        return None
    # The stacks in which one of the encodings acts.
    keys = {record.key for record, _ in turning}
    parts = {layer.part for layer in layers if keys.intersection(layer.encodings or ())}
    stacks = [layer for layer in layers if layer.part in parts]
    return {
        "last": last,
        "longer": longer,
        "grows": any(
            form.rope_type == "dynamic" and not form.has_fixed_alpha for _, form in turning
        ),
        "rotations": [_turning(record, form) for record, form in turning],
        "layers": len(stacks),
        "seeing": list(_seeing(stacks)),
        "beside": _beside(stacks),
    }


def _turning(record: EncodingRecord, form: Rotation) -> TurningOfModel:
    frequencies, plain = form.frequencies, frequencies_before(form)
    # A scaling that changes no frequency by more than single precision is none.
    is_scaled = not np.allclose(frequencies, plain, rtol=1e-6, atol=0.0)
    ratios = (plain / frequencies).tolist() if is_scaled else [1.0]
    return {
        "label": record.numbered_part,
        "step": form.step,
        "base": form.base,
        "components": form.head_dim if form.rope_type == OF_WHOLE_HEAD else form.rotary_dim,
        "pairs": frequencies.size,
        "slower": _short(ratios),
        "slower_beyond": _short(form.long_factors),
    }


def _short(ratios: Sequence[float]) -> list[float]:
    """These in few digits, once where they are alike."""
    rounded = [float(f"{ratio:.{DIGITS}g}") for ratio in ratios]
    return rounded if len(set(rounded)) > 1 else rounded[:1]


def _beside(stacks: Sequence[Layer]) -> str:
    beside = ""
    for kind in ("choosing", "compressed", "unknown"):
        if alike := [layer for layer in stacks if _kind(layer) == kind]:
            text = WORDING(f"far_{kind}", count=len(alike), where=_which(alike, stacks))
            beside += f"; {text}"
    if alike := [layer for layer in stacks if "recurrent" in layer.mixers]:
        text = WORDING("far_recurrent", count=len(alike), where=_which(alike, stacks))
        beside += f"; {text}"
    return beside


def _seeing(stacks: Sequence[Layer]) -> Iterator[LayersSeeing]:
    reach = [
        (inf if layer.before is None else layer.before, layer)
        for layer in stacks
        if _kind(layer) == "seeing"
    ]
    for limit in sorted({reached for reached, _ in reach}, reverse=True):
        far = [layer for reached, layer in reach if reached >= limit]
        last = None if limit == inf else int(limit)
        yield {"limit": last, "count": len(far), "which": _which(far, stacks)}


def _which(layers: Sequence[Layer], stacks: Sequence[Layer]) -> str:
    """Numbers of ``layers``, with their parts where there are several; "" for all of ``stacks``."""
    if len(layers) == len(stacks):
        return ""
    several = len({layer.part for layer in stacks}) > 1
    texts = []
    for part, alike in groupby(layers, lambda layer: layer.part):
        indices = [layer.index for layer in alike]
        of_part = part if several else ""
        texts.append(WORDING("which", count=len(indices), indices=pattern(indices), part=of_part))
    return ", ".join(texts)


def _kind(layer: Layer) -> str:
    """How a layer reaches a far position, by its attention; "" without any."""
    if not layer.attends:
        return ""
    if "sparse" in layer.mixers:
        return "choosing"
    if "compressed" in layer.mixers:
        return "compressed"
    return "unknown" if layer.is_of_unknown_width else "seeing"
