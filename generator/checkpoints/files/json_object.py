"""A JSON object in a file of a checkpoint."""

import json
from itertools import chain
from typing import Any

from generator.contracts import Json
from generator.errors import RowError

DEEPEST = 64  # Levels, ten times those of configs in use; what reads them calls itself at each.


def parse_config(text: bytes, where: str) -> Json:
    """The JSON object in ``text``, in UTF-8 as libraries of the Hub read it; ``where`` names it in
    messages.

    errors: RowError when it is not a JSON object
    """
    try:
        # With or without a mark. Python would read UTF-16 and UTF-32 too.
        config = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RowError(f"{where}: not JSON ({error}); expected a JSON object") from None
    if not isinstance(config, dict):
        raise RowError(f"{where}: {type(config).__name__}; expected a JSON object")
    level: list[Any] = [config]
    for _ in range(DEEPEST):
        inside = (outer.values() if isinstance(outer, dict) else outer for outer in level)
        level = [inner for inner in chain.from_iterable(inside) if isinstance(inner, dict | list)]
    if level:
        raise RowError(
            f"{where}: nested more than {DEEPEST} deep; expected the settings of a model"
        )
    return config
