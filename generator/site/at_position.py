"""What a model with rotations has at one position: pairs that have turned, angles, and layers that
still see the first position.

The page computes the same in the browser, for any position (``position.js``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf, tau

import numpy as np

from generator.contracts import EncodingRecord, Json, Layer, Outcome
from generator.encodings import Rotation
from generator.encodings.rotations import OF_WHOLE_HEAD, frequencies_before
from generator.numerics.arrays import Floats
from generator.site.pictures.reach_bars import context_of
from generator.text import number, pattern

MOST_ROTATIONS = 4
DIGITS = 7  # of a ratio in the page; frequencies are known in single precision


@dataclass(frozen=True)
class Turning:
    """A rotation at a position.

    label: its part; frequencies, plain: with and without scaling, (n_pairs,), radians per position
    components: by which the exponents of its frequencies are divided
    """

    label: str
    position: int
    step: float
    base: float
    components: int
    frequencies: Floats
    plain: Floats

    @property
    def turns(self) -> Floats:
        """Turns of each pair from position 0 to this one: (n_pairs,)."""
        return np.asarray(self.position * self.frequencies / tau)

    @property
    def is_scaled(self) -> bool:
        """Whether a scaling changes a frequency by more than single precision."""
        return not np.allclose(self.frequencies, self.plain, rtol=1e-6, atol=0.0)

    @property
    def n_turned(self) -> int:
        """Number of pairs that have turned at least once."""
        return int(np.count_nonzero(self.turns >= 1.0))

    @property
    def n_plain(self) -> int:
        """Number of pairs that would have turned at least once without scaling."""
        return int(np.count_nonzero(self.position * self.plain / tau >= 1.0))

    @property
    def bars(self) -> str:
        """Data of an SVG path: a step for each pair, as high as its share of the first turn."""
        depths = (f"{1.0 - turns:.2g}" for turns in np.minimum(self.turns, 1.0))
        steps = (f"V{depth}h{len(list(alike))}" for depth, alike in groupby(depths))
        return f"M0 1{''.join(steps)}V1z"

    @property
    def rows(self) -> tuple[tuple[str, str, str, str], ...]:
        """The fastest and the slowest pair: name, angle between neighbouring positions, angle at
        this position, and that without scaling.
        """
        return tuple(
            (
                name,
                angle(self.frequencies[pair] / tau),
                angle(self.turns[pair]),
                angle(self.position * self.plain[pair] / tau),
            )
            for name, pair in (
                ("fastest", int(self.frequencies.argmax())),
                ("slowest", int(self.frequencies.argmin())),
            )
        )

    @property
    def data(self) -> dict[str, object]:
        """What the page computes from. slower: wavelengths after ÷ before scaling, one for all
        pairs where they are alike
        """
        ratios = (self.plain / self.frequencies).tolist() if self.is_scaled else [1.0]
        slower = [float(f"{ratio:.{DIGITS}g}") for ratio in ratios]
        return {
            "label": self.label,
            "step": self.step,
            "base": self.base,
            "components": self.components,
            "pairs": self.frequencies.size,
            "slower": slower if len(set(slower)) > 1 else slower[:1],
        }


@dataclass(frozen=True)
class Seeing:
    """Layers that see position 0 from ``limit`` and all positions before it, None for any.

    count: of them; which: their numbers, as text; "" where all layers do
    """

    limit: int | None
    count: int
    which: str

    @property
    def data(self) -> dict[str, object]:
        """What the page computes from."""
        return {"limit": self.limit, "count": self.count, "which": self.which}


@dataclass(frozen=True)
class Sight:
    """Layers of the stacks with rotations.

    n_layers: all of them; seeing: those of each limit and of all farther ones, the farthest first
    beside: further layers, as the end of a sentence
    """

    n_layers: int
    seeing: tuple[Seeing, ...]
    beside: str

    def from_position(self, position: int) -> Seeing:
        """Layers that see position 0 from ``position``."""
        far = [each for each in self.seeing if each.limit is None or position <= each.limit]
        return far[-1] if far else Seeing(position, 0, "")


@dataclass(frozen=True)
class AtPosition:
    """What a panel shows before a reader chooses: the last position of the context.

    longer: length of the longest texts with these frequencies, where longer ones have others; None
        without such a limit
    """

    last: int
    turnings: tuple[Turning, ...]
    sight: Sight
    longer: int | None

    @property
    def is_scaled(self) -> bool:
        """Whether any of its rotations is scaled."""
        return any(turning.is_scaled for turning in self.turnings)

    @property
    def data(self) -> dict[str, object]:
        """What the page computes from."""
        return {
            "last": self.last,
            "longer": self.longer,
            "rotations": [turning.data for turning in self.turnings],
            "layers": self.sight.n_layers,
            "seeing": [each.data for each in self.sight.seeing],
            "beside": self.sight.beside,
        }

    @property
    def sentence(self) -> str:
        """The answer at the last position, in one sentence or, of several rotations, in some."""
        several = len(self.turnings) > 1
        turned = [
            f"{f'{_capital(turning.label)}: ' * several}{_counted(turning)}"
            for turning in self.turnings
        ]
        seen = self._seen()
        first = [*([] if several else turned), *([seen] if seen else [])]
        opening = f"At position {self.last:,}: {'; '.join(first)}." if first else ""
        return " ".join((opening, *(f"{text}." for text in turned if several))).strip()

    def _seen(self) -> str:
        if not self.sight.n_layers:
            return ""
        seeing = self.sight.from_position(self.last)
        sees = "sees" if seeing.count == 1 else "see"
        which = f": {seeing.which}" if seeing.which else ""
        layers = f"{seeing.count} of {self.sight.n_layers} layers"
        return f"{layers} still {sees} position 0{which}{self.sight.beside}"


def _counted(turning: Turning) -> str:
    n_turned, n_plain = turning.n_turned, turning.n_plain
    have = "has" if n_turned == 1 else "have"
    without = f" ({n_plain} without scaling)" if n_plain != n_turned else ""
    return f"{n_turned} of {turning.plain.size} pairs {have} turned at least once{without}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def angle(turns: float) -> str:
    """An angle in words: in degrees below a turn, else in turns."""
    if turns < 1.0:
        return f"{number(360.0 * turns)}°"
    return "1 turn" if turns == 1.0 else f"{number(turns)} turns"


def at_position(outcome: Outcome) -> AtPosition | None:
    """The panel of a checkpoint, as by ``panel``."""
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
) -> AtPosition | None:
    """The panel of a model with these rotations; None without a rotation of text or a configured
    context, or with more than MOST_ROTATIONS rotations, which no reader takes in side by side.
    """
    turning = [
        (record, form)
        for record, form in pairs
        if record.is_of_words and np.isfinite(form.frequencies).all()
    ]
    if context is None or not 0 < len(turning) <= MOST_ROTATIONS:
        return None
    shorts = [form.short for _, form in turning if form.short is not None]
    longer = min(shorts) if shorts and min(shorts) < context else None
    last = (longer or context) - 1
    if last < 2:
        return None
    turnings = tuple(_turning(record, form, last) for record, form in turning)
    return AtPosition(last, turnings, _sight(layers, {record.key for record, _ in turning}), longer)


def panel_of(data: Json) -> AtPosition:
    """The panel whose ``data`` these are, with frequencies to their digits there."""
    last, turnings = data["last"], []
    for given in data["rotations"]:
        exponents = -2.0 * np.arange(given["pairs"]) / given["components"]
        plain = given["step"] * given["base"] ** exponents
        turnings.append(
            Turning(
                given["label"],
                last,
                given["step"],
                given["base"],
                given["components"],
                plain / np.asarray(given["slower"]),
                plain,
            )
        )
    seeing = tuple(Seeing(**each) for each in data["seeing"])
    return AtPosition(
        last, tuple(turnings), Sight(data["layers"], seeing, data["beside"]), data["longer"]
    )


def _turning(record: EncodingRecord, form: Rotation, position: int) -> Turning:
    of_head = form.rope_type == OF_WHOLE_HEAD
    return Turning(
        record.numbered_part,
        position,
        form.step,
        form.base,
        form.head_dim if of_head else form.rotary_dim,
        form.frequencies,
        frequencies_before(form),
    )


def _sight(layers: Sequence[Layer], keys: set[str]) -> Sight:
    """Of the stacks in which one of the encodings ``keys`` acts."""
    parts = {layer.part for layer in layers if keys.intersection(layer.encodings or ())}
    stacks = [layer for layer in layers if layer.part in parts]
    seen = [layer for layer in stacks if _kind(layer) == "seeing"]
    limits = sorted({inf if layer.before is None else layer.before for layer in seen}, reverse=True)
    words = {
        "choosing": "{} may choose it",
        "compressed": "in {} it is in a compressed key",
        "unknown": "the window of {} is unknown",
    }
    beside = ""
    for kind, text in words.items():
        if alike := [layer for layer in stacks if _kind(layer) == kind]:
            which = _which(alike, stacks)
            beside += f"; {text.format(len(alike))}{f': {which}' if which else ''}"
    return Sight(len(stacks), tuple(_seeing(limit, seen, stacks) for limit in limits), beside)


def _seeing(limit: float, seen: Sequence[Layer], stacks: Sequence[Layer]) -> Seeing:
    far = [layer for layer in seen if layer.before is None or layer.before >= limit]
    return Seeing(None if limit == inf else int(limit), len(far), _which(far, stacks))


def _which(layers: Sequence[Layer], stacks: Sequence[Layer]) -> str:
    """Numbers of ``layers``, with their parts where there are several; "" for all of ``stacks``."""
    if len(layers) == len(stacks):
        return ""
    several = len({layer.part for layer in stacks}) > 1
    texts = []
    for part, alike in groupby(layers, lambda layer: layer.part):
        indices = [layer.index for layer in alike]
        name = "layer" if len(indices) == 1 else "layers"
        texts.append(f"{name} {pattern(indices)}{f' of {part}' * several}")
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
