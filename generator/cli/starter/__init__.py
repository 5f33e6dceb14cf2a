"""A folder to begin with: a list of checkpoints that needs no network, and a workflow that
publishes its site.
"""

import shutil
from pathlib import Path

from generator import __version__
from generator.errors import RefusedError
from generator.resources import ROOT

HERE = Path(__file__).parent
FILES = {
    "checkpoints.yml": "checkpoints.yml",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "site.yml": ".github/workflows/site.yml",
}
EXAMPLES = ("sinusoid", "llama-3.1-8b", "bloom-7b1")
SCHEMA = "checkpoints.schema.json"


def write(folder: Path) -> None:
    """Fill ``folder``, which is made where it is missing.

    errors: RefusedError when it is a file, or has files; OSError
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RefusedError(f"{folder}: found files; expected an empty folder, or none")
    for name, place in FILES.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            (HERE / name).read_text(encoding="utf-8").replace("VERSION", __version__),
            encoding="utf-8",
        )
    shutil.copyfile(ROOT / SCHEMA, folder / SCHEMA)
    for example in EXAMPLES:
        shutil.copytree(ROOT / "references" / example, folder / "examples" / example)
