"""What the first layer adds to the logits for each offset, from its weights."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from generator.checkpoints.model.running.stack import RunningStack
from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results
from generator.contracts.results import error_key
from generator.contracts.wording import Wording
from generator.errors import NotApplicableError
from generator.figures.lines import names_at_ends
from generator.figures.panels import head_colours, panels, wrapped
from generator.figures.scene import Line, StraightLine, add
from generator.figures.style import GRID, WIDTH
from generator.numerics.arrays import Array, Floats
from generator.numerics.attention_profiles import queries
from generator.numerics.certainty import jackknife, without_each

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("analyses/kernel.md.jinja")
NEAR = 1  # positions
GROUPS = 10  # of tokens, each of which is left out once
LEAST = 10.0  # % of the variance, beyond that of random weights
FEW, RANDOM_SEED = 8, 0  # Sequences that these read, and their seed.
# Heads that are all named in the figure; of more, so many with the widest ranges are.
MOST_NAMED, WIDEST = 10, 4


def compute(stack: RunningStack) -> Result:
    """Logits of the first layer by offset, as differences within a row, which softmax keeps.

    Everything that acts is within them: words, positions, normalisation, W_q and W_k with their
    biases, rotation and bias of attention.
    arrays: ids (n_sequences, length), int, the tokens that were read; offsets (n_offsets,), int;
        logits (n_heads, n_offsets), mean over words, and spread, its standard deviation over pairs
        of words; by_offset_random (), in %, with random weights
    errors: NotApplicableError
    """
    words = stack.inputs()
    offsets, by_text = _by_text(stack)
    mean, spread = _mean_and_spread(by_text)
    peaks = np.abs(offsets[mean.argmax(axis=1)])
    near = 100.0 * float((peaks <= NEAR).mean())
    inputs = stack.text_vocabulary.originals[words]
    arrays = {"ids": inputs, "offsets": offsets, "logits": mean, "spread": spread}
    if stack.again is None:
        random = replace(stack.untrained(RANDOM_SEED), n_sequences=FEW)
        arrays["by_offset_random"] = np.array(_share(*_mean_and_spread(_by_text(random)[1])))
    without = np.array([_share(*_mean_and_spread(rest)) for rest in without_each(by_text)])
    without_tokens = np.array([*_without_tokens(by_text, words, *_places(stack)[1])])
    error = float(np.hypot(jackknife(without), jackknife(without_tokens)))
    title = "Variance of the logits by offset"
    metrics = (
        Metric("by_offset", title, _share(mean, spread), "%"),
        Metric(error_key("by_offset"), f"Standard error: {title}", error, "%"),
        Metric("range", "Largest range over offsets, of a head", float(np.ptp(mean, axis=1).max())),
        Metric("spread", "Spread over tokens", float(np.sqrt((spread**2).mean()))),
        Metric("near", "Heads that peak within one position", near, "%"),
    )
    return Result(metrics, arrays, read={metric.key: len(inputs) for metric in metrics})


def _by_text(stack: RunningStack) -> tuple[Array, Floats]:
    """Offsets (n_offsets,), and the logits of each head there: (n_texts, n_queries, n_heads,
    n_offsets).
    """
    offsets, places = _places(stack)
    rows: list[Floats] = []

    def note(layer: int, weights: object) -> None:
        if layer == 0:
            rows.append(_logits(weights, *places))

    for _ in stack.run(stack.inputs(), note):
        pass
    return offsets, np.concatenate(rows)


def _without_tokens(
    by_text: Floats, words: Array, of_query: Array, of_key: Array
) -> Iterator[float]:
    """``_share`` of the pairs of tokens without each of GROUPS groups of the tokens, which are as
    much a sample as their order is.

    by_text: as of ``_by_text``; words: (n_texts, length), int; of_query, of_key: as of ``_places``
    """
    group = np.unique(words, return_inverse=True)[1].reshape(words.shape) % GROUPS
    for left_out in range(GROUPS):
        is_left = (group != left_out)[:, of_query] & (group != left_out)[:, of_key]
        kept = np.where(is_left[:, :, None], by_text, np.nan)
        logits = kept.reshape(-1, *kept.shape[2:])
        if (np.count_nonzero(~np.isnan(logits), axis=0) > 1).all():
            yield _share(np.nanmean(logits, axis=0), np.nanstd(logits, axis=0, ddof=1))


def _mean_and_spread(by_text: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of logits over texts and queries: (n_heads, n_offsets) each."""
    logits = by_text.reshape(-1, *by_text.shape[2:])
    return logits.mean(axis=0), logits.std(axis=0, ddof=1)


