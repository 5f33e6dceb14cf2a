"""What an analysis is given: an encoding, and a sentence on its way into the first layer."""

from dataclasses import dataclass
from typing import Generic

from generator.contracts.checkpoints import Encoding, FormT_co
from generator.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """weight, bias: (d_model,)."""

    weight: Floats
    bias: Floats
    epsilon: float


@dataclass(frozen=True, eq=False)
class Sentence:
    """Tokens with their rows of the word table: words (n_tokens, d_model)."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    reserved: tuple[bool, ...]
    words: Floats


@dataclass(frozen=True, eq=False)
class OwnLayer:
    """What the embedding layer that transformers has for a checkpoint returns for its sentence: values (n_tokens, d_model), by a class
    of this name; nothing where there is no such layer."""

    values: Floats | None = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class InputLayer:
    """All that goes into the first layer for one sentence, and for its words in reverse.

    token_type: (d_model,), the row of type 0; word_scale: what word rows are multiplied by
    """

    sentence: Sentence
    reversed: Sentence
    word_tensor: str
    word_scale: float = 1.0
    token_type: Floats | None = None
    norm: LayerNorm | None = None
    own: OwnLayer = OwnLayer()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Subject(Generic[FormT_co]):
    """What an analysis is given. Where ``input`` is None, ``no_input`` says why, and ``no_words`` where ``words`` is.

    words: (vocabulary, d_model), the whole word matrix, where the row asks for it
    """

    encoding: Encoding[FormT_co]
    input: InputLayer | None = None
    no_input: str = ""
    words: Floats | None = None
    no_words: str = "its positions are not those of words"
