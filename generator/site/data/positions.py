"""What the page on one position computes from, for every published model with rotations."""

import json

from generator.contracts import Atlas
from generator.site.at_position import AtPosition, panel_of
from generator.site.data.models import records


def panels(atlas: Atlas) -> dict[str, AtPosition]:
    """The panels of models, by their ids in order."""
    models = sorted(records(atlas), key=lambda model: model["id"].lower())
    return {model["id"]: panel_of(model["at_position"]) for model in models if model["at_position"]}


def script(atlas: Atlas) -> bytes:
    """data/positions.js."""
    models = {model["id"]: model["at_position"] for model in records(atlas)}
    found = {hub_id: models[hub_id] for hub_id in panels(atlas)}
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"window.atlasPositions = {text};\n".encode()
