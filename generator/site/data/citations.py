"""Where the numbers of each encoding are from, for citations and for pictures that readers take
along.

Browsers do not let a page that was opened from disk fetch files, but run its scripts; so this is a
script.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from generator import PROGRAM
from generator.checkpoints import sources as places
from generator.contracts import Atlas, Outcome, Reading, Run, Source, discovery
from generator.encodings import PositionTable
from generator.text import plural

PATH = "data/sources.js"
HUB = "https://huggingface.co"
Origin = dict[str, str | None]
VECTORS, FREQUENCIES = "vectors", "frequencies"


def script(atlas: Atlas) -> bytes:
    """JavaScript that hands the sources to the page. JSON in ASCII is valid JavaScript."""
    text = json.dumps(sources(atlas), separators=(",", ":"), allow_nan=False)
    return f"atlas.sources({text});\n".encode()


def sources(atlas: Atlas) -> dict[str, Any]:
    """Version, date, release, address and repository of the atlas, and the source of every encoding
    by its path, of what a model does by that of its page, and of every training run.
    """
    return {
        "version": atlas.versions.get(PROGRAM, ""),
        "date": atlas.date,
        "release": atlas.releases[-1].id if atlas.releases else None,
        "address": atlas.address,
        "repository": atlas.settings.repository,
        "encodings": {
            name: source for outcome in atlas.outcomes for name, source in _of_outcome(outcome)
        }
        | {run_name(run): _of_run(run) for run in atlas.runs},
    }


class Home(NamedTuple):
    """Where readers find a checkpoint: id on the Hub, and URL."""

    id: str
    url: str


def home_of(outcome: Outcome) -> Home | None:
    """Where the source of a checkpoint shows it, at the revision that was read, or else the
    published model that it is of; None for another folder.
    """
    row = outcome.checkpoint
    url = _address(row.source, row.id, outcome.revision or row.revision)
    if url:
        return Home(row.id, url)
    return Home(row.of, f"{HUB}/{row.of}") if row.of else None


def _address(key: str, name: str, revision: str | None) -> str | None:
    found = (source for source in discovery.load(places, Source) if source.key == key)
    source = next(found, None)
    return source.address(name, revision) if source else None


def use_name(outcome: Outcome) -> str:
    """Name of the source of what the model does."""
    return f"{outcome.checkpoint.slug}/use"


def run_name(run: Run) -> str:
    """Name of the source of a training run."""
    return f"runs/{run.slug}"


def _of_outcome(outcome: Outcome) -> Iterator[tuple[str, Origin]]:
    checkpoint, home = outcome.checkpoint, home_of(outcome)
    common: Origin = {
        "id": home.id if home else None,
        "copy_of": None if home else checkpoint.original or None,
        "revision": outcome.revision or checkpoint.revision or checkpoint.original_revision or None,
        "licence": checkpoint.licence,
    }
    for reading in outcome.readings:
        digest = reading.encoding.provenance.sha256
        yield (
            outcome.path_of(reading),
            {
                **common,
                "title": reading.label.title,
                "sha256": digest,
                "numbers": None if digest else "computed from its configuration",
                "arrays": outcome.arrays_of(reading),
                "table": _table(reading),
            },
        )
    if outcome.use:
        yield (
            use_name(outcome),
            {**common, "title": checkpoint.title, "numbers": "measured on the running model"},
        )


def _of_run(run: Run) -> Origin:
    return {
        "id": run.id if _address(run.source, run.id, None) else None,
        "licence": run.licence,
        "title": run.title,
        "numbers": f"{plural(len(run.members), 'checkpoint')} of a training run",
    }


def _table(reading: Reading) -> str | None:
    """How the file of arrays holds the rows of a table: stored, or as waves from which they follow;
    None where it holds none.
    """
    if reading.encoding.form != PositionTable.__name__:
        return None
    names = {name for result in reading.results.values() for name in result.arrays}
    return "stored" if VECTORS in names else "waves" if FREQUENCIES in names else None
