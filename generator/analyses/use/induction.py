"""Heads that find what came after the same word before (Olsson et al. 2022)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from generator.checkpoints.model.running.stack import RunningStack
from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results
from generator.contracts.wording import Wording
from generator.figures.grids_of_heads import cells
from generator.numerics.arrays import Floats

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

    def taken(weights: Any) -> Floats:
        keys = np.stack([queries - 1, queries - n + 1])
        means = weights[:, :, queries[None, :], keys].double().mean(dim=-1)
        return np.asarray(means.sum(dim=0).cpu().numpy())

    previous, induction = np.moveaxis(stack.attended(inputs, taken), 2, 0)
    n_keys = inputs.shape[1]
    uniform = float(np.mean(1.0 / (queries + 1.0))) if stack.is_causal else 1.0 / n_keys
    metrics = (
        Metric(
            "highest", "Highest attention to what followed the same token", float(induction.max())
        ),
        Metric("count", "Induction heads (over 0.3)", float((induction > LARGE).sum())),
        Metric(
            "previous_highest", "Highest attention to the previous token", float(previous.max())
        ),
        Metric(
            "previous_count",
            "Previous-token heads (over 0.3)",
            float((previous > LARGE).sum()),
        ),
        Metric("chance", "Attention by chance", uniform),
    )
    return Result(
        metrics,
        {"ids": inputs, "previous": previous, "induction": induction},
        read={metric.key: SEQUENCES for metric in metrics},
    )


def confirmed(first: Result, second: Result) -> tuple[Finding, ...]:
    """How many such heads there are, as many as both runs show."""
    found = []
    for kind, (key, highest, weight) in KINDS.items():
        count = round(min(first.value(key) or 0.0, second.value(key) or 0.0))
        if count:
            most = first.value(highest) or 0.0
            text = WORDING(
                f"find_{kind}",
                count=count,
                n_heads=first.arrays[kind].size,
                most=100.0 * most,
                uniform=100.0 * (first.value("chance") or 0.0),
            )
            found.append(Finding(text, (key, highest, "chance"), weight))
    return tuple(found)


def sentence(results: Results, _: int) -> str:
    """In how many parts there are heads of each kind, and in which most are."""
    kinds = []
    for kind, names in KINDS.items():
        counts = {
            label.title: (int(result.value(names[0]) or 0), result.arrays[kind].size)
            for label, result in results.items()
        }
        most = max(counts, key=lambda title: counts[title][0])
        kinds.append((kind, sum(count > 0 for count, _ in counts.values()), most, *counts[most]))
    return WORDING("of_all", kinds=kinds[::-1], n_parts=len(results))


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
    units=dict.fromkeys(("highest", "count", "previous_highest"), ""),
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
