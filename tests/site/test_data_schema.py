"""The schema of the data files: it is that of the files, key by key, and of the page on them."""

import json
import re
from dataclasses import replace
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from generator import ROOT
from generator.checkpoints import run_file
from generator.contracts import Atlas, Release
from generator.site.data import downloads as data_files
from generator.site.data import schema as data_schema
from generator.site.history import releases
from generator.site.pages import guide
from generator.site.runs import downloads_of_runs as run_data
from tests.forms import FORMS
from tests.small_site import small_atlas


def problems_of(value: Any, record: Any) -> list[str]:
    """Where a value of JSON differs from a record, with unknown keys as problems too."""
    try:
        TypeAdapter(record).validate_json(json.dumps(value), strict=True, extra="forbid")
    except ValidationError as error:
        return [f"{each['loc']}: {each['msg']}" for each in error.errors()]
    return []


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return small_atlas()


@pytest.fixture(scope="module")
def document(atlas: Atlas) -> Any:
    return json.loads(data_files.makers(atlas)["data/atlas.json"]())


def test_atlas_json_has_every_key_of_its_record_and_no_other(document: Any) -> None:
    assert problems_of(document, data_schema.Atlas) == []
    assert {row["status"] for row in document["checkpoints"]} == {"ok", "failed"}
    assert any(layer["rotation"] for row in document["checkpoints"] for layer in row["layers"])


def test_the_schema_has_every_key_and_allows_those_of_a_later_program() -> None:
    schema = json.loads(data_schema.json_schema())
    assert list(schema["properties"]) == list(data_schema.Atlas.__annotations__)
    assert set(schema["required"]) == set(schema["properties"]) - {"runs", "parts"}
    assert schema["properties"]["checkpoints"]["items"] == {"$ref": "#/$defs/Checkpoint"}
    assert {record.__name__ for record in data_schema.OF_ATLAS} == {"Atlas", *schema["$defs"]}
    assert b'additionalProperties": false' not in data_schema.json_schema()
    assert b"\\n" not in data_schema.json_schema()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["checkpoints", 0, "title"], None), (["checkpoints", 0, "new"], 1), (["date"], 5),
        (["checkpoints", 0, "status"], "fine"),
    ],
    ids=["null", "unknown", "number", "word"],
)  # fmt: skip
def test_what_is_not_as_documented_is_a_problem(path: list[Any], value: Any, document: Any) -> None:
    changed = json.loads(json.dumps(document))
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert len(problems_of(changed, data_schema.Atlas)) == 1


@pytest.mark.parametrize("name", sorted(FORMS))
def test_the_parameters_of_every_form_are_documented(name: str) -> None:
    form = FORMS[name]
    model = data_schema.PARAMETERS.get(type(form).__name__)
    parameters = json.loads(json.dumps(dict(form.parameters)))
    assert (problems_of(parameters, model) if model else list(parameters)) == []


def test_a_release_and_their_index_have_the_documented_keys(atlas: Atlas, document: Any) -> None:
    release = releases.following((), document)
    assert release is not None
    assert problems_of(json.loads(releases.encoded(release)), Release) == []
    later = releases.following((release,), {**document, "checkpoints": document["checkpoints"][1:]})
    assert later is not None
    assert list(later.checkpoints.values()) == [None]
    assert problems_of(json.loads(releases.encoded(later)), Release) == []
    published = Atlas(atlas.outcomes, atlas.analyses, atlas.schemes, releases=(release, later))
    index = json.loads(data_files.makers(published)["data/releases/index.json"]())
    assert [problems_of(entry, data_schema.ReleaseEntry) for entry in index] == [[], []]


def test_a_training_run_has_the_documented_keys_in_its_file_and_in_atlas_json() -> None:
    path = ROOT / "references/tiny-gpt.json"
    assert problems_of(json.loads(path.read_bytes()), data_schema.RunFile) == []
    run = run_file.read(path, "run")
    assert problems_of(json.loads(run_file.encoded(run)), data_schema.RunFile) == []
    first, *others = run.members
    lost = replace(run, members=(replace(first, status="failed", reason="Why."), *others))
    record = json.loads(json.dumps(run_data.record(lost)))
    assert problems_of(record, data_schema.TrainingRun) == []
    assert record["unread"][0]["reason"] == "Why."


def test_every_model_is_on_the_page_and_every_key_has_a_meaning(atlas: Atlas) -> None:
    shown = guide.data_schema_context(atlas)
    records = [*shown.parameters, *chain(*shown.records.values())]
    titles = {record.title for record in records}
    assert len(titles) == len(records)
    fields = [field for record in records for field in record.fields]
    meanings = {field.name: unescape(field.meaning) for field in fields}
    assert [name for name, text in meanings.items() if not text.endswith((".", "…"))] == []
    kinds = " ".join(field.kind for field in fields)
    linked = set(re.findall(r'<a href="#(\w+)">', kinds))
    assert linked <= {title.lower() for title in titles}
    assert {"layer", "metric", "rotationoflayer"} <= linked
    capitals = set(re.findall(r">([A-Z]\w+)<", kinds))
    assert {word if word in titles else word.removesuffix("s") for word in capitals} <= titles


def test_the_files_of_a_release_are_those_that_are_written(tmp_path: Path, document: Any) -> None:
    release = releases.following((), document)
    assert release is not None
    releases.write(tmp_path, release, dict.fromkeys(releases.DATA, b""))
    written = {path.name for path in (tmp_path / release.id).iterdir()}
    assert written == set(data_schema.FILES_OF_A_RELEASE)
