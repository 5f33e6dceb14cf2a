"""The files of published models have the documented keys."""

import json
from dataclasses import replace

from generator.encyclopedia import expected, model_files, table
from generator.encyclopedia.expected_schema import ExpectedModel
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.model_rows import records
from generator.encyclopedia.models_schema import IndexOfModels, OneModel, PublishedModels
from tests.encyclopedia.guests import guests
from tests.site.test_data_schema import problems_of
from tests.small_site import atlas_of


def test_models_json_has_the_documented_keys() -> None:
    names = (
        "google/gemma-3-4b-it", "deepseek-ai/deepseek-vl2-tiny", "openai/gpt-oss-20b",
        "openai/whisper-tiny", "google/vit-base-patch16-224", "Qwen/Qwen3.5-9B",
    )  # fmt: skip
    found = [model for name in names if (model := known_model(name))]
    made = json.loads(table.table(found))
    assert len(found) == len(names)
    assert problems_of(made, PublishedModels) == []
    assert any(model["limits"] for model in made["models"])


def test_expected_values_have_the_documented_keys() -> None:
    found = [problems_of(expected.document(model), ExpectedModel) for model in expected.frozen()]
    assert [problems for problems in found if problems] == []


def test_the_file_of_a_model_has_the_documented_keys_and_names_files_that_exist() -> None:
    atlas = replace(atlas_of(), guests=guests(GUEST.shipped() or b""))
    files = GUEST.files(atlas)
    index = json.loads(files[model_files.INDEX]())
    assert problems_of(index, IndexOfModels) == []
    assert [*index["models"]] == [model["id"] for model in records(atlas)]
    assert {*index["models"].values()} <= {*files}
    for path in [*index["models"].values()][::20]:
        made = json.loads(files[path]())
        assert problems_of(made, OneModel) == []
        assert made["expected"] is None or made["expected"] in files
        assert (known := known_model(made["model"]["id"])) is not None
        assert (made["config"], made["revision"]) == (known.settings, known.revision)
