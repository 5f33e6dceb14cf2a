"""Attention temperature: the factor on the logits by position."""

from typing import TYPE_CHECKING

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
from generator.encodings import Temperature
from generator.figures.lines import legend_below, with_line_styles
from generator.figures.panels import logarithmic, panels
from generator.numerics.arrays import finite
from generator.text import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
                "",
                None if first is not None else "none within the context",
            ),
            _strength(form),
            Metric(
                "layers",
                "Layers with the factor",
                float(len(form.layers)) if form.layers else None,
                "",
                None if form.layers else "all",
            ),
            Metric("context", "Context length", float(form.n_positions), "positions"),
        ),
        arrays={"positions": positions, "factor": factor},
        findings=(_finding(form, first, last),),
    )


def _strength(form: Temperature) -> Metric:
    power = form.growth == "power"
    return Metric(
        "strength",
        "Growth per factor of e in position",
        None if power else form.strength,
        "",
        (
            f"it grows as a power of position, with exponent {rounded(form.strength, 3)}"
            if power
            else None
        ),
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
        return Finding(
            f"The factor stays 1 over the whole context of {form.n_positions:,} positions.",
            rests_on,
            0.3,
        )
    text = (
        f"The factor on the logits exceeds 1 from position {rounded(first, 0)} on and reaches"
        f" {rounded(last, 3, 1.0)} at the last of {form.n_positions:,} positions."
    )
    places = np.array([first, form.n_positions - 1.0])
    spots = tuple(
        Spot("factor", place + 1.0, value)
        for place, value in zip(places, form.factor(places), strict=True)
    )
    return Finding(text, rests_on, 0.5, spots=spots)


def draw(results: Results) -> "Figure":
    """The factor by position, one line per checkpoint."""
    figure, (axes,) = panels(1, height=3.2)
    for label, result, dash in with_line_styles(results):
        axes.plot(
            result.arrays["positions"] + 1.0,
            result.arrays["factor"],
            color=label.colour,
            linestyle=dash,
            drawstyle="steps-post",
            label=label.title,
        )
    logarithmic(axes, "x")
    axes.set(xlabel="position of the query, counted from 1", ylabel="factor on the logits")
    axes.set_ylim(bottom=0.98, top=max(1.1, axes.get_ylim()[1]))
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def alt(results: Results) -> str:
    """Alternative text: where the factor begins to grow, and its last value."""
    summaries = (
        f"{label.title}: {_from(result)}, {rounded(result.value('last'), 3)} at the last of"
        f" {rounded(result.value('context'), 0)} positions"
        for label, result in results.items()
    )
    return "Factor on the logits by position, as a line. " + "; ".join(summaries) + "."


def _from(result: Result) -> str:
    first = result.value("first")
    return "1 throughout" if first is None else f"1 up to position {rounded(first - 1, 0)}"


ANALYSIS = Analysis(
    key="temperature_by_position",
    title="Temperature by position",
    question="From which position on are attention logits scaled, and by how much?",
    source=(
        "The code of transformers for each family; Nakanishi 2025 (arXiv 2501.19399) for a factor"
        " that grows with the logarithm of the length."
    ),
    stage="see",
    order=90,
    answer=Headline(
        "last",
        "Factor at the end",
        low="scales logits at its last position by only {}",
        high="scales logits at its last position by {}",
        least="smallest",
        most="largest",
    ),
    forms=(Temperature,),
    compute=compute,
    figures=(
        FigureSpec(
            key="factor",
            caption="Factor on the attention logits by position of the query.",
            how_to_read=(
                "At 1 nothing changes; above 1, logits differ more, so that the best keys keep"
                " their weight among more keys. The logarithmic axis ends with the configured"
                " context."
            ),
            alt=alt,
            python=(
                'plt.plot(arrays["temperature_by_position.positions"] + 1, '
                'arrays["temperature_by_position.factor"])'
            ),
            draw=draw,
            overlays=True,
            varies=lambda result: result.value("first") is not None,
        ),
    ),
)
