"""The figure of the first layer: which lines carry the names of their heads."""

import numpy as np
import pytest

from generator.analyses.use import kernel
from generator.contracts import Label, Result


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
