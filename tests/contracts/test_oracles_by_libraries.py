"""Values that other code computed: that code, run again. Those of stored tables need
POSITION_ATLAS_CHECKPOINTS, as in test_oracles.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
from scipy.linalg import svdvals
from scipy.stats import entropy
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity, paired_cosine_distances
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score

from generator.contracts import InPrint, Oracle
from generator.contracts.oracles import DISTILBERT, GPT2, VERSIONS, Check
from generator.encodings import PositionTable
from generator.numerics.arrays import Array, Floats
from tests.contracts.test_oracles import CASES, stored

ANGLES = np.arange(512)[:, None] / 10000 ** (np.arange(0, 768, 2) / 768)
SINUSOID = np.stack([np.sin(ANGLES), np.cos(ANGLES)], axis=2).reshape(512, 768)
TURN = 2.0 * np.pi
RECOMPUTED = [case for _, case in CASES if not isinstance(case.source, InPrint)]
Numbers = Sequence[Any] | Array


def table(sha256: str) -> Floats:
    """The stored table with this digest (n_positions, d_model)."""
    form = stored(sha256)
    if form is None:
        pytest.skip(
            f"needs the table with SHA-256 {sha256} in a checkpoint of POSITION_ATLAS_CHECKPOINTS"
        )
    assert isinstance(form, PositionTable)
    return form.vectors


@cache
def cosines() -> Floats:
    """Cosines of the sinusoid (512, 512)."""
    return np.asarray(cosine_similarity(SINUSOID))


def mean_cosines() -> Floats:
    """Mean of each diagonal, from offset 0: (512,)."""
    return np.array([np.diagonal(cosines(), offset).mean() for offset in range(512)])


def rise() -> Numbers:
    profile = mean_cosines()
    return [
        next(offset for offset in range(1, 512) if profile[offset] > profile[offset - 1] + 1e-9)
    ]


def invariance() -> Numbers:
    """1 − (squared deviations from the means of diagonals) / (from the mean of all pairs)."""
    i, j = np.triu_indices(512, 1)
    values, means = cosines()[i, j], mean_cosines()[j - i]
    return [1.0 - ((values - means) ** 2).sum() / ((values - values.mean()) ** 2).sum()]


def neighbours() -> Numbers:
    vectors = table(DISTILBERT)
    adjacent = 1.0 - paired_cosine_distances(vectors[:-1], vectors[1:])
    return [adjacent[1:123].mean(), adjacent[130:].mean()]


def energy(vectors: Floats) -> Floats:
    """Squared singular values, descending: (n_values,)."""
    return np.asarray(svdvals(vectors)) ** 2


def stable_rank(vectors: Floats) -> Numbers:
    return [energy(vectors).sum() / energy(vectors)[0]]


def centred(vectors: Floats) -> Floats:
    return np.asarray(vectors - vectors.mean(axis=0))


def components(vectors: Floats) -> Numbers:
    shares = energy(vectors).cumsum() / energy(vectors).sum()
    return [int(np.searchsorted(shares, share)) + 1 for share in (0.9, 0.95, 0.99)]


def effective_rank() -> Numbers:
    return [np.exp(entropy(np.sqrt(energy(SINUSOID))))]


def principal_components() -> Numbers:
    return 100.0 * np.cumsum(PCA().fit(table(GPT2)).explained_variance_ratio_)[:4]


def position_error(vectors: Floats, n_orders: int) -> Numbers:
    """Mean over random orders of the rows."""
    orders = [np.random.default_rng(seed).permutation(len(vectors)) for seed in range(n_orders)]
    predictions = [
        cross_val_predict(LinearRegression(), vectors[order], order, cv=KFold(5))
        for order in orders
    ]
    return [
        np.mean(
            [
                np.abs(np.round(read) - order).mean()
                for read, order in zip(predictions, orders, strict=True)
            ]
        )
    ]


def order_error(vectors: Floats, n_pairs: int, n_samples: int) -> Numbers:
    """Mean over random samples of pairs, per cent."""
    accuracies = []
    for seed in range(n_samples):
        first, second = np.random.default_rng(seed).integers(0, len(vectors), (2, n_pairs))
        pairs = np.hstack([vectors[first], vectors[second]])
        accuracies.append(
            cross_val_score(LogisticRegression(max_iter=1000), pairs, second > first, cv=5).mean()
        )
    return [100.0 * (1.0 - np.mean(accuracies))]


def frequencies(base: float) -> Floats:
    """Of the 64 pairs of a head of 128 components."""
    return np.asarray(base ** (-np.arange(0, 128, 2) / 128))


def turning(base: float, n_positions: int, head_dim: int = 128) -> Numbers:
    """Longest wavelength, pairs with a full turn, all pairs."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    rope = {"rope_type": "default", "rope_theta": base}
    config = LlamaConfig(
        hidden_size=32 * head_dim,
        num_attention_heads=32,
        max_position_embeddings=n_positions,
        rope_parameters=rope,
    )
    lengths = TURN / LlamaRotaryEmbedding(config).inv_freq.double().numpy()
    return [lengths.max(), np.count_nonzero(lengths <= n_positions), len(lengths)]


