"""What acts in attention beside an encoding of position: sinks and temperature."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from generator.analyses import decay_with_distance, temperature_by_position, weight_of_the_sinks
from generator.contracts import Label
from generator.encodings import Sinks, Temperature
from generator.encodings.attention import sink_share as share_of
from generator.errors import NotApplicableError
from generator.numerics.arrays import frozen
from tests.support import subject

LN = np.log
SINKS = Sinks(frozen(LN([[128.0, 1.0], [128.0 / 3.0, 384.0]])), (1, 4))


def test_the_measures_of_sinks_by_hand() -> None:
    """Sinks that count as 128, 1, 128/3 and 384 keys, beside 128 keys: 1/2, 1/129, 1/4 and 3/4."""
    shares = share_of(SINKS.logits, np.array(128.0))
    assert_allclose(shares, [[1 / 2, 1 / 129], [1 / 4, 3 / 4]], rtol=1e-12)
    result = weight_of_the_sinks.compute(subject(SINKS))
    assert [result.value(key) for key in ("share", "half", "layers", "heads")] == pytest.approx(
        [37.5, 50.0, 2, 2]
    )
    assert (
        result.findings[0].text
        == "Beside 128 keys of logit 0, the sink takes at least half of the attention in 2 of 4"
        " heads. The strongest sink, with a logit of 5.95 in head 1 of layer 4, takes 75%."
    )
    with pytest.raises(NotApplicableError, match="the sinks"):
        weight_of_the_sinks.compute(subject(Sinks(frozen([[np.nan, 1.0]]), (0,))))


def test_a_layer_without_sinks_is_an_empty_row() -> None:
    figure = weight_of_the_sinks.ANALYSIS.figures[0]
    result = weight_of_the_sinks.compute(subject(SINKS))
    axes, _ = figure.draw({Label("Model", "#3d7fd6"): result}).axes
    cells = np.ma.filled(np.ma.asarray(axes.images[0].get_array(), dtype=np.float64), np.nan)
    assert np.isnan(cells).all(axis=1).tolist() == [True, False, True, True, False]


@pytest.mark.parametrize(("form", "first"), [(Temperature(0.1, 8192, 1, "steps", (), 10**6),
    8191.0), (Temperature(0.1, 8192, 0, "steps", (), 10**6), 8192.0), (Temperature(0.1, 16, 1,
    "smooth", (), 64), 16.0)])  # fmt: skip
def test_the_first_position_that_is_scaled(form: Temperature, first: float) -> None:
    every = form.factor(np.arange(10_000.0))
    assert (
        temperature_by_position.compute(subject(form)).value("first")
        == first
        == np.flatnonzero(every > 1.0)[0]
    )


@pytest.mark.parametrize(
    ("layers", "start"),
    [((), "Attention logits"), ((3,), "In layer 3, "), ((3, 7), "In layers 3, 7, attention")],
)
def test_the_layers_with_a_factor_are_named(layers: tuple[int, ...], start: str) -> None:
    form = Temperature(0.1, 8192, 1, "steps", layers, 10**6)
    assert temperature_by_position.compute(subject(form)).findings[0].text.startswith(start)


def test_the_last_factor_by_hand() -> None:
    """Llama 4 at position 8192 · 128 − 1: 1 + 0.1 · ln 129; within 4,096 it never grows."""
    far, near = (
        temperature_by_position.compute(subject(Temperature(0.1, 8192, floor, "steps", (), length)))
        for floor, length in ((1, 8192 * 128), (0, 4096))
    )
    assert far.value("last") == pytest.approx(1.0 + 0.1 * LN(129.0), rel=1e-12)
    assert near.metric("first").reason == "the factor is 1 throughout the context"
    text = (
        "The factor on the logits is 1 throughout the context of 4,096 positions, so it changes"
        " nothing there."
    )
    assert near.findings[0].text == text


@pytest.mark.parametrize("form", [SINKS, Temperature(0.1, 2048.0, 1, "power", (5,), 8192)])
def test_what_tells_no_position_has_no_decay_with_distance(form: Any) -> None:
    with pytest.raises(NotApplicableError, match="does not encode position"):
        decay_with_distance.compute(subject(form))
