"""The page on how far published models see, one row a model, the farthest first."""

from collections.abc import Sequence

from generator.contracts import Atlas, Page, PageKind
from generator.site.data.reach import SightRow, sight_rows
from generator.site.pictures.reach_bars import ticks
from generator.words import Words

WORDS = Words("words/models.jinja")
FAR = 200_000  # positions


def pages(atlas: Atlas) -> list[Page]:
    """The page, with all rows."""
    found = sight_rows(atlas)
    context = {
        "lead": lead(found),
        "total": len(found),
        "far": FAR,
        "ticks": ticks(),
        "rows": found,
    }
    return [Page("models/how-far.md", "how_far.md.jinja", context)]


def lead(found: Sequence[SightRow]) -> tuple[str, ...]:
    """The answer, in sentences."""
    contexts = [row.context for row in found if row.context is not None]
    if not contexts:
        return ()
    far = sum(context >= FAR for context in contexts)
    longest = [row.title for row in found if row.context == max(contexts)]
    unknown = sum(row.sees is None for row in found)
    return (
        WORDS("far", count=far, total=len(found), far=FAR),
        WORDS("farthest", titles=longest, context=max(contexts)),
        *([WORDS("unknown_length", count=unknown)] if unknown else ()),
    )


PAGE = PageKind("how_far", pages)
