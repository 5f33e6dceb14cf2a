"""Whether two checkpoints encode position identically: what follows from their files, not how it is
spelt there.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from generator.checkpoints.files.weights import CONFIG
from generator.checkpoints.model import origins
from generator.checkpoints.model.keys import concerns_position, dotted
from generator.checkpoints.model.pair_order import (
    Stated,
    by_weights,
    pair_order,
    stated_orders,
    types_not_read,
)
from generator.checkpoints.model.stored_rotation import stored_rotation
from generator.contracts import (
    Comparison,
    Difference,
    Encoding,
    Json,
    Layer,
    ModelConfig,
    Size,
    Verdict,
)
from generator.contracts.layer_map import LIMITED
from generator.contracts.model_config import PAIR_ORDER
from generator.contracts.wording import Wording
from generator.encodings import Form, PositionTable, Rotation
from generator.encodings.rotations import yarn_magnitude
from generator.numerics.arrays import Floats
from generator.numerics.structure import steps
from generator.reading.evidence import evidence
from generator.reading.find import scheme_of
from generator.reading.plan import Task
from generator.reading.questions import unread_keys
from generator.reading.sides import OF_SECTIONS, SECTIONS, Key, Side, Sides, sides_or_shipped
from generator.reading.taken import FACTOR, is_read, most_apart, ours_of, scalings_apart, taken
from generator.text import as_json, times

WORDING = Wording("wording/comparison.jinja")
CLOSE = 1e-4  # Relative, of frequencies and factors.
# Relative rounding of stored values, to the largest of a table.
ROUNDING = {"F32": 1e-6, "F64": 1e-6, "F16": 1e-3, "BF16": 8e-3}
OF_UNKNOWN_FAMILY = "model"
DEFINING = ("base", "rotary_dim", "head_dim", "scaling")  # parameters of a rotation
FILLED = ("base", "scaling")  # of these, those that a config class has for its family
IN_ATTENTION = "layers of attention"  # of a decoder


def compare(one: Task, other: Task) -> Comparison:
    """The checkpoints of two tasks.

    errors: RowError, NotReachedError
    """
    return compared(*sides_or_shipped(one, other))


def compared(one: Side, other: Side) -> Comparison:
    """What is known of both sides together."""
    sides = one, _renamed(one, other)
    common = [part for part in one.layers if part in sides[1].layers]
    beside = [side.beside(common) for side in sides]
    shared = sorted(beside[0].keys() & beside[1].keys())
    differences = [
        *of_lengths(sides),
        *(each for part in common for each in _of_layers(part, sides)),
        *sides[0].unmapped_layers(sides[1]),
        *(
            each
            for key in shared
            for each in _of_numbers([of_side[key] for of_side in beside], sides)
        ),
        *_of_schemes(common, beside, sides),
        *_of_settings(sides),
    ]
    untold = tuple(dict.fromkeys(_untold(common, beside, sides)))
    verdict: Verdict = "equal as far as both files tell" if untold else "equal"
    if differences:
        verdict = "different"
    elif not common and not shared:
        verdict = "cannot be compared"
    unread = [
        tuple(
            f"{name}: {as_json(value)}"
            for name, value in unread_keys(side.files, side.found)
            if name not in PAIR_ORDER
        )
        if side.files.config.settings
        else ()
        for side in sides
    ]
    pairs = [[of_side[key] for of_side in beside] for key in shared]
    beside_position = (
        _numbers_unread(side, encoding)
        for side, of_side in zip(sides, beside, strict=True)
        for encoding in _without_numbers(of_side, beside)
        if not encoding.form.tells_position
    )
    rounded = (note for pair in pairs for note in _rounded(pair))
    notes = (
        *_alone(sides), *rounded, *beside_position, *_not_weighed(sides), *_by_default(sides),
        *_of_words(sides), *(side.shipped for side in sides if side.shipped),
    )  # fmt: skip
    without = {
        _numbers_unread(side, encoding): scheme_of(encoding).title
        for side, of_side in zip(sides, beside, strict=True)
        for encoding in _without_numbers(of_side, beside)
    }
    not_compared = tuple(without[sentence] for sentence in untold if sentence in without)
    return Comparison(
        verdict, tuple(differences), untold, notes, (unread[0], unread[1]), not_compared
    )


def _renamed(one: Side, other: Side) -> Side:
    """``other`` with its only stack of text under the name that the only one of ``one`` has, where
    one of the two is of an unknown family.
    """
    texts = [
        {each.part for each in side.encodings.values() if each.is_of_words} for side in (one, other)
    ]
    if len(texts[0]) != 1 or len(texts[1]) != 1 or OF_UNKNOWN_FAMILY not in texts[0] | texts[1]:
        return other
    [new], [old] = texts
    encodings = {
        key: replace(each, part=new) if each.part == old else each
        for key, each in other.encodings.items()
    }
    return replace(
        other,
        encodings={each.key: each for each in encodings.values()},
        layers={
            new if part == old else part: [_with_keys(each, encodings) for each in layers]
            for part, layers in other.layers.items()
        },
    )


def _with_keys(layer: Layer, renamed: Mapping[str, Encoding[Form]]) -> Layer:
    """A layer with the keys that its encodings have now. renamed: encodings, by former keys"""
    if layer.encodings is None:
        return layer
    return replace(layer, encodings=tuple(renamed[key].key for key in layer.encodings))


def of_lengths(sides: Sides) -> Iterator[Difference]:
    """The difference of contexts, of which the files give one at least."""
    a, b = (side.filled_context for side in sides)
    if a and b and a != b and any(side.context for side in sides):
        keys = [
            keys_of(side.files.config, "n_positions", "" if side.context else side.class_of_words)
            for side in sides
        ]
        yield Difference("context", "", WORDING("context", a=a, b=b, keys=keys), min(a, b))


def keys_of(config: ModelConfig, name: Size, default_of: str = "") -> str:
    """The keys of the file that a size is from, or the config class whose default it is."""
    path = dotted(config.path_of(name))
    keys = [] if default_of else list((config.keys_of_file or {}).get(path, [path]))
    return origins.WORDING("origin", keys=keys, default_of=default_of, source=config.source)


def _of_layers(part: str, sides: Sides) -> Iterator[Difference]:
    """Differences of the layers of a part, equal ones together."""
    pairs = [side.layers[part] for side in sides]
    a, b = map(len, pairs)
    if a != b:
        yield Difference("n_layers", part, WORDING("n_layers", part=part, a=a, b=b))
        return
    found: dict[tuple[str, Any], list[int]] = {}
    for layer, twin in zip(*pairs, strict=True):
        for key in _of_layer((layer, twin), sides):
            found.setdefault(key, []).append(layer.index)
    for (kind, values), layers in found.items():
        where = WORDING("layers_of", part=part, layers=layers, n_layers=a)
        meaning = MEANINGS[kind](values, sides)
        text = WORDING(kind, where=where, **meaning)
        yield Difference(kind, part, text, meaning.get("half_turn"))


def _of_layer(pair: tuple[Layer, Layer], sides: Sides) -> Iterator[tuple[str, Any]]:
    """What differs in one layer: the kind of the sentence, and what it is about."""
    reaches = tuple(_reach(layer, side) for layer, side in zip(pair, sides, strict=True))
    if reaches[0] != reaches[1]:
        yield "mixing", reaches
    if any(layer.encodings is None for layer in pair):
        return
    keys = tuple(
        tuple(key for key in layer.encodings or () if key in side.rotations)
        for layer, side in zip(pair, sides, strict=True)
    )
    if bool(keys[0]) != bool(keys[1]):
        yield "rotation_alone", keys
        return
    if keys[0] and turn_otherwise(keys, sides):
        yield "rotation", keys
    if keys[0] and _longer_otherwise(keys, sides):
        yield "longer", keys
    if keys[0] and len({form.growth for form in _first_forms(keys, sides)}) > 1:
        yield "growing", keys


def _reach(layer: Layer, side: Side) -> tuple[tuple[str, ...], int | None, int | None]:
    """Its ways of mixing positions, and how far it sees within the context."""
    context = side.context or math.inf
    before, after = (
        None if reach is None or reach >= context - 1 else reach
        for reach in (layer.before, layer.after)
    )
    limits = before is not None or after not in (None, 0) or layer.is_of_unknown_width
    mixers = layer.mixers if limits else tuple(
        "full" if mixer in LIMITED else mixer for mixer in layer.mixers
    )  # fmt: skip
    return tuple(sorted(mixers)), before, after


def turn_otherwise(keys: Sequence[Sequence[str]], sides: Sides) -> bool:
    """Whether two rotations, or several for axes, turn by other angles or factors, or as many pairs
    of wider heads.
    """
    forms = [
        [side.rotations[key].form for key in of_side]
        for of_side, side in zip(keys, sides, strict=True)
    ]
    angles = [np.sort(np.concatenate([form.frequencies for form in each]))[::-1] for each in forms]
    factors = [each[0].attention_factor for each in forms]
    return (
        angles[0].shape != angles[1].shape
        or not np.allclose(angles[0], angles[1], rtol=CLOSE, atol=0.0)
        or not math.isclose(*factors, rel_tol=CLOSE)
        or sides[0].has_other_heads(keys[0][0], sides[1], keys[1][0])
    )


def _longer_otherwise(keys: Sequence[Sequence[str]], sides: Sides) -> bool:
    """Whether LongRoPE turns longer texts by other ratios, or other texts by them."""
    one, other = _longer_forms(keys, sides)
    if not (one.has_two_lists or other.has_two_lists):
        return False
    return (
        one.short != other.short
        or len(one.long_factors) != len(other.long_factors)
        or not np.allclose(one.long_factors, other.long_factors, rtol=CLOSE, atol=0.0)
    )


def _longer_forms(keys: Sequence[Sequence[str]], sides: Sides) -> list[Rotation]:
    """The first rotation of each, with the ratios that the code of a family passes over."""
    return [replace(form, keeps_short=False) for form in _first_forms(keys, sides)]


def _first_forms(keys: Sequence[Sequence[str]], sides: Sides) -> list[Rotation]:
    return [side.rotations[of_side[0]].form for of_side, side in zip(keys, sides, strict=True)]


def _growing(keys: Sequence[Sequence[str]], sides: Sides) -> Json:
    """The factor by which each base grows, and beyond which position."""
    forms = _first_forms(keys, sides)
    return {
        name: None if form.growth is None else {"factor": form.growth, "beyond": form.n_positions}
        for name, form in zip("ab", forms, strict=True)
    }


def _longer(keys: Sequence[Sequence[str]], sides: Sides) -> Json:
    """Beyond which position the ratios of longer texts hold in each, the ends of these, and where
    they part most.
    """
    forms = _longer_forms(keys, sides)
    ends = {
        name: {"beyond": form.short, "ends": (min(form.long_factors), max(form.long_factors))}
        if form.long_factors
        else None
        for name, form in zip("ab", forms, strict=True)
    }
    return {**ends, "most": most_apart(*(form.long_factors for form in forms))}


def _turning(keys: Sequence[Sequence[str]], sides: Sides) -> Json:
    """The values in the sentence on two rotations: each in words with the origin of its base, and
    how fast their angles part.
    """
    a, b = (side.rotations[of_side[0]] for of_side, side in zip(keys, sides, strict=True))
    both = a.record.parameters, b.record.parameters
    differing = [name for name in DEFINING if both[0].get(name) != both[1].get(name)]
    one, other = (_of_all_texts(each.form) for each in (a, b))
    step = float(np.abs(one - other).max()) if one.shape == other.shape else 0.0
    half = math.ceil(math.pi / step) if step else None
    shown = {"a": rotation_in_words(a, differing), "b": rotation_in_words(b, differing)}
    settings = scalings_apart(*(each.get("scaling") or {} for each in both))
    if np.isclose(a.form.attention_factor, b.form.attention_factor, rtol=CLOSE):
        settings = [each for each in settings if each["name"] != FACTOR]
    return {**shown, "step": step, "half_turn": half, "settings": settings}


def _of_all_texts(form: Rotation) -> Floats:
    """Its frequencies in shorter texts and in longer ones: (2, n_pairs)."""
    long = form.long_factors
    return np.stack(
        [form.frequencies, form.unscaled_frequencies / long if long else form.frequencies]
    )


def rotation_in_words(encoding: Encoding[Form], names: Sequence[str] = ("base",)) -> str:
    """A rotation in words, with the origins of these of its parameters."""
    record = encoding.record
    known = [name for name in names if name in record.origins]
    of_each = list(dict.fromkeys(origins.of_parameter(record, name) for name in known))
    return WORDING(
        "rotation_of",
        text=origins.rotation_in_words(record.parameters),
        origins=of_each,
        tensor=record.provenance.tensor,
    )


def _mixing(reaches: Any, sides: Sides) -> Json:
    a, b = (
        WORDING("reach", mixers=[*mixers], before=before, keys=_keys_of_layers(side))
        for (mixers, before, _), side in zip(reaches, sides, strict=True)
    )
    return {"a": a, "b": b}


def _keys_of_layers(side: Side) -> str:
    """The keys of the file on which its layers depend, without that of their number."""
    config = side.files.config
    of_layers = evidence(config).keys.get("", {}).get("layers", ()) if config.settings else ()
    keys = [key for key in of_layers if concerns_position(tuple(key.split(".")))]
    return origins.WORDING("origin", keys=keys, default_of="", source=config.source) if keys else ""


def _alone_in(keys: Sequence[Sequence[str]], sides: Sides) -> Json:
    has, lacks = sides if keys[0] else sides[::-1]
    [key, *_] = keys[0] or keys[1]
    return {
        "has": has.name,
        "lacks": lacks.name,
        "text": rotation_in_words(has.rotations[key]),
        "open": " ".join(lacks.asked),
    }


MEANINGS: Mapping[str, Callable[[Any, Sides], Json]] = {
    "mixing": _mixing,
    "rotation": _turning,
    "rotation_alone": _alone_in,
    "longer": _longer,
    "growing": _growing,
}


def _of_numbers(pair: Sequence[Encoding[Form]], sides: Sides) -> Iterator[Difference]:
    """Differences of two encodings of one scheme: of rotations in how they turn, of others in
    shape, or in values beyond the rounding of their types.
    """
    part = pair[0].part
    if isinstance(pair[0].form, Rotation):
        keys = [(one.key,) for one in pair]
        if turn_otherwise(keys, sides):
            where, meaning = WORDING("in_part", part=part), _turning(keys, sides)
            text = WORDING("rotation", where=where, **meaning)
            yield Difference("rotation", part, text, meaning["half_turn"])
    elif all(isinstance(one.form, PositionTable) or _has_numbers(one) for one in pair):
        # The shape of a table that was not read is that of the code of its family.
        told = {"part": part, "scheme": scheme_of(pair[0]).title}
        one, other = (each.form.numbers for each in pair)
        if one.shape != other.shape:
            text = WORDING("shape", **told, a=times(one.shape), b=times(other.shape))
            yield Difference("shape", part, text)
        elif all(_has_numbers(one) for one in pair) and _differ(pair):
            with np.errstate(invalid="ignore"):
                apart = float(np.nan_to_num(np.abs(one - other), nan=math.inf).max())
            values = {"apart": apart if math.isfinite(apart) else None, "largest": _largest(one)}
            yield Difference("values", part, WORDING("values", **told, **values))


def _rounded(pair: Sequence[Encoding[Form]]) -> Iterator[str]:
    """What there is to say of stored numbers that are equal but for rounding."""
    one, other = (each.form.numbers for each in pair)
    if not all(each.provenance.sha256 for each in pair) or one.shape != other.shape:
        return
    if not np.array_equal(one, other, equal_nan=True) and not _differ(pair):
        a, b = (each.provenance.dtype for each in pair)
        yield WORDING("rounded", part=pair[0].part, scheme=scheme_of(pair[0]).title, a=a, b=b)


def _differ(pair: Sequence[Encoding[Form]]) -> bool:
    """Whether numbers of one shape differ by more than the rounding of their types."""
    one, other = (each.form.numbers for each in pair)
    rounding = max(_rounding(each, _largest(one)) for each in pair)
    return not np.allclose(one, other, rtol=0.0, atol=rounding, equal_nan=True)


def _largest(numbers: Floats) -> float:
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))


def _has_numbers(encoding: Encoding[Form]) -> bool:
    """Whether the numbers are of a formula, or of a tensor that was read."""
    return encoding.provenance.tensor is None or bool(encoding.provenance.sha256)


def _rounding(encoding: Encoding[Form], largest: float) -> float:
    """How far stored numbers may be from those that were rounded to them: a step of a type with
    steps, by which some miss the largest value (Q4_0 of ggml).
    """
    of_type = ROUNDING.get(encoding.provenance.dtype or "F32")
    if of_type is not None:
        return of_type * largest
    numbers = encoding.form.numbers
    found = steps(numbers.reshape(-1, numbers.shape[-1]))
    return ROUNDING["F32"] * largest if found is None else float(found.max())


def _of_schemes(
    common: Sequence[str], of_each: Sequence[Mapping[Key, Encoding[Form]]], sides: Sides
) -> Iterator[Difference]:
    """Encodings of one scheme in a part that both have, where one has it alone."""
    for index, side in enumerate(sides):
        for part, scheme in sorted(of_each[index].keys() - of_each[1 - index].keys()):
            encoding = of_each[index][part, scheme]
            beside_all = common and part.startswith(IN_ATTENTION)
            is_of_both = beside_all or any(f"{part} ".startswith(f"{name} ") for name in common)
            if is_of_both and not sides[1 - index].is_open:
                title = scheme_of(encoding).title
                told = {"part": part, "scheme": title, "has": side.name}
                text = WORDING("scheme_alone", **told, lacks=sides[1 - index].name)
                yield Difference("scheme_alone", part, text)


def _of_settings(sides: Sides) -> Iterator[Difference]:
    """Factors on all logits, orders of pairs and their axes, where both files give them."""
    factors = [_magnitude(side) for side in sides]
    if not math.isclose(*factors, rel_tol=CLOSE):
        yield Difference("magnitude", "", WORDING("magnitude", a=factors[0], b=factors[1]))
    said = orders_by_side(sides)
    is_said = None not in said.values() and len({one[-1] for one in said.values() if one}) > 1
    if is_said and not all(by_weights(side.files, side.found.all) for side in sides):
        yield Difference("pair_order", "", WORDING("pair_order", **said))
    orders = [pair_order(side.files, side.found.all) for side in sides]
    for side, (order, is_contradicted), (_, other) in zip(sides, orders, orders[::-1], strict=True):
        if is_contradicted and not other:
            text = WORDING("pair_order_contradicted", side=side.name, order=order)
            yield Difference("pair_order", "", text)
    sections = [
        next((list(each.listed(SECTIONS)) for each in side.blocks_of_sections), None)
        for side in sides
    ]
    if None not in sections and sections[0] != sections[1]:
        a, b = ([str(size) for size in each] for each in sections if each is not None)
        text = WORDING("sections", key=SECTIONS, a=a, b=b)
        yield Difference("sections", "", text)


def _of_words(sides: Sides) -> Iterator[str]:
    """That one side alone has the word by which programs know the sections of a rotation."""
    a, b = (side.word_of_sections for side in sides)
    if a != b and OF_SECTIONS in (a, b) and None not in (a, b):
        yield WORDING("word_of_sections", a=a, b=b, word=OF_SECTIONS)


def orders_by_side(sides: Sides) -> dict[str, Stated | None]:
    """The orders of pairs by keys, or by the code of the family of a side without one; none unless
    a side has one, and where a format has an order of its own.
    """
    said = {
        name: next(stated_orders(side.files.config), None)
        for name, side in zip("ab", sides, strict=True)
        if side.rotations
    }
    ways = {one and one[0] for one in said.values()}
    is_keyed = len(said) == len(sides) and "key" in ways and ways <= {"key", "family", None}
    return said if is_keyed and all(side.files.config.source == CONFIG for side in sides) else {}


def _magnitude(side: Side) -> float:
    factors = (yarn_magnitude(each.form.scaling) for each in side.rotations.values())
    return (
        next((factor for factor in factors if factor), 1.0) if side.files.config.is_latent else 1.0
    )


def _untold(
    common: Sequence[str], beside: Sequence[Mapping[Key, Encoding[Form]]], sides: Sides
) -> Iterator[str]:
    """What one of the files does not tell of what both have."""
    for side, of_side in zip(sides, beside, strict=True):
        yield from (WORDING("asked", side=side.name, text=text) for text in side.asked)
        for part in common:
            if any(layer.encodings is None for layer in side.layers[part]):
                yield WORDING("layers_unknown", side=side.name, part=part)
        for encoding in _without_numbers(of_side, beside):
            if encoding.form.tells_position:
                yield _numbers_unread(side, encoding)
        if (tensor := _stored_otherwise(side)) is not None:
            yield WORDING("stored_otherwise", side=side.name, tensor=tensor)
        if (said := orders_by_side(sides)) and said[side.name.lower()] is None:
            yield WORDING("order_untold", **said)
        if not side.layers:
            yield side.without_layers


def _stored_otherwise(side: Side) -> str | None:
    """The tensor whose frequencies no rotation of its settings has, if there is one: an ONNX graph
    turns by it, a model of transformers does not.
    """
    has_both = side.rotations and side.files.config.settings
    stored = stored_rotation(side.files) if has_both else None
    if stored is None or any(
        stored.equals(one.form.frequencies) for one in side.rotations.values()
    ):
        return None
    return stored.name


def _without_numbers(
    of_side: Mapping[Key, Encoding[Form]], beside: Sequence[Mapping[Key, Encoding[Form]]]
) -> Iterator[Encoding[Form]]:
    """Encodings that both have, with numbers that were not read on this side."""
    for key, encoding in of_side.items():
        if not _has_numbers(encoding) and all(key in each for each in beside):
            yield encoding


def _not_weighed(sides: Sides) -> Iterator[str]:
    """That the weights of one do not tell the order of its pairs, because of their type."""
    for side in sides:
        if side.rotations and (types := types_not_read(side.files)):
            yield WORDING("not_weighed", side=side.name, types=types)


def _by_default(sides: Sides) -> Iterator[str]:
    """What a config class fills in on one side where the other has keys, and what programs without
    that class take there.
    """
    for side, other in (sides, sides[::-1]):
        if not is_read(side.files.config):
            continue
        named = _with_keys_for(other)
        filled = [
            (name, one)
            for one in side.rotations.values()
            if one.is_of_words
            for name in FILLED
            if name in named and (origin := one.record.origins.get(name)) and not origin.keys
        ]
        if filled:
            every = taken(side.files.config.settings, side.files.where)
            ours = ours_of(every)
            others = {
                each.reader.name: each.words
                for each in every
                if each.is_known and (each.refused or not each.turns_as(ours))
            }
            names = list(dict.fromkeys(name for name, _ in filled))
            told = {"side": side.name, "names": names, "words": ours.words}
            if others and ours.words:
                yield WORDING("by_default", **told, others=others)


def _with_keys_for(side: Side) -> set[str]:
    """Parameters of its rotations that keys give."""
    return {
        name
        for one in side.rotations.values()
        if one.is_of_words
        for name, origin in one.record.origins.items()
        if origin.keys
    }


def _numbers_unread(side: Side, encoding: Encoding[Form]) -> str:
    title = scheme_of(encoding).title
    return WORDING("numbers_unread", side=side.name, part=encoding.part, scheme=title)


def _alone(sides: Sides) -> Iterator[str]:
    """Parts with encodings that one side has alone."""
    parts = [
        {one.part.split()[0] for one in side.encodings.values()} | {*side.layers} for side in sides
    ]
    for index, side in enumerate(sides):
        for part in sorted(parts[index] - parts[1 - index]):
            yield WORDING("part_alone", part=part, side=side.name)
