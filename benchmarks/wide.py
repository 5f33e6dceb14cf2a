"""Memory and processor time of the evaluation of large position tables, each in a process of its
own.

python -m benchmarks.wide [positions×dimensions ...]
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from safetensors.numpy import save_file

from benchmarks.measured import print_line
from generator.cache.blobs import BlobCache
from generator.checkpoints import list_file
from generator.pipeline import evaluate, local_pool, plan
from generator.pipeline.executor import Executor
from generator.pipeline.references import References
from tests.synthetic import write_list

SIZES = ("1024x768", "2048x12288", "131072x512", "4096x4096", "8192x6144")
BESIDE = 300e6  # bytes that a study may take beside four times its table in float64
WORDS = 50
MOST_SECONDS = 3600.0


def main(sizes: list[str]) -> None:
    """Print a table: two evaluations of each size, the second with the sinusoid's results from the
    cache.
    """
    print_line(
        "| table | MB in float64 | goal, MB | sinusoid | MB of the study | MB with the libraries |"
        " processor seconds | metrics |"
    )
    print_line("| --- | --: | --: | --- | --: | --: | --: | --: |")
    for size in sizes:
        n_positions, d_model = map(int, size.split("x"))
        with TemporaryDirectory() as temporary:
            row = _write(Path(temporary), n_positions, d_model)
            for sinusoid in ("computed", "cached"):
                with local_pool.processes(
                    1, jobs=1, limits=local_pool.Limits(processor=MOST_SECONDS)
                ) as pool:
                    numbers = _in(pool, row)
                table = 8 * n_positions * d_model
                texts = [f"{number / 1e6:,.0f}" for number in (table, 4 * table + BESIDE)]
                print_line(
                    f"| {n_positions:,} × {d_model:,} | {' | '.join(texts)} | {sinusoid} |"
                    f" {' | '.join(numbers)} |"
                )


def _in(pool: Executor, row: Path) -> list[str]:
    own, whole, seconds, n_metrics = pool.submit(study, row).result()
    return [f"{own / 1e6:,.0f}", f"{whole / 1e6:,.0f}", f"{seconds:.1f}", f"{n_metrics}"]


def study(row: Path) -> tuple[int, int, float, int]:
    """Evaluate the checkpoint of a list: peak memory in bytes beyond what the process had before,
    and in all; processor seconds; metrics.
    """
    [task] = plan.plan(list_file.load(row, plan.all_sources()), offline=True)
    before, begun = _status("VmRSS"), process_time()
    outcome = evaluate.evaluate(task, References(BlobCache(row.parent / "references")))
    metrics = [
        metric
        for reading in outcome.readings
        for result in reading.results.values()
        for metric in result.metrics
    ]
    return (
        _status("VmHWM") - before,
        _status("VmHWM"),
        process_time() - begun,
        sum(metric.value is not None for metric in metrics),
    )


def _status(name: str) -> int:
    """A figure of this process, in bytes: VmRSS is its memory, VmHWM the most that it had. Linux
    only.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def _write(folder: Path, n_positions: int, d_model: int) -> Path:
    """A GPT-2 with random numbers, and a list with it alone."""
    random, path = np.random.default_rng(0), folder / "row"
    path.mkdir()
    shapes = {"wpe.weight": (n_positions, d_model), "wte.weight": (WORDS, d_model)}
    save_file(
        {name: random.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()},
        path / "model.safetensors",
    )
    config = {
        "model_type": "gpt2",
        "n_positions": n_positions,
        "n_embd": d_model,
        "n_layer": 2,
        "n_head": d_model // 64,
    }
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return write_list(folder, [{"folder": path.name, "sentence": [1, 2, 3, 4]}])


if __name__ == "__main__":
    main(sys.argv[1:] or list(SIZES))
