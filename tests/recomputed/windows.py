"""Measures of a bias by offset between the patches of a window."""

import numpy as np

from tests.recomputed import biases, shapes
from tests.recomputed.kernels import SIDE, mean
from tests.recomputed.published import Array, Encoding, Metrics

LIMIT = 5.0  # logits, of the colours


def _grid(encoding: Encoding) -> tuple[Array, Array]:
    """Row and column of each patch, in reading order."""
    rows, columns = (np.array(encoding.arrays["bias_by_patch_offset.values"].shape[1:]) + 1) // 2
    assert max(rows, columns) <= SIDE
    down, across = np.indices((rows, columns)).reshape(2, -1)
    return down, across


def _heads(encoding: Encoding) -> list[Array]:
    """Bias of each head, query by key."""
    down, across = _grid(encoding)
    below = down[None, :] - down[:, None] + down.max()
    right = across[None, :] - across[:, None] + across.max()
    return [head[below, right] for head in encoding.array("bias_by_patch_offset.values")]


def bias_by_patch_offset(encoding: Encoding) -> Metrics:
    heads = encoding.array("bias_by_patch_offset.values")
    rows, columns = heads.shape[1] // 2, heads.shape[2] // 2
    spreads = [np.ptp(head) for head in heads]
    near = [
        head[rows - 1 : rows + 2, columns - 1 : columns + 2].max() == head.max() for head in heads
    ]
    centred = [head - head.mean() for head in heads]
    is_near = np.zeros(heads.shape[1:], bool)
    is_near[max(rows - 1, 0) : rows + 2, max(columns - 1, 0) : columns + 2] = True
    return {
        "spread": np.mean(spreads),
        "widest": max(spreads),
        "near_heads": 100 * np.mean(near),
        "near_chance": (
            chance := biases.near_chance(heads.reshape(len(heads), -1).T, is_near.reshape(-1))
        ),
        "heads": float(len(heads)),
        "near_error": biases.binomial_error(chance, len(heads)),
        "left_right": np.mean([_likeness(head, head[:, ::-1]) for head in centred]),
        "up_down": np.mean([_likeness(head, head[::-1]) for head in centred]),
        "beyond": 100 * np.mean([np.mean(np.abs(head) > LIMIT) for head in centred]),
    }


def _likeness(head: Array, mirrored: Array) -> float:
    return float(1 - np.linalg.norm(head - mirrored) / (2 * np.linalg.norm(head)))


def attention_from_the_bias_alone(encoding: Encoding) -> Metrics:
    down, across = _grid(encoding)
    distances = np.abs(np.subtract.outer(down, down)) + np.abs(np.subtract.outer(across, across))
    heads = _heads(encoding)
    weights = [biases.softmax(head) for head in heads]
    localities = np.array([np.mean(np.sum(head * 0.5**distances, axis=1)) for head in weights])
    chance = np.mean(0.5**distances)
    symmetries = np.array([_symmetry(head, down, across) for head in heads])
    return {
        "locality": 100 * localities.mean(),
        "most_local": 100 * localities.max(),
        "least_local": 100 * localities.min(),
        "chance": 100 * chance,
        "above": 100 * np.mean(localities > chance * (1 + 1e-9)),
        "keys": np.mean([biases.keys(head) for head in weights]),
        "symmetry": 100 * symmetries.mean(),
        "one_sided": 100 * np.mean(symmetries < 0.5),
        "positions": len(distances),
    }


def _symmetry(head: Array, down: Array, across: Array) -> float:
    """Mean over the queries that have a key and its mirror image."""
    number = {place: key for key, place in enumerate(zip(down, across, strict=True))}
    shares = []
    for query, (row, column) in enumerate(zip(down, across, strict=True)):
        pairs = [
            (key, number[mirrored])
            for (below, right), key in number.items()
            if (mirrored := (2 * row - below, 2 * column - right)) in number and key != query
        ]
        if pairs:
            attention = biases.softmax(head[[query]][:, [key for key, _ in pairs]])[0]
            opposite = biases.softmax(head[[query]][:, [key for _, key in pairs]])[0]
            shares.append(1 - np.abs(attention - opposite).sum() / 2)
    return float(np.mean(shares))


def decay_with_distance(encoding: Encoding) -> Metrics:
    down, across = _grid(encoding)
    lines = [np.flatnonzero(side == place) for side in (down, across) for place in np.unique(side)]
    offsets = np.subtract.outer(down, down) * 2 * SIDE + np.subtract.outer(across, across)
    heads = _heads(encoding)
    shaped = [head for head in heads if np.ptp(head) > 0]
    along = [[head[np.ix_(line, line)] for line in lines] for head in shaped]
    halves = [shapes.half_distance_of_head(head) for head in along]
    return {
        "positions": len(down),
        "farthest": max(down.max(), across.max()),
        "half": mean(halves),
        "far": None,
        "monotonicity": mean([shapes.monotonicity(head) for head in along]),
        "monotonicity_noise": shapes.by_chance(along),
        **shapes.of_heads_that_fall(along),
        "invariance": mean([shapes.invariance(head, offsets) for head in shaped]),
        "symmetry": mean([shapes.symmetry(head) for head in shaped]),
        "constant": len(heads) - len(shaped),
        "rising": halves.count(None),
    }
