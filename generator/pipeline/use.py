"""What the trained model of a row does with position: every measure of each of its parts."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from generator import analyses
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.live.opening import first_layers, stacks
from generator.checkpoints.model.live.stack import LiveStack
from generator.contracts import (
    Analysis,
    Checkpoint,
    Files,
    Label,
    Result,
    UseOptions,
    UseResult,
    discovery,
)
from generator.contracts.checkpoints import FIRST_LAYER, Scope
from generator.errors import NotApplicableError, RowError
from generator.figures import svg
from generator.pipeline import failures

# What opens as much of a model as a measure needs.
OPENED: Mapping[Scope, Callable[[FolderFiles, Checkpoint, UseOptions], list[LiveStack]]] = {
    FIRST_LAYER: first_layers,
    "model": stacks,
}
TIMES_FEWER = 4  # Sequences of the second run, where a measure does not need more.
NO_MEMORY = re.compile("can't allocate memory|out of memory")


def all_uses() -> tuple[Analysis, ...]:
    """Every analysis of what models do with position, by its order."""
    found = discovery.load(analyses, Analysis)
    return tuple(analysis for analysis in found if analysis.subject != "encoding")


def measured(files: Files, checkpoint: Checkpoint) -> tuple[tuple[UseResult, ...], str]:
    """The results of a row that asks for them, and why there are none, "" where there are or the
    row does not ask.
    """
    options = checkpoint.use
    if options is None:
        return (), ""
    if not isinstance(files, FolderFiles):
        return (), "its weights are in a form that is not run"
    try:
        return tuple(_measured(files, checkpoint, options)), ""
    # The code of a model may raise anything, which must not take the rest of the row with it.
    except Exception as error:  # noqa: BLE001
        return (), _why(error, checkpoint)


def _why(error: Exception, checkpoint: Checkpoint) -> str:
    """In words, without a path of this machine. torch has an error of its own for each device
    without memory.
    """
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) or NO_MEMORY.search(text):
        return "it needs more memory than a row may take"
    if not isinstance(error, NotApplicableError | RowError):
        text = f"unexpected {type(error).__name__}: {text[:200]}"
    return failures.worded(text, checkpoint)


def _measured(
    files: FolderFiles, checkpoint: Checkpoint, options: UseOptions
) -> Iterator[UseResult]:
    """errors: RowError, NotApplicableError"""
    import torch

    # More threads would change the last digits, and with them the bytes.
    torch.set_num_threads(1)
    for scope in OPENED if options.scope == "model" else (FIRST_LAYER,):
        try:
            opened = OPENED[scope](files, checkpoint, options)
        except NotApplicableError:
            if scope == options.scope:
                raise
            continue  # One that reads images has no first layer of words.
        for stack in opened:
            for use in all_uses():
                if use.subject == scope:
                    yield _of_stack(use, stack, checkpoint)


def _of_stack(use: Analysis, stack: LiveStack, checkpoint: Checkpoint) -> UseResult:
    try:
        first = use.compute(stack)
        second = _second(use, stack, first)
    # The code of a model may raise anything, which must not take other measures with it.
    except Exception as error:  # noqa: BLE001
        return UseResult(use.key, stack.part, Result(reason=_why(error, checkpoint)))
    found = use.confirmed(first, second) if second.metrics else ()
    return UseResult(
        use.key,
        stack.part,
        replace(first, findings=(*found, *first.findings)),
        {metric.key: metric.value for metric in second.metrics},
    )


def _second(use: Analysis, stack: LiveStack, first: Result) -> Result:
    """What rests on another seed, of that on which findings would rest; empty without these."""
    findings = use.confirmed(first, first)
    if not findings:
        return Result()
    again = replace(first, findings=findings)
    fewer = max(stack.n_sequences // TIMES_FEWER, 1)
    return use.compute(replace(stack, n_sequences=fewer, seed=stack.seed + 1, again=again))


def drawn(found: UseResult, label: Label) -> UseResult:
    """A result with its figures."""
    if found.result.reason is not None:
        return found
    (use,) = (use for use in all_uses() if use.key == found.key)
    shown = {label: found.result}
    return replace(
        found,
        drawings={spec.key: svg.encode(spec.draw, shown) for spec in use.figures},
        alts={spec.key: spec.alt(shown) for spec in use.figures},
    )
