"""Which pairs of a rotation a model puts its content in, and what it loses without some."""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.checkpoints.model.running.losses import (
    Rise,
    check_predicts,
    losses,
    rise_of,
    task,
)
from generator.checkpoints.model.running.rotated import heads_watched, pairs, wavelengths, without
from generator.checkpoints.model.running.stack import RunningStack
from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results
from generator.contracts.wording import Wording
from generator.errors import NotApplicableError
from generator.figures.panels import colour_bar, image, panels
from generator.figures.style import SEQUENTIAL
from generator.numerics.arrays import Array, Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("analyses/pairs.md.jinja")
LENGTH = 512  # tokens
SEQUENCES = 4
QUARTERS = {"fastest": 0, "second": 1, "third": 2, "slowest": 3}
MOST_TOKENS = 1024  # of one text, in which a pair is to turn once
MOST_READ = 8192  # tokens of all texts together
STANDS_OUT = 6.0  # times the share of a pair among equal ones


def compute(stack: RunningStack) -> Result:
    """Mean |q||k| of each pair in each head on text, as shares; loss with a quarter of the pairs
    still, on texts in which the slowest of that quarter turns once.

    arrays: ids (n_sequences, length), int, the tokens that were read; wavelengths (n_pairs,), in
        positions; shares (n_layers, n_heads, n_pairs)
    errors: NotApplicableError
    """
    paired, turns = pairs(stack), wavelengths(stack)
    texts = stack.pieces(SEQUENCES, min(LENGTH, stack.longest))
    shares = _shares(stack, texts, paired)
    quarters = np.array_split(np.arange(len(paired)), 4)
    fastest, slowest = (
        shares[:, :, part].sum(axis=2).mean() for part in (quarters[0], quarters[3])
    )
    metrics = [
        Metric(
            "share_fastest_quarter",
            "Share of |q||k| in the fastest quarter",
            100.0 * float(fastest),
            "%",
        ),
        Metric(
            "share_slowest_quarter",
            "Share of |q||k| in the slowest quarter",
            100.0 * float(slowest),
            "%",
        ),
        Metric(
            "highest_share", "Largest share of one pair in a head", 100.0 * float(shares.max()), "%"
        ),
        Metric(
            "highest_pair",
            "Pair with that share (0: the fastest)",
            float(shares.max(axis=(0, 1)).argmax()),
        ),
    ]
    read = {metric.key: len(texts) for metric in metrics}
    for name, number in QUARTERS.items():
        key, title = f"without_{name}_quarter", f"Loss rise, {name} quarter not turning"
        if stack.wants(key):
            try:
                found = _without(stack, paired[quarters[number]], turns[quarters[number]])
            except NotApplicableError as error:
                metrics.append(Metric(key, title, None, "nats", str(error)))
            else:
                metrics.append(Metric(key, title, found.mean, "nats"))
                read[key] = found.n_sequences
    return Result(tuple(metrics), {"ids": texts, "wavelengths": turns, "shares": shares}, read=read)


def _shares(stack: RunningStack, texts: Array, paired: Array) -> Floats:
    """(n_layers, n_heads, n_pairs), each head's sum 1."""
    sums: defaultdict[int, list[Any]] = defaultdict(lambda: [0.0, 0.0])

    def note(layer: int, query: Any, key: Any) -> None:
        for place, values in enumerate((query, key)):
            both = values.double()[..., paired.reshape(-1)].unflatten(-1, (-1, 2))
            sums[layer][place] += both.norm(dim=-1).sum(dim=(0, 2)).cpu().numpy()

    with heads_watched(stack, note):
        for _ in stack.run(texts, batch=1):
            pass
    products = []
    for layer in sorted(sums):
        query, key = sums[layer]
        products.append(query * np.repeat(key, len(query) // len(key), axis=0))
    by_layer = np.stack(products)
    return np.asarray(by_layer / by_layer.sum(axis=2, keepdims=True))


def _without(stack: RunningStack, quarter: Array, turns: Floats) -> Rise:
    """What the model loses without the turns of ``quarter``. errors: NotApplicableError"""
    needed = int(np.ceil(turns.max()))
    length = max(needed + stack.text_vocabulary.n_reserved, stack.length)
    if length > min(MOST_TOKENS, stack.longest):
        raise NotApplicableError(
            f"its slowest pair turns once in {needed:,} positions, longer than the texts read"
        )
    check_predicts(stack)
    most = min(stack.n_sequences, max(MOST_READ // length, 8))
    given = task(stack, stack.pieces(most, length))

    def still(batch: range) -> Floats:
        with without(stack, quarter):
            return losses(stack, given[batch])

    found = rise_of(stack, still, lambda batch: losses(stack, given[batch]), most)
    if not found.is_certain:
        raise NotApplicableError("the rise is within three standard errors of 0")
    return found


def confirmed(first: Result, second: Result) -> tuple[Finding, ...]:
    """Which pairs are used, where both runs say so."""
    shares = [result.value("highest_share") or 0.0 for result in (first, second)]
    n_pairs = first.arrays["wavelengths"].size
    if min(shares) < 100.0 * STANDS_OUT / n_pairs:
        return ()
    pair = first.value("highest_pair")
    wavelength = None
    if pair is not None and pair == second.value("highest_pair"):
        wavelength = float(first.arrays["wavelengths"][int(pair)])
    text = WORDING("stands_out", n_pairs=n_pairs, wavelength=wavelength, share=min(shares))
    return (Finding(text, ("highest_share", "highest_pair"), 0.5),)


def draw(results: Results) -> "Figure":
    """The mean share of each pair by layer."""
    (result,) = results.values()
    shares = 100.0 * result.arrays["shares"].mean(axis=1)
    figure, (axes,) = panels(1, height=3.6)
    picture = image(axes, shares, (0.0, float(shares.max())), SEQUENTIAL)
    axes.set(xlabel="rotation pair, the fastest first", ylabel="layer")
    colour_bar(figure, picture, [axes], "share of |q||k|, mean over heads (%)")
    return figure


def alt(results: Results) -> str:
    """Alternative text: the shares of the fastest and the slowest quarter."""
    (result,) = results.values()
    return WORDING(
        "pairs_alt",
        fastest=result.value("share_fastest_quarter"),
        slowest=result.value("share_slowest_quarter"),
    )


ANALYSIS = Analysis(
    key="pairs",
    after="induction",
    subject="model",
    units=dict.fromkeys(("share_fastest_quarter", "share_slowest_quarter", "highest_share"), "%"),
    compute=compute,
    confirmed=confirmed,
    figures=(
        FigureSpec(
            "pairs",
            WORDING.figure("pairs", alt=alt),
            draw=draw,
            python='plt.imshow(100 * arrays["pairs.shares"].mean(axis=1), aspect="auto")',
        ),
    ),
)
