"""How text and numbers get into a page: the one escaper and the one number format."""

import math
import re
from typing import Any

from markupsafe import Markup

from generator.text import LEAST, MOST, SUPERSCRIPTS, decimals, visible

UNSAFE = re.compile(r"(?![ ,;?])[\W_]")
BEFORE_PERCENT = re.compile(r"(?<=\d) (?=%)")
SIGNIFICANT = 4
WHOLE = 1e-12  # How far rounding may leave a whole number from one, as a share of it.


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


def number(value: float | None) -> str:
    """Four significant digits or all before the point, thousands separated, a true minus sign; "–" for what is none.

    What is whole but for rounding has no point.
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    rounded = float(f"{value:.{SIGNIFICANT - 1}e}")
    if abs(value) < 1e15 and math.isclose(value, round(value), rel_tol=WHOLE):
        text = f"{round(value):,}"
    elif LEAST <= abs(rounded) < MOST:
        text = f"{value:,.{decimals(rounded, SIGNIFICANT)}f}"
    else:
        mantissa, exponent = f"{value:.{SIGNIFICANT - 1}e}".split("e")
        text = f"{mantissa} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return text.replace("-", "−")
