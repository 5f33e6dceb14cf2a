"""Of each published config, which of its keys make what the page of its model says, and what
``lint`` finds in it: shipped, since each key has to be changed for the one.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from typing import Any

from generator.cache.precomputed import FOLDER
from generator.checkpoints.hub.known_models import KnownModel, known_models
from generator.contracts import Encoding, EncodingRecord, Files, Origin
from generator.encodings import Form, Temperature
from generator.errors import RowError
from generator.reading import lint
from generator.reading.evidence import evidence, look_closely

FILE = FOLDER / "details.json"
NOTHING: Mapping[str, Any] = {"origins": {}, "temperature": None, "layers": [], "lint": []}


def of(model: KnownModel) -> Mapping[str, Any]:
    """origins: of each parameter of each rotation, by its key; temperature: of a factor by
    position; layers: keys that these follow from; lint: rule and sentence of each finding;
    without anything for a config that is newer than the file.
    """
    found = _shipped().get(model.id, {})
    return found if found.get("of") == _digest(model) else NOTHING


def made(model: KnownModel) -> dict[str, Any]:
    """As ``of``, with the digest of the config."""
    try:
        found = look_closely(model.files)
    except RowError:
        return {"of": _digest(model), **NOTHING}
    records = [encoding.record for encoding in found.all]
    keys = evidence(model.files.config).keys.get("", {})
    return {
        "of": _digest(model),
        "origins": {one.key: _origins(one) for one in records if one.origins},
        "temperature": _of_temperature(model.files, found.all),
        "layers": list(keys.get("layers", ())),
        "lint": [[one.rule, one.text] for one in lint.findings(model.files, found)],
    }


def _origins(record: EncodingRecord) -> dict[str, Any]:
    return {name: asdict(origin) for name, origin in record.origins.items()}


def _of_temperature(files: Files, encodings: Iterable[Encoding[Form]]) -> dict[str, Any] | None:
    for one in encodings:
        if isinstance(one.form, Temperature):
            own = evidence(files.config).keys.get(one.key, {})
            keys = dict.fromkeys((*own.get("strength", ()), *own.get("start", ())))
            default_of = None if keys else files.resolved.default_of(one.stack) or None
            return asdict(Origin(tuple(keys), default_of))
    return None


def write() -> None:
    """Ship those of all published configs, one a line."""
    found = {model.id: made(model) for model in known_models()}
    rows = (
        f"{json.dumps(name)}:{json.dumps(row, ensure_ascii=False)}" for name, row in found.items()
    )
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    _shipped.cache_clear()


def _digest(model: KnownModel) -> str:
    return sha256(json.dumps(model.settings, sort_keys=True).encode()).hexdigest()[:16]


@cache
def _shipped() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
