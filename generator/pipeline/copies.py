"""Rows of the list that are said to be copies, each compared with its original."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from generator.cache.fingerprint import of_parts
from generator.contracts import Checkpoint, Copy, Maker, Outcome
from generator.contracts.checkpoints import ON_HUB
from generator.errors import AtlasError, RefusedError
from generator.pipeline.packing import pack, unpack
from generator.reading import comparison, plan
from generator.reading.plan import Task, opened
from generator.reading.shipped import opened_or_shipped
from generator.reading.sides import comparable
from generator.text import slugify

Submit = Callable[[str, Maker], Maker]  # As ``Atlas.submit``.


@dataclass(frozen=True)
class CopyPair:
    """A copy and its original. name: of the original, as the row of the copy has it"""

    copy: Task
    original: Task
    name: str

    @property
    def record(self) -> Copy:
        """That of the pair before it is compared."""
        return Copy(self.name.removeprefix(ON_HUB), not self.name.startswith(ON_HUB))


def pairs(tasks: Sequence[Task], offline: bool) -> tuple[CopyPair, ...]:
    """Every copy among ``tasks`` with its original, whose revision is pinned."""
    named = {name: task for task in tasks if (name := task.checkpoint.copy_of)}
    elsewhere = [name for name in named if name.startswith(ON_HUB)]
    planned = plan.plan([_on_hub(name.removeprefix(ON_HUB)) for name in elsewhere], offline)
    originals = {task.checkpoint.slug: task for task in tasks}
    originals |= dict(zip(elsewhere, planned, strict=True))
    return tuple(
        CopyPair(task, originals[name], name) for task in tasks if (name := task.checkpoint.copy_of)
    )


def compared(
    outcomes: Sequence[Outcome], every: Sequence[CopyPair], submit: Submit
) -> tuple[Outcome, ...]:
    """``outcomes``, with how the copies among them differ from their originals."""
    keys = {outcome.checkpoint.slug: outcome.key for outcome in outcomes}
    makers = {
        slug: (pair, submit(_name(pair, keys), partial(_packed, pair)))
        for pair in every
        if (slug := pair.copy.checkpoint.slug) in keys
    }
    return tuple(
        replace(outcome, copy=_made(*makers[slug]))
        if (slug := outcome.checkpoint.slug) in makers
        else outcome
        for outcome in outcomes
    )


def _name(pair: CopyPair, keys: Mapping[str, str]) -> str:
    """Of what is known of a pair: another one where a file or a revision of it is.

    keys: of outcomes in the store, by slug
    """
    sides = [
        (keys.get(task.checkpoint.slug, ""), task.checkpoint.place, task.checkpoint.revision)
        for task in (pair.original, pair.copy)
    ]
    return f"{pair.copy.checkpoint.slug} {of_parts(('copy', pair.name, sides))}"


def _made(pair: CopyPair, maker: Maker) -> Copy:
    try:
        found: Copy = unpack(maker())
    except RefusedError as error:  # A process was lost, or beyond its limits.
        return replace(pair.record, reason=str(error))
    return found


def _packed(pair: CopyPair) -> bytes:
    """What is known of a pair, in a worker."""
    try:
        files, reason = opened_or_shipped(pair.original)
        sides = comparable("A", files), comparable("B", opened(pair.copy))
        return pack(replace(pair.record, comparison=comparison.compared(*sides), reason=reason))
    except AtlasError as error:
        return pack(replace(pair.record, reason=str(error)))


def _on_hub(name: str) -> Checkpoint:
    """The row of an id, with or without a revision."""
    place, _, revision = name.partition("@")
    key = next(source.key for source in plan.all_sources() if not source.is_path)
    return Checkpoint(slugify(place), key, place, place, place, revision or None)
