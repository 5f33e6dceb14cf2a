"""Where in a model the position can be read off its hidden states."""

import math
from collections.abc import Sequence

import numpy as np

from generator.checkpoints.model.live.stack import Stack
from generator.contracts import Finding, Metric, Result, Use
from generator.errors import NotApplicableError
from generator.numerics.arrays import Array, Floats
from generator.numerics.hidden_states import Found, position_in, share_of_position

LEFT_OUT = 4  # First positions, which much else tells apart.
ROWS_PER_FEATURE = 10
MOST_SEQUENCES = 256
RANDOM_SEED = 0  # of the weights of the reference


def compute(stack: Stack, seed: int) -> Result:
    """A linear probe of the position on the states of each layer, on text, or on random words where
    a model has no text here; and the same of the model with random weights.

    arrays: r2, error, share (n_layers + 1,) each: of the input of the first layer, then of the
        output of each; r2_random (n_layers + 1,)
    errors: NotApplicableError
    """
    words = stack.words
    d_model = int(stack.model.config.get_text_config().hidden_size)
    positions = np.arange(max(LEFT_OUT, len(words.before)), stack.length - len(words.after))
    needed = 2 * math.ceil(ROWS_PER_FEATURE * d_model / len(positions))
    if needed > max(MOST_SEQUENCES, stack.n_sequences):
        raise NotApplicableError(
            f"states of {d_model:,} components need {needed:,} sequences of {stack.length}"
            f" tokens; there are {stack.n_sequences:,}"
        )
    n_sequences = max(needed, stack.n_sequences)
    try:
        inputs, read = stack.pieces(seed, n_sequences), "text"
    except NotApplicableError as error:
        inputs, read = stack.inputs(seed, n_sequences), f"random words, since {error}"
    found, shares = _by_layer(stack, inputs, positions)
    random, _ = _by_layer(stack.untrained(RANDOM_SEED), inputs, positions)
    r2 = np.array([each.r2 for each in found])
    return Result(
        metrics=_metrics(found, shares, random, read),
        arrays={
            "r2": r2,
            "error": np.array([each.error for each in found]),
            "share": np.array(shares),
            "r2_random": np.array([each.r2 for each in random]),
        },
    )


def _by_layer(stack: Stack, inputs: Array, positions: Array) -> tuple[list[Found], list[float]]:
    parts: list[list[Floats]] = []
    for read in stack.run(inputs):
        parts.append([state[:, positions] for state in read.states])
    found, shares = [], []
    for layer in range(len(parts[0])):
        states = np.concatenate([part[layer] for part in parts])
        found.append(position_in(states, positions.astype(float)))
        shares.append(share_of_position(states))
    return found, shares


def _metrics(
    found: Sequence[Found], shares: Sequence[float], random: Sequence[Found], read: str
) -> tuple[Metric, ...]:
    best = int(np.argmax([each.r2 for each in found]))
    of = f"of the position, read on {read}"
    return (
        Metric("r2_highest", f"Highest share of the variance {of}", found[best].r2),
        Metric("layer_highest", "Layers before it is highest", float(best)),
        Metric("r2_input", "At the input", found[0].r2),
        Metric("r2_last", "Behind the last layer", found[-1].r2),
        Metric("r2_random", "Highest with random weights", max(each.r2 for each in random)),
        Metric("error_input", "Error at the input", found[0].error, "positions"),
        Metric("error_last", "Error behind the last layer", found[-1].error, "positions"),
        Metric("share_input", "Variance by position at the input", 100.0 * shares[0], "%"),
        Metric("share_last", "Variance by position behind the last layer", 100.0 * shares[-1], "%"),
    )


def findings(first: Result, second: Result) -> tuple[Finding, ...]:
    """Where position fades or is built up."""
    del first, second
    return ()


USE = Use(
    key="probe",
    title="Position in hidden states",
    question="In which layers can the position be read off?",
    source=(
        "Linear probes of hidden states (Alain and Bengio 2017, arXiv 1610.01644); the unbiased"
        " share of variance is ε² of Kelley 1935"
    ),
    order=30,
    scope="model",
    compute=compute,
    findings=findings,
)
