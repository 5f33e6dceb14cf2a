"""Whether a draft model fits its target, in speculative decoding."""

import re
from collections.abc import Iterator

from generator.contracts import Comparison, Difference, ModelConfig, Verdict
from generator.reading.comparison import (
    MEANINGS,
    WORDING,
    Side,
    Sides,
    of_lengths,
    sides_of,
    turn_otherwise,
)
from generator.reading.plan import Task

# Draft models that read hidden states of their target: EAGLE (arXiv 2401.15077) and later ones.
OF_HEADS = re.compile(r"eagle|dflash|speculator", re.IGNORECASE)
KEYS_OF_HEADS = ("draft_vocab_size", "eagle_config", "speculators_model_type")


def compare(target: Task, draft: Task) -> Comparison:
    """As ``drafted``, of two tasks. errors: RowError, NotReachedError"""
    return drafted(*sides_of(target, draft))


def drafted(target: Side, draft: Side) -> Comparison:
    """Whether a draft model can propose tokens at every position of its target, in speculative
    decoding: it reaches as far, and one that reads hidden states of the target turns them by the
    same angles.
    """
    sides = target, draft
    a, b = (side.context for side in sides)
    differences = [] if not (a and b) or b >= a else [*of_lengths(sides)]
    untold = [WORDING("no_context", side=side.name) for side, one in zip(sides, (a, b), strict=True)
              if not one]  # fmt: skip
    if reads := _reads_hidden_states(draft.files.config):
        differences += _of_draft(sides)
        untold += [
            WORDING("asked", side=side.name, text=text) for side in sides for text in side.asked
        ]
    verdict: Verdict = "equal as far as both files tell" if untold else "equal"
    if differences:
        verdict = "different"
    elif not ((a and b) or reads):
        verdict = "cannot be compared"
    notes = (WORDING("draft", reads=reads),)
    return Comparison(verdict, tuple(differences), tuple(untold), notes)


def _of_draft(sides: Sides) -> Iterator[Difference]:
    """Rotations of a draft that turn as none of its target."""
    own, theirs = (
        [(key,) for key, one in side.rotations.items() if one.is_of_words] for side in sides
    )
    for keys in theirs:
        if all(turn_otherwise((each, keys), sides) for each in own):
            kind, pair = ("rotation", (own[0], keys)) if own else ("rotation_alone", ((), keys))
            text = WORDING(
                kind, where=WORDING("in_part", part="draft"), **MEANINGS[kind](pair, sides)
            )
            yield Difference(kind, "draft", text)


def _reads_hidden_states(config: ModelConfig) -> bool:
    """Whether a draft is a head of its target (EAGLE and what followed) rather than a model."""
    names = " ".join(map(str, (*config.listed("architectures"), config.family)))
    return bool(OF_HEADS.search(names)) or any(
        name in each for name in KEYS_OF_HEADS for each in config.nested()
    )
