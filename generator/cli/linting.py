"""The command that says what may go wrong with the position encoding of a checkpoint."""

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias
from urllib.parse import quote

import typer

from generator import PROGRAM, __version__
from generator.cli.application import FAILED, OK, REFUSED, app, err, out, reporting_errors
from generator.cli.deferral import deferred
from generator.errors import AtlasError, RefusedError

if TYPE_CHECKING:
    from generator.contracts import Checkpoint, LintFinding

with deferred():
    from generator import text
    from generator.checkpoints import list_file
    from generator.checkpoints.files import weights
    from generator.checkpoints.files.other_configs import READERS
    from generator.pipeline import local_pool
    from generator.reading import lint as linter
    from generator.reading import named, plan

STDIN = "-"
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
Found: TypeAlias = "list[tuple[str, LintFinding]]"


class Level(StrEnum):
    """Of a finding, the gravest first."""

    error, warning, note, fact = "error", "warning", "note", "fact"


LEVELS = tuple(Level)
EXAMPLES = """Examples:

\b
  position-atlas lint HuggingFaceTB/SmolLM3-3B
  position-atlas lint ./my-model ./its-conversion --ignore two-places
  position-atlas lint --level warning */config.json
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
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print SARIF 2.1.0, which code scanning takes.")
    ] = False,
) -> None:
    """Say what programs get wrong about the position encoding of checkpoints: one line for each
    finding, with its rule.

    Exit codes: 0 no warning; 1 at least one warning or error; 2 a checkpoint could not be read.
    """
    with reporting_errors(), ExitStack() as stack:
        _check_known(frozenset(ignored or ()))
        tasks = _tasks(sources or [], config_file, stack)
        every, n_unread = _all(tasks, frozenset(ignored or ()))
    least = LEVELS.index(level)
    found = [(where, one) for where, one in every if LEVELS.index(Level(one.level)) <= least]
    if as_sarif:
        typer.echo(json.dumps(_sarif(found), indent=1))
    elif as_json:
        typer.echo(json.dumps([_as_json(*one) for one in found], indent=1))
    else:
        for where, one in found:
            out.print(f"{where}: {one.level} {one.rule}: {text.visible(one.text)}")
    if n_unread:
        raise typer.Exit(REFUSED)
    raise typer.Exit(FAILED if any(one.level in ("error", "warning") for _, one in found) else OK)


def _check_known(ignored: frozenset[str]) -> None:
    """errors: RefusedError for what is no rule"""
    known = {rule.key for rule in linter.all_rules()} if ignored else set()
    if unknown := sorted(ignored - known):
        raise RefusedError(
            f"--ignore {unknown[0]}: no rule; expected one of {', '.join(sorted(known))}"
        )


def _tasks(sources: Sequence[str], config_file: Path | None, stack: ExitStack) -> "list[plan.Task]":
    """errors: RefusedError where neither is given"""
    if not sources and config_file is None:
        raise RefusedError("lint: expected a folder, a file, a Hub id, or a list with --config")
    checkpoints = [_checkpoint(source, stack) for source in sources]
    if config_file is not None:
        checkpoints += list_file.load(config_file, plan.all_sources())
    tasks = plan.plan(checkpoints, offline=False)
    return [task for task in tasks if not plan.source_of(task.checkpoint).has_runs]


def _checkpoint(source: str, stack: ExitStack) -> "Checkpoint":
    """What is named: of a file of settings its folder, and of settings under another name a folder
    with these alone, for as long as ``stack`` is open.
    """
    folder, _, name = source.rpartition("/")
    if name in (weights.CONFIG, *READERS):
        return named.checkpoint_at(folder or ".")
    path = list_file.expanded(source)
    is_alone = path.suffix == ".json" and not source.endswith(weights.suffixes())
    if source != STDIN and not (is_alone and path.is_file()):
        return named.checkpoint_at(source)
    settings = sys.stdin.buffer.read() if source == STDIN else path.read_bytes()
    alone = Path(stack.enter_context(TemporaryDirectory()))
    (alone / weights.CONFIG).write_bytes(settings)
    return replace(named.checkpoint_at(alone), id=source)


def _all(tasks: "Sequence[plan.Task]", ignored: frozenset[str]) -> "tuple[Found, int]":
    """All findings with the names of their files, and the number of checkpoints that could not be
    read, which are reported.
    """
    found: Found = []
    n_unread = 0
    with local_pool.reading(local_pool.WITHOUT_TORCH) as executor:
        for task in tasks:
            try:
                with named.hub_errors(task.checkpoint):
                    file, every = local_pool.within_limits(executor, linter.linted, task)
            except AtlasError as error:
                err.print(str(error))
                n_unread += 1
                continue
            where = _where(task.checkpoint, file)
            found += [(where, one) for one in every if one.rule not in ignored]
    return found, n_unread


def _where(checkpoint: "Checkpoint", file: str) -> str:
    """The file with the settings, as ``lint`` takes it."""
    place = checkpoint.id
    if not file or place.endswith((file, ".json")) or place == STDIN:
        return place
    is_of_a_file = place.endswith(weights.suffixes())
    return f"{place.rpartition('/')[0] or '.'}/{file}" if is_of_a_file else f"{place}/{file}"


def _as_json(where: str, one: "LintFinding") -> dict[str, str]:
    return {"file": where, "rule": one.rule, "level": one.level, "text": one.text}


def _sarif(found: Found) -> dict[str, Any]:
    """The findings in SARIF 2.1.0 (OASIS 2020)."""
    rules = [
        {
            "id": rule.key,
            "shortDescription": {"text": rule.wording("title")},
            "fullDescription": {"text": rule.wording("looks_for")},
            "help": {"text": f"{rule.wording('why')} {rule.wording('mend')}"},
        }
        for rule in linter.all_rules()
    ]
    results = [
        {
            "ruleId": one.rule,
            "level": "none" if one.level == "fact" else one.level,
            "message": {"text": one.text},
            "locations": [
                {"physicalLocation": {"artifactLocation": {"uri": quote(where, safe="/:@")}}}
            ],
        }
        for where, one in found
    ]
    driver = {"name": PROGRAM, "version": __version__, "rules": rules}
    return {
        "$schema": SARIF,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
