"""A model that has a config, and perhaps the shapes of its tensors, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from generator.checkpoints.model.halves import as_loaded
from generator.checkpoints.model.stacks import resolved
from generator.contracts import Json, ModelConfig, Resolved, TensorInfo
from generator.errors import RowError
from generator.numerics.arrays import Floats

MOST_VALUES = 2**27  # of one tensor; 1 GB in float64


@dataclass(frozen=True, eq=False)
class ConfigAlone:
    """``Files`` without numbers: zeros stand for those of each tensor.

    where: its name in messages; tensors: those that the code of its family makes, none where it was
        not looked at; missing: why parts of it could not be looked through, "" where all were
    program: as in ``ModelConfig``
    """

    settings: Json
    where: str
    revision: str | None = None
    tensors: Mapping[str, TensorInfo] = field(default_factory=lambda: MappingProxyType({}))
    missing: str = ""
    program: str = ""

    @cached_property
    def config(self) -> ModelConfig:
        """The settings."""
        return as_loaded(ModelConfig(self.settings, self.where, program=self.program))

    @cached_property
    def resolved(self) -> Resolved:
        """The same as the code of the family understands them."""
        return resolved(self.config)

    def tensor(self, name: str) -> Floats:
        """Zeros in the shape of a tensor.

        errors: RowError for a tensor of more than ``MOST_VALUES``
        """
        shape = self.tensors[name].shape
        if np.prod(shape, dtype=np.float64) > MOST_VALUES:
            raise RowError(
                f"{self.where}: {name} has shape {shape}; expected at most {MOST_VALUES:,} values"
            )
        return np.zeros(shape)

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        """Zeros in the shape of these rows."""
        return np.zeros((len(indices), *self.tensors[name].shape[1:]))

    def sha256(self, name: str) -> str:  # noqa: ARG002 (there are no stored bytes)
        """No digest."""
        return ""

    def notes(self, name: str) -> tuple[str, ...]:  # noqa: ARG002 (nothing is stored)
        """No note."""
        return ()

    def read(self, name: str) -> bytes | None:  # noqa: ARG002 (there are no other files)
        """No other file."""
        return None
