"""Which rows of the table of models the code of transformers confirms: outcomes of
``benchmarks.layers_coverage``, shipped with the version that they hold for.
"""

import json
from functools import cache
from hashlib import sha256
from typing import Any

from generator import PACKAGE
from generator.contracts import Json

FILE = PACKAGE / "encyclopedia/tables/observed.json"


def digest(settings: Json, position: Json) -> str:
    """Of what an outcome holds for: the config, and what the row says of position."""
    text = json.dumps([settings, position], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def check(hub_id: str, settings: Json, position: Json) -> dict[str, Any] | None:
    """The outcome as in models.json; None without one for this very config and row."""
    shipped = _shipped()
    found = shipped["models"].get(hub_id)
    if found is None or found["of"] != digest(settings, position):
        return None
    return {
        "outcome": found["outcome"],
        "transformers": shipped["transformers"],
        "why": found["why"],
    }


@cache
def _shipped() -> Json:
    shipped: Json = json.loads(FILE.read_text(encoding="utf-8"))
    return shipped
