"""What trained models do with position: a page for each that was measured, and one that tells of
all.
"""

from generator.contracts import Atlas, Outcome, Page, PageKind, untyped
from generator.site.in_use import measured, path_of, readers, story


def pages(atlas: Atlas) -> list[Page]:
    """The page of each checkpoint that was measured, and that of all."""
    chosen = [outcome for outcome in atlas.outcomes if outcome.uses]
    return [*(_page(atlas, outcome) for outcome in chosen), _story(atlas)]


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
    return Page(f"{path_of(outcome)}.md", untyped("use.md.jinja", context), figures)


def _story(atlas: Atlas) -> Page:
    across = story(atlas)
    figures = tuple(one.figure for one in across if one.figure)
    context = {"across": across, "readers": readers(atlas)}
    return Page("use.md", untyped("uses.md.jinja", context), figures)


PAGE = PageKind("trained_models", pages)
