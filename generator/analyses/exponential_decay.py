"""Half-distances: how far back half of a state, or of a key's weight, is left."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.contracts import (
    Analysis,
    FigureSpec,
    Finding,
    Headline,
    Label,
    Metric,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import Decay, OffsetBias
from generator.errors import NotApplicableError
from generator.figures.canvas import Axes, Figure
from generator.figures.charts import Curves
from generator.figures.panels import panels, wrapped
from generator.figures.scene import DOTTED, Band, Line, StraightLine, add
from generator.figures.style import REFERENCE
from generator.numerics.arrays import Array, Floats, finite, frozen
from generator.text import significant

WORDING = Wording("analyses/exponential_decay.md.jinja")
FARTHEST, N_DISTANCES = 5, 81  # Powers of ten, and distances, of the curves.
MOST_DOTS = 1500  # of all layers and panels together; with more, bands are drawn.
MOST_LINES = 128
SHORTEST_SHOWN, LONGEST_SHOWN = 1e-2, 1e7  # positions; limits of the vertical axis
QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
STRAIGHT = 1e-6  # Of the largest bias: rounding of a straight line.
# Slopes of 8 heads (Press et al. 2022, section 3), for comparison, in logits per position.
ALIBI = 2.0 ** -np.arange(1.0, 9.0)
APART = 2.0  # Ratio of two layers' medians from which they are told apart.


def compute(subject: Subject[Decay | OffsetBias]) -> Result:
    """Half-distances ln 2 / rate, for e^(−rate · distance) of a state, or of a key's weight at
    equal contents.

    arrays: half_distances (n_layers, n_rates), in positions, infinite for a rate of 0; layers
        (n_layers,), indices, −1 for all layers alike; distances, left (n_distances,), the mean of
        e^(−rate · distance); quarters (2, n_distances), its quartiles over all rates
    errors: NotApplicableError when a rate is not finite or negative, when all are 0, or when a bias
        is no straight line that falls
    """
    form = subject.encoding.form
    decay = form if isinstance(form, Decay) else _of_bias(form)
    rates = finite(decay.rates, "the decay")
    if rates.min() < 0.0:
        raise NotApplicableError("part of its state grows instead of decaying")
    if not rates.any():
        raise NotApplicableError("every rate is 0, so nothing decays")
    halves = np.divide(math.log(2.0), rates, out=np.full(rates.shape, np.inf), where=rates > 0.0)
    distances = np.logspace(0.0, FARTHEST, N_DISTANCES)
    with np.errstate(over="ignore"):
        quarters = np.exp(-np.quantile(rates, (0.75, 0.25), method="nearest")[:, None] * distances)
    of_layers = decay is form
    return Result(
        metrics=(
            *_of_halves(halves),
            Metric(
                "layers",
                "Layers with decay",
                len(rates) if of_layers else None,
                reason="all layers share the same rates",
            ),
            *_of_layer_medians(np.median(halves, axis=1)),
            Metric("units", "Rates per layer", decay.n_units),
        ),
        arrays={
            "half_distances": halves,
            "layers": np.array(decay.layers if of_layers else [-1]),
            "distances": distances,
            "left": decay.left(frozen(distances)),
            "quarters": quarters,
        },
        findings=tuple(_of_decay(decay, halves) if of_layers else _of_slopes(halves)),
    )


def _of_halves(halves: Floats) -> Iterator[Metric]:
    for key, name, value, unit in (
        ("median", "median", np.median(halves), "positions"),
        ("shortest", "shortest", halves.min(), "positions"),
        ("longest", "longest", halves.max(), "positions"),
        ("spread", "90th ÷ 10th percentile", _spread(halves), ""),
    ):
        title = f"Half-distance, {name}"
        yield Metric(key, title, _finite(value), unit, "infinite, because some rates are 0")


def _of_layer_medians(medians: Floats) -> Iterator[Metric]:
    """medians: (n_layers,), of half-distances"""
    for name, value in (("shortest", medians.min()), ("longest", medians.max())):
        title, reason = f"Half-distance, {name} median of a layer", "infinite, because rates are 0"
        yield Metric(f"{name}_of_layer", title, _finite(value), "positions", reason)


def _of_bias(form: OffsetBias) -> Decay:
    """The rates of a bias that is a straight line: softmax makes of slope · distance a factor
    e^(−slope · distance).

    errors: NotApplicableError
    """
    values = finite(form.values, "the bias")
    if form.beyond != "linear" or not form.causal or values.shape[1] < 2:
        raise NotApplicableError("its bias is not linear in distance, so it has no rate")
    # (n_heads,), logits per position
    slopes = (values[:, -1] - values[:, 0]) / (form.offsets[-1] - form.offsets[0])
    line = values[:, :1] + slopes[:, None] * (form.offsets - form.offsets[0])
    if np.max(np.abs(values - line)) > STRAIGHT * np.max(np.abs(values)) or slopes.min() < 0.0:
        raise NotApplicableError("its bias does not fall linearly with distance, so it has no rate")
    return Decay.of(slopes[None], (-1,), "head", at_zero_input=False)


def _spread(halves: Floats) -> float:
    """Ratio of the 90th to the 10th percentile of half-distances (n_layers, n_rates)."""
    low, high = np.quantile(halves, (0.1, 0.9), method="nearest")
    with np.errstate(over="ignore"):
        return float(high / low) if low > 0.0 and math.isfinite(low) else math.inf


def _finite(value: float) -> float | None:
    """``value``; None where it is infinite."""
    return float(value) if math.isfinite(value) else None


def _of_decay(decay: Decay, halves: Floats) -> Iterator[Finding]:
    at_zero_input, median = decay.at_zero_input, _finite(np.median(halves))
    if halves.size == 1:
        text = WORDING("rate", at_zero_input=at_zero_input, half=median)
        yield Finding(text, ("median",), 0.6)
        return
    text = WORDING(
        "rates",
        at_zero_input=at_zero_input,
        median=median,
        unit=decay.unit,
        shortest=_finite(halves.min()),
        longest=_finite(halves.max()),
    )
    yield Finding(text, ("median", "shortest", "longest"), 0.6)
    yield from _of_layers(decay, halves)


def _of_layers(decay: Decay, halves: Floats) -> Iterator[Finding]:
    """A finding when the medians of two layers differ by more than ``APART``."""
    medians = np.median(halves, axis=1)  # (n_layers,)
    ends = int(medians.argmin()), int(medians.argmax())
    shortest, longest = (float(medians[layer]) for layer in ends)
    if not math.isfinite(longest) or longest < APART * shortest:
        return
    first, last = (decay.layers[layer] for layer in ends)
    text = WORDING("medians", first=first, shortest=shortest, last=last, longest=longest)
    shown = np.clip((shortest, longest), SHORTEST_SHOWN, LONGEST_SHOWN)
    spots = tuple(
        Spot("layers", float(layer), float(half))
        for layer, half in zip((first, last), shown, strict=True)
    )
    yield Finding(text, ("layers", "shortest_of_layer", "longest_of_layer"), 0.5, spots=spots)


def _of_slopes(halves: Floats) -> Iterator[Finding]:
    shortest, longest = _finite(halves.min()), _finite(halves.max())
    text = WORDING("slopes", shortest=shortest, longest=longest, n_heads=halves.size)
    is_single = halves.size == 1 or longest is None
    yield Finding(text, ("shortest",) if is_single else ("shortest", "longest"), 0.4)


def draw_layers(results: Results) -> Figure:
    """Half-distances by layer, one panel per encoding, and those of ALiBi's slopes, dotted.

    Points, bands of quartiles where there are many, lines where all layers are alike.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    single = len(results) == 1
    figure, axes = panels(len(results), columns=1 if single else 2, height=3.6 if single else 2.9)
    limits = _limits(results)
    n_dots = sum(result.arrays["half_distances"].size for result in results.values())
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        ax.set(yscale="log", ylim=limits, ylabel="half-distance (positions)", xlabel="layer")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: significant(value, 3)))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_title(wrapped(label.title))
        style: dict[str, Any] = {"colour": REFERENCE, "width": 0.7, "dash": DOTTED, "order": 0.0}
        for index, slope in enumerate(ALIBI if result.arrays["layers"][0] >= 0 else ()):
            name = "" if index else "ALiBi, 8 heads"
            add(ax, StraightLine("y", math.log(2.0) / slope, name=name, **style))
        _draw_layers_of(ax, label, result, limits, dots=n_dots <= MOST_DOTS)
    entries = {
        name: handle
        for ax in axes
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    if entries:
        figure.legend(
            list(entries.values()), list(entries), loc="outside lower center", ncols=len(entries)
        )
    return figure


def _draw_layers_of(
    axes: Axes, label: Label, result: Result, limits: tuple[float, float], dots: bool
) -> None:
    halves, layers = np.clip(result.arrays["half_distances"], *limits), result.arrays["layers"]
    colour = label.colour
    if layers[0] < 0:
        for rate in np.argsort(halves[0])[:: -(-halves.shape[1] // MOST_LINES)]:
            ends = np.full(2, halves[0, rate])
            add(axes, Line([0, 1], ends, colour=colour, width=1.0, name=f"_rate {rate}"))
        axes.set(xlabel="the same in all layers", xlim=(0, 1), xticks=[])
    elif dots:
        places, name = np.repeat(layers, halves.shape[1]), f"_{label.title}"
        style: dict[str, Any] = {"marker": "o", "size": 2.6, "is_joined": False, "alpha": 0.7}
        add(axes, Line(places, halves.ravel(), colour=colour, name=name, **style))
    else:
        every = np.arange(layers.min(), layers.max() + 1)
        low, lower, median, upper, high = _of_every_layer(
            np.quantile(halves, QUARTILES, axis=1, method="nearest"), layers
        )
        style = {"colour": colour, "edges": np.append(every, every[-1] + 1) - 0.5}
        add(
            axes,
            Band(every, low, high, alpha=0.18, name="all", **style),
            Band(every, lower, upper, alpha=0.4, name="middle half", **style),
            Line(every, median, name="median", order=1.0, **style),
        )


def _of_every_layer(values: Floats, layers: Array) -> Floats:
    """``values`` (n_values, n_layers) from the first to the last of ``layers`` (n_layers,), NaN for
    layers between that are not among them.
    """
    every = np.full((len(values), int(np.ptp(layers)) + 1), np.nan)
    every[:, layers - layers.min()] = values
    return every


def _limits(results: Results) -> tuple[float, float]:
    """Limits of the vertical axis, with room around all half-distances that are shown."""
    halves = np.concatenate(
        [result.arrays["half_distances"].ravel() for result in results.values()]
    )
    shown = np.clip(
        [*halves[np.isfinite(halves)], *(math.log(2.0) / ALIBI)], SHORTEST_SHOWN, LONGEST_SHOWN
    )
    return float(shown.min()) / 2.0, float(shown.max()) * 2.0


def left_by_distance(result: Result) -> tuple[Array, Array]:
    """Distances, and what is left there, the mean over all rates."""
    return result.arrays["distances"], result.arrays["left"]


def _middle_half(label: Label, result: Result, count: int) -> Iterator[Band]:
    if count == 1:
        distances, (low, high) = result.arrays["distances"], result.arrays["quarters"]
        name = "middle half of the rates"
        yield Band(distances, low, high, colour=label.colour, alpha=0.2, name=name)


def _alibi(_: Results) -> tuple[Line]:
    distances = np.logspace(0.0, FARTHEST, N_DISTANCES)
    left = np.exp(-ALIBI[:, None] * distances).mean(axis=0)
    style: dict[str, Any] = {"dash": DOTTED, "order": 0.0, "name": "ALiBi, 8 heads"}
    return (Line(distances, left, colour=REFERENCE, **style),)


LEFT = Curves(
    left_by_distance,
    x="distance (positions)",
    y="share left",
    log="x",
    xlim=(1.0, 10.0**FARTHEST),
    ylim=(0.0, 1.02),
    height=3.4,
    rules=(StraightLine("y", 0.5, width=0.8, dash=DOTTED),),
    below=_middle_half,
    last=_alibi,
)


def _at_distances(result: Result) -> dict[str, Any]:
    line = left_by_distance(result)
    return {"left": [(float(np.interp(each, *line)), each) for each in (1, 100, 10_000)]}


ANALYSIS = Analysis(
    key="exponential_decay",
    stage="see",
    after="vectors_by_offset",
    answer=Headline("median", WORDING),
    forms=(Decay, OffsetBias),
    compute=compute,
    figures=(
        FigureSpec(
            "layers",
            WORDING.figure("layers"),
            draw_layers,
            python=(
                'plt.semilogy(arrays["exponential_decay.layers"], '
                'arrays["exponential_decay.half_distances"], "k.")'
            ),
        ),
        FigureSpec(
            "left",
            WORDING.figure("left", _at_distances),
            LEFT,
            python=(
                'plt.semilogx(arrays["exponential_decay.distances"], '
                'arrays["exponential_decay.left"])'
            ),
            overlays=True,
        ),
    ),
    overlay=LEFT.overlay(),
)
