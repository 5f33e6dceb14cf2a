"""Input of an analysis: an encoding, and the model's input layer for one sentence."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from generator.contracts.checkpoints import Encoding, FormT_co, Provenance
from generator.encodings import Form
from generator.numerics.arrays import Floats

FormT = TypeVar("FormT", bound=Form)


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """Parameters of a layer normalisation. weight, bias: (d_model,)"""

    weight: Floats
    bias: Floats
    epsilon: float


@dataclass(frozen=True, eq=False)
class Sentence:
    """A tokenised sentence.

    reserved: whether a token is a special one; word_vectors: (n_tokens, d_model), word embeddings
    """

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    reserved: tuple[bool, ...]
    word_vectors: Floats


@dataclass(frozen=True, eq=False)
class OwnLayer:
    """Input of the first layer by the code of transformers for a checkpoint.

    values: (n_tokens, d_model), for the sentence of ``InputLayer``; None where no module fits;
        name: class name of the module
    """

    values: Floats | None = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class InputLayer:
    """Everything that is added up before the first layer, for one sentence and for its words in
    reverse.

    word_tensor: name of the word embedding tensor; word_scale: factor of the word embeddings;
        token_type: (d_model,), embedding of type 0
    own: output of the model's implementation, for comparison; modules: its embedding modules, as
        Python prints them; notes: sentences on how the input was read
    lexicon: everyday words that are one token each, with their ids; empty unless the checkpoint has
        the option ``words``
    """

    sentence: Sentence
    reversed: Sentence
    word_tensor: str
    word_scale: float = 1.0
    token_type: Floats | None = None
    norm: LayerNorm | None = None
    own: OwnLayer = OwnLayer()
    modules: str = ""
    notes: tuple[str, ...] = ()
    lexicon: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Subject(Generic[FormT_co]):
    """Input of an analysis.

    no_input: why input is None; no_word_vectors: why word_vectors is None
    word_vectors: (n_words, d_model), all word embeddings, for checkpoints with the option ``words``
    family: the model's family, as its config names it; "" where that is unknown
    """

    encoding: Encoding[FormT_co]
    input: InputLayer | None = None
    no_input: str = ""
    word_vectors: Floats | None = None
    no_word_vectors: str = "its positions are not word positions"
    family: str = ""


def subject_of(form: FormT) -> Subject[FormT]:
    """``form`` as the subject of an analysis, without a checkpoint or a sentence."""
    return Subject(
        Encoding("", "", form, Provenance("")), no_input="it is shown alone, without words"
    )
