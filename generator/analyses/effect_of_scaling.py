"""Effect of a scaling on the wavelengths of a rotation."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import (
    Analysis,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Published,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.published import RESCALED, STRETCHED, array, llama_3_1, metrics, yarn_by_16
from generator.encodings import Rotation
from generator.encodings.rotations import OF_WHOLE_HEAD, frequencies_before
from generator.errors import NotApplicableError
from generator.figures.lines import DOTTED, dots, legend_below, with_line_styles
from generator.figures.panels import logarithmic, panels
from generator.figures.style import MUTED
from generator.numerics.arrays import Array, Floats, finite
from generator.text import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Where scaling depends on the length of the input.
UP_TO = {"dynamic": " up to the configured length"}
# Ratios closer than this are equal: the initialisers of transformers work in float32.
ROUNDING = 1e-3


def compute(subject: Subject[Rotation]) -> Result:
    """Ratio of wavelengths after and before scaling, and the pairs left unchanged, slowed fully, or
    in between.

    arrays: ratios (n_pairs,); before (n_pairs,), wavelengths before scaling, in positions;
        unchanged, full (n_pairs,), bool
    errors: NotApplicableError without a scaling, for one that stops pairs and slows none, or when
        the frequencies are not finite; RowError when transformers cannot compute them
    """
    form = subject.encoding.form
    if form.rope_type == "default":
        raise NotApplicableError("no scaling: frequencies follow from the base alone")
    after = finite(form.frequencies, "the rotation")
    before = frequencies_before(form)
    ratios = before / after  # (n_pairs,)
    unchanged, slowed = _kinds(ratios)
    if unchanged.all() and form.rope_type == OF_WHOLE_HEAD:
        raise NotApplicableError(
            f"scaling “{form.rope_type}” turns {after.size} of {form.head_dim // 2} pairs and slows"
            " none"
        )
    n_between = ratios.size - int(np.count_nonzero(unchanged | slowed))
    return Result(
        metrics=(
            Metric("unchanged", "Pairs unchanged", float(np.count_nonzero(unchanged))),
            Metric("full", "Pairs slowed fully", float(np.count_nonzero(slowed))),
            Metric("between", "Pairs in between", float(n_between)),
            Metric("largest", "Largest ratio of wavelengths (after ÷ before)", float(ratios.max())),
            Metric(
                "attention_factor", "Attention factor, on sine and cosine", form.attention_factor
            ),
        ),
        arrays={
            "ratios": ratios,
            "before": 2.0 * np.pi / before,
            "unchanged": unchanged,
            "full": slowed,
        },
        findings=_findings(form, ratios, unchanged, slowed),
    )


def _kinds(ratios: Floats) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that are unchanged, and pairs slowed by the largest ratio: (n_pairs,), bool, disjoint.

    ratios: (n_pairs,)
    """
    unchanged = np.abs(ratios - 1.0) <= ROUNDING
    return unchanged, ~unchanged & (ratios > 1.0) & (ratios >= ratios.max() * (1.0 - ROUNDING))


def _findings(
    form: Rotation, ratios: Floats, unchanged: np.ndarray, slowed: np.ndarray
) -> tuple[Finding, ...]:
    opening, size = f"Scaling “{form.rope_type}”", unchanged.size
    if unchanged.all():
        return (
            Finding(
                f"{opening} leaves all {size} pairs unchanged{UP_TO.get(form.rope_type, '')}.",
                ("unchanged",),
                0.5,
            ),
        )
    by_factor = f"by a factor of {significant(float(ratios.max()), 3)}"
    if slowed.all():
        return (
            Finding(
                f"{opening} stretches all {size} wavelengths {by_factor}.", ("full", "largest"), 0.4
            ),
        )
    n_between = size - int(np.count_nonzero(unchanged | slowed))
    parts = (
        [f"leaves {_count(unchanged, 'fastest')} of {size} pairs unchanged"]
        if unchanged.any()
        else []
    )
    if slowed.any():
        parts.append(
            f"stretches {_count(slowed[::-1], 'slowest')}{'' if parts else f' of {size} pairs'}"
            f" {by_factor}"
        )
    if n_between:
        how = " by less" if slowed.any() and ratios.min() >= 1.0 - ROUNDING else ""
        parts.append(f"changes {'the other' if parts else 'all'} {n_between}{how}")
    text = f"{opening} {parts[0]}." + (f" It {' and '.join(parts[1:])}." if parts[1:] else "")
    ends = [np.flatnonzero(unchanged)[-1:], np.flatnonzero(slowed)[:1]]
    spots = tuple(Spot("pairs", float(pair), float(ratios[pair])) for pair in np.concatenate(ends))
    return (Finding(text, ("unchanged", "full", "between", "largest"), 0.6, spots=spots),)


def _count(which: np.ndarray, end: str) -> str:
    """The number of pairs as text, with ``end`` if they are the first ones.

    which: (n_pairs,), bool
    """
    count = int(np.count_nonzero(which))
    if not which[:count].all():
        return f"{count}"
    return f"the {end}" if count == 1 else f"the {count} {end}"


