"""What programs take from each published config: shipped, since each of them has to read it."""

from collections.abc import Mapping
from typing import Any

from generator.encyclopedia import made
from generator.encyclopedia.details import digest
from generator.encyclopedia.known_models import KnownModel

NOTHING: Mapping[str, Any] = {"known": [], "taken": [], "differ": []}


def of(model: KnownModel) -> Mapping[str, Any]:
    """known: programs of which it is known what they take; taken: what each does, as
    ``lint.sentences``; differ: each way in which programs do, with whom it concerns; without
    anything for a config that is newer than them.

    A way has the values of a finding of the rule ``readers`` and its text, with names of programs
    without their versions. agree: those that take what transformers 5 takes; base: that of
    transformers 5, where a file of llama.cpp lacks nothing else of the rotation
    """
    found = made.made(model.id).get("programs", {})
    return {**NOTHING, **found} if found.get("of") == digest(model) else NOTHING
