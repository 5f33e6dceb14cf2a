"""A folder to begin with: a list of checkpoints that needs no network, and a workflow that
publishes its site.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from generator import PROGRAM, ROOT, __version__
from generator.cli.terminal import Terminal

HERE = Path(__file__).parent
FILES = {
    "checkpoints.yml": "checkpoints.yml",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "site.yml": ".github/workflows/site.yml",
}
EXAMPLES = ("sinusoid", "llama-3.1-8b", "bloom-7b1")
SCHEMA = "checkpoints.schema.json"
WHOLE = f"{PROGRAM}[site]"


def requirement() -> str:
    """What pip installs to have this program elsewhere: from a repository at a commit, or from the
    address of a wheel, where it came from such a place; else by its version.
    """
    match origin():
        case {"url": str(url), "vcs_info": {"vcs": vcs, "commit_id": commit}} if is_public(url):
            return f"{WHOLE} @ {vcs}+{url}@{commit}"
        case {"url": str(url)} if is_public(url):
            return f"{WHOLE} @ {url}"
    return f"{WHOLE}=={__version__}"


def is_public(url: str) -> bool:
    """Whether others can reach an address, as far as it says so."""
    return url.startswith("https://")


def origin() -> dict[str, Any] | None:
    """Where pip found the program (PEP 610); None where that was an index, or is not known."""
    from importlib.metadata import PackageNotFoundError, distribution  # Help needs none.

    try:
        found = json.loads(distribution(PROGRAM).read_text("direct_url.json") or "null")
    except (PackageNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("url"), str) else None


def is_for(folders: Sequence[Path]) -> bool:
    """Whether ``folders`` are a single one that is empty or missing."""
    [folder, *others] = folders
    return not others and (not folder.exists() or (folder.is_dir() and not any(folder.iterdir())))


def write(folder: Path) -> None:
    """Fill ``folder``, which is empty, or made where it is missing.

    errors: OSError
    """
    for name, place in FILES.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            (HERE / name).read_text(encoding="utf-8").replace("REQUIREMENT", requirement()),
            encoding="utf-8",
        )
    shutil.copyfile(ROOT / SCHEMA, folder / SCHEMA)
    for example in EXAMPLES:
        shutil.copytree(ROOT / "references" / example, folder / "examples" / example)


def tell(terminal: Terminal, folder: Path) -> None:
    """Print what ``folder`` has now."""
    terminal.print(
        f"{folder}: checkpoints.yml lists three checkpoints; run 'position-atlas build' there to"
        " build their site"
    )
    came = origin()
    if came and not is_public(came["url"]):
        terminal.print(
            "The program was installed from this machine, where a workflow cannot find it. Set the"
            " repository variable POSITION_ATLAS to what pip should install there."
        )