def _draw_ratios(results: Results, places: Callable[[Result], Array]) -> "tuple[Figure, Axes]":
    """Ratio of wavelengths at ``places`` (n_pairs,) of each result, one line per checkpoint."""
    figure, (axes,) = panels(1, height=3.2)
    axes.axhline(1.0, color=MUTED, linewidth=0.8, linestyle=DOTTED)
    for label, result, dash in with_line_styles(results):
        ratios = result.arrays["ratios"]
        axes.plot(
            places(result),
            ratios,
            color=label.colour,
            linestyle=dash,
            marker=dots(ratios.size),
            markersize=2.5,
            label=label.title,
        )
    highest = max(float(result.arrays["ratios"].max()) for result in results.values())
    axes.set(ylabel="wavelength, after ÷ before", ylim=(0.0, 1.08 * highest))
    axes.grid(axis="y")
    return figure, axes


def draw_pairs(results: Results) -> "Figure":
    """Ratio of wavelengths by pair, one line per checkpoint."""
    figure, axes = _draw_ratios(results, lambda result: np.arange(result.arrays["ratios"].size))
    axes.set(xlabel="frequency pair")
    legend_below(figure)
    return figure


def draw_wavelengths(results: Results) -> "Figure":
    """Ratio of wavelengths by wavelength before scaling, one line per checkpoint."""
    figure, axes = _draw_ratios(results, lambda result: result.arrays["before"])
    logarithmic(axes, "x")
    axes.set(xlabel="wavelength before scaling (positions)")
    legend_below(figure)
    return figure


def _varies(result: Result) -> bool:
    """Whether pairs differ: of one ratio for all, a sentence says everything."""
    return not result.arrays["unchanged"].all() and not result.arrays["full"].all()


def alt(results: Results, opening: str) -> str:
    """Alternative text: pairs unchanged and pairs slowed fully."""
    summaries = (
        f"{label.title}: {np.count_nonzero(result.arrays['unchanged'])} of"
        f" {result.arrays['ratios'].size} pairs at 1, {np.count_nonzero(result.arrays['full'])} at"
        f" {significant(float(result.arrays['ratios'].max()), 3)}"
        for label, result in results.items()
    )
    return f"{opening} " + "; ".join(summaries) + "."


ANALYSIS = Analysis(
    key="effect_of_scaling",
    title="Effect of scaling",
    question="Which frequency pairs does scaling slow down, and by how much?",
    source=(
        "The rotary initialisers of transformers; Peng et al. 2023 (YaRN, arXiv 2309.00071),"
        " section 3; Llama team 2024 (arXiv 2407.21783), section 3.4.2."
    ),
    also=("YaRN", "NTK", "LongRoPE"),
    stage="measure",
    order=84,
    answer=Headline(
        "largest",
        "Largest ratio",
        low="slows pairs down by a factor of {} at most",
        high="slows pairs down by a factor of up to {}",
        least="smallest",
        most="largest",
    ),
    forms=(Rotation,),
    compute=compute,
    figures=(
        FigureSpec(
            key="pairs",
            caption="Wavelength of each frequency pair after scaling, relative to before.",
            how_to_read=(
                "A pair at 1, on the dotted line, turns as before; one at 8 turns eight times more"
                " slowly. Many scalings leave the fast pairs on the left alone and stretch the slow"
                " ones on the right."
            ),
            alt=partial(alt, opening="Ratio of wavelengths by frequency pair."),
            python='plt.plot(arrays["effect_of_scaling.ratios"])',
            draw=draw_pairs,
            overlays=True,
            varies=_varies,
        ),
        FigureSpec(
            key="wavelengths",
            caption="The same ratio by wavelength before scaling.",
            how_to_read=(
                "The line leaves 1 at the longest wavelength that scaling keeps, and is level again"
                " at the full factor. Checkpoints with different bases and head sizes can be"
                " compared here."
            ),
            alt=partial(alt, opening="Ratio of wavelengths by wavelength before scaling."),
            python=(
                'plt.semilogx(arrays["effect_of_scaling.before"], '
                'arrays["effect_of_scaling.ratios"])'
            ),
            draw=draw_wavelengths,
            overlays=True,
            varies=_varies,
        ),
    ),
    published=(
        Published(
            "Llama 3.1: pairs unchanged, slowed eightfold, between",
            ("29", "29", "6"),
            RESCALED,
            metrics(compute, "unchanged", "full", "between"),
            llama_3_1,
        ),
        Published(
            "Llama 3.1: ratio of wavelengths of the six between",
            ("1.2075", "1.5534", "2.0263", "2.6945", "3.6843", "5.2573"),
            RESCALED,
            array(compute, "ratios", *range(29, 35)),
            llama_3_1,
        ),
        Published(
            "Llama 2 stretched sixteenfold by YaRN: pairs unchanged, slowed fully, between",
            ("21", "18", "25"),
            STRETCHED,
            metrics(compute, "unchanged", "full", "between"),
            yarn_by_16,
        ),
    ),
)
