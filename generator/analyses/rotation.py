"""How fast each pair of components turns, and what that says of an offset."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results, Subject
from generator.encodings import Rotation
from generator.numerics import Floats, finite
from generator.plotting import logarithmic, panels
from generator.style import MUTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_OFFSETS = 4096
SLOWED = 1.001  # A ratio of frequencies beyond this is a change, not rounding.


def wavelengths(frequencies: Floats) -> Floats:
    """Positions for one full turn of each pair: 2π/frequency, (n_pairs,)."""
    return np.asarray(2.0 * np.pi / frequencies)


def compute(subject: Subject[Rotation]) -> Result:
    form = subject.encoding.form
    lengths = wavelengths(finite(form.frequencies, "the rotation"))
    plain = wavelengths(form.unscaled_frequencies)
    turns = int(np.count_nonzero(lengths <= form.n_positions))
    changed = int(np.count_nonzero(lengths > plain * SLOWED))
    profile = form.by_offset(min(form.n_positions, MOST_OFFSETS) + 1)
    return Result(
        metrics=(
            Metric("pairs", "Pairs of components that turn", float(lengths.size)),
            Metric("longest", "Longest wavelength", float(lengths.max()), "positions"),
            Metric("full_turns", "Pairs that turn fully at least once within the context", float(turns)),
            Metric("context", "Context length", float(form.n_positions), "positions"),
            Metric("slowed", "Pairs slowed by scaling", float(changed)),
            Metric("attention_factor", "Factor on sine and cosine that scaling brings", form.attention_factor),
        ),
        arrays={"wavelengths": lengths, "unscaled": plain, "profile": profile, "context": np.array(form.n_positions)},
        findings=_findings(turns, lengths.size, form.n_positions),
    )


def _findings(turns: int, n_pairs: int, n_positions: int) -> tuple[Finding, ...]:
    if turns == n_pairs:
        return (Finding(f"All {n_pairs} pairs turn fully at least once within {n_positions:,} positions."),)
    text = f"{turns} of {n_pairs} pairs turn fully at least once within {n_positions:,} positions"
    return (Finding(f"{text}; the other {n_pairs - turns} never come round and tell far from near."),)


def draw_wavelengths(results: Results) -> "Figure":
    figure, (axes,) = panels(1, height=3.4)
    for label, result in results.items():
        lengths, plain = result.arrays["wavelengths"], result.arrays["unscaled"]
        if not np.allclose(lengths, plain):
            axes.plot(plain, color=label.colour, linestyle=(0, (1, 2)), label=f"{label.title}, before scaling")
        axes.plot(lengths, color=label.colour, marker="o", markersize=2.5, label=label.title)
        axes.axhline(float(result.arrays["context"]), color=label.colour, linewidth=0.9, linestyle=(0, (5, 3)))
        axes.annotate(
            "context length", (0, float(result.arrays["context"])), xytext=(2, 3), textcoords="offset points", fontsize=8, color=MUTED
        )
    logarithmic(axes, "y")
    axes.set(xlabel="pair of components", ylabel="wavelength (positions)")
    axes.grid(axis="y")
    axes.legend(loc="lower right")
    return figure


def draw_profile(results: Results) -> "Figure":
    figure, (axes,) = panels(1, height=3.2)
    for label, result in results.items():
        profile = result.arrays["profile"]
        axes.plot(np.arange(1, profile.size), profile[1:], color=label.colour, label=label.title, linewidth=1.0)
    logarithmic(axes, "x")
    axes.set(xlabel="offset (positions)", ylabel="mean cosine of the angles", ylim=(-0.3, 1.02))
    axes.grid(axis="y")
    axes.legend(loc="upper right")
    return figure


def alt_wavelengths(results: Results) -> str:
    said = (
        f"{label.title}: from {result.arrays['wavelengths'].min():.2f} to {result.arrays['wavelengths'].max():,.0f} positions over "
        f"{result.arrays['wavelengths'].size} pairs, context {int(result.arrays['context']):,}"
        for label, result in results.items()
    )
    return "Wavelength of each rotated pair on a logarithmic scale. " + "; ".join(said) + "."


def alt_profile(results: Results) -> str:
    said = (
        f"{label.title}: {_at(result.arrays['profile'], 1)} at offset 1, {_at(result.arrays['profile'], 100)} at 100"
        for label, result in results.items()
    )
    return "Mean cosine of all rotation angles over the offset. " + "; ".join(said) + "."


def _at(profile: Floats, offset: int) -> str:
    return f"{profile[offset]:.2f}" if offset < profile.size else "beyond the context"


ANALYSIS = Analysis(
    key="rotation",
    title="Rotation by offset",
    question="How fast does each pair of components turn, and how far does that tell positions apart?",
    source="Su et al. 2021 (arXiv 2104.09864), sections 3.3 and 3.4.3; scaled frequencies from the rotary initialisers of transformers.",
    order=80,
    forms=(Rotation,),
    compute=compute,
    figures=(
        FigureSpec(
            key="wavelengths",
            caption="How many positions each pair of components needs for one full turn.",
            how_to_read=(
                "Pairs on the left turn fast and tell neighbours apart; those on the right turn slowly and tell far from near. "
                "Pairs above the dashed line do not finish a single turn within the context. A dotted line shows the wavelengths before scaling."
            ),
            alt=alt_wavelengths,
            draw=draw_wavelengths,
        ),
        FigureSpec(
            key="profile",
            caption="What the rotation alone says of an offset: the mean cosine over all pairs.",
            how_to_read=(
                "If query and key had the same content in every pair, the attention logit would follow this line. It falls with the offset, "
                "but not evenly: the wiggles are fast pairs coming round. The offset is on a logarithmic scale."
            ),
            alt=alt_profile,
            draw=draw_profile,
        ),
    ),
    per_figure=6,
)
