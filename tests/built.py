"""The site of the default list, built once for all tests that look at it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def build(output: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a build of the default list as a user would, with a Hub that nobody answers at."""
    hub = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(output.parent / "hub"), "SOURCE_DATE_EPOCH": "1700000000"}
    command = [sys.executable, "-m", "generator", "build", "--output", str(output), *options]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **hub, **environment}, capture_output=True, text=True, check=False)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder``."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
