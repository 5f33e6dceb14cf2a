"""Artifacts that are shipped."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from benchmarks import precompute
from generator.cache import precomputed
from generator.cache.blobs import BlobCache
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.known_code import digests, packed, with_tensors
from generator.encyclopedia.known_models import known_models
from generator.libraries import config_classes
from generator.pipeline.artifacts import Artifacts, name_of
from generator.reading.find import look
from generator.schemes import alibi
from generator.schemes.decay.families import FROM_WEIGHTS
from generator.schemes.sink import SINKS
from generator.site.pictures import scheme_pictures
from tests.inline import Inline

SOME = 80  # Every so many types are looked at where not all are.

SHIPPED = [
    (precomputed.FOLDER, precomputed.UNTRAINED), (precomputed.FOLDER, precomputed.PUBLISHED),
    (precomputed.FOLDER, precomputed.CODE), (precomputed.FOLDER, precomputed.DRAWINGS),
    (precomputed.FOLDER, precomputed.RESCALED),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "name"), SHIPPED)
def test_an_artifact_is_shipped_for_the_installed_versions(folder: Path, name: str) -> None:
    assert precomputed.shipped(name, folder) == (folder / f"{name}.json").read_bytes()


def test_no_family_whose_decay_or_sinks_are_trained_is_shipped_as_untrained() -> None:
    """Such a list would leave out what a change of the schemes has added."""
    untrained = json.loads(precomputed.shipped(precomputed.UNTRAINED) or b"[]")
    assert len(untrained) > SOME
    assert {*untrained}.isdisjoint(FROM_WEIGHTS | SINKS)


@pytest.mark.parametrize(("folder", "name"), SHIPPED)
def test_no_artifact_is_shipped_for_another_version_of_any_of_its_libraries(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_with = precomputed._made_with(folder)[name]
    assert [*made_with] == [*precompute.LIBRARIES[name]]
    for library in made_with:
        other = {name: {**made_with, library: "0.0"}}
        monkeypatch.setattr(precomputed, "_made_with", lambda _, other=other: other)
        assert precomputed.shipped(name, folder) is None


@pytest.mark.parametrize("name", ["other", precomputed.VERSIONS, "../__init__"])
def test_nothing_else_is_shipped(name: str) -> None:
    assert precomputed.shipped(name) is None


def test_the_local_part_of_a_version_says_nothing_of_what_it_makes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_with = precomputed._made_with(precomputed.FOLDER)[precomputed.PUBLISHED]
    monkeypatch.setattr(precomputed, "version", lambda library: f"{made_with[library]}+local")
    assert precomputed.shipped(precomputed.PUBLISHED) is not None


def test_without_one_of_its_libraries_nothing_is_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a small installation, which has no torch."""

    def installed(library: str) -> str:
        if library == "torch":
            raise PackageNotFoundError(library)
        return version(library)

    monkeypatch.setattr(precomputed, "version", installed)
    assert precomputed.shipped(precomputed.RESCALED) is None
    assert precomputed.shipped(precomputed.CODE) is not None


def test_what_is_written_is_shipped(tmp_path: Path) -> None:
    artifacts = {name: name.encode() for name in precompute.LIBRARIES}
    precompute.write(tmp_path, artifacts)
    assert {name: precomputed.shipped(name, tmp_path) for name in artifacts} == artifacts


def test_the_shipped_types_without_a_trained_encoding_are_those_of_a_sample() -> None:
    shipped = json.loads(precomputed.shipped(precomputed.UNTRAINED) or b"[]")
    sample = sorted(config_classes())[::SOME]
    assert [name for name in sample if precompute.has_untrained_code(name)] == [
        name for name in sample if name in shipped
    ]


SCHEME = alibi.SCHEME
ROTATIONS = ("meta-llama/Llama-3.1-8B", "microsoft/Phi-3.5-mini-instruct", "openai/gpt-oss-20b")
SAMPLE = ("google/gemma-3-4b-it", "google-bert/bert-base-uncased", "LiquidAI/LFM2-24B-A2B")


def test_the_shipped_tensors_are_those_of_the_code_of_a_sample() -> None:
    shipped = json.loads(precomputed.shipped(precomputed.CODE) or b"{}")
    configs = [one.files.resolved for one in known_models() if one.id in SAMPLE]
    assert len(configs) == len(SAMPLE)
    made = json.loads(precompute.code(configs))
    assert made
    assert {one: shipped.get(one) for one in made} == made


