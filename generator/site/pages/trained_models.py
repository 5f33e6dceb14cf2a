"""What trained models do with position: a page for each that was measured, and one that tells of
all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Figure, Label, Metric, Outcome, Page, PageKind, Use
from generator.site.in_use import Measured, measured, path_of

MOST_LINES = 12  # parts in one figure


@dataclass(frozen=True)
class Across:
    """A measure of all models. figure: None without one; rows: of the table, by part

    columns: title and unit of each number
    """

    use: Use
    figure: Figure | None
    summary: str
    columns: tuple[Metric, ...]
    rows: tuple[tuple[Label, Outcome, Measured], ...]


def pages(atlas: Atlas) -> list[Page]:
    """The page of each checkpoint that was measured, and that of all."""
    chosen = [outcome for outcome in atlas.outcomes if outcome.uses]
    return [*(_page(atlas, outcome) for outcome in chosen), _story(atlas, chosen)]


def _page(atlas: Atlas, outcome: Outcome) -> Page:
    sections = measured(atlas, outcome)
    applicable = [section for section in sections if section.result.reason is None]
    context = {
        "outcome": outcome,
        "checkpoint": outcome.checkpoint,
        "sections": applicable,
        "not_applicable": [section for section in sections if section.result.reason is not None],
        "many": len({section.part for section in sections}) > 1,
    }
    figures = tuple(figure for section in applicable for figure in section.figures)
    return Page(f"{path_of(outcome)}.md", "use.md.jinja", context, figures)


def _story(atlas: Atlas, outcomes: Sequence[Outcome]) -> Page:
    across = [_across(atlas, use, outcomes) for use in atlas.uses]
    figures = tuple(one.figure for one in across if one.figure)
    return Page("use.md", "uses.md.jinja", {"across": across}, figures)


def _across(atlas: Atlas, use: Use, outcomes: Sequence[Outcome]) -> Across:
    rows = tuple(
        (_label(outcome, section), outcome, section)
        for outcome in outcomes
        for section in measured(atlas, outcome)
        if section.use is use and section.result.reason is None
    )
    results = {label: section.result for label, _, section in rows[:MOST_LINES]}
    figure = None
    if use.across is not None and results:
        spec = use.across
        figure = Figure(
            f"figures/use/{use.key}-{spec.key}",
            spec,
            spec.alt(results),
            "data/atlas.json",
            results,
            tuple(f"{outcome.key} {label.title} {label.colour}" for label, outcome, _ in rows),
        )
    columns = {
        metric.key: metric
        for _, _, section in rows
        for metric in section.result.metrics
        if metric.key in use.units
    }
    return Across(
        use, figure, use.sentence(results) if results else "", tuple(columns.values()), rows
    )


def _label(outcome: Outcome, section: Measured) -> Label:
    parts = {found.part for found in outcome.uses}
    title = outcome.checkpoint.title
    named = f"{title}, {section.part}" if len(parts) > 1 else title
    colour = next((reading.label.colour for reading in outcome.readings), "#3d7fd6")
    return Label(named, colour)


PAGE = PageKind("trained_models", pages)