def _share(mean: Floats, spread: Floats) -> float:
    """Of the variance over words and offsets, the share of the offset, a mean over heads, in %."""
    of_offset = mean.var(axis=1)
    whole = of_offset + (spread**2).mean(axis=1)
    return 100.0 * float(np.mean(of_offset / np.where(whole > 0.0, whole, 1.0)))


def _places(stack: RunningStack) -> tuple[Array, tuple[Array, Array]]:
    """Offsets that every query has, and the places of queries (n_queries, 1) and of their keys
    (n_queries, n_offsets); marks before and after the words are left out.
    """
    before, after = len(stack.text_vocabulary.before), len(stack.text_vocabulary.after)
    chosen = np.arange(stack.length)[queries(stack.length, stack.is_causal)]
    least = before - int(chosen[0])
    most = 0 if stack.is_causal else stack.length - after - 1 - int(chosen[-1])
    offsets = np.arange(least, most + 1)
    return offsets, (chosen[:, None], chosen[:, None] + offsets[None, :])


def _logits(weights: object, of_query: Array, of_key: Array) -> Floats:
    """Differences from the mean of a row: (n_texts, n_queries, n_heads, n_offsets).

    errors: NotApplicableError where a row gives no weight at all to a key
    """
    values = weights.double().cpu().numpy()[:, :, of_query, of_key]  # type: ignore[attr-defined]
    if not values.all():
        raise NotApplicableError("its first layer does not attend to all keys")
    logits = np.log(values)
    logits -= logits.mean(axis=-1, keepdims=True)
    return np.asarray(np.moveaxis(logits, 1, 2))


def confirmed(first: Result, second: Result) -> tuple[Finding, ...]:
    """How much of the first layer is position."""
    shares = [result.value("by_offset") or 0.0 for result in (first, second)]
    # What the rule of an encoding does with any weights is no finding.
    random = float(first.arrays["by_offset_random"])
    if min(shares) < LEAST + random:
        return ()
    error = first.value(error_key("by_offset")) or 0.0
    text = WORDING("explains", share=shares[0], error=error, random=random)
    return (Finding(text, ("by_offset", error_key("by_offset")), 0.3),)


def sentence(results: Results, _: int) -> str:
    """The least and the most of the first layer that is position, and in how many parts it is more
    than with random weights.
    """
    known = {label.title: _known(result) for label, result in results.items()}
    by_share = sorted(known, key=lambda title: known[title][0])
    ends = [(title, *known[title][:2]) for title in dict.fromkeys((by_share[0], by_share[-1]))]
    n_more = sum(share >= LEAST + random for share, _, random in known.values())
    return WORDING("in_parts", ends=ends, n_more=n_more, n_parts=len(known), least=LEAST)


def _known(result: Result) -> tuple[float, float, float]:
    """The share of the offset, its standard error, and that of random weights, in %."""
    share, error = (result.value(key) or 0.0 for key in ("by_offset", error_key("by_offset")))
    return share, error, float(result.arrays["by_offset_random"])


def draw(results: Results) -> "Figure":
    """Mean logits of each head by offset."""
    figure, axes = panels(len(results), height=3.4)
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        logits = result.arrays["logits"]
        lines = [
            Line(result.arrays["offsets"], line, colour=colour, width=1.0, name=f"_head {head}")
            for head, (line, colour) in enumerate(
                zip(logits, head_colours(len(logits)), strict=True)
            )
        ]
        add(ax, *lines)
        names_at_ends(ax, _named(lines, logits), WIDTH / min(len(results), 2))
        ax.set(xlabel="offset: key minus query (positions)", ylabel="logit, mean subtracted")
        add(ax, StraightLine("x", 0.0, colour=GRID, width=0.8, order=0.0))
        if len(results) > 1:
            ax.set_title(wrapped(label.title))
    return figure


def _named(lines: Sequence[Line], logits: Floats) -> list[Line]:
    """All lines of few heads, else those with the widest ranges."""
    if len(lines) <= MOST_NAMED:
        return [*lines]
    return [lines[head] for head in np.argsort(-np.ptp(logits, axis=1), kind="stable")[:WIDEST]]


ANALYSIS = Analysis(
    key="kernel",
    after="pairs",
    subject="first_layer",
    units={"by_offset": "%"},
    compute=compute,
    confirmed=confirmed,
    sentence=sentence,
    figures=(
        FigureSpec(
            "heads",
            WORDING.figure("heads"),
            draw=draw,
            python='plt.plot(arrays["kernel.offsets"], arrays["kernel.logits"].T)',
        ),
    ),
)
