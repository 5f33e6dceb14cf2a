"""Measures of a bias by offset: its values, and the attention that it gives alone."""

import numpy as np
from scipy.stats import binom

from tests.recomputed import shapes
from tests.recomputed.published import Array, Encoding, Metrics

POSITIONS = 128


def matrices(encoding: Encoding) -> list[Array]:
    """Bias of each head, query by key; NaN for keys that a causal model cannot see."""
    offsets = encoding.arrays["bias_by_offset.offsets"].astype(int)
    places = shapes.offsets_between(POSITIONS)
    columns = np.searchsorted(offsets, np.clip(places, offsets[0], offsets[-1]))
    hidden = (places > 0) & encoding.parameters["causal"]
    return [
        np.where(hidden, np.nan, head[columns]) for head in encoding.array("bias_by_offset.values")
    ]


def bias_by_offset(encoding: Encoding) -> Metrics:
    values = encoding.array("bias_by_offset.values")
    offsets = encoding.arrays["bias_by_offset.offsets"]
    from_median = values - np.median(values, axis=1, keepdims=True)
    far = np.abs(offsets)  # The nearest of the offsets with a head's largest bias.
    nearest = [far[head == head.max()].min() for head in values]
    return {
        "spread": np.ptp(values),
        "largest": values.max(),
        "smallest": values.min(),
        "above": from_median.max(),
        "below": -from_median.min(),
        "near_heads": 100 * np.mean(np.array(nearest) <= 1),
        "near_chance": (chance := near_chance(values.T, far <= 1)),
        "heads": float(len(values)),
        "near_error": binomial_error(chance, len(values)),
    }


def binomial_error(percentage: float, count: int) -> float:
    return 100 * float(binom.std(count, percentage / 100)) / count


def near_chance(biases: Array, near: Array) -> float:
    """Of all different biases (offsets, heads), the share that a near offset has, in %."""
    every, of_near = {tuple(bias) for bias in biases}, {tuple(bias) for bias in biases[near]}
    return 100 * len(of_near) / len(every)


def attention_from_the_bias_alone(encoding: Encoding) -> Metrics:
    heads = [softmax(head) for head in matrices(encoding)]
    visible = ~np.isnan(matrices(encoding)[0])
    uniform = _locality(visible / visible.sum(axis=1, keepdims=True))
    localities = np.array([_locality(head) for head in heads])
    metrics: Metrics = {
        "locality": 100 * localities.mean(),
        "most_local": 100 * localities.max(),
        "least_local": 100 * localities.min(),
        "chance": 100 * uniform,
        "above": 100 * np.mean(localities > uniform * (1 + 1e-9)),
        "keys": np.mean([keys(head) for head in heads]),
        "symmetry": None,
        "one_sided": None,
        "positions": len(visible),
    }
    if not encoding.parameters["causal"]:
        symmetries = np.array([_symmetry(head) for head in heads])
        metrics["symmetry"] = 100 * symmetries.mean()
        metrics["one_sided"] = 100 * np.mean(symmetries < 0.5)
    return metrics


def softmax(logits: Array) -> Array:
    weights = np.nan_to_num(np.exp(logits - np.nanmax(logits, axis=1, keepdims=True)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _locality(attention: Array) -> float:
    distances = np.abs(shapes.offsets_between(len(attention)))
    return float(np.sum(attention * 0.5**distances, axis=1).mean())


def keys(attention: Array) -> float:
    """The exponential of the entropy, mean over queries."""
    logarithms = np.log(np.where(attention > 0, attention, 1))
    return float(np.exp(-np.sum(attention * logarithms, axis=1)).mean())


def _symmetry(attention: Array) -> float:
    """Mean over the queries that have keys on both sides."""
    shares = []
    for query in range(1, len(attention) - 1):
        reach = min(query, len(attention) - 1 - query)
        left = attention[query, query - reach : query][::-1]
        right = attention[query, query + 1 : query + reach + 1]
        shares.append(1 - np.abs(left - right).sum() / (left + right).sum())
    return float(np.mean(shares))
