"""The longest text that a tokenizer lets through."""

from generator.checkpoints.files.json_object import parse_config
from generator.contracts import Files
from generator.errors import RowError

FILE = "tokenizer_config.json"
UNLIMITED = 10**8  # Libraries write 10^30 for no limit.


def tokenizer_length(files: Files) -> int | None:
    """``model_max_length`` of tokenizer_config.json; None without one, or without a limit."""
    text = files.read(FILE)
    try:
        settings = {} if text is None else parse_config(text, FILE)
    except RowError:  # Whoever reads the tokenizer says so.
        return None
    length = settings.get("model_max_length")
    if isinstance(length, bool) or not isinstance(length, int | float):
        return None
    return int(length) if 1 <= length < UNLIMITED else None
