"""Escaping of text for pages."""

import re
from typing import Any

from markupsafe import Markup

from generator.text import visible

UNSAFE = re.compile(r"(?![ ,;?])[\W_]")
TEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%#_$"},
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


def literal(text: str) -> Markup:
    """``text`` escaped for Markdown and HTML, so that a page shows it literally.

    Characters other than letters, digits, space, comma, semicolon and question mark become numeric
    references, which Markdown and its extensions do not interpret. Line breaks become spaces and
    invisible characters \\uXXXX.
    """
    one_line = " ".join(text.split())
    return Markup(UNSAFE.sub(_reference, one_line))  # noqa: S704 (this is the escaper)


def preformatted(text: str) -> Markup:
    """``text`` escaped as by ``literal``, for a block that keeps its spaces and line breaks."""
    lines = (UNSAFE.sub(_reference, line) for line in text.split("\n"))
    return Markup("\n".join(lines))  # noqa: S704 (this is the escaper)


def _reference(unsafe: re.Match[str]) -> str:
    text = visible(unsafe[0])
    return f"&#{ord(text[0])};{text[1:]}"


def tex(text: str) -> str:
    """``text`` escaped for TeX and BibTeX, which counts braces even behind a backslash."""
    return text.translate(TEX)


def finalize(value: Any) -> Any:
    """Value of a template expression for output: text is escaped, markup and numbers are
    unchanged.
    """
    return literal(value) if isinstance(value, str) and not isinstance(value, Markup) else value
