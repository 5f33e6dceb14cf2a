"""Of each published config, which of its keys make what the page of its model says, and what
``lint`` finds in it: shipped, since each key has to be changed for the one.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from generator.encyclopedia import made
from generator.encyclopedia.known_models import KnownModel, known_model

NOTHING: Mapping[str, Any] = {
    "origins": {}, "temperature": None, "layers": [], "lint": [], "without_windows": [],
    "pairs": [None, None],
}  # fmt: skip


def of(model: KnownModel) -> Mapping[str, Any]:
    """origins: of each parameter of each rotation, by its key; temperature: of a factor by
    position; layers: keys that these follow from; lint: rule and sentence of each finding;
    without_windows: names of programs that give no layer a window, where transformers 5 does;
    pairs: the order of rotated components by its family, and that in GGUF, None where unknown;
    without anything for a config that is newer than them.
    """
    found = made.made(model.id).get("details", {})
    return {**NOTHING, **found} if found.get("of") == digest(model) else NOTHING


def without_windows(hub_id: str) -> Sequence[str]:
    """Names of programs that give no layer of a model its window; none where all give it."""
    known = known_model(hub_id)
    found: Sequence[str] = () if known is None else of(known)["without_windows"]
    return found


def digest(model: KnownModel) -> str:
    """Of what the details of a model hold for."""
    return sha256(json.dumps(model.settings, sort_keys=True).encode()).hexdigest()[:16]
