"""What the box on the front page finds: published configs, and measured checkpoints beside them."""

import json

from generator.contracts import Atlas
from generator.site.data.models import page_of, records

PATH = "data/find.js"


def script(atlas: Atlas) -> bytes:
    """data/find.js: names or ids, families, and the paths of their pages."""
    models = records(atlas)
    known = {model["id"] for model in models}
    measured = [
        (outcome.checkpoint.title, outcome.family, f"checkpoints/{outcome.checkpoint.slug}.html")
        for outcome in atlas.outcomes
        if outcome.checkpoint.model not in known
    ]
    names = [
        *(
            (model["id"], model["model_type"] or "", page_of(model["id"], ".html"))
            for model in models
        ),
        *measured,
    ]
    text = json.dumps(names, separators=(",", ":"))
    return f"window.atlasModelNames = {text};\n".encode()
