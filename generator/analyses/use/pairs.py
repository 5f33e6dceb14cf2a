"""Which pairs of a rotation a model puts its content in, which have massive values, and what it
loses without some.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
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
from generator.figures.lines import hidden, legend_below
from generator.figures.panels import colour_bar, image, logarithmic, panels
from generator.figures.scene import DOTTED, Line, StraightLine, add
from generator.figures.style import REFERENCE, SEQUENTIAL
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
MASSIVE = 5.0  # times the mean norm of a head's components (Jin et al. 2025)
LEAST, BEYOND = 1.0, 3.0  # Massive values, and standard errors, beyond those of random weights.
MOSTLY = 0.5  # Share of the way from chance to all of them.
KINDS = {"queries": 0, "keys": 1, "values": 2}
RANDOM, RANDOM_SEED, FEW = "massive_random", 0, 1  # The reference, its seed, texts that it reads.


@dataclass(frozen=True, eq=False)
class _Lengths:
    """How long queries, keys and values are, by text.

    norms: (n_texts, n_layers, 2, n_heads, n_pairs), sums over tokens of |q|, then |k| of each pair,
        where heads share keys for each of these
    squares: of each of ``KINDS``, (n_texts, n_layers, n_heads or n_key_heads, d_head), sums over
        tokens of the square of each component
    """

    norms: Floats
    squares: tuple[Floats, Floats, Floats]


def compute(stack: RunningStack) -> Result:
    """Mean |q||k| of each pair in each head on text, as shares; loss with a quarter of the pairs
    still, on texts in which the slowest of that quarter turns once; and massive values (Jin et al.
    2025, arXiv 2502.01563, section 2) of queries and keys, after the rotation, and of values.

    arrays: ids (n_sequences, length), int, the tokens that were read; wavelengths (n_pairs,), in
        positions; shares (n_layers, n_heads, n_pairs); massive (3, n_layers, n_pairs), int, massive
        values of queries, keys and values by the pair of their component; context (), positions;
        massive_random (), all of these with random weights, on one text
    errors: NotApplicableError
    """
    paired, turns = pairs(stack), wavelengths(stack)
    texts = stack.pieces(SEQUENCES, min(LENGTH, stack.longest))
    found = _lengths(stack, texts, paired)
    shares = _shares(found.norms)
    without = np.stack([_shares(rest) for rest in without_each(found.norms)])
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
        *_of_massive(found, paired[turns > stack.longest]),
    ]
    arrays = {"ids": texts, "wavelengths": turns, "shares": shares}
    arrays |= {"massive": _by_pair(found, paired), "context": np.array(stack.longest)}
    if stack.again is None:
        random = _lengths(stack.untrained(RANDOM_SEED), texts[:FEW], paired)
        arrays[RANDOM] = np.array(sum(_counts(random).values()))
    read = {metric.key: len(texts) for metric in metrics}
    for name, number in QUARTERS.items():
        key, title = f"without_{name}_quarter", f"Loss rise, {name} quarter not turning"
        if stack.wants(key):
            try:
                rise = _without(stack, paired[quarters[number]], turns[quarters[number]])
            except NotApplicableError as error:
                metrics.append(Metric(key, title, None, "nats", str(error)))
            else:
                metrics.append(Metric(key, title, rise.mean, "nats"))
                read[key] = rise.n_sequences
    return Result(tuple(metrics), arrays, read=read)


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


def _lengths(stack: RunningStack, texts: Array, paired: Array) -> _Lengths:
    """Of queries, keys and values while ``stack`` reads ``texts``, in one pass."""
    sums: defaultdict[int, list[Floats]] = defaultdict(list)
    squares: defaultdict[tuple[int, int], list[Floats]] = defaultdict(list)

    def note(layer: int, *heads: Any) -> None:
        for kind, values in enumerate(heads):
            squares[kind, layer].append(values.double().square().sum(dim=(0, 2)).cpu().numpy())
        norms = [
            values.double()[..., paired.reshape(-1)].unflatten(-1, (-1, 2)).norm(dim=-1)
            for values in heads[:2]
        ]
        of_query, of_key = (each.sum(dim=(0, 2)).cpu().numpy() for each in norms)
        of_key = np.repeat(of_key, len(of_query) // len(of_key), axis=0)
        sums[layer].append(np.stack([of_query, of_key]))

    with heads_watched(stack, note):
        for _ in stack.run(texts, batch=1):
            pass
    queries, keys, values = (
        np.stack([squares[kind, layer] for layer in sorted(sums)], axis=1)
        for kind in KINDS.values()
    )
    norms = np.stack([sums[layer] for layer in sorted(sums)], axis=1)
    return _Lengths(norms, (queries, keys, values))


def _are_massive(by_text: Floats) -> Array:
    """Whether the norm of a component over all tokens is more than ``MASSIVE`` times the mean of
    those of its head: (n_layers, n_heads, d_head), bool.

    by_text: (n_texts, n_layers, n_heads, d_head), sums of squares
    """
    norms = np.sqrt(by_text.sum(axis=0))
    return np.asarray(norms > MASSIVE * norms.mean(axis=-1, keepdims=True))


def _counts(found: _Lengths) -> dict[str, int]:
    """Massive values of each of ``KINDS``."""
    return {kind: int(_are_massive(found.squares[at]).sum()) for kind, at in KINDS.items()}


def _by_pair(found: _Lengths, paired: Array) -> Array:
    """Massive values of each of ``KINDS`` by layer and pair: (3, n_layers, n_pairs), int."""
    counts = np.zeros((len(KINDS), found.norms.shape[1], len(paired)), np.int64)
    for kind, by_text in enumerate(found.squares):
        if paired.max() < by_text.shape[-1]:  # Value heads may be narrower.
            counts[kind] = _are_massive(by_text)[..., paired].sum(axis=(1, 3))
    return counts


def _share_in(components: Array, *squares: Floats) -> float:
    """Share of massive values of queries and keys that are in ``components`` in %; 0 without
    any.
    """
    are = [_are_massive(by_text) for by_text in squares]
    count = sum(int(each.sum()) for each in are)
    return 100.0 * sum(int(each[..., components].sum()) for each in are) / max(count, 1)


def _of_massive(found: _Lengths, slow: Array) -> Iterator[Metric]:
    """How many massive values there are, and how many of queries and keys are in ``slow`` pairs."""
    for kind, at in KINDS.items():
        by_text = found.squares[at]
        without = [float(_are_massive(rest).sum()) for rest in without_each(by_text)]
        key, title = f"massive_{kind}", f"Massive values in {kind}"
        yield Metric(key, title, _are_massive(by_text).sum())
        yield Metric(
            error_key(key), f"Standard error: {title}", float(jackknife(np.array(without)))
        )
    yield Metric("slow_pairs", "Pairs without a full turn within the context", len(slow))
    queries, keys, _ = found.squares
    title = "Massive values of queries and keys in pairs without a full turn"
    share, error = None, None
    if any(_are_massive(by_text).any() for by_text in (queries, keys)):
        pairs_of_texts = zip(without_each(queries), without_each(keys), strict=True)
        shares = [_share_in(slow.reshape(-1), *rest) for rest in pairs_of_texts]
        share = _share_in(slow.reshape(-1), queries, keys)
        error = float(jackknife(np.array(shares)))
    yield Metric("massive_slow", title, share, "%", "there are none")
    yield Metric(
        error_key("massive_slow"), f"Standard error: {title}", error, "%", "there are none"
    )


def _shares(by_text: Floats) -> Floats:
    """(n_layers, n_heads, n_pairs), each head's sum 1, of the norms in ``_Lengths``."""
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
    """Which pairs are used, and which have massive values, where both runs say so."""
    return (*_massive_ones(first, second), *_that_stands_out(first, second))


