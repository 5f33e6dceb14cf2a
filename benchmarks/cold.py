"""A first build of three full-size checkpoints against the notebooks' way, then a build with nothing new; from a Hub of ours on this machine.

python -m benchmarks.cold [megabytes a second that the Hub sends ...]

Without a number it is measured three times: as over a line of 100 Mbit/s, over one that brings whole models in a minute, and as fast as
this machine sends; each way three times in turns, of which the middle one is told.
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
from benchmarks.measured import Taken, print_line, taken
from tests.hub_server import Hub, Repository, serving
from tests.synthetic import write_list

ROOT = Path(__file__).parent.parent
COMMIT = "a" * 40
AS_FAST_AS_IT_GOES = math.inf
TIMES = 3
RATES = (12.5, 20.0, AS_FAST_AS_IT_GOES)


@dataclass(frozen=True)
class Way:
    """One way to the figures: what it took, what it had from the Hub, how many figures it made."""

    name: str
    took: Taken
    received: int
    figures: int

    def row(self) -> str:
        times = f"{self.took.seconds:.1f} | {self.took.busy:.1f}"
        return f"| {self.name} | {times} | {self.received / 1e6:,.2f} | {self.took.peak / 1e6:,.0f} | {self.figures} |"


def main(rates: Sequence[float]) -> None:
    """Print a table and the ratios for each rate."""
    with TemporaryDirectory() as place:
        files = published.write(Path(place) / "published")
        size = sum(path.stat().st_size for path in (Path(place) / "published").rglob("*") if path.is_file())
        print_line(f"{os.cpu_count()} cores; {size / 1e6:,.0f} MB published")
        for rate in rates:
            folders = [Path(place) / f"{rate} {time}" for time in range(TIMES)]
            with serving({name: Repository({COMMIT: _mapped(path)}, {"main": COMMIT}) for name, path in files.items()}) as hub:
                hub.rate = None if math.isinf(rate) else rate * 1e6
                ways = [(_atlas(folder, hub), _notebooks(folder, hub)) for folder in folders]
            again = [taken(_build(folder), _environment(folder / "ours", hub), ROOT).busy for folder in folders]
            plain = [taken(_mkdocs(folder), {"NO_MKDOCS_2_WARNING": "1"}, folder).busy for folder in folders]
            print_line(f"{rate:g} MB a second")
            _print(
                *(sorted(way, key=lambda one: one.took.seconds)[TIMES // 2] for way in zip(*ways, strict=True)),
                median(again),
                median(plain),
            )


def _atlas(folder: Path, hub: Hub) -> Way:
    folder.mkdir()
    write_list(folder, [{"hub": name, "revision": COMMIT, "sentence": published.SENTENCE} for name in published.CONFIGS])
    before = hub.sent
    took = taken(_build(folder), _environment(folder / "ours", hub), ROOT)
    return Way("Position Atlas", took, hub.sent - before, sum(1 for _ in (folder / "out/docs/figures").rglob("*.svg")))


def _notebooks(folder: Path, hub: Hub) -> Way:
    (folder / "figures").mkdir()
    before = hub.sent
    command = [sys.executable, "-m", "benchmarks.notebooks", str(folder / "figures"), *published.CONFIGS]
    took = taken(command, _environment(folder / "theirs", hub), ROOT)
    rmtree(folder / "theirs")  # A gigabyte that nobody asks for again.
    return Way("the notebooks' way", took, hub.sent - before, len(list((folder / "figures").iterdir())))


def _build(folder: Path) -> list[str]:
    return [sys.executable, "-m", "generator", "build", "--config", str(folder / "checkpoints.yml"), "--output", str(folder / "out")]


def _mkdocs(folder: Path) -> list[str]:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace("build/docs", "out/docs").replace("build/site", "plain")
    for own in ("templates/theme", "generator/site"):
        config = config.replace(own, str(ROOT / own))
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    return [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(folder / "mkdocs.yml")]


def _environment(home: Path, hub: Hub) -> dict[str, str]:
    fixed = {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    return {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(home), **fixed}


def _mapped(folder: Path) -> dict[str, bytes]:
    """Every file, mapped and not read. A map has what is asked of bytes here: a length and slices."""
    files = {}
    for path in folder.iterdir():
        with path.open("rb") as file:
            files[path.name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return files  # type: ignore[return-value]


def _print(ours: Way, theirs: Way, again: float, plain: float) -> None:
    lines = [
        "| way | seconds | of a processor | MB from the Hub | MB of memory | figures |",
        "| --- | --: | --: | --: | --: | --: |",
        ours.row(),
        theirs.row(),
        f"time ÷ {theirs.took.seconds / ours.took.seconds:.2f}, processor ÷ {theirs.took.busy / ours.took.busy:.2f}, "
        f"bytes × {ours.received / theirs.received:.4f}, memory × {ours.took.peak / theirs.took.peak:.2f}",
        f"nothing new: {again:.2f} s of a processor; mkdocs build alone: {plain:.2f} s; × {again / plain:.2f}",
    ]
    print_line("\n".join(lines))


if __name__ == "__main__":
    main([float(rate) for rate in sys.argv[1:]] or RATES)
