"""The similarity map of whole tables of vectors, beside that of kernels on the compare page."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind
from generator.site.compare.similarity_map import TABLE_POSITIONS, Matrix, similarity_map


@dataclass(frozen=True)
class MapOfTablesContext(PageContext, template="map_tables.md.jinja"):
    """As those of the map; positions: of tables, at most"""

    count: int
    few: int | None
    positions: int
    tables: Sequence[tuple[str, Matrix | None]]


def pages(atlas: Atlas) -> list[Page]:
    """The page, where two tables can be compared."""
    found = similarity_map(atlas)
    if found is None or not found.tables:
        return []
    context = MapOfTablesContext(found.count, found.few, TABLE_POSITIONS, found.tables)
    return [Page("map/tables.md", context)]


PAGE = PageKind("map", pages, ("map/*.md",))
