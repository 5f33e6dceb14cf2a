"""A JSON object in a file of a checkpoint."""

import json
from itertools import chain
from typing import Any

from generator.contracts import Json
from generator.errors import RowError
from generator.text import as_json

MOST_DIGITS = 308  # of a whole number; no real number has more
DEEPEST = 64  # Levels, ten times those of configs in use; what reads them calls itself at each.


def parse_config(text: bytes, where: str) -> Json:
    """The JSON object in ``text``, in UTF-8 as libraries of the Hub read it; ``where`` names it in
    messages.

    errors: RowError when it is not a JSON object
    """
    try:
        # With or without a mark. Python would read UTF-16 and UTF-32 too.
        config = json.loads(text.decode("utf-8-sig"), parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{where}: not JSON ({error}); expected a JSON object") from None
    if not isinstance(config, dict):
        raise RowError(f"{where}: found {as_json(config)}; expected a JSON object")
    if is_deeper(config, DEEPEST):
        raise RowError(
            f"{where}: nested more than {DEEPEST} deep; expected the settings of a model"
        )
    return config


def _whole(digits: str) -> int:
    """errors: ValueError"""
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits):,} digits")
    return int(digits)


def is_deeper(value: Any, most: int) -> bool:
    """Whether objects and lists within ``value`` are nested more than ``most`` deep."""
    level = [value]
    for _ in range(most):
        inside = (outer.values() if isinstance(outer, dict) else outer for outer in level)
        level = [inner for inner in chain.from_iterable(inside) if isinstance(inner, dict | list)]
    return bool(level)
