"""Attention sinks: their logits, and the weight that they take from the keys."""

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
    Spot,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import Sinks
from generator.encodings.attention import sink_share
from generator.figures.charts import Curves, Images
from generator.figures.scene import DOTTED, Band, StraightLine
from generator.figures.style import DIVERGING
from generator.numerics.arrays import Array, Floats, finite

WORDING = Wording("analyses/weight_of_the_sinks.md.jinja")
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
    text = WORDING(
        "give",
        n_keys=KEYS,
        n_half=n_half,
        n_heads=n_heads,
        largest=logits.max(),
        head=head,
        layer=form.layers[layer],
        share=at_keys.max(),
    )
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
            Metric("largest", "Largest logit of a sink", logits.max(), "logit"),
            Metric("smallest", "Smallest logit of a sink", logits.min(), "logit"),
            Metric("layers", "Layers with sinks", len(logits)),
            Metric("heads", "Heads per layer", logits.shape[1]),
        ),
        arrays={
            "logits": logits,
            "layers": np.array(form.layers),
            "keys": keys,
            "shares": np.quantile(sink_share(logits.reshape(-1, 1), keys), QUANTILES, axis=0),
        },
        findings=(Finding(text, ("half", "largest"), 0.5, spots=(spot,)),),
    )


def _of_every_layer(result: Result) -> Floats:
    """Logits (n_layers, n_heads) from layer 0 to the last with sinks, NaN for layers without."""
    layers: Array = result.arrays["layers"]
    every = np.full((int(layers.max()) + 1, result.arrays["logits"].shape[1]), np.nan)
    every[layers] = np.clip(result.arrays["logits"], -LIMIT, LIMIT)
    return every


def median_by_keys(result: Result) -> tuple[Array, Array]:
    """Numbers of keys, and the weight of the sink of the median head."""
    return result.arrays["keys"], result.arrays["shares"][2]


def _all_heads(label: Label, result: Result, count: int) -> Iterator[Band]:
    """Bands of the heads of a single checkpoint."""
    keys, (low, lower, _, upper, high) = result.arrays["keys"], result.arrays["shares"]
    if count == 1:
        yield Band(keys, low, high, colour=label.colour, alpha=0.15, name="all heads")
        yield Band(keys, lower, upper, colour=label.colour, alpha=0.35, name="middle half")


def _medians(result: Result) -> dict[str, Any]:
    keys, medians = median_by_keys(result)
    at = {n: float(np.interp(math.log(n), np.log(keys), medians)) for n in (1, 100, 10_000)}
    return {"medians": at}


ANALYSIS = Analysis(
    key="weight_of_the_sinks",
    stage="see",
    after="reach_of_the_convolution",
    answer=Headline("share", WORDING),
    forms=(Sinks,),
    compute=compute,
    figures=(
        FigureSpec(
            "logits",
            WORDING.figure("logits"),
            Images(
                _of_every_layer,
                (-LIMIT, LIMIT),
                DIVERGING,
                ("head", "layer", "logit of the sink"),
                square=False,
            ),
            python=(
                'plt.imshow(arrays["weight_of_the_sinks.logits"], aspect="auto", cmap="RdBu_r")'
            ),
        ),
        FigureSpec(
            "shares",
            WORDING.figure("shares", _medians),
            Curves(
                median_by_keys,
                x="number of keys",
                y="weight of the sink",
                log="x",
                xlim=(1.0, 10.0**MOST_KEYS),
                ylim=(0.0, 1.02),
                height=3.4,
                rules=(StraightLine("y", 0.5, width=0.8, dash=DOTTED),),
                below=_all_heads,
            ),
            python=(
                'plt.semilogx(arrays["weight_of_the_sinks.keys"], '
                'arrays["weight_of_the_sinks.shares"][2])'
            ),
            overlays=True,
        ),
    ),
)
