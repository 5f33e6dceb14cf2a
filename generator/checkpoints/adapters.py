"""Adapters such as LoRA: their position is that of the model which they adapt."""

import re
from dataclasses import replace
from pathlib import Path

from generator.checkpoints.files.json_object import parse_config
from generator.contracts import Checkpoint
from generator.errors import RowError

CONFIG = "adapter_config.json"
BASE, REVISION = "base_model_name_or_path", "revision"
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)


def with_base(row: Checkpoint, text: bytes | None, beside: Path | None = None) -> Checkpoint:
    """The row of the model that an adapter adapts, under the title of the adapter's.

    text: of its ``CONFIG``, None without one; beside: the folder of the adapter, where it has one:
        its base may then be a folder, by its path or relative to that of the adapter
    errors: RowError where it names none
    """
    label = f"{row.id}: {CONFIG}"
    if text is None:
        raise RowError(f"{label}: no such file; expected that of an adapter, as 'base:' says")
    settings = parse_config(text, label)
    name, revision = settings.get(BASE), settings.get(REVISION)
    if not isinstance(name, str) or not name:
        raise RowError(f"{label}: found no {BASE}; expected that of the model which it adapts")
    common = replace(
        row,
        base=False,
        weights="",
        revision=revision if isinstance(revision, str) and revision else None,
        notes=f"{row.notes} The row names the adapter {row.id}; its base is shown.".strip(),
    )
    if beside is not None and (folder := beside / Path(name).expanduser()).is_dir():
        shown = Path(name).name if Path(name).is_absolute() else name
        return replace(common, source="folder", id=shown, place=str(folder), revision=None)
    if not HUB_ID.fullmatch(name):
        raise RowError(
            f"{label}: found {BASE} {name[:80]!r}; expected a folder that is there, or a Hub id"
        )
    return replace(common, source="hub", id=name, place=name)
