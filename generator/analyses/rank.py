"""Stable rank, effective rank and cumulative energy of the table."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np

from generator.contracts import (
    Analysis,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Label,
    Metric,
    Oracle,
    Recomputed,
    Result,
    Spot,
    Subject,
)
from generator.contracts.oracles import GPT2, SINGULAR_VALUES, cases, paper_sinusoid
from generator.contracts.results import compute_alone
from generator.contracts.wording import Wording
from generator.encodings import LEADING, PositionTable
from generator.errors import NotApplicableError
from generator.figures.charts import Curves
from generator.figures.scene import DOTTED, Dash, Line, StraightLine
from generator.numerics.arrays import Array, Floats, column_means, finite, frozen, largest

WORDING = Wording("analyses/rank.md.jinja")
SHARES = (90, 95, 99)  # per cent
FEW, MANY = 0.05, 0.5  # of the largest possible rank: limits of a low and of a nearly full rank
NARROWEST = 16  # In smaller tables a low rank means little.
ANGLES = 100_000  # at which the density of the eigenvalues of noise is summed
ROUNDING = 1e-6
FLAT_REASON = "all positions have the same vector"


def stable_rank(values: Floats) -> float:
    """‖P‖_F² / ‖P‖₂² (Rudelson and Vershynin 2007), within [1, n_components].

    values: (n_components,), singular values, largest first
    """
    return float(np.sum((values / values[0]) ** 2))


def effective_rank(values: Floats) -> float:
    """exp H(p), p = σ / Σσ (Roy and Vetterli 2007, definition 1), within [1, n_components].

    values: (n_components,), singular values
    """
    shares = values[values > 0.0] / values.sum()
    return float(np.exp(-np.sum(shares * np.log(shares))))


def cumulative(values: Floats) -> Floats:
    """Share of the energy in the first 1, 2, … components: (n_components,), rising to 1.

    values: (n_components,), singular values, largest first
    """
    energy = np.cumsum((values / values[0]) ** 2)
    return np.asarray(energy / energy[-1])


def components_for(values: Floats, share: float) -> int:
    """Smallest number of components with at least ``share`` of the energy.

    values: (n_components,), singular values, largest first; share: within [0, 1]
    """
    return int(np.searchsorted(cumulative(values), share)) + 1


def components_of_noise(n_positions: int, n_dimensions: int, share: float) -> int:
    """``components_for`` that many independent Gaussian numbers, mean-centred, by the law of
    Marchenko and Pastur (1967).

    With y the ratio of the two sizes, eigenvalues are 1 + y + 2√y cos t for t in [0, π], as many at
    each t as sin² t ÷ eigenvalue, so that their energy goes as sin² t.
    """
    few, many = sorted((max(n_positions - 1, 1), n_dimensions))
    t = np.linspace(0.0, np.pi, ANGLES + 1)[:-1] + np.pi / (2 * ANGLES)
    energy, ratio = np.sin(t) ** 2, few / many
    counts = np.cumsum(energy / (1.0 + ratio + 2.0 * np.sqrt(ratio) * np.cos(t)))
    held = np.cumsum(energy) / energy.sum()
    return int(np.ceil(few * float(np.interp(share, held, counts / counts[-1])) - ROUNDING))


def compute(subject: Subject[PositionTable]) -> Result:
    """Ranks and cumulative energy of the table, as stored and mean-centred, and the energy of the
    mean vector.

    arrays: energy, energy_centred (n_components,), cumulative shares of the energy; energy_centred
        is empty for a constant table
    errors: NotApplicableError when the table is not finite, is zero, or is too large
    """
    form = subject.encoding.form
    finite(form.vectors, "the table")
    n_outliers, whole = form.outliers.size, _decomposed(form)
    values, centred, _ = whole
    _, within, in_mean = _decomposed(form.without_outliers) if n_outliers else whole
    noise = components_of_noise(form.extent - n_outliers, form.vectors.shape[1], 0.9)
    # Vectors whose mean is 0 span one direction less than there are of them.
    n_possible = min(within.size, form.extent - n_outliers - 1)
    return Result(
        metrics=(
            _metric(
                "within_for_90",
                "Components for 90% of the variance, without outliers",
                partial(components_for, share=0.9),
                within,
            ),
            Metric("within_most", "Highest possible number, without outliers", n_possible),
            Metric(
                "within_noise",
                "Components that random numbers of the same size need for 90%",
                noise,
            ),
            *_measures("centred_", ", mean-centred", centred),
            Metric("in_mean", "Energy in the mean vector", 100.0 * in_mean, "%"),
            *_measures("", "", values),
            Metric("most", "Highest possible rank", values.size),
        ),
        arrays={
            "energy": cumulative(values),
            "energy_centred": cumulative(centred) if centred.size else centred,
        },
        findings=(
            *_of_rank(within, n_possible, noise, n_outliers, of_patches=form.grid is not None),
            *_of_mean(in_mean, n_outliers),
        ),
    )


def _decomposed(form: PositionTable) -> tuple[Floats, Floats, float]:
    """Singular values of the table, those of the centred table, (n_components,) each, empty where
    it is constant, and the share of the energy in the mean vector.

    errors: NotApplicableError for a table of zeros, or one too large
    """
    values = form.singular_values
    try:
        centred = form.components.values
    except NotApplicableError:
        centred = frozen([])
    mean = column_means(form.vectors, largest(form.vectors))
    return values, centred, float(len(form.vectors) * np.sum(mean**2) / np.sum(values**2))


def _measures(prefix: str, suffix: str, values: Floats) -> Iterator[Metric]:
    yield _metric(prefix + "stable", "Stable rank" + suffix, stable_rank, values)
    yield _metric(prefix + "effective", "Effective rank" + suffix, effective_rank, values)
    for share in SHARES:
        title = f"Components for {share}% of the energy{suffix}"
        count = partial(components_for, share=share / 100)
        yield _metric(f"{prefix}for_{share}", title, count, values)


def _metric(key: str, title: str, measure: Callable[[Floats], float], values: Floats) -> Metric:
    return Metric(key, title, measure(values) if values.size else None, reason=FLAT_REASON)


def _of_rank(
    centred: Floats, n_possible: int, noise: float, n_outliers: int, *, of_patches: bool
) -> Iterator[Finding]:
    if centred.size < NARROWEST:
        return
    needed = components_for(centred, 0.9)
    if needed == LEADING:  # The finding on the principal components says how much so many hold.
        return
    is_most = needed >= MANY * n_possible
    weight = 0.5 if is_most else 0.2
    if needed <= FEW * n_possible:
        weight = 0.85
    counts = {"needed": needed, "n_possible": n_possible, "noise": noise, "n_outliers": n_outliers}
    text = WORDING("directions", **counts, is_most=is_most, of_patches=of_patches)
    at = Spot("energy", needed, 100.0 * float(cumulative(centred)[needed - 1]))
    spots = () if n_outliers else (at,)  # The figure shows the whole table.
    yield Finding(text, ("within_for_90", "within_most"), weight, spots=spots)


def _of_mean(in_mean: float, n_outliers: int) -> Iterator[Finding]:
    if in_mean > 0.5:
        text = WORDING("mean", share=in_mean, n_outliers=n_outliers)
        yield Finding(text, ("in_mean",), 0.5)


def energy_by_components(result: Result, name: str = "energy_centred") -> tuple[Array, Array]:
    """Numbers of components, and the share of the energy that they hold, in %."""
    energy = result.arrays[name]
    return np.arange(1, energy.size + 1), 100.0 * energy


def _as_stored(label: Label, result: Result, _: Dash) -> tuple[Line]:
    x, y = energy_by_components(result, "energy")
    return (Line(x, y, colour=label.colour, dash=DOTTED, name=f"_{label.title}, not centred"),)


ENERGY = Curves(
    energy_by_components,
    x="components, strongest first",
    y="cumulative energy (%)",
    log="x",
    ylim=(0.0, 101.0),
    height=3.4,
    rules=tuple(StraightLine("y", share, dash=DOTTED) for share in SHARES),
    grid="",
    above=_as_stored,
)


@lru_cache(maxsize=2)
def section(form: PositionTable, first: int, stop: int) -> PositionTable:
    """Positions ``first`` to ``stop`` − 1 as a table (stop − first, d_model)."""
    return PositionTable(frozen(form.vectors[first:stop]))


def _centred_stable(form: PositionTable, first: int, stop: int) -> list[float]:
    return [compute_alone(compute, section(form, first, stop)).value("centred_stable") or np.nan]


DIRECTIONS = Headline("within_for_90", WORDING, chance=Chance("within_noise"))

ANALYSIS = Analysis(
    key="rank",
    feels_steps=True,
    about="values",
    stage="measure",
    after="similarity_of_dimensions",
    headlines=(
        Headline("in_mean", WORDING),
        DIRECTIONS,
    ),
    answer=DIRECTIONS,
    forms=(PositionTable,),
    compute=compute,
    follows=frozenset({"energy", "energy_centred"}),
    figures=(
        FigureSpec(
            "energy",
            WORDING.figure("energy"),
            ENERGY,
            python=(
                "energy = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) "
                "** 2\n"
                "plt.semilogx(np.arange(1, len(energy) + 1), 100 * np.cumsum(energy) / "
                "energy.sum())"
            ),
            overlays=True,
        ),
    ),
    oracles=(
        *cases(
            compute,
            SINGULAR_VALUES,
            paper_sinusoid,
            {"Stable rank of the sinusoid, 512 × 768": {"stable": "2.366"}},
        ),
        *cases(
            compute,
            Recomputed("scipy", "scipy.linalg.svdvals and scipy.stats.entropy"),
            paper_sinusoid,
            {"Effective rank of the sinusoid, 512 × 768": {"effective": "108.98"}},
        ),
        *cases(
            compute,
            SINGULAR_VALUES,
            paper_sinusoid,
            {
                "Components of the sinusoid, 512 × 768, for 90, 95 and 99% of the energy": {
                    "for_90": "65",
                    "for_95": "96",
                    "for_99": "129",
                },
                "Stable rank of the sinusoid, 512 × 768, mean-centred": {"centred_stable": "6.805"},
                "Components of the sinusoid, 512 × 768, mean-centred, for 90, 95 and 99% of the"
                " energy": {
                    "centred_for_90": "90",
                    "centred_for_95": "111",
                    "centred_for_99": "133",
                },
            },
        ),
        *cases(
            compute,
            SINGULAR_VALUES,
            GPT2,
            {
                "Stable rank of GPT-2's table": {"stable": "3.085"},
                "Stable rank of GPT-2's table, mean-centred": {"centred_stable": "2.993"},
            },
        ),
        Oracle(
            "Stable rank of positions 1 to 511 of GPT-2's table, mean-centred",
            ("2.054",),
            SINGULAR_VALUES,
            partial(_centred_stable, first=1, stop=512),
            sha256=GPT2,
        ),
    ),
    overlay=ENERGY.overlay("variance explained (%)"),
)