def _massive_ones(first: Result, second: Result) -> Iterator[Finding]:
    """A finding where both runs have more massive values than random weights."""
    keys = tuple(f"massive_{kind}" for kind in KINDS)
    of_slow = ("massive_slow", error_key("massive_slow"), "slow_pairs")
    random, n_slow = float(first.arrays[RANDOM]), int(first.value("slow_pairs") or 0)
    n_pairs = first.arrays["wavelengths"].size
    chance = 100.0 * n_slow / n_pairs
    for result in (first, second):
        turned = sum(result.value(key) or 0.0 for key in keys[:2])
        error = sum(result.value(error_key(key)) or 0.0 for key in keys[:2])
        if turned - BEYOND * error <= random + LEAST:
            return
    shares = [result.value("massive_slow") or 0.0 for result in (first, second)]
    is_slow = n_slow > 0 and min(shares) > chance + MOSTLY * (100.0 - chance)
    values = {kind: first.value(f"massive_{kind}") for kind in KINDS}
    errors = {f"{kind}_error": first.value(error_key(f"massive_{kind}")) for kind in KINDS}
    slow = {"slow": shares[0] if is_slow else None, "n_slow": n_slow, "n_pairs": n_pairs}
    text = WORDING("massive_ones", **values, **errors, **slow, random=random)
    rests_on = (*keys, *map(error_key, keys), *(of_slow if is_slow else ()))
    yield Finding(text, rests_on, 0.55)


