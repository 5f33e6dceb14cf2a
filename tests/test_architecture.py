"""A rule about the code itself that no linter has."""

from pathlib import Path

import generator

MOST_LINES = 600


def test_no_module_is_longer_than_600_lines() -> None:
    modules = sorted(Path(generator.__file__).parent.rglob("*.py"))
    assert [
        module.name
        for module in modules
        if len(module.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    ] == []
