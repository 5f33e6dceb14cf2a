"""The wording of templates: code asks for a text by its name, and gives the numbers in it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, FunctionLoader, StrictUndefined

from generator import ROOT, text
from generator.cache import byte_code
from generator.contracts import own

if TYPE_CHECKING:
    from generator.contracts.results import Result, Results

TEMPLATES = ROOT / "templates"
Values = Mapping[str, Any]
# How templates write numbers, counts and names.
FILTERS: Mapping[str, Callable[..., str]] = {
    function.__name__: function
    for function in (
        text.between,
        text.claim,
        text.counted,
        text.enumerated,
        text.first_clause,
        text.measured,
        text.memory,
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

    def shown(self, name: str) -> str:
        """A text, or a macro without arguments, as a page shows it; figures in it by their keys.

        errors: those of the template
        """
        found = getattr(_environment().get_template(self.path).make_module({"link": str}), name)
        if callable(found):
            found = found(caller=str) if found.caller else found()
        return str(found)

    def arguments(self, name: str) -> tuple[str, ...]:
        """Names of the values in a sentence."""
        return tuple(getattr(self._names, name).arguments)

    def figure(
        self,
        key: str,
        numbers: "Callable[[Result], Values] | None" = None,
        alt: "Callable[[Results], str] | None" = None,
    ) -> "_FigureOf":
        """The texts of a figure, asked for when they are shown: ``key``_caption,
        ``key``_how_to_read and ``key``_alt, which goes on with ``key``_summary of each result.
        ``key``_several is the caption of several results, where it shows something else of these.

        numbers: the values in this summary; without it, metrics by their keys, and ``arrays``
        alt: makes the alternative text in place of these
        """
        return _FigureOf(self, key, numbers, alt)


class FigureTexts(Protocol):
    """What a figure shows, an explanation for newcomers, and its alternative text."""

    @property
    def caption(self) -> str:
        """What it shows."""

    @property
    def how_to_read(self) -> str:
        """The explanation."""

    @property
    def of_several(self) -> "FigureTexts":
        """The texts where it shows several results."""

    def alt(self, results: "Results", /) -> str:
        """The alternative text, made from the numbers."""


@dataclass(frozen=True)
class GivenTexts:
    """The texts of a figure as they are."""

    caption: str
    how_to_read: str
    alternative: str

    @property
    def of_several(self) -> "GivenTexts":
        """The same texts."""
        return self

    def alt(self, _: "Results", /) -> str:
        """The alternative text, whatever the results."""
        return self.alternative


@dataclass(frozen=True)
class _FigureOf:
    wording: Wording
    key: str
    numbers: "Callable[[Result], Values] | None"
    own_alt: "Callable[[Results], str] | None"
    is_of_several: bool = False

    @property
    def of_several(self) -> "_FigureOf":
        return replace(self, is_of_several=True)

    @property
    def caption(self) -> str:
        several = f"{self.key}_several"
        is_other = self.is_of_several and several in self.wording
        return self.wording(several if is_other else f"{self.key}_caption")

    @property
    def how_to_read(self) -> str:
        return self.wording(f"{self.key}_how_to_read")

    def alt(self, results: "Results", /) -> str:
        if self.own_alt is not None:
            return self.own_alt(results)
        summary = f"{self.key}_summary"
        values = self.numbers or partial(_metrics, self.wording.arguments(summary))
        each = (
            f"{label.title}: {self.wording(summary, **values(result))}"
            for label, result in results.items()
        )
        return f"{self.wording(f'{self.key}_alt')} {'; '.join(each)}."


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
        loader=ChoiceLoader([FileSystemLoader(TEMPLATES), FunctionLoader(own.template)]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 (what shows a text escapes it)
        bytecode_cache=byte_code.stored("words"),
    )
    environment.filters.update(FILTERS)
    # Of the rest of a template, which pages render.
    environment.filters.update(
        {"formula": str, "tex": str, "plain": text.as_json, "preformatted": str}
    )
    return environment
