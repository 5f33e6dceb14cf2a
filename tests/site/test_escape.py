"""Escaping of text for pages, and numbers in tables."""

import math
from functools import cache
from typing import Any

import markdown  # type: ignore[import-untyped]
import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given
from hypothesis import strategies as st
from jinja2 import nodes
from markupsafe import Markup
from mkdocs.utils.yaml import yaml_load

from generator.site.html.escape import finalize, literal
from generator.site.render import environment_of
from generator.text import number
from tests.built import ROOT

# Contexts in which templates insert text, with <> in the place of the text.
CONTEXTS = {
    "paragraph": "<>",
    "middle of a paragraph": "The title is <> here.",
    "heading": "## <>",
    "list item": "- <>",
    "link": "[<>](index.md)",
    "bold": "**<>**",
    "Markdown table": "| a | b |\n| --- | --- |\n| <> | c |",
    "table": '<table>\n<tbody>\n<tr><th scope="row"><></th><td><></td></tr>\n</tbody>\n</table>',
    "code in a table": "<table>\n<tbody>\n<tr><td><code><></code></td></tr>\n</tbody>\n</table>",
    "list in HTML": "<ul>\n<li><></li>\n</ul>",
    "Markdown in HTML": '<p class="pa-crumbs" markdown><></p>',
    "list of Markdown in HTML": "<ul markdown>\n<li markdown><></li>\n</ul>",
    "admonition": '!!! failure "It failed"\n\n    <>',
    "title of an admonition": '!!! failure "<>"\n\n    It failed.',
}
ATTRIBUTES = {
    "block": '<figure>\n<img src="a.svg" alt="<>">\n</figure>',
    "inline": 'See <span title="<>">this</span>.',
}

NASTY = (
    "<script>alert(1)</script>", "</td></tr></table><img src=x onerror=alert(1)>", "a | b | c",
    "`code` ``more``", "{{7*7}} {% raw %} {# no #}", "--8<-- 'mkdocs.yml'",
    "{: onclick=alert(1) } {#id .class}", "](javascript:alert(1)) [x](javascript:alert(1)) ![x](y)",
    "<https://example.org> https://example.org a@example.org", "# one ## two",
    "* star _under_ **bold** ~~no~~", "1. one", "- [ ] task", "!!! note", "??? note",
    "&amp; &lt; &#60; &nbsp;", '" onmouseover="alert(1)', "' onmouseover='alert(1)", "\\_ \\< \\\\",
    "line\n\n    indented\r\n# heading", "[x]: javascript:alert(1)", "*[HTML]: abbreviation",
    "[^1]: note [^1]", "]]> --> <!-- <?php ?>", "$\\frac{1}{2}$ \\(x\\)",
    "\u202eright to left\u202c \u200bzero\ufeff", "lone \ud800 surrogate",
    "tab\tand\x00and\x02and\x03and\x7f", "🤗 naïve 日本 e\u0301", "=== ---",
    ":material-home: :smile:", "H<sub>2</sub>O", "klzzwxh:0042 wzxhzdk:0", "markdown", "x" * 10_000,
    f"{'word ' * 15}::error::owned ::stop-commands::x --- y",
    "##[add-mask]a ##vso[task.complete]b ##teamcity[c] section_start:1:d travis_fold:start:e",
    "fixes #12 @org/team GH-3 www.evil.example ftp://evil.example !4 %5 ~label &6 $7$ :smile:",
    "[text](https://evil.example) {0} \\[text\\](1) {{1}}", '=HYPERLINK("https://evil.example")',
)  # fmt: skip

PLAIN_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBERS = {
    None: "–", -0.0: "0", 1: "1", -3: "−3", 512: "512", 1_234_567: "1,234,567", 2.0: "2",
    0.5: "0.5000", 1 / 3: "0.3333", -1 / 3: "−0.3333", math.pi: "3.142", 12.345: "12.35",
    999.96: "1,000", 0.99996: "1.000", 0.0001234: "0.0001234", 12345.6: "12,346",
    20_473_564.88: "20,473,565", 16.000000000000004: "16", 1e-17: "1.000 × 10⁻¹⁷",
    0.00001: "1.000 × 10⁻⁵", -2.5e-7: "−2.500 × 10⁻⁷", 1234567890.5: "1.235 × 10⁹",
    1e15: "1.000 × 10¹⁵", 1e300: "1.000 × 10³⁰⁰", math.nan: "–", math.inf: "–",
}  # fmt: skip


@cache
def _converter() -> markdown.Markdown:
    """Markdown with the extensions of mkdocs.yml and those that mkdocs always adds."""
    named = yaml_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["markdown_extensions"]
    configs: dict[str, Any] = {}
    for entry in named:
        configs |= entry if isinstance(entry, dict) else {entry: {}}
    return markdown.Markdown(extensions=[*configs, "fenced_code"], extension_configs=configs)


def rendered(source: str) -> BeautifulSoup:
    converter = _converter()
    converter.reset()
    return BeautifulSoup(converter.convert(source), "html.parser")


