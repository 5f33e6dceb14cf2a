"""The numbers of a training run as JSON: what the site publishes, and what a row may name in place
of checkpoints.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.series import MOST
from generator.contracts import Run
from generator.errors import RowError

FORMAT = 1
KEY = re.compile("[a-z0-9_-]{1,120}")  # It is part of addresses.
MOST_STEP, MOST_VALUE = 10**15, 1e100  # What figures can show.
MOST_BYTES = 8 * 2**20
EXPECTED = "numbers of a training run, as an atlas publishes them in data/runs/"


def encoded(run: Run, about: object = None) -> bytes:
    """``run`` as the content of a file.

    about: how its checkpoints were made, for readers of the file
    """
    document = {
        "format": FORMAT,
        **({"about": about} if about else {}),
        "run": _adapter().dump_python(run, mode="json"),
    }
    return (
        json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    ).encode(errors="backslashreplace")


def read(path: Path, where: str) -> Run:
    """The run in a file. where: its name in messages

    errors: RowError
    """
    storage = Folder(path.parent, where, named=path.name)
    if not storage.has(path.name):
        raise RowError(f"{where}: no such file; expected {EXPECTED}")
    if storage.size(path.name) > MOST_BYTES:
        raise RowError(
            f"{where}: {storage.size(path.name):,} bytes; expected at most {MOST_BYTES:,}"
        )
    return parsed(storage.read(path.name) or b"", where)


def parsed(content: bytes, where: str) -> Run:
    """The run in the ``content`` of a file.

    errors: RowError
    """
    try:
        document = json.loads(content)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise RowError(f"{where}: no 'format': {FORMAT}; expected {EXPECTED}")
        run = _adapter().validate_json(json.dumps(document.get("run")), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise RowError(f"{where}: run.{place}: {first['msg'][:200]}; expected {EXPECTED}") from None
    except (ValueError, RecursionError):
        raise RowError(f"{where}: not JSON; expected {EXPECTED}") from None
    _check(run, where)
    return run


def _check(run: Run, where: str) -> None:
    """errors: RowError unless steps rise, and every series has a value for each"""
    steps, count = list(run.steps), len(run.members)
    if (
        not 0 < count <= MOST
        or steps != sorted(set(steps))
        or not 0 <= steps[0] <= steps[-1] <= MOST_STEP
    ):
        raise RowError(
            f"{where}: found {count} members; expected 1 to {MOST}, in order of their steps from 0"
            f" to {MOST_STEP:,}"
        )
    keys = [encoding.key for encoding in run.encodings]
    if len(set(keys)) < len(keys) or not all(KEY.fullmatch(key) for key in keys):
        raise RowError(
            f"{where}: found encodings with the keys {keys!r:.80}; expected different ones of"
            " letters, digits, - and _"
        )
    series: list[tuple[str, Sequence[Any]]] = [
        (key, metric.values)
        for key, metrics in (
            *((encoding.key, encoding.metrics) for encoding in run.encodings),
            *(("use", use.metrics) for use in run.uses),
        )
        for metric in metrics
    ]
    kernels = [(encoding.key, encoding.kernel) for encoding in run.encodings]
    for key, values in (*series, *kernels):
        if len(values) != count:
            raise RowError(
                f"{where}: {key!r:.60} has series of other lengths; expected {count} values, one"
                " for each member"
            )
    rows = [(key, row) for key, kernel in kernels for row in kernel if row]
    if len({(key, len(row)) for key, row in rows}) > len({key for key, _ in rows}):
        raise RowError(f"{where}: kernels of other lengths; expected one for all members")
    for key, values in (*series, *rows):
        # A comparison with NaN is false.
        if not all(value is None or abs(value) <= MOST_VALUE for value in values):
            raise RowError(
                f"{where}: {key!r:.60} has values beyond ±{MOST_VALUE:g}, or none that are numbers;"
                " expected smaller numbers, or null"
            )


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Run]:
    return TypeAdapter(Run)