def _that_stands_out(first: Result, second: Result) -> tuple[Finding, ...]:
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


def sentence(results: Results, n_models: int) -> str:
    """How much of |q||k| is in the slowest and in the fastest quarter of the pairs: of one model,
    or of those with the least and the most in the slowest.
    """
    keys = ("share_slowest_quarter", "share_fastest_quarter")
    by_share = sorted(results.items(), key=lambda pair: pair[1].value(keys[0]) or 0.0)
    ends = [
        (label.title, *((result.value(key), result.value(error_key(key))) for key in keys))
        for label, result in dict((by_share[0], by_share[-1])).items()
    ]
    return WORDING("quarters", ends=ends, n_models=n_models if len(results) == 1 else 0)


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


def draw_massive(results: Results) -> "Figure":
    """Massive values of all layers and heads by the wavelength of their pair."""
    ((label, result),) = results.items()
    counts = result.arrays["massive"].sum(axis=1)  # (3, n_pairs)
    figure, every = panels(len(KINDS), columns=1, height=1.6)
    for axes, kind in zip(every, KINDS, strict=True):
        name = "context length" if axes is every[0] else hidden("context length")
        line: dict[str, Any] = {"colour": REFERENCE, "dash": DOTTED, "width": 1.4, "name": name}
        add(axes, StraightLine("x", float(result.arrays["context"]), **line))
        style: dict[str, Any] = {"colour": label.colour, "marker": "o", "size": 3.0}
        add(axes, Line(result.arrays["wavelengths"], counts[KINDS[kind]], **style))
        logarithmic(axes, "x")
        axes.set(title=kind, ylabel="components", ylim=(0.0, 1.08 * max(int(counts.max()), 1)))
        axes.grid(axis="y")
    every[-1].set(xlabel="wavelength of the pair (positions)")
    legend_below(figure)
    return figure


def alt_massive(results: Results) -> str:
    """Alternative text: how many there are, and how many in slow pairs."""
    (result,) = results.values()
    keys = (*(f"massive_{kind}" for kind in KINDS), "massive_slow")
    return WORDING("massive_alt", **{key: result.value(key) for key in keys})


ANALYSIS = Analysis(
    key="pairs",
    after="induction",
    subject="model",
    units={
        **dict.fromkeys(("share_fastest_quarter", "share_slowest_quarter", "highest_share"), "%"),
        **dict.fromkeys((f"massive_{kind}" for kind in KINDS), ""),
    },
    over_steps={"massive_queries": "rise"},
    compute=compute,
    confirmed=confirmed,
    sentence=sentence,
    figures=(
        FigureSpec(
            "pairs",
            WORDING.figure("pairs", alt=alt),
            draw=draw,
            python='plt.imshow(100 * arrays["pairs.shares"].mean(axis=1), aspect="auto")',
        ),
        FigureSpec(
            "massive",
            WORDING.figure("massive", alt=alt_massive),
            draw=draw_massive,
            python=(
                'for counts in arrays["pairs.massive"].sum(axis=1):\n'
                '    plt.semilogx(arrays["pairs.wavelengths"], counts, "o-")'
            ),
        ),
    ),
)
