"""The command that says what may go wrong with the position encoding of a checkpoint."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from generator import PROGRAM, __version__
from generator.cli import muting
from generator.cli.application import FAILED, OK, REFUSED, app, err, out
from generator.cli.deferral import deferred
from generator.cli.terminal import json_text
from generator.errors import AtlasError, RefusedError

if TYPE_CHECKING:
    from generator.contracts import Checkpoint, Linted, LintFinding

with deferred():
    from generator import text
    from generator.checkpoints import list_file
    from generator.checkpoints.files import named_paths, other_configs, weights
    from generator.cli import beside
    from generator.pipeline import linted, local_pool
    from generator.reading import json_patch, named, plan
    from generator.reading import lint as linter

STDIN = "-"
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "positionAtlas/v1"


@dataclass(frozen=True)
class Report:
    """What is found of all checkpoints that are named.

    found: findings with their files and lines; unread: names of those that could not be read, with
        the reason
    """

    found: "list[tuple[str, int, LintFinding]]" = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    n_read: int = 0

    def miss(self, name: str, reason: str) -> None:
        """Print why one could not be read, and keep it."""
        err.print(reason)
        self.unread.append((name, reason))


class Level(StrEnum):
    """Of a finding, the gravest first."""

    error, warning, note, fact = "error", "warning", "note", "fact"


LEVELS = tuple(Level)
EXAMPLES = """Examples:

