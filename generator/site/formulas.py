"""Formulas, from TeX to what a browser shows without a script: KaTeX runs here, while the site is built."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

KATEX = Path(__file__).parent / "katex" / "katex.min.js"  # Version 0.19.1, as published.


def formula(tex: str) -> Markup:
    """``tex`` as a block of its own: HTML for the eye and MathML for a screen reader, kept out of the search index.

    errors: py_mini_racer.JSEvalException when KaTeX does not understand ``tex``
    """
    shown = _katex().call("katex.renderToString", " ".join(tex.split()), {"displayMode": True, "throwOnError": True, "strict": "error"})
    return Markup(f'<div class="pa-formula" data-search-exclude tabindex="0">{shown}</div>')  # noqa: S704 (templates alone hold TeX)


@cache
def _katex() -> Any:
    with ThreadPoolExecutor(
        1
    ) as elsewhere:  # Where an event loop runs, as in a notebook, the library would take that one, and fail when it closes.
        return elsewhere.submit(_started).result()


def _started() -> Any:
    from py_mini_racer import MiniRacer

    racer = MiniRacer()
    racer.eval(KATEX.read_text(encoding="utf-8"))
    return racer
