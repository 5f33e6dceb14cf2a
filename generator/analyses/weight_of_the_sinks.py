"""Attention sinks: their logits, and the weight that they take from the keys."""

import math
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
from generator.encodings import Sinks
from generator.encodings.attention import sink_share
from generator.figures.lines import DOTTED, legend_below, with_line_styles
from generator.figures.panels import Panel, image_panels, logarithmic, panels
from generator.figures.style import DIVERGING, MUTED
from generator.numerics.arrays import Array, Floats, finite
from generator.text import counted, rounded, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS = 128  # as in gpt-oss, whose layers with a window see as many
MOST_KEYS, N_POINTS = 6, 121  # A power of ten, and points of the curves.
LIMIT = 6.0  # logit, of the colours; e^6 is as much as 403 keys
QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def compute(subject: Subject[Sinks]) -> Result:
    """The logits of sinks, and the weight that they take from keys whose logits are all 0.

    arrays: logits (n_layers, n_heads); layers (n_layers,); keys (n_points,), numbers of keys;
        shares (5, n_points), minimum, quartiles and maximum over all heads of the weight that goes
        to the sink
    errors: NotApplicableError when a logit is not finite
    """
    form = subject.encoding.form
    logits = finite(form.logits, "the sinks")
    at_keys = sink_share(logits, np.array(float(KEYS)))
    n_half, n_heads = int(np.count_nonzero(at_keys >= 0.5)), logits.size
    keys = np.logspace(0.0, MOST_KEYS, N_POINTS)
    layer, head = np.unravel_index(int(logits.argmax()), logits.shape)
    spot = Spot("logits", float(head), float(form.layers[layer]))
    strongest = (
        f"The strongest, logit {significant(float(logits.max()), 3)} in head {head} of layer"
        f" {form.layers[layer]}, takes {rounded(100.0 * at_keys.max(), 1, 0.0, 100.0)} %"
    )
    giving = counted(n_half, n_heads, "head", "give")
    return Result(
        metrics=(
            Metric(
                "share",
                f"Median weight of a sink beside {KEYS} keys of logit 0",
                100.0 * float(np.median(at_keys)),
                "%",
            ),
            Metric(
                "half",
                f"Sinks with at least half the weight beside {KEYS} keys of logit 0",
                100.0 * n_half / n_heads,
                "%",
            ),
            Metric("median", "Median logit of the sinks", float(np.median(logits)), "logit"),
            Metric("largest", "Largest logit of a sink", float(logits.max()), "logit"),
            Metric("smallest", "Smallest logit of a sink", float(logits.min()), "logit"),
            Metric("layers", "Layers with sinks", float(len(logits))),
            Metric("heads", "Heads per layer", float(logits.shape[1])),
        ),
        arrays={
            "logits": logits,
            "layers": np.array(form.layers),
            "keys": keys,
            "shares": np.quantile(sink_share(logits.reshape(-1, 1), keys), QUANTILES, axis=0),
        },
        findings=(
            Finding(
                f"Beside {KEYS} keys of logit 0, {giving[0].lower()}{giving[1:]}"
                f" at least half the weight to the sink. {strongest}.",
                ("half", "largest"),
                0.5,
                spots=(spot,),
            ),
        ),
    )


def draw_logits(results: Results) -> "Figure":
    """Logits of the sinks, layer by head, one image per checkpoint."""
    images = [Panel(label.title, _of_every_layer(result)) for label, result in results.items()]
    return image_panels(
        images, (-LIMIT, LIMIT), DIVERGING, ("head", "layer", "logit of the sink"), square=False
    )


def _of_every_layer(result: Result) -> Floats:
    """Logits (n_layers, n_heads) from layer 0 to the last with sinks, NaN for layers without."""
    layers: Array = result.arrays["layers"]
    every = np.full((int(layers.max()) + 1, result.arrays["logits"].shape[1]), np.nan)
    every[layers] = np.clip(result.arrays["logits"], -LIMIT, LIMIT)
    return every


