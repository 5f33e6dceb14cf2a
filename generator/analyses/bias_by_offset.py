"""Bias by offset: what each head adds to the attention logit."""

from collections.abc import Iterator, Mapping
from math import ceil, sqrt
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
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import OffsetBias
from generator.figures.canvas import Axes, Figure
from generator.figures.lines import hidden, mark_beyond
from generator.figures.panels import head_colours, image_panels, panels, wrapped
from generator.figures.scene import Line, Panel, StraightLine, add
from generator.figures.style import DIVERGING, STYLE
from generator.numerics.arrays import Floats, finite
from generator.numerics.certainty import groups_of, is_beyond_chance, share_of_groups
from generator.text import in_words

WORDING = Wording("analyses/bias_by_offset.md.jinja")
SHOWN = 32  # positions in the matrices: enough to show how buckets widen
MOST_HEADS = 16
MOST_CURVES = 128  # of all panels together; with more heads, only every k-th is drawn
MOST_NAMED = 10
MOST_PANELS, COLUMNS = 32, 4  # of heads; with more, only every k-th is drawn
STRAIGHT = 6  # decimals to which the slopes of a straight line agree, relative to the largest bias
MARGIN = 0.04  # of an empty side, so that its edge is visible
SPAN = 132  # offsets on either side: T5's last bucket begins within
LIMIT = 10.0  # logit; e^10 is a factor of 22,000 in the attention weight, next to always or never


def compute(subject: Subject[OffsetBias]) -> Result:
    """Range of the bias, its extremes relative to each head's median, and the offset that each head
    favours.

    arrays: values (n_heads, n_offsets), logits; offsets (n_offsets,), key minus query, in
        positions; matrices (n_heads, n, n), n ≤ ``SHOWN``, query by key, NaN for keys that a causal
        mask hides; peaks (n_heads,), offset of the largest bias, on a tie the nearest
    errors: NotApplicableError when the bias is not finite
    """
    form = subject.encoding.form
    values = finite(form.values, "the bias")
    nearest_first = np.argsort(np.abs(form.offsets), kind="stable")
    peaks = form.offsets[nearest_first[values[:, nearest_first].argmax(axis=1)]]
    n_near = int(np.count_nonzero(np.abs(peaks) <= 1))
    spread = float(values.max() - values.min())
    n_heads = len(values)
    chance = share_of_groups(groups_of(values), np.abs(form.offsets) <= 1)
    relative = values - np.median(values, axis=1, keepdims=True)  # (n_heads, n_offsets)
    return Result(
        metrics=(
            Metric("spread", "Largest minus smallest bias", spread, "logit"),
            Metric("largest", "Largest bias at the offsets drawn", values.max(), "logit"),
            Metric("smallest", "Smallest bias at the offsets drawn", values.min(), "logit"),
            Metric("above", "Largest excess over the head's median", relative.max(), "logit"),
            Metric("below", "Largest deficit below the head's median", -relative.min(), "logit"),
            Metric(
                "near_heads",
                "Heads with their largest bias within one position",
                n_near / n_heads * 100.0,
                "%",
            ),
            Metric(
                "near_chance",
                "Heads with their largest bias within one position, of random numbers",
                100.0 * chance,
                "%",
            ),
            Metric("heads", "Heads", n_heads),
            Metric(
                "near_error",
                "Standard error of that share by chance",
                100.0 * sqrt(chance * (1.0 - chance) / n_heads),
                "%",
            ),
        ),
        arrays={
            "values": values,
            "offsets": form.offsets,
            "matrices": form.kernel(SHOWN),
            "peaks": peaks,
        },
        findings=(
            *_of_peaks(values, n_near, chance),
            *_extreme(form, relative, 1.0),
            *_extreme(form, relative, -1.0),
        )
        if form.beyond != "linear"  # What a rule makes true is no finding.
        else (),
    )


def _of_peaks(values: Floats, n_near: int, chance: float) -> Iterator[Finding]:
    """A finding on heads that peak nearby, where these are more or fewer than of random numbers."""
    if not np.ptp(values, axis=1).any():
        yield Finding(WORDING("same"), ("spread",), 0.9)
    elif is_beyond_chance(n_near, len(values), chance):
        text = WORDING("near", n_near=n_near, n_heads=len(values), chance=100.0 * chance)
        yield Finding(text, ("near_heads", "near_chance"), 0.4)


