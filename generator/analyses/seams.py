"""Seams: breaks of the table from one position to the next that change it, or divide it."""

from collections.abc import Sequence
from dataclasses import replace
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
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.published import COSINES, DISTILBERT
from generator.contracts.results import compute_alone
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.lines import Point, label_points, legend_below, with_line_styles
from generator.figures.panels import panels
from generator.figures.style import ASIDE, PAPER
from generator.numerics.arrays import FLAT, Array, Floats, finite, largest, row_norms
from generator.numerics.breaks import FAR, LEAST, Break, breaks
from generator.numerics.change_points import (
    NORMAL,
    WINDOW,
    adjacent_cosines,
    break_depths,
    norm_change,
    variation,
    window_medians,
)
from generator.numerics.structure import dithered, two_sided
from generator.text import cosine, rounded, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE = "neighbours"
FEWEST = 2 * WINDOW + 3  # positions: two full windows around at least two pairs
APART = 0.4  # Difference from the median cosine from which an end is worth a sentence.
MOST_NAMED = 2  # tables in one figure up to which seams are labelled
# Median cosine of neighbours from which a position unlike both is worth a sentence; in noise every
# cosine is low.
ALIKE = 0.3
MOST_SPIKES = 3  # with a sentence each
EVEN, WEIGHT_OF_EVEN = 1e-3, 0.2  # Cosines that differ by no more than this are a level line.
WEIGHT_OF_DIP = 0.3  # One larger step is no change of the table, and no headline.
ALARM = 0.01  # Share of random tables in which a change of the norm may be called one.
STEP = 1.5  # A ratio of norms from here on is worth a sentence.
VIEW = (-0.5, 1.02)
DITHERS = 20
LAST_SEEN = 127  # The last position of BERT's short training sequences.
N_POSITIONS = 512  # of BERT's table
LENGTH_128 = {
    "bert": (
        "A possible explanation, which a checkpoint's files cannot confirm, is BERT's training. The"
        " published BERT was trained on 128 tokens, positions 0 to 127, for 90 % of its steps"
        " (Devlin et al. 2019, appendix A.2). A model trained like it, or made from it, saw"
        " positions from 128 on far less often."
    ),
    "distilbert": (
        "A possible explanation, which a checkpoint's files cannot confirm, is BERT's training. The"
        " published DistilBERT was made from BERT (Sanh et al. 2019, arXiv 1910.01108). BERT was"
        " trained on 128 tokens, positions 0 to 127, for 90 % of its steps (Devlin et al. 2019,"
        " appendix A.2)."
    ),
}  # by family


def compute(subject: Subject[PositionTable]) -> Result:
    """Cosine of neighbouring positions, where it breaks (seams and dips), single positions unlike
    both neighbours, and where the norm changes.

    arrays: adjacent (n_positions − 1,), cosine with the next position, without a tail that holds
        nothing; seams (n_seams, 2) and dips (n_dips, 2), int, first and last pair of each break
        that is a seam, and of each that is none; spikes (n_spikes,), int, positions
    errors: NotApplicableError when positions form a grid, are too few, or are mostly zero, or the
        table is not finite
    """
    form = _trained(subject.encoding.form)
    vectors = form.vectors
    cosines, of_inliers = adjacent_cosines(vectors), adjacent_cosines(form.inliers.vectors)
    depth = break_depths(of_inliers)
    if np.isnan(depth).all():
        raise NotApplicableError("zero vectors leave no run of neighbours with a cosine")
    steps, at, is_sudden = norm_change(row_norms(vectors, largest(vectors)))
    found = breaks(form.inliers.vectors, of_inliers, depth, steps)
    found = _lasting(form, found, steps)
    seam_breaks = [each for each in found if each.is_seam]
    dips = [each for each in found if not each.is_seam]
    single = spikes(form.outliers, cosines, of_inliers)
    metrics = (
        Metric(
            "typical", "Median cosine of neighbours", float(np.median(cosines[~np.isnan(cosines)]))
        ),
        Metric("seams", "Seams", float(len(seam_breaks))),
        Metric("dips", "Single larger steps", float(len(dips))),
        Metric("spikes", "Single outliers", float(single.size)),
        *_deepest(depth, found[0].deepest if found else int(np.nanargmax(depth))),
        _level_step(seam_breaks),
        _end("first", "Cosine of the first two positions", float(cosines[0])),
        _end("last", "Cosine of the last two positions", float(cosines[-1])),
        *_largest_step(steps, at),
    )
    bounds = {"seams": _bounds(seam_breaks), "dips": _bounds(dips)}
    arrays = {"adjacent": cosines, **bounds, "spikes": single}
    family = subject.family if len(vectors) == N_POSITIONS else ""
    of_breaks = (
        *_of_seams(seam_breaks, found, family),
        *_of_dips(dips),
        *_of_spikes(single, cosines, of_inliers),
    )
    return Result(
        metrics,
        arrays,
        (
            *of_breaks,
            *_of_ends(metrics, len(vectors)),
            *_of_even(cosines),
            *_of_norm(steps, at, [each.boundary for each in seam_breaks], is_sudden=is_sudden),
        ),
    )


