"""Kernel shape and decay with distance: one measure for all schemes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import (
    Analysis,
    Arrays,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Overlay,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.encodings import (
    Convolution,
    NoEncoding,
    OffsetBias,
    PositionTable,
    RelativeTable,
    Rotation,
    WindowBias,
    all_forms,
)
from generator.encodings.kernels import Kernel, Profile, profile_of, windows_of
from generator.errors import NotApplicableError
from generator.figures.lines import DOTTED, Line, legend_below, mark_beyond, with_line_styles
from generator.figures.panels import Panel, image_panels, logarithmic, panels
from generator.figures.style import ASIDE, GRID, MUTED, SEQUENTIAL
from generator.numerics.arrays import (
    Array,
    Floats,
    finite,
    local_monotonicity,
    mean_by_distance,
    mean_of_rows,
    min_max_scaled,
    symmetry,
    translation_invariance,
)
from generator.numerics.shapes import decay_scaled, far_level, half_distance, scaled_heads
from generator.numerics.similarity import shape
from generator.text import between, enumerated, ranges, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Shaped = PositionTable | OffsetBias | RelativeTable | WindowBias | Rotation | Convolution
POSITIONS = 128
SIDE = 16  # Patches on a side of a grid or window: their matrix has 256² entries.
FEWEST = 3  # Two offsets and 0; with one, every profile is the same line.
STEPS = 20  # Width of local monotonicity, in positions.
STEADILY, ALONE = f"Falls steadily, first {STEPS} steps", "Depends on distance alone"  # titles
LOWEST, HIGHEST, MARGIN = -0.6, 1.05, 0.05  # limits of the vertical axis
MOST_BANDS = 3  # encodings in one figure up to which the range of their windows is drawn
# Ratios of the highest to the lowest value of several windows, up to which their mean is given.
STABLE, STABLE_STEPS = 2.0, 1.25
MOST_HEADS = 8  # listed in a sentence
BESIDE_HALF = 0.05  # How far from ½ the mean line may be at the half-distance that is marked on it.
PLACES = {
    "positions": ("at the start", "in the middle", "at the end"),
    "patches": ("in the middle", "in the first corner", "in the last"),
}


@dataclass(frozen=True)
class Window:
    """Measures of one window, means over the heads that have them; None where no head does.

    half: in positions; falls, invariance: shares; halves: half of each head that has one;
        n_varying: heads that are not constant
    """

    half: float | None
    falls: float | None
    invariance: float | None
    halves: tuple[float, ...]
    n_varying: int


def compute(subject: Subject[Shaped]) -> Result:
    """Shape of the kernel and its decay with distance, as means over heads, and over windows of a
    table, whose outliers are left out.

    Translation invariance after Wang B. et al. 2021. Windows have at most ``POSITIONS`` positions,
    or ``SIDE`` × ``SIDE`` patches.
    arrays: profile (n_distances,), mean over windows, scaled to a maximum of 1 and 0 at the mean of
        the far distances; profiles (n_windows, n_distances), NaN where it does not fall; halves
        (n_windows,); left_out (n_outliers,), int; context_distances (n,), context (n,), the profile
        over all positions; unit (), text, the unit of distances; derived: matrix (n_positions,
        n_positions)
    errors: NotApplicableError when the form tells no position from another, is not finite, is
        constant, or covers fewer than ``FEWEST`` positions in a line; RowError when transformers
        cannot compute the frequencies of a rotation
    """
    form, of_patches = subject.encoding.form, subject.encoding.modality == "image"
    if not form.tells_position:
        raise NotApplicableError("it tells no position from another")
    finite(form.numbers, "the encoding")
    kernels = windows_of(form.inliers, POSITIONS, SIDE, of_patches)
    if kernels[0].longest < FEWEST:
        raise NotApplicableError(
            f"it covers {kernels[0].longest} positions in a line; a profile needs at least {FEWEST}"
        )
    mean = shape(kernels[0].heads, kernels[0].lines)
    if mean is None:
        raise NotApplicableError("all pairs of positions are alike")
    if np.isnan(far_level(kernels[0].along(mean))):
        raise NotApplicableError("far positions have no value, so there is no level to fall to")
    windows, unit = [_window(kernel) for kernel in kernels], _unit(kernels[0], subject)
    profiles = np.array([_mean_profile(kernel) for kernel in kernels])  # (n_windows, n_distances)
    context = profile_of(form.inliers, SIDE, of_patches)
    metrics = _metrics(form, kernels[0], windows, context, unit)
    arrays = {
        "profile": mean_of_rows(profiles),
        "profiles": profiles,
        "halves": np.array([np.nan if window.half is None else window.half for window in windows]),
        "left_out": _left_out(form),
        "context_distances": context.distances,
        "context": mean_of_rows(_scaled(context)),
        "unit": np.array(unit),
    }
    findings = _findings(metrics, windows, form, arrays["profile"], f"{kernels[0].longest} {unit}")
    return Result(metrics, arrays, findings, derived={"matrix": mean})


def matrix(form: Shaped, arrays: Arrays) -> Floats:
    """Mean of the heads in the first window, of as many positions as ``arrays["profile"]``
    (n_distances,) covers.

    returns: (n_positions, n_positions), query by key, NaN for keys that a causal mask hides and for
        outliers
    """
    first = windows_of(form.inliers, arrays["profile"].size, SIDE, of_patches=False)[0]
    return np.asarray(shape(first.heads, first.lines))


def _metrics(
    form: Shaped, first: Kernel, windows: list[Window], context: Profile, unit: str
) -> tuple[Metric, ...]:
    """first: kernel of the first window; context: profile over all positions; unit: of distances"""
    invariances = [window.invariance for window in windows]
    no_invariance = "all pairs of different positions are alike"
    return (
        Metric("positions", "Positions compared", float(first.heads.shape[1])),
        *_halves(windows, unit),
        *_steps(windows, unit),
        _mean("invariance", f"{ALONE} (translation invariance)", invariances, no_invariance),
        _symmetry(form, first.heads),
        Metric(
            "constant", "Constant heads left out", float(len(first.heads) - windows[0].n_varying)
        ),
        Metric(
            "rising",
            "Heads without a half-distance",
            float(windows[0].n_varying - len(windows[0].halves)),
        ),
        Metric("farthest", "Farthest distance compared", float(first.longest - 1), "positions"),
        *(
            (Metric("left_out", "Outliers left out", float(_left_out(form).size)),)
            if isinstance(form, PositionTable)
            else ()
        ),
        *_of_context(context, first.longest),
    )


def _left_out(form: Shaped) -> Array:
    """(n_outliers,), int"""
    return form.outliers if isinstance(form, PositionTable) else np.zeros(0, dtype=np.int64)


def _window(kernel: Kernel) -> Window:
    scaled = scaled_heads(kernel.heads, kernel.lines)
    decays = [_decay(kernel, head) for head in scaled]
    halves = [
        half
        for decay in decays
        if decay is not None and (half := half_distance(np.arange(decay.size), decay)) is not None
    ]
    falls = [
        share
        for head in scaled
        if (share := local_monotonicity(kernel.along(head), STEPS)) is not None
    ]
    invariances = [
        share
        for head in scaled
        if (share := translation_invariance(head, kernel.offsets)) is not None
    ]
    return Window(
        _mean_or_none(halves),
        _mean_or_none(falls),
        _mean_or_none(invariances),
        tuple(halves),
        len(scaled),
    )


def _mean_or_none(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _decay(kernel: Kernel, head: Floats) -> Floats | None:
    """Mean by distance of a head (n, n), scaled to a maximum of 1 and to 0 at the far level:
    (n_distances,); None when it does not fall.
    """
    lines = kernel.along(head)
    return decay_scaled(mean_by_distance(lines), far_level(lines))


def _mean_profile(kernel: Kernel) -> Floats:
    """``_decay`` of the mean of the scaled heads: (n_distances,); NaN when it does not fall, or all
    heads are constant.
    """
    scaled = scaled_heads(kernel.heads, kernel.lines)
    decay = _decay(kernel, np.mean(scaled, axis=0)) if scaled else None
    return np.full(kernel.longest, np.nan) if decay is None else decay


def _scaled(profile: Profile) -> Floats:
    """Profile of each head, scaled like ``_decay``: (n_heads, n_distances); NaN for a head that
    does not fall.
    """
    scaled = [
        decay_scaled(values, far) for values, far in zip(profile.values, profile.far, strict=True)
    ]
    return np.array(
        [np.full(profile.distances.size, np.nan) if decay is None else decay for decay in scaled]
    )


def _halves(windows: list[Window], unit: str) -> tuple[Metric, ...]:
    values, reason = [window.half for window in windows], "it does not fall with distance"
    # Below 1, even neighbours are below half.
    floored = [None if value is None else max(value, 1.0) for value in values]
    texts = ["none" if value is None else rounded(value, 1, 0.0) for value in values]
    return _over_windows(
        Metric("half", "Distance at which half is left (half-distance)", None, "positions", reason),
        values,
        _unstable(floored, STABLE, texts, unit),
    )


def _steps(windows: list[Window], unit: str) -> tuple[Metric, ...]:
    values = [None if window.falls is None else 100.0 * window.falls for window in windows]
    texts = ["none" if value is None else f"{rounded(value, 0)} %" for value in values]
    title = f"{STEADILY} (local monotonicity)"
    metric = Metric("monotonicity", title, None, "%", "no step is defined")
    return _over_windows(metric, values, _unstable(values, STABLE_STEPS, texts, unit))


def _unstable(values: list[float | None], limit: float, texts: list[str], unit: str) -> str | None:
    """Why the mean of ``values``, one per window, says nothing: they differ by a factor above
    ``limit``. None where they do not.
    """
    defined = [value for value in values if value is not None]
    if len(defined) == len(values) and max(defined) <= limit * min(defined):
        return None
    places = zip(texts, PLACES[unit.partition(" ")[0]], strict=False)
    return "not stable: " + ", ".join(f"{text} {place}" for text, place in places)


def _over_windows(
    metric: Metric, values: list[float | None], unstable: str | None
) -> tuple[Metric, ...]:
    """Mean of ``values``, one per window, only where they agree; of several windows also the lowest
    and the highest value.

    metric: without a value, with the reason where no window has one
    """
    defined = [value for value in values if value is not None]
    value, reason = None, metric.reason
    if defined and unstable:
        reason = unstable
    elif defined:
        value, reason = float(np.mean(defined)), None
    ends = (("low", "lowest", min), ("high", "highest", max)) if len(values) > 1 and defined else ()
    return (
        Metric(metric.key, metric.title, value, metric.unit, reason),
        *(
            Metric(
                f"{metric.key}_{key}",
                f"{metric.title}, {name} of all windows",
                pick(defined),
                metric.unit,
            )
            for key, name, pick in ends
        ),
    )


def _of_context(context: Profile, longest: int) -> tuple[Metric, ...]:
    """Half-distance over all positions, where these are more than the ``longest`` line of a
    window.
    """
    if context.distances[-1] <= longest:
        return ()
    halves = context.halves[~np.isnan(context.halves)]
    reason = None if halves.size else "it does not fall with distance"
    return (
        Metric(
            "half_context",
            "Half-distance over all positions",
            _mean_or_none(halves.tolist()),
            "positions",
            reason,
        ),
    )


def _mean(key: str, title: str, values: list[float | None], reason: str) -> Metric:
    defined = [value for value in values if value is not None]
    return Metric(key, title, _mean_or_none(defined), "", None if defined else reason)


def _symmetry(form: Shaped, heads: Floats) -> Metric:
    key, title = "symmetry", "Symmetry of before and after"
    if form.is_symmetric:
        return Metric(key, title, None, reason="it is symmetric by construction")
    if np.isnan(heads).any():
        return Metric(key, title, None, reason="only earlier keys are visible")
    varying = [head / np.max(np.abs(head)) for head in heads if min_max_scaled(head) is not None]
    return Metric(key, title, float(np.mean([symmetry(head) for head in varying])))


def _unit(kernel: Kernel, subject: Subject[Shaped]) -> str:
    along_a_side = subject.encoding.modality == "image" and not isinstance(
        subject.encoding.form, PositionTable
    )
    return (
        "patches along rows and columns" if len(kernel.lines) > 1 or along_a_side else "positions"
    )


def _findings(
    metrics: tuple[Metric, ...], windows: list[Window], form: Shaped, profile: Floats, line: str
) -> tuple[Finding, ...]:
    by_key, quantity = (
        {metric.key: metric for metric in metrics},
        f"the {form.quantity.partition(',')[0]}",
    )
    out = _left_out(form)
    noun = "an outlier: position" if out.size == 1 else "outliers: positions"
    left_out = (Finding(f"Left out as {noun} {ranges(out)}.", ("left_out",)),) if out.size else ()
    if all(window.half is None for window in windows):
        return (
            Finding(
                f"Within {line}, {quantity} does not fall with distance.",
                ("positions", "rising"),
                0.8,
            ),
            *left_out,
        )
    half, falls = by_key["half"], by_key["monotonicity"]
    if half.value is None:
        places = (half.reason or "").removeprefix("not stable: ")
        return (
            Finding(
                f"Decay differs along the table: half-distance {places} ({line.split()[1]}).",
                ("half", "half_low", "half_high"),
                0.7,
            ),
            *left_out,
        )
    fades = (
        f"Over {line}, {quantity} completes half of its fall within"
        f" {_within(half.value, windows[0], line.split()[1])}"
    )
    if len(windows) > 1:
        fades = (
            f"{fades}. Parts of the table give"
            f" {between(by_key['half_low'].value, by_key['half_high'].value)}"
        )
    rests_on: tuple[str, ...] = ("positions", "half", "rising")
    if falls.value is not None:
        steps = (
            "every step goes down"
            if falls.value == 100.0
            else f"{rounded(falls.value, 0, 100.0, 0.0)} % of steps go down"
        )
        fades = f"{fades}. Within distance {min(STEPS, profile.size - 1)}, {steps}"
        rests_on = (*rests_on, "monotonicity")
    # A mean of half-distances need not be where the mean line crosses ½.
    height = float(np.interp(half.value, np.arange(profile.size), profile))
    spots = (Spot("profiles", half.value, height),) if abs(height - 0.5) <= BESIDE_HALF else ()
    return (Finding(f"{fades}.", rests_on, 0.3, spots=spots), *left_out)


def _within(mean: float, window: Window, unit: str) -> str:
    """In how many positions heads fall halfway: one or equal ones, each, or of many the range."""
    halves, total = window.halves, window.n_varying
    of_heads = [rounded(half, 1, 0.0) for half in halves]
    each = enumerated(of_heads) if len(halves) <= MOST_HEADS else between(min(halves), max(halves))
    if len(set(of_heads)) == 1:
        each = rounded(mean, 1, 0.0)
    of = "" if len(halves) == total else f"{len(halves)} of "
    return f"{each} {unit}{f' in {of}{total} heads' if total > 1 else ''}"


def draw_profiles(results: Results) -> "Figure":
    """Decay with distance, one line per encoding: within a window, and over all positions; one row
    of panels per unit of distance.
    """
    units = sorted({str(result.arrays["unit"]) for result in results.values()}, reverse=True)
    figure, axes = panels(2 * len(units), height=3.8)
    for row, unit in enumerate(units):
        in_unit = {
            label: result for label, result in results.items() if str(result.arrays["unit"]) == unit
        }
        window, every = axes[2 * row], axes[2 * row + 1]
        _draw_lines(window, results, in_unit, _within_window)
        _draw_bands(window, in_unit)
        _draw_lines(every, results, in_unit, decay_over_all)
        for line in every.lines:  # The legend has them once.
            if line.get_label() != ASIDE:
                line.set_label(f"_{line.get_label()}")
        logarithmic(every, "x")
        window.set(xlabel=f"distance ({unit})", ylabel="similarity (1 = highest, 0 = far)")
        every.set(xlabel="distance, all positions")
    legend_below(figure)
    return figure


def _within_window(result: Result) -> tuple[Array, Array]:
    return np.arange(result.arrays["profile"].size), result.arrays["profile"]


def _draw_lines(
    axes: "Axes", results: Results, some: Results, points: Callable[[Result], tuple[Array, Array]]
) -> None:
    """Plot the ``points`` of ``some`` results, in the styles that these have among all."""
    lines = {label: Line(*points(result), label.colour) for label, result in some.items()}
    low = max(
        LOWEST,
        min(0.0, *(float(line.y[np.isfinite(line.y)].min(initial=0.0)) for line in lines.values()))
        - MARGIN,
    )
    dashes = {label: dash for label, _, dash in with_line_styles(results)}
    for level in (0.0, 0.5, 1.0):
        axes.axhline(
            level,
            color=MUTED if level == 0.5 else GRID,
            linewidth=0.8,
            linestyle=DOTTED if level == 0.5 else "solid",
        )
    for label, line in lines.items():
        name = label.title if not np.isnan(line.y).all() else f"{label.title} (does not fall)"
        axes.plot(line.x, line.y, color=label.colour, linestyle=dashes[label], label=name)
    ends = [end for line in lines.values() for end in (line.x[0], line.x[-1])]
    axes.set(xlim=(min(ends), max(ends)), ylim=(low, HIGHEST))
    mark_beyond(axes, list(lines.values()), (low, HIGHEST))


def _draw_bands(axes: "Axes", results: Results) -> None:
    """The range of the windows of each encoding, where there are few encodings."""
    for label, result in results.items() if len(results) <= MOST_BANDS else ():
        profiles = result.arrays["profiles"]
        if len(profiles) > 1 and not np.isnan(profiles).all(axis=0).any():
            low, high = np.nanmin(profiles, axis=0), np.nanmax(profiles, axis=0)
            axes.fill_between(
                np.arange(low.size), low, high, color=label.colour, alpha=0.16, linewidth=0
            )


def draw_matrices(results: Results) -> "Figure":
    """Kernels as images, query by key, side by side."""
    images = [Panel(label.title, result.derived["matrix"]) for label, result in results.items()]
    labels = ("key position", "query position", "rescaled 0–1 per encoding")
    return image_panels(images, (0.0, 1.0), SEQUENTIAL, labels, square=True)


def alt_profiles(results: Results) -> str:
    """Alternative text: half-distance of each encoding, and its farthest distance."""
    summaries = (
        f"{label.title}: {_value_text(result.metric('half'))}, farthest"
        f" {result.arrays['context_distances'][-1]:,}"
        for label, result in results.items()
    )
    return (
        "Lines by distance, from 1 at their highest to 0 at far distances. Half-distance,"
        f" {'; '.join(summaries)}."
    )


def alt_matrices(results: Results) -> str:
    """Alternative text: number of positions and translation invariance of each encoding."""
    summaries = (
        f"{label.title}: {rounded(result.value('positions'), 0)} positions, translation invariance"
        f" {_value_text(result.metric('invariance'))}"
        for label, result in results.items()
    )
    return "Kernels as square images, each on its own scale. " + "; ".join(summaries) + "."


def _value_text(metric: Metric) -> str:
    return (
        "not applicable"
        if metric.value is None
        else f"{rounded(metric.value, 2)} {metric.unit}".strip()
    )


def decay_over_all(result: Result) -> tuple[Array, Array]:
    """Distances from 1 over all positions, and the scaled similarity there: (n − 1,) each."""
    return result.arrays["context_distances"][1:], result.arrays["context"][1:]


ANALYSIS = Analysis(
    key="decay_with_distance",
    title="Decay with distance",
    question="How fast does similarity fade with distance, in any scheme?",
    source=(
        "Toeplitz fit after Wang B. et al. 2021 (On Position Embeddings in BERT, ICLR); the kernels"
        " follow each scheme's source, the other measures are defined here."
    ),
    stage="place",
    order=85,
    headlines=(
        Headline(
            "half",
            "Half is left at",
            low="loses half its similarity within {}",
            high="keeps half its similarity for {}",
            least="shortest",
            most="longest",
        ),
        Headline(
            "monotonicity",
            STEADILY,
            low="loses similarity in only {} of the first steps of distance",
            high="loses similarity in {} of the first steps of distance",
        ),
        Headline(
            "invariance",
            ALONE,
            low="owes a share of only {} of its similarity to distance",
            high="owes a share of {} of its similarity to distance",
        ),
    ),
    forms=tuple(form for form in all_forms() if form is not NoEncoding),
    compute=compute,
    derived={"matrix": matrix},
    figures=(
        FigureSpec(
            key="profiles",
            caption=(
                f"Similarity by distance, within at most {POSITIONS} positions or {SIDE} patches,"
                " and over all positions."
            ),
            how_to_read=(
                "One head's line crosses the dotted level at its half-distance; of several heads or"
                " windows, the number is the mean. Wiggles make some farther positions look nearer."
                " Each line is scaled to 1 at its highest and 0 over its far quarter, so compare"
                " shapes only. Bands are the range of a table's windows."
            ),
            alt=alt_profiles,
            python='plt.plot(arrays["decay_with_distance.profile"])',
            draw=draw_profiles,
            overlays=True,
        ),
        FigureSpec(
            key="matrices",
            caption="Kernel of each encoding: its similarity for every pair of positions.",
            how_to_read=(
                "Stripes along the diagonal mean that only the offset counts; blocks and crosses"
                " mark special positions or image rows. Each kernel has its own scale, so compare"
                " patterns, not colours. Outliers and keys that a causal model cannot see are"
                " empty."
            ),
            alt=alt_matrices,
            python=(
                'profile = arrays["decay_with_distance.profile"]\n'
                "plt.imshow(profile[abs(np.subtract.outer(*[range(len(profile))] * 2))])"
            ),
            draw=draw_matrices,
        ),
    ),
    per_figure=12,
    overlay=Overlay(
        x="distance (positions or patches)",
        y="similarity (1 = highest, 0 = far)",
        points=decay_over_all,
        how_to_read=(
            "Mean similarity at each distance over all positions, not only the first 128. Each line"
            " is scaled: 1 is the highest mean, 0 the mean of the farthest quarter. The sooner a"
            " line falls, the more local the encoding. Ripples make some farther positions look"
            " nearer."
        ),
        logarithmic="x",
    ),
)
