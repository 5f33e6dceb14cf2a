"""What is known of checkpoints that were not reached: what the code of their family says of the
config that a guest has of them, without weights.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from generator.cache.fingerprint import of_parts
from generator.checkpoints.model.facts import facts
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Maker, Outcome
from generator.pipeline.packing import pack, unpack
from generator.reading.find import look
from generator.reading.shipped import config_of

Submit = Callable[[str, Maker], Maker]  # As ``Atlas.submit``.


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
