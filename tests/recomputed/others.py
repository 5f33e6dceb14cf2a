"""Measures of the input, of vectors by offset, of rotations, of decays and of temperatures."""

from itertools import combinations

import numpy as np

from tests.recomputed import kernels
from tests.recomputed.published import Array, Encoding, Metrics

SLOWER = 1e-3  # a tenth of a percent


def anatomy_of_the_input(encoding: Encoding) -> Metrics:
    tokens = encoding.arrays.get("anatomy_of_the_input.tokens")
    return {} if tokens is None else {"tokens": len(tokens), "moved": _moved(encoding)}


def _moved(encoding: Encoding) -> float | None:
    """From the inputs of both positions where the sentence has both, else from their difference."""
    found = {
        name.partition(".")[2]: values.astype(float)
        for name, values in encoding.arrays.items()
        if name.startswith("anatomy_of_the_input.") and values.dtype.kind in "fi"
    }
    last = next(step for step in ("normed", "sum", "words") if f"norms_{step}" in found)
    norms, pairs = found[f"norms_{last}"], found["twice_positions"].astype(int)
    apart, inputs = found["apart_inputs"], found.get(last)
    if inputs is not None and pairs.size and pairs.max() < len(inputs):
        apart = np.linalg.norm(inputs[pairs[:, 0]] - inputs[pairs[:, 1]], axis=1)
    return 100.0 * float(np.mean(apart / norms[pairs[:, 0]])) if pairs.size else None


def _angles(encoding: Encoding) -> Array:
    """Radians for each position of the pairs that turn."""
    angles = np.array(encoding.parameters["inverse_frequencies"])
    return angles[angles > 0]


def _ratios(encoding: Encoding) -> Array:
    """Wavelengths after scaling, divided by those before."""
    pairs = np.arange(len(_angles(encoding)))
    width = encoding.parameters["rotary_dim"]
    before = encoding.parameters["base"] ** (-2.0 * pairs / width)
    return np.asarray(before / _angles(encoding))


def _is_of_image(encoding: Encoding) -> bool:
    return str(encoding.arrays["decay_with_distance.unit"]).startswith("patches")


def vectors_by_offset(encoding: Encoding) -> Metrics:
    cosines = encoding.array("vectors_by_offset.cosines")
    offsets = encoding.arrays["vectors_by_offset.offsets"].astype(int)
    norms = encoding.array("vectors_by_offset.norms")
    apart = np.abs(np.subtract.outer(offsets, offsets))
    opposite = np.add.outer(offsets, offsets) == 0
    # Over all orders, each set of as many disjoint pairs is as likely as any other.
    pairs = np.array([*combinations(np.flatnonzero(norms > 0), 2)])  # (n, 2)
    values = cosines[tuple(pairs.T)]
    are_disjoint = ~(pairs[:, None, :, None] == pairs[None, :, None, :]).any(axis=(2, 3))
    n_pairs = np.sum(~np.isnan(cosines[opposite & (apart > 0)])) // 2
    of_two = np.outer(values, values)[are_disjoint].mean() if n_pairs > 1 else 0.0
    square = (np.mean(values**2) + (n_pairs - 1) * of_two) / n_pairs
    return {
        "adjacent": np.nanmean(cosines[apart == 1]),
        "mean": np.nanmean(cosines[apart > 0]),
        "sides": np.nanmean(cosines[opposite & (apart > 0)]),
        "sides_spread": np.sqrt(square - np.mean(values) ** 2),
        "shortest": norms.min(),
        "longest": norms.max(),
    }


def rotation_by_offset(encoding: Encoding) -> Metrics:
    wavelengths = 2 * np.pi / _angles(encoding)
    within = int(encoding.arrays["rotation_by_offset.within"])
    context = int(encoding.arrays["rotation_by_offset.context"])
    return {
        "pairs": len(wavelengths),
        "longest": wavelengths.max(),
        "full_turns": np.sum(wavelengths <= within),
        "full_share": 100.0 * np.mean(wavelengths <= within),
        "context": None if _is_of_image(encoding) else context,
        "sliding": encoding.parameters["window"],
        "slowed": np.sum(_ratios(encoding) > 1 + SLOWER),
        "attention_factor": encoding.parameters["attention_factor"],
    }


def effect_of_scaling(encoding: Encoding) -> Metrics:
    if encoding.parameters["scaling"] is None:
        return {}
    ratios = _ratios(encoding)
    largest = ratios.max()
    unchanged = np.abs(ratios - 1) < SLOWER
    full = (ratios * (1 + SLOWER) > largest) & (largest > 1 + SLOWER) & ~unchanged
    return {
        "unchanged": unchanged.sum(),
        "full": full.sum(),
        "between": np.sum(~unchanged & ~full),
        "largest": largest,
        "smallest_long": min(encoding.parameters["scaling"].get("long_factor", [ratios.min()])),
        "largest_long": max(encoding.parameters["scaling"].get("long_factor", [largest])),
        "attention_factor": encoding.parameters["attention_factor"],
    }


def decay_of_rotation(encoding: Encoding) -> Metrics:
    angles = _angles(encoding)
    window = kernels.SIDE if _is_of_image(encoding) else kernels.WINDOW
    within = int(encoding.arrays["rotation_by_offset.within"])
    context = min(within, window) if _is_of_image(encoding) else within

    def profile(distances: Array) -> Array:
        return np.asarray(np.cos(np.multiply.outer(distances, angles)).mean(axis=1))

    return kernels.of_profile(profile, context, window, is_cosine=True)


def exponential_decay(encoding: Encoding) -> Metrics:
    if "exponential_decay.half_distances" not in encoding.arrays:
        return {}
    halves = encoding.array("exponential_decay.half_distances")
    lowest, highest = np.quantile(halves, (0.1, 0.9), method="nearest")
    is_of_layers = encoding.arrays["exponential_decay.layers"][0] >= 0
    return {
        "median": float(np.median(halves)),
        "shortest": halves.min(),
        "longest": halves.max(),
        "spread": highest / lowest,
        "shortest_of_layer": np.median(halves, axis=1).min(),
        "longest_of_layer": np.median(halves, axis=1).max(),
        "layers": len(halves) if is_of_layers else None,
        "units": halves.shape[1],
    }


def decay_of_states(encoding: Encoding) -> Metrics:
    rates = np.log(2) / encoding.array("exponential_decay.half_distances").ravel()

    def profile(distances: Array) -> Array:
        return np.asarray(np.exp(-np.multiply.outer(distances, rates)).mean(axis=1))

    return kernels.of_profile(profile, 512)


def temperature_by_position(encoding: Encoding) -> Metrics:
    """By the rule of Llama 4, the only one of the list. Its two numbers follow from the curve."""
    positions = encoding.array("temperature_by_position.positions")
    gains = encoding.array("temperature_by_position.factor") - 1
    growth = gains[gains > 0][0] / np.log(2)
    growth = gains[-1] / np.log(np.round(np.exp(gains[-1] / growth)))
    stairs = np.round(np.exp(gains / growth)) - 1  # how many times the floor has been passed
    highest = np.floor(np.min((positions + 1)[stairs > 0] / stairs[stairs > 0]))
    lowest = np.floor(np.max((positions + 1) / (stairs + 1))) + 1
    assert lowest == highest
    np.testing.assert_allclose(growth * np.log1p((positions + 1) // highest), gains, atol=1e-6)
    return {
        "last": 1 + gains[-1],
        "first": highest - 1,
        "strength": growth,
        "layers": len(encoding.parameters["layers"]),
        "context": positions[-1] + 1,
    }