def test_shipped_tensors_need_no_torch() -> None:
    """Of SigLIP, whose table has a row for each of (896 / 14)² patches of 1,152 components."""
    code = """
import sys
from generator.encyclopedia.known_models import known_models
from generator.reading import without_torch
from generator.reading.find import look
[model] = [one for one in known_models() if one.id == "google/gemma-3-4b-it"]
[table] = look(model.files).unmeasured
print(table.provenance.shape, "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(4096, 1152) False"


def test_another_size_is_not_taken_for_a_shipped_one() -> None:
    [model] = [one for one in known_models() if one.id == "google/gemma-3-4b-it"]
    text, vision = model.settings["text_config"], model.settings["vision_config"]

    def tables(**changed: object) -> list[tuple[int, ...]]:
        found = look(ConfigAlone({**model.settings, **changed}, "own")).unmeasured
        return [one.provenance.shape for one in found]

    assert tables(vision_config={**vision, "image_size": 448}) == [(1024, 1152)]
    before, *_ = digests(model.files.resolved)
    other = {**model.settings, "text_config": {**text, "hidden_size": 1024}}
    assert digests(ConfigAlone(other, "own").resolved)[0] == before
    assert tables(text_config=other["text_config"]) == [(4096, 1152)]


def test_tensors_of_many_layers_are_packed_together() -> None:
    tensors = {"a.0.b": (2, 3), "a.1.b": (2, 3), "a.2.b": (2, 4), "c": (5,), "a.0.d.1.e": (1,)}
    found = packed(tensors)
    assert found["a.#.b"] == [[2, 3], [0, 1]]
    files = with_tensors(ConfigAlone({}, "own").resolved, found)
    assert {name: info.shape for name, info in files.tensors.items()} == tensors


def test_the_shipped_drawings_are_what_is_drawn() -> None:
    """If not, `python -m benchmarks.precompute drawings` writes them."""
    assert precomputed.shipped(precomputed.DRAWINGS) == precompute.drawings(precompute.of_schemes())


def test_other_numbers_or_other_code_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def has_drawing() -> bool:
        return name_of(scheme_pictures.figure(SCHEME)) in precomputed.drawings()

    picture = scheme_pictures.picture_of(SCHEME)
    numbers = picture.numbers()
    assert has_drawing()
    last_digits = {name: values * (1 + 1e-15) for name, values in numbers.items()}
    others = {name: values * 1.001 for name, values in numbers.items()}
    for changed, expected in ((last_digits, True), (others, False)):
        other = replace(picture, numbers=partial(dict, changed))
        with monkeypatch.context() as patch:
            patch.setattr(scheme_pictures, "picture_of", lambda _, other=other: other)
            assert has_drawing() is expected
    monkeypatch.setattr(scheme_pictures, "_drawn_by", lambda _: "of other code")
    assert not has_drawing()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_fresh_build_draws_what_is_shipped(tmp_path: Path, fresh: bool) -> None:
    figure = scheme_pictures.figure(SCHEME)
    artifacts = Artifacts(BlobCache(tmp_path), "", fresh, Inline())
    artifacts.start([figure])
    assert artifacts.draw(figure).decode() == precomputed.drawings()[name_of(figure)]
    assert len([*tmp_path.iterdir()]) == fresh


def test_the_shipped_rotations_are_what_transformers_makes_of_a_sample() -> None:
    files = [one.files for one in known_models() if one.id in ROTATIONS]
    made = json.loads(precompute.rescaled(files))
    assert len(files) == len(made) == len(ROTATIONS)
    assert {one: [*precomputed.rescaled()[one]] for one in made} == made


def test_a_published_rotation_needs_no_torch_and_is_as_with_it() -> None:
    code = """
import sys
from generator.encyclopedia.known_models import known_models
from generator.reading.evidence import look_closely
[model] = [one for one in known_models() if one.id == "meta-llama/Llama-3.1-8B"]
[found] = look_closely(model.files).measured
shipped = found.form.frequencies
print("torch" in sys.modules, (found.form.initialised()[0] == shipped).all())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False True"


@pytest.mark.thorough
def test_the_shipped_rotations_are_what_transformers_makes() -> None:
    made = precompute.rescaled(one.files for one in known_models())
    assert precomputed.shipped(precomputed.RESCALED) == made


@pytest.mark.thorough
def test_the_shipped_tensors_are_those_of_the_code_of_published_configs() -> None:
    configs = (one.files.resolved for one in known_models())
    assert precomputed.shipped(precomputed.CODE) == precompute.code(configs)


@pytest.mark.thorough
def test_the_shipped_types_without_a_trained_encoding_are_the_ones_that_are_found() -> None:
    assert precomputed.shipped(precomputed.UNTRAINED) == precompute.untrained()


def test_the_program_imports_no_transformers_before_a_table_is_made() -> None:
    code = "import sys, generator.pipeline.build; print('transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
