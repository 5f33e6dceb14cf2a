"""The pages of models: what published configs say, one row a model."""

from collections.abc import Callable, Sequence

from generator.contracts import Atlas, Page, PageKind
from generator.site.data.models import COLUMNS, UNKNOWN, PublishedModelRow, rows
from generator.text import plural, rounded

ROWS = 36  # of a page, which then stays below 60 kB
CONTEXTS = (4096, 8192, 32_768, 131_072, 262_144, 1_000_000)
PATH = "models"
PUBLISHED, BASE = COLUMNS.index("Published"), COLUMNS.index("Base")


def pages(atlas: Atlas) -> list[Page]:
    """The first page, which can load all rows, and the others."""
    found = rows(atlas)
    parts = [found[start : start + ROWS] for start in range(0, len(found), ROWS)] or [()]
    shared = {
        "columns": COLUMNS,
        "total": len(found),
        "lead": lead(found),
        "facets": facets(found),
        "contexts": CONTEXTS,
        "parts": [
            (_title(part), f"{PATH}/{number}" if number > 1 else PATH)
            for number, part in enumerate(parts, 1)
        ],
    }
    return [
        Page(
            f"{PATH}/{number}.md" if number > 1 else f"{PATH}.md",
            "models.md.jinja",
            {**shared, "number": number, "rows": part, "title": _title(part)},
        )
        for number, part in enumerate(parts, 1)
    ]


def _title(part: Sequence[PublishedModelRow]) -> str:
    """Months of the first and the last model."""
    ends = [part[index].cells[PUBLISHED].text for index in (0, -1)] if part else []
    names = ["undated" if text == UNKNOWN else text for text in reversed(ends)]
    return " to ".join(dict.fromkeys(names))


def facets(found: Sequence[PublishedModelRow]) -> dict[str, list[str]]:
    """Values to choose from, by the name of the facet."""
    values: dict[str, Callable[[PublishedModelRow], tuple[str, ...]]] = {
        "scheme": lambda row: row.schemes,
        "kind": lambda row: row.kinds,
        "input": lambda row: row.inputs,
        "maker": lambda row: (row.maker,),
        "year": lambda row: (row.year,),
    }
    return {
        name: sorted({value for row in found for value in of_row(row) if value})
        for name, of_row in values.items()
    }


def lead(found: Sequence[PublishedModelRow]) -> tuple[str, ...]:
    """What all models say together, in sentences."""
    if not found:
        return ()
    longest = max(found, key=lambda row: row.context)
    rotating = sum(row.cells[BASE].text != UNKNOWN for row in found)
    windowed = sum("windows" in row.kinds or "chunks" in row.kinds for row in found)
    recurrent = sum("recurrent state" in row.kinds for row in found)
    share = rounded(100.0 * rotating / len(found), 0)
    return (
        f"{plural(len(found), 'model')}: {share} % rotate queries and keys; the longest"
        f" context is {longest.context:,} positions ({longest.cells[0].text}).",
        f"{windowed} have layers with windows or chunks, {recurrent} a recurrent state.",
    )


PAGE = PageKind("published_models", pages)
