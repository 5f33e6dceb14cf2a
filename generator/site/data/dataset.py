"""The data as search engines for datasets know them (https://schema.org/Dataset), and what a site
says to robots.
"""

import json

from generator import PROGRAM
from generator.contracts import Atlas
from generator.contracts.wording import Wording
from generator.text import json_in_markup

WORDING = Wording("wording/site.jinja")
ROBOTS = "robots.txt"
LICENCE = "https://spdx.org/licenses/MIT"
MOST_LETTERS = 5000  # of a description, in search engines for datasets
FILES = (("atlas.json", "application/json"), ("metrics.csv", "text/csv"))


def described(atlas: Atlas) -> str:
    """JSON-LD of the data, for a script element of a page."""
    names = [outcome.checkpoint.title for outcome in atlas.outcomes if outcome.readings]
    description = WORDING("dataset", names=names)
    document = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": WORDING("dataset_title"),
        "description": description[:MOST_LETTERS],
        "license": LICENCE,
        "isAccessibleForFree": True,
        "creator": {"@type": "Organization", "name": "The Position Atlas developers"},
        "version": atlas.versions.get(PROGRAM),
        "dateModified": atlas.date,
        "url": atlas.address and f"{atlas.address}data/index.html",
        "distribution": [
            {
                "@type": "DataDownload",
                "contentUrl": f"{atlas.address or '../'}data/{name}",
                "encodingFormat": kind,
            }
            for name, kind in FILES
        ],
    }
    known = {key: value for key, value in document.items() if value is not None}
    return json_in_markup(json.dumps(known))


def robots(atlas: Atlas) -> bytes:
    """robots.txt."""
    where = f"Sitemap: {atlas.address}sitemap.xml\n" if atlas.address else ""
    return f"User-agent: *\nAllow: /\n{where}".encode()
