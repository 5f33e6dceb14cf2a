"""Minified HTML, compared by BeautifulSoup."""

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from generator.site.html.escape import literal
from generator.site.html.minify import compact
from tests.site.test_escape import NASTY, TEXT

# HTML before and after minification.
CASES = {
    "white space with a line break": ("<p>one\n\n      two</p>", "<p>one\ntwo</p>"),
    "white space on one line": ("<p>one  two</p>", "<p>one  two</p>"),
    "a character of Markdown": ("<p>a&#95;b&#58; 1&#46;5 &#215; 2</p>", "<p>a_b: 1.5 × 2</p>"),
    "a character of HTML": ("<p>&#60;b&#62; &#38;lt; &#34;&#39;</p>",) * 2,
    "invisible characters": ("<p>&#8238;&#8203;&#160;&#10;&#0;</p>",) * 2,
    "invalid code points": ("<p>&#1114112; &#55296; &#99999999;</p>",) * 2,
    "preformatted text": ("\n\n<pre>a\n  b\n\n&#46;</pre>\n\n", "\n<pre>a\n  b\n\n&#46;</pre>\n"),
    "a script": (
        "\n\n<script>a = `\n\n&#46;`</script>\n\n",
        "\n<script>a = `\n\n&#46;`</script>\n",
    ),
    "white space between cells": (
        "<table>\n<tr><th>a</th> <td>b c</td>\n<td> <b>d</b></td></tr>\n</table>",
        "<table>\n<tr><th>a</th><td>b c</td><td> <b>d</b></td></tr></table>",
    ),
    "a script, then text": (
        "<script>a\n\nb</script>\n\n<p>&#46;</p>",
        "<script>a\n\nb</script>\n<p>.</p>",
    ),
}


@pytest.mark.parametrize(("html", "expected"), CASES.values(), ids=CASES)
def test_html_is_minified(html: str, expected: str) -> None:
    assert compact(html) == expected


def is_preserved(text: str) -> bool:
    page = f'<p title="{literal(text)}">{literal(text)}</p><td>{literal(text)}</td>'
    return BeautifulSoup(compact(page), "html.parser") == BeautifulSoup(page, "html.parser")


@given(TEXT)
def test_minification_preserves_escaped_text(text: str) -> None:
    assert is_preserved(text)


def test_minification_preserves_malicious_text() -> None:
    assert [text for text in NASTY if not is_preserved(text)] == []


@given(st.text("<>&#;46 \npre/script", max_size=40))
def test_minification_is_idempotent(text: str) -> None:
    assert compact(compact(text)) == compact(text)
