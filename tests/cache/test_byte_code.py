"""Byte code of templates is stored, and follows what it is made of."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from generator.cache import byte_code
from generator.cache.byte_code import ByteCode
from generator.site import render
from generator.site.materials import OURS

Compiled = Callable[[str, str], bool]


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiled:
    """Renders a template with a program of this name; whether that compiles it."""
    calls = list[str]()
    compile_ = Environment.compile

    def counting(self: Environment, source: str, name: str, filename: str) -> object:
        calls.append(source)
        return compile_(self, source, name, filename)

    monkeypatch.setattr(Environment, "compile", counting)

    def run(source: str, program: str) -> bool:
        before = len(calls)
        cache = ByteCode(tmp_path / "code", program)
        environment = Environment(
            loader=DictLoader({"a": source}), bytecode_cache=cache, autoescape=True
        )
        assert environment.get_template("a").render(x=2) == source.replace("{{ x }}", "2")
        return len(calls) > before

    return run


def test_a_template_is_compiled_once_for_each_text_and_program(compiled: Compiled) -> None:
    assert compiled("a {{ x }}", "1")
    assert not compiled("a {{ x }}", "1")
    assert compiled("b {{ x }}", "1")
    assert compiled("b {{ x }}", "2")
    assert not compiled("b {{ x }}", "2")


def test_byte_code_that_is_damaged_is_made_again(compiled: Compiled, tmp_path: Path) -> None:
    compiled("a {{ x }}", "1")
    [stored] = (tmp_path / "code").iterdir()
    whole = stored.read_bytes()
    for content in (b"", b"no byte code", whole[:16], whole[:40], whole[:22] + b"\xff", whole[:-9]):
        stored.write_bytes(content)
        assert compiled("a {{ x }}", "1")


def test_where_nothing_can_be_written_a_template_is_compiled_each_time(
    compiled: Compiled, tmp_path: Path
) -> None:
    (tmp_path / "code").write_bytes(b"a file in place of the folder")
    assert compiled("a {{ x }}", "1")
    assert compiled("a {{ x }}", "1")


def test_it_lies_where_python_has_its_own_or_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    render.environment_of.cache_clear()
    render.environment_of(*OURS.templates).get_template("pages/crumbs.jinja")
    assert [path for path in tmp_path.rglob("*") if path.is_file()]
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert byte_code.stored("pages") is None
    render.environment_of.cache_clear()


def test_a_module_that_changes_is_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byte_code, "PACKAGE", tmp_path)
    module, programs = tmp_path / "one.py", list[str]()
    for text, seconds in (("a = 1", 1), ("a = 1", 2), ("a = 12", 2)):
        module.write_text(text, encoding="utf-8")
        os.utime(module, (seconds, seconds))
        programs.append(byte_code._program.__wrapped__())
    assert len({*programs}) == len(programs)
