"""Kernel shape and decay with distance: one measure for all schemes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from generator.contracts.wording import Wording
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
from generator.figures.canvas import Axes, Figure
from generator.figures.charts import Images
from generator.figures.lines import (
    hidden,
    legend_below,
    mark_beyond,
    standing_back,
    with_line_styles,
)
from generator.figures.panels import logarithmic, panels
from generator.figures.scene import DOTTED, Band, Dash, Line, StraightLine, add
from generator.figures.style import GRID, MUTED, SEQUENTIAL
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
from generator.text import enumerated, rounded

Shaped = PositionTable | OffsetBias | RelativeTable | WindowBias | Rotation | Convolution
WORDING = Wording("analyses/decay_with_distance.md.jinja")
POSITIONS = 128
SIDE = 16  # Patches on a side of a grid or window: their matrix has 256² entries.
FEWEST = 3  # Two offsets and 0; with one, every profile is the same line.
STEPS = 20  # Largest width of local monotonicity, in positions.
STRAIGHT = "it falls in a straight line, so its half-distance would depend on the window alone"
HALF = "Half-distance"  # This and the next are titles.
MONOTONICITY = f"Local monotonicity (share of the steps, {STEPS} at most, that fall)"
LOWEST, HIGHEST, MARGIN = -0.6, 1.05, 0.05  # limits of the vertical axis
MOST_BANDS = 3  # encodings in one figure up to which the range of their windows is drawn
# Ratios of the highest to the lowest value of several windows, up to which their mean is given.
STABLE, STABLE_STEPS = 2.0, 1.25
FLOORS = {"half": 1.0, "monotonicity": 0.0}
BESIDE_HALF = 0.05  # How far from ½ the mean line may be at the half-distance that is marked on it.
PLACES = {
    "positions": ("at the start", "in the middle", "at the end"),
    "patches": ("in the middle", "in the first corner", "in the last corner"),
}


@dataclass(frozen=True, eq=False)
class Window:
    """Measures of one window, means over the heads that have them; None where no head does.

    half: in positions; falls, invariance: shares; halves: half of each head that has one;
        n_varying: heads that are not constant; profile: ``_decay`` of the mean of the scaled heads,
        (n_distances,), NaN where it does not fall, or all heads are constant
    """

    half: float | None
    falls: float | None
    invariance: float | None
    halves: tuple[float, ...]
    n_varying: int
    profile: Floats


def compute(subject: Subject[Shaped]) -> Result:
    """Shape of the kernel and its decay with distance, as means over heads, and over windows of a
    table, whose outliers are left out.

    Translation invariance after Wang B. et al. 2021. Windows have at most ``POSITIONS`` positions,
    or ``SIDE`` × ``SIDE`` patches.
    arrays: profile (n_distances,), mean over windows, scaled to a maximum of 1 and 0 at the mean of
        the far distances; profiles (n_windows, n_distances), NaN where it does not fall; halves
        (n_windows,); halves_by_head (n_falling,), of the heads of the first window that fall;
        left_out (n_outliers,), int; context_distances (n,), context (n,), the profile
        over all positions; unit (), text, the unit of distances; derived: matrix (n_positions,
        n_positions)
    errors: NotApplicableError when the form does not encode position, is not finite, is
        constant, or covers fewer than ``FEWEST`` positions in a line; RowError when transformers
        cannot compute the frequencies of a rotation
    """
    form, of_patches = subject.encoding.form, subject.encoding.modality == "image"
    if not form.tells_position:
        raise NotApplicableError("it does not encode position")
    finite(form.numbers, "the encoding")
    kernels = windows_of(form.inliers, POSITIONS, SIDE, of_patches)
    if kernels[0].longest < FEWEST:
        raise NotApplicableError(
            f"it covers {kernels[0].longest} positions in a line, but a profile needs at least"
            f" {FEWEST}"
        )
    mean = shape(kernels[0].heads, kernels[0].lines)
    if mean is None:
        raise NotApplicableError("all pairs of positions have the same value")
    if np.isnan(far_level(kernels[0].along(mean))):
        raise NotApplicableError("far positions have no value, so there is no level to fall to")
    windows, unit = [_window(kernel) for kernel in kernels], _unit(kernels[0], subject)
    profiles = np.array([window.profile for window in windows])  # (n_windows, n_distances)
    context = profile_of(form.inliers, SIDE, of_patches)
    metrics = tuple(
        _named(metric, unit.partition(" ")[0])
        for metric in (*_metrics(form, kernels[0], windows, context, unit), *_of_noise(form))
    )
    arrays = {
        "profile": mean_of_rows(profiles),
        "profiles": profiles,
        "halves": np.array([np.nan if window.half is None else window.half for window in windows]),
        "halves_by_head": np.array(windows[0].halves),
        "left_out": _left_out(form),
        "context_distances": context.distances,
        "context": mean_of_rows(_scaled(context)),
        "unit": np.array(unit),
    }
    findings = _findings(metrics, windows, form, arrays["profile"], unit)
    return Result(metrics, arrays, tuple(findings), derived={"matrix": mean})


def _named(metric: Metric, unit: str) -> Metric:
    """``metric`` with patches called patches, where ``unit`` is that."""
    title = metric.title.replace("Positions", unit.capitalize())
    return replace(metric, title=title, unit=unit if metric.unit == "positions" else metric.unit)


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
) -> Iterator[Metric]:
    """first: kernel of the first window; context: profile over all positions; unit: of distances"""
    yield Metric("positions", "Positions compared", first.heads.shape[1])
    no_fall = STRAIGHT if _is_straight(form) else "it does not fall with distance"
    halves = [None if _is_straight(form) else window.half for window in windows]
    texts = ["none" if half is None else rounded(half, 1, 0.0) for half in halves]
    measure = ("half", HALF, "positions", no_fall)
    yield from _over_windows(measure, halves, STABLE, texts, unit)
    falls = [None if window.falls is None else 100.0 * window.falls for window in windows]
    texts = ["none" if value is None else f"{rounded(value, 0)}%" for value in falls]
    measure = ("monotonicity", MONOTONICITY, "%", "no step is defined")
    yield from _over_windows(measure, falls, STABLE_STEPS, texts, unit)
    yield Metric(
        "invariance",
        "Translation invariance (share of the variance that offsets explain)",
        _mean_or_none([value for window in windows if (value := window.invariance) is not None]),
        reason="all pairs of different positions have the same value",
    )
    yield _symmetry(form, first.heads)
    n_varying, n_falling = windows[0].n_varying, len(windows[0].halves)
    yield Metric("constant", "Constant heads left out", len(first.heads) - n_varying)
    yield Metric("rising", "Heads without a half-distance", n_varying - n_falling)
    yield Metric("farthest", "Farthest distance compared", first.longest - 1, "positions")
    if isinstance(form, PositionTable):
        yield Metric("left_out", "Outliers left out", form.outliers.size)
    if context.distances[-1] > first.longest:
        every = context.halves[~np.isnan(context.halves) & (not _is_straight(form))]
        half = _mean_or_none(every.tolist())
        title = "Half-distance over all positions"
        yield Metric("half_context", title, half, "positions", no_fall)


def _is_straight(form: Shaped) -> bool:
    """Whether it goes on in a straight line, which has half of its fall in half of any window."""
    return isinstance(form, OffsetBias) and form.beyond == "linear"


def _left_out(form: Shaped) -> Array:
    """(n_outliers,), int"""
    return form.outliers if isinstance(form, PositionTable) else np.zeros(0, dtype=np.int64)


def _window(kernel: Kernel) -> Window:
    scaled = scaled_heads(kernel.heads, kernel.lines)
    decays = [decay for head in scaled if (decay := _decay(kernel, head)) is not None]
    halves = _defined(half_distance(np.arange(decay.size), decay) for decay in decays)
    falls = _defined(local_monotonicity(kernel.along(head), STEPS) for head in scaled)
    invariances = _defined(translation_invariance(head, kernel.offsets) for head in scaled)
    half, fall, invariance = (_mean_or_none(values) for values in (halves, falls, invariances))
    mean = _decay(kernel, np.mean(scaled, axis=0)) if scaled else None
    profile = np.full(kernel.longest, np.nan) if mean is None else mean
    return Window(half, fall, invariance, tuple(halves), len(scaled), profile)


def _defined(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean_or_none(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _decay(kernel: Kernel, head: Floats) -> Floats | None:
    """Mean by distance of a head (n, n), scaled to a maximum of 1 and to 0 at the far level:
    (n_distances,); None when it does not fall.
    """
    lines = kernel.along(head)
    return decay_scaled(mean_by_distance(lines), far_level(lines))


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


def _over_windows(
    measure: tuple[str, str, str, str],
    values: list[float | None],
    limit: float,
    texts: list[str],
    unit: str,
) -> Iterator[Metric]:
    """Mean of ``values``, one per window, only where they agree; of several windows also the lowest
    and the highest value.

    measure: key, title, unit, and the reason where no window has a value; limit: of their ratio;
        texts: the values in words; unit: of distances
    """
    key, title, of_value, none = measure
    defined = [value for value in values if value is not None]
    if not defined:
        yield Metric(key, title, None, of_value, none)
        return
    # Below a distance of 1, even neighbours are below half.
    lowest, highest = (end(max(value, FLOORS[key]) for value in defined) for end in (min, max))
    agree = len(defined) == len(values) and highest <= limit * lowest
    places = zip(texts, _places(unit), strict=False)
    listed = enumerated([f"{text} {place}" for text, place in places])
    unstable = f"it differs along the table: {listed}"
    yield Metric(key, title, _mean_or_none(defined if agree else []), of_value, unstable)
    if len(values) > 1:
        yield Metric(f"{key}_low", f"{title}, lowest of all windows", min(defined), of_value)
        yield Metric(f"{key}_high", f"{title}, highest of all windows", max(defined), of_value)


def _places(unit: str) -> tuple[str, ...]:
    """Where each window is."""
    return PLACES[unit.partition(" ")[0]]


def _symmetry(form: Shaped, heads: Floats) -> Metric:
    value, reason = None, "it is symmetric by construction"
    if not form.is_symmetric:
        reason = "only earlier keys are visible"
        if not np.isnan(heads).any():
            varying = [
                head / np.max(np.abs(head)) for head in heads if min_max_scaled(head) is not None
            ]
            value = float(np.mean([symmetry(head) for head in varying]))
    return Metric("symmetry", "Symmetry (1 where before and after are equal)", value, reason=reason)


def _unit(kernel: Kernel, subject: Subject[Shaped]) -> str:
    along_a_side = subject.encoding.modality == "image" and not isinstance(
        subject.encoding.form, PositionTable
    )
    return (
        "patches along rows and columns" if len(kernel.lines) > 1 or along_a_side else "positions"
    )


def _findings(
    metrics: tuple[Metric, ...], windows: list[Window], form: Shaped, profile: Floats, unit: str
) -> Iterator[Finding]:
    by_key = {metric.key: metric for metric in metrics}
    quantity, half = form.quantity.partition(",")[0], by_key["half"]
    line: dict[str, Any] = {"n_positions": profile.size, "unit": unit, "quantity": quantity}
    if _is_straight(form):
        yield Finding(WORDING("straight", quantity=quantity), ("positions",), 0.2)
    elif all(window.half is None for window in windows):
        yield Finding(WORDING("level", **line), ("positions", "rising"), 0.8)
    elif half.value is None:
        halves = [window.half for window in windows]
        text = WORDING("unstable", halves=halves, places=_places(unit), unit=unit)
        yield Finding(text, ("half", "half_low", "half_high"), 0.7)
    else:
        line |= {"half": half.value, "noise": _falls_of_noise(form)}
        yield _of_fall(line, by_key, windows[0], profile)
    if (out := _left_out(form)).size:
        yield Finding(WORDING("left_out", outliers=out), ("left_out",))


def _of_fall(
    line: dict[str, Any], by_key: Mapping[str, Metric], window: Window, profile: Floats
) -> Finding:
    """How fast it falls. line: values of the beginning of the sentence; window: the first"""
    half, falls = line["half"], by_key["monotonicity"].value
    text = WORDING(
        "fall",
        **line,
        window=window,
        ends=[by_key[key].value for key in ("half_low", "half_high") if key in by_key],
        farthest=min(STEPS, profile.size - 1),
        falls=falls,
    )
    with_noise = ("monotonicity_noise",) if line["noise"] is not None else ()
    with_falls = () if falls is None else ("monotonicity", *with_noise)
    rests_on = ("positions", "half", "rising", *with_falls)
    # A mean of half-distances need not be where the mean line crosses ½.
    height = float(np.interp(half, np.arange(profile.size), profile))
    spots = (Spot("profiles", half, height),) if abs(height - 0.5) <= BESIDE_HALF else ()
    return Finding(text, rests_on, 0.3, spots=spots)


def _of_noise(form: Shaped) -> Iterator[Metric]:
    if (falls := _falls_of_noise(form)) is not None:
        yield Metric("monotonicity_noise", "Local monotonicity of random vectors", falls, "%")


def _falls_of_noise(form: Shaped) -> float | None:
    """Share of the first steps that fall in a table of independent random vectors, per cent: every
    first one, and half of the others. None for other forms, and for grids that are no squares.
    """
    if not isinstance(form, PositionTable):
        return None
    sides = {min(side, SIDE) for side in form.grid or ()} or {min(form.extent, POSITIONS)}
    if len(sides) > 1:
        return None
    first = sides.pop() - 1
    every = sum(first - distance for distance in range(min(STEPS, first)))
    return 100.0 * (first + 0.5 * (every - first)) / every


def draw_profiles(results: Results) -> Figure:
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
        lines = _lines(results, in_unit, _within_window)
        _draw_lines(window, lines, lines)
        add(window, *_bands(in_unit))
        lines = _lines(results, in_unit, decay_over_all)
        shown = [replace(line, name=hidden(line.name)) for line in lines if not line.is_quiet]
        _draw_lines(every, lines, shown)  # The legend has them once.
        logarithmic(every, "x")
        window.set(xlabel=f"distance ({unit})", ylabel="similarity (1 = highest, 0 = far)")
        every.set(xlabel="distance over all positions")
    legend_below(figure)
    return figure


def _within_window(result: Result) -> tuple[Array, Array]:
    return np.arange(result.arrays["profile"].size), result.arrays["profile"]


def _lines(
    results: Results, some: Results, points: Callable[[Result], tuple[Array, Array]]
) -> list[Line]:
    """The ``points`` of ``some`` results, in the styles that these have among all."""
    lines = []
    for label, result, dash in with_line_styles(results):
        if label in some:
            x, y = points(result)
            name = label.title if not np.isnan(y).all() else f"{label.title} (does not fall)"
            line = Line(x, y, colour=label.colour, dash=dash, name=name)
            lines.append(standing_back(line) if label.is_quiet else line)
    return lines


def _draw_lines(axes: Axes, lines: Sequence[Line], shown: Sequence[Line]) -> None:
    """Plot the ``shown`` of the lines in a view with room for all."""
    values = np.concatenate([line.y for line in lines])
    low = max(LOWEST, values[np.isfinite(values)].min(initial=0.0) - MARGIN)
    styles: tuple[tuple[str, Dash], ...] = ((GRID, "solid"), (MUTED, DOTTED), (GRID, "solid"))
    for index, (colour, dash) in enumerate(styles):
        # In the second panel, published data have these names, which no page shows.
        name = "" if shown is lines else f"__child{index}"
        add(axes, StraightLine("y", index / 2.0, colour=colour, width=0.8, dash=dash, name=name))
    add(axes, *shown)
    ends = [end for line in lines for end in (line.x[0], line.x[-1])]
    axes.set(xlim=(min(ends), max(ends)), ylim=(low, HIGHEST))
    mark_beyond(axes, lines, (low, HIGHEST))


def _bands(results: Results) -> Iterator[Band]:
    """The range of the windows of each encoding, where there are few encodings."""
    if len(results) > MOST_BANDS:
        return
    for label, result in results.items():
        profiles = result.arrays["profiles"]
        has_band = len(profiles) > 1 and not np.isnan(profiles).all(axis=0).any()
        if has_band and not label.is_quiet:
            low, high = np.nanmin(profiles, axis=0), np.nanmax(profiles, axis=0)
            yield Band(np.arange(low.size), low, high, colour=label.colour, alpha=0.16)


def decay_over_all(result: Result) -> tuple[Array, Array]:
    """Distances from 1 over all positions, and the scaled similarity there: (n − 1,) each."""
    return result.arrays["context_distances"][1:], result.arrays["context"][1:]


ANALYSIS = Analysis(
    key="decay_with_distance",
    stage="place",
    after="effect_of_scaling",
    headlines=(
        Headline("half", WORDING),
        Headline("monotonicity", WORDING),
        Headline("invariance", WORDING),
    ),
    forms=tuple(form for form in all_forms() if form is not NoEncoding),
    compute=compute,
    derived={"matrix": matrix},
    figures=(
        FigureSpec(
            "profiles",
            WORDING.figure("profiles"),
            draw_profiles,
            python=('plt.plot(arrays["decay_with_distance.profile"])'),
            overlays=True,
        ),
        FigureSpec(
            "matrices",
            WORDING.figure("matrices"),
            Images(
                "matrix",
                (0.0, 1.0),
                SEQUENTIAL,
                ("key position", "query position", "similarity, scaled 0–1 per encoding"),
            ),
            python=(
                'profile = arrays["decay_with_distance.profile"]\n'
                "plt.imshow(profile[abs(np.subtract.outer(*[range(len(profile))] * 2))])"
            ),
        ),
    ),
    per_figure=12,
    overlay=Overlay(
        x="distance (positions or patches)",
        y="similarity (1 = highest, 0 = far)",
        points=decay_over_all,
        how_to_read=WORDING("overlay_how_to_read"),
        logarithmic="x",
    ),
)
