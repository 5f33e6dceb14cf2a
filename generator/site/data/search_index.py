"""The search index of a site with many checkpoints: browsers load it whole, so beyond a limit it
names their pages and leaves out what is on them.
"""

import json
from pathlib import Path
from typing import Any

MOST_BYTES = 5_000_000
# The script is for pages that were opened from disk.
FILE, SCRIPT = "search/search_index.json", "search/search_index.js"
BEFORE = "var __index = "  # As mkdocs-material's offline plugin writes it.


def limit(site: Path) -> None:
    """Shorten the index of ``site`` if it exceeds ``MOST_BYTES``; nothing for a site without
    search.
    """
    file, script = site / FILE, site / SCRIPT
    if not file.is_file() or file.stat().st_size <= MOST_BYTES:
        return
    index = json.loads(file.read_text(encoding="utf-8"))
    index["docs"] = [
        shortened for entry in index["docs"] if (shortened := _shortened(entry)) is not None
    ]
    text = json.dumps(index, separators=(",", ":"))
    file.write_text(text, encoding="utf-8")
    if script.is_file():
        script.write_text(BEFORE + text, encoding="utf-8")


def _shortened(entry: dict[str, Any]) -> dict[str, Any] | None:
    """The entry of a page; of a checkpoint's, its title alone; None for one of its sections."""
    page, _, section = entry["location"].partition("#")
    if not page.startswith("checkpoints/") or page == "checkpoints/index.html":
        return entry
    return None if section else {**entry, "text": ""}
