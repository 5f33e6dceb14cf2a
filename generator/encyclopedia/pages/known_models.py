"""The page of models: what published configs say, one row a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind
from generator.contracts.wording import Wording
from generator.encyclopedia.model_rows import COLUMNS, KINDS, UNKNOWN, KnownModelRow, rows

WORDING = Wording("wording/models.jinja")
# Facets that are a limit, with the values that readers choose from.
AT_LEAST = {
    "context": (4096, 8192, 32_768, 131_072, 262_144, 1_000_000),
    "original": (2048, 4096, 8192, 32_768, 65_536, 262_144),
}
AT_MOST = {
    "cache": (0, 16_384, 65_536, 131_072, 262_144, 1_048_576),
    "parameters": (1_000_000_000, 4_000_000_000, 10_000_000_000, 40_000_000_000, 100_000_000_000),
}
BASE = list(COLUMNS).index("base")


@dataclass(frozen=True)
class Facet:
    """What narrows the table. rule: "" for one of its values, else "least" or "most" """

    name: str
    rule: str
    values: list[str]


@dataclass(frozen=True)
class ModelsContext(PageContext, template="models.md.jinja"):
    """from_knowledge: how many configs nobody checked; mark, unchecked: what says so,
    short and as a whole; lead: sentences
    """

    columns: Mapping[str, str]
    total: int
    from_knowledge: int
    mark: str
    unchecked: str
    lead: Sequence[str]
    facets: Sequence[Facet]
    rows: Sequence[KnownModelRow]


def pages(atlas: Atlas) -> list[Page]:
    """The page, with all rows."""
    found = rows(atlas)
    context = ModelsContext(
        columns=COLUMNS,
        total=len(found),
        from_knowledge=sum(row.is_from_knowledge for row in found),
        mark=WORDING("unchecked_short"),
        unchecked=WORDING("unchecked"),
        lead=lead(found),
        facets=facets(found),
        rows=found,
    )
    return [Page("models.md", context)]


def facets(found: Sequence[KnownModelRow]) -> list[Facet]:
    """Those of the rows, with the values to choose from."""
    names = found[0].facets if found else ()
    return [_facet(name, {value for row in found for value in row.facets[name]}) for name in names]


def _facet(name: str, values: set[str]) -> Facet:
    for rule, limits in (("least", AT_LEAST), ("most", AT_MOST)):
        if name in limits:
            return Facet(name, rule, [str(limit) for limit in limits[name]])
    if name == "year":
        return Facet(name, "least", sorted(values, reverse=True))
    return Facet(name, "", sorted(values, key=_order))


def _order(value: str) -> tuple[float, str]:
    """Words first, then numbers by their size."""
    return (float(value) if value.isdigit() else -1.0, value)


def lead(found: Sequence[KnownModelRow]) -> tuple[str, ...]:
    """What all models say together, in sentences."""
    if not found:
        return ()
    longest = max(found, key=lambda row: row.context)
    rotating = sum(row.cells[BASE].text != UNKNOWN for row in found)
    limits = {KINDS["sliding"], KINDS["chunked"]}
    windowed = sum(not limits.isdisjoint(row.facets["kind"]) for row in found)
    recurrent = sum(KINDS["recurrent"] in row.facets["kind"] for row in found)
    share = 100.0 * rotating / len(found)
    return (
        WORDING("all", count=len(found), share=share, longest=longest),
        WORDING("layers", windowed=windowed, recurrent=recurrent),
    )


PAGE = PageKind("known_models", pages, ("models.md",))
