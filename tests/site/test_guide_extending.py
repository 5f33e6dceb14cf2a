"""The worked examples of the guide are an atlas, whose extensions are found, measured and shown."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator import ROOT
from generator.contracts import Outcome, own
from generator.pipeline import extensions
from generator.reading import lint
from tests import small_site
from tests.support import checkpoint, save_folder

PAGE = (ROOT / "site_src/guide/extending.md").read_text(encoding="utf-8")
ATLAS = ROOT / "examples/own-atlas"
FILES = dict(re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
SIZE, STEEPNESS = np.array([2.0, 0.5], np.float32), np.array([1.0, 3.0], np.float32)
CONFIG = {"model_type": "made_up", "n_positions": 8, "hidden_size": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the atlas, whose extensions are found."""
    folder = shutil.copytree(ATLAS, tmp_path_factory.mktemp("extending") / "atlas")
    own.use(folder)
    yield folder
    own.use(None)


@pytest.fixture(scope="module")
def outcome(folder: Path) -> Outcome:
    path = save_folder(folder / "checkpoint", CONFIG, {"kerple.r1": SIZE, "kerple.r2": STEEPNESS})
    return small_site.evaluated(checkpoint(place=str(path)))[0]


def test_the_page_shows_the_files_of_the_atlas_and_names_all_of_them() -> None:
    assert {path: (ATLAS / path).read_text(encoding="utf-8") for path in FILES} == FILES
    others = {"checkpoints.yml", "models/biased/config.json", "models/nebula/config.json"}
    found = {path.relative_to(ATLAS).as_posix() for path in ATLAS.rglob("*") if path.is_file()}
    assert {path for path in found if "__pycache__" not in path} == {*FILES, *others}


def test_the_scheme_is_recognised_and_the_analysis_measures_it(outcome: Outcome) -> None:
    [reading] = outcome.readings
    assert (outcome.reason, reading.encoding.scheme, reading.encoding.form) == (
        None, "kerple", "OffsetBias",
    )  # fmt: skip
    result = reading.results["bias_range"]
    # r₁ ln(1 + r₂ d) of head 0 at a distance of 7.
    assert result.value("most") == pytest.approx(2.0 * np.log(8.0))
    assert result.value("mean") == pytest.approx((2.0 * np.log(8.0) + 0.5 * np.log(22.0)) / 2.0)
    assert "bias_range-heads" in reading.drawings


def test_the_rule_and_the_family_are_used(folder: Path) -> None:
    [row] = small_site.evaluated(checkpoint(place=str(folder / "models/nebula")))
    [reading] = row.readings
    assert {one.rule: one.text for one in row.lint}["whole-blocks"] == (
        "The context of 1,000 positions fills whole blocks of 256 but for the last 232 positions."
    )
    # Half of 64 / 4 components, in three of four layers.
    assert reading.encoding.parameters["rotary_dim"] == 8
    assert reading.encoding.parameters["layers"] == [0, 1, 2, 4, 5, 6]
    assert "as families.yml of this atlas says" in " ".join(reading.encoding.notes)


def test_its_pages_show_scheme_analysis_and_rule(folder: Path, outcome: Outcome) -> None:
    extensions.check()
    tree = small_site.tree_of(small_site.atlas_of(outcome, rules=lint.all_rules()))
    for path, text in (
        ("checkpoints/row.md", "each head lowers the logits of distant keys"),
        ("schemes/kerple.md", "<math"),
        ("analyses/bias_range.md", "The range of a head is the highest bias less the lowest"),
        ("data/arrays.md", "highest less lowest bias of each head"),
        ("guide/rules.md", "positions that our server keeps together"),
    ):
        assert text in tree[path].decode(), path


def test_the_tests_of_the_page_pass(folder: Path) -> None:
    names: dict[str, Any] = {"__file__": str(folder / "tests/test_own.py")}
    exec(FILES["tests/test_own.py"], names)  # noqa: S102 (our own page)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()
