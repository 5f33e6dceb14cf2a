"""How text gets into a page: the one escaper."""

import re
from typing import Any

from markupsafe import Markup

from generator.text import visible

UNSAFE = re.compile(r"(?![ ,;?])[\W_]")
BEFORE_PERCENT = re.compile(r"(?<=\d) (?=%)")


def literal(text: str) -> Markup:
    """``text`` as Markdown that shows it literally, wherever it stands: no markup, element, attribute or link comes of it.

    Everything but letters, digits and harmless marks becomes a numeric character reference, which neither Markdown nor
    its extensions look into. Line ends become spaces; what cannot be seen is written as \\uXXXX. A number and its % stay together.
    """
    return Markup(UNSAFE.sub(_reference, BEFORE_PERCENT.sub("\u00a0", " ".join(text.split()))))  # noqa: S704 (this is the escaper)


def _reference(unsafe: re.Match[str]) -> str:
    seen = visible(unsafe[0])
    return f"&#{ord(seen[0])};{seen[1:]}"


def finalize(value: Any) -> Any:
    """What every expression in a template passes through: plain text becomes literal, markup stays."""
    return literal(value) if isinstance(value, str) and not isinstance(value, Markup) else value
