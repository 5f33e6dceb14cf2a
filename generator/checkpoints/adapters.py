"""Adapters such as LoRA: their position is that of the model which they adapt."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from generator.checkpoints.files.formats.unread import ADAPTER_CONFIG
from generator.checkpoints.files.json_object import parse_config
from generator.contracts import Checkpoint, Source
from generator.errors import RowError

BASE, REVISION = "base_model_name_or_path", "revision"
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)


def with_base(
    row: Checkpoint, text: bytes | None, source: Source, sources: Sequence[Source]
) -> Checkpoint:
    """The row of the model that an adapter adapts, under the title of the adapter's.

    text: of its ``ADAPTER_CONFIG``, None without one; source: of the adapter, whose base may be a
        folder too where it is one, by its path or relative to it
    errors: RowError where it names none
    """
    label = f"{row.id}: {ADAPTER_CONFIG}"
    if text is None:
        raise RowError(f"{label}: no such file; expected that of an adapter, as 'base:' says")
    settings = parse_config(text, label)
    name, revision = settings.get(BASE), settings.get(REVISION)
    if not isinstance(name, str) or not name:
        raise RowError(f"{label}: found no {BASE}; expected that of the model which it adapts")
    folder = Path(row.place) / Path(name).expanduser()
    is_path = source.is_path and folder.is_dir()
    if not is_path and not HUB_ID.fullmatch(name):
        raise RowError(
            f"{label}: found {BASE} {name[:80]!r}; expected a folder that is there, or a Hub id"
        )
    return replace(
        row,
        base=False,
        weights="",
        source=next(one.key for one in sources if one.is_path == is_path),
        id=Path(name).name if Path(name).is_absolute() else name,
        place=str(folder) if is_path else name,
        revision=revision if isinstance(revision, str) and revision and not is_path else None,
        notes=f"{row.notes} The row names the adapter {row.id}; its base is shown.".strip(),
    )
