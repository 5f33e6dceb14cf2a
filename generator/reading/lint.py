"""What the rules of ``lint`` find in a checkpoint."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.open_questions import rejections
from generator.contracts import (
    Examined,
    Files,
    Json,
    Linted,
    LintFinding,
    ModelConfig,
    Rule,
    discovery,
)
from generator.contracts.own_guards import OwnCodeError
from generator.encodings import Rotation
from generator.errors import RefusedError, RowError
from generator.reading import rules
from generator.reading.comparison import rotation_in_words
from generator.reading.evidence import evidence, look_closely
from generator.reading.find import Found, all_schemes
from generator.reading.key_lines import lines_of_keys
from generator.reading.plan import Task, opened
from generator.reading.questions import assumed, understood_in_part, unknown_family, unread_keys
from generator.reading.taken import all_readers, is_read, taken, together

LEVELS = ("error", "warning", "note", "fact")
PATH = ("path", "key")  # Of a setting, among the values of a finding.
READERS = "readers"  # The rule with the sentences on what programs take.
UNKNOWN = "not-understood"  # The rule that speaks alone where all else would rest on a guess.


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by its key."""
    return tuple(sorted(discovery.load(rules, Rule), key=lambda rule: rule.key))


def check_reader(key: str) -> None:
    """errors: RefusedError for what is no program whose reading is known, unless it is empty"""
    known = [reader.key for reader in all_readers()]
    if key and key not in known:
        raise RefusedError(f"--as {key}: no known program; expected one of {', '.join(known)}")


def findings(files: Files, found: Found, reader: str = "") -> tuple[LintFinding, ...]:
    """What the rules find where ``found`` are its encodings, the gravest first, each once.

    reader: the key of the program of which it is said what it takes, "" for all
    """
    examined = replace(_examined(files, found), reader=reader)
    unknown = unknown_family(files, found) if files.config.settings else ""
    is_guess = bool(unknown) and (not found.all or any(one.is_guess for one in found.all))
    if is_guess:
        examined = replace(examined, questions=[unknown + _assumed(found)])
    every: dict[LintFinding, None] = {}
    for rule in all_rules():
        if not is_guess or rule.key == UNKNOWN:
            with suppress(RowError):  # Of a setting that no encoding needs.
                try:
                    every |= dict.fromkeys(_of_rule(rule, examined))
                except OwnCodeError as error:
                    every[LintFinding(rule.key, "warning", str(error))] = None
    alone = [one for one in every if not _is_named(one, [*every])]
    return tuple(sorted(alone, key=lambda one: LEVELS.index(one.level)))


def _assumed(found: Found) -> str:
    """The rotations that a guess makes, with the keys that they follow from."""
    texts = [
        rotation_in_words(one, ("base", "rotary_dim"))
        for one in found.all
        if one.is_of_words and isinstance(one.form, Rotation)
    ]
    return f" {assumed(texts)}" if texts else ""


def _of_rule(rule: Rule, examined: Examined) -> Iterator[LintFinding]:
    """errors: RowError"""
    for kind, values in rule.find(examined):
        text, readers = rule.wording(kind, **values), values.get("readers", ())
        keys = _keys(rule, values, examined.files.config)
        yield LintFinding(rule.key, rule.levels[kind], text, keys, tuple(readers), _plain(values))


def _plain(values: Json) -> Json:
    """Values as JSON has them; none where one is no finite number."""
    with suppress(ValueError):
        plain: Json = json.loads(json.dumps(values, allow_nan=False, default=str))
        return plain
    return {}


def _keys(rule: Rule, values: Json, config: ModelConfig) -> tuple[str, ...]:
    """Keys of the file, with dots: those of a finding, or the first that the rule is about."""
    given: Sequence[str] = values.get("paths") or [values[name] for name in PATH if name in values]
    every = list(_places(config.settings))
    placed = [_placed(name, every) for name in given or rule.about]
    found = list(filter(None, placed))[: len(given) or 1]
    own = config.keys_of_file
    if own is None:
        return tuple(found)
    return tuple(key for path in found for key in own.get(path, {}))


def _placed(name: str, every: Sequence[str]) -> str:
    """Where a setting stands, by its path or its name alone; "" where it does not."""
    return next((path for path in every if name in (path, path.rpartition(".")[2])), "")


def _places(settings: Json, around: str = "") -> Iterator[str]:
    """The path of every key, of the outer ones first."""
    yield from (f"{around}{name}" for name in settings)
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _places(value, f"{around}{name}.")


def _is_named(finding: LintFinding, every: Sequence[LintFinding]) -> bool:
    """Whether a finding of another rule is on the key that one finds."""
    key = str(finding.values.get("path", "")).split(".")[-1]
    others = (other.text for other in every if other.rule != finding.rule)
    return bool(key) and any(re.search(rf"\b{re.escape(key)}\b", text) for text in others)


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
        refused, of_layers=evident.keys.get("", {}).get("layers", ()),
    )  # fmt: skip


def linted(task: Task, reader: str = "") -> Linted:
    """What the rules find in the checkpoint of ``task``; reader: as of ``findings``

    errors: RowError, NotReachedError
    """
    if task.problem is not None:
        raise task.problem
    files = opened(task)
    file = files.config.source if files.config.settings else ""
    lines: Mapping[str, int] = {}
    if file.endswith(".json"):
        with suppress(RowError):
            lines = lines_of_keys((files.read(file) or b"").decode(errors="replace"))
    return Linted(file, findings(files, look_closely(files), reader), lines)


def taken_of(task: Task) -> tuple[str, ...]:
    """What programs take from the config.json of a checkpoint, as ``sentences``.

    errors: RowError, also without such a file; NotReachedError
    """
    if task.problem is not None:
        raise task.problem
    config = opened(task).config
    if not is_read(config):
        raise RowError(f"{config.where}: found no config.json, which these programs read")
    return sentences(config)


def sentences(config: ModelConfig) -> tuple[str, ...]:
    """What programs take from a config.json, those together that take the same, and which of them
    were not run.
    """
    every = taken(config.settings, config.where)
    rule = next(rule for rule in all_rules() if rule.key == READERS)
    read = [one.name for one in every if one.is_known and not one.reader.is_run]
    said = [rule.wording(kind, **values) for kind, values in together(every, config.source)]
    return (*said, rule.wording("not_run", readers=read)) if read else tuple(said)
