"""What trained models do with position: a page for each that was measured, and one that tells of
all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Outcome, Page, PageContext, PageKind
from generator.site.use import (
    Across,
    BarChart,
    Measured,
    Reader,
    bar_charts,
    measured,
    opening,
    path_of,
    reader_of,
    readers,
    story,
)


@dataclass(frozen=True)
class UseContext(PageContext, template="use.md.jinja"):
    """sections: also of measures that do not apply; reader: what the model reads"""

    outcome: Outcome
    sections: Sequence[Measured]
    reader: Reader


@dataclass(frozen=True)
class UsesContext(PageContext, template="uses.md.jinja"):
    """headline: of opening, the measure whose figure comes first; charts: small ones of all models
    across: each measure of all models; readers: these models, and n_parts, how many parts they have
    measuring: those under way
    """

    headline: str
    opening: Across | None
    charts: Sequence[BarChart]
    across: Sequence[Across]
    readers: Sequence[Reader]
    n_parts: int
    measuring: Sequence[Outcome]


def pages(atlas: Atlas) -> list[Page]:
    """The page of each checkpoint that was measured, and that of all; none where no entry asks for
    it.
    """
    chosen = [outcome for outcome in atlas.outcomes if outcome.use]
    across = story(atlas)
    figures = tuple(one.figure for one in across if one.figure)
    measuring = [one for one in atlas.outcomes if one.checkpoint.slug in atlas.measuring]
    first, headline = opening(across)
    charts = bar_charts(across, len(chosen))
    n_parts = sum(len({use.part for use in outcome.use}) for outcome in chosen)
    context = UsesContext(headline, first, charts, across, readers(atlas), n_parts, measuring)
    of_all = Page("use.md", context, figures)
    is_asked = chosen or measuring or any(one.checkpoint.use for one in atlas.outcomes)
    return [*(_page(atlas, outcome) for outcome in chosen), of_all] if is_asked else []


def _page(atlas: Atlas, outcome: Outcome) -> Page:
    sections = measured(atlas, outcome)
    figures = (figure for one in sections if one.result.reason is None for figure in one.figures)
    return Page(
        f"{path_of(outcome)}.md", UseContext(outcome, sections, reader_of(outcome)), tuple(figures)
    )


PAGE = PageKind("trained_models", pages, ("use.md", "checkpoints/*/use.md"))
