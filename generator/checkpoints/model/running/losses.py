"""How well a model predicts the words of its own kind of text."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from generator.checkpoints.model.running.stack import FEWEST, RunningStack, has_two_sides
from generator.errors import NotApplicableError
from generator.numerics.arrays import Array, Floats

CERTAIN = 3.0  # Standard errors by which a rise lies from 0.
KNOWN = 1.0 / 6.0  # Share of a rise below which its standard error ends the reading.
NOTHING = 0.001  # nats, below which a rise is none.
MASKED = 0.15  # Share of words that are masked, as in training (Devlin et al. 2019).

Losses = Callable[[range], Floats]  # Those of a batch of sequences.


@dataclass(frozen=True, eq=False)
class PredictionTask:
    """Sequences with words to predict.

    inputs: (n, length), int, as the model reads them; targets: (n, length), int, the word that each
        place is to predict; at: (n, length), bool, the places that count
    """

    inputs: Array
    targets: Array
    at: Array

    def __getitem__(self, chosen: range) -> "PredictionTask":
        return PredictionTask(self.inputs[chosen], self.targets[chosen], self.at[chosen])


def check_predicts(stack: RunningStack) -> None:
    """Check that ``stack`` has a head that predicts words of a text alone.

    errors: NotApplicableError
    """
    if stack.vocabulary is None:
        raise NotApplicableError("it reads images, not text")
    if has_two_sides(stack.model):
        raise NotApplicableError("its decoder predicts text only from what an encoder has read")
    if stack.model.get_output_embeddings() is None:
        raise NotApplicableError("its weights include no head that predicts tokens")
    if not stack.is_causal and stack.text_vocabulary.mask is None:
        raise NotApplicableError("it has no mask token")


def task(stack: RunningStack, inputs: Array, first: int = 1) -> PredictionTask:
    """What there is to predict in ``inputs`` (n, length), from the place ``first`` on.

    A causal model predicts each next word; any other, words that are masked, at places that its
    seed draws.
    """
    length = inputs.shape[1]
    words = np.zeros(inputs.shape, bool)
    vocabulary = stack.text_vocabulary
    words[:, max(first, len(vocabulary.before)) : length - len(vocabulary.after)] = True
    if stack.is_causal:
        at = np.zeros(inputs.shape, bool)
        at[:, :-1] = words[:, 1:]
        return PredictionTask(inputs, np.roll(inputs, -1, axis=1), at)
    at = words & (np.random.default_rng(stack.seed).random(inputs.shape) < MASKED)
    return PredictionTask(np.where(at, np.int64(vocabulary.mask or 0), inputs), inputs, at)


def losses(stack: RunningStack, given: PredictionTask) -> Floats:
    """Mean cross-entropy of each sequence, in nats: (n,); NaN where nothing is to be predicted."""
    import torch

    found: list[Floats] = []
    for read in stack.run(given.inputs, predicts=True):
        start = len(found)
        stop = start + len(read.inputs)
        at = torch.from_numpy(given.at[start:stop]).to(stack.device)
        targets = torch.from_numpy(given.targets[start:stop]).to(stack.device)
        each = read.losses(targets, at)
        ends = np.cumsum(given.at[start:stop].sum(axis=1))
        found += [
            np.array(part.mean() if part.size else np.nan) for part in np.split(each, ends[:-1])
        ]
    return np.array(found)


@dataclass(frozen=True)
class Rise:
    """A mean difference of losses over sequences, in nats.

    error: its standard error; n_sequences: that were read for it
    """

    mean: float
    error: float
    n_sequences: int = 0

    @property
    def is_certain(self) -> bool:
        """Whether it lies three standard errors from 0."""
        return abs(self.mean) >= CERTAIN * self.error and self.mean != 0.0

    @property
    def is_none(self) -> bool:
        """Whether it is below ``NOTHING`` with three standard errors."""
        return abs(self.mean) + CERTAIN * self.error < NOTHING

    @property
    def is_known(self) -> bool:
        """Whether more sequences would hardly change it, or what is said of it."""
        return self.is_none or self.error <= KNOWN * abs(self.mean)


NO_RISE = Rise(np.nan, np.nan)


def rise(differences: Floats) -> Rise:
    """The mean of differences (n,) of the losses of sequences; NaN where one has no loss."""
    known = differences[~np.isnan(differences)]
    if len(known) < 2:
        return Rise(np.nan, np.inf, len(differences))
    error = float(known.std(ddof=1) / np.sqrt(len(known)))
    return Rise(float(known.mean()), error, len(differences))


def rise_of(
    stack: RunningStack, changed: Losses, as_is: Losses, n_sequences: int | None = None
) -> Rise:
    """By how much losses are higher with a change, of as many sequences as it takes to know.

    n_sequences: the most; None for those of the stack
    """
    differences = np.zeros(0)
    found = rise(differences)
    for batch in stack.batches(n_sequences):
        differences = np.append(differences, changed(batch) - as_is(batch))
        found = rise(differences)
        if batch.stop >= FEWEST and found.is_known:
            break
    return found
