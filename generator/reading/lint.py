"""What the rules of ``lint`` find in a checkpoint."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache

from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.open_questions import rejections
from generator.contracts import Examined, Files, LintFinding, Rule, discovery
from generator.errors import RowError
from generator.reading import rules
from generator.reading.evidence import evidence, look_closely
from generator.reading.find import Found, all_schemes
from generator.reading.plan import Task, opened
from generator.reading.questions import understood_in_part, unknown_family, unread_keys
from generator.reading.taken import Taken, is_read, taken

LEVELS = ("error", "warning", "note", "fact")
UNKNOWN = "not-understood"  # The rule that speaks alone where all else would rest on a guess.


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by its key."""
    return tuple(sorted(discovery.load(rules, Rule), key=lambda rule: rule.key))


def findings(files: Files, found: Found) -> tuple[LintFinding, ...]:
    """What the rules find where ``found`` are its encodings, the gravest first, each once."""
    examined = _examined(files, found)
    every: dict[LintFinding, str] = {}
    unknown = unknown_family(files, found) if files.config.settings else ""
    is_guess = bool(unknown) and (not found.all or any(one.is_guess for one in found.all))
    if is_guess:
        examined = replace(examined, questions=[unknown])
    for rule in all_rules():
        if is_guess and rule.key != UNKNOWN:
            continue
        with suppress(RowError):  # Of a setting that no encoding needs.
            for kind, values in rule.find(examined):
                text = rule.wording(kind, **values)
                key = str(values.get("path", "")).split(".")[-1]
                every[LintFinding(rule.key, rule.levels[kind], text)] = key
    alone = [one for one, key in every.items() if not key or not _is_named(key, one, every)]
    return tuple(sorted(alone, key=lambda one: LEVELS.index(one.level)))


def _is_named(key: str, finding: LintFinding, every: Iterable[LintFinding]) -> bool:
    """Whether a finding of another rule is on the same key."""
    others = (other.text for other in every if other.rule != finding.rule)
    return any(re.search(rf"\b{re.escape(key)}\b", text) for text in others)


def _examined(files: Files, found: Found) -> Examined:
    config = files.config
    layers = layer_map(files, found.all, is_complete=found.is_complete)
    refused = tuple(rejections(files))
    questions = [one for one in understood_in_part(files, found) if one not in refused]
    if not config.settings:
        return Examined(files, found.all, layers, questions=questions)
    evident = evidence(config)
    followed = frozenset(
        key for by_parameter in evident.keys.values() for keys in by_parameter.values()
        for key in keys
    )  # fmt: skip
    is_open = any(any(scheme.asks(files)) for scheme in all_schemes())
    return Examined(
        files, found.all, layers, followed, unread_keys(files, found), is_open, questions,
        refused,
    )  # fmt: skip


def linted(task: Task) -> tuple[str, tuple[LintFinding, ...]]:
    """The file with the settings of the checkpoint of ``task``, "" without one, and what the rules
    find.

    errors: RowError, NotReachedError
    """
    if task.problem is not None:
        raise task.problem
    files = opened(task)
    file = files.config.source if files.config.settings else ""
    return file, findings(files, look_closely(files))


def taken_of(task: Task) -> tuple[Taken, ...]:
    """What each program takes from the config.json of a checkpoint.

    errors: RowError, also without such a file; NotReachedError
    """
    if task.problem is not None:
        raise task.problem
    config = opened(task).config
    if not is_read(config):
        raise RowError(f"{config.where}: found no config.json, which these programs read")
    return taken(config.settings, config.where)