def _extreme(form: OffsetBias, relative: Floats, sign: float) -> Iterator[Finding]:
    """A finding when a head lies more than ``LIMIT`` above (sign 1) or below (−1) its own median.

    relative: (n_heads, n_offsets), bias minus the median of its head
    """
    farthest = (sign * relative).max(axis=1)  # (n_heads,)
    if farthest.max() <= LIMIT:
        return
    head, n_more = int(farthest.argmax()), int(np.count_nonzero(farthest > LIMIT)) - 1
    index = int((sign * relative[head]).argmax())
    low, high = _alike(form, head, index)
    text = WORDING(
        "strong",
        head=head,
        is_above=sign > 0,
        low=low,
        high=high,
        distance=farthest[head],
        factor=in_words(np.exp(min(farthest[head], 100.0))),
        n_more=n_more,
        limit=LIMIT,
    )
    side = "above" if sign > 0 else "below"
    yield Finding(text, (side,), 0.7, spots=_spot(form, head, index))


def _spot(form: OffsetBias, head: int, index: int) -> tuple[Spot, ...]:
    """The nearest of all offsets with the bias of ``head`` at ``index``, where a panel of its own
    shows the head.
    """
    alike = np.flatnonzero(form.values[head] == form.values[head, index])
    nearest = alike[np.argmin(np.abs(form.offsets[alike]))]
    panel, left_out = divmod(head, _step(form.values))
    if left_out or abs(form.offsets[nearest]) > SPAN or not _is_curved(form.values):
        return ()
    height = float(np.clip(form.values[head, nearest], -LIMIT, LIMIT))
    return (Spot("curves", float(form.offsets[nearest]), height, panel),)


def _alike(form: OffsetBias, head: int, index: int) -> tuple[int | None, int | None]:
    """The lowest and the highest of the offsets around ``index`` with the same bias; None for that
    end of a side that they reach.
    """
    different = np.flatnonzero(form.values[head] != form.values[head, index])
    first = int(np.max(different[different < index], initial=-1)) + 1
    last = int(np.min(different[different > index], initial=form.offsets.size)) - 1
    low, high = (int(form.offsets[end]) for end in (first, last))
    if first == 0 and high < 0:
        return None, high
    return low, None if last == form.offsets.size - 1 and low > 0 else high


def draw_curves(results: Results) -> Figure:
    """Bias by offset: one panel per checkpoint, or per head of a single checkpoint whose heads are
    no straight lines.
    """
    span, limits = _view(results)
    single = len(results) == 1
    if single and _is_curved(next(iter(results.values())).arrays["values"]):
        return _draw_heads(*next(iter(results.items())), span, limits)
    figure, axes = panels(len(results), columns=1 if single else 2, height=3.6 if single else 2.7)
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        n_heads = len(result.arrays["values"])
        colours = head_colours(n_heads) if single else [label.colour] * n_heads
        names = {
            head: f"head {head}"
            if single and (n_heads <= MOST_NAMED or head in (0, n_heads - 1))
            else hidden(f"head {head}")
            for head in range(0, n_heads, ceil(n_heads * len(results) / MOST_CURVES))
        }
        curves = {head: (colours[head], name) for head, name in names.items()}
        _draw_curves(ax, result, curves, (span, limits), width=1.2)
        ax.set_title(wrapped(label.title))
        ax.set(xlabel="offset: key minus query (positions)", ylabel="bias (logit)")
    if single:
        axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _draw_curves(
    axes: Axes,
    result: Result,
    curves: Mapping[int, tuple[str, str]],
    view: tuple[tuple[float, float], tuple[float, float]],
    width: float,
) -> None:
    """Curves of some heads, with triangles where they leave the view.

    curves: colour and name, by head; view: limits of both axes
    """
    visible = np.abs(result.arrays["offsets"]) <= SPAN
    offsets, values = result.arrays["offsets"][visible], result.arrays["values"][:, visible]
    lines = []
    for head, (colour, name) in curves.items():
        steps = np.count_nonzero(np.diff(values[head])) < 0.8 * (offsets.size - 1)
        style: dict[str, Any] = {"drawstyle": "steps-mid" if steps else "default", "width": width}
        lines.append(Line(offsets, values[head], colour=colour, name=name, **style))
    add(axes, *lines, StraightLine("x", 0), StraightLine("y", 0))
    axes.set(xlim=view[0], ylim=view[1])
    mark_beyond(axes, lines, view[1])


