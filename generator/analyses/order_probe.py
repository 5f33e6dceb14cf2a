"""Linear probe for the order of two positions."""

from typing import Any

import numpy as np

from generator.contracts import (
    Analysis,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Placed,
    Recomputed,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.oracles import GPT2, SAMPLES, cases, paper_sinusoid
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.figures.canvas import Figure
from generator.figures.charts import Curves
from generator.figures.panels import panels, wrapped
from generator.figures.scene import Line, StraightLine, Text, add
from generator.figures.style import MUTED
from generator.numerics.arrays import Array, Floats
from generator.numerics.linear_probes import (
    DRAWS,
    PairClassifier,
    order_errors,
    probed_rows,
    sample_pairs,
)

WORDING = Wording("analyses/order_probe.md.jinja")
PROTOCOL = Recomputed(
    "scikit-learn",
    "LogisticRegression and cross_val_score, after Wang and Chen 2020 (arXiv 2010.04903)",
)
FEW, MANY = 512, 8192  # pairs; the first as in Wang and Chen 2020
MANY_DRAWS = 3
SHUFFLES = 8  # random orders of the same vectors
CHANCE = 50.0  # per cent
ERRORS = Headline(
    "error",
    WORDING,
    chance=Chance("shuffled", 0.0, ("spread", DRAWS), ("spread_shuffled", SHUFFLES)),
)
# Shares of the errors with shuffled positions: pairs share vectors, which a probe remembers.
ORDERED, UNORDERED = 0.25, 0.6


def compute(subject: Subject[PositionTable]) -> Result:
    """Cross-validated error of logistic regression of the order of two positions on their vectors.

    The protocol of Wang and Chen 2020 (arXiv 2010.04903, section 3), ``DRAWS`` samples of ``FEW``
    pairs, and ``MANY_DRAWS`` of ``MANY``.
    arrays: few, many (n_samples,), share of misordered pairs in each sample, per cent, many empty
        when there are fewer pairs than ``MANY``; distances (n_bins,), lower edges, in positions;
        by_distance (n_bins,), share of misordered pairs in each bin, per cent
    errors: NotApplicableError when positions form a grid, are too few, or the table is not finite
    """
    form = subject.encoding.form
    rows = probed_rows(form.vectors, form.grid)
    n_all_pairs = len(rows) ** 2
    classifiers = PairClassifier.of(rows, min(FEW, n_all_pairs), MANY)
    classifier, n_few = next(classifiers), min(FEW, n_all_pairs)
    few, pairs, misordered = _errors(classifier, n_few, DRAWS)
    shuffled = np.array([_of_shuffled(classifier, n_few, seed) for seed in range(SHUFFLES)])
    many = np.zeros(0)
    if n_all_pairs >= MANY:
        many, pairs, misordered = _errors(next(classifiers), MANY, MANY_DRAWS)
    edges, by_distance = _by_distance(pairs, misordered, len(rows))
    error_many = float(many.mean()) if many.size else None
    too_few = f"there are only {n_all_pairs:,} pairs of positions"
    metrics = (
        Metric("error", f"Order errors ({FEW} pairs)", few.mean(), "%"),
        Metric(
            "spread",
            f"Standard deviation over {DRAWS} samples of {FEW} pairs",
            few.std(ddof=1),
            "%",
        ),
        Metric("shuffled", "Order errors with shuffled positions", shuffled.mean(), "%"),
        Metric(
            "spread_shuffled",
            f"Standard deviation over {shuffled.size} orders",
            shuffled.std(ddof=1),
            "%",
        ),
        Metric("error_many", f"Order errors ({MANY:,} pairs)", error_many, "%", too_few),
        Metric(
            "spread_many",
            f"Standard deviation over {MANY_DRAWS} samples of {MANY:,} pairs",
            many.std(ddof=1) if many.size else None,
            "%",
            too_few,
        ),
        Metric("probed", "Length of the table, as probed", len(rows), "positions"),
    )
    placed = ERRORS.placed(Result(metrics))
    return Result(
        metrics,
        arrays={"few": few, "many": many, "distances": edges, "by_distance": by_distance},
        findings=(_finding(metrics, error_many, len(form.vectors)),)
        if placed and _is_ordered(placed)
        else (),
    )


def _errors(
    classifier: PairClassifier, n_pairs: int, n_samples: int
) -> tuple[Floats, Array, Array]:
    """Mean error over the folds of each sample, all sampled pairs, and which of them are
    misordered.

    returns: (n_samples,), per cent; (n_samples · n_pairs, 2), int; (n_samples · n_pairs,), bool
    """
    errors, all_pairs, all_misordered = [], [], []
    for seed in range(n_samples):
        pairs = sample_pairs(len(classifier.features), n_pairs, seed)
        misordered_pairs = np.zeros(n_pairs, dtype=bool)
        shares = []
        for held, misordered in order_errors(classifier, pairs):
            misordered_pairs[held] = misordered
            shares.append(misordered.mean())
        errors.append(100.0 * float(np.mean(shares)))
        all_pairs.append(pairs)
        all_misordered.append(misordered_pairs)
    return np.array(errors), np.concatenate(all_pairs), np.concatenate(all_misordered)


def _of_shuffled(classifier: PairClassifier, n_pairs: int, seed: int) -> float:
    """Mean error over the folds, per cent, of one sample of pairs of the same vectors at shuffled
    positions: what the probe learns of single vectors, since pairs are held out and vectors not.
    """
    n_positions = len(classifier.features)
    order = np.random.default_rng(seed).permutation(n_positions)
    pairs = sample_pairs(n_positions, n_pairs, seed)
    errors = order_errors(classifier, pairs, order)
    return 100.0 * float(np.mean([misordered.mean() for _, misordered in errors]))


def _by_distance(pairs: Array, misordered: Array, n_positions: int) -> tuple[Array, Floats]:
    """Share of misordered pairs in bins of distance, each bin twice as wide as the one before: 1,
    2, 4, …

    pairs: (n_pairs, 2), int; misordered: (n_pairs,), bool
    returns: lower edges (n_bins,), in positions; (n_bins,), per cent, NaN for an empty bin
    """
    distance = np.abs(pairs[:, 1] - pairs[:, 0])
    starts = 2 ** np.arange(int(n_positions - 1).bit_length())
    bins = np.searchsorted(starts, distance[distance > 0], side="right") - 1
    counts = np.bincount(bins, minlength=starts.size)
    return starts, 100.0 * np.bincount(bins, misordered[distance > 0], starts.size) / np.where(
        counts == 0, np.nan, counts
    )


def _is_ordered(errors: Placed) -> bool:
    """Whether the probe errs less than with the same vectors in random orders."""
    return errors.is_apart and errors.share < 1.0


def _finding(metrics: tuple[Metric, ...], many: float | None, n_positions: int) -> Finding:
    """metrics: error, its spread, that of shuffled positions and its spread, per cent; many: mean
    error with many pairs; n_positions: of the table
    """
    probed = metrics[-1].value or 0.0
    error, _, usual, _ = (metric.value or 0.0 for metric in metrics[:4])
    text = WORDING(
        "order",
        tells=error <= ORDERED * usual,
        usually=error < UNORDERED * usual,
        error=error,
        many=many,
        n_many=MANY,
        shuffled=usual,
        first=probed if probed < n_positions else None,
    )
    rests_on = (
        *(metric.key for metric in metrics[:4]),
        *(() if many is None else ("error_many",)),
        "probed",
    )
    weight = 0.45 if error <= ORDERED * usual else 0.25
    return Finding(text, rests_on, weight, spots=(Spot("draws", error, 0.0),))


def draw(results: Results) -> Figure:
    """Errors of all samples, one row of strokes and dots per table."""
    figure, (axes,) = panels(1, height=1.3 + 0.45 * len(results))
    add(axes, StraightLine("x", CHANCE, width=0.8))
    for row, (label, result) in enumerate(results.items()):
        for name, pairs, marker, size in (("few", FEW, "|", 11), ("many", MANY, ".", 5)):
            errors = result.arrays[name]
            style: dict[str, Any] = {"marker": marker, "size": size, "is_joined": False}
            style |= {"colour": label.colour, "name": f"_{pairs:,} pairs at most"}
            add(axes, Line(errors, np.full(errors.size, row), **style))
    axes.set_yticks(range(len(results)), [wrapped(label.title) for label in results])
    axes.set(xlabel="order errors (%)", xlim=(-0.5, 55.0), ylim=(len(results) - 0.4, -0.6))
    axes.tick_params(axis="y", length=0)
    within = ("data", "panel")
    add(axes, Text("guess", (CHANCE, 1.0), (3, -2), within=within, baseline="top", colour=MUTED))
    axes.grid(axis="x")
    return figure


def _error_by_distance(result: Result) -> tuple[Array, Array]:
    return result.arrays["distances"] * np.sqrt(2.0), result.arrays["by_distance"]


def _samples(result: Result) -> dict[str, Any]:
    few = result.arrays["few"]
    return {
        "lowest": few.min(),
        "highest": few.max(),
        "mean": result.value("error"),
        "many": result.value("error_many"),
        "n_many": MANY,
    }


def _ends(result: Result) -> dict[str, Any]:
    starts, errors = result.arrays["distances"], result.arrays["by_distance"]
    ends = np.flatnonzero(~np.isnan(errors))[[0, -1]]
    return {"errors": errors[ends], "starts": starts[ends]}


ANALYSIS = Analysis(
    key="order_probe",
    stage="measure",
    after="position_probe",
    headlines=(ERRORS,),
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            "draws",
            WORDING.figure("draws", _samples),
            draw,
            python=('plt.plot(arrays["order_probe.few"], "o")'),
        ),
        FigureSpec(
            "by_distance",
            WORDING.figure("by_distance", _ends),
            Curves(
                _error_by_distance,
                x="distance of the two positions (positions)",
                y="order errors (%)",
                log="x",
                ylim=(-1.0, None),
                height=3.4,
                rules=(StraightLine("y", CHANCE, width=0.8),),
                style={"marker": "."},
            ),
            python=(
                'plt.semilogx(arrays["order_probe.distances"] * 2**0.5, '
                'arrays["order_probe.by_distance"], ".-")'
            ),
            overlays=True,
        ),
    ),
    oracles=(
        *cases(
            compute,
            PROTOCOL,
            paper_sinusoid,
            {"Error on the sinusoid, 512 × 768, with 512 pairs": {"error": "5.61"}},
            unit="%",
            margin=1.0,
            allowance=SAMPLES,
        ),
        *cases(
            compute,
            PROTOCOL,
            paper_sinusoid,
            {"Error on the sinusoid, 512 × 768, with 8,192 pairs": {"error_many": "1.37"}},
            unit="%",
            margin=0.3,
            allowance=SAMPLES,
        ),
        *cases(
            compute,
            PROTOCOL,
            GPT2,
            {"Error on the first 512 rows of GPT-2's table": {"error": "2.22"}},
            unit="%",
            margin=0.5,
            allowance=SAMPLES,
        ),
    ),
)