def draw_shares(results: Results) -> "Figure":
    """Weight of the sink by the number of keys: the median over all heads, and of a single
    checkpoint all heads as bands.
    """
    figure, (axes,) = panels(1, height=3.4)
    axes.axhline(0.5, color=MUTED, linewidth=0.8, linestyle=DOTTED)
    for label, result, dash in with_line_styles(results):
        keys, (low, lower, median, upper, high) = result.arrays["keys"], result.arrays["shares"]
        if len(results) == 1:
            axes.fill_between(
                keys, low, high, color=label.colour, alpha=0.15, linewidth=0, label="all heads"
            )
            axes.fill_between(
                keys, lower, upper, color=label.colour, alpha=0.35, linewidth=0, label="middle half"
            )
        axes.plot(keys, median, color=label.colour, linestyle=dash, label=label.title)
    logarithmic(axes, "x")
    axes.set(
        xlabel="keys", ylabel="weight of the sink", ylim=(0.0, 1.02), xlim=(1.0, 10.0**MOST_KEYS)
    )
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def alt_logits(results: Results) -> str:
    """Alternative text: numbers of layers and heads, and the range of logits."""
    summaries = (
        f"{label.title}: {len(result.arrays['logits'])} layers of"
        f" {result.arrays['logits'].shape[1]} heads, from"
        f" {significant(result.value('smallest'), 3)} to {significant(result.value('largest'), 3)},"
        f" median {significant(result.value('median'), 3)}"
        for label, result in results.items()
    )
    return "Logits of the sinks as an image, a row per layer. " + "; ".join(summaries) + "."


def alt_shares(results: Results) -> str:
    """Alternative text: the median weight beside three numbers of keys."""

    def median(result: Result, n: int) -> str:
        log_keys, medians = np.log(result.arrays["keys"]), result.arrays["shares"][2]
        return rounded(float(np.interp(math.log(n), log_keys, medians)), 3)

    summaries = (
        f"{label.title}: "
        + ", ".join(f"{median(result, n)} beside {n:,}" for n in (1, 100, 10_000))
        for label, result in results.items()
    )
    return (
        "Weight of the sink as a line that falls with the number of keys. Median over heads, "
        + "; ".join(summaries)
        + "."
    )


ANALYSIS = Analysis(
    key="weight_of_the_sinks",
    title="Weight of the sinks",
    question="How much of its attention does each head give to no key at all?",
    source="OpenAI 2025 (gpt-oss, arXiv 2508.10925), for the sink; the measures are defined here.",
    stage="see",
    order=89,
    answer=Headline(
        "share",
        "Weight of a sink",
        low="gives its sinks a median weight of only {}",
        high="gives its sinks a median weight of {}",
    ),
    forms=(Sinks,),
    compute=compute,
    figures=(
        FigureSpec(
            key="logits",
            caption=(
                f"Learned logit of every sink by layer and head, cut at ±{LIMIT:g}; layers without"
                " sinks are empty."
            ),
            how_to_read=(
                "Red sinks outweigh a key of logit 0, blue ones weigh less. A sink of logit s"
                " counts as much as e^s such keys: 128 at 4.85. The higher the logits of the keys,"
                " the less is left for the sink."
            ),
            alt=alt_logits,
            python=(
                'plt.imshow(arrays["weight_of_the_sinks.logits"], aspect="auto", cmap="RdBu_r")'
            ),
            draw=draw_logits,
        ),
        FigureSpec(
            key="shares",
            caption="Weight of the sink by the number of keys, if all their logits are 0.",
            how_to_read=(
                "With few keys, on the left, a sink may take most of the weight; every further key"
                " lowers it. The line is the median head; bands show all heads and the middle half."
                " A head may use its sink to attend to nothing."
            ),
            alt=alt_shares,
            python=(
                'plt.semilogx(arrays["weight_of_the_sinks.keys"], '
                'arrays["weight_of_the_sinks.shares"][2])'
            ),
            draw=draw_shares,
            overlays=True,
        ),
    ),
)
