"""Attention from the bias alone, at equal content: its locality, spread and symmetry."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from generator.contracts import (
    Analysis,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Result,
    Results,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import OffsetBias, WindowBias
from generator.errors import NotApplicableError
from generator.figures.charts import Curves, Images
from generator.figures.scene import DOTTED, StraightLine
from generator.figures.style import SEQUENTIAL
from generator.numerics.arrays import FLAT, Array, Floats, finite
from generator.numerics.attention_of_bias import attention, locality, perplexity, symmetry
from generator.numerics.certainty import groups_of

WORDING = Wording("analyses/attention_from_the_bias_alone.md.jinja")
POSITIONS = 128
PATCHES = 576  # Swin v2's largest window has 24 by 24.
FAINTEST = -4.0  # log10 of the smallest attention that has a colour of its own.
# Symmetry at which one of two mirrored keys gets three times as much attention as the other.
UNLIKE = 0.5
ORDERS = 99  # of the same biases, random ones
BY_RULE = "its biases follow from a rule"


def compute(subject: Subject[OffsetBias | WindowBias]) -> Result:
    """Locality, symmetry and effective number of keys of attention from the bias alone.

    Locality after Chen et al. 2023 (arXiv 2310.12864), extended here to patches; symmetry is scaled
    as defined here. Over the first ``POSITIONS`` positions, or at most ``PATCHES`` patches of a
    window.
    arrays: attention (n_positions, n_positions), mean over heads, query by key, NaN for keys that a
        causal mask hides; locality, symmetry (n_heads,), within [0, 1], symmetry NaN for a causal
        bias, or where no key has a mirror image
    errors: NotApplicableError when the bias is not finite, or covers a single position
    """
    form = subject.encoding.form
    finite(form.values, "the bias")
    biases, columns = heads(form), columns_of(form)
    first = next(heads(form))
    n_positions = len(first)
    if n_positions == 1:
        raise NotApplicableError("it covers a single position")
    chance = locality(attention(np.where(np.isnan(first), np.nan, 0.0)), columns)
    total, localities, perplexities, symmetries = np.zeros_like(first), [], [], []
    for bias in biases:
        weights = attention(bias)
        total += weights
        localities.append(locality(weights, columns))
        perplexities.append(perplexity(weights))
        symmetries.append(symmetry(bias, columns))
    noun = "Patches" if isinstance(form, WindowBias) else "Positions"
    local, defined = np.array(localities), np.array([s for s in symmetries if s is not None])
    orders = [] if _is_rule(form) else [*_in_other_orders(form)]
    return Result(
        metrics=(
            *_metrics(local, chance, perplexities, defined),
            Metric(
                "shuffled",
                f"Locality of the same biases in random order, mean of {ORDERS} orders",
                100.0 * float(np.mean(orders)) if orders else None,
                "%",
                BY_RULE,
            ),
            Metric(
                "shuffled_spread",
                f"Locality of the same biases in random order, standard deviation of {ORDERS}"
                " orders",
                100.0 * float(np.std(orders, ddof=1)) if orders else None,
                "%",
                BY_RULE,
            ),
            Metric("positions", f"{noun} compared", n_positions),
        ),
        arrays={
            "attention": np.where(np.isnan(first), np.nan, total / len(localities)),
            "locality": local,
            "symmetry": np.array([np.nan if value is None else value for value in symmetries]),
        },
        findings=tuple(_findings(local, orders, chance)),
    )


def heads(form: OffsetBias | WindowBias) -> Iterator[Floats]:
    """The bias of one head after another: (n, n), query by key, in logits; NaN for keys that a
    causal mask hides.
    """
    limit = PATCHES if isinstance(form, WindowBias) else POSITIONS
    return (
        replace(form, values=form.values[[head]]).kernel(limit)[0]
        for head in range(len(form.values))
    )


def columns_of(form: OffsetBias | WindowBias) -> int:
    """Patches per row of the window; for a sequence, all positions form one row."""
    return form.grid[1] if isinstance(form, WindowBias) else POSITIONS


def _metrics(
    localities: Floats,
    chance: float,
    perplexities: list[float],
    symmetries: Floats,
) -> Iterator[Metric]:
    reason, some = "no query has keys on both sides", bool(symmetries.size)
    for key, title, share in (
        ("locality", "Attention near the query (locality, mean over heads)", localities.mean()),
        ("most_local", "Locality of the most local head", localities.max()),
        ("least_local", "Locality of the least local head", localities.min()),
        ("chance", "Locality of uniform attention", chance),
        ("above", "Heads more local than uniform attention", _above(localities, chance).mean()),
    ):
        yield Metric(key, title, 100.0 * float(share), "%")
    title = "Effective number of attended keys, mean over heads"
    yield Metric("keys", title, float(np.mean(perplexities)))
    mean = 100.0 * symmetries.mean() if some else None
    yield Metric("symmetry", "Symmetry, mean over heads", mean, "%", reason)
    one_sided = 100.0 * float(np.mean(symmetries < UNLIKE)) if some else None
    yield Metric("one_sided", "Heads with a symmetry below 50%", one_sided, "%", reason)


def _above(localities: Floats, chance: float) -> Array:
    """Heads more local than uniform attention: (n_heads,), bool."""
    return np.asarray(localities > chance * (1.0 + FLAT))


def _in_other_orders(form: OffsetBias | WindowBias) -> Iterator[float]:
    """Mean locality of the same biases at offsets in each of ``ORDERS`` random orders, another in
    each head; offsets that share one bias still do.
    """
    flat = form.values.reshape(len(form.values), -1)
    groups, draws = groups_of(flat), np.random.default_rng(0)
    _, first = np.unique(groups, return_index=True)
    for _ in range(ORDERS):
        orders = np.stack([draws.permutation(first)[groups] for _ in flat])
        values = np.take_along_axis(flat, orders, axis=1).reshape(form.values.shape)
        weights = map(attention, heads(replace(form, values=values)))
        yield float(np.mean([locality(each, columns_of(form)) for each in weights]))


def _is_rule(form: OffsetBias | WindowBias) -> bool:
    """Whether its biases follow from a rule, whose consequences are no findings."""
    return isinstance(form, OffsetBias) and form.beyond == "linear"


def _findings(localities: Floats, orders: Sequence[float], chance: float) -> Iterator[Finding]:
    """A finding where the mean is beyond that of the same biases in all random ``orders``, if there
    are any.
    """
    mean = localities.mean()
    if orders and not min(orders) * (1.0 - FLAT) <= mean <= max(orders) * (1.0 + FLAT):
        ends = {"least": localities.min(), "most": localities.max()}
        values = {"mean": mean, "shuffled": np.mean(orders), "uniform": chance, **ends}
        shares = {name: 100.0 * float(share) for name, share in values.items()}
        text = WORDING("near", n_heads=localities.size, **shares)
        of_heads = ("least_local", "most_local") if localities.size > 1 else ()
        yield Finding(text, ("locality", "shuffled", "chance", *of_heads), 0.5)


def _sorted(result: Result) -> tuple[Array, Array]:
    local = np.sort(result.arrays["locality"])[::-1]
    return 100.0 * (np.arange(local.size) + 0.5) / local.size, 100.0 * local


def _of_uniform(results: Results) -> Iterator[StraightLine]:
    """The locality of uniform attention, dotted."""
    chances = {result.value("chance") for result in results.values()}
    for level in sorted(chance for chance in chances if chance is not None):
        yield StraightLine("y", level, width=0.9, dash=DOTTED)


def _in_powers_of_ten(result: Result) -> Floats:
    return np.asarray(np.log10(np.maximum(result.arrays["attention"], 10.0**FAINTEST)))


def _summary(result: Result) -> dict[str, Any]:
    own = 100.0 * np.diagonal(result.arrays["attention"]).mean()
    return {"positions": result.value("positions"), "own": own}


CHANCE = Chance("shuffled", 100.0, shuffles=("shuffled_spread", 1))


ANALYSIS = Analysis(
    key="attention_from_the_bias_alone",
    stage="measure",
    after="exponential_decay",
    headlines=(Headline("locality", WORDING, chance=CHANCE),),
    forms=(OffsetBias, WindowBias),
    compute=compute,
    figures=(
        FigureSpec(
            "heads",
            WORDING.figure("heads"),
            Curves(
                _sorted,
                x="heads, most local first (%)",
                y="locality (%)",
                xlim=(0.0, 100.0),
                ylim=(0.0, 102.0),
                height=4.0,
                dotted=True,
                first=_of_uniform,
            ),
            python=(
                'plt.plot(np.sort(arrays["attention_from_the_bias_alone.locality"])[::-1], "o-")'
            ),
            overlays=True,
        ),
        FigureSpec(
            "matrices",
            WORDING.figure("matrices", _summary),
            Images(
                _in_powers_of_ten,
                (FAINTEST, 0.0),
                SEQUENTIAL,
                ("key position", "query position", "attention (power of ten)"),
            ),
            python=(
                "plt.imshow(np.log10(np.maximum("
                'arrays["attention_from_the_bias_alone.attention"], 1e-6)))'
            ),
        ),
    ),
    per_figure=12,
)