def _lasting(form: PositionTable, found: list[Break], steps: Floats) -> list[Break]:
    """The breaks that a table stored in steps shows with noise of up to half a step as well.

    At each of ``DITHERS`` seeds; all of any other table.

    steps: (n_pairs,), log ratios of norms
    """
    if form.steps is None or not found:
        return found
    for seed in range(DITHERS):
        noisy = replace(form, given=dithered(form.vectors, form.steps, seed)).inliers.vectors
        cosines = adjacent_cosines(noisy)
        again = breaks(noisy, cosines, break_depths(cosines), steps)
        found = [
            each
            for each in found
            if any(
                abs(each.deepest - other.deepest) <= 1 and each.is_seam == other.is_seam
                for other in again
            )
        ]
    return found


def _trained(form: PositionTable) -> PositionTable:
    """The table without a tail that holds nothing, whose start is no seam of training.

    errors: as ``compute``
    """
    if form.grid is not None:
        raise NotApplicableError(
            "its positions form a grid, where reading order jumps at the end of each row"
        )
    vectors = finite(form.vectors, "the table")
    if (end := form.structure.tail) is not None:
        form = replace(form, given=vectors[: end.start], known_outliers=None)
    if len(form.vectors) < FEWEST:
        raise NotApplicableError(
            f"{len(form.vectors)} positions are too few; seams need at least {FEWEST}"
        )
    return form


def spikes(outliers: Array, cosines: Floats, of_inliers: Floats) -> Array:
    """Outliers between two inliers whose cosines with both lie below those around by more than
    ``LEAST``, where these are above ``ALIKE``.

    outliers: (n_outliers,), int, positions; cosines, of_inliers: (n_pairs,), of all neighbours, and
        NaN beside outliers
    returns: (n_spikes,), int
    """
    levels = np.minimum(*window_medians(of_inliers))
    inner = outliers[(outliers > 0) & (outliers < cosines.size)]
    alone = inner[~np.isin(inner - 1, outliers) & ~np.isin(inner + 1, outliers)]
    depth = levels[alone] - np.maximum(cosines[alone - 1], cosines[alone])
    return np.asarray(
        alone[(np.nan_to_num(depth) > LEAST) & (np.nan_to_num(levels[alone]) > ALIKE)]
    )


def _bounds(found: list[Break]) -> Array:
    """(n, 2), int, first and last pair of each."""
    return np.array([(each.first, each.last) for each in found], dtype=np.int64).reshape(-1, 2)


def _deepest(depth: Floats, index: int) -> tuple[Metric, ...]:
    """Position and depth of the strongest break; no position where the depth is rounding.

    depth: (n_pairs,); index: the deepest pair of the strongest break that is significant, or of all
        where none is
    """
    reason = None if depth[index] > FLAT else "all steps are equal"
    return (
        Metric(
            "at", "Strongest break after position", None if reason else float(index), "", reason
        ),
        Metric(
            "depth", "Depth of the strongest break (cosine)", 0.0 if reason else float(depth[index])
        ),
        Metric(
            "contrast",
            "Contrast of the strongest break (depth ÷ typical variation)",
            0.0 if reason else float(depth[index] / variation(depth)[index]),
        ),
    )