def rescaled() -> Floats:
    """Frequencies of Llama 3.1: factor 8, wavelengths below 8192 / 4 as they were, above 8192 / 1
    all slower, a blend between.
    """
    plain = frequencies(5e5)
    share = (8192 * plain / TURN - 1.0) / (4.0 - 1.0)
    return np.where(
        share > 1.0,
        plain,
        np.where(share < 0.0, plain / 8.0, (1.0 - share) * plain / 8.0 + share * plain),
    )


def stretched() -> Floats:
    """Frequencies of Llama 2 with YaRN: factor 16, a ramp from the pair with 32 turns in 4,096
    positions to the pair with 1.
    """
    plain = frequencies(1e4)
    low, high = (128 * np.log(4096 / (turns * TURN)) / (2 * np.log(1e4)) for turns in (32, 1))
    ramp = np.clip((np.arange(64) - np.floor(low)) / (np.ceil(high) - np.floor(low)), 0.0, 1.0)
    return np.asarray(ramp * plain / 16.0 + (1.0 - ramp) * plain)


def slowed(plain: Floats, scaled: Floats, factor: float) -> Numbers:
    """Pairs unchanged, slowed by the whole factor, and between."""
    ratios = plain / scaled
    unchanged, full = (
        np.count_nonzero(np.isclose(ratios, 1.0)),
        np.count_nonzero(np.isclose(ratios, factor)),
    )
    return [unchanged, full, len(ratios) - unchanged - full]


def first_distances(causal: bool) -> Numbers:
    import torch
    from transformers.models.t5.modeling_t5 import T5Attention

    bucket = T5Attention._relative_position_bucket(-torch.arange(256), not causal, 32, 128).numpy()
    return [int(np.argmax(bucket == index)) for index in range(bucket.max() + 1)]


def last_slope() -> Numbers:
    import torch
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    return [float(build_alibi_tensor(torch.ones(1, 2), 12, torch.float64)[-1, 0, 1])]


