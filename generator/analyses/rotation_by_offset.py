"""Wavelengths of a rotation, and its kernel by offset."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import (
    Analysis,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Overlay,
    Published,
    Recomputed,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.published import (
    ANGLES,
    FLOAT32,
    RESCALED,
    STRETCHED,
    linear_by_4,
    llama_2,
    llama_3,
    llama_3_1,
    metrics,
    phi_3_mini,
    yarn_by_16,
)
from generator.encodings import Rotation
from generator.encodings.rotations import frequencies_before
from generator.figures.lines import DOTTED, dots, legend_below, with_line_styles
from generator.figures.panels import logarithmic, panels
from generator.figures.style import MUTED
from generator.numerics.arrays import Array, Floats, finite
from generator.text import counted, rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_OFFSETS = 4096
SLOWED = 1.001  # Ratio of wavelengths from which a pair counts as slowed; less is rounding.


def wavelengths(frequencies: Floats) -> Floats:
    """Positions per full turn, 2π / frequency: (n_pairs,).

    frequencies: (n_pairs,), radians per position
    """
    return np.asarray(2.0 * np.pi / frequencies)


def compute(subject: Subject[Rotation]) -> Result:
    """Wavelengths before and after scaling, pairs with a full turn within the context or window,
    and the mean cosine by offset.

    Su et al. 2021 (arXiv 2104.09864), sections 3.3 and 3.4.3.
    arrays: wavelengths, unscaled (n_pairs,), in positions; profile (n_offsets,), within [−1, 1];
        context, within (), the visible part of it, in positions
    errors: NotApplicableError when the frequencies are not finite; RowError when transformers
        cannot compute them
    """
    form, of_patches = subject.encoding.form, subject.encoding.modality == "image"
    lengths = wavelengths(finite(form.frequencies, "the rotation"))
    plain = wavelengths(frequencies_before(form))
    turns = int(np.count_nonzero(lengths <= form.reach))
    window = None if form.window is None else float(form.window)
    changed = int(np.count_nonzero(lengths > plain * SLOWED))
    profile = form.by_offset(min(form.reach, MOST_OFFSETS))
    return Result(
        metrics=(
            Metric("pairs", "Frequency pairs", float(lengths.size)),
            Metric("longest", "Longest wavelength", float(lengths.max()), "positions"),
            Metric(
                "full_turns", "Pairs with a full turn within the context or window", float(turns)
            ),
            Metric(
                "context",
                "Context length",
                None if of_patches else float(form.n_positions),
                "positions",
                reason="it turns patches along a side of an image" if of_patches else None,
            ),
            Metric(
                "sliding",
                "Attention window, with the query itself",
                window,
                "positions",
                reason=None if window else "the layers with this rotation share no window",
            ),
            Metric("slowed", "Pairs slowed by scaling", float(changed)),
            Metric(
                "attention_factor", "Attention factor, on sine and cosine", form.attention_factor
            ),
        ),
        arrays={
            "wavelengths": lengths,
            "unscaled": plain,
            "profile": profile,
            "context": np.array(form.n_positions),
            "within": np.array(form.reach),
        },
        findings=_findings(turns, lengths, form, of_patches),
    )


def _findings(turns: int, lengths: Floats, form: Rotation, of_patches: bool) -> tuple[Finding, ...]:
    within, limit = (f"along a side of {form.reach:,} patches", ()) if of_patches else _within(form)
    rests_on = ("full_turns", "pairs", *limit)
    complete = counted(turns, lengths.size, "frequency pair", "complete")
    in_order = turns > 0 and lengths[:turns].max() <= form.reach
    spots = (
        (Spot("wavelengths", turns - 1, float(lengths[turns - 1])),)
        if in_order and turns < lengths.size
        else ()
    )
    return (
        Finding(
            f"{complete} a full turn {within}.{_of_others(lengths.size - turns, lengths.size)}",
            rests_on,
            0.4 if turns == lengths.size else 0.6,
            spots=spots,
        ),
    )


def _of_others(n_others: int, n_pairs: int) -> str:
    """What pairs without a full turn see, as a sentence; "" where there are none."""
    if not n_others:
        return ""
    if n_others == n_pairs:
        return " Each sees only a part of the circle."
    others = "other sees" if n_others == 1 else f"other {n_others} see"
    return f" The {others} only a part of the circle."


def _within(form: Rotation) -> tuple[str, tuple[str, ...]]:
    """In how many positions a pair may turn, in words, and the metric that holds the number, if
    any.
    """
    if form.reach == form.n_positions:
        return f"within the context of {form.n_positions:,} positions", ("context",)
    if form.reach == form.window:
        return f"within the attention window of {form.reach:,} positions", ("sliding",)
    return f"in texts of up to {form.reach:,} positions; longer ones have other frequencies", ()


def draw_wavelengths(results: Results) -> "Figure":
    """Wavelength of each pair, one line per checkpoint, with its context length, window or side of
    the image; dotted, before scaling.
    """
    figure, (axes,) = panels(1, height=3.4)
    scaled = False
    for label, result, dash in with_line_styles(results):
        lengths, plain = result.arrays["wavelengths"], result.arrays["unscaled"]
        if not np.allclose(lengths, plain):
            axes.plot(
                plain, color=label.colour, linestyle=DOTTED, label=f"_{label.title}, before scaling"
            )
            scaled = True
        axes.plot(
            lengths,
            color=label.colour,
            linestyle=dash,
            marker=dots(lengths.size),
            markersize=2.5,
            label=label.title,
        )
        axes.axhline(float(result.arrays["within"]), color=label.colour, linewidth=0.6)
    if scaled:
        axes.plot([], [], color=MUTED, linestyle=DOTTED, label="before scaling")
    axes.plot([], [], color=MUTED, linewidth=0.6, label="in each colour: context, window or side")
    logarithmic(axes, "y")
    axes.set(xlabel="frequency pair", ylabel="wavelength (positions or patches)")
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def draw_profile(results: Results) -> "Figure":
    """Mean cosine of the angles by offset, one line per checkpoint."""
    figure, (axes,) = panels(1, height=3.2)
    for label, result, dash in with_line_styles(results):
        profile = result.arrays["profile"]
        axes.plot(
            np.arange(1, profile.size),
            profile[1:],
            color=label.colour,
            linestyle=dash,
            label=label.title,
            linewidth=1.0,
        )
    logarithmic(axes, "x")
    axes.set(xlabel="offset (positions)", ylabel="mean cosine of the angles", ylim=(-0.3, 1.02))
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def alt_wavelengths(results: Results) -> str:
    """Alternative text: range of wavelengths, number of pairs and visible positions."""
    summaries = (
        f"{label.title}: from {rounded(result.arrays['wavelengths'].min(), 2)} to"
        f" {rounded(result.arrays['wavelengths'].max(), 0)} positions over"
        f" {result.arrays['wavelengths'].size} pairs, {int(result.arrays['within']):,} visible"
        for label, result in results.items()
    )
    return "Wavelength of each frequency pair on a logarithmic scale. " + "; ".join(summaries) + "."


def alt_profile(results: Results) -> str:
    """Alternative text: mean cosine at offsets 1 and 100."""
    summaries = (
        f"{label.title}: {_at(result.arrays['profile'], 1)} at offset 1,"
        f" {_at(result.arrays['profile'], 100)} at 100"
        for label, result in results.items()
    )
    return "Mean cosine of all angles by offset, as a line. " + "; ".join(summaries) + "."


def _at(profile: Floats, offset: int) -> str:
    return rounded(profile[offset], 2) if offset < profile.size else "not reached"


def wavelengths_of(result: Result) -> tuple[Array, Array]:
    """Indices of the frequency pairs, and their wavelengths."""
    lengths = result.arrays["wavelengths"]
    return np.arange(lengths.size), lengths


ANALYSIS = Analysis(
    key="rotation_by_offset",
    title="Rotation by offset",
    question=(
        "How fast does each frequency pair turn, and how does similarity depend on the offset?"
    ),
    source=(
        "Su et al. 2021 (arXiv 2104.09864), sections 3.3 and 3.4.3; scaled frequencies from the"
        " rotary initialisers of transformers."
    ),
    stage="see",
    order=80,
    headlines=(
        Headline(
            "longest",
            "Longest wavelength",
            low="turns its slowest pair once in {}",
            high="turns its slowest pair once in {}",
            least="shortest",
            most="longest",
        ),
        Headline(
            "full_turns",
            "Pairs with a full turn",
            low="makes a full turn in only {} of its pairs",
            high="makes a full turn in {} of its pairs",
            least="fewest",
            most="most",
        ),
    ),
    forms=(Rotation,),
    compute=compute,
    figures=(
        FigureSpec(
            key="wavelengths",
            caption="Positions that each frequency pair needs for one full turn.",
            how_to_read=(
                "Fast pairs on the left tell neighbours apart; slow ones on the right tell far from"
                " near. Pairs above the thin line complete no turn within the context, the window,"
                " or the texts with these frequencies. Dotted: before scaling."
            ),
            alt=alt_wavelengths,
            python='plt.semilogy(arrays["rotation_by_offset.wavelengths"], "o")',
            draw=draw_wavelengths,
            overlays=True,
        ),
        FigureSpec(
            key="profile",
            caption="Mean cosine over all frequency pairs by offset.",
            how_to_read=(
                "With equal content in every pair, the attention logit would follow this line. It"
                " falls unevenly: wiggles are fast pairs coming round."
            ),
            alt=alt_profile,
            python='plt.semilogx(arrays["rotation_by_offset.profile"])',
            draw=draw_profile,
            overlays=True,
        ),
    ),
    per_figure=6,
    published=(
        Published(
            "Phi-3-mini: longest wavelength, pairs with a full turn, all pairs",
            ("51,862", "31", "48"),
            ANGLES,
            metrics(compute, "longest", "full_turns", "pairs"),
            phi_3_mini,
        ),
        Published(
            "Llama 2: longest wavelength, pairs with a full turn, all pairs",
            ("54,410", "46", "64"),
            ANGLES,
            metrics(compute, "longest", "full_turns", "pairs"),
            llama_2,
        ),
        Published(
            "Llama 3: longest wavelength, pairs with a full turn, all pairs",
            ("2,559,196", "35", "64"),
            ANGLES,
            metrics(compute, "longest", "full_turns", "pairs"),
            llama_3,
        ),
        Published(
            "Llama 3.1: longest wavelength",
            ("20,473,564",),
            RESCALED,
            metrics(compute, "longest"),
            llama_3_1,
            unit="positions",
            margin=2.0,
            allowance=FLOAT32,
        ),
        Published(
            "Llama 3.1: pairs with a full turn",
            ("39",),
            RESCALED,
            metrics(compute, "full_turns"),
            llama_3_1,
        ),
        Published(
            "Llama 2 slowed evenly, fourfold: longest wavelength",
            ("217,641",),
            Recomputed(
                "numpy",
                "four times the wavelength of Llama 2, the rule of Chen et al. 2023 (arXiv"
                " 2306.15595)",
            ),
            metrics(compute, "longest"),
            linear_by_4,
            unit="positions",
        ),
        Published(
            "Llama 2 stretched sixteenfold by YaRN: longest wavelength",
            ("870,562",),
            STRETCHED,
            metrics(compute, "longest"),
            yarn_by_16,
            unit="positions",
        ),
        Published(
            "Llama 2 stretched sixteenfold by YaRN: attention factor",
            ("1.277259",),
            STRETCHED,
            metrics(compute, "attention_factor"),
            yarn_by_16,
        ),
    ),
    overlay=Overlay(
        x="frequency pair",
        y="wavelength (positions)",
        points=wavelengths_of,
        how_to_read=(
            "After how many positions each pair of components has turned once. A straight line is"
            " the plain rule. A step or a bend usually comes from scaling to a longer context."
            " Short wavelengths tell neighbours apart, long ones far positions."
        ),
        logarithmic="y",
        title="Wavelengths",
    ),
)
