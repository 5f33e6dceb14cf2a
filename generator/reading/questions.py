"""What stays open about a checkpoint."""

from collections.abc import Sequence
from typing import Any

from generator.checkpoints.model import keys
from generator.checkpoints.model.halves import class_name
from generator.checkpoints.model.open_questions import open_questions
from generator.checkpoints.model.resolved import renamed
from generator.checkpoints.model.stacks import known_parts, unknown_parts
from generator.contracts import Files
from generator.contracts.model_config import UNKNOWN
from generator.contracts.wording import Wording
from generator.reading.evidence import evidence
from generator.reading.find import Found, all_schemes
from generator.text import as_json

WORDING = Wording("wording/questions.jinja")
SPECULATOR = "speculators_model_type"  # Of a draft model as speculators saves it.


def unresolved(files: Files, found: Found) -> tuple[str, ...]:
    """What stays open, a sentence each."""
    questions = understood_in_part(files, found)
    known = {name for stack in files.resolved.stacks for name in renamed(stack.config.family)}
    unread = [
        (name, as_json(value))
        for name, value in unread_keys(files, found)
        if name.split(".")[-1] not in known
    ]
    if unread:
        questions.append(WORDING("unread", settings=unread, source=files.config.source))
    return tuple(questions)


def understood_in_part(files: Files, found: Found) -> list[str]:
    """What stays open, a sentence each, without the keys that are not read."""
    questions = [*open_questions(files, found.all, all_schemes()), found.question]
    questions += [sentence for scheme in all_schemes() for sentence in scheme.asks(files)]
    if files.config.settings:
        questions += [unknown_family(files, found), *parts_not_understood(files)]
    return list(filter(None, questions))


def unknown_family(files: Files, found: Found) -> str:
    """A sentence on a family whose code is not known, that the file gives in two ways, or of
    which a file of another program says more than is known; "" for any other.
    """
    config = files.config
    if config.keys_of_file and config.family == UNKNOWN:  # Those of the sizes.
        return WORDING("read_for_sizes", source=config.source, program=config.program)
    guesses = [files.resolved.family_of(one.part) for one in found.measured if one.is_guess]
    resolved, family = files.resolved, next(iter(guesses), files.resolved.readable.family)
    is_known = any(stack.has_code for stack in resolved.stacks)
    is_read = bool(files.tensors or guesses or config.claimed or resolved.stacks[0].has_code)
    parts = () if is_read else known_parts(resolved.readable)
    if config.claimed or guesses or parts or not (is_known or found.all):
        said = {"family": family, "claimed": config.claimed, "is_guessed": bool(guesses)}
        said["speculator"] = config.text(SPECULATOR) or ""
        return WORDING("unknown_family", **said, named=class_name(config), parts=parts)
    return ""


def assumed(rotations: Sequence[str]) -> str:
    """A sentence on rotations, in words, that follow from the settings of an unknown family."""
    return WORDING("assumed", rotations=rotations)


def parts_not_understood(files: Files) -> list[str]:
    """A sentence on each nested config of an unknown type; none where there are tensors."""
    parts = [] if files.tensors else unknown_parts(files.config)
    return [WORDING("unknown_part", name=name, family=family) for name, family in parts]


def unread_keys(files: Files, found: Found) -> list[tuple[str, Any]]:
    """Keys of the settings that concern position and that nothing reads, with their values; where
    there are all tables, those of formulas alone, since tensors say more than the rest.
    """
    if not files.config.settings:
        return []
    by_formula = bool(files.tensors or (found.unmeasured and found.is_complete))
    return [
        (name, value)
        for name, value in evidence(files.config).unread
        if not by_formula or keys.OF_FORMULA.search(name)
    ]
