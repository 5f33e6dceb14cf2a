"""What the page on one position computes from, for every published model with rotations."""

import json

from generator.contracts import Atlas
from generator.site.at_position import PositionOfModel
from generator.site.data.models import records


def positions(atlas: Atlas) -> dict[str, PositionOfModel]:
    """What models.json has of them, by their ids in order."""
    models = sorted(records(atlas), key=lambda model: model["id"].lower())
    return {model["id"]: model["at_position"] for model in models if model["at_position"]}


def script(atlas: Atlas) -> bytes:
    """data/positions.js."""
    text = json.dumps(positions(atlas), ensure_ascii=False, separators=(",", ":"))
    return f"window.atlasPositions = {text};\n".encode()
