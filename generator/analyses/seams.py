"""Seams: breaks of the table from one position to the next that change it, or divide it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

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
    Overlay,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.oracles import COSINES, DISTILBERT
from generator.contracts.results import compute_alone
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.canvas import Axes
from generator.figures.charts import Curves
from generator.figures.lines import label_points
from generator.figures.scene import Dash, Line
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

WORDING = Wording("analyses/seams.md.jinja")
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
SHUFFLES = 16  # random orders of the same vectors
BY_CHANCE = ("depth_spread", 1)  # One table is as far from their mean as one order is.
LAST_SEEN = 127  # The last position of BERT's short training sequences.
N_POSITIONS = 512  # of BERT's table
SHORT = ("bert", "distilbert")  # Families whose published models were trained on 128 tokens.

KINDS = {"seams": "Seams", "slopes": "Slopes", "dips": "Single larger steps"}
STRONGEST, NONE = "at the strongest seam or slope", "there is no seam or slope"
TITLES = {
    "before": "Median cosine before the strongest seam or slope",
    "after": "Median cosine after the strongest seam or slope",
    "lowest": f"Lowest cosine {STRONGEST}",
}


def compute(subject: Subject[PositionTable]) -> Result:
    """Cosine of neighbouring positions, where it breaks (seams, slopes and dips), single positions
    unlike both neighbours, and where the norm changes.

    arrays: adjacent (n_positions − 1,), cosine with the next position, without a tail that holds
        nothing; seams (n_seams, 2), slopes (n_slopes, 2) and dips (n_dips, 2), int, first and last
        pair of each, of a slope those between the levels; spikes (n_spikes,), int, positions;
        beside_spikes (n_spikes, 2), their cosines with the positions before and after
    errors: NotApplicableError when positions form a grid, are too few, or are mostly zero, or the
        table is not finite
    """
    form = _trained(subject.encoding.form)
    vectors = form.vectors
    cosines, of_inliers = adjacent_cosines(vectors), adjacent_cosines(form.inliers.vectors)
    depth = break_depths(of_inliers)
    if np.isnan(depth).all():
        raise NotApplicableError("zero vectors leave no run of adjacent positions with a cosine")
    steps, at, is_sudden = norm_change(row_norms(vectors, largest(vectors)))
    found = breaks(form.inliers.vectors, of_inliers, depth, steps)
    found = _lasting(form, found, steps)
    by_kind = {kind: [each for each in found if each.kind == kind] for kind in KINDS}
    changes = [each for each in found if each.kind != "dips"]
    single = spikes(form.outliers, cosines, of_inliers)
    typical = float(np.median(cosines[~np.isnan(cosines)]))
    metrics = (
        Metric("typical", "Median cosine of adjacent positions", typical),
        *(Metric(kind, title, len(by_kind[kind])) for kind, title in KINDS.items()),
        Metric("spikes", "Outliers between two inliers", single.size),
        *_strongest(depth, found[0].deepest if found else int(np.nanargmax(depth))),
        *_by_chance(form.without_outliers.vectors),
        Metric(
            "level_step",
            f"Change of level {STRONGEST} (cosine, after − before)",
            changes[0].after - changes[0].before if changes else None,
            reason=NONE,
        ),
        *(
            Metric(
                key,
                TITLES[key],
                getattr(changes[0], key) if changes else None,
                reason=NONE,
            )
            for key in ("before", "after", "lowest")
        ),
        *_of_the_ends(cosines),
        *_of_the_norm(steps, at),
    )
    bounds = {kind: _bounds(of_kind) for kind, of_kind in by_kind.items()}
    beside = np.stack([cosines[single - 1], cosines[single]], axis=1)
    arrays = {"adjacent": cosines, **bounds, "spikes": single, "beside_spikes": beside}
    family = subject.family if len(vectors) == N_POSITIONS else ""
    return Result(
        metrics,
        arrays,
        (
            *_of_changes(changes, found, family),
            *_of_dips(by_kind["dips"]),
            *_of_spikes(single, cosines, of_inliers),
            *_of_ends(cosines, typical),
            *_of_even(cosines),
            *_of_norm(steps, at, [each.boundary for each in changes], is_sudden=is_sudden),
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
                abs(each.deepest - other.deepest) <= 1 and each.kind == other.kind
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
    """(n, 2), int, first and last pair of each; of a slope, of those on its way."""
    ends = [
        (each.on_its_way[0], each.on_its_way[-1])
        if each.kind == "slopes"
        else (each.first, each.last)
        for each in found
    ]
    return np.array(ends, dtype=np.int64).reshape(-1, 2)


def _strongest(depth: Floats, index: int) -> Iterator[Metric]:
    """Position and depth of the strongest break; no position where the depth is rounding.

    depth: (n_pairs,); index: the deepest pair of the strongest break that is significant, or of all
        where none is
    """
    is_flat = depth[index] <= FLAT
    contrast = depth[index] / variation(depth)[index]
    yield Metric(
        "at",
        "Strongest break, or deepest dip without one, after position",
        None if is_flat else index,
        reason="no step is larger than those around it",
    )
    title = "Depth of the strongest break, or of the deepest dip without one (cosine)"
    yield Metric("depth", title, 0.0 if is_flat else depth[index])
    title = "Contrast of that break or dip (depth ÷ typical variation)"
    yield Metric("contrast", title, 0.0 if is_flat else contrast)


def _by_chance(vectors: Floats) -> Iterator[Metric]:
    """Depth of the strongest break of the same vectors in ``SHUFFLES`` random orders.

    vectors: (n_inliers, d_model)
    """
    random = np.random.default_rng(0)
    depths = [
        np.nanmax(break_depths(adjacent_cosines(random.permutation(vectors))), initial=0.0)
        for _ in range(SHUFFLES)
    ]
    yield Metric("depth_shuffled", "Depth with shuffled positions (cosine)", float(np.mean(depths)))
    title = "Standard deviation of that depth from one order to another"
    yield Metric("depth_spread", title, float(np.std(depths, ddof=1)))


def _of_the_ends(cosines: Floats) -> Iterator[Metric]:
    for key, value in (("first", cosines[0]), ("last", cosines[-1])):
        title, reason = f"Cosine of the {key} two positions", "one of the two vectors is zero"
        yield Metric(key, title, None if np.isnan(value) else value, reason=reason)


def _of_the_norm(steps: Floats, at: int) -> Iterator[Metric]:
    """Position and ratio of the largest change of the norm.

    steps: (n_pairs,), log ratios; at: the position before it
    """
    step = steps[int(np.nanargmax(np.abs(steps)))]
    is_flat = abs(step) <= FLAT
    yield Metric(
        "norm_at",
        "Largest change of the median norm after position",
        None if is_flat else at,
        reason="the median norm never changes",
    )
    title = f"Ratio of median norms at the largest change ({WINDOW} positions after ÷ before)"
    yield Metric("norm_step", title, 1.0 if is_flat else float(np.exp(step)))


def _of_changes(found: list[Break], breaks: list[Break], family: str) -> Iterator[Finding]:
    """One finding per seam and slope; a seam with an explanation where the family, the position and
    a lower level after it all fit it.

    found: seams and slopes, strongest first; breaks: all, strongest first
    family: of the model, or nothing where its table has not the size of BERT's
    """
    for rank, each in enumerate(found):
        is_seam = each.kind == "seams"
        explained = each.boundary == LAST_SEEN and each.changes_level and each.after < each.before
        lengths = range(each.first + 1, each.last + 2)  # at which training sequences may have ended
        weight = 0.9 if rank == 0 and is_seam else 0.6
        if is_seam and any(length & (length - 1) == 0 for length in lengths):  # a power of two
            weight = 1.0
        rests_on = (
            each.kind,
            *(() if rank else ("level_step", "before", "after", "lowest")),
            *(("at", "depth") if each is breaks[0] else ()),
        )
        context = WORDING(f"trained_like_{family}") if explained and family in SHORT else ""
        if is_seam:
            text = WORDING("seam", seam=each, far=FAR, ratio=_unusual(each.ratio))
        else:
            text = WORDING("slope", slope=each, ratio=_unusual(each.ratio))
        yield Finding(text, rests_on, weight, context if is_seam else "", (_spot(each),))


def _spot(found: Break) -> Spot:
    return Spot(FIGURE, found.deepest + 0.5, found.lowest)


def _of_dips(found: list[Break]) -> Iterator[Finding]:
    """A light finding on the strongest break that is no seam."""
    if found:
        dip, n_more = found[0], len(found) - 1
        text = WORDING("dip", dip=dip, n_more=n_more, ratio=_unusual(dip.ratio))
        yield Finding(text, ("dips",), WEIGHT_OF_DIP, spots=(_spot(dip),))


def _unusual(ratio: float) -> float | None:
    """A ratio of norms that is worth a clause; None for any other."""
    return None if 1.0 / STEP < ratio < STEP else ratio


def _of_spikes(single: Array, cosines: Floats, of_inliers: Floats) -> Iterator[Finding]:
    """A finding on each of the first ``MOST_SPIKES`` outliers between inliers.

    single: (n_spikes,), int, positions; cosines, of_inliers: (n_pairs,), of all neighbours, and NaN
        beside outliers
    """
    for position in single[:MOST_SPIKES]:
        before, after = cosines[position - 1 : position + 1]
        usual = float(np.nanmedian(of_inliers))
        text = WORDING("spike", position=position, before=before, after=after, usual=usual)
        place = float(position) + (0.5 if after < before else -0.5)
        spot = Spot(FIGURE, place, float(min(before, after)))
        rows = (int(position),)
        yield Finding(text, ("spikes", "typical"), 0.8, spots=(spot,), rows=rows)


def _of_ends(cosines: Floats, typical: float) -> Iterator[Finding]:
    for key, pair in (("first", 0), ("last", cosines.size - 1)):
        value = float(cosines[pair])
        if typical - value > APART:
            n_lower = int(np.count_nonzero(cosines < value))
            values = {"position": pair + 1, "value": value, "usual": typical, "n_lower": n_lower}
            text = WORDING("of_ends", which=key, **values)
            weight = 0.7 if typical - value > 2.0 * APART else 0.4
            yield Finding(text, (key, "typical"), weight, spots=(Spot(FIGURE, pair + 0.5, value),))


def _of_even(cosines: Floats) -> Iterator[Finding]:
    """A light finding where the ``cosines`` (n_pairs,) of all neighbours are a level line."""
    if np.nanmax(cosines) - np.nanmin(cosines) <= EVEN:
        text = WORDING("even", median=float(np.nanmedian(cosines)))
        yield Finding(text, ("typical",), WEIGHT_OF_EVEN)


def _of_norm(
    steps: Floats, at: int, boundaries: Sequence[int], *, is_sudden: bool
) -> Iterator[Finding]:
    """A finding on the largest change of the norm that is no seam's, where it is beyond what
    windows of unchanging norms show by chance in a hundredth of tables.

    steps: (n_pairs,), log ratios; at: the position before it, and whether norms change there and
        not all along; boundaries: of seams
    """
    sizes = np.abs(steps[~np.isnan(steps)])
    index = int(np.nanargmax(np.abs(steps)))
    ratio = float(np.exp(steps[index]))
    usual = NORMAL * float(np.median(sizes)) * two_sided(ALARM / sizes.size)
    if _unusual(ratio) is None or abs(steps[index]) < usual or not is_sudden:
        return
    if any(abs(at - boundary) <= WINDOW for boundary in boundaries):
        return
    text = WORDING("norms", ratio=ratio, position=at + 1, window=WINDOW)
    yield Finding(text, ("norm_at", "norm_step"), 0.6)


def _between_neighbours(result: Result) -> tuple[Array, Array]:
    cosines = result.arrays["adjacent"]
    return np.arange(cosines.size) + 0.5, cosines


def _breaks(label: Label, result: Result, _: Dash) -> Iterator[Line]:
    """The ends of seams, slopes and dips, and the pairs of spikes."""
    arrays, cosines = result.arrays, result.arrays["adjacent"]
    for pairs, marker in (
        (np.unique(arrays["seams"]), "o"),
        (np.unique(arrays["slopes"]), "s"),
        (np.unique(arrays["dips"]), "v"),
        (np.concatenate([arrays["spikes"] - 1, arrays["spikes"]]), "x"),
    ):
        style: dict[str, Any] = {"marker": marker, "size": 4.5, "is_hollow": marker != "x"}
        style |= {"colour": label.colour, "is_joined": False, "is_aside": True}
        yield Line(pairs + 0.5, cosines[pairs], **style)


def _name_seams(axes: Axes, results: Results) -> None:
    points = [
        (f"{pair}|{pair + 1}", (pair + 0.5, result.arrays["adjacent"][pair]))
        for result in results.values()
        for pair in result.arrays["seams"][:, 0]
    ]
    label_points(axes, points if len(results) <= MOST_NAMED else [])


def _from_position_0(result: Result) -> tuple[Array, Array]:
    return np.arange(result.arrays["adjacent"].size), result.arrays["adjacent"]


CURVES = Curves(
    _between_neighbours,
    x="position",
    y="cosine with the next position",
    ylim=VIEW,
    height=3.4,
    style={"width": 0.9},
    above=_breaks,
    finish=_name_seams,
)


def _summary(result: Result) -> dict[str, Any]:
    return {
        "median": float(np.nanmedian(result.arrays["adjacent"])),
        "seams": result.arrays["seams"],
        "slopes": result.arrays["slopes"],
        "dips": result.arrays["dips"],
        "n_spikes": result.arrays["spikes"].size,
    }


def _to_123_and_from_130(form: PositionTable) -> list[float]:
    """Mean cosine of neighbours from position 1 to 123, and from 130 on."""
    cosines = compute_alone(compute, form).arrays["adjacent"]
    return [float(cosines[1:123].mean()), float(cosines[130:].mean())]


ANALYSIS = Analysis(
    key="seams",
    stage="measure",
    after="similarity_by_distance",
    answer=Headline("depth", WORDING, chance=Chance("depth_shuffled", shuffles=BY_CHANCE)),
    forms=(PositionTable,),
    compute=compute,
    follows=frozenset({"adjacent"}),
    figures=(
        FigureSpec(
            FIGURE,
            WORDING.figure(FIGURE, _summary),
            CURVES,
            python=(
                "units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)\n"
                "plt.plot(np.sum(units[:-1] * units[1:], axis=1))"
            ),
            overlays=True,
            varies=lambda result: float(np.ptp(result.arrays["adjacent"])) > EVEN,
        ),
    ),
    per_figure=6,
    beside_reference=False,
    oracles=(
        Oracle(
            "Mean cosine of adjacent positions of a DistilBERT's table, from position 1 to 123 and"
            " from 130 on",
            ("0.7027", "0.4071"),
            COSINES,
            _to_123_and_from_130,
            sha256=DISTILBERT,
        ),
    ),
    overlay=Overlay(
        "position",
        "cosine with the next position",
        _from_position_0,
    ),
)
