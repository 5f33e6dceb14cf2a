"""The files of published models have the documented keys."""

import json

from generator.encyclopedia import expected, table
from generator.encyclopedia.expected_schema import ExpectedModel
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.models_schema import PublishedModels
from tests.site.test_data_schema import problems_of


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
