"""The page of models: what published configs say, one row a model."""

from collections.abc import Callable, Sequence

from generator.contracts import Atlas, Page, PageKind
from generator.site.data.models import COLUMNS, UNKNOWN, KnownModelRow, rows
from generator.words import Words

WORDS = Words("words/models.jinja")
CONTEXTS = (4096, 8192, 32_768, 131_072, 262_144, 1_000_000)
BASE = COLUMNS.index("Rotary base")


def pages(atlas: Atlas) -> list[Page]:
    """The page, with all rows."""
    found = rows(atlas)
    context = {
        "columns": COLUMNS,
        "total": len(found),
        "from_knowledge": sum(row.is_from_knowledge for row in found),
        "mark": WORDS("unchecked_short"),
        "unchecked": WORDS("unchecked"),
        "lead": lead(found),
        "facets": facets(found),
        "contexts": CONTEXTS,
        "rows": found,
    }
    return [Page("models.md", "models.md.jinja", context)]


def facets(found: Sequence[KnownModelRow]) -> dict[str, list[str]]:
    """Values to choose from, by the name of the facet."""
    values: dict[str, Callable[[KnownModelRow], tuple[str, ...]]] = {
        "scheme": lambda row: row.schemes,
        "kind": lambda row: row.kinds,
        "input": lambda row: row.inputs,
        "scaling": lambda row: row.scalings,
        "limits": lambda row: row.limits,
        "maker": lambda row: (row.maker,),
        "year": lambda row: (row.year,),
    }
    return {
        name: sorted({value for row in found for value in of_row(row) if value})
        for name, of_row in values.items()
    }


def lead(found: Sequence[KnownModelRow]) -> tuple[str, ...]:
    """What all models say together, in sentences."""
    if not found:
        return ()
    longest = max(found, key=lambda row: row.context)
    rotating = sum(row.cells[BASE].text != UNKNOWN for row in found)
    windowed = sum("windows" in row.kinds or "chunks" in row.kinds for row in found)
    recurrent = sum("recurrent state" in row.kinds for row in found)
    share = 100.0 * rotating / len(found)
    return (
        WORDS("all", count=len(found), share=share, longest=longest),
        WORDS("layers", windowed=windowed, recurrent=recurrent),
    )


PAGE = PageKind("known_models", pages)
