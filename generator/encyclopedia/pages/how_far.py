"""The page on how far published models see, one row a model, the farthest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind
from generator.contracts.wording import Wording
from generator.encyclopedia.model_rows import FEWEST
from generator.encyclopedia.reach import SightRow, sight_rows
from generator.site.pictures.reach_bars import ticks

WORDING = Wording("wording/models.jinja")
FAR = 200_000  # positions
# The least length of each part of the table, in positions; another part has unknown ones.
LEAST = (1_000_000, FAR, 100_000, 32_000, 8_000, 2_000, 1)


@dataclass(frozen=True)
class LengthRange:
    """Rows of similar length. least, below: the bounds in positions, None where there is none"""

    least: int | None
    below: int | None
    rows: tuple[SightRow, ...]


@dataclass(frozen=True)
class HowFarContext(PageContext, template="how_far.md.jinja"):
    """lead: sentences; far: positions from which a context is long; ticks: of the axis"""

    lead: Sequence[str]
    total: int
    far: int
    ticks: Sequence[tuple[float, str]]
    bands: Sequence[LengthRange]


def pages(atlas: Atlas) -> list[Page]:
    """The page, with all rows; none of few."""
    found = sight_rows(atlas)
    if len(found) < FEWEST:
        return []
    context = HowFarContext(
        lead=lead(found), total=len(found), far=FAR, ticks=ticks(), bands=bands(found)
    )
    return [Page("models/how-far.md", context)]


def bands(found: Sequence[SightRow]) -> tuple[LengthRange, ...]:
    """``found`` by length in its order, without bands that have no row."""
    every = [
        *(
            LengthRange(
                least, below, tuple(row for row in found if least <= (row.sees or 0) < bound)
            )
            for least, below, bound in zip(
                LEAST, (None, *LEAST), (float("inf"), *LEAST), strict=False
            )
        ),
        LengthRange(None, None, tuple(row for row in found if not row.sees)),
    ]
    return tuple(band for band in every if band.rows)


def lead(found: Sequence[SightRow]) -> tuple[str, ...]:
    """The answer, in sentences."""
    contexts = [row.context for row in found if row.context is not None]
    if not contexts:
        return ()
    far = sum(context >= FAR for context in contexts)
    longest = [row.title for row in found if row.context == max(contexts)]
    unknown = sum(row.sees is None for row in found)
    return (
        WORDING("far", count=far, total=len(found), far=FAR),
        WORDING("farthest", titles=longest, context=max(contexts)),
        *([WORDING("unknown_length", count=unknown)] if unknown else ()),
    )


PAGE = PageKind("how_far", pages, ("models/how-far.md",))
