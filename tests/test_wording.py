"""Sentences are in templates: code asks for each by its name, with its values, and holds none."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from jinja2 import UndefinedError, nodes

import generator
from generator.contracts import Label, Metric, Result, wording
from generator.contracts.checkpoints import SENTENCE
from generator.contracts.wording import TEMPLATES, Wording
from generator.figures import svg

PACKAGE = Path(generator.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
OF_PAGES = {"method", "arrays", "detail", "where", "explain"}  # What pages render.
OF_FIGURE = ("caption", "how_to_read", "alt", "summary")
OF_HEADLINE = ("title", "sentence", "in_brief")
OF_SEVERAL = "_several"  # Ends the caption of several results, where that is another.
MOST_WORDS = 5
STOP = re.compile(r"[.?!](?: |$)")
# A text in one of these is a message, the meaning of an option, or code for readers.
MESSAGES = re.compile(r"\w*Error|Metric|compile|Recomputed|Term|Field")
OPTIONS = ("python", "reason", "describes")
# Messages, and what keys of a file mean, as docstrings say of others.
EXCEPT = ("site/write.py", "site/data/schema.py", "checkpoints/files/unread_folders.py")
MESSAGE_OR_INPUT = {svg.TOO_LARGE, SENTENCE}
# All but the command line, whose sentences are help and messages.
ROOMS = sorted(
    {room for room, *rest in (module.relative_to(PACKAGE).parts for module in MODULES) if rest}
    - {"cli"}
)


def _text_of(node: ast.AST) -> str | None:
    """A string, in which \\0 stands for what is put in; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(value) or "\0" for value in node.values)
    return None


@cache
def _templates_of(module: Path) -> dict[str, str]:
    """Templates that a module asks, by the name by which it calls these."""
    found = {}
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(
                [ast.Name(name)], ast.Call(ast.Name("Wording"), [ast.Constant(str(path))])
            ):
                found[name] = path
    return found


def _asked(module: Path) -> Iterator[tuple[str, str, frozenset[str] | None]]:
    """Template, name and values of each text that a module asks for; \\0 in a name is any word, and
    values are None where they cannot be told.
    """
    tree = ast.parse(module.read_text(encoding="utf-8"))
    texts = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }
    templates = _templates_of(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword):
            yield from ((templates["WORDING"], name, None) for name in _of_keyword(node))
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = _text_of(node.args[0])
        if name is None:
            first = node.args[0]
            name = texts.get(first.id, "\0") if isinstance(first, ast.Name) else "\0"
        match node.func:
            case ast.Name(of) if of in templates:
                given = [keyword.arg for keyword in node.keywords]
                values = None if None in given else frozenset(map(str, given))
                yield templates[of], name, values
            case ast.Attribute(ast.Name(of), "figure") if of in templates:
                has_alt = any(keyword.arg == "alt" for keyword in node.keywords)
                ends = OF_FIGURE[:2] if has_alt else OF_FIGURE
                yield from ((templates[of], f"{name}_{end}", None) for end in ends)
            case ast.Name("Bars"):
                yield templates["WORDING"], f"{name}_bars", None
            case ast.Name("Headline") if isinstance(node.args[-1], ast.Name) and name != "\0":
                yield from _of_headline(node, name, templates)


def _of_keyword(node: ast.keyword) -> Iterator[str]:
    if node.arg == "overlay":
        yield "overlay_how_to_read"
    if node.arg == "over_steps" and isinstance(node.value, ast.Dict):
        yield from (f"{_text_of(key)}_by_step" for key in node.value.keys if key)


def _of_headline(
    node: ast.Call, name: str, templates: dict[str, str]
) -> Iterator[tuple[str, str, None]]:
    last = node.args[-1]
    assert isinstance(last, ast.Name)
    yield from ((templates[last.id], f"{name}_{end}", None) for end in OF_HEADLINE)
    clauses = (one.value for one in node.keywords if one.arg == "where")
    yield from ((templates[last.id], _text_of(one) or "", None) for one in clauses)


# Asked for by every record, by these names.
OF_RECORDS = {"title", "question", "source", "summary", "looked_for",
              "picture_caption", "picture_how_to_read", "picture_alt",
              "overlay_title"}  # fmt: skip
ASKED = [(module, *each) for module in MODULES for each in _asked(module)]
PATHS = sorted({path for module in MODULES for path in _templates_of(module).values()})


