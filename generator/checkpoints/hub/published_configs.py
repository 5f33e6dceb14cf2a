"""Configs of famous checkpoints, as published, for builds in which the Hub does not answer."""

import json
from pathlib import Path

from generator.checkpoints.files.config_alone import ConfigAlone

FOLDER = Path(__file__).parent / "configs"
SOURCE = "source"  # Where a config is from, beside its settings.


def published_config(hub_id: str) -> tuple[ConfigAlone, str] | None:
    """The config of the checkpoint with this id, owner/name, and where it is from; None for most.

    It is the published one, and need not be that of a given revision.
    """
    name = f"{hub_id.replace('/', '--')}.json"
    if name not in {path.name for path in FOLDER.iterdir()}:
        return None
    settings = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    source = settings.pop(SOURCE)
    return ConfigAlone(settings, hub_id), source
