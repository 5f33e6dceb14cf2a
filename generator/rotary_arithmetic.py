"""What transformers' rotary initialisers call of torch, in numpy: enough where torch is not
installed, and without the seconds that its import takes where one file is looked at.

Single precision throughout, as there; powers may differ in the last bit.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

int64, float32 = np.int64, np.float32


class Tensor(np.ndarray[Any, Any]):
    """An array with the methods of a tensor."""

    def to(self, dtype: Any, device: object = None) -> "Tensor":  # noqa: ARG002
        """In another type."""
        return self.astype(dtype).view(Tensor)

    def float(self) -> "Tensor":
        """In single precision."""
        return self.astype(np.float32).view(Tensor)

    def double(self) -> "Tensor":
        """In double precision."""
        return self.astype(np.float64).view(Tensor)

    def numpy(self) -> Any:
        """As an array."""
        return np.asarray(self)


def arange(*bounds: int, dtype: Any = None, device: object = None) -> Tensor:  # noqa: ARG001
    """Whole numbers from a first one, by a step."""
    return np.arange(*bounds, dtype=dtype).view(Tensor)


def tensor(values: Any, dtype: Any = None, device: object = None) -> Tensor:  # noqa: ARG001
    """These values."""
    return np.array(values, dtype=dtype).view(Tensor)


def zeros(size: int, dtype: Any = None, device: object = None) -> Tensor:  # noqa: ARG001
    """As many zeros."""
    return np.zeros(size, dtype=dtype).view(Tensor)


def cat(parts: Sequence[Tensor], dim: int = 0) -> Tensor:
    """One after the other."""
    return np.concatenate(parts, axis=dim).view(Tensor)


def clamp(values: Tensor, low: float, high: float) -> Tensor:
    """Each within these bounds."""
    return np.clip(values, low, high).view(Tensor)


def where(condition: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """``first`` where the condition holds, elsewhere ``second``."""
    return np.where(condition, first, second).view(Tensor)


globals()["float"] = np.float32  # torch's name, which here is not to stand for Python's.