\b
  position-atlas lint HuggingFaceTB/SmolLM3-3B
  position-atlas lint ./my-model ./its-conversion --ignore two-places
  position-atlas lint --level warning */config.json exports/*
  position-atlas lint ./my-model --as mlx-lm
  position-atlas lint --config checkpoints.yml --sarif > lint.sarif
"""


@app.command(epilog=EXAMPLES)
def lint(  # noqa: PLR0913, PLR0917 (one for each option)
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            show_default=False,
            help=(
                "Folders, weights files and Hub ids, as inspect takes them; also files of"
                " settings, such as my-model/config.json, and - for one on standard input."
            ),
        ),
    ] = None,
    config_file: Annotated[
        Path | None,
        typer.Option("--config", help="A list of checkpoints, all of whose entries are read."),
    ] = None,
    ignored: Annotated[
        list[str] | None, typer.Option("--ignore", help="A rule to leave out; may be repeated.")
    ] = None,
    level: Annotated[
        Level,
        typer.Option(help="The least level that is printed; fact: also what is normal."),
    ] = Level.note,
    failing: Annotated[
        Level, typer.Option("--fail-on", help="The least level with which it ends with 1.")
    ] = Level.warning,
    reader: Annotated[
        str,
        typer.Option("--as", help="A program, such as mlx-lm: what it takes, and no other does."),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print SARIF 2.1.0, which code scanning takes.")
    ] = False,
    as_patch: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Print a JSON Patch (RFC 6902) of one config.json, after which programs agree on"
            " the rotation; nothing is written.",
        ),
    ] = False,
) -> None:
    """Say what programs get wrong about the position encoding of checkpoints: one line for each
    finding, with its rule. The nearest position-atlas.toml, or the table tool.position-atlas.lint
    of a pyproject.toml, leaves out rules.

    Exit codes: 0 no warning; 1 at least one warning or error; 2 a checkpoint could not be read.
    """
    beside.own.use(config_file.parent if config_file else Path(), has_code=config_file is not None)
    muted = muting.muted(lambda: [rule.key for rule in linter.all_rules()], ignored or ())
    if reader:
        linter.check_reader(reader)
    report = Report()
    with ExitStack() as stack:
        tasks = _tasks(sources or [], config_file, stack, report)
        if as_patch and len(tasks) != 1:
            raise RefusedError(f"--fix: found {len(tasks)} checkpoints; expected one")
        report = _all(tasks, partial(linted.linted, reader=reader), report)
    every = [one for one in report.found if not muted.is_muted(one[-1].rule, one[0])]
    shown = [one for one in every if one[-1].level in _from(level)]
    makers: list[tuple[bool, Callable[[Report], Any]]] = [
        (as_patch, _patch), (as_sarif, _sarif), (as_json, _as_json)
    ]  # fmt: skip
    make = next((one for is_asked, one in makers if is_asked), None)
    if make is not None:
        typer.echo(json_text(make(replace(report, found=shown)), default=str))
    else:
        for where, _, one in shown:
            out.print(f"{where}: {one.level} {one.rule}: {one.text}")
    if report.unread:
        raise typer.Exit(REFUSED)
    is_failed = any(one[-1].level in _from(failing) for one in shown)
    raise typer.Exit(FAILED if is_failed else OK)


def _from(least: Level) -> tuple[Level, ...]:
    """The levels that are at least as grave."""
    return LEVELS[: LEVELS.index(least) + 1]


def _tasks(
    sources: Sequence[str], config_file: Path | None, stack: ExitStack, report: Report
) -> "list[plan.Task]":
    """What is to be read; what cannot be is in the report.

    errors: RefusedError where neither is given
    """
    if not sources and config_file is None:
        raise RefusedError("lint: expected a folder, a file, a Hub id, or a list with --config")
    checkpoints = []
    for source in sources:
        try:
            checkpoints.append(_checkpoint(source, stack))
        except OSError as error:
            report.miss(source, f"{source}: {error.strerror}; expected a file that can be read")
    if config_file is not None:
        checkpoints += list_file.load(config_file, plan.all_sources())
    tasks = plan.plan(checkpoints, offline=False)
    return [task for task in tasks if not plan.source_of(task.checkpoint).has_runs]


def _checkpoint(source: str, stack: ExitStack) -> "Checkpoint":
    """What is named: of a file of settings its folder, and of settings under another name a folder
    with these alone, for as long as ``stack`` is open.
    """
    around, _, name = source.rpartition("/")
    if name == weights.CONFIG or name in other_configs.READERS:
        return named.checkpoint_at(around or ".")
    path = named_paths.expanded(source)
    is_alone = path.suffix == ".json" and not source.endswith(weights.suffixes())
    if source != STDIN and not (is_alone and path.is_file()):
        return named.checkpoint_at(source)
    most = named_paths.MOST_TEXT_BYTES + 1
    settings = sys.stdin.buffer.read(most) if source == STDIN else named_paths.beginning(path)
    alone = Path(stack.enter_context(TemporaryDirectory()))
    (alone / weights.CONFIG).write_bytes(settings)
    return replace(named.checkpoint_at(alone), id=source)


def _all(tasks: "Sequence[plan.Task]", lint_one: "Callable[..., Linted]", report: Report) -> Report:
    """What is found of each."""
    n_read = 0
    with local_pool.reading(local_pool.WITHOUT_TORCH) as executor:
        for task in tasks:
            try:
                with named.hub_errors(task.checkpoint):
                    told = local_pool.within_limits(executor, lint_one, task)
            except AtlasError as error:
                report.miss(task.checkpoint.id, str(error))
                continue
            n_read += 1
            where = _where(task.checkpoint, told.file)
            for one in told.findings:
                line = next((told.lines[key] for key in one.keys if key in told.lines), 0)
                report.found.append((where, line, one))
    return replace(report, n_read=n_read)


def _where(checkpoint: "Checkpoint", file: str) -> str:
    """The file with the settings, as ``lint`` takes it."""
    place = checkpoint.id
    if not file or place.endswith((file, ".json")) or place == STDIN:
        return place
    is_of_a_file = place.endswith(weights.suffixes())
    return f"{place.rpartition('/')[0] or '.'}/{file}" if is_of_a_file else f"{place}/{file}"


def _as_json(report: Report) -> dict[str, Any]:
    levels: Counter[str] = Counter(one.level for *_, one in report.found)
    return {
        "version": __version__,
        "findings": [
            {"file": where, **asdict(one), "line": line or None}
            for where, line, one in report.found
        ],
        "unread": [{"file": name, "reason": reason} for name, reason in report.unread],
        "summary": {
            "read": report.n_read,
            "unread": len(report.unread),
            **{level.value: levels[level] for level in LEVELS},
        },
    }


def _patch(report: Report) -> list[dict[str, Any]]:
    """What makes programs agree, which is the same in every finding that has it."""
    mends = (one.values["mend"] for *_, one in report.found if one.values.get("mend"))
    mend: dict[str, Any] = next(mends, {})
    return [json_patch.added(path.split("."), value) for path, value in mend.items()]


def _sarif(report: Report) -> dict[str, Any]:
    """The findings in SARIF 2.1.0 (OASIS 2020)."""
    rules = [
        {
            "id": rule.key,
            "shortDescription": _message(rule.wording("title")),
            "fullDescription": _message(rule.wording("looks_for")),
            "help": _message(f"{rule.wording('why')} {rule.wording('mend')}"),
            "helpUri": rule.wording("thread"),
        }
        for rule in linter.all_rules()
    ]
    before: Counter[tuple[str, ...]] = Counter()
    results = [_result(*one, before) for one in report.found]
    driver = {"name": PROGRAM, "version": __version__, "rules": rules}
    notes = [{"level": "error", "message": _message(reason)} for _, reason in report.unread]
    run = {"executionSuccessful": not notes, "toolExecutionNotifications": notes}
    return {
        "$schema": SARIF,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "invocations": [run], "results": results}],
    }


def _result(
    where: str, line: int, one: "LintFinding", before: "Counter[tuple[str, ...]]"
) -> dict[str, Any]:
    """before: how often each rule was found of the same keys of a file, which goes up"""
    uri = quote(where, safe="/:@", errors="surrogateescape")
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if line:
        place["region"] = {"startLine": line}
    subject = (one.rule, where, *one.keys)
    before[subject] += 1
    counted = "\n".join((*subject, str(before[subject])))
    mark = sha256(counted.encode(errors="surrogatepass")).hexdigest()
    return {
        "ruleId": one.rule,
        "level": "none" if one.level == "fact" else one.level,
        "message": _message(one.text),
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {FINGERPRINT: mark},
    }


def _message(plain: str) -> dict[str, str]:
    """A message that is shown literally: SARIF 2.1.0, section 3.11.5, has places for arguments in
    braces, and 3.11.6 links in brackets.
    """
    braced = text.visible(plain).replace("{", "{{").replace("}", "}}")
    return {"text": re.sub(r"(\\*)([][])", r"\1\1\\\2", braced)}
