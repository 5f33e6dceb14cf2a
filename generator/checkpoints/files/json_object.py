"""A JSON object in a file of a checkpoint."""

import json

from generator.contracts import Json
from generator.errors import RowError


def parse_config(text: bytes, where: str) -> Json:
    """The JSON object in ``text``; ``where`` names its file in messages.

    errors: RowError when it is not a JSON object
    """
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{where}: not JSON ({error}); expected a JSON object") from None
    if not isinstance(config, dict):
        raise RowError(f"{where}: {type(config).__name__}; expected a JSON object")
    return config
