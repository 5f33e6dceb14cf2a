"""What the page on one position computes from, for every published model with rotations."""

import json

from generator.contracts import Atlas
from generator.encyclopedia.model_rows import records
from generator.site.at_position import PositionOfModel


def positions(atlas: Atlas) -> dict[str, PositionOfModel]:
    """What models.json has of them, by their ids in order; with the settings that their makers
    publish for more positions, by ``extended_name``.
    """
    found = {}
    for model in sorted(records(atlas), key=lambda model: model["id"].lower()):
        found[model["id"]] = model["at_position"]
        for one in model["extends"]:
            found[extended_name(model["id"], one["to"])] = one.get("at_position")
    return {name: position for name, position in found.items() if position}


def extended_name(hub_id: str, length: int) -> str:
    """A model with its maker's settings for so many positions."""
    return f"{hub_id}, to {length:,}"


def script(atlas: Atlas) -> bytes:
    """data/positions.js."""
    text = json.dumps(positions(atlas), ensure_ascii=False, separators=(",", ":"))
    return f"window.atlasPositions = {text};\n".encode()