def _level_step(found: list[Break]) -> Metric:
    """found: seams, strongest first"""
    title = "Level change at the strongest seam (cosine)"
    return (
        Metric("level_step", title, found[0].after - found[0].before)
        if found
        else Metric("level_step", title, None, reason="there is no seam")
    )


def _largest_step(steps: Floats, at: int) -> tuple[Metric, ...]:
    """Position and ratio of the largest change of the norm.

    steps: (n_pairs,), log ratios; at: the position before it
    """
    index = int(np.nanargmax(np.abs(steps)))
    reason = None if abs(steps[index]) > FLAT else "the median norm never changes"
    return (
        Metric(
            "norm_at",
            "Largest norm step after position",
            None if reason else float(at),
            "",
            reason,
        ),
        Metric(
            "norm_step",
            "Norm ratio at the largest step (after ÷ before)",
            1.0 if reason else float(np.exp(steps[index])),
        ),
    )


def _end(key: str, title: str, value: float) -> Metric:
    return (
        Metric(key, title, None, reason="one of the two vectors is zero")
        if np.isnan(value)
        else Metric(key, title, value)
    )


def _of_seams(found: list[Break], breaks: list[Break], family: str) -> tuple[Finding, ...]:
    """One finding per seam; with an explanation where the family, the position and a lower level
    after it all fit it.

    found: seams, strongest first; breaks: all, strongest first
    family: of the model, or nothing where its table has not the size of BERT's
    """
    findings = []
    for rank, seam in enumerate(found):
        explained = (
            family in LENGTH_128
            and seam.boundary == LAST_SEEN
            and seam.changes_level
            and seam.after < seam.before
        )
        lengths = range(seam.first + 1, seam.last + 2)  # at which training sequences may have ended
        weight = 0.9 if rank == 0 else 0.6
        if any(length & (length - 1) == 0 for length in lengths):  # a power of two
            weight = 1.0
        rests_on = (
            "seams",
            *(() if rank else ("level_step",)),
            *(("at", "depth") if seam is breaks[0] else ()),
        )
        context = LENGTH_128[family] if explained else ""
        findings.append(
            Finding(
                f"{_text_of(seam)}{_of_ratio(seam)}.", rests_on, weight, context, (_spot(seam),)
            )
        )
    return tuple(findings)


def _spot(found: Break) -> Spot:
    return Spot(FIGURE, found.deepest + 0.5, found.lowest)


def _text_of(seam: Break) -> str:
    where = f"A seam lies between positions {seam.boundary} and {seam.boundary + 1}"
    pair = (
        "These two"
        if seam.deepest == seam.boundary
        else f"Positions {seam.deepest} and {seam.deepest + 1}"
    )
    lowest = f"{pair} have a cosine of {cosine(seam.lowest)}"
    if seam.changes_level:
        less = "less" if seam.after < seam.before else "more"
        return (
            f"{where}: beyond it, neighbours are {less} alike (median cosine"
            f" {cosine(seam.before)} before, {cosine(seam.after)} after). {lowest}"
        )
    far = f"positions {FAR} apart on either side have a median of at least {cosine(seam.far)}"
    return f"{where}: it divides the table. {lowest}; {far}"


def _of_dips(found: list[Break]) -> tuple[Finding, ...]:
    """A light finding on the strongest break that is no seam."""
    if not found:
        return ()
    dip = found[0]
    pair = f"Positions {dip.deepest} and {dip.deepest + 1} have a cosine of {cosine(dip.lowest)}"
    text = (
        f"{pair}; the median of neighbours is {cosine(dip.before)} before them and"
        f" {cosine(dip.after)} after{_of_ratio(dip)}"
    )
    more = (
        f" {len(found) - 1} more {'pair stands' if len(found) == 2 else 'pairs stand'} out."
        if len(found) > 1
        else ""
    )
    return (Finding(f"{text}.{more}", ("dips",), WEIGHT_OF_DIP, spots=(_spot(dip),)),)


def _of_ratio(found: Break) -> str:
    return (
        ""
        if 1.0 / STEP < found.ratio < STEP
        else f", and norms change by a factor of {significant(found.ratio, 2)}"
    )


