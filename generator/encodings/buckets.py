"""T5's rule for sorting offsets into buckets, which many families copied."""

import numpy as np

from generator.numerics.arrays import Array


def buckets(offsets: Array, n_buckets: int, max_distance: int, causal: bool) -> Array:
    """The bucket of each offset (Raffel et al. 2020, arXiv 1910.10683, section 2.1, and the code published with it).

    Half of the buckets hold one distance each, the others grow with its logarithm up to ``max_distance``; the last holds
    all beyond. Both directions have n_buckets/2 each, unless ``causal``: then the past has all of them.
    offsets: (n_offsets,), key minus query
    returns: (n_offsets,), int
    """
    side = n_buckets if causal else n_buckets // 2
    first = 0 if causal else side * (offsets > 0)
    distance = np.maximum(-offsets, 0) if causal else np.abs(offsets)
    exact = side // 2
    # In float32, as the models do it: the edges of buckets fall on whole distances.
    ratio = np.log(np.maximum(distance, exact).astype(np.float32) / np.float32(exact)) / np.float32(np.log(max_distance / exact))
    wide = exact + (ratio * np.float32(side - exact)).astype(np.int64)
    return np.asarray(first + np.where(distance < exact, distance, np.minimum(wide, side - 1)), dtype=np.int64)


def first_distances(bucket: Array) -> list[float]:
    """The first distance that falls into each bucket, from the bucket of every distance (n_distances,)."""
    return [float(np.argmax(bucket == index)) for index in range(int(bucket.max()) + 1)]
