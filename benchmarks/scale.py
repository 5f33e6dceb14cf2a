"""Builds of many checkpoints of real sizes: time, memory and bytes; then builds after single
changes.

python -m benchmarks.scale [--keep FOLDER] [number of checkpoints ...]

With --keep, what was built for the last number stays, for benchmarks.browsing.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import move
from tempfile import TemporaryDirectory
from time import time

import numpy as np
from safetensors.numpy import save_file

from benchmarks.measured import Cost, measure, mkdocs_command, print_line
from benchmarks.mix import MIX
from generator.cache import fingerprint
from generator.checkpoints import list_file
from generator.contracts import Label, Metric, Result
from generator.figures.style import series_colour
from generator.numerics.arrays import Array
from generator.pipeline import keys, plan, versions
from generator.pipeline.result_store import ResultStore, packed
from tests.synthetic import write_list

ROOT = Path(__file__).parent.parent
COUNTS = (200,)
AIM = 10_000  # checkpoints, to whose bytes those of a build are extrapolated
EVALUATED = len(MIX)
MOST_PAGE_BYTES = 60_000
FOLDERS = ("docs", "site", "store", "site/data", "site/figures", "site/checkpoints")
ARRAYS = "site/data, arrays alone"
NO_HUB = {"HF_ENDPOINT": "http://127.0.0.1:9"}


def main(counts: list[int], keep: Path | None) -> None:
    """Print a table, bytes by folder, and the pages that exceed ``MOST_PAGE_BYTES``."""
    print_line(
        "| checkpoints | build | seconds | processor seconds | MB of the main process | MB of all |"
        " pages | rebuilt | largest page, kB |"
    )
    print_line("| --: | --- | --: | --: | --: | --: | --: | --: | --: |")
    for count in counts:
        with TemporaryDirectory() as temporary:
            folder = Path(temporary) / "work"
            folder.mkdir()
            rows = [_row(folder, index) for index in range(count)]
            sizes: list[tuple[int, dict[str, int]]] = []
            for name, n_listed in _changes(folder, rows):
                started = time()
                cost = measure(_command(folder), NO_HUB, ROOT)
                print_line(_line(n_listed, name, cost, folder, started))
                by_kind = {kind: _bytes(folder / "out" / kind) for kind in FOLDERS}
                sizes.append(
                    (n_listed, {**by_kind, ARRAYS: _bytes(folder / "out/site/data", "*.npz")})
                )
                if name == "no changes":
                    plain = measure(mkdocs_command(folder), NO_HUB, folder)
                    print_line(_line(n_listed, "mkdocs build alone", plain, folder, time()))
            _print_bytes(*sizes[:2])
            large = [
                page
                for page in (folder / "out/site").rglob("*.html")
                if page.stat().st_size > MOST_PAGE_BYTES
            ]
            for page in sorted(large, key=lambda page: -page.stat().st_size)[:8]:
                print_line(
                    f"  {page.relative_to(folder / 'out/site')}:"
                    f" {page.stat().st_size / 1e3:,.0f} kB"
                )
            files = sorted(
                (path for path in (folder / "out/site").rglob("*") if path.is_file()),
                key=lambda path: -path.stat().st_size,
            )
            print_line(
                "largest files: "
                + ", ".join(
                    f"{path.name} {path.stat().st_size / 1e6:,.1f} MB" for path in files[:4]
                )
            )
            if keep is not None and count == counts[-1]:
                move(folder, keep)


def _bytes(folder: Path, pattern: str = "*") -> int:
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())


def _print_bytes(fewer: tuple[int, dict[str, int]], more: tuple[int, dict[str, int]]) -> None:
    """Print megabytes by folder of two builds, and by what they differ from each other those of
    ``AIM`` checkpoints.
    """
    print_line(
        f"\n| folder | MB of {fewer[0]:,} | MB of {more[0]:,} | MB a checkpoint | GB of {AIM:,} |"
    )
    print_line("| --- | --: | --: | --: | --: |")
    for kind, size in more[1].items():
        each = (
            (size - fewer[1][kind]) / (more[0] - fewer[0]) if more[0] > fewer[0] else size / more[0]
        )
        total = size + (AIM - more[0]) * each
        print_line(
            f"| {kind} | {fewer[1][kind] / 1e6:,.0f} | {size / 1e6:,.0f} | {each / 1e6:.2f} |"
            f" {total / 1e9:.1f} |"
        )


def _changes(folder: Path, rows: list[dict[str, object]]) -> Iterator[tuple[str, int]]:
    """Make one change after another: its name, and the number of checkpoints listed for the build
    that follows.
    """
    write_list(folder, rows[:EVALUATED])
    yield "all evaluated", min(EVALUATED, len(rows))
    write_list(folder, rows)
    _fill(folder)
    yield "all from the store", len(rows)
    yield "no changes", len(rows)
    _row(folder, next(index for index, kind in enumerate(MIX) if kind.tensors), seed=len(rows))
    yield "one checkpoint changed", len(rows)
    write_list(folder, rows[:-1])
    yield "one row less", len(rows) - 1


def _fill(folder: Path) -> None:
    """Store under the key of every checkpoint the outcome of an evaluated one of the same kind."""
    tasks = plan.plan(list_file.load(folder / "checkpoints.yml", plan.all_sources()), offline=False)
    store = ResultStore(folder / "out/store")
    known = keys.Keys(store.drawings, fingerprint.of_file, versions.evaluation())
    by_index = {int(task.checkpoint.title.split()[1]): task for task in tasks}
    for index, task in by_index.items():
        outcome = store.get(str(known.of(by_index[index % EVALUATED])))
        if index >= EVALUATED and outcome is not None:
            label = Label(task.checkpoint.title, series_colour(task.checkpoint.slug))
            readings = tuple(
                replace(reading, label=label, results=_near(reading.results, index))
                for reading in outcome.readings
            )
            like = replace(outcome, checkpoint=task.checkpoint, readings=readings)
            keys.note_questions(store.drawings, like)
            store.put(str(known.of(task)), packed(like))


def _near(results: Mapping[str, Result], index: int) -> dict[str, Result]:
    """The results with other values, as those of another checkpoint would be."""
    random = np.random.default_rng(index)

    def other(metric: Metric) -> Metric:
        return (
            metric
            if metric.value is None
            else replace(metric, value=metric.value * random.normal(1.0, 0.1))
        )

    return {
        key: replace(result, metrics=tuple(map(other, result.metrics)))
        for key, result in results.items()
    }


def _row(folder: Path, index: int, seed: int | None = None) -> dict[str, object]:
    """The row of a new checkpoint in ``folder``, of a kind of ``MIX``."""
    path = folder / f"c{index}"
    path.mkdir(exist_ok=True)
    random = np.random.default_rng(index if seed is None else seed)
    kind = MIX[index % len(MIX)]
    (path / "config.json").write_text(json.dumps(kind.config), encoding="utf-8")
    if kind.tensors:
        weights: dict[str, Array] = {
            name: random.standard_normal(shape, dtype=np.float32).astype(kind.dtype)
            for name, shape in kind.tensors.items()
        }
        save_file(weights, path / "model.safetensors")
    return {
        "folder": path.name,
        "title": f"Checkpoint {index}",
        "group": f"Group {index % 7}",
        "sentence": [1, 2, 3, 4],
    }


def _command(folder: Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "generator",
        "build",
        "--config",
        str(folder / "checkpoints.yml"),
        "--output",
        str(folder / "out"),
    ]


def _line(count: int, name: str, cost: Cost, folder: Path, started: float) -> str:
    """A row of the table."""
    pages = [page.stat() for page in (folder / "out/site").rglob("*.html")]
    anew = sum(page.st_mtime >= started for page in pages)
    numbers = (
        cost.seconds,
        cost.busy,
        cost.main / 1e6,
        cost.peak / 1e6,
        len(pages),
        anew,
        max(page.st_size for page in pages) / 1e3,
    )
    cells = " | ".join(
        f"{number:,.{digits}f}"
        for number, digits in zip(numbers, (1, 1, 0, 0, 0, 0, 0), strict=True)
    )
    return f"| {count:,} | {name} | {cells} |"


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--keep", type=Path)
    parser.add_argument("counts", type=int, nargs="*", default=COUNTS)
    given = parser.parse_args()
    main(given.counts, given.keep)
