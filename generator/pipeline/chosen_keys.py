"""The keys by which a list chooses analyses and pages: whether there are such."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from generator.contracts import Checkpoint
from generator.contracts.list_settings import ListSettings, Selection
from generator.errors import RefusedError
from generator.pipeline import evaluate, use
from generator.site.kinds import every_kind

NEEDED = "front"  # The kind of page where every site begins.


def check(path: Path, settings: ListSettings, rows: Sequence[Checkpoint]) -> None:
    """Check the keys that the list at ``path``, with its ``rows``, chooses.

    errors: RefusedError with all that are unknown
    """
    problems = [*_of_pages(path, settings.pages), *_of_analyses(path, settings, rows)]
    if problems:
        raise RefusedError(*dict.fromkeys(problems))


def _of_pages(path: Path, chosen: Selection) -> Iterator[str]:
    if chosen == Selection():  # Then pages need not be loaded.
        return
    yield from (
        f"{path}: pages: {problem}"
        for problem in chosen.unknown({kind.key for kind in every_kind()})
    )
    if not chosen.takes(NEEDED):
        yield f"{path}: pages: found no {NEEDED!r}; expected it, where a site begins"


def _of_analyses(path: Path, settings: ListSettings, rows: Sequence[Checkpoint]) -> Iterator[str]:
    chosen = [settings.analyses, *(choice for row in rows for choice in row.analyses)]
    if all(choice == Selection() for choice in chosen):  # Nor then analyses.
        return
    known = {one.key for one in (*evaluate.all_analyses(), *use.all_measures())}
    yield from (f"{path}: analyses: {one}" for one in settings.analyses.unknown(known))
    for row in rows:
        for choice in row.analyses:
            if choice != settings.analyses:
                yield from (f"{path}: {row.slug}: analyses: {one}" for one in choice.unknown(known))
