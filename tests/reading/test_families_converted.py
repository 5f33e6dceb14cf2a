"""Small models of many families, converted by llama.cpp's script, mlx-lm and peft: each verdict is
equal, or a loss that the code of the converter explains. tests/fixtures/conversions/README.md names
the programs.
"""

import json
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import gguf
import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from tests.reading.judged import EQUAL, Judged, seen
from tests.reading.test_conversions import FIXTURES, GGUF, between

SOURCES, COPIES = FIXTURES / "families.tar.xz", FIXTURES / "copies_of_families.tar.xz"
WEIGHTS = Choice(name="model.safetensors")
LEAST, STEP = 70, 9  # Architectures; one family in so many is a test of every run.
# What llama.cpp's converter loses, in conversion/ of its code but where another file is named.
LOST: Mapping[str, list[str]] = {
    # granite.py takes the share from attn_rotary_emb alone, which transformers 5 does not save.
    "bamba": ["rotation"],
    # transformers 5 takes no base from attn_config; dbrx.py does.
    "dbrx": ["rotation"],
    # falcon.py writes 2,048 positions, and nothing of ALiBi.
    "falcon_alibi": ["context", "rotation_alone", "scheme_alone"],
    # chatglm.py writes seq_length, and without it the width.
    "glm": ["context"],
    # hunyuan.py writes 262,144 positions for any dynamic scaling.
    "hunyuan_v1_dense": ["context"],
    # minicpm.py writes neither the original length nor the magnitude of LongRoPE.
    "minicpm": ["rotation", "longer"],
    # llama.py and starcoder.py write no window.
    "mistral": ["mixing"],
    "starcoder2": ["mixing"],
    # granite.py writes 2²⁰ positions for what has recurrent layers.
    "nemotron_h": ["context"],
    # bert.py writes the positions of its training.
    "nomic_bert": ["context"],
    # src/models/phi3.cpp applies no window.
    "phi3": ["mixing"],
    # phi.py computes the magnitude, which the source says otherwise.
    "phimoe": ["rotation"],
    # src/models/qwen.cpp has no factor on logits, and base.py writes no dynamic scaling.
    "qwen": ["growing", "scheme_alone"],
    "internlm3": ["growing"],
    # glm.py halves the share of what says none, which is whole in transformers.
    "solar_open": ["rotation"],
}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("families"))


def unpack(folder: Path) -> Path:
    for archive in (SOURCES, COPIES):
        with tarfile.open(archive) as packed:
            packed.extraction_filter = getattr(tarfile, "data_filter", None)  # Since 3.11.4.
            packed.extractall(folder)  # noqa: S202 (our own)
    return folder


def names(folder: Path, program: str) -> list[str]:
    return sorted(path.name for path in (folder / program).iterdir())


def judged_gguf(folder: Path, name: str) -> Judged:
    one, other = (
        FolderFiles(folder / "source" / name, "own", choice) for choice in (WEIGHTS, GGUF)
    )
    kinds = LOST.get(name, [])
    return Judged(name, seen(between(one, other)), ("different", kinds) if kinds else EQUAL)


def judged_copy(folder: Path, program: str, name: str) -> Judged:
    source = FolderFiles(folder / "source" / name, "own", WEIGHTS)
    found = between(source, FolderFiles(folder / program / name, "own"))
    return Judged(f"{name} by {program}", seen(found), EQUAL)


def by_llama_cpp(folder: Path, step: int = 1) -> Iterator[Judged]:
    return (judged_gguf(folder, name) for name in names(folder, "source")[::step])


def by_others(folder: Path, program: str, step: int = 1) -> Iterator[Judged]:
    return (judged_copy(folder, program, name) for name in names(folder, program)[::step])


def test_some_families(unpacked: Path) -> None:
    judged = [*by_llama_cpp(unpacked, STEP)]
    for program in ("mlx_lm", "peft"):
        judged += by_others(unpacked, program, STEP)
    assert [one.wrong for one in judged if one.wrong] == []


def test_what_config_json_alone_tells_of_losses(unpacked: Path) -> None:
    wrong = []
    for name, kinds in [*LOST.items()][::4]:
        folder = unpacked / "source" / name
        settings = json.loads((folder / "config.json").read_text("utf-8"))
        found = between(ConfigAlone(settings, "own"), FolderFiles(folder, "own", GGUF))
        wrong += [name] if seen(found) != ("different", kinds) else []
    assert wrong == []


@pytest.mark.thorough
def test_every_family_by_llama_cpp(unpacked: Path) -> None:
    judged = [*by_llama_cpp(unpacked)]
    readers = (gguf.GGUFReader(unpacked / "source" / one.name / "model.gguf") for one in judged)
    assert len({one.fields["general.architecture"].contents() for one in readers}) >= LEAST
    assert [one.wrong for one in judged if one.wrong] == []
    assert {one.name for one in judged if one.is_loss} == LOST.keys()


@pytest.mark.thorough
@pytest.mark.parametrize("program", ["mlx_lm", "peft"])
def test_every_family_by_others(unpacked: Path, program: str) -> None:
    judged = [*by_others(unpacked, program)]
    assert [one.wrong for one in judged if one.wrong] == []
