"""Attention temperature: the factor on the logits by position."""

import numpy as np

from generator.contracts import (
    Analysis,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import Temperature
from generator.figures.canvas import Axes
from generator.figures.charts import Curves
from generator.numerics.arrays import Array, finite
from generator.text import rounded

WORDING = Wording("analyses/temperature_by_position.md.jinja")
N_POINTS = 1201


def compute(subject: Subject[Temperature]) -> Result:
    """The factor on the logits over the configured context, and where it begins to grow.

    arrays: positions (n,), up to N_POINTS of the context on a logarithmic scale, the last included;
        factor (n,)
    errors: NotApplicableError when the factor is not finite
    """
    form = subject.encoding.form
    positions = np.unique(np.round(np.geomspace(1.0, form.n_positions, N_POINTS))) - 1.0
    factor = finite(form.factor(positions), "the factor")
    first, last = _first_above(form), float(factor[-1])
    return Result(
        metrics=(
            Metric("last", "Factor at the last position of the context", last),
            Metric(
                "first",
                "First position with a factor above 1",
                first,
                reason="the factor is 1 throughout the context",
            ),
            Metric(
                "strength",
                "Growth per e-fold increase in position",
                None if form.growth == "power" else form.strength,
                reason=(
                    f"the factor is a power of position, with exponent {rounded(form.strength, 3)}"
                ),
            ),
            Metric(
                "layers",
                "Layers with the factor",
                len(form.layers) or None,
                reason="all layers have it",
            ),
            Metric("context", "Context length", form.n_positions, "positions"),
        ),
        arrays={"positions": positions, "factor": factor},
        findings=(_finding(form, first, last),),
    )


def _first_above(form: Temperature) -> float | None:
    """The first position of the context at which the factor exceeds 1; None where it never does."""
    low, high = 0, form.n_positions - 1
    if form.factor(np.array([float(high)]))[0] <= 1.0:
        return None
    while low < high:  # It never falls.
        middle = (low + high) // 2
        low, high = (
            (low, middle) if form.factor(np.array([float(middle)]))[0] > 1.0 else (middle + 1, high)
        )
    return float(low)


def _finding(form: Temperature, first: float | None, last: float) -> Finding:
    rests_on = ("last", "first", "context")
    if first is None:
        return Finding(WORDING("stays", context=form.n_positions), rests_on, 0.3)
    text = WORDING("grows", first=first, last=last, context=form.n_positions, layers=form.layers)
    places = np.array([first, form.n_positions - 1.0])
    spots = tuple(
        Spot("factor", place + 1.0, value)
        for place, value in zip(places, form.factor(places), strict=True)
    )
    return Finding(text, rests_on, 0.5, spots=spots)


def _factors(result: Result) -> tuple[Array, Array]:
    return result.arrays["positions"] + 1.0, result.arrays["factor"]


def _limits(axes: Axes, _: Results) -> None:
    axes.set_ylim(bottom=0.98, top=max(1.1, axes.get_ylim()[1]))


FACTORS = Curves(
    _factors,
    x="position of the query, counted from 1",
    y="factor on the logits",
    log="x",
    style={"drawstyle": "steps-post"},
    finish=_limits,
)


ANALYSIS = Analysis(
    key="temperature_by_position",
    stage="see",
    after="weight_of_the_sinks",
    answer=Headline("last", WORDING),
    forms=(Temperature,),
    compute=compute,
    figures=(
        FigureSpec(
            "factor",
            WORDING.figure("factor"),
            FACTORS,
            python=(
                'plt.plot(arrays["temperature_by_position.positions"] + 1, '
                'arrays["temperature_by_position.factor"])'
            ),
            overlays=True,
            varies=lambda result: result.value("first") is not None,
        ),
    ),
)
