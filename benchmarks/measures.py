"""Processor time of each analysis of a position table, on one thread, compared with one singular
value decomposition of it.

`python -m benchmarks.measures` prints a line per analysis; `--shape 512 768` sets the shape of the
table, `--only` selects analyses.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from generator.contracts import Encoding, Provenance, Subject
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.numerics.arrays import Floats, frozen
from generator.pipeline.evaluate import all_analyses

TIMES = 3
CORRELATION = 0.7  # Weight of a vector in the next one; the rest is noise.


def drifting(n_positions: int, d_model: int) -> Floats:
    """An autoregressive walk: a table of full rank with similar neighbours, like learned ones, the
    same on every run.

    returns: (n_positions, d_model)
    """
    steps = np.random.default_rng(0).normal(0.0, 0.02, (n_positions, d_model))
    rows = [steps[0]]
    for step in steps[1:]:
        rows.append(CORRELATION * rows[-1] + step)
    return frozen(rows)


def seconds(work: Callable[[], object]) -> float:
    """Processor time of ``work``, the minimum of ``TIMES`` runs."""
    times = []
    for _ in range(TIMES):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def costs(vectors: Floats, only: list[str]) -> Mapping[str, float]:
    """Seconds of each analysis of tables, by key. Every run has a new form, so that nothing is
    cached.

    vectors: (n_positions, d_model)
    """

    def run(compute: Callable[[Subject[PositionTable]], object]) -> None:
        try:
            compute(
                Subject(Encoding("decoder", "a benchmark", PositionTable(vectors), Provenance("")))
            )
        except NotApplicableError:
            return

    selected = [
        analysis
        for analysis in all_analyses()
        if PositionTable in analysis.forms and (not only or analysis.key in only)
    ]
    return {analysis.key: seconds(partial(run, analysis.compute)) for analysis in selected}


def main() -> None:
    """Print the table of costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--shape", type=int, nargs=2, default=(1024, 768), metavar=("POSITIONS", "DIMENSIONS")
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="KEY")
    arguments = parser.parse_args()
    vectors = drifting(*arguments.shape)
    with threadpool_limits(1):
        one_svd = seconds(lambda: np.linalg.svd(vectors, full_matrices=False))
        seconds_by_key = costs(vectors, arguments.only)
    total = sum(seconds_by_key.values())
    lines = [f"{'analysis':<20}{'seconds':>10}{'share':>8}{'÷ SVD':>8}"]
    for key, cost in sorted(seconds_by_key.items(), key=lambda item: -item[1]):
        lines.append(f"{key:<20}{cost:>10.3f}{100 * cost / total:>7.1f}%{cost / one_svd:>8.2f}")
    lines.append(f"{'all':<20}{total:>10.3f}{100.0:>7.1f}%{total / one_svd:>8.2f}")
    lines.append(
        f"One SVD of the table of {arguments.shape[0]} × {arguments.shape[1]} takes {one_svd:.3f}"
        " seconds."
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
