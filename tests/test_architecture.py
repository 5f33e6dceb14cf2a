"""Rules about the code itself that no linter has."""

from pathlib import Path

import generator
from tests.built import ROOT

MOST_LINES = 600
MOST_COLUMNS = 160


def test_no_module_is_longer_than_600_lines() -> None:
    modules = sorted(Path(generator.__file__).parent.rglob("*.py"))
    assert [
        module.name
        for module in modules
        if len(module.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    ] == []


def test_lines_of_templates_fit_160_columns() -> None:
    templates = [*(ROOT / "templates").rglob("*.*"), *(ROOT / "site_src").rglob("*.md")]
    assert [
        f"{template.name}:{number}"
        for template in sorted(templates)
        for number, line in enumerate(template.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ] == []
