"""Commands on the published configs that the program has."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from generator.cli.application import FAILED, Flowing, app, err, out
from generator.cli.deferral import deferred
from generator.cli.terminal import json_text
from generator.errors import AtlasError, NotReachedError, RefusedError

with deferred():
    from generator import text
    from generator.cache import blobs
    from generator.checkpoints.files import named_paths
    from generator.checkpoints.hub import client
    from generator.encyclopedia import check_expected, known_models, proposed, refreshed
    from generator.encyclopedia import expected as expected_values
    from generator.pipeline import versions

OF_EXPECTED = """Examples:

\b
  position-atlas expected
  position-atlas expected Qwen/Qwen3-8B
  position-atlas expected --check numbers.json
"""
MOST = 20  # lines on wrong values
EXAMPLES = """Examples:

\b
  position-atlas models refresh
  position-atlas models refresh --check
  position-atlas models refresh Qwen/Qwen3-8B google/gemma-3-4b-it
  position-atlas models refresh --new Qwen/Qwen3-0.6B --owner google
"""


@app.command(epilog=OF_EXPECTED)
def expected(
    name: Annotated[
        str | None, typer.Argument(show_default=False, help="The id of a published model.")
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Compare the numbers of an engine: a JSON object with the id of the model, its"
            " precision (single or double), and rotations, in the order of the file of expected"
            " values; each has values, a list of objects with position, cos and sin.",
        ),
    ] = None,
) -> None:
    """Print what an engine has to compute for a published model, frozen, as JSON: its settings,
    frequencies, cosines and sines. Without an id, list the models.

    Exit codes: 0 printed, or all numbers right; 1 some wrong or missing; 2 nothing to print or
    compare.
    """
    if check is not None and name is not None:
        raise RefusedError(f"--check {check}: found the id {name} too; expected one of the two")
    known = {str(model["id"]): model for model in expected_values.frozen()}
    numbers = None if check is None else _numbers(check)
    name = name if numbers is None else str(numbers.get("id"))
    if name is not None and name not in known:
        raise RefusedError(_unknown(name, known))
    document: Any = None if name is None else expected_values.document(known[name])
    lines = [] if numbers is None else _wrong(f"{check}", document, numbers)
    if document is None:
        for model in known.values():
            rotations = text.plural(len(model["rotations"]), "rotation")
            typer.echo(f"{model['id']}: {rotations}, version {model['version']} of {model['date']}")
    elif numbers is None:
        typer.echo(json_text(document, ensure_ascii=False))
    else:
        more = [f"and {len(lines) - MOST:,} more"] if len(lines) > MOST else []
        for line in [*lines[:MOST], *more] or [f"{name}: all values are right"]:
            out.print(line)
        raise typer.Exit(FAILED if lines else 0)


def _numbers(file: Path) -> dict[str, Any]:
    """Of an engine. errors: RefusedError"""
    try:
        numbers = json.loads(named_paths.beginning(file).decode())
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{file}: {error}; expected JSON") from None
    if not isinstance(numbers, dict):
        raise RefusedError(f"{file}: found no object; expected one with id and rotations")
    return numbers


def _wrong(file: str, document: Any, numbers: Any) -> list[str]:
    """A line on each wrong number of a file. errors: RefusedError"""
    if not document["rotations"]:
        raise RefusedError(f"{file}: {document['id']} has no rotation, and so nothing to compare")
    try:
        return list(check_expected.wrong(document, numbers))
    except (LookupError, TypeError, AttributeError) as error:
        raise RefusedError(
            f"{file}: {type(error).__name__} {error}; expected the form that"
            " `position-atlas expected --help` describes"
        ) from None


group = typer.Typer(
    cls=Flowing,
    no_args_is_help=True,
    help="Maintain the published configs that the program has.",
)
app.add_typer(group, name="models")


@group.command(epilog=EXAMPLES)
def refresh(
    ids: Annotated[
        list[str] | None,
        typer.Argument(show_default=False, help="Ids of models, owner/name; by default all."),
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Also add models of these ids that it does not have.")
    ] = False,
    owner: Annotated[
        list[str] | None,
        typer.Option(show_default=False, help="Also add the newest models of this owner."),
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
    position. A model that cannot be read stays as it is. Of one that is new, the table has what its
    page will say, and what is in doubt.

    Exit codes: 0 read; 1 with --check, something about position would change; 2 no model could be
    read, or an id is not one of them.
    """
    changed = _read(ids or [], owner or [], may_add=new)
    if not check:
        blobs.clear(known_models.FOLDER)
    for model in () if check else changed:
        blobs.write(known_models.file_of(model.id), [model.text.encode()])
    typer.echo(refreshed.table(changed))
    if check and any(model.position for model in changed):
        raise typer.Exit(FAILED)


def _unknown(name: str, known: Iterable[str]) -> str:
    near = "".join(f"; nearest: {one}" for one in get_close_matches(name, known, n=1))
    return f"{name!r:.80}: no published config of the program has this id{near}"


def _wanted(ids: Sequence[str], owners: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    """These ids and the new ones of these owners; all that are known without either."""
    of_owners = [name for owner in owners for name in proposed.of_owner(owner)]
    return list(dict.fromkeys((*ids, *of_owners))) or ([] if owners else known)


def _read(
    ids: Sequence[str], owners: Sequence[str], *, may_add: bool
) -> "Sequence[refreshed.Refreshed]":
    """Those whose file changes, or is new. A line says of each model whether it does, or why it was
    not read.

    errors: RefusedError where none was
    """
    seconds = versions.given_time()
    now = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    found = []
    known = [model.id for model in known_models.known_models()]
    unknown = [] if may_add else [_unknown(name, known) for name in ids if name not in known]
    if unknown:
        raise RefusedError(*unknown)
    try:
        client.reach()
        ids = _wanted(ids, owners, known)
        for name in ids:
            try:
                look = refreshed.refreshed if name in known else proposed.proposed
                found.append(look(name, now.date().isoformat()))
                err.print(f"{name}: {'changed' if found[-1].text else 'unchanged'}")
            except AtlasError as error:
                err.print(f"not read: {error}")
    except NotReachedError as error:
        raise RefusedError(str(error)) from None
    if ids and not found:
        raise RefusedError(f"none of {text.plural(len(ids), 'model')} could be read")
    return [model for model in found if model.text]
