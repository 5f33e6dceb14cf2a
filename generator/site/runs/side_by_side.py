"""Training runs side by side: the same measure over the steps of each, and their kernels at the
same steps.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from generator.cache.fingerprint import of_parts
from generator.contracts import (
    Analysis,
    Figure,
    FigureSpec,
    Results,
    Run,
    RunEncoding,
    RunMetric,
    RunUse,
)
from generator.contracts.results import error_key
from generator.contracts.wording import GivenTexts, Wording
from generator.figures.lines import legend_below
from generator.figures.panels import panels, wrapped
from generator.figures.scene import Line, StraightLine, add
from generator.figures.style import GRID, SERIES
from generator.site.runs.courses import Known
from generator.site.runs.run_figures import COLUMNS, DISTANCE, Curve, Values, draw_metrics, spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

WORDING = Wording("wording/runs.jinja")
MOST_LINES = 8  # as many as there are colours
MOST_PANELS = 6
MOST_SENTENCES = 3
APART = 0.1  # of the larger size: what differs by less is not told
DATA = "data/atlas.json"


@dataclass(frozen=True)
class SideOfRun:
    """An encoding of a run, or a part of its model, beside those of other runs.

    title: of the run, with the name of the encoding or part where the run has several
    """

    title: str
    run: Run
    of: RunEncoding | RunUse

    def metric(self, key: str) -> RunMetric | None:
        """The metric with this key; None without a value."""
        found = self.of.metric(key)
        return None if found is None or found.last is None else found

    def curve(self, key: str) -> Curve:
        """A metric over the steps; without points where it has none."""
        metric = self.metric(key)
        return (
            (self.title, tuple(self.run.steps), metric.values) if metric else (self.title, (), ())
        )


@dataclass(frozen=True)
class SideBySide:
    """What the page shows. sentences: how the runs differ at their ends; n_left_out: sides beyond
    ``MOST_LINES``
    """

    sentences: tuple[str, ...]
    figures: tuple[Figure, ...]
    n_left_out: int


def side_by_side(
    runs: Sequence[Run], main: Collection[str], measures: Sequence[Analysis] = ()
) -> SideBySide:
    """The encodings of all ``runs``, and what their models do.

    main: keys of the metrics of encodings that may be drawn; measures: of models, each with a
        figure
    """
    encodings = [side for run in runs for side in _sides(run, run.encodings)]
    uses = [side for run in runs for side in _sides(run, run.uses)]
    shown, used = encodings[:MOST_LINES], uses[:MOST_LINES]
    keys = _shared(shown, main)
    of_use = [(use, _shared(used, {f"{use.key}.{key}" for key in use.units})) for use in measures]
    figures = (
        *_of_kernels(shown),
        *_of_metrics("measures", WORDING("measures_caption"), shown, keys),
        *(
            figure
            for use, of_one in of_use
            for figure in _of_metrics(
                f"use-{use.key}", WORDING("use_caption", title=use.title), used, of_one
            )
        ),
    )
    sentences = [
        *_sentences(shown, keys),
        *(text for _, of_one in of_use for text in _sentences(used, of_one)),
    ]
    return SideBySide(tuple(sentences), figures, len(encodings) - len(shown))


def _sides(run: Run, every: Sequence[RunEncoding] | Sequence[RunUse]) -> Iterator[SideOfRun]:
    for one in every:
        name = one.name if isinstance(one, RunEncoding) else one.part
        yield SideOfRun(f"{run.title}, {name}" if len(every) > 1 else run.title, run, one)


def _shared(sides: Sequence[SideOfRun], main: Collection[str]) -> list[str]:
    """Keys of the metrics of two runs or more, those in which their ends differ most first."""
    known = dict.fromkeys(
        metric.key for side in sides for metric in side.of.metrics if metric.key in main
    )
    runs = {key: {side.run.slug for side in sides if side.metric(key)} for key in known}
    shared = [key for key in known if len(runs[key]) > 1]
    return sorted(shared, key=lambda key: -_difference(_ends(sides, key)))[:MOST_PANELS]


def _ends(sides: Sequence[SideOfRun], key: str) -> list[tuple[float, str]]:
    """The last value of each side that has one, with its title, ascending."""
    found = ((side.metric(key), side.title) for side in sides)
    return sorted((metric.last or 0.0, title) for metric, title in found if metric)


def _difference(ends: Sequence[tuple[float, str]]) -> float:
    """Of the lowest and the highest value, relative to the larger size."""
    low, high = ends[0][0], ends[-1][0]
    return (high - low) / (max(abs(low), abs(high)) or 1.0)


def _sentences(sides: Sequence[SideOfRun], keys: Sequence[str]) -> Iterator[str]:
    """The lowest and the highest end of the measures that differ most, beyond their errors."""
    for key in keys[:MOST_SENTENCES]:
        ends = _ends(sides, key)
        if _difference(ends) < APART:
            return
        if not _is_sure(sides, key):
            continue
        metric = next(found for side in sides if (found := side.metric(key)))
        yield WORDING("ends", title=metric.title, unit=metric.unit, ends=(ends[0], ends[-1]))


def _is_sure(sides: Sequence[SideOfRun], key: str) -> bool:
    """Whether the ends of a metric of models differ beyond their standard errors. Those of
    encodings, all of which are read, have none.
    """
    known = [
        Known(0, value.last or 0.0, error.last or 0.0)
        for side in sides
        if (value := side.metric(key)) and (error := side.metric(error_key(key)))
    ]
    if len(known) < len(_ends(sides, key)):
        return isinstance(sides[0].of, RunEncoding)
    low, high = (pick(known, key=lambda one: one.value) for pick in (min, max))
    return high.is_above(low)


def _of_metrics(
    key: str, caption: str, sides: Sequence[SideOfRun], metrics: Sequence[str]
) -> Iterator[Figure]:
    """A panel for each metric, with a line for each run that has it."""
    found = [next(metric for side in sides if (metric := side.metric(name))) for name in metrics]
    if found:
        shown = tuple(
            (metric.title, metric.unit, tuple(side.curve(metric.key) for side in sides))
            for metric in found
        )
        yield _figure(
            key,
            caption,
            WORDING("measures_how_to_read"),
            WORDING("measures_alt", titles=[metric.title for metric in found]),
            partial(draw_metrics, shown),
        )


def _of_kernels(sides: Sequence[SideOfRun]) -> Iterator[Figure]:
    """Kernels by distance, of the quantity that most sides have, at steps of the run that has the
    fewest: every other run is shown at its nearest step.
    """
    encodings = [(side, side.of) for side in sides if isinstance(side.of, RunEncoding)]
    present = [(side, one) for side, one in encodings if one.present]
    if len({side.run.slug for side, _ in present}) < 2:
        return
    quantity = Counter(one.quantity for _, one in present).most_common(1)[0][0]
    alike = [(side, one) for side, one in present if one.quantity == quantity]
    if len({side.run.slug for side, _ in alike}) < 2:
        return
    steps = spread(min((_steps(*pair) for pair in alike), key=len), MOST_PANELS)
    shown = tuple(
        (step, tuple((side.title, _nearest(side, one, step)) for side, one in alike))
        for step in steps
    )
    names = [side.title for side, _ in alike]
    yield _figure(
        "kernels",
        WORDING("kernels_caption", n_steps=len(steps)),
        WORDING("kernels_how_to_read"),
        WORDING("kernels_alt", quantity=quantity, names=names, steps=steps),
        partial(_draw_kernels, shown, quantity),
    )


def _steps(side: SideOfRun, encoding: RunEncoding) -> list[int]:
    return [side.run.steps[index] for index in encoding.present]


def _nearest(side: SideOfRun, encoding: RunEncoding, step: int) -> Values:
    """The kernel at the checkpoint whose step is nearest: (n_distances,)."""
    index = min(encoding.present, key=lambda one: abs(side.run.steps[one] - step))
    return encoding.kernel[index]


def _figure(key: str, caption: str, how_to_read: str, alt: str, draw: "partial[Drawing]") -> Figure:
    spec = FigureSpec(key, GivenTexts(caption, how_to_read, alt), draw)
    return Figure(f"figures/runs/all-{key}", spec, alt, DATA, cache_key=(of_parts(draw.args),))


def _draw_kernels(
    shown: tuple[tuple[int, tuple[tuple[str, Values], ...]], ...], quantity: str, _: Results
) -> "Drawing":
    figure, axes = panels(len(shown), columns=COLUMNS, height=2.2)
    for number, (ax, (step, kernels)) in enumerate(zip(axes, shown, strict=True)):
        add(ax, StraightLine("y", 0.0, colour=GRID, width=0.8, order=0.0))
        for colour, (name, values) in zip(SERIES, kernels, strict=False):
            line = np.array(values, dtype=np.float64)
            hidden = "_" if number else ""
            add(ax, Line(np.arange(line.size), line, colour=colour, name=f"{hidden}{name}"))
        ax.set_title(f"step {step:,}", fontsize=8.5)
        ax.set(xlabel=DISTANCE if number + COLUMNS >= len(shown) else None)
    axes[0].set_ylabel(wrapped(quantity, 22))
    legend_below(figure)
    return figure
