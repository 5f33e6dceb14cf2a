"""Sentences that readers see: short enough to be read once."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from generator.checkpoints.list_file import load
from generator.checkpoints.model.input_layer import EVERYDAY
from generator.pipeline.plan import all_sources
from generator.resources import ROOT

MOST_WORDS = 20
PROSE = [
    *sorted((ROOT / "templates").rglob("*.jinja")),
    *sorted((ROOT / "site_src").rglob("*.md")),
    ROOT / "README.md",
]
PROGRAM = sorted((ROOT / "generator").rglob("*.py"))
# Comments, formulas, code, the head of a page, and what a template does without writing it.
UNSEEN = (
    r"\{#.*?#\}|\{% filter formula %\}.*?\{% endfilter %\}|\{% set .*?%\}|```.*?```|^ {4}.*?$"
    r"|^---\n.*?\n---\n|<(script|style|pre)\b.*?</\1>|<!--.*?-->"
)
VALUE = r"\{\{.*?\}\}"
MARKUP = r"\{%.*?%\}|</?\w[^>]*>|\]\([^)]*\)|[*_`\[]"
ENDS = (
    r"[.!?:](?=[\s”’\"')*]*\s+[“‘\"'(]*[^\sa-z])|; expected\b|\n\s*(?:\n|[-*|#\d])|\|"
    r"|</?(?:li|p|td|th|h\d|dt|dd|summary|figcaption|option)\b[^>]*>"
)
# Citations with all their authors, rules of style sheets, and lines of Python for readers.
NO_SENTENCE = re.compile(r"arXiv|\(\d{4}\)|[{}]|\b(?:np|plt)\.\w")


def words_of(sentence: str) -> list[str]:
    return re.findall(r"[^\W\d_][\w’'-]*", sentence)


def sentences_of_page(text: str) -> Iterator[str]:
    """Sentences of a template or of Markdown, without markup."""
    seen = re.sub(
        VALUE, "X", re.sub(UNSEEN, "\n\n", text, flags=re.DOTALL | re.MULTILINE), flags=re.DOTALL
    )
    for part in re.split(ENDS, seen):
        yield " ".join(re.sub(MARKUP, "", part, flags=re.DOTALL).split())


def sentences_of_program(text: str) -> Iterator[str]:
    """Sentences in the strings of a module, except for docstrings."""
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    documents = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            strings = [
                "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "X"
                    for part in node.values
                )
            ]
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documents | inner
        ):
            strings = [node.value]
        else:
            continue
        for string in strings:
            yield from sentences_of_page(string)


def too_long(sentences: Iterator[str]) -> list[str]:
    return [
        sentence
        for sentence in sentences
        if len(words_of(sentence)) > MOST_WORDS
        and not NO_SENTENCE.search(sentence)
        and sentence != EVERYDAY
    ]


def too_long_in(
    paths: list[Path], sentences: Callable[[str], Iterator[str]]
) -> dict[str, list[str]]:
    """Long sentences by file, of the files that have any."""
    found = {
        str(path.relative_to(ROOT)): too_long(sentences(path.read_text(encoding="utf-8")))
        for path in paths
    }
    return {path: long for path, long in found.items() if long}


def test_sentences_of_pages_are_short() -> None:
    assert too_long_in(PROSE, sentences_of_page) == {}


def test_sentences_of_the_program_are_short() -> None:
    assert too_long_in(PROGRAM, sentences_of_program) == {}


def test_sentences_of_the_default_list_are_short() -> None:
    notes = [checkpoint.notes or "" for checkpoint in load(ROOT / "checkpoints.yml", all_sources())]
    assert too_long(sentence for text in notes for sentence in sentences_of_page(text)) == []


def test_a_long_sentence_is_found() -> None:
    long = " ".join(["word"] * MOST_WORDS)
    assert too_long(sentences_of_page(f"Short. **{long}**. Short")) == []
    assert too_long(sentences_of_page(f"Short. **One {long}**. Short")) == [f"One {long}"]
    assert too_long(sentences_of_program(f'"""{long}"""\nX = f"{long} {{X}}"')) == [f"{long} X"]
