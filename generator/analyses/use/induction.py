"""Heads that find what came after the same word before (Olsson et al. 2022)."""

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.checkpoints.model.running.stack import RunningStack
from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results
from generator.contracts.results import error_key
from generator.contracts.wording import Wording
from generator.figures.grids_of_heads import cells
from generator.numerics.arrays import Array, Floats
from generator.numerics.certainty import mean_error, resamples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("analyses/induction.md.jinja")
LENGTH = 32  # of the sequence that is repeated
SEQUENCES = 16
LARGE = 0.3
# Kinds of heads: metrics of their number and of the most attention there, and weight of a finding.
KINDS = {
    "induction": ("count", "highest", 0.6),
    "previous": ("previous_count", "previous_highest", 0.3),
}
TITLES = {
    "highest": "Highest attention to what followed the same token",
    "count": "Induction heads (over 0.3)",
    "previous_highest": "Highest attention to the previous token",
    "previous_count": "Previous-token heads (over 0.3)",
}


def compute(stack: RunningStack) -> Result:
    """Attention in the second copy of a sequence of random words: to the word before, and to the
    word that followed in the first copy.

    arrays: ids (n_sequences, length), int, the tokens that were read; previous, induction
        (n_layers, n_heads) each, means over all queries of the second copy but its first and last
    errors: NotApplicableError
    """
    vocabulary = stack.text_vocabulary
    n = min(LENGTH, (stack.longest - vocabulary.n_reserved) // 2)
    once = np.random.default_rng(stack.seed).choice(vocabulary.ids, (SEQUENCES, n))
    inputs = vocabulary.framed(np.hstack([once, once]))
    # Where the word that followed has been read, and another one follows.
    queries = len(vocabulary.before) + np.arange(n + 1, 2 * n - 1)

    to_previous, to_next = _by_text(stack, inputs, queries, n)
    n_keys = inputs.shape[1]
    uniform = float(np.mean(1.0 / (queries + 1.0))) if stack.is_causal else 1.0 / n_keys
    metrics = (
        *_of_kind("induction", to_next),
        *_of_kind("previous", to_previous),
        Metric("chance", "Attention by chance", uniform),
    )
    return Result(
        metrics,
        {"ids": inputs, "previous": to_previous.mean(axis=0), "induction": to_next.mean(axis=0)},
        read={metric.key: SEQUENCES for metric in metrics},
    )


def _by_text(stack: RunningStack, inputs: Array, queries: Array, n: int) -> tuple[Floats, Floats]:
    """Mean attention of ``queries`` to the word before, and to what followed the same word ``n``
    words before, in each sequence: (n_sequences, n_layers, n_heads) each.
    """
    keys = np.stack([queries - 1, queries - n + 1])
    by_layer: defaultdict[int, list[Floats]] = defaultdict(list)

    def note(layer: int, weights: Any) -> None:
        means = weights[:, :, queries[None, :], keys].double().mean(dim=-1)
        by_layer[layer].append(means.cpu().numpy())

    for _ in stack.run(inputs, note):
        pass
    layers = [np.concatenate(by_layer[layer]) for layer in sorted(by_layer)]
    previous, following = np.moveaxis(np.stack(layers, axis=1), 3, 0)
    return previous, following


def _of_kind(kind: str, by_text: Floats) -> Iterator[Metric]:
    """The highest attention of a head, and how many heads are of a kind, each with its standard
    error over sequences: of the former in that head, of the latter over samples of them.
    """
    number, highest, _ = KINDS[kind]
    mean = by_text.mean(axis=0)
    samples = np.tensordot(resamples(len(by_text)), by_text, axes=1) > LARGE
    of_one = by_text.reshape(len(by_text), -1)[:, mean.argmax()]
    of_number = samples.sum(axis=(1, 2)).std(ddof=1)
    found = {highest: (mean.max(), mean_error(of_one)), number: ((mean > LARGE).sum(), of_number)}
    for key, (value, error) in found.items():
        yield Metric(key, TITLES[key], value)
        yield Metric(error_key(key), f"Standard error: {TITLES[key]}", error)


def confirmed(first: Result, second: Result) -> tuple[Finding, ...]:
    """How many such heads there are, as many as both runs show."""
    found = []
    for kind, (key, highest, weight) in KINDS.items():
        count = round(min(first.value(key) or 0.0, second.value(key) or 0.0))
        if count:
            keys = (error_key(key), error_key(highest))
            text = WORDING(
                f"find_{kind}",
                count=count,
                n_heads=first.arrays[kind].size,
                most=100.0 * (first.value(highest) or 0.0),
                uniform=100.0 * (first.value("chance") or 0.0),
                error=first.value(keys[0]),
                of_most=100.0 * (first.value(keys[1]) or 0.0),
            )
            found.append(Finding(text, (key, keys[0], highest, keys[1], "chance"), weight))
    return tuple(found)


def sentence(results: Results, _: int) -> str:
    """In how many parts there are heads of each kind, and where the largest share of heads are."""
    kinds = {}
    for kind in KINDS:
        key = KINDS[kind][0]
        shares = {label: _share(key, result) for label, result in results.items()}
        most = max(shares, key=lambda label: shares[label][0])
        n_with = sum(share > 0.0 for share, _ in shares.values())
        kinds[kind] = (n_with, most.title, shares[most])
    return WORDING("in_parts", kinds=kinds, n_parts=len(results))


def _share(key: str, result: Result) -> tuple[float, float]:
    """The share of the heads that are of a kind, and its standard error, in %."""
    share = 100.0 / result.arrays["induction"].size
    return share * (result.value(key) or 0.0), share * (result.value(error_key(key)) or 0.0)


def draw(results: Results) -> "Figure":
    """Both kinds of attention of every head."""
    (result,) = results.values()
    both = np.stack([result.arrays["previous"], result.arrays["induction"]])
    titles = ("To the previous token", "To what followed the same token")
    return cells(both, 1.0, "attention", titles)


def alt(results: Results) -> str:
    """Alternative text: the highest of both kinds."""
    (result,) = results.values()
    return WORDING(
        "heads_alt", previous=result.value("previous_highest"), induction=result.value("highest")
    )


ANALYSIS = Analysis(
    key="induction",
    after="order",
    subject="model",
    units=dict.fromkeys(("highest", "count", "previous_highest", "previous_count"), ""),
    compute=compute,
    confirmed=confirmed,
    sentence=sentence,
    figures=(
        FigureSpec(
            "heads",
            WORDING.figure("heads", alt=alt),
            draw=draw,
            python=(
                "plt.subplot(121, title='previous token')\n"
                'plt.imshow(arrays["induction.previous"], vmin=0, vmax=1)\n'
                "plt.subplot(122, title='what followed')\n"
                'plt.imshow(arrays["induction.induction"], vmin=0, vmax=1)'
            ),
        ),
    ),
)
