"""Expected values: the frozen ones are those of the atlas and of transformers, and the page's
example tests an engine against them.
"""

import json
import math
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import expected_values
from generator import ROOT
from generator.contracts import Atlas, Json
from generator.encyclopedia import expected
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import KnownModel, known_model
from tests.encyclopedia.guests import guests
from tests.small_site import atlas_of, every_page

PAGE = (ROOT / "templates/pages/expected.md.jinja").read_text(encoding="utf-8")
_, EXAMPLE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
MODELS = {model["id"]: model for model in expected.frozen()}
SHIPPED = GUEST.shipped() or b"{}"
MEGABYTES = 1e6


def known(hub_id: str) -> KnownModel:
    model = known_model(hub_id)
    assert model is not None
    return model


def rounded(values: Any) -> list[float]:
    return [float(f"{value:.12g}") for value in values]


def test_only_models_read_from_a_published_copy_take_part() -> None:
    assert list(MODELS) == [model.id for model in expected_values.published()]
    assert len(MODELS) > 200


def test_the_atlas_resolves_every_model_to_its_frozen_rotations() -> None:
    def differs(model: KnownModel) -> bool:
        ours, frozen = expected_values.rotations(model), MODELS[model.id]["rotations"]
        return len(ours) != len(frozen) or not all(map(equal, ours, frozen))

    def equal(ours: expected_values.OurRotation, frozen: Json) -> bool:
        given = (frozen["part"], tuple(frozen["layers"]), tuple(frozen["lengths"]))
        theirs = np.array(frozen["inverse_frequencies"])
        turning = theirs[theirs != 0.0]
        return (
            given == (ours.part, ours.layers, ours.lengths)
            and turning.shape == ours.turned.frequencies.shape
            and np.allclose(ours.turned.frequencies, turning, rtol=1e-6, atol=0.0)
            and math.isclose(ours.turned.factor, frozen["attention_factor"], rel_tol=1e-6)
        )

    assert [model.id for model in expected_values.published() if differs(model)] == []


def test_windows_and_layers_without_encoding_are_those_of_the_table_of_models() -> None:
    for row in json.loads(SHIPPED)["models"]:
        if row["id"] not in MODELS:
            continue
        frozen = MODELS[row["id"]]
        assert expected_values.windows(row) == frozen["windows"], row["id"]
        assert expected_values.without_encoding(row) == frozen["without_encoding"], row["id"]
        assert (row["context"], row["trained"]) == (frozen["context"], frozen["original"])


def test_a_rotation_of_sound_is_held_against_the_module_of_its_section() -> None:
    """GLM-ASR turns 32 of 64 components of sound, and 128 of words."""
    sound, words = MODELS["zai-org/GLM-ASR-Nano-2512"]["rotations"]
    named = [one["made_by"]["by"].split()[0] for one in (sound, words)]
    assert named == ["GlmAsrRotaryEmbedding", "LlamaRotaryEmbedding"]
    assert (sound["rotary_dim"], words["rotary_dim"]) == (32, 128)
    compared = [one for model in MODELS.values() for part in model["rotations"]
                for one in part["differs"] if one["code"] == "module"]  # fmt: skip
    assert all(one["deviation"] is not None for one in compared)


@pytest.mark.thorough
def test_the_modules_of_transformers_have_the_frozen_values() -> None:
    found = 0
    for model in expected_values.published():
        modules = [
            *expected_values.of_modules(model),
            *expected_values.of_modules(model, is_of_sound=True),
        ]
        for frozen in MODELS[model.id]["rotations"]:
            if frozen["made_by"]["code"] == "module":
                theirs = np.array(frozen["inverse_frequencies"])
                values = [one for one in modules if np.array_equal(one.frequencies, theirs)]
                assert frozen["attention_factor"] in [one.factor for one in values], model.id
                found += 1
    assert found > 100


@pytest.mark.thorough
def test_places_are_those_that_are_frozen() -> None:
    for model in expected_values.published():
        places = expected_values.places(model)
        assert {name: MODELS[model.id][name] for name in places} == places


def test_values_follow_from_the_formula() -> None:
    """Su et al. 2021 (arXiv 2104.09864), section 3.2.2, for Llama 3.1's first and last pair; the
    latter is slowed by 8 (arXiv 2407.21783 has the base, config.json the factor).
    """
    document = expected.document(MODELS["meta-llama/Llama-3.1-8B-Instruct"])
    [rotation] = document["rotations"]
    assert [at["position"] for at in rotation["values"]] == [
        0, 1, 2, 17, 511, 4095, 8191, 8192, 131071,
    ]  # fmt: skip
    slowest = 5e5 ** (-126 / 128) / 8
    for at in rotation["values"]:
        assert at["cos"][0] == pytest.approx(math.cos(at["position"]), abs=1e-8)
        assert at["sin"][63] == pytest.approx(math.sin(at["position"] * slowest), abs=1e-8)
    assert (rotation["pair_order"], rotation["attention_factor"]) == ("halves", 1.0)


