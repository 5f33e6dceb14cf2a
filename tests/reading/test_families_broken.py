"""A copy whose base is broken is named by compare, and what --fix prints makes it equal: of all
families that llama.cpp's script, mlx-lm and peft converted to a copy that is equal.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import pytest
from gguf.scripts import gguf_set_metadata

from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Files, Mend
from generator.reading.comparison import compared
from generator.reading.mends import mend_of
from generator.reading.sides import Side
from tests.reading.judged import Judged, seen
from tests.reading.test_conversions import GGUF
from tests.reading.test_families_converted import LOST, WEIGHTS, names, unpacked
from tests.reading.test_mends import applied, broken

__all__ = ["unpacked"]  # a fixture
BROKEN = 12_345.0
STEP = 20  # One copy in so many is a test of every run.
BASES = ("rope_parameters.rope_theta", "rope_theta", "rope_parameters.full_attention.rope_theta",
         "text_config.rope_parameters.rope_theta")  # fmt: skip
NAMED_AND_MENDED = ("rotation, then equal", ["rotation"])


def verdict(name: str, source: Files, spoilt: Files, mended: Files) -> Judged:
    one = Side.of("A", source)
    kinds = [*dict.fromkeys(seen(compared(one, Side.of("B", spoilt)))[1])]
    after = compared(one, Side.of("B", mended)).verdict
    return Judged(name, (f"{' '.join(kinds)}, then {after}", kinds), NAMED_AND_MENDED)


def mend(source: Files, spoilt: Files) -> Mend:
    return mend_of(Side.of("A", source), Side.of("B", spoilt))


def set_metadata(path: Path, key: str, value: object, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys, "argv", ["set", str(path), key, str(value), "--force"])
    gguf_set_metadata.main()


def of_gguf(unpacked: Path, folder: Path, step: int, patch: pytest.MonkeyPatch) -> Iterator[Judged]:
    for name in [name for name in names(unpacked, "source") if name not in LOST][::step]:
        path = unpacked / "source" / name / "model.gguf"
        keys = [key for key in gguf.GGUFReader(path).fields if key.endswith("rope.freq_base")]
        if keys:
            copy = folder / name / "model.gguf"
            copy.parent.mkdir()
            shutil.copy(path, copy)
            set_metadata(copy, keys[0], BROKEN, patch)
            source = FolderFiles(path.parent, "own", WEIGHTS)
            spoilt = FolderFiles(copy.parent, "own", GGUF)
            found = mend(source, spoilt)
            (folder / f"{name} mended").mkdir()
            mended = Path(shutil.copy(copy, folder / f"{name} mended"))
            for key, value in found.metadata:
                set_metadata(mended, key, value, patch)
            yield verdict(name, source, spoilt, FolderFiles(mended.parent, "own", GGUF))


def of_copies(unpacked: Path, folder: Path, program: str, step: int) -> Iterator[Judged]:
    for name in names(unpacked, program)[::step]:
        copy = Path(shutil.copytree(unpacked / program / name, folder / program / name))
        settings = json.loads((copy / "config.json").read_text("utf-8"))
        if path := next((path for path in BASES if at(settings, path)), None):
            source = FolderFiles(unpacked / "source" / name, "own", WEIGHTS)
            spoilt = broken(settings, path, BROKEN)
            (copy / "config.json").write_text(json.dumps(spoilt), "utf-8")
            found = mend(source, FolderFiles(copy, "own"))
            mended = Path(shutil.copytree(copy, folder / program / f"{name} mended"))
            whole = json.dumps(applied(spoilt, found))
            (mended / "config.json").write_text(whole, "utf-8")
            files = FolderFiles(copy, "own"), FolderFiles(mended, "own")
            yield verdict(f"{name} by {program}", source, *files)


def at(settings: Any, path: str) -> Any:
    for key in path.split("."):
        settings = settings.get(key) if isinstance(settings, dict) else None
    return settings


def check(judged: list[Judged]) -> None:
    assert judged
    assert [one.wrong for one in judged if one.wrong] == []


def test_some_bases(unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check([*of_gguf(unpacked, tmp_path, STEP, monkeypatch)])
    check([*of_copies(unpacked, tmp_path, "mlx_lm", STEP)])


@pytest.mark.thorough
def test_every_base(unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = [*of_gguf(unpacked, tmp_path, 1, monkeypatch)]
    for program in ("mlx_lm", "peft"):
        judged += of_copies(unpacked, tmp_path, program, 1)
    check(judged)
