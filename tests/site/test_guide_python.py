"""The page of the guide on programs in Python: its example prints what it says."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import position_atlas
from generator import ROOT
from generator.cli.commands import app

PAGE = (ROOT / "site_src/guide/python.md").read_text(encoding="utf-8")
[CODE] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_stands_beside_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert CliRunner().invoke(app, ["init", str(tmp_path / "atlas")]).exit_code == 0
    monkeypatch.chdir(tmp_path / "atlas")
    exec(CODE, {})  # noqa: S102 (our own page)
    assert capsys.readouterr().out.splitlines() == re.findall(r"\)  # (.*)$", CODE, re.MULTILINE)
    assert (tmp_path / "atlas/decay.svg").stat().st_size > 0


def test_the_page_names_all_that_the_module_has() -> None:
    assert {*position_atlas.__all__} <= {*re.findall(r"`(\w+)", PAGE)}
