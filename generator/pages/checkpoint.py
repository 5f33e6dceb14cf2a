"""A page for each checkpoint, whatever became of it, and the list of them."""

from dataclasses import dataclass

from generator.contracts import Analysis, Atlas, Figure, Finding, Outcome, Page, PageKind, Reading, Result, Scheme


@dataclass(frozen=True)
class Section:
    """One analysis of one encoding, with its figures."""

    analysis: Analysis
    result: Result
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Part:
    """All that a page says of one encoding."""

    reading: Reading
    scheme: Scheme
    sections: tuple[Section, ...]
    not_applicable: tuple[Section, ...]
    findings: tuple[Finding, ...]
    data: str


def pages(atlas: Atlas) -> list[Page]:
    listed = Page("checkpoints/index.md", "checkpoints.md.jinja", {"outcomes": atlas.outcomes, "schemes": _schemes(atlas)})
    return [listed, *(_page(atlas, place) for place in range(len(atlas.outcomes)))]


def _page(atlas: Atlas, place: int) -> Page:
    outcome = atlas.outcomes[place]
    parts = tuple(_part(atlas, outcome, reading) for reading in outcome.readings)
    context = {
        "outcome": outcome,
        "checkpoint": outcome.checkpoint,
        "parts": parts,
        "before": atlas.outcomes[place - 1] if place else None,
        "after": atlas.outcomes[place + 1] if place + 1 < len(atlas.outcomes) else None,
    }
    return Page(f"checkpoints/{outcome.checkpoint.slug}.md", "checkpoint.md.jinja", context)


def _part(atlas: Atlas, outcome: Outcome, reading: Reading) -> Part:
    data = f"data/{outcome.checkpoint.slug}/{reading.encoding.key}.npz"
    sections = [_section(outcome, reading, analysis, data) for analysis in atlas.analyses]
    return Part(
        reading,
        _schemes(atlas)[reading.encoding.scheme],
        tuple(section for section in sections if section.result.reason is None),
        tuple(section for section in sections if section.result.reason is not None),
        tuple(finding for section in sections for finding in section.result.findings),
        data,
    )


def _section(outcome: Outcome, reading: Reading, analysis: Analysis, data: str) -> Section:
    folder = f"figures/{outcome.checkpoint.slug}/{reading.encoding.key}"
    names = [(spec, f"{analysis.key}-{spec.key}") for spec in analysis.figures]
    figures = (Figure(f"{folder}/{name}.svg", spec, reading.alts[name], data) for spec, name in names if name in reading.drawings)
    return Section(analysis, reading.results[analysis.key], tuple(figures))


def _schemes(atlas: Atlas) -> dict[str, Scheme]:
    return {scheme.key: scheme for scheme in atlas.schemes}


PAGE = PageKind("checkpoint", pages)
