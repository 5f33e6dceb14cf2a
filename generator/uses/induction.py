"""Heads that find what came after the same word before (Olsson et al. 2022)."""

from collections import defaultdict
from typing import Any

import numpy as np

from generator.checkpoints.model.live.stack import Stack
from generator.contracts import Finding, Metric, Result, Use

LENGTH = 32  # of the sequence that is repeated
SEQUENCES = 16
LARGE = 0.3


def compute(stack: Stack, seed: int) -> Result:
    """Attention in the second copy of a sequence of random words: to the word before, and to the
    word that followed in the first copy.

    arrays: previous, induction (n_layers, n_heads) each, means over all queries of the second copy
        but its first and last
    errors: NotApplicableError
    """
    words = stack.words
    once = np.random.default_rng(seed).choice(words.words, (SEQUENCES, LENGTH))
    inputs = words.framed(np.hstack([once, once]))
    # Where the word that followed has been read, and another one follows.
    queries = len(words.before) + np.arange(LENGTH + 1, 2 * LENGTH - 1)
    sums: defaultdict[int, Any] = defaultdict(float)

    def note(layer: int, weights: Any) -> None:
        rows = weights[:, :, queries, :]
        keys = np.stack([queries - 1, queries - LENGTH + 1])
        taken = rows[:, :, np.arange(len(queries))[None, :], keys]
        sums[layer] += taken.double().mean(dim=-1).sum(dim=0).cpu().numpy()

    for _ in stack.run(inputs, note):
        pass
    by_layer = np.stack([sums[layer] for layer in sorted(sums)]) / len(inputs)
    previous, induction = by_layer[:, :, 0], by_layer[:, :, 1]
    n_keys = inputs.shape[1]
    uniform = float(np.mean(1.0 / (queries + 1.0))) if stack.is_causal else 1.0 / n_keys
    return Result(
        metrics=(
            Metric("highest", "Most attention to what followed", float(induction.max())),
            Metric("count", "Heads with more than 0.3 there", float((induction > LARGE).sum())),
            Metric("previous_highest", "Most attention to the word before", float(previous.max())),
            Metric(
                "previous_count",
                "Heads with more than 0.3 at the word before",
                float((previous > LARGE).sum()),
            ),
            Metric("chance", "By chance", uniform),
        ),
        arrays={"previous": previous, "induction": induction},
    )


def findings(first: Result, second: Result) -> tuple[Finding, ...]:
    """Whether there are such heads, where both runs count the same."""
    del first, second
    return ()


USE = Use(
    key="induction",
    title="Previous-token and induction heads",
    question="Which heads look one word back, and which find what followed the same word before?",
    source="Olsson et al. 2022, arXiv 2209.11895",
    order=40,
    scope="model",
    compute=compute,
    findings=findings,
)
