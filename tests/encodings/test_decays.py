import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from generator.encodings import Decay
from tests.forms.decays import decay


def test_what_is_left_equals_a_recurrence() -> None:
    """Rates ln 2 and ln 4: halves and quarters with each position."""
    left = decay(np.log([[2.0, 4.0]])).left(np.array([0.0, 1.0, 2.0]))
    assert_allclose(left, [1.0, (1 / 2 + 1 / 4) / 2, (1 / 4 + 1 / 16) / 2], rtol=1e-12)
    # State after each token of the unit vectors, step by step.
    state, states = np.zeros(5), []
    for token in np.eye(5):
        state = 0.8 * state + token
        states.append(state)
    kernel = decay([[-np.log(0.8)]]).kernel(5)
    assert_allclose(np.nan_to_num(kernel[0]), states, rtol=1e-12)
    assert_array_equal(np.nan_to_num(decay(np.zeros((2, 3))).kernel(4)[0], nan=1.0), 1.0)


@pytest.mark.parametrize(
    ("n_units", "n_kept"), [(1, 1), (1025, 1025), (1026, 1025), (100_000, 1025)]
)
def test_of_many_rates_those_at_even_ranks_are_kept(n_units: int, n_kept: int) -> None:
    rates = np.random.default_rng(0).permutation(n_units).astype(np.float64)[None]
    form = Decay.of(rates, (0,), "state", at_zero_input=True)
    assert (form.rates.shape, form.n_units) == ((1, n_kept), n_units)
    assert (form.rates.min(), form.rates.max()) == (0.0, n_units - 1)
    for share in (0.1, 0.5, 0.9):
        assert abs(np.quantile(form.rates, share) - share * (n_units - 1)) <= max(
            1.0, n_units / 1024
        )


def test_rates_that_are_all_kept_stay_in_the_order_of_the_model() -> None:
    assert_array_equal(decay([[3.0, 1.0, 2.0]]).rates, [[3.0, 1.0, 2.0]])
