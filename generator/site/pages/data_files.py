"""The pages that document the data: what is in each file, how to read and cite it; and what each array and metric is."""

from generator.contracts import Analysis, Atlas, Page, PageKind, Result


def pages(atlas: Atlas) -> list[Page]:
    described = [(analysis, _given(atlas, analysis)) for analysis in atlas.analyses]
    return [
        Page("data/index.md", "data_files.md.jinja", {}),
        Page("data/arrays.md", "data_arrays.md.jinja", {"described": described}),
    ]


def _given(atlas: Atlas, analysis: Analysis) -> dict[str, str]:
    """Title and unit of every metric that it gave in this build, by key."""
    results: list[Result] = [reading.results[analysis.key] for outcome in atlas.outcomes for reading in outcome.readings]
    return {
        metric.key: f"{metric.title} ({metric.unit})" if metric.unit else metric.title for result in results for metric in result.metrics
    }


PAGE = PageKind("data_files", pages)
