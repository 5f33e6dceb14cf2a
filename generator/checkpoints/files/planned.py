"""A checkpoint without some of its numbers: what would be read of it, and what cannot be read."""

from collections.abc import Sequence

import numpy as np

from generator.checkpoints.files.reader import FolderFiles
from generator.errors import NotNumbersError
from generator.numerics.arrays import Floats


class PlannedFiles(FolderFiles):
    """``Files`` with the headers of a checkpoint, and zeros for its numbers.

    needed: bytes of each tensor that was asked for, by name
    """

    def __init__(self, files: FolderFiles) -> None:
        vars(self).update(vars(files))  # Headers that were read are not read again.
        self.needed: dict[str, int] = {}

    def tensor(self, name: str) -> Floats:
        """Zeros in the shape of a tensor."""
        self.needed[name] = self.n_bytes(name)
        return np.zeros(self.tensors[name].shape)

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        """Zeros in the shape of these rows: (len(indices), n_columns)."""
        n_rows, *rest = self.tensors[name].shape
        n_bytes = self.n_bytes(name) * len(set(indices)) // max(n_rows, 1)
        self.needed[name] = max(self.needed.get(name, 0), n_bytes)
        return np.zeros((len(indices), *rest))

    def sha256(self, name: str) -> str:
        """No digest, which would need the whole tensor."""
        self.needed[name] = self.n_bytes(name)
        return ""


class PartlyReadFiles(FolderFiles):
    """``Files`` with zeros, and no digest, for tensors of types that cannot be read as numbers."""

    def __init__(self, files: FolderFiles) -> None:
        vars(self).update(vars(files))  # Headers that were read are not read again.
        self._unread = set[str]()

    def tensor(self, name: str) -> Floats:
        """A whole tensor, or zeros in its shape."""
        try:
            return super().tensor(name)
        except NotNumbersError:
            self._unread.add(name)
            return np.zeros(self.tensors[name].shape)

    def sha256(self, name: str) -> str:
        """Hex digest of a tensor that was read as numbers, "" for another."""
        return "" if name in self._unread else super().sha256(name)
