"""Adapters such as LoRA: their position is that of the model which they adapt."""

from collections.abc import Sequence
from dataclasses import replace
from os.path import realpath
from pathlib import Path

from generator.checkpoints.files.formats.unread import ADAPTER_CONFIG
from generator.checkpoints.files.json_object import parse_config
from generator.contracts import Checkpoint, Source
from generator.contracts.wording import Wording
from generator.errors import RowError

NOTES = Wording("wording/notes.jinja")
BASE, REVISION = "base_model_name_or_path", "revision"


def with_base(
    row: Checkpoint, text: bytes | None, source: Source, sources: Sequence[Source]
) -> Checkpoint:
    """The row of the model that an adapter adapts, under the title of the adapter's.

    text: of its ``ADAPTER_CONFIG``, None without one; source: of the adapter, whose base may be a
        folder too where it is one, by its path or relative to it: one beside it, or below the
        folder of the list
    errors: RowError where it names none, or one that a row may not name
    """
    from generator.checkpoints.list_row import unfit  # Its checks take a sixth of a second.

    label = f"{row.id}: {ADAPTER_CONFIG}"
    if text is None:
        raise RowError(f"{label}: no such file; expected that of an adapter, as 'base:' says")
    settings = parse_config(text, label)
    name, revision = settings.get(BASE), settings.get(REVISION)
    if not isinstance(name, str) or not name:
        raise RowError(f"{label}: found no {BASE}; expected that of the model which it adapts")
    folder = Path(row.place) / Path(name).expanduser()
    is_path = source.is_path and folder.is_dir()
    # As the list has it, and the last part of an absolute path.
    of_list = Path(row.place).parents[len(Path(row.id).parts) - 1]
    homes = (realpath(of_list), realpath(Path(row.place).parent))
    if is_path and not any(map(Path(realpath(folder)).is_relative_to, homes)):
        raise RowError(
            f"{label}: found {BASE} {name[:80]!r}, a folder that is not read; expected one below"
            " that of the list or beside the adapter, or a Hub id"
        )
    key = next(one.key for one in sources if one.is_path == is_path)
    if not is_path and unfit(key, name, sources):
        raise RowError(
            f"{label}: found {BASE} {name[:80]!r}; expected a folder that is there, or a Hub id"
        )
    pinned = revision if isinstance(revision, str) and revision and not is_path else None
    if pinned and (expected := unfit(REVISION, pinned, sources)):
        raise RowError(f"{label}: found {REVISION} {pinned[:80]!r}; expected {expected}")
    return replace(
        row,
        base=False,
        weights="",
        source=key,
        id=Path(name).name if Path(name).is_absolute() else name,
        place=str(folder) if is_path else name,
        revision=pinned,
        notes=f"{row.notes} {NOTES('adapter', id=row.id)}".strip(),
    )
