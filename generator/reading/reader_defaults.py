"""What classes of other programs take where a config.json is silent, as
``python -m benchmarks.readers`` found it in their code.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")
REQUIRED = "required"  # In place of a default.


@cache
def reader_defaults(reader: str) -> dict[str, Any]:
    """The defaults of a reader, by its key."""
    every: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return every[reader]