def _draw_heads(
    label: Label, result: Result, span: tuple[float, float], limits: tuple[float, float]
) -> Figure:
    """A small panel for each head, and the axes of all along the outer edges."""
    heads = range(0, len(result.arrays["values"]), _step(result.arrays["values"]))
    figure, axes = panels(len(heads), columns=COLUMNS, height=1.75)
    for index, (ax, head) in enumerate(zip(axes, heads, strict=True)):
        curves = {head: (label.colour, hidden(f"head {head}"))}
        _draw_curves(ax, result, curves, (span, limits), width=STYLE["lines.linewidth"])
        ax.set_title(f"head {head}", fontsize=9)
        if index % COLUMNS == 0:
            ax.set_ylabel("bias (logit)")
        if index + COLUMNS >= len(axes):
            ax.set_xlabel("offset (positions)")
    return figure


def _step(values: Floats) -> int:
    """Every how many heads have a panel of their own."""
    return ceil(len(values) / MOST_PANELS)


def _is_curved(values: Floats) -> bool:
    """Whether some of several heads is neither a straight line nor two that meet.

    values: (n_heads, n_offsets)
    """
    slopes = np.diff(values, axis=1) / (np.max(np.abs(values)) or 1.0)
    return len(values) > 1 and any(np.unique(np.round(head, STRAIGHT)).size > 2 for head in slopes)


def _view(results: Results) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits of offsets and of biases, common to all panels; a side without values gets only a
    margin.
    """
    offsets, values = (
        np.concatenate([result.arrays[name].ravel() for result in results.values()])
        for name in ("offsets", "values")
    )
    return _sides(offsets, float(SPAN)), _sides(values, LIMIT)


def _sides(values: np.ndarray, limit: float) -> tuple[float, float]:
    if not values.any():
        return -limit, limit
    return -limit if values.min() < 0 else -MARGIN * limit, (
        limit if values.max() > 0 else MARGIN * limit
    )


def draw_matrices(results: Results) -> Figure:
    """Bias as a matrix, query by key: the heads of a single checkpoint, or the mean over heads of
    several.
    """
    images = []
    for label, result in results.items():
        matrices = result.arrays["matrices"]  # (n_heads, n, n)
        if len(results) > 1:
            images.append(Panel(label.title, matrices.mean(axis=0)))
        else:
            heads = enumerate(matrices[:MOST_HEADS])
            images += [Panel(f"head {head}", matrix) for head, matrix in heads]
    labels = ("key position", "query position", "bias (logit)")
    return image_panels(images, (-LIMIT, LIMIT), DIVERGING, labels, square=True)


def _summary(result: Result) -> dict[str, Any]:
    values = result.arrays["values"]
    return {
        "n_heads": len(values),
        "smallest": values.min(),
        "largest": values.max(),
        "near_heads": result.value("near_heads"),
        "n_cut": int(np.count_nonzero(np.abs(values).max(axis=1) > LIMIT)),
        "limit": LIMIT,
    }


ANALYSIS = Analysis(
    key="bias_by_offset",
    stage="see",
    after="positions_and_words",
    answer=Headline("near_heads", WORDING, chance=Chance("near_chance", 100.0, total="heads")),
    forms=(OffsetBias,),
    compute=compute,
    figures=(
        FigureSpec(
            "curves",
            WORDING.figure("curves", _summary),
            draw_curves,
            python=(
                'plt.plot(arrays["bias_by_offset.offsets"], arrays["bias_by_offset.values"].T)'
            ),
        ),
        FigureSpec(
            "matrices",
            WORDING.figure("matrices"),
            draw_matrices,
            python=('plt.imshow(arrays["bias_by_offset.matrices"].mean(axis=0), cmap="RdBu_r")'),
        ),
    ),
    per_figure=6,
)
