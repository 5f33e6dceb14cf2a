"""The page that teaches how to read the figures, with a figure of this atlas for each kind."""

from collections.abc import Mapping
from dataclasses import dataclass

from generator.contracts import Analysis, Atlas, Figure, Page, PageContext, PageKind
from generator.site.outline import chapter, figures_of


@dataclass(frozen=True)
class Example:
    """An analysis, a figure of it, None where no encoding has one, and the title and address of the
    encoding that this shows.
    """

    analysis: Analysis
    figure: Figure | None
    title: str
    address: str


@dataclass(frozen=True)
class HowToReadContext(PageContext, template="how_to_read.md.jinja"):
    """examples: by analysis"""

    examples: Mapping[str, Example]


def pages(atlas: Atlas) -> list[Page]:
    """The page, with an example of each analysis."""
    examples = {analysis.key: _example(atlas, analysis) for analysis in atlas.analyses}
    return [Page("learn/how-to-read.md", HowToReadContext(examples))]


def _example(atlas: Atlas, analysis: Analysis) -> Example:
    """The figure of ``analysis`` with the greatest appeal, the first of equals."""
    drawn = [
        (outcome, reading, figure)
        for outcome in atlas.outcomes
        for reading in outcome.readings
        for figure in figures_of(outcome, reading, analysis)
    ]
    if not drawn:
        return Example(analysis, None, "", "")
    outcome, reading, figure = max(
        drawn, key=lambda found: found[2].spec.appeal(found[1].results[analysis.key])
    )
    return Example(analysis, figure, reading.label.title, chapter(outcome, reading))


PAGE = PageKind("how_to_read", pages, ("learn/how-to-read.md",))
