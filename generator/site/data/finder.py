"""What the box on the front page finds: pages of guests, and measured checkpoints beside them."""

import json

from generator.contracts import Atlas

PATH = "data/find.js"


def script(atlas: Atlas) -> bytes:
    """data/find.js: names or ids, families, the paths of their pages, and sizes as 7B, "" where
    that is not known; of a model with two pages, the one with its measures first.
    """
    named = [page for guest in atlas.guests for page in guest.named(atlas)]
    families = {name: family for name, family, *_ in named}
    measured = []
    for one in atlas.outcomes:
        original = one.checkpoint.original
        model = original if original in families else one.checkpoint.model
        page = f"checkpoints/{one.checkpoint.slug}.html"
        if model not in families:
            measured.append((one.checkpoint.title, one.family, page, ""))
        elif one.readings:
            measured.append((model, families[model], page, ""))
    text = json.dumps([*measured, *named], separators=(",", ":"))
    return f"window.atlasModelNames = {text};\n".encode()
