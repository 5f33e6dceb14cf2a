"""The command that says whether two checkpoints encode position identically."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar

import typer

from generator.cli.application import FAILED, OK, REFUSED, app, err, out
from generator.cli.deferral import deferred
from generator.cli.terminal import json_text
from generator.errors import AtlasError, RefusedError

if TYPE_CHECKING:
    from generator.contracts import Comparison, Mend

with deferred():
    from generator.checkpoints.files import weights
    from generator.cli import beside
    from generator.pipeline import drafts, local_pool
    from generator.reading import comparison, mends, named, plan

EXAMPLES = """Examples:

\b
  position-atlas compare ./my-model ./its-conversion
  position-atlas compare ./my-model ./its-conversion --fix > patch.json
  position-atlas compare HuggingFaceTB/SmolLM3-3B ./my-merge --json
  position-atlas compare owner/model@yesterday owner/model
  position-atlas compare ./my-model ./my-eagle-head --draft
"""
READ_FROM_HUB = (
    "reading its settings, and of weights the headers and tensors of positions; of a GGUF file also"
    " the vocabulary, which stands before its list of tensors: some MB"
)
SET_METADATA = "python -m gguf.scripts.gguf_set_metadata"  # Of gguf-py, from PyPI.
MOST_KEYS = 12  # that are not understood, of a file
T = TypeVar("T")
CODES = {"equal": OK, "equal as far as both files tell": OK, "different": FAILED}


@app.command(epilog=EXAMPLES)
def compare(  # noqa: PLR0913, PLR0917 (one for each option)
    one: Annotated[
        str,
        typer.Argument(help="A: a folder, a weights file or a Hub id, as inspect takes it."),
    ],
    other: Annotated[str, typer.Argument(help="B: its conversion, merge or other revision.")],
    draft: Annotated[
        bool,
        typer.Option(
            "--draft",
            help=(
                "B is a draft model of A for speculative decoding: its context has to be as long,"
                " its vocabulary that of A, and as wide what it reads of A's hidden states."
            ),
        ),
    ] = False,
    pickle: Annotated[
        bool, typer.Option("--pickle", help="Open pickled weights with torch's weights_only.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
    as_patch: Annotated[
        bool,
        typer.Option(
            "--fix",
            help=(
                "Print what would make B as A: a JSON Patch (RFC 6902) of its config.json, or a"
                " command for each setting of its GGUF file; nothing is written."
            ),
        ),
    ] = False,
) -> None:
    """Say whether two checkpoints encode position identically: by the angles, windows, tables and
    biases that follow from them, not by how these are written. Of a published model whose Hub is
    not reached, the program compares its own copy of the config.json where it has one, and says so.

    Exit codes: 0 equal, or equal as far as both files tell; 1 different; 2 cannot be compared, or
    not mended.
    """
    beside.own.use(Path(), has_code=False)
    try:
        if as_patch and draft:
            raise RefusedError("--fix: a draft keeps the rotation that it was trained with")
        pairs = _pairs([one, other], pickle)
        if as_patch:
            _mend({part: (pair, _found(pair, mends.mended)) for part, pair in pairs.items()})
        every = {
            part: _found(pair, drafts.compare if draft else comparison.compare)
            for part, pair in pairs.items()
        }
    except AtlasError as error:
        raise RefusedError(f"cannot be compared: {error}") from None
    if as_json:
        documents = {part: asdict(found) for part, found in every.items()}
        typer.echo(json_text(documents.get("", documents)))
    else:
        for part, found in every.items():
            if part:
                out.print(f"{part}:")
            _show(found)
    raise typer.Exit(max(CODES.get(found.verdict, REFUSED) for found in every.values()))


def _pairs(names: Sequence[str], pickle: bool) -> "dict[str, list[plan.Task]]":
    """What is compared, by the name of the part of a pipeline of diffusers, "" without parts.

    errors: AtlasError, where two pipelines have other parts too
    """
    sides = [
        named.tasks_of(named.checkpoint_at(name, pickle and _may_be_pickled(name)))
        for name in names
    ]
    if max(map(len, sides)) == 1:
        return {"": [side[0] for side in sides]}
    one, other = ({task.checkpoint.id.rpartition("/")[2]: task for task in side} for side in sides)
    if alone := sorted(one.keys() ^ other.keys()):
        raise RefusedError(
            f"{alone[0]}: a part of {names[alone[0] in other]} alone; expected two pipelines of"
            " diffusers with the same parts, or the folders of two parts"
        )
    return {part: [task, other[part]] for part, task in one.items()}


def _may_be_pickled(name: str) -> bool:
    """Whether weights may be there; a folder without any is compared by its settings."""
    place = Path(name)
    return not place.is_dir() or any(
        path.name.endswith(weights.suffixes()) for path in place.iterdir()
    )


def _found(tasks: "Sequence[plan.Task]", function: Callable[..., T]) -> T:
    """errors: AtlasError"""
    for task in tasks:
        if not plan.source_of(task.checkpoint).is_path:
            err.print(f"{task.checkpoint.id}: {READ_FROM_HUB}")
    with (
        named.hub_errors(tasks[0].checkpoint),
        named.hub_errors(tasks[1].checkpoint),
        local_pool.reading(local_pool.WITHOUT_TORCH) as executor,
    ):
        return local_pool.within_limits(executor, function, *tasks)


def _mend(every: "Mapping[str, tuple[Sequence[plan.Task], Mend]]") -> NoReturn:
    """Print what makes each part of B as that of A."""
    patches = {}
    for part, ((_, task), mend) in every.items():
        place, is_path = task.checkpoint.place, plan.source_of(task.checkpoint).is_path
        is_file = place.endswith(mend.file)
        file = place if is_file else f"{place}/{mend.file}" if is_path else mend.file
        for key, value in mend.metadata:
            out.print(f"{SET_METADATA} {shlex.quote(file)} {shlex.quote(key)} {value}")
        if mend.patch or not (mend.metadata or mend.sentences):
            patches[part] = list(mend.patch)
        for sentence in mend.sentences:
            err.print(sentence)
    if patches:
        typer.echo(json_text(patches.get("", patches)))
    codes = [
        CODES.get(mend.verdict, REFUSED) if mend.patch or mend.metadata or not mend.sentences
        else REFUSED
        for _, mend in every.values()
    ]  # fmt: skip
    raise typer.Exit(max(codes))


def _more(keys: Sequence[str]) -> str:
    return f" and {len(keys) - MOST_KEYS:,} more" if len(keys) > MOST_KEYS else ""


def _show(found: "Comparison") -> None:
    out.print(found.verdict)
    for difference in found.differences:
        out.print(f"  - {difference.text}")
    for sentence in (*found.untold, *found.notes):
        out.print(f"  ? {sentence}")
    for side, keys in zip("AB", found.unread, strict=True):
        if keys:
            out.print(f"  Not understood in {side}: {', '.join(keys[:MOST_KEYS])}{_more(keys)}")
