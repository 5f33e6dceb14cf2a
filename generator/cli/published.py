"""Commands on the published configs that the program has."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Annotated

import typer

from generator.cli.application import FAILED, app, err, reporting_errors
from generator.cli.deferral import deferred
from generator.errors import AtlasError, NotReachedError, RefusedError

with deferred():
    from generator import text
    from generator.checkpoints.hub import client
    from generator.encyclopedia import expected as expected_values
    from generator.encyclopedia import known_models, refreshed
    from generator.pipeline import versions

EXAMPLES = """Examples:

\b
  position-atlas models refresh
  position-atlas models refresh --check
  position-atlas models refresh Qwen/Qwen3-8B google/gemma-3-4b-it
"""


@app.command()
def expected(
    name: Annotated[str, typer.Argument(help="The id of a model that the program knows.")],
) -> None:
    """Print what an engine has to compute for a published model, frozen, as JSON."""
    with reporting_errors():
        frozen = {str(model["id"]): model for model in expected_values.frozen()}
        if name not in frozen:
            raise RefusedError(_unknown(name, frozen))
    typer.echo(json.dumps(frozen[name], ensure_ascii=False, indent=1))


group = typer.Typer(
    no_args_is_help=True, help="Maintain the published configs that the program has."
)
app.add_typer(group, name="models")


@group.command(epilog=EXAMPLES)
def refresh(
    ids: Annotated[
        list[str] | None,
        typer.Argument(show_default=False, help="Ids of models, owner/name; by default all."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Write no file, and exit with 1 if something about position would change.",
        ),
    ] = False,
) -> None:
    """Read each published config of the program anew from the Hub, at the commit of main, rewrite
    its file in generator/encyclopedia/models, and print as a Markdown table what changed in
    position. A model that cannot be read stays as it is.

    Exit codes: 0 read; 1 with --check, something about position would change; 2 no model could be
    read, or an id is not one of them.
    """
    with reporting_errors():
        changed = _read(_wanted(ids or []))
        for model in () if check else changed:
            known_models.file_of(model.id).write_text(model.text, encoding="utf-8")
    typer.echo(refreshed.table(changed))
    if check and any(model.position for model in changed):
        raise typer.Exit(FAILED)


def _unknown(name: str, known: Iterable[str]) -> str:
    near = "".join(f"; nearest: {one}" for one in get_close_matches(name, known, n=1))
    return f"{name!r:.80}: no published config of the program has this id{near}"


def _wanted(ids: Sequence[str]) -> Sequence[str]:
    """These ids, or all. errors: RefusedError for one that is not known"""
    known = [model.id for model in known_models.known_models()]
    problems = [_unknown(name, known) for name in ids if name not in known]
    if problems:
        raise RefusedError(*problems)
    return list(dict.fromkeys(ids)) or known


def _read(ids: Sequence[str]) -> "Sequence[refreshed.Refreshed]":
    """Those whose file changes. A line says of each model whether it does, or why it was not read.

    errors: RefusedError where none was
    """
    seconds = versions.given_time()
    now = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    found = []
    try:
        client.reach()
        for name in ids:
            try:
                found.append(refreshed.refreshed(name, now.date().isoformat()))
                err.print(f"{name}: {'changed' if found[-1].text else 'unchanged'}")
            except AtlasError as error:
                err.print(f"not read: {error}")
    except NotReachedError as error:
        raise RefusedError(str(error)) from None
    if not found:
        raise RefusedError(f"none of {text.plural(len(ids), 'model')} could be read")
    return [model for model in found if model.text]
