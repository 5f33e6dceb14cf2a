"""Builds of the default list after small changes, in processor time relative to ``mkdocs build`` of
the same pages; without a Hub.

python -m benchmarks.changes
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copytree, rmtree
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from ruamel.yaml import YAML

from benchmarks.measured import measure, mkdocs_command, print_line
from tests.synthetic import write_list

ROOT = Path(__file__).parent.parent
TIMES = 3
NO_HUB = {"HF_ENDPOINT": "http://127.0.0.1:9", "NO_MKDOCS_2_WARNING": "1"}
PATHS = ("folder", "config", "run")  # Options of a row that are relative to the list.
SHAPE = {
    "hidden_size": 2048,
    "num_attention_heads": 32,
    "num_hidden_layers": 16,
    "max_position_embeddings": 8192,
}
NEW = {"model_type": "llama", **SHAPE, "rope_theta": 5e5}
REMOVED = slice(5, 8)  # Three rows that are reached.
Rows = Sequence[dict[str, Any]]


def main() -> None:
    """Print a table of medians."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rows = [
            {key: str(ROOT / value) if key in PATHS else value for key, value in row.items()}
            for row in _listed()
        ]
        (folder / "new").mkdir()
        (folder / "new/config.json").write_text(json.dumps(NEW), encoding="utf-8")
        lists: dict[str, Rows] = {
            "one rotary row more": [*rows, {"folder": "new", "title": "A new rotation"}],
            "three rows less": [*rows[: REMOVED.start], *rows[REMOVED.stop :]],
        }
        _build(folder, rows, "out")
        plain = median(measure(mkdocs_command(folder), NO_HUB, folder).busy for _ in range(TIMES))
        print_line(
            "| build | processor seconds | × mkdocs |\n| --- | --: | --: |\n| mkdocs build |"
            f" {plain:.2f} | |"
        )
        _print("no changes", median(_build(folder, rows, "out") for _ in range(TIMES)), plain)
        for name, changed in lists.items():
            _print(name, median(_change(folder, rows, changed) for _ in range(TIMES)), plain)


def _print(name: str, busy: float, plain: float) -> None:
    print_line(f"| {name} | {busy:.2f} | {busy / plain:.2f} |")


def _listed() -> Rows:
    rows: Rows = YAML(typ="safe").load(ROOT / "checkpoints.yml")["checkpoints"]
    return rows


def _change(folder: Path, rows: Rows, changed: Rows) -> float:
    """Processor seconds of a build of ``changed`` after one of ``rows``."""
    copytree(folder / "out", folder / "changed")
    try:
        _build(folder, rows, "changed")  # Copies are new files to it, which it reads once.
        return _build(folder, changed, "changed")
    finally:
        rmtree(folder / "changed")


def _build(folder: Path, rows: Rows, output: str) -> float:
    write_list(folder, rows)
    config, place = str(folder / "checkpoints.yml"), str(folder / output)
    return measure(
        [sys.executable, "-m", "generator", "build", "--config", config, "--output", place],
        NO_HUB,
        ROOT,
    ).busy


if __name__ == "__main__":
    main()
