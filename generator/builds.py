"""One build from tasks to a site, or nothing at all where nothing has changed since the last."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from generator import __version__, discovery, fingerprint, pages, study
from generator.contracts import Atlas, Outcome, PageKind
from generator.site import html, render, write
from generator.store import Store

ROOT = Path(__file__).parent.parent
TEMPLATES, SITE_SRC, MKDOCS = ROOT / "templates", ROOT / "site_src", ROOT / "mkdocs.yml"
SOURCES = (ROOT / "generator", TEMPLATES, SITE_SRC, MKDOCS)  # What a site depends on beside its checkpoints.
LIBRARIES = ("torch", "transformers", "numpy", "scikit-learn", "matplotlib", "mkdocs-material")
STATUSES = ("ok", "failed", "not reached")
NOTE = ".built.json"


def build(tasks: Sequence[study.Task], folder: Path, jobs: int, fresh: bool, tell: Callable[[Outcome], None]) -> Mapping[str, int]:
    """Docs and site of ``tasks`` in ``folder``; how many checkpoints have each status.

    fresh: build even where the last build was of the same
    """
    code = fingerprint.of_parts((fingerprint.of_contents((ROOT / "generator",)), _versions()))
    keys = study.keys(tasks, code)
    whole = None if None in keys else fingerprint.of_parts((keys, fingerprint.of_contents(SOURCES), _commit_time()))
    noted = {} if fresh else _noted(folder)
    if whole is None or noted.get("key") != whole:
        kept = Store(folder / "store")
        kept.keep(set() if fresh else {key for key in keys if key})
        outcomes = study.run(dict(zip(tasks, keys, strict=True)), jobs, kept, tell)
        counts = Counter(str(outcome.status) for outcome in outcomes)
        noted = {"key": None if counts["failed"] else whole, "counts": {status: counts[status] for status in STATUSES}}
        _publish(_atlas(outcomes), folder, noted)
    counted: dict[str, int] = noted["counts"]
    return counted


def _publish(atlas: Atlas, folder: Path, note: dict[str, Any]) -> None:
    every_page = [page for kind in discovery.load(pages, PageKind) for page in kind.pages(atlas)]
    tree = render.render(atlas, every_page, TEMPLATES, SITE_SRC)
    (folder / NOTE).unlink(missing_ok=True)
    write.write(tree, folder / "docs")
    html.build(MKDOCS, folder / "docs", folder / "site", _commit_time())
    (folder / NOTE).write_text(json.dumps(note), encoding="utf-8")


def _atlas(outcomes: tuple[Outcome, ...]) -> Atlas:
    seconds = _commit_time()
    date = None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
    return Atlas(outcomes, study.all_analyses(), study.all_schemes(), _versions(), date)


def _noted(folder: Path) -> dict[str, Any]:
    """What the last build noted of itself, if its site still stands."""
    try:
        noted = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    stands = (folder / "site").is_dir() and (folder / "docs").is_dir()
    return noted if stands and isinstance(noted, dict) and isinstance(noted.get("counts"), dict) else {}


def _versions() -> dict[str, str]:
    return {"position-atlas": __version__, **{library: version(library) for library in LIBRARIES}}


def _commit_time() -> int | None:
    """When the sources last changed: the same on every day that they are built. SOURCE_DATE_EPOCH goes first."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
