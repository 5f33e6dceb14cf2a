"""Formulas, from TeX to MathML, which a browser lays out by itself."""

from markupsafe import Markup
from math_core import LatexToMathML

CONVERTER = LatexToMathML(fancy_error=False)  # An error is one line then, not a drawing in a terminal's colours.


def formula(tex: str) -> Markup:
    """``tex`` as a block of its own, in MathML on one line and outside the search index.

    errors: math_core.LatexError when the library does not know a command in ``tex``, or a group is not closed
    """
    mathml = CONVERTER.convert_with_local_state(tex, displaystyle=True)
    return Markup(f'<div class="pa-formula" data-search-exclude tabindex="0">{mathml}</div>')  # noqa: S704 (templates alone hold TeX)
