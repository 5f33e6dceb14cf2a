"""What is known of checkpoints that were not reached: what the code of their family says of the
config that a guest has of them, without weights.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from generator.cache.fingerprint import of_parts
from generator.checkpoints.model.facts import facts
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Checkpoint, Files, Maker, Outcome, discovery
from generator.pipeline.packing import pack, unpack
from generator.reading.find import look
from generator.reading.plan import source_of

Submit = Callable[[str, Maker], Maker]  # As ``Atlas.submit``.


def config_of(checkpoint: Checkpoint) -> tuple[Files, str] | None:
    """The config that a guest has of a checkpoint, and where it is from; None where none has, and
    for a path, whose name says nothing.
    """
    if source_of(checkpoint).is_path:
        return None
    found = (guest.config(checkpoint) for guest in discovery.guests())
    return next((one for one in found if one is not None), None)


def described(outcomes: Sequence[Outcome], submit: Submit) -> tuple[Outcome, ...]:
    """``outcomes``, with what is known of those that were not reached."""
    makers = {
        outcome: submit(_name(outcome), partial(_packed, outcome))
        for outcome in outcomes
        if outcome.ending == "not reached" and config_of(outcome.checkpoint) is not None
    }
    return tuple(
        unpack(makers[outcome]()) if outcome in makers else outcome for outcome in outcomes
    )


def _name(outcome: Outcome) -> str:
    return f"{outcome.checkpoint.slug} {of_parts(('known', outcome.checkpoint, outcome.reason))}"


def _packed(outcome: Outcome) -> bytes:
    """An outcome with what is known of it, in a worker: it needs torch. As it is where settings
    give numbers, which a row that was not reached does not show.
    """
    if (known := config_of(outcome.checkpoint)) is None:
        return pack(outcome)
    files, source = known
    found = look(files)
    if found.measured:
        return pack(outcome)
    return pack(
        replace(
            outcome,
            facts=facts(files.resolved, found.all),
            layers=layer_map(files, found.all, is_complete=found.is_complete),
            unmeasured=tuple(encoding.record for encoding in found.unmeasured),
            described_by=source,
        )
    )
