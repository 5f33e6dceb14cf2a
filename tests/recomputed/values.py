"""Measures of the values of a table: their size, norms, rank, components and spectrum."""

import math
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import chi, spearmanr

from tests.recomputed.published import Array, Metrics
from tests.recomputed.table import Table, unusual


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def whole_table(table: Table) -> Metrics:
    size = np.abs(table.vectors)
    typical = rms(table.vectors)
    return {
        "rms": typical,
        "largest": size.max(),
        "beyond": 100 * np.mean(size > 3 * typical),
        "peak": size.max() / typical,
    }


def single_positions(table: Table) -> Metrics:
    words = table.encoding.arrays.get("anatomy_of_the_input.words")
    if words is None or words.shape[1] != table.vectors.shape[1]:
        return {"word_ratio": None}
    return {"word_ratio": rms(table.vectors) / rms(words.astype(float))}


def vector_norms(table: Table) -> Metrics:
    norms = np.linalg.norm(table.vectors, axis=1)
    of_dimensions = np.linalg.norm(table.vectors, axis=0)
    positions, dimensions = unusual(norms), unusual(of_dimensions)
    kept = norms if positions is None else np.delete(norms, positions)
    ratios = (norms if positions is None else norms[positions]) / np.median(norms)
    is_any = positions is not None and len(positions) > 0
    return {
        "median": float(np.median(norms)),
        "longest": norms.max(),
        "shortest": norms.min(),
        "spread": norms.std() / norms.mean(),
        "spread_noise": chi.std(table.vectors.shape[1]) / chi.mean(table.vectors.shape[1]),
        "spread_within": kept.std() / kept.mean(),
        "positions_out": None if positions is None else len(positions),
        "dimensions_out": None if dimensions is None else len(dimensions),
        "extreme": ratios[np.argmax(np.abs(np.log(ratios)))] if is_any else None,
        "top_share": 100 * (of_dimensions**2).max() / (of_dimensions**2).sum(),
        "half": _needed(np.sum(table.inliers**2, axis=0), 0.5),
    }


def _needed(energies: Array, share: float) -> int:
    """How many, the largest first, hold a share of all."""
    held = np.cumsum(np.sort(energies)[::-1]) / energies.sum()
    return int(np.argmax(held >= share - 1e-12)) + 1


