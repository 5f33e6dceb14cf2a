from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.patches import StepPatch
from numpy.testing import assert_allclose

from generator.analyses.exponential_decay import compute, draw_layers
from generator.contracts import Label, Result
from generator.encodings import Form, OffsetBias
from generator.errors import NotApplicableError
from generator.numerics.arrays import frozen
from generator.schemes.alibi import slopes
from tests.analyses.on import texts_of
from tests.forms.decays import decay
from tests.forms.usual import bias
from tests.support import subject

LN2 = np.log(2.0)


def result_of(form: Form) -> Result:
    return compute(subject(form))  # type: ignore[arg-type]


def values(form: Form, *keys: str) -> list[Any]:
    return [result_of(form).value(key) for key in keys]


def alibi(n_heads: int) -> OffsetBias:
    offsets = np.arange(-8, 1)
    return OffsetBias(
        frozen(slopes(n_heads)[:, None] * offsets), frozen(offsets), causal=True, beyond="linear"
    )


def test_half_distances_by_hand() -> None:
    form = decay(LN2 / np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]))
    assert values(form, "median", "shortest", "longest", "layers", "units") == pytest.approx(
        [6.5, 1.0, 30.0, 2, 3]
    )
    assert_allclose(result_of(form).arrays["half_distances"], [[1, 2, 3], [10, 20, 30]], rtol=1e-12)
    # The 90th ÷ the 10th percentile.
    assert values(decay(LN2 / np.arange(1.0, 12.0)[None]), "spread") == pytest.approx([10.0 / 2.0])


def test_the_half_distances_of_alibi_follow_from_its_slopes() -> None:
    """Press et al. 2022, section 3: slopes 1/2 … 1/256 halve every 2 ln 2 … 256 ln 2 positions."""
    result = result_of(alibi(8))
    assert_allclose(result.arrays["half_distances"][0], LN2 * 2.0 ** np.arange(1, 9), rtol=1e-12)
    assert result.metric("layers").reason == "all layers share the same rates"
    assert texts_of(result) == [
        "Between equally matching keys, attention weight halves every 1.39 positions in the"
        " steepest head and every 177 positions in the flattest."
    ]


def test_the_share_of_alibi_equals_the_weights_of_a_softmax() -> None:
    """Of equal logits: the weight of a key against that of the query's own."""
    logits = torch.tensor(alibi(1).kernel(9)[0, -1])
    weights = torch.softmax(logits, 0).numpy()
    left = result_of(alibi(1)).arrays
    assert_allclose(left["left"][0], weights[-2] / weights[-1], rtol=1e-12)
    assert_allclose(
        np.interp(8.0, left["distances"], left["left"]), weights[0] / weights[-1], rtol=2e-3
    )


@pytest.mark.parametrize(
    ("rates", "missing"),
    [([[0.0, 1.0, 2.0]], {"longest"}), ([[0.0, 0.0, 1.0]], {"longest", "median", "spread"})],
)
def test_what_never_fades_has_no_half_distance(rates: list[list[float]], missing: set[str]) -> None:
    without = {metric.key for metric in result_of(decay(rates)).metrics if metric.value is None}
    of_layers = {"shortest_of_layer", "longest_of_layer"} if "median" in missing else set()
    assert without - {"spread"} == missing - {"spread"} | of_layers
    assert result_of(decay(rates)).findings[0].text.endswith(("slowest never.", "or the slowest."))


@pytest.mark.parametrize(("form", "reason"), [
    (decay(np.zeros((2, 3))), "every rate is 0"),
    (decay([[np.nan, 1.0]]), "the decay"),
    (decay([[-0.5, 1.0]]), "grows"),
    (bias(np.ones((2, 9))), "not linear"),
    (bias(np.ones((2, 1)), causal=True), "not linear"),
    (bias([[0.0, 1.0, 0.0]], causal=True), "does not fall linearly"),
    (bias([[2.0, 1.0, 0.0]], causal=True), "does not fall linearly"),
])  # fmt: skip
def test_what_does_not_decay_is_not_applicable(form: Form, reason: str) -> None:
    with pytest.raises(NotApplicableError, match=reason):
        result_of(form)


def test_a_finding_names_the_layers_that_forget_fastest_and_slowest_where_they_differ() -> None:
    _, text = texts_of(result_of(decay(LN2 / np.array([[5.0], [2.0], [9.0]]))))
    assert text == (
        "Layer 2 has the shortest memory, with a median half-distance of 2 positions, and layer 4"
        " the longest, with 9 positions."
    )
    assert len(texts_of(result_of(decay(LN2 / np.array([[5.0], [9.0]]))))) == 1


@pytest.mark.parametrize("at_zero_input", [True, False])
def test_a_finding_says_whether_the_rates_depend_on_the_content(at_zero_input: bool) -> None:
    form = decay(LN2 / np.array([[1.0, 2.0, 4.0]]), at_zero_input)
    assert texts_of(result_of(form))[0] == (
        f"{'At zero input, decay' if at_zero_input else 'Decay'} alone halves the state of the"
        " median head after 2 positions, that of the fastest after 1 position and that of the"
        " slowest after 4 positions."
    )


def test_layers_without_decay_are_left_empty() -> None:
    """Layers 0, 2 and 4 of a model: nothing is drawn at 1 and 3."""
    result = result_of(decay(np.random.default_rng(0).lognormal(size=(3, 600))))
    label = Label("Model", "#3d7fd6")
    (axes,) = draw_layers({label: result}).axes
    bands = [patch.get_data() for patch in axes.patches if isinstance(patch, StepPatch)]
    assert len(bands) == 3
    for values, edges, _ in bands:
        assert np.flatnonzero(np.isnan(values)).tolist() == [1, 3]
        assert edges.tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5]


def test_slopes_of_alibi_are_drawn_beside_a_decay() -> None:
    """Press et al. 2022, section 3: 8 heads with slopes 1/2 … 1/256."""
    (axes,) = draw_layers(
        {Label("Model", "#3d7fd6"): result_of(decay([[1.0, 2.0], [3.0, 4.0]]))}
    ).axes
    heights = [np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.lines]
    assert_allclose([line[0] for line in heights[:8]], LN2 * 2.0 ** np.arange(1, 9), rtol=1e-12)
    assert all(np.ptp(line) == 0.0 for line in heights[:8])
