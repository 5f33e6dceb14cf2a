"""What the order of words is worth to a model that predicts them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.checkpoints.model.running.losses import (
    KNOWN,
    Rise,
    check_predicts,
    losses,
    rise,
    task,
)
from generator.checkpoints.model.running.stack import FEWEST, RunningStack
from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results
from generator.contracts.wording import Wording
from generator.figures.lines import legend_below, with_line_styles
from generator.figures.panels import logarithmic, panels
from generator.figures.scene import Line, add
from generator.numerics.arrays import Array, Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("analyses/order.md.jinja")
BLOCKS = (1, 2, 4, 8, 16)  # words
# %: what half of a text is worth, and what is clearly more than that
ALL, MORE = 100.0, 105.0
FEWEST_BLOCKS = 3  # of the largest, in half of a text


def compute(stack: RunningStack) -> Result:
    """Loss on the second half of texts behind a first half whose words are shuffled in blocks.

    Of what a first half is worth, as against that of another text, this is what its order is worth.
    arrays: ids (n_sequences, length), int, the tokens that were read; blocks (5,), int; shares
        (5,), in %; rises, errors (6,), in nats, of each block size and then of a foreign first half
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
    rises = [rise(changed - read[0]) for changed in read[1:]]
    *by_block, foreign = rises
    metrics = (
        *(_share(size, found, foreign) for size, found in zip(sizes, by_block, strict=True)),
        Metric("worth", "Value of the first half", foreign.mean, "nats"),
        Metric("error", "Standard error of this value", foreign.error, "nats"),
    )
    return Result(
        metrics=metrics,
        arrays={
            "ids": texts[: foreign.n_sequences],
            "blocks": np.array(sizes),
            "shares": np.array([100.0 * found.mean / foreign.mean for found in by_block]),
            "rises": np.array([found.mean for found in rises]),
            "errors": np.array([found.error for found in rises]),
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


def _share(size: int, found: Rise, foreign: Rise) -> Metric:
    title = (
        f"Value lost, blocks of {size} shuffled" if size > 1 else "Value lost, all tokens shuffled"
    )
    key = _key(size)
    if foreign.mean <= 0.0 or not foreign.is_certain:
        reason = "the value of the first half is within three standard errors of 0"
        return Metric(key, title, None, "%", reason)
    return Metric(key, title, 100.0 * found.mean / foreign.mean, "%")


def confirmed(first: Result, second: Result) -> tuple[Finding, ...]:
    """What the order of tokens is worth, where both runs say so."""
    shares = [result.value("share_1") for result in (first, second)]
    if any(share is None for share in shares):
        return ()
    least = min(share or 0.0 for share in shares)
    kind = "is_worse" if least >= MORE else "loses_all" if least >= ALL else "loses"
    values = {} if kind == "loses_all" else {"share": least}
    return (Finding(WORDING(kind, **values), ("share_1", "worth"), 0.5),)


def sentence(results: Results) -> str:
    """What the order of tokens is worth in all models."""
    shares = [share for result in results.values() if (share := result.value("share_1"))]
    if not shares:
        return ""
    low, high = min(shares), max(shares)
    if low >= ALL and high < MORE:
        return WORDING("all_lose_all")
    return WORDING("all_lose", low=low, high=high, is_worse=high >= MORE)


def draw(results: Results) -> "Figure":
    """What is lost, by the size of the blocks that are shuffled."""
    figure, (axes,) = panels(1, height=3.2)
    for label, result, dash in with_line_styles(results):
        style: dict[str, Any] = {"colour": label.colour, "dash": dash, "name": label.title}
        add(axes, Line(result.arrays["blocks"], result.arrays["shares"], marker="o", **style))
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
    python='plt.semilogx(arrays["order.blocks"], arrays["order.shares"], "o-")',
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
