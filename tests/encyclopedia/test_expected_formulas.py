"""Expected values against formulas of papers in double precision, by the settings in each file."""

import json
import math
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.contracts import Json
from generator.encyclopedia import expected
from generator.encyclopedia.check_expected import wrong
from generator.encyclopedia.known_models import known_model
from tests.encyclopedia.rotary_formulas import rotation as by_formula

MODELS = {model["id"]: model for model in expected.frozen()}
ROTATING = [name for name, model in MODELS.items() if model["rotations"]]
EXACT = 1e-13  # Relative, of frequencies and of the factor.
PROMISED = 1e-8  # Of cosines and sines in double precision.
PHI = "microsoft/Phi-4-mini-instruct"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
LONGER = 131_071  # position


def parsed(name: str) -> Json:
    """The file of a model, as an engine's test reads it."""
    found: dict[str, Any] = json.loads(expected.encoded(MODELS[name]))
    return found


def answers(name: str, *, in_single: bool = False) -> dict[str, Any]:
    """As an engine computes from the file of a model, by formulas."""
    file = parsed(name)
    kind = np.float32 if in_single else np.float64
    rotations = []
    for one in file["rotations"]:
        frequencies, factor = by_formula(one, file["context"])
        turned = np.array(frequencies).astype(kind)
        angles = {
            at["position"]: np.multiply(at["position"], turned, dtype=kind) for at in one["values"]
        }
        values = [
            {"position": at, "cos": (factor * np.cos(angle)).tolist(),
             "sin": (factor * np.sin(angle)).tolist()}
            for at, angle in angles.items()
        ]  # fmt: skip
        rotations.append({"values": values})
    return {"id": name, "precision": "double", "rotations": rotations}


def test_every_rotation_has_a_formula_or_says_that_it_has_none() -> None:
    rotations = [one for model in MODELS.values() for one in model["rotations"]]
    assert all("formula" in one for one in rotations)
    assert [one["rope_parameters"] for one in rotations if one["formula"] is None] == []
    assert {one["formula"] for one in rotations} == {
        "default", "linear", "dynamic", "ntk", "yarn", "longrope", "llama3", "proportional",
    }  # fmt: skip


@pytest.mark.parametrize("name", ROTATING)
def test_a_file_has_the_values_of_formulas_in_double_precision(name: str) -> None:
    file = parsed(name)
    for one in file["rotations"]:
        frequencies, factor = by_formula(one, file["context"])
        theirs = pytest.approx(frequencies, rel=EXACT, abs=0.0)
        assert one["inverse_frequencies"] == theirs, one["formula"]
        assert one["attention_factor"] == pytest.approx(factor, rel=EXACT)
        for at in one["values"]:
            for key, wave in (("cos", math.cos), ("sin", math.sin)):
                right = [factor * wave(at["position"] * each) for each in frequencies]
                assert at[key] == pytest.approx(right, abs=PROMISED), (at["position"], key)


@pytest.mark.parametrize("name", [PHI, LLAMA])
def test_numbers_of_single_precision_are_no_such_values(name: str) -> None:
    """What the test above has to notice, and what a checker says of it."""
    assert list(wrong(parsed(name), answers(name))) == []
    assert len(list(wrong(parsed(name), answers(name, in_single=True)))) > 100
    single = {**answers(name, in_single=True), "precision": "single"}
    assert list(wrong(parsed(name), single)) == []


def test_frequencies_of_single_precision_are_far_off_at_the_last_position() -> None:
    """Which is why a file has to have those of double precision."""
    [last] = [at for at in parsed(PHI)["rotations"][1]["values"] if at["position"] == LONGER]
    frequencies = np.array(MODELS[PHI]["rotations"][1]["inverse_frequencies"])
    rounded = np.cos(LONGER * frequencies.astype(np.float32).astype(float))
    factor = MODELS[PHI]["rotations"][1]["attention_factor"]
    assert np.abs(factor * rounded - np.array(last["cos"])).max() > 0.003


def test_a_file_has_the_settings_of_its_config() -> None:
    for name in ROTATING:
        model, file = known_model(name), parsed(name)
        assert model is not None
        assert file["config"] == json.loads(json.dumps(model.settings))
        assert file["revision"] is None or file["revision"] in file["source"]
        for one in file["rotations"]:
            assert one["rope_parameters"]["rope_theta"] == one["base"]
    assert sum(parsed(name)["revision"] is not None for name in MODELS) > 50


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader downloads, with answers of an engine."""
    place = tmp_path_factory.mktemp("expected")
    models = [MODELS[PHI], MODELS[LLAMA]]
    for model in models:
        (place / Path(expected.path(model)).name).write_bytes(expected.encoded(model))
    (place / "index.json").write_bytes(expected.index(models))
    (place / "check.py").write_bytes(expected.CHECK.read_bytes())
    return place


def checked(folder: Path, numbers: Json) -> subprocess.CompletedProcess[str]:
    """By Python alone: neither torch nor the atlas can be imported."""
    (folder / "numbers.json").write_text(json.dumps(numbers), encoding="utf-8")
    command = [sys.executable, "-I", "-S", "check.py", "numbers.json"]
    run = partial(subprocess.run, capture_output=True, text=True, timeout=60, check=False)
    return run(command, cwd=folder)


@pytest.mark.parametrize("name", [PHI, LLAMA])
def test_the_checker_of_the_page_needs_python_alone(name: str, folder: Path) -> None:
    done = checked(folder, answers(name))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_checker_names_each_value_that_is_wrong_or_missing(folder: Path) -> None:
    numbers = answers(PHI)
    numbers["rotations"][1]["values"][3]["sin"][7] += 1e-7
    done = checked(folder, numbers)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("rotation 1, position 17, sin of pair 7: [")
    del numbers["rotations"][0]["values"][2]
    assert "rotation 0, position 2, cos of pair 0: []" in checked(folder, numbers).stderr


def test_the_checker_refuses_a_file_that_was_changed(folder: Path) -> None:
    file = folder / "microsoft--Phi-4-mini-instruct.json"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"0.75", b"0.76"))
    assert "not as index.json lists it" in checked(folder, answers(PHI)).stderr
    file.write_bytes(before)
