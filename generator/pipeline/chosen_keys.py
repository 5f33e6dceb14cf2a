"""The keys by which a list chooses analyses and pages: whether there are such."""

from collections.abc import Sequence
from pathlib import Path

from generator.contracts import Checkpoint, PageKind, discovery
from generator.contracts.list_settings import ListSettings
from generator.errors import RefusedError
from generator.pipeline import evaluate, use
from generator.site import pages

NEEDED = "front"  # The kind of page where every site begins.


def kinds() -> tuple[PageKind, ...]:
    """Every kind of page, those of guests last."""
    guests = (kind for guest in discovery.guests() for kind in guest.kinds)
    return (*discovery.load(pages, PageKind), *guests)


def check(path: Path, settings: ListSettings, rows: Sequence[Checkpoint]) -> None:
    """Check the keys that the list at ``path``, with its ``rows``, chooses.

    errors: RefusedError with all that are unknown
    """
    analyses = {one.key for one in (*evaluate.all_analyses(), *use.all_measures())}
    problems = [f"{path}: pages: {one}" for one in settings.pages.unknown({k.key for k in kinds()})]
    if not settings.pages.takes(NEEDED):
        problems.append(f"{path}: pages: found no {NEEDED!r}; expected it, where a site begins")
    problems += [f"{path}: analyses: {one}" for one in settings.analyses.unknown(analyses)]
    problems += [
        f"{path}: {row.slug}: analyses: {problem}"
        for row in rows
        for choice in row.analyses
        if choice != settings.analyses
        for problem in choice.unknown(analyses)
    ]
    if problems:
        raise RefusedError(*dict.fromkeys(problems))
