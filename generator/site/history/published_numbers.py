"""What atlases publish in files beside atlas.json: the numbers of stored tables, and those of
training runs step by step.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from generator.checkpoints import run_file
from generator.contracts import ReleasedCheckpoint, ReleasedEncoding, ReleasedRows, Run
from generator.errors import RowError
from generator.numerics.arrays import Array, Floats, row_norms
from generator.site.data.npz import EVERY
from generator.site.history.changes import Checkpoints, Document

# Content of a file of a site, by its path; None where it has none.
Read = Callable[[str], bytes | None]
# Rows that differ, by path and by the SHA-256 of both tables.
Compared = dict[tuple[str, str | None, str | None], ReleasedRows]
TABLE = "whole_table.vectors"
PLACE = re.compile(r"data/[a-z0-9_-]+/[a-z0-9_-]+\.(?:npz|json)")
MOST_BYTES = 2**26  # of a table, unpacked


def arrays_of(slug: str, key: str) -> str:
    """Path of the arrays of an encoding, from the folder of the site."""
    return f"data/{slug}/{key}.npz"


def with_steps(atlas: Document, read: Read) -> Document:
    """An atlas whose training runs have the values of each step, where their files can be read."""
    return {**atlas, "runs": [_with_values(run, read) for run in atlas.get("runs", ())]}


def _with_values(record: Any, read: Read) -> Any:
    path = str(record["data"])
    try:
        run = run_of(read(path) if PLACE.fullmatch(path) else None, path)
    except RowError:
        return record
    encodings = []
    for one in record["encodings"]:
        by_key = next((found for found in run.encodings if found.key == one["key"]), None)
        values = {metric.key: list(metric.values) for metric in by_key.metrics} if by_key else {}
        metrics = {
            key: {**metric, **({"values": values[key]} if key in values else {})}
            for key, metric in one["metrics"].items()
        }
        encodings.append({**one, "metrics": metrics})
    return {**record, "encodings": encodings}


def run_of(content: bytes | None, where: str) -> Run:
    """The training run in a file. errors: RowError where it has none that can be read"""
    return run_file.parsed(content or b"", where)


def with_rows(
    former: Checkpoints,
    later: Checkpoints,
    read: Read,
    read_later: Read,
    compared: Compared | None = None,
) -> dict[str, ReleasedCheckpoint]:
    """``later`` with the rows of each stored table that differ from the ``former`` ones, where both
    functions can read its arrays.

    compared: what is known already, to which all is added
    """
    known = {} if compared is None else compared
    found = {}
    for slug, row in later.items():
        before = {one["key"]: one for one in former[slug]["encodings"]} if slug in former else {}
        encodings = [
            _compared(slug, before[one["key"]], one, read, read_later, known)
            if one["key"] in before
            else one
            for one in row["encodings"]
        ]
        with_these: ReleasedCheckpoint = {**row, "encodings": encodings}
        found[slug] = with_these
    return found


def _compared(  # noqa: PLR0913, PLR0917 (two of each)
    slug: str,
    before: ReleasedEncoding,
    after: ReleasedEncoding,
    read: Read,
    read_later: Read,
    known: Compared,
) -> ReleasedEncoding:
    path, hashes = arrays_of(slug, after["key"]), (before["sha256"], after["sha256"])
    if None in hashes or hashes[0] == hashes[1] or not PLACE.fullmatch(path):
        return after
    if (path, *hashes) not in known:
        former, later = _table(read(path)), _table(read_later(path))
        if former is None or later is None:
            return after
        if former[0].shape != later[0].shape or former[1] != later[1]:
            return after
        first = after.get("parameters", {}).get("first_row", 0)
        known[path, *hashes] = changed_rows(former[0], later[0], first, later[1])
    return {**after, "rows": known[path, *hashes]}


def _table(content: bytes | None) -> tuple[Floats, int] | None:
    """The table in a file of arrays, (n_rows, d_model), and every how many of its rows it has; None
    where the file has none that can be read.
    """
    found = arrays(content, TABLE, f"{TABLE}{EVERY}")
    table, every = found.get(TABLE), found.get(f"{TABLE}{EVERY}", np.array(1))
    if table is None or table.ndim != 2 or not np.isfinite(table).all() or every.ndim:
        return None
    return table, max(int(every), 1)


def arrays(content: bytes | None, *names: str) -> dict[str, Array]:
    """Those of these arrays of numbers that a file has; none where it cannot be read, or is too
    large.
    """
    found = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content or b"")) as archive:
            for name in (name for name in names if f"{name}.npy" in archive.namelist()):
                if archive.getinfo(f"{name}.npy").file_size > MOST_BYTES:
                    return {}
                with archive.open(f"{name}.npy") as member:
                    found[name] = np.lib.format.read_array(member, allow_pickle=False)
    except (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError, RuntimeError):
        return {}
    return {name: array for name, array in found.items() if array.dtype.kind in "fiu"}


def changed_rows(before: Floats, after: Floats, first: int, every: int) -> ReleasedRows:
    """How a table differs: both (n_rows, d_model).

    first: index in the stored tensor of the first row; every: how far apart the rows are in it
    """
    former, difference = before.astype(np.float64), after.astype(np.float64)
    difference -= former
    norms, sizes = row_norms(former), row_norms(difference)  # (n_rows,)
    whole, size = np.linalg.norm(norms), np.linalg.norm(sizes)
    shares = np.divide(sizes, norms, out=np.where(sizes > 0.0, np.inf, 0.0), where=norms > 0.0)
    row, n_changed = int(shares.argmax()), int(np.count_nonzero(sizes))
    return {
        "changed": n_changed,
        "compared": len(before),
        "every": every,
        "row": first + row * every if n_changed else None,
        "by": 100.0 * float(shares[row]) if np.isfinite(shares[row]) else None,
        "share": min(float(size / whole), 1.0) if whole else float(size > 0.0),
    }
