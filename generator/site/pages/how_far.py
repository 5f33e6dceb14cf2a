"""The page on how far published models see, one row a model, the farthest first."""

from collections.abc import Sequence

from generator.contracts import Atlas, Page, PageKind
from generator.site.data.reach import SightRow, sight_rows
from generator.site.pictures.reach_bars import ticks
from generator.text import plural

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
    known = [row.sees for row in found if row.sees is not None]
    if not known:
        return ()
    far = sum(sees >= FAR for sees in known)
    farthest = [row.title for row in found if row.sees == max(known)]
    others = f" and {plural(len(farthest) - 1, 'other')}" if len(farthest) > 1 else ""
    unknown = len(found) - len(known)
    rest = (f"Of {plural(unknown, 'model')} the length is not known.",) if unknown else ()
    return (
        f"{far} of {plural(len(found), 'model')} {'sees' if far == 1 else 'see'} {FAR:,}"
        f" positions or more.",
        f"The farthest is {farthest[0]}{others}, with {max(known):,}.",
        *rest,
    )


PAGE = PageKind("how_far", pages)
