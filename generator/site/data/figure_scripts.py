"""The data of each figure as a script of its own, from which the page draws it anew.

Browsers do not let a page that was opened from disk fetch files, but run its scripts; so the data
are scripts.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from generator import PROGRAM
from generator.contracts import Atlas, Page, Result
from generator.figures import svg
from generator.site.data import citations
from generator.site.outline import Outline, figures_of


@dataclass(frozen=True)
class _About:
    """What the script of a figure says beside its data.

    page: its address; of: paths of its encodings; finding: a sentence, "" where none speaks of it;
        python: lines that plot it, "" without; file: which these lines read, below the site, where
        it is not that of each encoding in ``of``
    """

    caption: str
    page: str
    of: tuple[str, ...] = ()
    finding: str = ""
    python: str = ""
    file: str = ""


def makers(
    atlas: Atlas, pages: Sequence[Page], drawings: Mapping[str, bytes]
) -> dict[str, Callable[[], bytes]]:
    """Functions that return the content of each script, by path below the docs folder.

    drawings: of all figures, by path without extension
    """
    of_build = {"version": atlas.versions.get(PROGRAM, ""), "date": atlas.date}
    paths = {
        reading.label.title: outcome.path_of(reading)
        for outcome in atlas.outcomes
        for reading in outcome.readings
    }
    of_pages = {f"{citations.run_name(run)}.md": citations.run_name(run) for run in atlas.runs} | {
        f"checkpoints/{name}.md": name
        for outcome in atlas.outcomes
        if outcome.use and (name := citations.use_name(outcome))
    }
    shown = {
        figure.path: _About(
            figure.spec.caption,
            f"{page.path.removesuffix('.md')}.html#{figure.anchor}",
            tuple(paths[label.title] for label in figure.results if label.title in paths)
            or tuple(name for path, name in of_pages.items() if path == page.path),
            python=figure.spec.python,
            file=figure.data if figure.spec.python and not figure.results else "",
        )
        for page in pages
        for figure in page.figures
    }
    shown |= dict(_of_checkpoints(atlas))
    return {
        f"{path}.js": partial(
            _script, drawings, path, {**_without_blanks(asdict(about)), **of_build}
        )
        for path, about in shown.items()
    }


def _without_blanks(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if value}


def _of_checkpoints(atlas: Atlas) -> Iterator[tuple[str, _About]]:
    """Path of every figure of an encoding, and what its script says."""
    for outcome in atlas.outcomes:
        outline = Outline.of(outcome)
        for reading in outcome.readings:
            for analysis in atlas.analyses:
                page = outline.address(reading, analysis).partition("#")[0]
                for figure in figures_of(outcome, reading, analysis):
                    yield (
                        figure.path,
                        _About(
                            figure.spec.caption,
                            f"{page}#{figure.anchor}",
                            (outcome.path_of(reading),),
                            _finding(reading.results[analysis.key], figure.spec.key),
                            figure.spec.python,
                        ),
                    )


def _finding(result: Result, figure: str) -> str:
    """The sentence that the figure with this key shows best: the first that marks it, else the
    weightiest; "" where the result has none.
    """
    marking = [
        finding
        for finding in result.findings
        if any(spot.figure == figure for spot in finding.spots)
    ]
    rest = sorted(result.findings, key=lambda finding: -finding.weight)
    return next((finding.text for finding in (*marking, *rest)), "")


def _script(drawings: Mapping[str, bytes], path: str, about: Mapping[str, Any]) -> bytes:
    """JavaScript that hands the figure to the page. JSON in ASCII is valid JavaScript."""
    _, data = svg.parts(drawings[path])
    head = json.dumps(about, separators=(",", ":")).removesuffix("}")
    return b"atlas.figure(" + head.encode() + b"," + data.removeprefix(b"{") + b");\n"
