"""Measures of the cosines of a table: of its positions, of its patches, of its dimensions."""

import numpy as np
from scipy.integrate import quad

from tests.recomputed import shapes
from tests.recomputed.published import Array, Metrics
from tests.recomputed.table import Table, units


def off_diagonal(matrix: Array) -> Array:
    """The values of two different rows that have one."""
    values: Array = matrix[~np.eye(len(matrix), dtype=bool)]
    return values[~np.isnan(values)]


def similarity_of_positions(table: Table) -> Metrics:
    pairs = table.neighbours
    pairs = pairs[(pairs < len(table.cosines)).all(axis=1)]
    others = off_diagonal(table.cosines)
    return {
        "adjacent": np.nanmean(table.cosines[pairs[:, 0], pairs[:, 1]]),
        "mean": others.mean(),
        "lowest": others.min(),
    }


def similarity_by_distance(table: Table) -> Metrics:
    if not table.is_line:
        return {}
    cosines = table.cosines_within
    profile, _ = shapes.by_distance([cosines])
    rises = np.flatnonzero(np.diff(profile) > 1e-9)
    return {
        "half_fall": shapes.first_below(profile, (1 + off_diagonal(cosines).mean()) / 2),
        "half": shapes.first_below(profile, 0.5),
        "rise": rises[0] + 1 if len(rises) else None,
        "invariance": shapes.invariance(cosines, shapes.offsets_between(len(cosines))),
        "invariance_noise": 2 / (np.sum(~np.isnan(np.diagonal(cosines))) + 1),
        "monotonicity": shapes.monotonicity([cosines]),
        "mean": off_diagonal(cosines).mean(),
        "positions": len(cosines),
        "left_out": np.sum(table.outliers < len(cosines)),
    }


def similarity_of_dimensions(table: Table) -> Metrics:
    columns = table.inliers.T
    directions = units(columns[np.any(columns != 0, axis=1)])
    sizes = np.abs(off_diagonal(directions @ directions.T))
    # A coordinate of a random direction has this density but for a constant.
    count = len(table.inliers)
    total, _ = quad(lambda size: (1 - size**2) ** ((count - 3) / 2), 0, 1)
    return {
        "size": sizes.mean(),
        "size_noise": 1 / ((count - 1) * total),
        "strong": 100 * np.mean(sizes > 0.9),
    }


def similarity_of_patches(table: Table) -> Metrics:
    if table.is_line:
        return {}
    patches = table.units.reshape(*table.grid, -1)
    rows = _along(patches)
    columns = _along(patches.transpose(1, 0, 2))
    shorter = min(table.grid)
    along_rows, along_columns = np.mean(rows[: shorter - 1]), np.mean(columns[: shorter - 1])
    return {
        "across": rows[0],
        "down": columns[0],
        "mean": off_diagonal(table.units @ table.units.T).mean(),
        "along_rows": along_rows,
        "along_columns": along_columns,
        "anisotropy": along_columns - along_rows,
    }


def _along(lines: Array) -> list[float]:
    """Mean cosine within lines at each distance from 1."""
    return [
        float(np.nanmean(np.sum(lines[:, :-step] * lines[:, step:], axis=2)))
        for step in range(1, lines.shape[1])
    ]
