"""Values that an engine has to compute for published models, from the frozen frequencies that
``benchmarks.expected_values`` wrote.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import cast

import numpy as np

from generator import PACKAGE
from generator.contracts import Atlas, Json
from generator.encyclopedia import made
from generator.encyclopedia.expected_schema import ExpectedIndex, ExpectedModel, ValuesAtPosition
from generator.encyclopedia.known_models import known_model, known_models
from generator.encyclopedia.model_rows import records

CHECK = PACKAGE / "encyclopedia/check_expected.py"
INDEX, CHECKER = "data/expected/index.json", "data/expected/check.py"
SCHEMA = 1
POSITIONS = (0, 1, 2, 17, 511, 4095)
DIGITS = 9  # significant ones of cosines and sines; frequencies have all


@cache
def frozen() -> tuple[Json, ...]:
    """Every frozen model, as in its file but without values at positions."""
    every = (made.made(model.id).get("expected") for model in known_models())
    return tuple(one for one in every if one is not None)


def models_of(atlas: Atlas) -> list[Json]:
    """The frozen models among those of ``atlas``."""
    known = {model["id"] for model in records(atlas)}
    return [model for model in frozen() if model["id"] in known]


def path(model: Json) -> str:
    """Of its file, below the docs folder."""
    return f"data/expected/{model['id'].replace('/', '--')}.json"


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """Functions that return the content of each file, by path below the docs folder."""
    models = models_of(atlas)
    files: dict[str, Callable[[], bytes]]
    files = {path(model): partial(encoded, model) for model in models}
    if models:
        files |= {INDEX: partial(index, models), CHECKER: CHECK.read_bytes}
    return files


def version(models: Sequence[Json]) -> str:
    """Of all values together: the day of the newest."""
    return max(str(model["date"]) for model in models)


def index(models: Sequence[Json]) -> bytes:
    """The file with the digest of each of the others."""
    digests = {Path(path(model)).name: sha256(encoded(model)).hexdigest() for model in models}
    listed: ExpectedIndex = {"schema": SCHEMA, "version": version(models), "sha256": digests}
    return f"{json.dumps(listed, indent=1)}\n".encode()


def encoded(model: Json) -> bytes:
    """The file of a model."""
    text = json.dumps(document(model), ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n".encode()


def document(model: Json) -> ExpectedModel:
    """A model with its config and the values of its rotations at ``positions``."""
    known = known_model(model["id"])
    rotations = [
        {**rotation, "values": [at(rotation, position) for position in positions(model, rotation)]}
        for rotation in model["rotations"]
    ]
    if known is None:
        raise KeyError(model["id"])
    settings = {"source": known.source, "revision": known.revision, "config": known.settings}
    return cast("ExpectedModel", {**model, **settings, "rotations": rotations})


def positions(model: Json, rotation: Json) -> list[int]:
    """Those chosen ones, from 0, that a text with the frequencies of ``rotation`` may have."""
    original, context = model["original"], model["context"]
    chosen = {*POSITIONS, *([original - 1, original] if original else [])}
    limits = [length for length in (context, rotation["lengths"][1]) if length]
    chosen |= {context - 1} if context else set()
    return sorted(position for position in chosen if all(position < limit for limit in limits))


def at(rotation: Json, position: int) -> ValuesAtPosition:
    """Cosines and sines of a position, each (n_pairs,), times the attention factor."""
    angles = position * np.array(rotation["inverse_frequencies"])
    cos, sin = (
        [float(f"{value:.{DIGITS}g}") for value in rotation["attention_factor"] * values]
        for values in (np.cos(angles), np.sin(angles))
    )
    return {"position": position, "cos": cos, "sin": sin}
