"""The pages on how far published models see, one row a model, the farthest first."""

from collections.abc import Sequence

from generator.contracts import Atlas, Page, PageKind
from generator.site.data.reach import SightRow, sight_rows
from generator.site.pictures.reach_bars import ticks
from generator.text import plural

ROWS = 66  # of a page, which then stays below 60 kB
FAR = 200_000  # positions
PATH = "models/how-far"


def pages(atlas: Atlas) -> list[Page]:
    """The first page, which can load all rows, and the others."""
    found = sight_rows(atlas)
    parts = [found[start : start + ROWS] for start in range(0, len(found), ROWS)] or [()]
    shared = {
        "lead": lead(found),
        "total": len(found),
        "far": FAR,
        "ticks": ticks(),
        "parts": [(_title(part), _path(number)) for number, part in enumerate(parts, 1)],
    }
    return [
        Page(
            f"{_path(number)}.md",
            "how_far.md.jinja",
            {**shared, "number": number, "rows": part},
        )
        for number, part in enumerate(parts, 1)
    ]


def _path(number: int) -> str:
    return f"{PATH}-{number}" if number > 1 else PATH


def _title(part: Sequence[SightRow]) -> str:
    """How far the first and the last model see."""
    ends = [part[index].sees for index in (0, -1)] if part else []
    return " to ".join(dict.fromkeys("not known" if end is None else f"{end:,}" for end in ends))


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
