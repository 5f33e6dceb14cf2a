"""What a site publishes of each encoding: its parameters, its metrics and its arrays."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Metrics: TypeAlias = dict[str, Any]  # numbers; None where one is not applicable
Profile: TypeAlias = Callable[[Array], Array]


@dataclass(frozen=True)
class Encoding:
    """One encoding of ``atlas.json``, with the arrays of its file."""

    name: str
    form: str
    parameters: dict[str, Any]
    metrics: Metrics
    arrays: dict[str, Array]

    def array(self, name: str) -> Array:
        """An array in double precision."""
        return self.arrays[name].astype(float)

    def of(self, analysis: str) -> Metrics:
        """The published metrics of one analysis, without its name."""
        return {
            key.partition(".")[2]: value
            for key, value in self.metrics.items()
            if key.partition(".")[0] == analysis
        }


def encodings(site: Path) -> list[Encoding]:
    """All encodings of a site that have metrics."""
    atlas = json.loads((site / "data/atlas.json").read_text(encoding="utf-8"))
    rows = list(atlas["checkpoints"])
    for part in atlas["parts"]:
        rows += json.loads((site / part).read_text(encoding="utf-8"))["checkpoints"]
    return [
        _encoding(site, row["slug"], encoding)
        for row in rows
        for encoding in row["encodings"]
        if encoding["metrics"]
    ]


def _encoding(site: Path, slug: str, published: dict[str, Any]) -> Encoding:
    with np.load(site / published["arrays"]) as file:
        arrays = {name: file[name] for name in file.files}
    metrics = {key: metric["value"] for key, metric in published["metrics"].items()}
    name = f"{slug}/{published['key']}"
    return Encoding(name, published["form"], published["parameters"], metrics, arrays)
