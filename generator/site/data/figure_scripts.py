"""The data of each figure as a script of its own, from which the page draws it anew.

Browsers do not let a page that was opened from disk fetch files, but run its scripts; so the data
are scripts.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from generator import PROGRAM
from generator.contracts import Atlas, Page
from generator.figures import output
from generator.site.outline import Outline, figures_of


def makers(
    atlas: Atlas, pages: Sequence[Page], drawings: Mapping[str, bytes]
) -> dict[str, Callable[[], bytes]]:
    """Functions that return the content of each script, by path below the docs folder.

    drawings: of all figures, by path without extension
    """
    of_build = {"version": atlas.versions.get(PROGRAM, ""), "date": atlas.date}
    shown = {
        figure.path: (figure.spec.caption, f"{page.path.removesuffix('.md')}.html#{figure.anchor}")
        for page in pages
        for figure in page.figures
    }
    shown |= dict(_of_checkpoints(atlas))
    return {
        f"{path}.js": partial(
            _script, drawings, path, {"caption": caption, "page": page, **of_build}
        )
        for path, (caption, page) in shown.items()
    }


def _of_checkpoints(atlas: Atlas) -> Iterator[tuple[str, tuple[str, str]]]:
    """Path, caption and address of every figure of an encoding."""
    for outcome in atlas.outcomes:
        outline = Outline.of(outcome, atlas.analyses)
        for reading in outcome.readings:
            for analysis in atlas.analyses:
                page = outline.address(reading, analysis).partition("#")[0]
                for figure in figures_of(outcome, reading, analysis):
                    yield figure.path, (figure.spec.caption, f"{page}#{figure.anchor}")


def _script(drawings: Mapping[str, bytes], path: str, about: Mapping[str, str | None]) -> bytes:
    """JavaScript that hands the figure to the page. JSON in ASCII is valid JavaScript."""
    _, data = output.parts(drawings[path])
    head = json.dumps(about, separators=(",", ":")).removesuffix("}")
    return b"atlas.figure(" + head.encode() + b"," + data.removeprefix(b"{") + b");\n"
