"""Kernel shape and decay with distance: one measure for all schemes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from generator.contracts import (
    Analysis,
    Arrays,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Outcome,
    Overlay,
    Overview,
    Reading,
    Result,
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
from generator.figures.charts import Images
from generator.figures.profiles import (
    StripDot,
    decay_over_all,
    draw_bases,
    draw_profiles,
    draw_strip,
)
from generator.figures.style import SEQUENTIAL
from generator.numerics.arrays import (
    FLAT,
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
from generator.numerics.floors import BasedRotation, lifts_the_floor
from generator.numerics.shapes import decay_scaled, far_from, far_level, half_distance, scaled_heads
from generator.numerics.similarity import shape
from generator.text import enumerated, measured

Shaped = PositionTable | OffsetBias | RelativeTable | WindowBias | Rotation | Convolution
WORDING = Wording("analyses/decay_with_distance.md.jinja")
POSITIONS = 128
SIDE = 16  # Patches on a side of a grid or window: their matrix has 256² entries.
FEWEST = 3  # Two offsets and 0; with one, every profile is the same line.
STEPS = 20  # Largest width of local monotonicity, in positions.
STRAIGHT = (
    "it falls in a straight line, so where it is half way to its far level would depend on the"
    " window alone"
)
HALF = "Distance half way to its far level"  # This and the next two are titles.
FAR = "Far level (mean cosine over the last quarter of the distances)"
MONOTONICITY = f"Local monotonicity (share of the steps, {STEPS} at most, that fall)"
# Ratios of the highest to the lowest value of several windows, up to which their mean is given.
STABLE, STABLE_STEPS = 2.0, 1.25
FLOORS = {"half": 1.0, "monotonicity": 0.0}
DEEP = 0.05  # of a head's range, which it falls by at least
SINGLE = ("of_changes_low", "of_changes_high")
SEEN = 60.0  # Per cent of the steps that change, from which a bias is seen to fall; 50 by chance.
AGREE = 0.1  # difference of the far levels of several windows, up to which their mean is given
BESIDE_HALF = 0.05  # How far from ½ the mean line may be at the distance that is marked on it.
PLACES = {
    "positions": ("at the start", "in the middle", "at the end"),
    "patches": ("in the middle", "in the first corner", "in the last corner"),
}


@dataclass(frozen=True, eq=False)
class Window:
    """Measures of one window, means over the heads that have them; None where no head does.

    half: in positions; falls, invariance: shares; changing: share of the steps of falls that change
        at all; halves: half of each head that has one; falling: the numbers of these heads,
        (n_falling,), int; theirs: falls and changing of these heads alone; single: falls of each of
        these, of its steps that change
        far: mean of the first head at far distances, in its own unit
        n_varying: heads that are not constant; profile: ``_decay`` of the mean of the scaled heads,
        (n_distances,), NaN where it does not fall, or all heads are constant
    """

    half: float | None
    far: float
    falls: float | None
    changing: float | None
    invariance: float | None
    halves: tuple[float, ...]
    falling: Array
    theirs: tuple[float | None, float | None]
    single: tuple[float, ...]
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
        far_levels (n_windows,), of a cosine alone;
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
    every = (*_metrics(form, kernels[0], windows, context, unit), *_of_noise(form, windows))
    metrics = tuple(_named(metric, unit.partition(" ")[0]) for metric in every)
    arrays = {
        "profile": mean_of_rows(profiles),
        "profiles": profiles,
        "halves": np.array([np.nan if window.half is None else window.half for window in windows]),
        "halves_by_head": np.array(windows[0].halves),
        **({"far_levels": np.array([each.far for each in windows])} if _is_cosine(form) else {}),
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
    no_fall = STRAIGHT if _is_straight(form) else "it does not fall by 5% of its range"
    halves = [None if _is_straight(form) else window.half for window in windows]
    texts = ["none" if half is None else measured(half) for half in halves]
    measure = ("half", HALF, "positions", no_fall)
    yield from _over_windows(measure, halves, STABLE, texts, unit)
    yield from _far(form, [window.far for window in windows], unit)
    falls = [None if window.falls is None else 100.0 * window.falls for window in windows]
    texts = ["none" if value is None else f"{measured(value, '%')}%" for value in falls]
    measure = ("monotonicity", MONOTONICITY, "%", "no step is defined")
    yield from _over_windows(measure, falls, STABLE_STEPS, texts, unit)
    yield Metric(
        "invariance",
        "Translation invariance (share of the variance that offsets explain)",
        _mean_or_none([value for window in windows if (value := window.invariance) is not None]),
        reason="all pairs of different positions have the same value",
    )
    yield _symmetry(form, first.heads)
    yield from _of_heads(form, windows[0], len(first.heads))
    yield Metric("farthest", "Farthest distance compared", first.longest - 1, "positions")
    if isinstance(form, PositionTable):
        yield Metric("left_out", "Outliers left out", form.outliers.size)
    if context.distances[-1] > first.longest:
        every = context.halves[~np.isnan(context.halves) & (not _is_straight(form))]
        half = _mean_or_none(every.tolist())
        title = f"{HALF}, over all positions"
        yield Metric("half_context", title, half, "positions", no_fall)


def _of_heads(form: Shaped, first: Window, n_heads: int) -> Iterator[Metric]:
    n_rising = first.n_varying - len(first.halves)
    yield Metric("constant", "Constant heads left out", n_heads - first.n_varying)
    yield Metric("rising", "Heads that do not fall by 5% of their range", n_rising)
    falls, changing = first.theirs
    if isinstance(form, OffsetBias | WindowBias) and not _is_straight(form) and changing:
        title = "Steps that fall, of those that change, in heads that fall"
        yield Metric("of_changes", title, 100.0 * (falls or 0.0) / changing, "%")
        yield Metric("level", "Level steps, in heads that fall", 100.0 * (1.0 - changing), "%")
        if len(first.single) > 1:
            lowest, highest = 100.0 * min(first.single), 100.0 * max(first.single)
            yield Metric("of_changes_low", f"{title}, lowest head", lowest, "%")
            yield Metric("of_changes_high", f"{title}, highest head", highest, "%")


def _far(form: Shaped, levels: list[float], unit: str) -> Iterator[Metric]:
    """The far level of a cosine, whose highest value is 1: what is in other units does not compare.
    levels: one per window
    """
    if not _is_cosine(form):
        reason = f"its kernel is no cosine ({form.quantity}), so its level compares with no other"
        yield Metric("far", FAR, None, reason=reason)
        return
    places = zip(levels, _places(unit), strict=False)
    listed = enumerated([f"{measured(level)} {place}" for level, place in places])
    mean = float(np.mean(levels)) if np.ptp(levels) <= AGREE else None
    yield Metric("far", FAR, mean, reason=f"it differs along the table: {listed}")
    if len(levels) > 1:
        yield Metric("far_low", f"{FAR}, lowest of all windows", float(np.nanmin(levels)))
        yield Metric("far_high", f"{FAR}, highest of all windows", float(np.nanmax(levels)))


def _is_cosine(form: Shaped) -> bool:
    return isinstance(form, PositionTable | RelativeTable | Rotation)


def _is_straight(form: Shaped) -> bool:
    """Whether it goes on in a straight line, which has half of its fall in half of any window."""
    return isinstance(form, OffsetBias) and form.beyond == "linear"


def _left_out(form: Shaped) -> Array:
    """(n_outliers,), int"""
    return form.outliers if isinstance(form, PositionTable) else np.zeros(0, dtype=np.int64)


def _window(kernel: Kernel) -> Window:
    varying = [
        (number, head)
        for number in range(len(kernel.heads))
        for head in scaled_heads(kernel.heads[[number]], kernel.lines)
    ]
    falling = {
        number: half for number, head in varying if (half := _half(kernel, head)) is not None
    }
    scaled, halves = [head for _, head in varying], [*falling.values()]
    fall, changing = _steps(kernel, scaled)
    those = [head for number, head in varying if number in falling]
    each = [_steps(kernel, [head]) for head in those]
    single = tuple(fall / changing for fall, changing in each if fall is not None and changing)
    invariances = _defined(translation_invariance(head, kernel.offsets) for head in scaled)
    half, invariance = _mean_or_none(halves), _mean_or_none(invariances)
    mean = _decay(kernel, np.mean(scaled, axis=0)) if scaled else None
    profile = np.full(kernel.longest, np.nan) if mean is None else mean
    far = far_level(kernel.along(kernel.heads[0]))
    numbers = np.array([*falling], dtype=np.int64)
    shares = (tuple(halves), numbers, _steps(kernel, those), single)
    return Window(half, far, fall, changing, invariance, *shares, len(scaled), profile)


def _steps(kernel: Kernel, heads: Sequence[Floats]) -> tuple[float | None, float | None]:
    """Shares of the steps that fall, and that change at all, means over ``heads`` (n, n)."""
    falls = _defined(local_monotonicity(kernel.along(head), STEPS) for head in heads)
    rises = _defined(local_monotonicity(kernel.along(-head), STEPS) for head in heads)
    changing = [fall + rise for fall, rise in zip(falls, rises, strict=True)]
    return _mean_or_none(falls), _mean_or_none(changing)


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


def _half(kernel: Kernel, head: Floats) -> float | None:
    """Where a scaled head (n, n) is half way to its far level; None where it does not fall by
    ``DEEP``.
    """
    lines, decay = kernel.along(head), _decay(kernel, head)
    if decay is None or np.nanmax(mean_by_distance(lines)) - far_level(lines) < DEEP:
        return None
    return half_distance(np.arange(decay.size), decay)


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
    quantity, half = _quantity(form, unit), by_key["half"]
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
        keys = ("monotonicity_noise", "of_changes", "level")
        noise, of_changes, level = (by_key[key].value if key in by_key else None for key in keys)
        line |= {"noise": noise, "of_changes": of_changes, "window": windows[0]}
        if of_changes is not None and of_changes < SEEN:
            rests_on = ("of_changes", *(key for key in SINGLE if key in by_key), "positions")
            yield Finding(WORDING("no_fall", **line), rests_on, 0.2)
        else:
            is_steady = form.depends_on_offset and form.is_symmetric and windows[0].n_varying == 1
            yield _of_fall(line | {"half": half.value, "level": level}, by_key, profile, is_steady)
    if (out := _left_out(form)).size:
        rows = tuple(map(int, out))
        yield Finding(WORDING("left_out", outliers=out), ("left_out",), rows=rows)


def _quantity(form: Shaped, unit: str) -> str:
    """What falls; of an image, a rotation turns some of the pairs by each axis. One with other
    frequencies in longer texts has that of short ones.
    """
    quantity = form.quantity.partition(",")[0]
    if not isinstance(form, Rotation):
        return quantity
    return WORDING("turning", quantity=quantity, unit=unit, length=form.short)


def _of_fall(
    line: dict[str, Any], by_key: Mapping[str, Metric], profile: Floats, is_steady: bool
) -> Finding:
    """How fast it falls.

    line: values of the beginning of the sentence; is_steady: whether a step is the same from every
        position, so that the steps that fall can be counted
    """
    half, falls, both = line["half"], by_key["monotonicity"].value, by_key["symmetry"].value
    farthest = min(STEPS, profile.size - 1)
    n_falls = int(np.count_nonzero(np.diff(profile[: farthest + 1]) < 0.0))
    text = WORDING(
        "fall",
        **line,
        ends=[by_key[key].value for key in ("half_low", "half_high") if key in by_key],
        far=by_key["far"].value,
        from_far=far_from(profile.size),
        farthest=farthest,
        falls=falls,
        n_falls=n_falls if is_steady else None,
        is_of_both=both is not None and both < 1.0 - FLAT,
    )
    measures = (
        ("of_changes", *SINGLE, "level")
        if "of_changes" in by_key
        else ("monotonicity", "monotonicity_noise")
    )
    with_falls = [key for key in measures if key in by_key and falls is not None]
    with_far = () if by_key["far"].value is None else ("far",)
    rests_on = ("positions", "half", *with_far, "rising", *with_falls)
    # A mean of such distances need not be where the mean line crosses ½.
    height = float(np.interp(half, np.arange(profile.size), profile))
    spots = (Spot("profiles", half, height),) if abs(height - 0.5) <= BESIDE_HALF else ()
    return Finding(text, rests_on, 0.3, spots=spots)


def _of_noise(form: Shaped, windows: Sequence[Window]) -> Iterator[Metric]:
    if (falls := _falls_of_noise(form, windows)) is not None:
        yield Metric("monotonicity_noise", "Local monotonicity by chance", falls, "%")


def _falls_of_noise(form: Shaped, windows: Sequence[Window]) -> float | None:
    """Share of the first steps that fall by chance, per cent. In a table of independent random
    vectors: every first one, and half of the others; in a learned bias: half of those that change.
    None for other forms, and for grids that are no squares.
    """
    if isinstance(form, OffsetBias | WindowBias) and not _is_straight(form):
        changing = windows[0].changing
        return None if changing is None else 50.0 * changing
    if not isinstance(form, PositionTable):
        return None
    sides = {min(side, SIDE) for side in form.grid or ()} or {min(form.extent, POSITIONS)}
    if len(sides) > 1:
        return None
    first = sides.pop() - 1
    every = sum(first - distance for distance in range(min(STEPS, first)))
    return 100.0 * (first + 0.5 * (every - first)) / every


def overview(members: Sequence[tuple[Outcome, Reading]]) -> Overview:
    """What bases do to a rotation, and where all encodings lie, by their schemes."""
    bases = FigureSpec(
        "bases", WORDING.figure("bases", alt=lambda _: WORDING("bases_alt")), draw_bases
    )
    dots = _dots(members)
    strip = FigureSpec(
        "strip",
        WORDING.figure("strip", alt=lambda _: WORDING("strip_alt")),
        partial(draw_strip, dots),
    )
    return Overview(_of_bases(members), (bases, strip) if dots else (bases,))


def _of_bases(members: Sequence[tuple[Outcome, Reading]]) -> str:
    """What a larger base does, where the rotations at hand show it; "" else."""
    rotations = {
        BasedRotation(parameters["base"], parameters["rotary_dim"] // 2, half, far)
        for _, reading in members
        if reading.encoding.form == Rotation.__name__
        and reading.encoding.is_of_words
        and (parameters := reading.encoding.parameters)["scaling"] is None
        and (result := reading.results[ANALYSIS.key]).value("positions") == POSITIONS
        and (half := result.value("half")) is not None
        and (far := result.value("far")) is not None
    }
    if not lifts_the_floor(rotations):
        return ""
    halves = [one.half for one in rotations]
    ends = [end(rotations, key=lambda one: (one.base, one.n_pairs)) for end in (min, max)]
    return WORDING("floor", ends=ends, halves=(min(halves), max(halves)), count=len(rotations))


def _dots(members: Sequence[tuple[Outcome, Reading]]) -> tuple[StripDot, ...]:
    """Those that are half way to their far level somewhere, equal ones of a model once, with what
    is no cosine last.
    """
    groups: dict[tuple[str, str, str], list[Reading]] = {}
    for outcome, reading in members:
        if reading.results[ANALYSIS.key].value("half") is not None:
            learned = reading.encoding.provenance.tensor and reading.encoding.stack
            own = learned or str(reading.results[ANALYSIS.key].value("half"))
            key = (outcome.checkpoint.slug, reading.encoding.scheme, own)
            groups.setdefault(key, []).append(reading)
    return tuple(sorted(map(_dot, groups.values()), key=lambda dot: (dot.order, dot.row, dot.half)))


def _dot(readings: Sequence[Reading]) -> StripDot:
    """A dot for readings of one scheme in one stack of a model."""
    encoding = readings[0].encoding
    results = [reading.results[ANALYSIS.key] for reading in readings]
    halves, fars = (_defined(result.value(key) for result in results) for key in ("half", "far"))
    unit, is_cosine = str(results[0].arrays["unit"]).split()[0], "far_levels" in results[0].arrays
    row = WORDING(
        "strip_row",
        scheme=Wording(f"schemes/{encoding.scheme}.md.jinja")("title"),
        unit=unit,
        is_cosine=is_cosine,
        is_bias=encoding.form in (OffsetBias.__name__, WindowBias.__name__),
    )
    count = len(readings) if encoding.provenance.tensor else 1
    name = WORDING("strip_dot", name=readings[0].label.title, count=count)
    far = float(np.median(fars)) if len(fars) == len(readings) else None
    order = 2 * (not is_cosine) + (unit == "patches")
    return StripDot(order, row, name, float(np.median(halves)), far)


ANALYSIS = Analysis(
    key="decay_with_distance",
    stage="place",
    after="effect_of_scaling",
    headlines=(
        Headline("half", WORDING),
        Headline("far", WORDING),
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
    overview=overview,
    overlay=Overlay(
        x="distance (positions or patches)",
        y="similarity (1 = highest, 0 = far)",
        points=decay_over_all,
        logarithmic="x",
    ),
)
