"""What stays open about a checkpoint."""

import json

from generator.checkpoints.model.open_questions import open_questions
from generator.checkpoints.model.stacks import family_of, has_code, stacks, unknown_parts
from generator.contracts import Files
from generator.pipeline.evidence import evidence
from generator.pipeline.find import Found, all_schemes
from generator.text import short
from generator.words import Words

WORDS = Words("words/questions.jinja")
MOST_SHOWN = 60  # characters of a value


def unresolved(files: Files, found: Found) -> tuple[str, ...]:
    """What stays open, a sentence each."""
    questions = [*open_questions(files, found.all, all_schemes()), found.question]
    questions += [sentence for scheme in all_schemes() for sentence in scheme.asks(files)]
    config = files.config
    if not config.settings:
        return tuple(filter(None, questions))
    unread = [
        (name, short(json.dumps(value), MOST_SHOWN)) for name, value in evidence(config).unread
    ]
    guesses = [family_of(config, one) for one in found.measured if one.is_guess]
    is_known = any(has_code(stack.config.family) for stack in stacks(config))
    if guesses or not (is_known or files.tensors):
        family = next(iter(guesses), config.family)
        questions.append(WORDS("unknown_family", family=family, is_guessed=bool(guesses)))
    questions += [WORDS("unknown_part", name=name, family=of) for name, of in unknown_parts(config)]
    if unread:
        questions.append(WORDS("unread", settings=unread, source=config.source))
    return tuple(filter(None, questions))