def _of_spikes(single: Array, cosines: Floats, of_inliers: Floats) -> tuple[Finding, ...]:
    """A finding on each of the first ``MOST_SPIKES`` outliers between inliers.

    single: (n_spikes,), int, positions; cosines, of_inliers: (n_pairs,), of all neighbours, and NaN
        beside outliers
    """
    findings = []
    for position in single[:MOST_SPIKES]:
        before, after = cosines[position - 1 : position + 1]
        usual = f"where neighbours usually have {cosine(float(np.nanmedian(of_inliers)))}"
        text = (
            f"Position {position} is an outlier: its cosines with its neighbours are only"
            f" {cosine(before)} and {cosine(after)}, {usual}."
        )
        spot = Spot(
            FIGURE, float(position) + (0.5 if after < before else -0.5), float(min(before, after))
        )
        findings.append(Finding(text, ("spikes", "typical"), 0.8, spots=(spot,)))
    return tuple(findings)


def _of_ends(metrics: tuple[Metric, ...], n_positions: int) -> tuple[Finding, ...]:
    values = {metric.key: metric.value for metric in metrics}
    typical, findings = values["typical"] or 0.0, []
    for key, name, other in (
        ("first", "The first position", "second"),
        ("last", f"The last position, {n_positions - 1},", "one before"),
    ):
        value = values[key]
        if value is not None and typical - value > APART:
            text = (
                f"{name} is unlike the {other}: their cosine is {cosine(value)}, where neighbours"
                f" usually have {cosine(typical)}."
            )
            spot = Spot(FIGURE, 0.5 if key == "first" else n_positions - 1.5, value)
            findings.append(
                Finding(
                    text,
                    (key, "typical"),
                    0.7 if typical - value > 2.0 * APART else 0.4,
                    spots=(spot,),
                )
            )
    return tuple(findings)


def _of_even(cosines: Floats) -> tuple[Finding, ...]:
    """A light finding where the ``cosines`` (n_pairs,) of all neighbours are a level line."""
    if np.nanmax(cosines) - np.nanmin(cosines) > EVEN:
        return ()
    text = (
        f"The cosine of neighbours is {cosine(float(np.nanmedian(cosines)))} all along the table."
    )
    return (Finding(text, ("typical",), WEIGHT_OF_EVEN),)


def _of_norm(
    steps: Floats, at: int, boundaries: Sequence[int], *, is_sudden: bool
) -> tuple[Finding, ...]:
    """A finding on the largest change of the norm that is no seam's, where it is beyond what
    windows of unchanging norms show by chance in a hundredth of tables.

    steps: (n_pairs,), log ratios; at: the position before it, and whether norms change there and
        not all along; boundaries: of seams
    """
    sizes = np.abs(steps[~np.isnan(steps)])
    index = int(np.nanargmax(np.abs(steps)))
    ratio = float(np.exp(steps[index]))
    usual = NORMAL * float(np.median(sizes)) * two_sided(ALARM / sizes.size)
    if 1.0 / STEP < ratio < STEP or abs(steps[index]) < usual or not is_sudden:
        return ()
    if any(abs(at - boundary) <= WINDOW for boundary in boundaries):
        return ()
    change = (
        f"grow {significant(ratio, 2)}-fold"
        if ratio > 1.0
        else f"shrink to {rounded(100.0 * ratio, 0, 0.0, 100.0)} %"
    )
    text = (
        f"Norms {change} at position {at + 1} (medians of the {WINDOW} positions on either side)."
    )
    return (Finding(text, ("norm_at", "norm_step"), 0.6),)


