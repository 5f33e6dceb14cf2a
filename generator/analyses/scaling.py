"""Effect of a scaling on the wavelengths of a rotation."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Published, Result, Results, Subject
from generator.contracts.published import RESCALED, STRETCHED, array, llama_3_1, metrics, yarn_by_16
from generator.encodings import Rotation
from generator.encodings.rescaling import OF_WHOLE_HEAD, frequencies_before
from generator.errors import NotApplicableError
from generator.figures.lines import DOTTED, dots, legend_below, with_line_styles
from generator.figures.panels import logarithmic, panels
from generator.figures.style import MUTED
from generator.numerics.arrays import Floats, finite
from generator.text import significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UP_TO = {"dynamic": ", as long as the input is no longer than planned"}  # Where scaling depends on the length of the input.
ROUNDING = 1e-3  # Ratios closer than this are equal: the initialisers of transformers work in float32.


def compute(subject: Subject[Rotation]) -> Result:
    """Ratio of wavelengths after and before scaling, and the pairs left unchanged, slowed fully, or in between.

    arrays: ratios (n_pairs,); before (n_pairs,), wavelengths before scaling, in positions; unchanged, full (n_pairs,), bool
    errors: NotApplicableError without a scaling, or when the frequencies are not finite; RowError when transformers cannot compute them
    """
    form = subject.encoding.form
    if form.rope_type == "default":
        raise NotApplicableError("no scaling: it turns by its base alone")
    after = finite(form.frequencies, "the rotation")
    before = frequencies_before(form)
    ratios = before / after  # (n_pairs,)
    unchanged, slowed = _kinds(ratios)
    if unchanged.all() and form.rope_type == OF_WHOLE_HEAD:
        raise NotApplicableError(
            f"the kind “{form.rope_type}” turns {after.size} of {form.head_dim // 2} pairs and slows none of them down"
        )
    n_between = ratios.size - int(np.count_nonzero(unchanged | slowed))
    return Result(
        metrics=(
            Metric("unchanged", "Pairs unchanged", float(np.count_nonzero(unchanged))),
            Metric("full", "Pairs slowed fully", float(np.count_nonzero(slowed))),
            Metric("between", "Pairs in between", float(n_between)),
            Metric("largest", "Largest ratio of wavelengths, after by before", float(ratios.max())),
            Metric("attention_factor", "Factor on sine and cosine", form.attention_factor),
        ),
        arrays={"ratios": ratios, "before": 2.0 * np.pi / before, "unchanged": unchanged, "full": slowed},
        findings=_findings(form, ratios, unchanged, slowed),
    )


def _kinds(ratios: Floats) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that are unchanged, and pairs slowed by the largest ratio: (n_pairs,), bool, disjoint.

    ratios: (n_pairs,)
    """
    unchanged = np.abs(ratios - 1.0) <= ROUNDING
    return unchanged, ~unchanged & (ratios > 1.0) & (ratios >= ratios.max() * (1.0 - ROUNDING))


def _findings(form: Rotation, ratios: Floats, unchanged: np.ndarray, slowed: np.ndarray) -> tuple[Finding, ...]:
    opening = f"Scaling of the kind “{form.rope_type}”"
    if unchanged.all():
        return (
            Finding(
                f"{opening} leaves all {unchanged.size} pairs as they are{UP_TO.get(form.rope_type, '')}.",
                ("unchanged",),
                0.5,
            ),
        )
    n_unchanged, n_slowed = int(np.count_nonzero(unchanged)), int(np.count_nonzero(slowed))
    longer = f"longer by a factor of {significant(float(ratios.max()), 3)}"
    if n_slowed == unchanged.size:
        return (Finding(f"{opening} makes the wavelength of every pair {longer}.", ("full", "largest"), 0.4),)
    unchanged_text = f"leaves {n_unchanged} of {unchanged.size} pairs as they are and " if n_unchanged else ""
    n_between = unchanged.size - n_unchanged - n_slowed
    rest = f"; {n_between} {'lies' if n_between == 1 else 'lie'} in between" if n_between else ""
    text = f"{opening} {unchanged_text}makes the wavelength of {n_slowed}{'' if n_unchanged else f' of {unchanged.size} pairs'} {longer}{rest}."
    return (Finding(text, ("unchanged", "full", "between", "largest"), 0.6),)


