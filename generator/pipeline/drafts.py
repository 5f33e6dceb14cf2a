"""Whether a draft model fits its target, in speculative decoding."""

import re
from collections.abc import Iterator

from generator.checkpoints.model import origins
from generator.checkpoints.model.keys import dotted, leaves
from generator.contracts import Comparison, Difference, ModelConfig, Size, Verdict
from generator.contracts.model_config import ROPE
from generator.reading.comparison import (
    WORDING,
    keys_of,
    of_lengths,
    orders_by_side,
    rotation_in_words,
)
from generator.reading.plan import Task
from generator.reading.sides import Side, Sides, sides_or_shipped

# Draft models that read hidden states of their target: EAGLE (arXiv 2401.15077) and later ones.
OF_HEADS = re.compile(r"eagle|dflash|speculator|draftmodel", re.IGNORECASE)
KEYS_OF_HEADS = (
    "draft_vocab_size", "eagle_config", "dflash_config", "speculators_model_type",
    "num_target_layers", "target_layer_ids", "target_hidden_size",
)  # fmt: skip
# The width of these hidden states, where it is not that of the draft.
OF_TARGET = "target_hidden_size"
# Vocabularies are padded to multiples of 128 on each of 8 devices (make_vocab_size_divisible_by of
# Megatron-LM).
PADDING = 1024


def compare(target: Task, draft: Task) -> Comparison:
    """As ``drafted``, of two tasks. errors: RowError, NotReachedError"""
    return drafted(*sides_or_shipped(target, draft))


def drafted(target: Side, draft: Side) -> Comparison:
    """Whether a draft model can propose tokens at every position of its target, in speculative
    decoding: it reaches as far, has its vocabulary, and reads hidden states of its width if it
    reads any. A draft keeps the rotation that it was trained with, whatever that of its target is.
    """
    sides = target, draft
    a, b = (side.context for side in sides)
    reads = _reads_hidden_states(draft.files.config)
    untold = [WORDING("no_context", side=side.name) for side, one in zip(sides, (a, b), strict=True)
              if not one]  # fmt: skip
    tokens = [side.files.config.size("vocab_size") for side in sides]
    differences = [] if not (a and b) or b >= a else [*of_lengths(sides)]
    vocabularies = [*_of_vocabularies(sides, reads=reads)]
    differences += [one for one, is_padded in vocabularies if not is_padded]
    differences += _of_widths(sides) if reads else ()
    verdict: Verdict = "equal as far as both files tell" if untold else "equal"
    if differences:
        verdict = "different"
    elif not (a and b) and not all(tokens):
        verdict = "cannot be compared"
    padded = (one.text for one, is_padded in vocabularies if is_padded)
    rotations = (*_of_rotations(sides, reads=reads), *_of_pairs(sides))
    shipped = (side.shipped for side in sides if side.shipped)
    notes = (WORDING("draft", reads=reads), *padded, *rotations, *shipped)
    return Comparison(verdict, tuple(differences), tuple(untold), notes)


def _of_vocabularies(sides: Sides, *, reads: bool) -> Iterator[tuple[Difference, bool]]:
    """That vocabularies differ, and whether by no more than padding."""
    a, b = (side.files.config.size("vocab_size") for side in sides)
    if a and b and a != b:
        told = {"a": a, "b": b, "is_padded": abs(a - b) <= PADDING, "reads": reads}
        text = WORDING("vocabulary", **told, keys=_keys_of_both(sides, "vocab_size"))
        yield Difference("vocabulary", "draft", text), abs(a - b) <= PADDING


def _of_widths(sides: Sides) -> Iterator[Difference]:
    """That the hidden states of the target have another width than those that the draft reads."""
    keys = _keys_of_both(sides, "d_model")
    a, b = (side.files.config.size("d_model") for side in sides)
    for config in sides[1].files.config.nested():
        if (own := config.count(OF_TARGET)) is not None:
            b, keys[1] = own, OF_TARGET
    if a and b and a != b:
        yield Difference("width", "draft", WORDING("width", a=a, b=b, keys=keys))


def _keys_of_both(sides: Sides, name: Size) -> list[str]:
    return [keys_of(side.files.config, name) for side in sides]


def _of_rotations(sides: Sides, *, reads: bool) -> Iterator[str]:
    """The rotations of both, where they differ, and what a head has lost of that of its target."""
    every = [
        [one for one in side.rotations.values() if one.is_of_words] for side in sides
    ]  # fmt: skip
    texts = [dict.fromkeys(map(rotation_in_words, of_side)) for of_side in every]
    bare = [{origins.rotation_in_words(one.record.parameters) for one in of} for of in every]
    if bare[0] == bare[1]:
        return
    yield WORDING("rotations_of_both", a=list(texts[0]), b=list(texts[1]))
    if not (reads and all(every)):
        return
    (one, *_), (other, *_) = every
    bases = [each.record.parameters["base"] for each in (one, other)]
    scalings = [each.record.parameters["scaling"] for each in (one, other)]
    origin = other.record.origins.get("base")
    if bases[0] != bases[1] and origin is not None and not origin.keys:
        yield WORDING("base_dropped", a=bases[0], b=bases[1])
    elif bases[0] == bases[1] and scalings[0] and not scalings[1]:
        nulls = [dotted(path) for path, value in leaves(sides[1].files.config.settings)
                 if path[-1] in ROPE and value is None]  # fmt: skip
        yield WORDING("scaling_dropped", kind=scalings[0]["rope_type"], nulls=nulls)


def _of_pairs(sides: Sides) -> Iterator[str]:
    """The orders of pairs of both, where they differ or one side does not tell."""
    said = orders_by_side(sides)
    if len({one and one[-1] for one in said.values()}) > 1:
        yield WORDING("pair_order" if None not in said.values() else "order_untold", **said)


def _reads_hidden_states(config: ModelConfig) -> bool:
    """Whether a draft is a head of its target (EAGLE and what followed) rather than a model."""
    names = " ".join(map(str, (*config.listed("architectures"), config.family)))
    return bool(OF_HEADS.search(names)) or any(
        name in each for name in KEYS_OF_HEADS for each in config.nested()
    )
