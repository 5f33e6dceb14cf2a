"""Published configs of well-known models: one file a model in ``generator/encyclopedia/models``,
with its source.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generator import PACKAGE
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.contracts import Checkpoint, Files, Json
from generator.contracts.wording import Wording

WORDING = Wording("wording/models.jinja")
FOLDER = PACKAGE / "encyclopedia/models"
SHOWN = 12  # digits of a commit
REVISION = re.compile(r"config\.json on the Hub(?: at|, commit) ([0-9a-f]{7,40})")


@dataclass(frozen=True)
class KnownModel:
    """A model of the Hub.

    id: owner/name; settings: of config.json, cut to sizes, position, attention and layers; source:
        where they are from, with commit and date where they were read from the Hub
    is_from_knowledge: whether they were entered without a copy of the file at hand
    maker: who made it, "" where that is not known; month: of its first weights, as YYYY-MM, and
        what says so; or of its paper, where a paper says so; both "" where neither is known
    reference: the folder of ``references`` with the same settings, "" for most
    parameters: their number in all and of those active for a token, as 671B, and what says so;
        empty where the name alone may
    extends: the ways that its maker publishes to serve more tokens than it was trained on, each
        with the length it goes to, its settings or its words, and its source; empty where none is
        known
    native: the length that its maker states as trained or usable, with its source; None where that
        is not known
    cache_type: the type of its cache, and the key of its config that says it; None where that is
        not known
    """

    id: str
    settings: Json
    source: str
    is_from_knowledge: bool
    maker: str
    month: str
    dated_by: str
    reference: str
    parameters: Json
    extends: tuple[Json, ...] = ()
    native: Json | None = None
    cache_type: Json | None = None

    @property
    def revision(self) -> str | None:
        """The commit of its repository from which ``settings`` are; None where it is not known."""
        named = REVISION.match(self.source)
        return named[1] if named else None

    @property
    def files(self) -> ConfigAlone:
        """The model as a config without weights."""
        return ConfigAlone(self.settings, self.id)


def known_models() -> Iterator[KnownModel]:
    """All of them, by the names of their files."""
    for path in sorted(FOLDER.glob("*.json")):
        yield _read(path.stem)


def known_model(hub_id: str) -> KnownModel | None:
    """That of the checkpoint with this id, owner/name; None for most.

    It is the published one, and need not be that of a given revision.
    """
    name = hub_id.replace("/", "--")
    is_known = f"{name}.json" in {path.name for path in FOLDER.iterdir()}
    return _read(name) if is_known else None


def config_of(checkpoint: Checkpoint) -> tuple[Files, str] | None:
    """The published config of a checkpoint with the id of a model, and where it is from."""
    if (model := known_model(checkpoint.place)) is None:
        return None
    mark = (WORDING("unchecked"),) if model.is_from_knowledge else ()
    return model.files, "; ".join((*mark, model.source))


def file_of(hub_id: str) -> Path:
    """The file of a model."""
    return FOLDER / f"{hub_id.replace('/', '--')}.json"


def _read(name: str) -> KnownModel:
    return of_record(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def of_record(record: Json) -> KnownModel:
    """The model of a file, by its content."""
    published = record.get("published", {})
    return KnownModel(
        record["id"],
        record["config"],
        _source(record),
        record.get("from_knowledge", False),
        record.get("maker", ""),
        published.get("month", ""),
        published.get("by", ""),
        record.get("reference", ""),
        record.get("parameters", {}),
        tuple(record.get("extends", ())),
        record.get("native"),
        record.get("cache_type"),
    )


def _source(record: Json) -> str:
    source: str = record["source"]
    if "commit" not in record:
        return source
    file, *others = source.split("; ")
    read = f"{file}, commit {record['commit'][:SHOWN]}, read on {record['read']}"
    return "; ".join((read, *others))