@pytest.mark.parametrize("path", PATHS)
def test_every_text_is_asked_for_with_its_values(path: str) -> None:
    tree = wording._environment().parse((TEMPLATES / path).read_text(encoding="utf-8"))
    macros, texts = dict[str, set[str]](), set[str]()
    for node in tree.body:
        match node:
            case nodes.Macro():
                macros[node.name] = {argument.name for argument in node.args}
            case nodes.AssignBlock(target=nodes.Name() as target):
                texts.add(target.name)
            case nodes.Assign(target=nodes.Name() as target, node=nodes.Name() as same):
                if same.name in texts:
                    texts.add(target.name)
                else:
                    macros[target.name] = macros[same.name]
    called = {
        each.node.name for each in tree.find_all(nodes.Call) if isinstance(each.node, nodes.Name)
    }
    asked = [(name, values) for _, of, name, values in ASKED if of == path]
    for name, values in asked:
        if "\0" in name or name.endswith(tuple(f"_{end}" for end in OF_HEADLINE)):
            continue
        assert name in macros or name in texts, f"no text {name}"
        if values is not None:
            assert values == macros.get(name, set()), name
    patterns = [re.escape(name).replace("\0", r"\w+") for name, _ in asked]
    unasked = [
        name
        for name in {*macros, *texts} - OF_PAGES - OF_RECORDS - called
        if not any(re.fullmatch(pattern, name) for pattern in patterns)
        and f"{name.removesuffix(OF_SEVERAL)}_caption" not in texts
    ]
    assert unasked == []


def test_every_template_has_a_module_that_asks_it() -> None:
    written = {
        path.relative_to(TEMPLATES).as_posix()
        for folder in ("analyses", "schemes", "wording")
        for path in (TEMPLATES / folder).iterdir()
    }
    assert written == {*PATHS}


def _sentences(module: Path) -> Iterator[str]:
    """Sentences of more than MOST_WORDS words in a module that are no messages."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    ignored: set[int] = set()
    for node in ast.walk(tree):
        inside: list[ast.AST] = []
        match node:
            case ast.Raise() | ast.Expr(ast.Constant()):
                inside = [node]
            case ast.Assign([ast.Name(name)]) if name in OPTIONS:
                inside = [node]
            case ast.Call(ast.Name(name) | ast.Attribute(_, name)) if MESSAGES.fullmatch(name):
                inside = [node]
            case ast.keyword(arg=str(name)) if name in OPTIONS:
                inside = [node]
            case ast.JoinedStr():
                inside = [*node.values]
        ignored.update(id(each) for one in inside for each in ast.walk(one))
    for node in ast.walk(tree):
        text = None if id(node) in ignored else _text_of(node)
        if text and STOP.search(text) and len(re.findall("[A-Za-z]{2,}", text)) > MOST_WORDS:
            yield text


@pytest.mark.parametrize("room", ROOMS)
def test_code_holds_no_sentences(room: str) -> None:
    found = {
        f"{module.relative_to(PACKAGE)}: {text}"
        for module in (PACKAGE / room).rglob("*.py")
        if module.relative_to(PACKAGE).as_posix() not in EXCEPT
        for text in _sentences(module)
        if text not in MESSAGE_OR_INPUT
    }
    assert sorted(found) == []


def test_a_sentence_is_one_line_and_names_stay_as_they_are() -> None:
    found = Wording("wording/site.jinja")
    assert found("dataset", names=["a  b", "c ."]) == (
        "Metrics and arrays of the position encodings of 2 checkpoints: a  b, c .."
    )
    assert found("dataset_title").endswith("position encodings")
    with pytest.raises(AttributeError):
        found("nothing")
    with pytest.raises(TypeError):
        found("dataset", titles=[])


def test_an_alternative_text_says_the_numbers_of_each_result() -> None:
    alt = Wording("analyses/vector_norms.md.jinja").figure("energy").alt
    norms = {"dimension_norms": np.ones(8)}
    results = {
        Label(name, "#000000"): Result((Metric("half", "Half", value, reason="none"),), norms)
        for name, value in {"a": 3.0, "b": None}.items()
    }
    assert alt(results).endswith(" a: 3 of 8; b: not defined of 8.")
    of_own = Wording("analyses/seams.md.jinja").figure("neighbours", lambda _: {"median": 1.0}).alt
    with pytest.raises(UndefinedError):
        of_own(results)
