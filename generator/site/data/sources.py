"""Where the numbers of each encoding are from, for citations and for pictures that readers take
along.

Browsers do not let a page that was opened from disk fetch files, but run its scripts; so this is a
script.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from generator import PROGRAM
from generator.contracts import Atlas, Outcome, Reading

PATH = "data/sources.js"
VECTORS, FREQUENCIES = "vectors", "frequencies"


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """The function that returns the script, by its path below the docs folder."""
    return {PATH: partial(_script, atlas)}


def _script(atlas: Atlas) -> bytes:
    """JavaScript that hands the sources to the page. JSON in ASCII is valid JavaScript."""
    text = json.dumps(sources(atlas), separators=(",", ":"), allow_nan=False)
    return f"atlas.sources({text});\n".encode()


def sources(atlas: Atlas) -> dict[str, Any]:
    """Version, date and address of the atlas, and the source of every encoding by its path."""
    return {
        "version": atlas.versions.get(PROGRAM, ""),
        "date": atlas.date,
        "address": atlas.address,
        "encodings": {
            outcome.path_of(reading): _source(outcome, reading)
            for outcome in atlas.outcomes
            for reading in outcome.readings
        },
    }


def _source(outcome: Outcome, reading: Reading) -> dict[str, str | None]:
    checkpoint = outcome.checkpoint
    return {
        "title": reading.label.title,
        "id": checkpoint.id,
        "source": checkpoint.source,
        "revision": outcome.revision or checkpoint.revision,
        "licence": checkpoint.licence,
        "sha256": reading.encoding.provenance.sha256,
        "arrays": outcome.arrays_of(reading),
        "table": _table(reading),
    }


def _table(reading: Reading) -> str | None:
    """How the file of arrays holds the rows of a table: stored, or as waves from which they follow;
    None where it holds none.
    """
    table = reading.results.get("whole_table")
    if table is None:
        return None
    return "stored" if VECTORS in table.arrays else "waves" if FREQUENCIES in table.arrays else None
