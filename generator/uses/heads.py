"""Which heads attend by position: mean attention by offset while a model reads random words."""

from collections import defaultdict
from typing import Any

import numpy as np

from generator.checkpoints.model.live.stack import Stack
from generator.contracts import Finding, Metric, Result, Use
from generator.numerics.arrays import Array, Floats
from generator.numerics.attention_profiles import at, chance, grid_profile, profile

FEWEST_SEQUENCES = 60
LARGE = 0.3  # Share of a head's attention that makes it a head of that kind.
NEAR = 8  # positions
IMAGES = 8
KINDS = {"previous": -1, "own": 0, "next": 1}


def compute(stack: Stack, seed: int) -> Result:
    """Attention by offset of each layer and head.

    Words are random, so that content says nothing; words that are all the same would leave every
    position of a model with relative positions in the same state.
    arrays: offsets (n_offsets,), int; by_offset (n_layers, n_heads, n_offsets); first (n_layers,
        n_heads), to the first position; for images pictures (n_layers, n_heads, n_rows, n_columns)
        in place of the first two
    errors: NotApplicableError
    """
    return _of_images(stack, seed) if stack.grid else _of_words(stack, seed)


def _of_words(stack: Stack, seed: int) -> Result:
    means = _means(stack, stack.inputs(seed, max(stack.n_sequences, FEWEST_SEQUENCES)))
    profiles = [profile(mean, stack.is_causal) for mean in means]
    first = np.stack([found.first for found in profiles])
    shares = {
        kind: np.stack([at(found, offset) for found in profiles]) for kind, offset in KINDS.items()
    }
    near = np.abs(profiles[0].offsets) <= NEAR
    within = np.stack([found.by_offset[:, near].sum(axis=1) for found in profiles])
    return Result(
        metrics=_metrics({**shares, "first": first}, within, chance(stack.length, stack.is_causal)),
        arrays={
            "offsets": profiles[0].offsets,
            "by_offset": np.stack([found.by_offset for found in profiles]),
            "first": first,
        },
    )


def _of_images(stack: Stack, seed: int) -> Result:
    grid = stack.grid or (0, 0)
    pictures: defaultdict[int, Any] = defaultdict(float)
    first: defaultdict[int, Any] = defaultdict(float)

    def note(layer: int, weights: Any) -> None:
        mean = weights.mean(dim=0).double().cpu().numpy()
        picture, of_first = grid_profile(mean, grid, stack.n_first)
        pictures[layer] += picture * len(weights) / IMAGES
        first[layer] += of_first * len(weights) / IMAGES

    for _ in stack.run(stack.inputs(seed, IMAGES), note, batch=1):
        pass
    by_layer = np.stack([pictures[layer] for layer in sorted(pictures)])
    of_first = np.stack([first[layer] for layer in sorted(first)])
    row, column = (size // 2 for size in by_layer.shape[2:])
    middle = by_layer[:, :, row - 1 : row + 2, column - 1 : column + 2]
    shares = {
        "own": middle[:, :, 1, 1],
        "beside": middle[:, :, [0, 2, 1, 1], [1, 1, 0, 2]].sum(axis=2),
        "first": of_first,
    }
    return Result(
        metrics=_metrics(shares, middle.sum(axis=(2, 3)), 1.0 / stack.attention.shape[2]),
        arrays={"pictures": by_layer, "first": of_first},
    )


def _means(stack: Stack, inputs: Array) -> list[Floats]:
    """Attention of each layer, on average over ``inputs``: (n_heads, n, n) each."""
    sums: defaultdict[int, Any] = defaultdict(float)

    def note(layer: int, weights: Any) -> None:
        sums[layer] += weights.double().sum(dim=0).cpu().numpy()

    for _ in stack.run(inputs, note):
        pass
    return [sums[layer] / len(inputs) for layer in sorted(sums)]


TITLES = {
    "previous": "Heads at the previous position",
    "own": "Heads at the query's own position",
    "next": "Heads at the next position",
    "beside": "Heads at the four patches beside",
    "first": "Heads at the first position",
}


def _metrics(shares: dict[str, Floats], within: Floats, uniform: float) -> tuple[Metric, ...]:
    """shares: (n_layers, n_heads) by kind; within: attention nearby; uniform: attention to one key
    of a head that tells none apart
    """
    is_of = {kind: values > LARGE for kind, values in shares.items()}
    none = ~np.any(list(is_of.values()), axis=0)
    return (
        *(
            Metric(kind, TITLES[kind], 100.0 * float(found.mean()), "%")
            for kind, found in is_of.items()
        ),
        Metric("none", "Heads of no such kind", 100.0 * float(none.mean()), "%"),
        *(
            Metric(
                f"{kind}_highest",
                f"Most attention there ({TITLES[kind].lower()})",
                100.0 * float(values.max()),
                "%",
            )
            for kind, values in shares.items()
        ),
        Metric("within", "Attention nearby, on average", 100.0 * float(within.mean()), "%"),
        Metric("uniform", "Attention to one key by chance", 100.0 * uniform, "%"),
    )


def findings(first: Result, second: Result) -> tuple[Finding, ...]:
    """Which kinds of heads there are, where both runs count the same."""
    del first, second
    return ()


USE = Use(
    key="heads",
    title="Attention by offset",
    question="Which heads attend by position, whatever the words?",
    source=(
        "Clark et al. 2019, arXiv 1906.04341, section 3, for heads at the previous and the next"
        " token; Xiao et al. 2024, arXiv 2309.17453, for the first"
    ),
    order=20,
    scope="model",
    compute=compute,
    findings=findings,
)
