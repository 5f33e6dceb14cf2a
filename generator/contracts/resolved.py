"""A config.json as the code of its family understands it."""

from dataclasses import dataclass

from generator.contracts.layer_map import Layer
from generator.contracts.model_config import Modality, ModelConfig, StackKind


@dataclass(frozen=True)
class Stack:
    """A stack of layers.

    kind: encoder where positions see those after them; one config of encoder and decoder counts as
        a decoder
    config: resolved; refused: why the family's config class rejects it, "" otherwise; mended: the
        settings whose type that class takes for another
    within: the families of the configs in which it is nested, the innermost last
    default_of: the config class whose defaults complete it, "" without one
    has_code: whether transformers or diffusers has the code of the family, or this atlas its
        settings
    layers: the encoder's before the decoder's; empty where their number or their kinds are not
        known
    """

    part: str
    kind: StackKind
    modality: Modality
    config: ModelConfig
    refused: str = ""
    mended: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    default_of: str = ""
    has_code: bool = False
    layers: tuple[Layer, ...] = ()


@dataclass(frozen=True)
class Resolved:
    """What a config.json says, as the code of its family understands it.

    A setting that ``given`` has is of the file, one that only ``readable`` has is of the code of a
    family that transformers lacks, and one that only ``config`` has is a default or derived.

    given: as published; readable: in the words of transformers; config: with nested configs,
        completed by the config class of the family
    refused: why that class rejects it, in which case ``config`` is ``readable``; "" otherwise
    side: that of the class named in it, of a family with encoder and decoder; None for both
    stacks: of the config itself, then of nested ones, outer ones first
    """

    given: ModelConfig
    readable: ModelConfig
    config: ModelConfig
    refused: str
    side: StackKind | None
    stacks: tuple[Stack, ...]

    def stacks_of(self, part: str) -> tuple[Stack, ...]:
        """The stacks with the part of an encoding, the innermost last; none where it is no
        stack's.
        """
        return tuple(stack for stack in self.stacks if f"{part} ".startswith(f"{stack.part} "))

    def family_of(self, part: str) -> str:
        """The family of the innermost stack with the part of an encoding; that of the whole where
        it is no stack's.
        """
        return next((one.config.family for one in self.stacks_of(part)[::-1]), self.given.family)

    def default_of(self, part: str) -> str:
        """The config class of that family, whose defaults its settings have; "" without one."""
        is_translated = self.readable.family != self.given.family
        whole = () if is_translated else self.stacks[:1]
        return next((one.default_of for one in (self.stacks_of(part) or whole)[::-1]), "")
