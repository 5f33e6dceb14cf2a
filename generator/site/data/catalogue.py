"""What the filter of a list of checkpoints finds on its other pages."""

import json

from generator.contracts import Atlas


def script(atlas: Atlas) -> bytes:
    """data/catalogue.js: name in addresses, title, family and titles of schemes, of every
    checkpoint.
    """
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    found = []
    for outcome in atlas.outcomes:
        records = [*(reading.encoding for reading in outcome.readings), *outcome.unmeasured]
        schemes = dict.fromkeys(titles.get(record.scheme, record.scheme) for record in records)
        checkpoint = outcome.checkpoint
        found.append([checkpoint.slug, checkpoint.title, outcome.family, list(schemes)])
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"window.atlasCatalogue = {text};\n".encode()