BY: dict[str, Callable[[], Numbers]] = {
    "Mean cosine of two different positions of the sinusoid, 512 × 768": lambda: [
        cosines()[~np.eye(512, dtype=bool)].mean()
    ],
    "Cosine of adjacent positions of the sinusoid, 512 × 768": lambda: [mean_cosines()[1]],
    "Mean cosine of the sinusoid, 512 × 768, at distance 10": lambda: [mean_cosines()[10]],
    "Distance at which the mean cosine of the sinusoid, 512 × 768, first rises": rise,
    "Translation invariance of the sinusoid, 512 × 768": invariance,
    "Mean cosine of adjacent positions of a DistilBERT's table, from position 1 to 123 and from 130"
    " on": neighbours,
    "Stable rank of the sinusoid, 512 × 768": partial(stable_rank, SINUSOID),
    "Effective rank of the sinusoid, 512 × 768": effective_rank,
    "Components of the sinusoid, 512 × 768, for 90, 95 and 99% of the energy": partial(
        components, SINUSOID
    ),
    "Stable rank of the sinusoid, 512 × 768, mean-centred": lambda: stable_rank(centred(SINUSOID)),
    "Components of the sinusoid, 512 × 768, mean-centred, for 90, 95 and 99% of the energy": (
        lambda: components(centred(SINUSOID))
    ),
    "Stable rank of GPT-2's table": lambda: stable_rank(table(GPT2)),
    "Stable rank of GPT-2's table, mean-centred": lambda: stable_rank(centred(table(GPT2))),
    "Stable rank of positions 1 to 511 of GPT-2's table, mean-centred": lambda: stable_rank(
        centred(table(GPT2)[1:512])
    ),
    "Smallest and largest norm of the sinusoid, 512 × 768": lambda: [
        extreme(np.linalg.norm(SINUSOID, axis=1)) for extreme in (np.min, np.max)
    ],
    "Norm of positions 0, 1, 2, 10, 63 and 1023 of GPT-2": lambda: np.linalg.norm(
        table(GPT2), axis=1
    )[[0, 1, 2, 10, 63, 1023]],
    "Variance of GPT-2's table in the first 1, 2, 3 and 4 components": principal_components,
    "Mean error on the sinusoid, 512 × 768": lambda: position_error(SINUSOID, 5),
    "Mean error on the first 512 rows of GPT-2's table": lambda: position_error(
        table(GPT2)[:512], 20
    ),
    "Error on the sinusoid, 512 × 768, with 512 pairs": lambda: order_error(SINUSOID, 512, 30),
    "Error on the sinusoid, 512 × 768, with 8,192 pairs": lambda: order_error(SINUSOID, 8192, 2),
    "Error on the first 512 rows of GPT-2's table": lambda: order_error(table(GPT2)[:512], 512, 30),
    "Phi-3-mini: longest wavelength, pairs with a full turn, all pairs": lambda: turning(
        1e4, 2048, 96
    ),
    "Llama 2: longest wavelength, pairs with a full turn, all pairs": lambda: turning(1e4, 4096),
    "Llama 3: longest wavelength, pairs with a full turn, all pairs": lambda: turning(5e5, 8192),
    "Llama 3.1: longest wavelength": lambda: [TURN / rescaled()[-1]],
    "Llama 3.1: pairs with a full turn": lambda: [np.count_nonzero(TURN / rescaled() <= 131_072)],
    "Llama 3.1: pairs unchanged, slowed eightfold, between": lambda: slowed(
        frequencies(5e5), rescaled(), 8.0
    ),
    "Llama 3.1: ratio of wavelengths of the six between": lambda: (frequencies(5e5) / rescaled())[
        29:35
    ],
    "Llama 2 with linear scaling by 4: longest wavelength": lambda: [
        4.0 * TURN / frequencies(1e4)[-1]
    ],
    "Llama 2 with YaRN scaling by 16: longest wavelength": lambda: [TURN / stretched()[-1]],
    "Llama 2 with YaRN scaling by 16: attention factor": lambda: [0.1 * np.log(16.0) + 1.0],
    "Llama 2 with YaRN scaling by 16: pairs unchanged, slowed fully, between": lambda: slowed(
        frequencies(1e4), stretched(), 16.0
    ),
    "First distance of each bucket in an encoder, 32 buckets up to 128": lambda: first_distances(
        causal=False
    ),
    "First distance of each bucket in a decoder, 32 buckets up to 128": lambda: first_distances(
        causal=True
    ),
    "Last slope of 12 heads": last_slope,
}


# Of a linear classifier, fitted to thousands of pairs of long vectors;
# tests/analyses/test_probes.py compares smaller fits with the same library.
SLOW = [case for key, case in CASES if key == "order_probe"]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.what, marks=[pytest.mark.thorough] if case in SLOW else [])
        for case in RECOMPUTED
    ],
)
def test_other_code_gives_the_value_again(case: Oracle) -> None:
    half_a_unit = 0.5 * 10.0 ** -Check(case, None).digits
    np.testing.assert_allclose(
        np.asarray(BY[case.what](), dtype=float),
        Check(case, None).printed,
        rtol=2e-7,
        atol=half_a_unit,
    )


def test_every_value_that_other_code_computed_is_computed_here() -> None:
    assert set(BY) == {case.what for case in RECOMPUTED}


@pytest.mark.parametrize("library", VERSIONS)
def test_the_versions_named_are_those_with_which_the_tests_run(library: str) -> None:
    assert version(library) == VERSIONS[library]
