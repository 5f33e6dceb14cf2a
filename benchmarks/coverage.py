"""Coverage of model types: the encodings that the atlas finds, compared with those in the modules
of every model of transformers.

`python -m benchmarks.coverage` prints a row per model type; `--only bert t5` selects types.
"""

import argparse
import hashlib
import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import models, oracle
from generator.checkpoints.model.stacks import resolved
from generator.contracts import Json, ModelConfig, TensorInfo
from generator.errors import RowError
from generator.numerics.arrays import Floats
from generator.reading.find import find

SECONDS = 60
MOST_VALUES = 2**27
# The oracle's name for each scheme. Whether a table is a sinusoid depends on its values, which are
# missing here.
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("learned", "sinusoidal", "axial", "layout"), "table"),
    **dict.fromkeys(("rotary", "rotary_2d"), "rotation"),
    **dict.fromkeys(("deberta", "shaw", "transformer_xl"), "offset vectors"),
    "t5_bias": "buckets",
    "alibi": "slopes",
    "decay": "decay",
    "window_bias": "window bias",
}  # fmt: skip
BESIDE = frozenset({"none", "sink", "temperature"})  # No encodings of position.


class MetaFiles:
    """``contracts.Files`` of a model on the meta device, with small random values, the same on
    every run.
    """

    where, revision = "meta", None

    def __init__(self, config: Json, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.config = ModelConfig(config, self.where)
        self.resolved = resolved(self.config)
        self.tensors = {
            name: TensorInfo("model.safetensors", "F32", shape) for name, shape in shapes.items()
        }

    def tensor(self, name: str) -> Floats:
        """Random values of the shape of the tensor (…,)."""
        shape = self.tensors[name].shape
        if np.prod(shape, dtype=float) > MOST_VALUES:
            raise MemoryError(f"{name} of shape {shape}")
        return self._draws(name).normal(0.0, 0.02, shape)

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        """Random rows: (len(indices), …), the remaining axes as in the tensor."""
        return self._draws(name).normal(0.0, 0.02, (len(indices), *self.tensors[name].shape[1:]))

    def sha256(self, name: str) -> str:
        return hashlib.sha256(name.encode()).hexdigest()

    def notes(self, name: str) -> tuple[str, ...]:  # noqa: ARG002 (no tensor has any)
        return ()

    def read(self, name: str) -> bytes | None:  # noqa: ARG002 (there are no other files)
        return None

    def _draws(self, name: str) -> np.random.Generator:
        return np.random.default_rng(int(self.sha256(name)[:8], 16))


@dataclass(frozen=True)
class Row:
    """The result of one case; ``problem`` if it could not be compared."""

    case: str
    atlas: frozenset[str] = frozenset()
    oracle: frozenset[str] = frozenset()
    problem: str = ""

    @property
    def agree(self) -> bool:
        """Whether both find the same kinds."""
        return not self.problem and self.atlas == self.oracle


def compare(case: models.Case) -> Row:
    """Atlas and oracle on one case; errors become its problem."""
    try:
        with models.limit(SECONDS):
            model = models.build(case)
    # Some of the 800 types need other libraries, or a special config.
    except Exception as error:  # noqa: BLE001
        return Row(case.name, problem=f"not built: {_brief(error)}")
    expected = oracle.kinds(model)
    try:
        with models.limit(SECONDS):
            encodings = find(files_of(model))
    except (RowError, MemoryError, models.TooLongError) as error:
        return Row(case.name, oracle=expected, problem=f"the atlas says: {_brief(error)}")
    found = frozenset(KINDS.get(encoding.scheme, encoding.scheme) for encoding in encodings)
    return Row(case.name, found - BESIDE, expected)


def files_of(model: Any) -> MetaFiles:
    """The files of ``model`` as saved, with random values."""
    config = json.loads(json.dumps(model.config.to_dict(), default=str))
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    return MetaFiles(config, shapes)


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:90]}"


def line(row: Row) -> str:
    """A row of the table."""
    atlas, found = (", ".join(sorted(kinds)) or "–" for kinds in (row.atlas, row.oracle))
    return f"{row.case:40} {atlas:36} {found:36} {'yes' if row.agree else row.problem or 'NO'}\n"


def total(rows: Sequence[Row]) -> str:
    """Number of cases compared, and the share that agrees."""
    compared = [row for row in rows if not row.problem]
    agree = sum(row.agree for row in compared)
    share = 100.0 * agree / max(len(compared), 1)
    problems = Counter(row.problem.split(":")[0] for row in rows if row.problem)
    other_problems = "".join(f"; {count} {problem}" for problem, count in sorted(problems.items()))
    return (
        f"{len(rows)} cases; {len(compared)} compared, of which {agree} agree ({share:.1f}%)"
        f"{other_problems}\n"
    )


def main() -> int:
    """Compare all types, or those selected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    only = parser.parse_args().only
    os.environ["HF_HUB_OFFLINE"] = "1"
    logging.getLogger("transformers").setLevel(logging.CRITICAL)
    cases = [*(models.Case(name) for name in models.types()), *models.VARIANTS]
    rows = []
    sys.stdout.write(f"{'type':40} {'atlas':36} {'oracle':36} agree\n")
    for case in cases:
        if not only or case.type in only:
            rows.append(compare(case))
            sys.stdout.write(line(rows[-1]))
            sys.stdout.flush()
    sys.stdout.write(total(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