def draw(results: Results) -> "Figure":
    """Cosine of each position with the next, one line per table, with its seams, dips and spikes
    marked.
    """
    figure, (axes,) = panels(1, height=3.4)
    points: list[Point] = []
    for label, result, dash in with_line_styles(results):
        cosines, bounds = result.arrays["adjacent"], result.arrays["seams"]
        axes.plot(
            np.arange(cosines.size) + 0.5,
            cosines,
            color=label.colour,
            linestyle=dash,
            label=label.title,
            linewidth=0.9,
        )
        ends = np.unique(bounds)
        axes.plot(
            ends + 0.5,
            cosines[ends],
            "o",
            color=label.colour,
            markersize=4.5,
            markerfacecolor=PAPER,
            label=ASIDE,
        )
        at_dips = np.unique(result.arrays["dips"])
        axes.plot(
            at_dips + 0.5,
            cosines[at_dips],
            "v",
            color=label.colour,
            markersize=4.5,
            markerfacecolor=PAPER,
            label=ASIDE,
        )
        of_spikes = np.concatenate([result.arrays["spikes"] - 1, result.arrays["spikes"]])
        axes.plot(
            of_spikes + 0.5,
            cosines[of_spikes],
            "x",
            color=label.colour,
            markersize=4.5,
            label=ASIDE,
        )
        if len(results) <= MOST_NAMED:
            points += [
                Point(f"{pair}|{pair + 1}", pair + 0.5, cosines[pair]) for pair in bounds[:, 0]
            ]
    label_points(axes, points)
    axes.set(xlabel="position", ylabel="cosine with the next position", ylim=VIEW)
    axes.grid(axis="y")
    legend_below(figure)
    return figure


def alt(results: Results) -> str:
    """Alternative text: median cosine and seams of each table."""
    summaries = (
        f"{label.title}: median {cosine(float(np.nanmedian(result.arrays['adjacent'])))}, "
        + (", ".join(f"seam at {_pairs(*pairs)}" for pairs in result.arrays["seams"]) or "no seam")
        + "".join(f", a larger step at {_pairs(*pairs)}" for pairs in result.arrays["dips"])
        + f", {result.arrays['spikes'].size} single outliers"
        for label, result in results.items()
    )
    return (
        "Cosine of each position with the next, as lines with seams marked. "
        + "; ".join(summaries)
        + "."
    )


def _pairs(first: int, last: int) -> str:
    """The pairs of a break, each by both of its positions."""
    ends = [f"{pair}|{pair + 1}" for pair in (first, last)]
    return " to ".join(dict.fromkeys(ends))


def _to_123_and_from_130(form: PositionTable) -> list[float]:
    """Mean cosine of neighbours from position 1 to 123, and from 130 on."""
    cosines = compute_alone(compute, form).arrays["adjacent"]
    return [float(cosines[1:123].mean()), float(cosines[130:].mean())]


ANALYSIS = Analysis(
    key="seams",
    title="Seams",
    question="Does the table break between one position and the next?",
    source=(
        "Ours; the sequence length in BERT's training is from Devlin et al. 2019 (arXiv"
        " 1810.04805), appendix A.2."
    ),
    stage="measure",
    order=53,
    answer=Headline(
        "depth",
        "Deepest break",
        low="breaks by a cosine of only {} between neighbours",
        high="breaks by a cosine of {} between neighbours",
        least="smallest",
        most="largest",
    ),
    forms=(PositionTable,),
    compute=compute,
    follows=frozenset({"adjacent"}),
    figures=(
        FigureSpec(
            key=FIGURE,
            caption=(
                "Cosine of each position with the next; circles mark seams, triangles larger steps,"
                " crosses single outliers."
            ),
            how_to_read=(
                "A level line means equal steps all along the table. Lasting falls or rises, and"
                " dips that divide the table, are seams; other dips are larger steps or outliers."
                " Dips at the very ends are common and do not count."
            ),
            alt=alt,
            python=(
                "units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)\n"
                "plt.plot(np.sum(units[:-1] * units[1:], axis=1))"
            ),
            draw=draw,
            overlays=True,
            varies=lambda result: float(np.ptp(result.arrays["adjacent"])) > EVEN,
        ),
    ),
    per_figure=6,
    beside_reference=False,
    published=(
        Published(
            "Mean cosine of neighbours of a DistilBERT's table from position 1 to 123, and from"
            " 130 on",
            ("0.7027", "0.4071"),
            COSINES,
            _to_123_and_from_130,
            sha256=DISTILBERT,
        ),
    ),
    overlay=Overlay(
        "position",
        "cosine with the next position",
        lambda result: (np.arange(result.arrays["adjacent"].size), result.arrays["adjacent"]),
        "A level line means equal steps all along the table. A lasting fall or rise is a seam. Dips"
        " at the very ends are common.",
    ),
)
