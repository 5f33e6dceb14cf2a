"""What attention weights and logits show: how far a query sees, whether a bias acts, whether a
temperature does.
"""

from dataclasses import dataclass

import numpy as np

ENDS = 8  # Positions at each end.
TINY = 1e-6  # Logits up to this size count as 0.
SAME = 1e-3  # Difference, relative to the largest logit, up to which logits count as equal.


@dataclass(frozen=True)
class Reach:
    """The farthest keys before and after a query, None where the sequence alone limits them; chunk:
    size of closed blocks, None without.
    """

    before: int | None
    after: int | None
    chunk: int | None = None


def reach(visible: np.ndarray) -> Reach:
    """The reach of a mask (queries, keys), true where a query sees a key."""
    length = len(visible)
    index = np.arange(length)
    some = visible.any(axis=1)
    first = np.where(some, visible.argmax(axis=1), index)
    last = np.where(some, length - 1 - visible[:, ::-1].argmax(axis=1), index)
    before, after = int((index - first).max()), int((last - index).max())
    size = before + 1
    in_window = np.array_equal(first, np.maximum(index - before, 0))
    if before < length - 1 and np.array_equal(first, index // size * size) and not in_window:
        return Reach(before, _limit(after, length), size)
    return Reach(_limit(before, length), _limit(after, length))


def _limit(distance: int, length: int) -> int | None:
    return distance if distance < length - 1 else None


def bias(logits: np.ndarray, visible: np.ndarray) -> bool:
    """Whether logits (heads, queries, keys) of equal queries and equal keys differ between the keys
    that a query sees.

    Of a long sequence without its ends, where a convolution before attention makes queries and keys
    differ.
    """
    if logits.shape[1] > 4 * ENDS:
        logits, visible = (values[:, ENDS:-ENDS, ENDS:-ENDS] for values in (logits, visible))
    most = np.where(visible, logits, -np.inf).max(axis=2)
    spread = most - np.where(visible, logits, np.inf).min(axis=2)
    return bool(spread.max() > max(SAME * np.abs(logits[visible]).max(), TINY))


def slopes(logits: np.ndarray, visible: np.ndarray) -> tuple[float, ...]:
    """Change of logits (heads, queries, keys) per position of distance, by head; empty where they
    are not linear in the distance.
    """
    index = np.arange(logits.shape[1])
    distance = np.abs(index[:, None] - index)
    relative = np.where(visible, logits - np.diagonal(logits, axis1=1, axis2=2)[:, :, None], 0.0)
    seen = np.where(visible, distance, 0.0)
    fitted = (relative * seen).sum(axis=(1, 2)) / (seen**2).sum(axis=(1, 2))
    error = np.abs(relative - fitted[:, None, None] * seen).max()
    largest = max(np.abs(relative).max(), np.abs(logits[visible]).max())
    return tuple(float(slope) for slope in fitted) if error <= SAME * largest else ()


def temperature(logits: np.ndarray, far: np.ndarray | None) -> bool:
    """Whether the logits of a query and its own key differ between positions, in logits (heads,
    queries, keys) of equal queries and keys.

    far: the same at positions far away
    """
    ends = ENDS if logits.shape[1] > 4 * ENDS else 0
    both = [values for values in (logits, far) if values is not None]
    diagonals = [np.diagonal(values, axis1=1, axis2=2)[:, ends:] for values in both]
    own = np.concatenate(diagonals, axis=1)
    return bool(np.ptp(own, axis=1).max() > max(SAME * np.abs(own).max(), TINY))
