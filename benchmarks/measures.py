"""What the measures of a position table cost: the processor time of each analysis on one thread, beside one decomposition of the table.

`python -m benchmarks.measures` prints a line for each; `--shape 512 768` takes another table than 1024 × 768, `--only` some analyses alone.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np
from threadpoolctl import threadpool_limits

from generator.contracts import Encoding, Provenance, Subject
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.numerics.arrays import Floats, frozen
from generator.pipeline.evaluate import all_analyses

TIMES = 3
KEPT = 0.7  # Of a vector, how much goes into the next one; the rest is noise.


def drifting(n_positions: int, d_model: int) -> Floats:
    """A table of full rank whose neighbours are alike, as learned ones are: a walk that forgets, the same on every run."""
    steps = np.random.default_rng(0).normal(0.0, 0.02, (n_positions, d_model))
    rows = [steps[0]]
    for step in steps[1:]:
        rows.append(KEPT * rows[-1] + step)
    return frozen(rows)


def seconds(work: Callable[[], object]) -> float:
    """Processor time of ``work``, the least of three runs."""
    found = []
    for _ in range(TIMES):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def costs(vectors: Floats, only: list[str]) -> Mapping[str, float]:
    """Seconds of each analysis that a table has, by key. Each run gets a form of its own, so that nothing is remembered."""

    def ask(compute: Callable[[Subject[PositionTable]], object]) -> None:
        try:
            compute(Subject(Encoding("decoder", "a benchmark", PositionTable(vectors), Provenance(""))))
        except NotApplicableError:
            return

    asked = [analysis for analysis in all_analyses() if PositionTable in analysis.forms and (not only or analysis.key in only)]
    return {analysis.key: seconds(lambda compute=analysis.compute: ask(compute)) for analysis in asked}  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs=2, default=(1024, 768), metavar=("POSITIONS", "DIMENSIONS"))
    parser.add_argument("--only", nargs="+", default=[], metavar="KEY")
    asked = parser.parse_args()
    vectors = drifting(*asked.shape)
    with threadpool_limits(1):
        one = seconds(lambda: np.linalg.svd(vectors, full_matrices=False))
        found = costs(vectors, asked.only)
    whole = sum(found.values())
    lines = [f"{'analysis':<20}{'seconds':>10}{'share':>8}{'÷ SVD':>8}"]
    for key, spent in sorted(found.items(), key=lambda item: -item[1]):
        lines.append(f"{key:<20}{spent:>10.3f}{100 * spent / whole:>7.1f}%{spent / one:>8.2f}")
    lines.append(f"{'all':<20}{whole:>10.3f}{100.0:>7.1f}%{whole / one:>8.2f}")
    lines.append(f"One SVD of the table of {asked.shape[0]} × {asked.shape[1]} takes {one:.3f} seconds.")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
