"""A model that has a config and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from generator.checkpoints.model.halves import as_loaded
from generator.contracts import Json, ModelConfig, TensorInfo
from generator.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class ConfigAlone:
    """``Files`` without weights and without any other file. where: its name in messages"""

    settings: Json
    where: str
    revision: str | None = None
    tensors: Mapping[str, TensorInfo] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def config(self) -> ModelConfig:
        """The settings."""
        return as_loaded(ModelConfig(self.settings, self.where))

    def tensor(self, name: str) -> Floats:
        """No tensor. errors: KeyError"""
        raise KeyError(name)

    def rows(self, name: str, indices: Sequence[int]) -> Floats:  # noqa: ARG002 (there are no rows)
        """No rows. errors: KeyError"""
        raise KeyError(name)

    def sha256(self, name: str) -> str:
        """No digest. errors: KeyError"""
        raise KeyError(name)

    def notes(self, name: str) -> tuple[str, ...]:  # noqa: ARG002 (there is no tensor)
        """No note."""
        return ()

    def read(self, name: str) -> bytes | None:  # noqa: ARG002 (there are no other files)
        """No other file."""
        return None