def _top(results: Results) -> float:
    return 1.08 * max(float(result.arrays["ratios"].max()) for result in results.values())


def draw_pairs(results: Results) -> "Figure":
    """Ratio of wavelengths by pair, one line per checkpoint."""
    figure, (axes,) = panels(1, height=3.2)
    axes.axhline(1.0, color=MUTED, linewidth=0.8, linestyle=DOTTED)
    for label, result, dash in with_line_styles(results):
        ratios = result.arrays["ratios"]
        axes.plot(ratios, color=label.colour, linestyle=dash, marker=dots(ratios.size), markersize=2.5, label=label.title)
    axes.set(xlabel="pair of components", ylabel="wavelength after / before", ylim=(0.0, _top(results)))
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def draw_wavelengths(results: Results) -> "Figure":
    """Ratio of wavelengths by wavelength before scaling, one line per checkpoint."""
    figure, (axes,) = panels(1, height=3.2)
    axes.axhline(1.0, color=MUTED, linewidth=0.8, linestyle=DOTTED)
    for label, result, dash in with_line_styles(results):
        before, ratios = result.arrays["before"], result.arrays["ratios"]
        axes.plot(
            before,
            ratios,
            color=label.colour,
            linestyle=dash,
            marker=dots(ratios.size),
            markersize=2.5,
            label=label.title,
        )
    logarithmic(axes, "x")
    axes.set(xlabel="wavelength before scaling (positions)", ylabel="wavelength after / before", ylim=(0.0, _top(results)))
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def alt(results: Results, opening: str) -> str:
    """Alternative text: pairs unchanged and pairs slowed fully."""
    summaries = (
        f"{label.title}: {np.count_nonzero(result.arrays['unchanged'])} of {result.arrays['ratios'].size} pairs at 1, "
        f"{np.count_nonzero(result.arrays['full'])} at {significant(float(result.arrays['ratios'].max()), 3)}"
        for label, result in results.items()
    )
    return f"{opening} " + "; ".join(summaries) + "."


ANALYSIS = Analysis(
    key="scaling",
    title="What scaling changed",
    question="Which pairs of components does the scaling slow down, and by how much?",
    source=(
        "The rotary initialisers of transformers; Peng et al. 2023 (YaRN, arXiv 2309.00071), section 3; Llama team 2024 "
        "(arXiv 2407.21783), section 3.4.2."
    ),
    stage="measure",
    order=84,
    forms=(Rotation,),
    compute=compute,
    figures=(
        FigureSpec(
            key="pairs",
            caption="How much longer scaling makes the wavelength of each pair.",
            how_to_read=(
                "A pair at 1, on the dotted line, turns as before. One at 8 turns eight times more slowly, so that eight times as many positions fit "
                "into a turn. Pairs on the left turn fast and tell neighbours apart, and many scalings leave them alone; the slow pairs on the "
                "right are stretched to reach further."
            ),
            alt=partial(alt, opening="Ratio of wavelengths over the pairs."),
            draw=draw_pairs,
        ),
        FigureSpec(
            key="wavelengths",
            caption="The same over the wavelength that each pair had before.",
            how_to_read=(
                "Here checkpoints with different bases and heads can be compared: the line leaves 1 at the wavelength up to which a rotation is "
                "kept, and is level again where pairs are stretched by the full factor. The wavelength is on a logarithmic scale."
            ),
            alt=partial(alt, opening="Ratio of wavelengths over the wavelength before scaling."),
            draw=draw_wavelengths,
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
