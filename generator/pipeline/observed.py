"""Which rows of the table of models the code of transformers confirms: outcomes of
``benchmarks.layers_coverage``, shipped with the version that they hold for.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, Literal

from generator.cache.precomputed import FOLDER
from generator.checkpoints.hub.known_models import file_of
from generator.contracts import Json

FILE = FOLDER / "observed.json"
# Every layer did what the row says; some layer did not; transformers lacks the family; its small
# model could not be run or compared.
Verdict = Literal["agrees", "differs", "no code", "not run"]


@dataclass(frozen=True)
class Observed:
    """The outcome of one model. why: what differs, "" for any other outcome"""

    outcome: Verdict
    why: str = ""


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


def write(
    digests: Mapping[str, str],
    outcomes: Mapping[str, Observed],
    transformers: str,
    *,
    is_all: bool = True,
) -> None:
    """Ship ``outcomes`` by id, each with the digest that it holds for; unless these are all, beside
    those of others.
    """
    new = {
        name: {"outcome": (found := outcomes[name]).outcome, "why": found.why or None, "of": of}
        for name, of in digests.items()
    }
    others = {} if is_all else _shipped()["models"]
    shipped = sorted((others | new).items(), key=lambda pair: file_of(pair[0]).name)
    rows = ",\n".join(f"{json.dumps(name)}:{json.dumps(row)}" for name, row in shipped)
    FILE.write_text(
        f'{{"transformers":{json.dumps(transformers)},"models":{{\n{rows}\n}}}}\n', encoding="utf-8"
    )


@cache
def _shipped() -> Json:
    shipped: Json = json.loads(FILE.read_text(encoding="utf-8"))
    return shipped
