"""What would be read of a checkpoint, found without reading it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import ModelConfig, TensorInfo
from generator.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class PlannedFiles:
    """``Files`` with the headers of a checkpoint, and zeros for its numbers.

    needed: bytes of each tensor that was asked for, by name
    """

    files: FolderFiles
    needed: dict[str, int] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """Name of the checkpoint in messages."""
        return self.files.where

    @property
    def revision(self) -> str | None:
        """Full commit hash on the Hub; None for a folder."""
        return self.files.revision

    @property
    def config(self) -> ModelConfig:
        """Settings from config.json."""
        return self.files.config

    @property
    def tensors(self) -> Mapping[str, TensorInfo]:
        """Header of every tensor, by name."""
        return self.files.tensors

    def tensor(self, name: str) -> Floats:
        """Zeros in the shape of a tensor."""
        self.needed[name] = self.files.n_bytes(name)
        return np.zeros(self.tensors[name].shape)

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        """Zeros in the shape of these rows: (len(indices), n_columns)."""
        n_rows, *rest = self.tensors[name].shape
        n_bytes = self.files.n_bytes(name) * len(set(indices)) // max(n_rows, 1)
        self.needed[name] = max(self.needed.get(name, 0), n_bytes)
        return np.zeros((len(indices), *rest))

    def sha256(self, name: str) -> str:
        """No digest, which would need the whole tensor."""
        self.needed[name] = self.files.n_bytes(name)
        return ""

    def notes(self, name: str) -> tuple[str, ...]:
        """Sentences on how a tensor is stored."""
        return self.files.notes(name)

    def read(self, name: str) -> bytes | None:
        """Content of a small file."""
        return self.files.read(name)
