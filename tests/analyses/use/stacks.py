"""Small models whose behaviour is known, as the parts that measures read."""

from typing import Any

import numpy as np
import torch

from generator.checkpoints.model.running.stack import RunningStack
from generator.checkpoints.model.running.vocabulary import Vocabulary
from generator.contracts import StackKind
from generator.numerics.arrays import Array, Floats

N_WORDS = 40


class RandomText(Vocabulary):
    """One for which every text is random words."""

    def pieces(self, text: str, n: int, length: int, seed: int) -> Array:  # noqa: ARG002
        return self.random(n, length, seed)


def stack_of(model: Any, kind: StackKind = "decoder", **changed: Any) -> RunningStack:
    """A model that reads words 1 to 39, all of which are alike to it but for their vectors."""
    model.set_attn_implementation("eager")
    words = Vocabulary(np.arange(1, N_WORDS))
    options: dict[str, Any] = {"length": 64, "n_sequences": 16, **changed}
    return RunningStack(kind, kind, model.eval(), options.pop("vocabulary", words), **options)


def model(model_type: str, *, head: bool = False, **settings: Any) -> Any:
    """A model of transformers with random weights, the same each time."""
    from transformers import CONFIG_MAPPING, AutoModel, AutoModelForCausalLM

    torch.manual_seed(0)
    config = CONFIG_MAPPING[model_type](
        vocab_size=N_WORDS, pad_token_id=0, bos_token_id=None, eos_token_id=None, **settings
    )
    return (AutoModelForCausalLM if head else AutoModel).from_config(config).eval()


def attention(stack: RunningStack, inputs: Any) -> list[Floats]:
    """Attention of each layer for some sequences: (n, n_heads, length, length) each."""
    found: dict[int, Any] = {}

    def note(layer: int, weights: Any) -> None:
        found[layer] = weights.double().numpy().copy()

    for _ in stack.run(inputs, note, batch=len(inputs)):
        pass
    return [found[layer] for layer in sorted(found)]


def softmax(logits: Floats) -> Floats:
    """Of the last axis; masked keys are −∞."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
