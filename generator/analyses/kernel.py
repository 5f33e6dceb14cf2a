"""Kernel shape and decay with distance: one measure for all schemes."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result, Results, Subject
from generator.encodings import Convolution, NoEncoding, OffsetBias, PositionTable, RelativeTable, Rotation, WindowBias, all_forms
from generator.encodings.kernels import Kernel, kernel_of
from generator.errors import NotApplicableError
from generator.figures.lines import DOTTED, Line, legend_below, mark_beyond, with_line_styles
from generator.figures.panels import Panel, image_panels, panels
from generator.figures.style import GRID, MUTED, SEQUENTIAL
from generator.numerics.arrays import (
    Floats,
    decay_scaled,
    finite,
    half_distance,
    local_monotonicity,
    mean_by_distance,
    min_max_scaled,
    min_max_scaled_heads,
    symmetry,
    translation_invariance,
)
from generator.text import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Shaped = PositionTable | OffsetBias | RelativeTable | WindowBias | Rotation | Convolution
POSITIONS = 128
SIDE = 16  # Patches on a side of a grid or window: their matrix has 256² entries.
FEWEST = 3  # Two offsets and 0; with one, every profile is the same line.
STEPS = 20  # Width of local monotonicity, in positions.
LOWEST, HIGHEST, MARGIN = -0.6, 1.05, 0.05  # limits of the vertical axis


def compute(subject: Subject[Shaped]) -> Result:
    """Shape of the kernel, with every head scaled to [0, 1], and its decay with distance, as means over heads.

    Translation invariance after Wang B. et al. 2021. At most ``POSITIONS`` positions, or ``SIDE`` × ``SIDE`` patches.
    arrays: matrix (n_positions, n_positions), mean over heads, query by key, NaN for keys that a causal mask hides; profile
    (n_distances,), of that mean, scaled to a maximum of 1 and 0 at the farthest distance, all NaN when that is the maximum; unit (),
    text, the unit of distances
    errors: NotApplicableError when the form is not finite, is constant, or covers fewer than ``FEWEST`` positions in a line;
    RowError when transformers cannot compute the frequencies of a rotation
    """
    form = subject.encoding.form
    finite(form.numbers, "the encoding")
    kernel = kernel_of(form, POSITIONS, SIDE, of_patches=subject.encoding.modality == "image")
    if kernel.longest < FEWEST:
        raise NotApplicableError(f"it speaks of {kernel.longest} positions in a line, and a profile takes at least {FEWEST}")
    scaled = min_max_scaled_heads(kernel.heads)
    if not scaled:
        raise NotApplicableError("all pairs of positions are alike, so there is no shape to measure")
    matrix = np.mean(scaled, axis=0)  # (n_positions, n_positions)
    profile = _profile(kernel, matrix)
    halves = [half_distance(decay) for head in scaled if (decay := _profile(kernel, head)) is not None]
    falls = [share for head in scaled if (share := local_monotonicity(kernel.along(head), STEPS)) is not None]
    return Result(
        metrics=(
            Metric("positions", "Positions compared", float(len(matrix))),
            _mean("half", "Half-distance", halves, "the farthest positions count most", "positions"),
            _mean(
                "monotonicity",
                f"Steps outwards at which it falls (w = {STEPS})",
                [100.0 * share for share in falls],
                "no step is defined",
                "%",
            ),
            _mean("invariance", "Translation invariance", _invariances(kernel, scaled), "all pairs of two different positions are alike"),
            _symmetry(form, kernel.heads),
            Metric("constant", "Heads left out as constant", float(len(kernel.heads) - len(scaled))),
            Metric("rising", "Heads without a half-distance", float(len(scaled) - len(halves))),
            Metric("farthest", "Farthest distance compared", float(kernel.longest - 1), "positions"),
        ),
        arrays={
            "matrix": matrix,
            "profile": np.full(kernel.longest, np.nan) if profile is None else profile,
            "unit": np.array(_unit(kernel, subject)),
        },
        findings=_findings(halves, falls, len(scaled), f"{kernel.longest} {_unit(kernel, subject)}"),
    )


def _profile(kernel: Kernel, head: Floats) -> Floats | None:
    """Mean by distance of a head (n, n), scaled to a maximum of 1 and a last value of 0: (n_distances,); None when it does not fall."""
    return decay_scaled(mean_by_distance(kernel.along(head)))


def _invariances(kernel: Kernel, heads: list[Floats]) -> list[float]:
    return [share for head in heads if (share := translation_invariance(head, kernel.offsets)) is not None]


def _mean(key: str, title: str, values: list[float], reason: str, unit: str = "") -> Metric:
    return Metric(key, title, float(np.mean(values)), unit) if values else Metric(key, title, None, unit, reason)


def _symmetry(form: Shaped, heads: Floats) -> Metric:
    key, title = "symmetry", "Symmetry of before and after"
    if form.is_symmetric:
        return Metric(key, title, None, reason="both directions are alike by construction")
    if np.isnan(heads).any():
        return Metric(key, title, None, reason="it has one side only")
    varying = [head / np.max(np.abs(head)) for head in heads if min_max_scaled(head) is not None]
    return Metric(key, title, float(np.mean([symmetry(head) for head in varying])))


def _unit(kernel: Kernel, subject: Subject[Shaped]) -> str:
    along_a_side = subject.encoding.modality == "image" and not isinstance(subject.encoding.form, PositionTable)
    return "patches along rows and columns" if len(kernel.lines) > 1 or along_a_side else "positions"


def _findings(halves: list[float], falls: list[float], n_heads: int, line: str) -> tuple[Finding, ...]:
    if not halves:
        return (Finding(f"Within {line}, the farthest count most.", ("positions", "rising"), 0.8),)
    some = f", in {len(halves)} of {n_heads} heads," if len(halves) < n_heads else ","
    fades = f"fades halfway to what it says of the farthest within a distance of {rounded(float(np.mean(halves)), 1, 0.0)}"
    text = f"Over {line}{some} what the encoding says of two {fades}"
    rests_on = ("positions", "half", "rising")
    if not falls:
        return (Finding(f"{text}.", rests_on, 0.3),)
    outwards = f"{rounded(100.0 * float(np.mean(falls)), 0, 100.0, 0.0)} % of single steps outwards go down"
    return (Finding(f"{text}; {outwards}.", (*rests_on, "monotonicity"), 0.3),)


def draw_profiles(results: Results) -> "Figure":
    """Decay with distance, one line per encoding, one panel per unit of distance."""
    profiles = {label: result.arrays["profile"] for label, result in results.items()}
    units = sorted({str(result.arrays["unit"]) for result in results.values()}, reverse=True)
    figure, axes = panels(len(units), height=4.2)
    low = max(LOWEST, min(0.0, *(float(profile[np.isfinite(profile)].min(initial=0.0)) for profile in profiles.values())) - MARGIN)
    dashes = {label: dash for label, _, dash in with_line_styles(results)}
    for ax, unit in zip(axes, units, strict=True):
        for level in (0.0, 0.5, 1.0):
            ax.axhline(level, color=MUTED if level == 0.5 else GRID, linewidth=0.8, linestyle=DOTTED if level == 0.5 else "solid")
        in_unit = {label: profiles[label] for label, result in results.items() if str(result.arrays["unit"]) == unit}
        for label, profile in in_unit.items():
            name = label.title if not np.isnan(profile).all() else f"{label.title} (does not fall)"
            ax.plot(profile, color=label.colour, linestyle=dashes[label], label=name)
        longest = max(profile.size for profile in in_unit.values())
        ax.set(xlabel=f"distance ({unit})", ylabel="share of its fall still to come", xlim=(0, longest - 1), ylim=(low, HIGHEST))
        mark_beyond(ax, [Line(np.arange(profile.size), profile, label.colour) for label, profile in in_unit.items()], (low, HIGHEST))
    legend_below(figure)
    return figure


def draw_matrices(results: Results) -> "Figure":
    """Kernels as images, query by key, side by side."""
    images = [Panel(label.title, label.colour, result.arrays["matrix"]) for label, result in results.items()]
    labels = ("key position", "query position", "from the lowest of each to its highest")
    return image_panels(images, (0.0, 1.0), SEQUENTIAL, labels, square=True)


def alt_profiles(results: Results) -> str:
    """Alternative text: half-distance of each encoding."""
    summaries = (f"{label.title}: {_value_text(result.metric('half'))}" for label, result in results.items())
    return "Lines over the distance, each 1 where it is highest and 0 at the farthest. Half-distance, " + "; ".join(summaries) + "."


def alt_matrices(results: Results) -> str:
    """Alternative text: number of positions and translation invariance of each encoding."""
    summaries = (
        f"{label.title}: {len(result.arrays['matrix'])} positions, translation invariance {_value_text(result.metric('invariance'))}"
        for label, result in results.items()
    )
    return "Kernels as square images, each on its own scale. " + "; ".join(summaries) + "."


def _value_text(metric: Metric) -> str:
    return "not applicable" if metric.value is None else f"{rounded(metric.value, 2)} {metric.unit}".strip()


ANALYSIS = Analysis(
    key="kernel",
    title="Decay with distance",
    question="Whatever the scheme: how fast does what it says of two positions fade with their distance?",
    source=(
        "Toeplitz fit after Wang B. et al. 2021 (On Position Embeddings in BERT, ICLR); the rest is defined here, on kernels that each "
        "scheme's own source defines."
    ),
    stage="place",
    order=85,
    forms=tuple(form for form in all_forms() if form is not NoEncoding),
    compute=compute,
    figures=(
        FigureSpec(
            key="profiles",
            caption=f"How what an encoding says of two positions fades with their distance, over the first {POSITIONS} positions at most; of patches, along rows and columns of up to {SIDE}.",
            how_to_read=(
                "Every line is stretched so that its highest point is 1 and its last 0: only its shape counts. A line that drops at once tells "
                "next neighbours from all others and little else; a straight line tells all distances apart equally well; one that begins low "
                "favours neighbours over the position itself; wiggles make some farther positions look nearer than they are. Where it falls "
                "through the dotted line is its half-distance."
            ),
            alt=alt_profiles,
            draw=draw_profiles,
        ),
        FigureSpec(
            key="matrices",
            caption="The kernels themselves: what each encoding says of every pair of positions.",
            how_to_read=(
                "Row: the position that looks; column: the position looked at. Yellow is the highest value of that picture, dark purple its lowest, so "
                "compare patterns and not colours. Patches are in reading order, so that each square on the diagonal is a row of the image. Stripes along the diagonal mean that only the offset counts; blocks and crosses mean that some "
                "positions are special; an empty half cannot be seen by a causal model."
            ),
            alt=alt_matrices,
            draw=draw_matrices,
        ),
    ),
    per_figure=12,
)
