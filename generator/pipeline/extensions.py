"""What is beside a list, before anything is built with it."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb

from generator.checkpoints.model.stacks import check_own_families
from generator.contracts import own
from generator.errors import RefusedError
from generator.pipeline.evaluate import all_analyses
from generator.reading import lint
from generator.reading.find import all_schemes
from generator.site.pictures import scheme_cards, scheme_pictures
from generator.text import short


def check() -> None:
    """errors: RefusedError with every problem"""
    problems = list[str]()
    for load in (all_analyses, all_schemes, lint.all_rules, check_own_families):
        try:
            load()
        except RefusedError as error:
            problems += error.problems
    if not problems and find_spec("matplotlib"):
        problems += _pictures()
    if problems:
        raise RefusedError(*problems)


def _pictures() -> Iterator[str]:
    """What is wrong with pictures of schemes, which show the same on every site."""
    places = {scheme: _place(scheme.key) for scheme in all_schemes()}
    for scheme, path in places.items():
        if path is None:
            continue
        try:
            scheme_cards.card(scheme)
            spec = scheme_pictures.figure(scheme).spec
            spec.draw({}).draw_without_rendering()
        except Exception as error:  # noqa: BLE001 (of any code)
            frames = [
                one.lineno for one in extract_tb(error.__traceback__) if one.filename == str(path)
            ]
            said = short(" ".join(str(error).split()), 160)
            yield (
                f"{path}:{frames[-1] if frames else 1}: found {type(error).__name__}: {said};"
                " expected a picture that can be drawn"
            )


def _place(scheme: str) -> Path | None:
    """The picture of a scheme that is not the program's; None for one of the program."""
    paths = (folder / scheme / "picture.py" for folder in own.folders("schemes"))
    return next(filter(Path.is_file, paths), None)
