"""What the box on the front page finds: pages of guests, and measured checkpoints beside them."""

import json

from generator.contracts import Atlas

PATH = "data/find.js"


def script(atlas: Atlas) -> bytes:
    """data/find.js: names or ids, families, and the paths of their pages."""
    named = [page for guest in atlas.guests for page in guest.named(atlas)]
    known = {name for name, _, _ in named}
    measured = [
        (outcome.checkpoint.title, outcome.family, f"checkpoints/{outcome.checkpoint.slug}.html")
        for outcome in atlas.outcomes
        if outcome.checkpoint.model not in known
    ]
    text = json.dumps([*named, *measured], separators=(",", ":"))
    return f"window.atlasModelNames = {text};\n".encode()


def pages_of(atlas: Atlas, name: str) -> dict[str, str]:
    """Addresses of the pages of guests with this name, by the key of the guest."""
    return {
        guest.key: address
        for guest in atlas.guests
        for other, _, address in guest.named(atlas)
        if other == name
    }
