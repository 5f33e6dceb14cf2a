"""What would be read of a checkpoint, found without reading it."""

from collections.abc import Sequence

import numpy as np

from generator.checkpoints.files.reader import FolderFiles
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