def test_positions_end_with_the_text() -> None:
    document = expected.document(MODELS["microsoft/Phi-3.5-mini-instruct"])
    short, longer = document["rotations"]
    assert (short["lengths"], longer["lengths"]) == ([1, 4096], [4097, None])
    assert [at["position"] for at in short["values"]] == [0, 1, 2, 17, 511, 4095]
    assert [at["position"] for at in longer["values"]][-3:] == [4095, 4096, 131071]
    factor = math.sqrt(1 + math.log(32) / math.log(4096))  # modeling_phi3.py of its repository
    assert factor == 1.1902380714238083
    assert longer["attention_factor"] == factor
    assert short["values"][0]["cos"][0] == pytest.approx(factor, abs=1e-8)


def theirs(config: Json, _rope: Json, n_tokens: int, position: int) -> Any:
    """As an engine answers that has read a file: transformers' own module in single precision."""
    from transformers import CONFIG_MAPPING
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
    from transformers.models.phi3.modeling_phi3 import Phi3RotaryEmbedding

    kind = Phi3RotaryEmbedding if config["model_type"] == "phi3" else LlamaRotaryEmbedding
    places = torch.tensor([[position, n_tokens - 1]])
    module = kind(CONFIG_MAPPING[config["model_type"]].from_dict(dict(config)))
    cos, sin = module(torch.zeros(1), places)
    half = cos.shape[-1] // 2
    return cos[0, 0, :half].tolist(), sin[0, 0, :half].tolist()


def wrong(*given: Any) -> Any:
    cos, sin = theirs(*given)
    return cos, [-value for value in sin]


@pytest.mark.parametrize(
    "hub_id", ["meta-llama/Llama-3.1-8B-Instruct", "microsoft/Phi-3.5-mini-instruct"]
)
def test_the_example_of_the_page_tests_an_engine(
    hub_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / expected.path(MODELS[hub_id])
    path.parent.mkdir(parents=True)
    path.write_bytes(expected.encoded(MODELS[hub_id]))
    monkeypatch.chdir(tmp_path)
    example: dict[str, Any] = {}
    exec(EXAMPLE, example)  # noqa: S102 (the page's own)
    example["cos_and_sin"] = theirs
    assert len(example["CASES"]) >= 9
    for case in example["CASES"]:
        example["test_cosines_and_sines"](*case)
    example["cos_and_sin"] = wrong
    with pytest.raises(AssertionError, match="pair 0"):
        example["test_cosines_and_sines"](*example["CASES"][1])


def test_the_code_on_the_page_is_short() -> None:
    assert len(EXAMPLE.splitlines()) <= 25
    assert len(expected.CHECK.read_text(encoding="utf-8").splitlines()) <= 30


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return replace(atlas_of(), guests=guests(SHIPPED))


def test_every_model_has_a_file_and_a_row(atlas: Atlas) -> None:
    files = expected.makers(atlas)
    made = {path: make() for path, make in files.items()}
    sizes = list(map(len, made.values()))
    assert sum(sizes) < 6 * MEGABYTES
    assert max(sizes) < MEGABYTES / 4
    listed = json.loads(made.pop(expected.INDEX))
    assert made.pop(expected.CHECKER) == expected.CHECK.read_bytes()
    assert len(made) == len(MODELS)
    assert listed["version"] == max(model["date"] for model in MODELS.values())
    assert listed["sha256"] == {
        Path(path).name: sha256(data).hexdigest() for path, data in made.items()
    }
    [page] = [page for page in every_page(atlas) if page.path == "data/expected.md"]
    assert [path for path, _ in vars(page.context)["rows"]] == list(made)
    assert (
        sum(one.made for one in vars(page.context)["agreements"]) == vars(page.context)["rotations"]
    )


def test_an_atlas_without_published_configs_has_no_files() -> None:
    assert expected.makers(atlas_of()) == {}


def test_a_version_rises_with_a_value_alone() -> None:
    before = MODELS["meta-llama/Llama-3.1-8B-Instruct"]
    same = expected_values.frozen({**before, "source": "elsewhere"}, before)
    assert (same["version"], same["date"]) == (before["version"], before["date"])
    assert expected_values.frozen({**before, "context": 1}, before)["version"] == (
        before["version"] + 1
    )
    assert expected_values.frozen(before, None)["version"] == 1


def test_a_deviation_is_relative_and_needs_as_many_pairs() -> None:
    one = expected_values.Turned(("atlas", "x"), np.array([1.0, 0.5, 0.0]), 1.0)
    other = replace(one, frequencies=np.array([1.0, 0.5 * (1 + 1e-5)]))
    assert other.deviation(one) == pytest.approx(1e-5, rel=1e-6)
    assert one.deviation(replace(one, frequencies=np.array([1.0]))) is None