def single_dimensions(table: Table) -> Metrics:
    pairs = table.neighbours
    pairs = pairs[table.is_inlier[pairs].all(axis=1)]
    steps = table.vectors[pairs[:, 1]] - table.vectors[pairs[:, 0]]
    variances = table.inliers.var(axis=0)
    shares = variances / variances.sum()
    deviations = np.where(variances > 0, np.sqrt(variances), 1.0)
    speeds = np.sqrt(np.mean(steps**2, axis=0)) / deviations
    by_share = sorted(range(len(shares)), key=lambda column: -round(shares[column], 9))
    half = sorted(by_share[: max((len(shares) + 1) // 2, 12)])
    by_speed = sorted(half, key=lambda column: round(speeds[column], 9))
    size, longer = divmod(len(half), 12)
    starts = [size * group + min(group, longer) for group in range(13)]
    drawn = [
        max(sorted(by_speed[start:stop]), key=lambda column: round(shares[column], 9))
        for start, stop in pairwise(starts)
        if stop > start
    ]
    return {
        "roughness": rms(steps) / rms(table.inliers),
        "roughness_shuffled": _roughness_of_every_order(table.inliers),
        "drawn": 100 * shares[drawn].sum(),
        "left_out": len(table.outliers),
    }


def _roughness_of_every_order(vectors: Array) -> float:
    """By the steps between all pairs, each of which is as likely as any other."""
    squares = np.sum(vectors**2, axis=1)
    steps = squares[:, None] + squares[None, :] - 2 * vectors @ vectors.T
    count = len(vectors)
    return float(np.sqrt(steps.sum() / (count * (count - 1)) / squares.mean()))


def rank(table: Table) -> Metrics:
    vectors, inliers = table.vectors, table.inliers
    within = np.linalg.svd(inliers - inliers.mean(axis=0), compute_uv=False) ** 2
    mean = len(inliers) * np.sum(inliers.mean(axis=0) ** 2)
    return {
        **_ranks(vectors, ""),
        **_ranks(vectors - vectors.mean(axis=0), "centred_"),
        "within_for_90": _needed(within, 0.9),
        "within_most": min(len(inliers) - 1, inliers.shape[1]),
        "within_noise": _needed_by_noise(*inliers.shape),
        "in_mean": 100 * mean / np.sum(inliers**2),
        "most": min(vectors.shape),
    }


def _needed_by_noise(count: int, width: int) -> int:
    """Marchenko and Pastur's eigenvalues of mean-centred noise, from the largest, up to 90% of the
    energy.
    """
    smaller, larger = sorted((count - 1, width))
    ratio = smaller / larger
    least, most = (1 - math.sqrt(ratio)) ** 2, (1 + math.sqrt(ratio)) ** 2

    def density(x: float) -> float:
        return math.sqrt((most - x) * (x - least)) / (2 * math.pi * ratio * x)

    def above(start: float, power: int) -> float:
        return float(quad(lambda x: x**power * density(x), start, most, limit=200)[0])

    start = brentq(lambda x: above(x, 1) - 0.9, least, most, xtol=1e-12)
    return math.ceil(smaller * above(start, 0) - 1e-6)


def _ranks(vectors: Array, prefix: str) -> Metrics:
    lengths = np.linalg.svd(vectors, compute_uv=False)
    shares = lengths[lengths > 0] / lengths.sum()
    return {
        f"{prefix}stable": np.sum(lengths**2) / lengths[0] ** 2,
        f"{prefix}effective": np.exp(-np.sum(shares * np.log(shares))),
        f"{prefix}for_90": _needed(lengths**2, 0.90),
        f"{prefix}for_95": _needed(lengths**2, 0.95),
        f"{prefix}for_99": _needed(lengths**2, 0.99),
    }


def principal_components(table: Table) -> Metrics:
    vectors, inliers = table.vectors, table.inliers
    variances = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    left, lengths, _ = np.linalg.svd(inliers - inliers.mean(axis=0), full_matrices=False)
    held = 100 * np.cumsum(variances) / variances.sum()
    return {
        **{f"first_{count}": held[count - 1] for count in (1, 2, 3, 4)},
        "within_2": 100 * np.sum(lengths[:2] ** 2) / np.sum(lengths**2),
        "within_3": 100 * np.sum(lengths[:3] ** 2) / np.sum(lengths**2),
        "left_out": len(table.outliers),
        **_path(table, left[:, :3] * lengths[:3]),
    }


def _path(table: Table, places: Array) -> Metrics:
    """The path in the plane of two components."""
    if not table.is_line:
        keys = ("turns", "steady", "rate", "evenness", "onwards", "lap")
        return dict.fromkeys((*keys, "steady_noise", "within_2_noise"))
    numbers = np.flatnonzero(table.is_inlier)
    plane = places[:, 0] + 1j * places[:, 1]
    onwards = _turning(plane, numbers)
    means = [float(stretch.mean()) for stretch in np.array_split(onwards, 8)]
    unevenness = np.abs(plane).std() / np.abs(plane).mean()
    is_round = onwards.sum() >= 2 * np.pi and np.mean(onwards > 0) >= 0.95 and unevenness <= 0.4
    return {
        "turns": onwards.sum() / (2 * np.pi),
        "lap": 2 * np.pi * len(onwards) / onwards.sum() if is_round else None,
        "steady": 100 * np.mean(onwards > 0),
        "rate": max(means) / min(means) if min(means) > 0 else None,
        "evenness": np.abs(plane).std() / np.abs(plane).mean(),
        "onwards": abs(spearmanr(places[:, 2], numbers).statistic),
        **_noise(numbers, table.vectors.shape[1], is_round=bool(is_round)),
    }


def _turning(plane: Array, numbers: Array) -> Array:
    """Angles from each position to the next, positive in the main direction."""
    angles = np.angle(plane[1:] / plane[:-1])[np.diff(numbers) == 1]
    return np.asarray(angles * np.sign(angles.sum()))


def _noise(numbers: Array, n_dimensions: int, *, is_round: bool) -> Metrics:
    """The most of five tables of random numbers."""
    if not is_round:
        return dict.fromkeys(("steady_noise", "within_2_noise"))
    found = []
    for seed in range(5):
        rows = np.random.default_rng(seed).normal(size=(len(numbers), n_dimensions))
        left, lengths, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        plane = lengths[0] * left[:, 0] + 1j * lengths[1] * left[:, 1]
        share = np.sum(lengths[:2] ** 2) / np.sum(lengths**2)
        found.append((100 * np.mean(_turning(plane, numbers) > 0), 100 * share))
    return dict(zip(("steady_noise", "within_2_noise"), np.max(found, axis=0), strict=True))


def spectrum(table: Table) -> Metrics:
    if not table.is_line:
        return {}
    count = len(table.vectors)
    kept = np.flatnonzero(table.is_inlier)

    def bridged(rows: Array) -> Array:
        curves = [np.interp(np.arange(count), kept, curve) for curve in rows.T]
        return np.stack(curves, axis=1)

    shuffled = table.vectors[np.random.default_rng(0).permutation(kept)]
    energies, amplitudes = _waves(bridged(table.vectors[kept]))
    _, amplitudes_shuffled = _waves(bridged(shuffled))
    # Any two rows in a random order are as much alike as any others.
    expected, _ = _waves(bridged(np.eye(kept.size) - 1.0 / kept.size))
    slow = count // 20
    return {
        "strongest": count / (np.argmax(energies) + 1),
        "slow": 100 * energies[:slow].sum() / energies.sum(),
        "slow_control": 100 * expected[:slow].sum() / expected.sum(),
        "slow_period": count / slow,
        "left_out": len(table.outliers),
        "peaks": _peaks(amplitudes, amplitudes_shuffled.max()),
    }


def _waves(vectors: Array) -> tuple[Array, Array]:
    """Energy and mean amplitude of each frequency from 1."""
    count = len(vectors)
    centred = vectors - vectors.mean(axis=0)
    waves = np.abs(np.fft.rfft(centred, axis=0))[1:]
    twice = np.full(len(waves), 2.0)
    twice[-1] = 1 + count % 2
    return twice * np.sum(waves**2, axis=1), twice * waves.mean(axis=1) / count / rms(centred)


def _peaks(amplitudes: Array, highest: float) -> int:
    """Frequencies that stand out from those beside them and from shuffled positions."""
    found = 0
    for place in range(1, len(amplitudes) - 1):
        beside = amplitudes[[place - 1, place + 1]]
        away = [place + side * step for step in range(2, 7) for side in (-1, 1)]
        around = amplitudes[[index for index in away if 0 <= index < len(amplitudes)]]
        found += amplitudes[place] > max(*beside, highest, 2 * np.median(around))
    return found


def positions_and_words(table: Table) -> Metrics:
    """From the energies and cosines that are published, since the word matrix is not."""
    if "positions_and_words.energy" not in table.encoding.arrays:
        return {}
    energies = table.encoding.array("positions_and_words.energy")
    cosines = table.encoding.array("positions_and_words.cosines")
    tenth = round(len(energies) / 10)
    return {
        "top": 100 * energies[:tenth].sum(),
        "bottom": 100 * energies[-tenth:].sum(),
        "overlap": 100 * np.mean(cosines**2),
        "chance": 100 * tenth / len(energies),
        "chance_spread": 100 * _spread_of_overlap(tenth, len(energies)),
        "smallest_angle": np.degrees(np.arccos(cosines.max())),
        "tenth": tenth,
    }


def _spread_of_overlap(count: int, width: int) -> float:
    """Of tr(PQ) ÷ count, for projections P and Q on random spaces of ``count`` directions."""
    left = width - count
    variance = 2 * (count * left) ** 2 / (width**2 * (width - 1) * (width + 2))
    return float(math.sqrt(variance)) / count
