"""Pages that document the data: contents of the files, how to read and cite them, and the meaning
of every array and metric.
"""

from markupsafe import Markup

from generator.contracts import Analysis, Atlas, Page, PageKind, Result, untyped
from generator.site.data import dataset


def pages(atlas: Atlas) -> list[Page]:
    """The documentation of data files, arrays and metrics."""
    metrics = [(analysis, _metrics(atlas, analysis)) for analysis in atlas.analyses]
    described = Markup(dataset.described(atlas))  # noqa: S704 (JSON without markup)
    context = {"described": described}
    return [
        Page("data/index.md", untyped("data_files.md.jinja", context)),
        Page("data/arrays.md", untyped("data_arrays.md.jinja", {"metrics_by_analysis": metrics})),
    ]


def _metrics(atlas: Atlas, analysis: Analysis) -> dict[str, str]:
    """Title and unit of every metric of ``analysis`` in this build, by key."""
    results: list[Result] = [
        reading.results[analysis.key] for outcome in atlas.outcomes for reading in outcome.readings
    ]
    return {
        metric.key: f"{metric.title} ({metric.unit})" if metric.unit else metric.title
        for result in results
        for metric in result.metrics
    }


PAGE = PageKind("data_files", pages)
