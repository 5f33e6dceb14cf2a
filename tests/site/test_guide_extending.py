"""The worked example of the guide: its modules, put where it says, are found, measured and
shown.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jinja2 import FileSystemLoader

from generator import ROOT, analyses, schemes
from generator.contracts import Outcome, wording
from generator.site.materials import OURS, Materials
from tests import small_site
from tests.support import checkpoint, save_folder

PAGE = (ROOT / "site_src/guide/extending.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
SIZE, STEEPNESS = np.array([2.0, 0.5], np.float32), np.array([1.0, 3.0], np.float32)
CONFIG = {"model_type": "made_up", "n_positions": 8, "hidden_size": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, by the paths that it gives them."""
    folder = tmp_path_factory.mktemp("extending")
    for path, content in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def extended(folder: Path) -> Iterator[Path]:
    """The packages of schemes and analyses, with those of the page."""
    with pytest.MonkeyPatch.context() as patch:
        templates = FileSystemLoader([folder / "templates", wording.TEMPLATES])
        patch.setattr(wording._environment(), "loader", templates)
        for package in (schemes, analyses):
            patch.setattr(
                package,
                "__path__",
                [*package.__path__, str(folder / package.__name__.replace(".", "/"))],
            )
        yield folder
    for path in sorted(FILES, reverse=True):  # What a package contains before it.
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        package, _, module = name.rpartition(".")
        if sys.modules.pop(name, None) is not None:
            delattr(sys.modules[package], module)


@pytest.fixture(scope="module")
def outcome(extended: Path) -> Outcome:
    path = save_folder(extended / "checkpoint", CONFIG, {"kerple.r1": SIZE, "kerple.r2": STEEPNESS})
    return small_site.evaluated(checkpoint(place=str(path)))[0]


def test_the_page_has_two_extensions_their_templates_and_a_test() -> None:
    assert sorted(Path(path).parent.as_posix() for path in FILES) == [
        "generator/analyses", "generator/schemes/kerple", "generator/schemes/kerple",
        "templates/analyses", "templates/schemes", "tests",
    ]  # fmt: skip


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


def test_its_pages_show_scheme_and_analysis(extended: Path, outcome: Outcome) -> None:
    templates = (extended / "templates", *OURS.templates)
    materials = Materials(templates, OURS.written, OURS.settings)
    tree = small_site.tree_of(small_site.atlas_of(outcome), materials)
    for path, text in (
        ("checkpoints/row.md", "each head lowers the logits of distant keys"),
        ("schemes/kerple.md", "<math"),
        ("analyses/bias_range.md", "The range of a head is the highest bias less the lowest"),
        ("data/arrays.md", "highest less lowest bias of each head"),
    ):
        assert text in tree[path].decode(), path


def test_the_tests_of_the_page_pass(extended: Path) -> None:
    [code] = [content for path, content in FILES.items() if path.startswith("tests/")]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 (our own page)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()