def shown(text: str) -> str:
    """``text`` as a reader should see it: white space collapsed, invisible characters escaped."""
    line = " ".join(text.split())
    plain = [mark.isprintable() for mark in line]
    marks = zip(line, plain, strict=True)
    return "".join(mark if is_plain else f"\\u{ord(mark):04x}" for mark, is_plain in marks)


def skeleton(soup: BeautifulSoup) -> list[tuple[str, list[str]]]:
    """Elements with the names of their attributes."""
    return [(tag.name, sorted(tag.attrs)) for tag in soup.find_all(True)]


def texts(soup: BeautifulSoup) -> str:
    """Text without the links of headings to themselves."""
    pieces = soup.find_all(string=True)
    return "".join(piece for piece in pieces if piece.find_parent(class_="headerlink") is None)


# Text of any characters, and of those with a meaning in Markdown, HTML, Jinja or YAML.
ANYTHING = st.text(st.characters(codec=None), max_size=60)
MARKS = st.text("<>&;#\"'`*_[](){}!:|\\/-+.=~^$%@ \n\t0aA", max_size=40)
TEXT = (ANYTHING | MARKS | st.sampled_from(NASTY)).filter(lambda text: bool(text.split()))


@pytest.mark.parametrize("context", CONTEXTS)
@given(text=TEXT)
@example(text="5%")
def test_any_text_is_shown_literally_and_adds_no_element_or_attribute(
    context: str, text: str
) -> None:
    plain, soup = (
        rendered(CONTEXTS[context].replace("<>", inserted)) for inserted in ("word", literal(text))
    )
    assert texts(soup) == texts(plain).replace("word", shown(text))
    assert skeleton(soup) == skeleton(plain)


@pytest.mark.parametrize("context", ATTRIBUTES)
@given(text=TEXT)
def test_any_text_is_unchanged_in_an_attribute(context: str, text: str) -> None:
    plain = rendered(ATTRIBUTES[context].replace("<>", "word"))
    soup = rendered(ATTRIBUTES[context].replace("<>", literal(text)))
    [value] = [
        tag[name] for tag in soup.find_all(True) for name in ("alt", "title") if name in tag.attrs
    ]
    assert (value, skeleton(soup)) == (shown(text), skeleton(plain))


@pytest.mark.parametrize("context", CONTEXTS)
def test_malicious_text_is_shown_literally(context: str) -> None:
    plain = skeleton(rendered(CONTEXTS[context].replace("<>", "word")))
    for text in NASTY:
        soup = rendered(CONTEXTS[context].replace("<>", literal(text)))
        assert shown(text) in texts(soup), text
        assert skeleton(soup) == plain, text


@given(TEXT)
@example("<script>alert(1)</script>")
def test_the_table_of_contents_shows_a_heading_literally(text: str) -> None:
    converter = _converter()
    converter.reset()
    converter.convert(f"## {literal(text)}")
    [entry] = getattr(converter, "toc_tokens")  # noqa: B009 (the extension adds it)
    name = BeautifulSoup(entry["name"], "html.parser")
    assert (name.get_text(), skeleton(name)) == (shown(text), [])


@given(TEXT)
def test_the_anchor_of_a_heading_has_only_word_characters(text: str) -> None:
    [heading] = rendered(f"## {literal(text)}").find_all("h2")
    assert all(mark.isalnum() or mark in "_-" for mark in str(heading["id"]))


@given(ANYTHING | MARKS)
def test_a_template_expression_escapes_text(text: str) -> None:
    template = environment_of(ROOT / "templates").from_string("{{ text }}")
    assert template.render(text=text) == literal(text)


def test_a_template_expression_does_not_escape_markup() -> None:
    assert finalize(Markup("<b>bold</b>")) == "<b>bold</b>"


@pytest.mark.parametrize(("value", "text"), NUMBERS.items(), ids=str)
def test_numbers_have_four_significant_digits(value: float | None, text: str) -> None:
    assert number(value) == text


@given(st.floats(-1e300, 1e300, allow_subnormal=False))
def test_a_number_differs_from_its_text_by_half_a_thousandth_at_most(value: float) -> None:
    text = number(value).replace("−", "-").replace(",", "").replace(" × 10", "e")
    assert float(text.translate(PLAIN_DIGITS)) == pytest.approx(value, rel=5.001e-4, abs=0.0)


def constants(expression: nodes.Node) -> list[object]:
    """The constants that an expression may be, of all branches of a condition."""
    if isinstance(expression, nodes.CondExpr):
        branches = [branch for branch in (expression.expr1, expression.expr2) if branch]
        return [value for branch in branches for value in constants(branch)]
    return [expression.value] if isinstance(expression, nodes.Const) else []


def test_no_expression_of_a_template_is_text_that_loses_a_space_at_its_ends() -> None:
    environment = environment_of(ROOT / "templates")
    texts = []
    for path in (ROOT / "templates").rglob("*.jinja"):
        parsed = environment.parse(path.read_text(encoding="utf-8"))
        of_outputs = [node for output in parsed.find_all(nodes.Output) for node in output.nodes]
        values = [value for node in of_outputs for value in constants(node)]
        texts += [(path.name, value) for value in values if isinstance(value, str)]
    assert len(texts) > 20
    assert [(name, value) for name, value in texts if value != value.strip()] == []
