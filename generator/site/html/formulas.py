"""Formulas, from TeX to MathML, which browsers lay out without scripts."""

from markupsafe import Markup
from math_core import LatexToMathML

CONVERTER = LatexToMathML(fancy_error=False)  # Plain error messages: one line, no terminal colours.


def formula(tex: str) -> Markup:
    """``tex`` as a block of MathML, on one line and excluded from the search index.

    errors: math_core.LatexError for an unknown command or an unclosed group
    """
    mathml = CONVERTER.convert_with_local_state(tex, displaystyle=True)
    framed = f'<div class="pa-formula" data-search-exclude tabindex="0">{mathml}</div>'
    return Markup(framed)  # noqa: S704 (only templates contain TeX)
