"""Former addresses of published values: pages into which an earlier program split long ones, and
those that are a section of another page now. Each leads to where its values are.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from math import ceil
from posixpath import dirname, relpath

from generator.contracts import Atlas, Maker, Outcome
from generator.site.compare.similarity_map import similarity_map
from generator.site.outline import STAGES, Outline, applicable
from generator.site.pages import compare

# What one page held of each: sections of an encoding, rows of an analysis, and of the list, where
# an encoding counted three times and at most four of a checkpoint were listed.
SECTIONS, ROWS, WEIGHT = 6, 18, 120
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Moved</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'">
<meta name="robots" content="noindex">
<link rel="canonical" href="{target}"><script src="{script}"></script>
<noscript><meta http-equiv="refresh" content="0; url={target}"></noscript></head>
<body><p>What was here is <a href="{target}">on another page</a> now.</p></body></html>
"""


def makers(atlas: Atlas) -> dict[str, Maker]:
    """Functions that return the page at each former address."""
    return {f"{path}.html": partial(_page, path, target) for path, target in _targets(atlas)}


def _page(path: str, target: str) -> bytes:
    folder = dirname(path)
    return PAGE.format(
        target=relpath(target, folder), script=relpath("assets/moved.js", folder)
    ).encode()


def _targets(atlas: Atlas) -> Iterator[tuple[str, str]]:
    """Each former address without suffix, and where it leads."""
    for outcome in atlas.outcomes:
        yield from _of_encodings(atlas, outcome)
    shown = applicable(atlas)
    has_page = atlas.analyses and atlas.settings.pages.takes(compare.PAGE.key)
    if has_page and similarity_map(atlas):
        yield "map", "compare.html#map"
    for analysis in atlas.analyses:
        if analysis not in shown:
            yield f"analyses/{analysis.key}", "analyses/index.html#absent"
        n_rows = sum(
            reading.results[analysis.key].reason is None
            for outcome in atlas.outcomes
            for reading in outcome.readings
        )
        for number in range(2, ceil(n_rows / ROWS) + 1):
            yield f"analyses/{analysis.key}/{number}", f"analyses/{analysis.key}.html"
    listed = Counter(outcome.checkpoint.slug for outcome, _ in atlas.encodings)
    weight = 3 * sum(min(count, 4) for count in listed.values()) + len(atlas.outcomes) - len(listed)
    for number in range(2, ceil(weight / WEIGHT) + 1):
        yield f"checkpoints/list/{number}", "checkpoints/index.html"


def _of_encodings(atlas: Atlas, outcome: Outcome) -> Iterator[tuple[str, str]]:
    outline = Outline.of(outcome)
    for number, reading in enumerate(outcome.readings):
        path, address = f"checkpoints/{outcome.path_of(reading)}", outline.encoding(reading)
        stages = Counter[str](
            analysis.stage
            for analysis in atlas.analyses
            if reading.results[analysis.key].reason is None
        )
        if number:
            yield path, address
        if stages.total() > SECTIONS:
            yield f"{path}/{max(STAGES, key=lambda stage: stages[stage])}", address
