"""The page that documents the data: what is in each file, and how to read and cite it."""

from generator.contracts import Analysis, Atlas, Page, PageKind, Result
from generator.numerics import Array


def pages(atlas: Atlas) -> list[Page]:
    context = {
        "described": [(analysis, *_given(atlas, analysis)) for analysis in atlas.analyses],
        "version": atlas.versions.get("position-atlas", ""),
        "date": atlas.date,
    }
    return [Page("data/index.md", "data_files.md.jinja", context)]


def _given(atlas: Atlas, analysis: Analysis) -> tuple[dict[str, str], dict[str, Array]]:
    """Title and unit of every metric that it gave in this build, by key, and an example of every array, by name."""
    results: list[Result] = [reading.results[analysis.key] for outcome in atlas.outcomes for reading in outcome.readings]
    metrics = {
        metric.key: f"{metric.title} ({metric.unit})" if metric.unit else metric.title for result in results for metric in result.metrics
    }
    return metrics, {name: array for result in results for name, array in result.arrays.items()}


PAGE = PageKind("data_files", pages)
