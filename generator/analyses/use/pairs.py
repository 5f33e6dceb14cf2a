"""Which pairs of a rotation a model puts its content in, and what it loses without some."""

from collections import defaultdict
from collections.abc import Iterator
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
from generator.contracts.results import error_key
from generator.contracts.wording import Wording
from generator.errors import NotApplicableError
from generator.figures.panels import colour_bar, image, panels
from generator.figures.style import SEQUENTIAL
from generator.numerics.arrays import Array, Floats
from generator.numerics.certainty import jackknife, without_each

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("analyses/pairs.md.jinja")
LENGTH = 512  # tokens
SEQUENCES = 4
TITLES = {
    "share_fastest_quarter": "Share of |q||k| in the fastest quarter",
    "share_slowest_quarter": "Share of |q||k| in the slowest quarter",
    "highest_share": "Largest share of one pair in a head",
}
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
    by_text = _norms(stack, texts, paired)
    shares = _shares(by_text)
    without = np.stack([_shares(rest) for rest in without_each(by_text)])
    quarters = np.array_split(np.arange(len(paired)), 4)
    metrics = [
        *_share("share_fastest_quarter", _of_pairs(quarters[0], shares, without)),
        *_share("share_slowest_quarter", _of_pairs(quarters[3], shares, without)),
        *_share("highest_share", _of_cell(int(shares.argmax()), shares, without)),
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


def _share(key: str, found: tuple[float, Floats]) -> Iterator[Metric]:
    """A share of |q||k| in %, and its standard error, from those without each text."""
    share, without = found
    yield Metric(key, TITLES[key], 100.0 * share, "%")
    error = 100.0 * float(jackknife(without))
    yield Metric(error_key(key), f"Standard error: {TITLES[key]}", error, "%")


def _of_pairs(chosen: Array, shares: Floats, without: Floats) -> tuple[float, Floats]:
    """The share of some pairs, a mean over heads, and that without each text."""
    of_all, by_text = (each[..., chosen].sum(axis=-1) for each in (shares, without))
    return float(of_all.mean()), by_text.mean(axis=(1, 2))


def _of_cell(place: int, shares: Floats, without: Floats) -> tuple[float, Floats]:
    """The share at one place of all heads and pairs, and that without each text."""
    return float(shares.flat[place]), without.reshape(len(without), -1)[:, place]


def _norms(stack: RunningStack, texts: Array, paired: Array) -> Floats:
    """Sums over tokens of |q|, then |k| of each pair, where heads share keys for each of these:
    (n_texts, n_layers, 2, n_heads, n_pairs).
    """
    sums: defaultdict[int, list[Floats]] = defaultdict(list)

    def note(layer: int, query: Any, key: Any) -> None:
        norms = [
            values.double()[..., paired.reshape(-1)].unflatten(-1, (-1, 2)).norm(dim=-1)
            for values in (query, key)
        ]
        of_query, of_key = (each.sum(dim=(0, 2)).cpu().numpy() for each in norms)
        of_key = np.repeat(of_key, len(of_query) // len(of_key), axis=0)
        sums[layer].append(np.stack([of_query, of_key]))

    with heads_watched(stack, note):
        for _ in stack.run(texts, batch=1):
            pass
    return np.stack([sums[layer] for layer in sorted(sums)], axis=1)


def _shares(by_text: Floats) -> Floats:
    """(n_layers, n_heads, n_pairs), each head's sum 1, of what ``_norms`` gives."""
    products = by_text.sum(axis=0).prod(axis=1)
    return np.asarray(products / products.sum(axis=2, keepdims=True))


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
    text = WORDING(
        "stands_out",
        n_pairs=n_pairs,
        wavelength=wavelength,
        share=shares[0],
        error=first.value(error_key("highest_share")) or 0.0,
    )
    return (Finding(text, ("highest_share", error_key("highest_share"), "highest_pair"), 0.5),)


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
