"""The figure of the first layer: which lines carry the names of their heads."""

import numpy as np
import pytest

from generator.analyses.use import kernel
from generator.contracts import Label, Result
from generator.numerics.arrays import Array, Floats
from generator.numerics.certainty import jackknife, without_each


@pytest.mark.parametrize(("n_heads", "named"), [(10, [*range(10)]), (11, [10, 9, 8, 7])])
def test_few_heads_are_all_named_and_of_more_those_with_the_widest_range(
    n_heads: int, named: list[int]
) -> None:
    ranges = np.arange(n_heads, dtype=float)
    logits = np.outer(ranges, [0.5, -0.5, 0.0])
    arrays = {"offsets": np.arange(-1, 2), "logits": logits}
    figure = kernel.draw({Label("Model", "#111111"): Result((), arrays)})
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert texts == {f"head {head}" for head in named}


def by_tokens(seed: int) -> tuple[Floats, Array]:
    """Logits (64, 8, 1, 9) that depend on the offset and on the tokens of keys, of which there are
    a hundred, and the tokens (64, 20).
    """
    draws = np.random.default_rng(seed)
    words, effects = draws.integers(100, size=(64, 20)), draws.normal(size=100)
    logits = np.linspace(-1.0, 1.0, 9) + effects[words[:, OF_KEY]]
    return logits[:, :, None, :], words


OF_QUERY = np.arange(10, 18)[:, None]
OF_KEY = OF_QUERY + np.arange(-9, 0)


def test_the_error_of_the_choice_of_tokens_is_the_spread_over_choices() -> None:
    cases = [by_tokens(seed) for seed in range(30)]
    spread = np.std([kernel._share(*kernel._mean_and_spread(logits)) for logits, _ in cases])
    errors = [
        jackknife(np.array([*kernel._without_tokens(*case, OF_QUERY, OF_KEY)])) for case in cases
    ]
    assert 0.5 * spread < np.mean(errors) < 2.0 * spread
    without = [jackknife(_without_texts(logits)) for logits, _ in cases]
    assert np.mean(without) < 0.5 * spread  # The order of the tokens says little of it.


def _without_texts(logits: Floats) -> Floats:
    return np.array(
        [kernel._share(*kernel._mean_and_spread(rest)) for rest in without_each(logits)]
    )
