"""Values of all encodings of an atlas by headline metric, among which the compare page ranks those
that readers choose.
"""

from collections.abc import Iterator

import numpy as np

from generator.contracts import Atlas
from generator.figures.packing import rounded
from generator.site.headlines import Column, columns_of

POSITIONS = "positions"  # A unit that is another for words, patches and frames.
SortedValues = dict[str, dict[str, list[float | None]]]


def sorted_values(atlas: Atlas) -> SortedValues:
    """Sorted values by metric, as "analysis.metric", and by modality where they are numbers of
    positions, under "" otherwise.
    """
    return {
        f"{column.analysis.key}.{column.headline.metric}": _by_modality(atlas, column)
        for column in columns_of(atlas)
    }


def _by_modality(atlas: Atlas, column: Column) -> dict[str, list[float | None]]:
    groups: dict[str, list[float]] = {}
    for modality, value in _values(atlas, column):
        groups.setdefault(modality if column.unit == POSITIONS else "", []).append(value)
    return {modality: rounded(np.sort(values)) for modality, values in groups.items()}


def _values(atlas: Atlas, column: Column) -> Iterator[tuple[str, float]]:
    """Modality and value of each encoding that has one."""
    for _, reading in atlas.encodings:
        value = column.value(reading)
        if value is not None:
            yield reading.encoding.modality, value
