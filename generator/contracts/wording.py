"""Words of an analysis, from its template."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from generator.contracts.results import Result, Results
from generator.contracts.words import Words

Values = Mapping[str, Any]


class Wording(Words):
    """Texts and sentences of an analysis."""

    def __init__(self, key: str) -> None:
        super().__init__(f"analyses/{key}.md.jinja")

    def figure(
        self, key: str, numbers: Callable[[Result], Values] | None = None
    ) -> tuple[str, str, Callable[[Results], str]]:
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
    words: Wording, key: str, numbers: Callable[[Result], Values] | None, results: Results
) -> str:
    summary = f"{key}_summary"
    values = numbers or partial(_metrics, words.arguments(summary))
    each = (
        f"{label.title}: {words(summary, **values(result))}" for label, result in results.items()
    )
    return f"{words(f'{key}_alt')} {'; '.join(each)}."


def _metrics(names: tuple[str, ...], result: Result) -> Values:
    return {name: result.arrays if name == "arrays" else result.value(name) for name in names}
