"""What the order of words is worth to a model that predicts them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.checkpoints.model.running.losses import (
    KNOWN,
    check_predicts,
    losses,
    rise,
    task,
)
from generator.checkpoints.model.running.stack import FEWEST, RunningStack
from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results
from generator.contracts.results import error_key
from generator.contracts.wording import Wording
from generator.figures.lines import legend_below, with_line_styles
from generator.figures.panels import logarithmic, panels
from generator.figures.scene import Line, add
from generator.numerics.arrays import Array, Floats
from generator.numerics.certainty import quotient_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("analyses/order.md.jinja")
BLOCKS = (1, 2, 4, 8, 16)  # words
ALL = 100.0  # %: what half of a text is worth
CERTAIN = 2.0  # Standard errors from 0, and above all of it, from which a sentence says so.
NO_WORTH = "the value of the first half is within three standard errors of 0"
FEWEST_BLOCKS = 3  # of the largest, in half of a text


def compute(stack: RunningStack) -> Result:
    """Loss on the second half of texts behind a first half whose words are shuffled in blocks.

    Of what a first half is worth, as against that of another text, this is what its order is worth.
    arrays: ids (n_sequences, length), int, the tokens that were read; blocks (5,), int; shares,
        share_errors (5,), in %; rises, errors (6,), in nats, of each block size and then of a
        foreign first half; by_sequence (6, n_sequences), those rises of single sequences
    errors: NotApplicableError
    """
    check_predicts(stack)
    half = FEWEST_BLOCKS * BLOCKS[-1]
    texts = stack.pieces(length=2 * half + stack.text_vocabulary.n_reserved)
    start = len(stack.text_vocabulary.before)
    middle = start + half
    draws = np.random.default_rng(stack.seed)
    foreign_halves = texts.copy()
    foreign_halves[:, start:middle] = np.roll(texts[:, start:middle], 1, axis=0)
    sizes = [size for size in BLOCKS if stack.wants(_key(size))]
    inputs = [texts, *(_shuffled(texts, start, middle, size, draws) for size in sizes)]
    tasks = [task(stack, each, middle) for each in (*inputs, foreign_halves)]
    read = np.zeros((len(tasks), 0))
    for batch in stack.batches():
        read = np.hstack([read, [losses(stack, given[batch]) for given in tasks]])
        if batch.stop >= FEWEST and _is_known(read):
            break
    return _result(texts, sizes, read[1:] - read[0])


def _result(texts: Array, sizes: list[int], rises: Floats) -> Result:
    """rises: (n_sizes + 1, n_sequences), in nats, the last those behind another text"""
    *by_block, foreign = found = [rise(each) for each in rises]
    known = rises[:, ~np.isnan(rises).any(axis=0)]
    shares = np.array([100.0 * each.mean / foreign.mean for each in by_block])
    errors = np.array([100.0 * quotient_error(each, known[-1]) for each in known[:-1]])
    reason = "" if foreign.mean > 0.0 and foreign.is_certain else NO_WORTH
    metrics = (
        *chain.from_iterable(map(partial(_share, reason), sizes, shares, errors)),
        Metric("worth", "Value of the first half", foreign.mean, "nats"),
        Metric("error", "Standard error of this value", foreign.error, "nats"),
    )
    return Result(
        metrics=metrics,
        arrays={
            "ids": texts[: foreign.n_sequences],
            "blocks": np.array(sizes),
            "shares": shares,
            "share_errors": errors,
            "rises": np.array([each.mean for each in found]),
            "errors": np.array([each.error for each in found]),
            "by_sequence": rises,
        },
        read={metric.key: foreign.n_sequences for metric in metrics},
    )


def _is_known(read: Floats) -> bool:
    """Whether the share of the first size is known, and what the half is worth.

    read: (n_tasks, n_sequences), losses as it is, by size, and with a foreign half
    """
    changed, foreign = read[1] - read[0], read[-1] - read[0]
    worth = rise(foreign)
    share = np.nanmean(changed) / worth.mean
    error = rise(changed - share * foreign).error / abs(worth.mean)
    return worth.is_known and error <= KNOWN * abs(share)


def _shuffled(
    texts: Array, start: int, middle: int, size: int, draws: np.random.Generator
) -> Array:
    """``texts`` with their first halves in blocks of ``size`` words, each in a random
    order.
    """
    changed = texts.copy()
    n_blocks = (middle - start) // size
    end = start + n_blocks * size
    for row in changed:
        blocks = row[start:end].reshape(n_blocks, size)
        row[start:end] = blocks[draws.permutation(n_blocks)].reshape(-1)
    return changed


def _key(size: int) -> str:
    return f"share_{size}"


def _share(reason: str, size: int, share: float, error: float) -> Iterator[Metric]:
    """A share in %, and its standard error. reason: why it is not defined, "" where it is"""
    which = f"blocks of {size} shuffled" if size > 1 else "all tokens shuffled"
    for key, title, value in (
        (_key(size), f"Value lost, {which}", share),
        (error_key(_key(size)), f"Standard error of the value lost, {which}", error),
    ):
        yield Metric(key, title, None if reason else value, "%", reason)


def confirmed(first: Result, second: Result) -> tuple[Finding, ...]:
    """What the order of tokens is worth, where both runs say so."""
    both = [_lost(result) for result in (first, second)]
    share, error = both[0]
    if share is None or not all(known and known > CERTAIN * by for known, by in both):
        return ()
    is_worse = all(map(_is_worse, both))
    text = WORDING("loses", share=share, error=error, is_worse=is_worse)
    return (Finding(text, ("share_1", error_key("share_1"), "worth"), 0.5),)


def _lost(result: Result) -> tuple[float | None, float]:
    """What is lost without order, in %, and its standard error."""
    return result.value("share_1"), result.value(error_key("share_1")) or 0.0


def _is_worse(lost: tuple[float | None, float]) -> bool:
    """Whether a shuffled half is worth less than another text, by ``CERTAIN`` standard errors."""
    share, error = lost
    return share is not None and share - ALL >= CERTAIN * error


def sentence(results: Results, n_models: int) -> str:
    """What the order of tokens is worth in all models."""
    known = {label.title: _lost(result) for label, result in results.items() if _lost(result)[0]}
    if not known:
        return ""
    by_share = sorted(known, key=lambda title: known[title][0] or 0.0)
    return WORDING(
        "all_lose",
        ends=[(title, *known[title]) for title in dict.fromkeys((by_share[0], by_share[-1]))],
        n_models=n_models if len(results) == 1 else 0,
        is_worse=all(map(_is_worse, known.values())),
    )


def draw(results: Results) -> "Figure":
    """What is lost, by the size of the blocks that are shuffled."""
    figure, (axes,) = panels(1, height=3.2)
    for label, result, dash in with_line_styles(results):
        arrays = result.arrays
        ends = zip(*(arrays["shares"] + by * arrays["share_errors"] for by in (-1, 1)), strict=True)
        for size, pair in zip(arrays["blocks"], ends, strict=True):
            add(axes, Line([size] * 2, pair, colour=label.colour, width=1.0, is_aside=True))
        style: dict[str, Any] = {"colour": label.colour, "dash": dash, "name": label.title}
        add(axes, Line(arrays["blocks"], arrays["shares"], marker="o", **style))
    logarithmic(axes, "x")
    axes.set_xticks(list(BLOCKS), [str(size) for size in BLOCKS])
    axes.minorticks_off()
    axes.set(xlabel="tokens in a block", ylabel="value of the context lost (%)")
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.grid(axis="y")
    legend_below(figure)
    return figure


FIGURE = FigureSpec(
    "blocks",
    WORDING.figure("blocks"),
    draw=draw,
    python=(
        'shares, errors = arrays["order.shares"], arrays["order.share_errors"]\n'
        'plt.errorbar(arrays["order.blocks"], shares, yerr=errors, fmt="o-")\n'
        'plt.xscale("log")'
    ),
)
ANALYSIS = Analysis(
    key="order",
    after="position",
    subject="model",
    units={_key(size): "%" for size in BLOCKS},
    compute=compute,
    confirmed=confirmed,
    across=replace(FIGURE, texts=WORDING.figure("across", alt=FIGURE.alt)),
    sentence=sentence,
    figures=(FIGURE,),
)
