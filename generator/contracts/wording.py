"""The wording of templates: code asks for a text by its name, and gives the numbers in it."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from generator import ROOT, text

if TYPE_CHECKING:
    from generator.contracts.results import Result, Results

TEMPLATES = ROOT / "templates"
Values = Mapping[str, Any]
# How templates write numbers, counts and names.
FILTERS: Mapping[str, Callable[..., str]] = {
    function.__name__: function
    for function in (
        text.between,
        text.cosine,
        text.counted,
        text.enumerated,
        text.number,
        text.pattern,
        text.plural,
        text.printed,
        text.printed_rows,
        text.ranges,
        text.rounded,
        text.short,
        text.significant,
        text.spans,
        text.thousands,
        text.uncertain,
        text.with_unit,
    )
}
# Those that do not break stay. What a macro leaves before a full stop or a comma is none.
SPACES, BEFORE_A_STOP = re.compile("[ \n]+"), re.compile(r" +(?=[.,;:)](?: |$))")
LITERAL = str.maketrans({" ": "\ue000", "\n": "\ue001"})  # Of names, which stay as they are.
PLAIN = {ord(new): chr(old) for old, new in LITERAL.items()}


class Wording:
    """The texts and sentences of a template.

    A text is a variable that the template sets, a sentence a macro, whose arguments are the values
    in it. Line breaks are spaces.
    """

    def __init__(self, path: str) -> None:
        """``path`` is that of the template below ``templates``."""
        self.path = path

    @cached_property
    def _names(self) -> Any:
        """The template, read when the first text is asked for: not every command needs each."""
        return _environment().get_template(self.path).module

    def __contains__(self, name: str) -> bool:
        """Whether the template has such a text or sentence."""
        return hasattr(self._names, name)

    def __call__(self, name: str, /, **values: Any) -> str:
        """A text, or a sentence with ``values``, for which its macro has an argument each.

        errors: AttributeError, TypeError where the template has no such text
        """
        found = getattr(self._names, name)
        if callable(found):
            found = found(**{key: _literal(value) for key, value in values.items()})
        return _one_line(str(found)).translate(PLAIN)

    def arguments(self, name: str) -> tuple[str, ...]:
        """Names of the values in a sentence."""
        return tuple(getattr(self._names, name).arguments)

    def figure(
        self, key: str, numbers: "Callable[[Result], Values] | None" = None
    ) -> "tuple[str, str, Callable[[Results], str]]":
        """Caption, explanation and alternative text of a figure: ``key``_caption,
        ``key``_how_to_read and ``key``_alt, which goes on with ``key``_summary of each result.

        numbers: the values in this summary; without it, metrics by their keys, and ``arrays``
        """
        alt = partial(_alt, self, key, numbers)
        return self(f"{key}_caption"), self(f"{key}_how_to_read"), alt

    def headline(self, metric: str) -> tuple[str, str]:
        """Title and sentence of a ``Headline``."""
        return self(f"{metric}_title"), self(f"{metric}_sentence")


def _alt(
    wording: Wording,
    key: str,
    numbers: "Callable[[Result], Values] | None",
    results: "Results",
) -> str:
    summary = f"{key}_summary"
    values = numbers or partial(_metrics, wording.arguments(summary))
    each = (
        f"{label.title}: {wording(summary, **values(result))}" for label, result in results.items()
    )
    return f"{wording(f'{key}_alt')} {'; '.join(each)}."


def _metrics(names: tuple[str, ...], result: "Result") -> Values:
    return {name: result.arrays if name == "arrays" else result.value(name) for name in names}


def _one_line(text: str) -> str:
    return BEFORE_A_STOP.sub("", SPACES.sub(" ", text).strip())


def _literal(value: Any) -> Any:
    """A name, or a list of names, whose spaces stay as they are."""
    if isinstance(value, list):
        return [_literal(item) for item in value]
    is_changed = isinstance(value, str) and _one_line(value) != value
    return value.translate(LITERAL) if is_changed else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 (what shows a text escapes it)
    )
    environment.filters.update(FILTERS)
    # Of the rest of a template, which pages render.
    environment.filters.update(
        {"formula": str, "tex": str, "plain": json.dumps, "preformatted": str}
    )
    return environment
