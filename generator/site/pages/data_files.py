"""Pages that document the data: contents of the files, how to read and cite them, and the meaning
of every array and metric.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from generator.contracts import Analysis, Atlas, Page, PageContext, PageKind, Reading
from generator.site.data import dataset


@dataclass(frozen=True)
class DataFilesContext(PageContext, template="data_files.md.jinja"):
    """described: the data set, as schema.org describes one"""

    described: Markup


@dataclass(frozen=True)
class ArraysContext(PageContext, template="data_arrays.md.jinja"):
    """readings: of this build, which have the metrics"""

    analyses: Sequence[Analysis]
    readings: Sequence[Reading]


def pages(atlas: Atlas) -> list[Page]:
    """The documentation of data files, arrays and metrics."""
    described = Markup(dataset.described(atlas))  # noqa: S704 (JSON without markup)
    readings = [reading for outcome in atlas.outcomes for reading in outcome.readings]
    return [
        Page("data/index.md", DataFilesContext(described)),
        Page("data/arrays.md", ArraysContext(atlas.analyses, readings)),
    ]


PAGE = PageKind("data_files", pages, ("data/index.md", "data/arrays.md"))
