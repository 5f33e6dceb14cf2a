"""The keys by which a list chooses analyses and pages: whether there are such."""

from collections.abc import Sequence
from pathlib import Path

from generator.contracts import Checkpoint
from generator.contracts.list_settings import ListSettings
from generator.errors import RefusedError
from generator.pipeline import evaluate, use
from generator.site.kinds import every_kind

NEEDED = "front"  # The kind of page where every site begins.


def check(path: Path, settings: ListSettings, rows: Sequence[Checkpoint]) -> None:
    """Check the keys that the list at ``path``, with its ``rows``, chooses.

    errors: RefusedError with all that are unknown
    """
    analyses = {one.key for one in (*evaluate.all_analyses(), *use.all_measures())}
    kinds = {kind.key for kind in every_kind()}
    problems = [f"{path}: pages: {one}" for one in settings.pages.unknown(kinds)]
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
