"""The search index, which browsers load whole: other names of a page stand with the page alone, and
so does the title of a page that is no model's, since parts of models' names outweigh other titles.
For a site with many checkpoints it names their pages and leaves out what is on them.
"""

import json
from pathlib import Path
from typing import Any

MOST_BYTES = 5_000_000
# The script is for pages that were opened from disk.
FILE, SCRIPT = "search/search_index.json", "search/search_index.js"
ENTRIES = "docs"
NAMES = "tags"  # Names of a page, as the front matter has them.
# Folders whose pages are of models, and one where those with names of their own are.
OF_MODELS, SOME_OF_MODELS = ("checkpoints/", "runs/"), "models/"
BEFORE = "var __index = "  # As mkdocs-material's offline plugin writes it.


def finish(site: Path) -> None:
    """Write the index of ``site`` anew, shortened if it exceeds ``MOST_BYTES``; nothing for a site
    without search.
    """
    file, script = site / FILE, site / SCRIPT
    if not file.is_file():
        return
    index = json.loads(file.read_text(encoding="utf-8"))
    index[ENTRIES] = [_named(entry) for entry in index[ENTRIES]]
    if len(text := _encoded(index)) > MOST_BYTES:
        index[ENTRIES] = [
            shortened for entry in index[ENTRIES] if (shortened := _shortened(entry)) is not None
        ]
        text = _encoded(index)
    file.write_text(text, encoding="utf-8")
    if script.is_file():
        script.write_text(BEFORE + text, encoding="utf-8")


def _encoded(index: dict[str, Any]) -> str:
    return json.dumps(index, separators=(",", ":"))


def _named(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry of a section without the names of its page; that of a page with its title among
    them, unless it is a model's.
    """
    if "#" in entry["location"]:
        return {name: value for name, value in entry.items() if name != NAMES}
    place = entry["location"]
    is_of_model = place.startswith(OF_MODELS) and not place.endswith("/index.html")
    if is_of_model or (place.startswith(SOME_OF_MODELS) and NAMES in entry):
        return entry
    return {**entry, NAMES: list(dict.fromkeys([*entry.get(NAMES, ()), entry["title"]]))}


def _shortened(entry: dict[str, Any]) -> dict[str, Any] | None:
    """The entry of a page; of a checkpoint's, its title alone; None for one of its sections."""
    page, _, section = entry["location"].partition("#")
    if not page.startswith("checkpoints/") or page == "checkpoints/index.html":
        return entry
    return None if section else {**entry, "text": ""}
