"""What the trained model of a row does with position: every measure of each of its parts."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from generator import analyses
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.running.opening import first_layers, stacks
from generator.checkpoints.model.running.stack import RunningStack
from generator.contracts import (
    Analysis,
    Checkpoint,
    Files,
    Label,
    Outcome,
    Result,
    UseOptions,
    UseResult,
    discovery,
)
from generator.contracts.checkpoints import FIRST_LAYER, Scope
from generator.errors import NotApplicableError, RowError
from generator.figures import svg
from generator.pipeline import failures
from generator.reading.plan import Task, source_of

# What opens as much of a model as a measure needs.
OPENED: Mapping[Scope, Callable[[FolderFiles, Checkpoint, UseOptions], list[RunningStack]]] = {
    FIRST_LAYER: first_layers,
    "model": stacks,
}
TIMES_FEWER = 4  # Sequences of the second run, where a measure does not need more.
NO_MEMORY = re.compile("can't allocate memory|out of memory")


def all_measures() -> tuple[Analysis, ...]:
    """Every analysis of what models do with position, in order."""
    found = discovery.load(analyses, Analysis)
    return tuple(analysis for analysis in found if analysis.subject != "encoding")


def measures(task: Task) -> list[Task]:
    """A task for each measure of the trained model that a row asks for."""
    options = None if source_of(task.checkpoint).has_runs else task.checkpoint.use
    scopes = set() if options is None else {FIRST_LAYER, options.scope}
    return [
        replace(task, measure=use.key)
        for use in all_measures()
        if use.subject in scopes and task.checkpoint.takes(use.key)
    ]


def measured(files: Files, checkpoint: Checkpoint, key: str) -> tuple[tuple[UseResult, ...], str]:
    """The results of one measure, by part, and why there are none, "" where there are, or where
    only the measures of the whole model apply.
    """
    import torch

    (use,) = (use for use in all_measures() if use.key == key)
    options = checkpoint.use or UseOptions()
    if not isinstance(files, FolderFiles):
        return (), "its weights are in a format that the program does not run"
    # More threads would change the last digits, and with them the bytes.
    torch.set_num_threads(1)
    try:
        opened = _opened(files, checkpoint, use.subject)
        return tuple(_of_stack(use, stack, checkpoint) for stack in opened), ""
    except NotApplicableError as error:
        # One that reads images has no first layer of words.
        return (), _why(error, checkpoint) if use.subject == options.scope else ""
    # The code of a model may raise anything, which must not take the rest of the row with it.
    except Exception as error:  # noqa: BLE001
        return (), _why(error, checkpoint)


@lru_cache(maxsize=1)
def _opened(files: FolderFiles, checkpoint: Checkpoint, scope: Scope) -> list[RunningStack]:
    """As much of a model as its measures need; the last stays in memory, since they follow each
    other.

    errors: RowError, NotApplicableError
    """
    return OPENED[scope](files, checkpoint, checkpoint.use or UseOptions())


def with_measures(outcome: Outcome, found: Mapping[str, Outcome]) -> Outcome:
    """The outcome of a row with those of the measures of its model, by key."""
    uses = [use for one in found.values() for use in one.use]
    no_use = next((one.no_use for one in found.values() if one.no_use), "")
    parts = dict.fromkeys(use.part for use in uses)
    # A measure that exceeds a limit costs itself alone.
    lost = {key: one.reason for key, one in found.items() if one.status != "ok"}
    uses += [
        UseResult(key, part, Result(reason=why)) for key, why in lost.items() for part in parts
    ]
    if no_use or not parts:
        return replace(outcome, no_use=no_use or next(iter(lost.values()), None) or "")
    return replace(outcome, use=tuple(sorted(uses, key=lambda use: [*parts].index(use.part))))


def _why(error: Exception, checkpoint: Checkpoint) -> str:
    """In words, without a path of this machine. torch has an error of its own for each device
    without memory.
    """
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) or NO_MEMORY.search(text):
        return "it needs more memory than an entry may take"
    if not isinstance(error, NotApplicableError | RowError):
        text = f"unexpected {type(error).__name__}: {text[:200]}"
    return failures.worded(text, checkpoint)


def _of_stack(use: Analysis, stack: RunningStack, checkpoint: Checkpoint) -> UseResult:
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


def _second(use: Analysis, stack: RunningStack, first: Result) -> Result:
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
    (use,) = (use for use in all_measures() if use.key == found.key)
    shown = {label: found.result}
    return replace(
        found,
        drawings={spec.key: svg.encode(spec.draw, shown) for spec in use.figures},
        alts={spec.key: spec.alt(shown) for spec in use.figures},
    )
