"""Which rows of the table of models the code of transformers confirms: outcomes of
``benchmarks.layers_coverage``, shipped with the version that they hold for.
"""

import json
from hashlib import sha256
from typing import Any

from generator.contracts import Json
from generator.encyclopedia import made


def digest(settings: Json, position: Json) -> str:
    """Of what an outcome holds for: the config, and what the row says of position."""
    text = json.dumps([settings, position], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def check(hub_id: str, settings: Json, position: Json) -> dict[str, Any] | None:
    """The outcome as in models.json; None without one for this very config and row."""
    found = made.made(hub_id).get("check")
    if found is None or found["of"] != digest(settings, position):
        return None
    return {name: found[name] for name in ("outcome", "transformers", "why")}
