"""A first build of three full-size checkpoints compared with the notebooks, then a rebuild without
changes; from a local Hub.

python -m benchmarks.cold [megabytes per second that the Hub sends ...]

Without arguments it measures three rates: that of a line of 100 Mbit/s, one that transfers whole
models in a minute, and the fastest that this machine reaches. Each pair runs three times, in turns;
the median is reported.
"""

import math
import mmap
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import published
from benchmarks.measured import Cost, measure, mkdocs_command, print_line
from tests.hub_server import Hub, Repository, serving
from tests.synthetic import write_list

ROOT = Path(__file__).parent.parent
COMMIT = "a" * 40
AS_FAST_AS_IT_GOES = math.inf
TIMES = 3
RATES = (12.5, 20.0, AS_FAST_AS_IT_GOES)


@dataclass(frozen=True)
class Way:
    """One way to the figures: its cost, the bytes that it received from the Hub, and the number of
    its figures.
    """

    name: str
    cost: Cost
    received: int
    figures: int

    def row(self) -> str:
        """The row of the table."""
        times = f"{self.cost.seconds:.1f} | {self.cost.busy:.1f}"
        return (
            f"| {self.name} | {times} | {self.received / 1e6:,.2f} | {self.cost.peak / 1e6:,.0f} |"
            f" {self.figures} |"
        )


def main(rates: Sequence[float]) -> None:
    """Print a table and ratios for each rate."""
    with TemporaryDirectory() as temporary:
        files = published.write(Path(temporary) / "published")
        n_bytes = sum(
            path.stat().st_size
            for path in (Path(temporary) / "published").rglob("*")
            if path.is_file()
        )
        print_line(f"{os.cpu_count()} cores; {n_bytes / 1e6:,.0f} MB published")
        for rate in rates:
            folders = [Path(temporary) / f"{rate} {run}" for run in range(TIMES)]
            with serving(
                {
                    name: Repository({COMMIT: _mapped(path)}, {"main": COMMIT})
                    for name, path in files.items()
                }
            ) as hub:
                hub.rate = None if math.isinf(rate) else rate * 1e6
                ways = [(_atlas(folder, hub), _notebooks(folder, hub)) for folder in folders]
            again = [
                measure(_build(folder), _environment(folder / "ours", hub), ROOT).busy
                for folder in folders
            ]
            plain = [
                measure(mkdocs_command(folder), {"NO_MKDOCS_2_WARNING": "1"}, folder).busy
                for folder in folders
            ]
            print_line(f"{rate:g} MB a second")
            ours, theirs = (
                sorted(of_one_kind, key=lambda way: way.cost.seconds)[TIMES // 2]
                for of_one_kind in zip(*ways, strict=True)
            )
            _print(ours, theirs, median(again), median(plain))


def _atlas(folder: Path, hub: Hub) -> Way:
    """A build by the atlas into an empty folder."""
    folder.mkdir()
    write_list(
        folder,
        [
            {"hub": name, "revision": COMMIT, "sentence": published.SENTENCE}
            for name in published.CONFIGS
        ],
    )
    before = hub.sent
    cost = measure(_build(folder), _environment(folder / "ours", hub), ROOT)
    return Way(
        "Position Atlas",
        cost,
        hub.sent - before,
        sum(1 for _ in (folder / "out/docs/figures").rglob("*.svg")),
    )


def _notebooks(folder: Path, hub: Hub) -> Way:
    """The figures by the code of the notebooks, into an empty folder."""
    (folder / "figures").mkdir()
    before = hub.sent
    command = [
        sys.executable,
        "-m",
        "benchmarks.notebooks",
        str(folder / "figures"),
        *published.CONFIGS,
    ]
    cost = measure(command, _environment(folder / "theirs", hub), ROOT)
    rmtree(folder / "theirs")  # A gigabyte of downloads, not needed again.
    return Way("notebooks", cost, hub.sent - before, len(list((folder / "figures").iterdir())))


def _build(folder: Path) -> list[str]:
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


def _environment(home: Path, hub: Hub) -> dict[str, str]:
    fixed = {
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    return {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(home), **fixed}


def _mapped(folder: Path) -> dict[str, bytes]:
    """Every file as a memory map, which supports the length and slices that the server uses of
    bytes.
    """
    files = {}
    for path in folder.iterdir():
        with path.open("rb") as file:
            files[path.name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return files  # type: ignore[return-value]


def _print(ours: Way, theirs: Way, again: float, plain: float) -> None:
    lines = [
        "| method | seconds | processor seconds | MB from the Hub | MB of memory | figures |",
        "| --- | --: | --: | --: | --: | --: |",
        ours.row(),
        theirs.row(),
        (
            f"time ÷ {theirs.cost.seconds / ours.cost.seconds:.2f}, processor ÷"
            f" {theirs.cost.busy / ours.cost.busy:.2f}, bytes ×"
            f" {ours.received / theirs.received:.4f}, memory ×"
            f" {ours.cost.peak / theirs.cost.peak:.2f}"
        ),
        (
            f"no changes: {again:.2f} s of processor time; mkdocs build alone: {plain:.2f} s; ×"
            f" {again / plain:.2f}"
        ),
    ]
    print_line("\n".join(lines))


if __name__ == "__main__":
    main([float(rate) for rate in sys.argv[1:]] or RATES)
