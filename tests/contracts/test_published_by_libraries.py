"""Published values whose source names a library, recomputed by that library alone."""

import numpy as np
import pytest

from generator.contracts.published import linear_by_4, llama_2, llama_3, llama_3_1, yarn_by_16

ANGLES = np.arange(512)[:, None] / 10000 ** (np.arange(0, 768, 2) / 768)
SINUSOID = np.stack([np.sin(ANGLES), np.cos(ANGLES)], axis=2).reshape(512, 768)


def test_cosines_of_the_sinusoid_by_scikit_learn() -> None:
    from sklearn.metrics.pairwise import cosine_similarity

    cosines = cosine_similarity(SINUSOID)
    profile = [float(np.diagonal(cosines, offset).mean()) for offset in range(512)]
    rises = [offset for offset in range(1, 512) if profile[offset] > profile[offset - 1] + 1e-9]
    mean = cosines[~np.eye(512, dtype=bool)].mean()
    assert (round(mean, 4), round(profile[1], 5), round(profile[10], 3), rises[0]) == (0.4205, 0.97336, 0.680, 44)


@pytest.mark.parametrize(
    ("table", "stable", "counts"), [(SINUSOID, 2.366, (65, 96, 129)), (SINUSOID - SINUSOID.mean(axis=0), 6.805, (90, 111, 133))]
)
def test_ranks_of_the_sinusoid_by_scipy(table: np.ndarray, stable: float, counts: tuple[int, ...]) -> None:
    from scipy.linalg import svdvals

    energy = svdvals(table) ** 2
    assert round(float(energy.sum() / energy[0]), 3) == stable
    assert tuple(int(np.searchsorted(energy.cumsum() / energy.sum(), share)) + 1 for share in (0.9, 0.95, 0.99)) == counts


def test_the_effective_rank_of_the_sinusoid_by_scipy() -> None:
    from scipy.linalg import svdvals
    from scipy.stats import entropy

    assert round(float(np.exp(entropy(svdvals(SINUSOID)))), 2) == 108.98


def test_norms_of_the_sinusoid_by_numpy() -> None:
    assert set(np.linalg.norm(SINUSOID, axis=1).round(4)) == {19.5959}


@pytest.mark.parametrize(
    ("form", "longest", "turns"),
    [(llama_2(), 54_410, 46), (llama_3(), 2_559_196, 35), (llama_3_1(), 20_473_566, 39), (linear_by_4(), 217_641, None), (yarn_by_16(), 870_562, None)],
)  # fmt: skip
def test_wavelengths_by_transformers(form: object, longest: int, turns: int | None) -> None:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    rope = {"rope_type": "default", **form.scaling, "rope_theta": form.base}  # type: ignore[attr-defined]
    config = LlamaConfig(hidden_size=4096, num_attention_heads=32, max_position_embeddings=form.n_positions, rope_parameters=rope)  # type: ignore[attr-defined]
    lengths = 2 * np.pi / LlamaRotaryEmbedding(config).inv_freq.double().numpy()
    assert lengths.max() == pytest.approx(longest, rel=3e-7, abs=0.5)
    assert turns is None or np.count_nonzero(lengths <= config.max_position_embeddings) == turns
