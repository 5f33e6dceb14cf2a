"""T5's rule for sorting offsets into buckets, which many model families share."""

import numpy as np

from generator.numerics.arrays import Array


def buckets(offsets: Array, n_buckets: int, max_distance: int, causal: bool) -> Array:
    """Bucket of each offset (Raffel et al. 2020, arXiv 1910.10683, section 2.1, and the published
    code).

    Half of the buckets hold one distance each; the others grow logarithmically up to
    ``max_distance``, and the last holds all larger ones. Each direction has n_buckets / 2; if
    ``causal``, the past has all of them.
    offsets: (n_offsets,), int, key minus query, in positions
    returns: (n_offsets,), int, within [0, n_buckets)
    """
    side = n_buckets if causal else n_buckets // 2
    first = 0 if causal else side * (offsets > 0)
    distance = np.maximum(-offsets, 0) if causal else np.abs(offsets)
    exact = side // 2
    # In float32, like the models: bucket edges fall on whole distances.
    ratio = np.log(np.maximum(distance, exact).astype(np.float32) / np.float32(exact)) / np.float32(
        np.log(max_distance / exact)
    )
    wide = exact + (ratio * np.float32(side - exact)).astype(np.int64)
    return np.asarray(
        first + np.where(distance < exact, distance, np.minimum(wide, side - 1)), dtype=np.int64
    )


def first_distances(bucket: Array) -> list[float]:
    """Smallest distance in each bucket, in positions; 0 for one that holds none.

    bucket: (n_distances,), int, the bucket of every distance from 0
    """
    return [float(np.argmax(bucket == index)) for index in range(int(bucket.max()) + 1)]
