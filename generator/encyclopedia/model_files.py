"""A file for each published model, with all that its page says, for programs."""

import json
from collections.abc import Callable
from functools import partial
from typing import cast

from generator.contracts import Atlas, Json
from generator.encyclopedia import by_program, expected
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.model_rows import page_of, records
from generator.encyclopedia.models_schema import IndexOfModels, OneModel, PublishedModel

SCHEMA = 1
INDEX = "data/models/index.json"


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """Functions that return the content of each file, by path below the docs folder."""
    models = records(atlas)
    frozen = {model["id"]: expected.path(model) for model in expected.models_of(atlas)}
    files: dict[str, Callable[[], bytes]]
    files = {path(model["id"]): partial(_encoded, model, frozen) for model in models}
    return files | ({INDEX: partial(index, models)} if models else {})


def path(hub_id: str) -> str:
    """Of the file of a model, below the docs folder."""
    return f"data/{page_of(hub_id, '.json')}"


def index(models: list[Json]) -> bytes:
    """The file with the path of each of the others."""
    found: IndexOfModels = {
        "schema": SCHEMA, "models": {model["id"]: path(model["id"]) for model in models},
    }  # fmt: skip
    return f"{json.dumps(found, indent=1)}\n".encode()


def document(model: Json, frozen: dict[str, str]) -> OneModel:
    """A model with its config; frozen: paths of expected values, by ids."""
    known = known_model(model["id"])
    if known is None:
        raise KeyError(model["id"])
    return {
        "schema": SCHEMA,
        "page": page_of(model["id"], ".html"),
        "expected": frozen.get(model["id"]),
        "revision": known.revision,
        "config": dict(known.settings),
        "readers": list(by_program.of(known)["taken"]),
        "model": cast("PublishedModel", model),
    }


def _encoded(model: Json, frozen: dict[str, str]) -> bytes:
    text = json.dumps(document(model, frozen), ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n".encode()
