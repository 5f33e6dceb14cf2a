"""The schema of the data files: it is that of the files, key by key, and of the page on them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from generator.checkpoints import run_file
from generator.checkpoints.hub.published_configs import published_config
from generator.contracts import Atlas
from generator.history import releases
from generator.pipeline import models
from generator.resources import ROOT
from generator.site.data import files as data_files
from generator.site.data import models_schema
from generator.site.data import schema as data_schema
from generator.site.data.models_schema import PublishedModels
from generator.site.pages import guide
from generator.site.runs import data as run_data
from tests.forms import FORMS
from tests.small_site import small_atlas

Schema = Mapping[str, Any]
TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
    "object": dict,
    "array": list,
}


def problems(value: Any, schema: Schema, definitions: Schema, at: str = "$") -> Iterator[str]:
    """Where ``value`` differs from a JSON Schema, with unknown keys as problems too: the part of
    draft 2020-12 that ours uses.
    """
    if "$ref" in schema:
        yield from problems(value, definitions[schema["$ref"].rpartition("/")[2]], definitions, at)
    elif "anyOf" in schema:
        found = [list(problems(value, option, definitions, at)) for option in schema["anyOf"]]
        yield from () if [] in found else max(found, key=len)
    elif "enum" in schema:
        yield from () if value in schema["enum"] else [f"{at}: {value!r}"]
    elif "type" in schema:
        if not isinstance(value, TYPES[schema["type"]]) or (
            isinstance(value, bool) and schema["type"] != "boolean"
        ):
            yield f"{at}: {value!r} is no {schema['type']}"
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from problems(item, schema["items"], definitions, f"{at}[{index}]")
        elif isinstance(value, dict):
            yield from _of_object(value, schema, definitions, at)


def _of_object(
    value: dict[str, Any], schema: Schema, definitions: Schema, at: str
) -> Iterator[str]:
    properties = schema.get("properties")
    if properties is None and schema["additionalProperties"] is True:
        return
    if properties is None:
        for key, item in value.items():
            yield from problems(item, schema["additionalProperties"], definitions, f"{at}.{key}")
        return
    yield from (f"{at}: without {key}" for key in schema.get("required", ()) if key not in value)
    yield from (f"{at}: unknown {key}" for key in value if key not in properties)
    for key in value.keys() & properties.keys():
        yield from problems(value[key], properties[key], definitions, f"{at}.{key}")


def problems_of(value: Any, model: type[data_schema.Record]) -> list[str]:
    schema = model.model_json_schema()
    return list(problems(value, schema, schema.get("$defs", {})))


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    return small_atlas(tmp_path_factory.mktemp("schema"))


@pytest.fixture(scope="module")
def document(atlas: Atlas) -> Any:
    return json.loads(data_files.makers(atlas)["data/atlas.json"]())


def test_atlas_json_has_every_key_of_its_schema_and_no_other(document: Any) -> None:
    schema = json.loads(data_schema.json_schema())
    assert list(problems(document, schema, schema["$defs"])) == []
    assert {row["status"] for row in document["checkpoints"]} == {"ok", "failed"}
    assert any(layer["rotation"] for row in document["checkpoints"] for layer in row["layers"])


def test_the_schema_allows_the_keys_of_a_later_program() -> None:
    assert b'"additionalProperties": false' not in data_schema.json_schema()
    data_schema.Atlas.model_validate_json(
        '{"schema":3,"date":null,"version":null,"libraries":{},"licence":"","address":null,'
        '"checkpoints":[],"new":1}'
    )


def test_pydantic_agrees_that_atlas_json_has_its_schema(document: Any) -> None:
    data_schema.Atlas.model_validate_json(json.dumps(document), extra="forbid")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["checkpoints", 0, "title"], None),
        (["checkpoints", 0, "new"], 1),
        (["date"], 5),
        (["checkpoints", 0, "status"], "fine"),
    ],
    ids=["null", "unknown", "number", "word"],
)
def test_what_is_not_as_documented_is_a_problem(path: list[Any], value: Any, document: Any) -> None:
    changed = json.loads(json.dumps(document))
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert len(problems_of(changed, data_schema.Atlas)) == 1
    with pytest.raises(ValidationError):
        data_schema.Atlas.model_validate_json(json.dumps(changed), extra="forbid")


def test_an_unmeasured_encoding_has_the_documented_keys() -> None:
    assert set(data_schema.Unmeasured.model_fields) == set(data_files.UNMEASURED)


@pytest.mark.parametrize("name", sorted(FORMS))
def test_the_parameters_of_every_form_are_documented(name: str) -> None:
    form = FORMS[name]
    model = data_schema.PARAMETERS.get(type(form).__name__)
    parameters = json.loads(json.dumps(dict(form.parameters)))
    assert (problems_of(parameters, model) if model else list(parameters)) == []


def test_a_release_and_the_index_of_releases_have_the_documented_keys(
    atlas: Atlas, document: Any
) -> None:
    release = releases.following((), document)
    assert release is not None
    assert problems_of(json.loads(releases.encoded(release)), data_schema.Release) == []
    later = releases.following((release,), {**document, "checkpoints": document["checkpoints"][1:]})
    assert later is not None
    assert list(later.checkpoints.values()) == [None]
    assert problems_of(json.loads(releases.encoded(later)), data_schema.Release) == []
    published = Atlas(atlas.outcomes, atlas.analyses, atlas.schemes, releases=(release, later))
    index = json.loads(data_files.makers(published)["data/releases/index.json"]())
    assert [problems_of(entry, data_schema.ReleaseEntry) for entry in index] == [[], []]


def test_a_training_run_has_the_documented_keys_in_its_file_and_in_atlas_json() -> None:
    path = ROOT / "references/tiny-gpt.json"
    assert problems_of(json.loads(path.read_bytes()), data_schema.RunFile) == []
    run = run_file.read(path, "run")
    assert problems_of(json.loads(run_file.encoded(run)), data_schema.RunFile) == []
    lost = replace(
        run, members=(replace(run.members[0], status="failed", reason="Why."), *run.members[1:])
    )
    record = json.loads(json.dumps(run_data.record(lost)))
    assert (problems_of(record, data_schema.TrainingRun), record["unread"][0]["reason"]) == (
        [],
        "Why.",
    )


def test_models_json_has_the_documented_keys() -> None:
    names = ("google/gemma-3-4b-it", "deepseek-ai/deepseek-vl2-tiny", "openai/gpt-oss-20b")
    found = [model for name in names if (model := published_config(name))]
    table = json.loads(models.table(found))
    assert len(found) == len(names)
    assert problems_of(table, PublishedModels) == []
    assert all(any(model[key] for model in table["models"]) for key in ("limits", "reason"))


def test_every_model_is_on_the_page_and_every_key_has_a_meaning() -> None:
    shown = guide.data_schema_context()
    records = [
        record
        for group in (
            "of_atlas",
            "parameters",
            "of_runs",
            "of_releases",
            "of_models",
        )
        for record in shown[group]
    ]
    models = {
        value
        for module in (data_schema, models_schema)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, data_schema.Record)
    }
    # Without the base of all.
    assert len({record.title for record in records}) == len(records) == len(models) - 1
    assert [
        (record.title, field.name)
        for record in records
        for field in record.fields
        if not unescape(field.meaning).endswith((".", "…"))
    ] == []
    titles = {record.title for record in records}
    linked = {
        name
        for record in records
        for field in record.fields
        for name in re.findall(r'<a href="#(\w+)">', field.kind)
    }
    assert linked <= {title.lower() for title in titles}
    assert {"layer", "metric", "rotationoflayer"} <= linked
    capitals = {
        word
        for record in records
        for field in record.fields
        for word in re.findall(r">([A-Z]\w+)<", field.kind)
    }
    assert {word if word in titles else word.removesuffix("s") for word in capitals} <= titles


def test_the_names_of_the_files_of_a_release_are_those_that_are_written(
    tmp_path: Path, document: Any
) -> None:
    release = releases.following((), document)
    assert release is not None
    releases.write(tmp_path, release, dict.fromkeys(releases.DATA, b""))
    assert {path.name for path in (tmp_path / release.id).iterdir()} == set(
        data_schema.FILES_OF_A_RELEASE
    )
