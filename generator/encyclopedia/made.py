"""What follows from each published config and takes long to find: one file a model in
``generator/encyclopedia/made``, which ``benchmarks.made`` writes.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from typing import Any

from generator import PACKAGE
from generator.cache.precomputed import version_of
from generator.contracts import Json
from generator.encyclopedia.known_models import KnownModel, file_of

FOLDER = PACKAGE / "encyclopedia/made"
LIBRARIES = ("torch", "transformers")  # On which rows depend.
NOTHING: Mapping[str, Any] = {}


@cache
def made(hub_id: str) -> Mapping[str, Any]:
    """Of the model with this id; nothing for one that is newer.

    details: as ``details.of``; check: as ``observed.check``; expected: values that are frozen, not
    there for most without a copy of the config; row: of models.json, and made_for: what it holds
    for
    """
    path = FOLDER / file_of(hub_id).name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else NOTHING


def row(model: KnownModel) -> Json | None:
    """Its row in models.json; None where config, details, check or a library is another."""
    found = made(model.id)
    return found["row"] if found.get("made_for") == made_for(model, found) else None


def made_for(model: KnownModel, found: Mapping[str, Any]) -> Json:
    """What a row holds for: all from which it follows but code."""
    given = [asdict(model), found.get("details"), found.get("check")]
    digest = sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]
    return {"of": digest, **{library: _version(library) for library in LIBRARIES}}


@cache
def _version(library: str) -> str:
    return version_of(library)
