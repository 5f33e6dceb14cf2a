"""Figures of a training run: metrics over its steps, and the kernel at several of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.contracts import FigureSpec, Results, Run, RunEncoding, RunMetric, RunUse
from generator.contracts.wording import GivenTexts, Wording
from generator.figures.lines import DASHES, dots, hidden, legend_below
from generator.figures.panels import colour_bar, panels, wrapped
from generator.figures.scene import Line, StraightLine, add
from generator.figures.style import GRID, INK, MUTED, SEQUENTIAL, SERIES
from generator.numerics.arrays import Array, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WORDING = Wording("wording/runs.jinja")
MULTIPLES = 6  # steps with a panel of their own
COLUMNS = 3
HEADROOM = 0.06  # above and below the kernel, as a share of its range
STEP, DISTANCE = "training step", "distance (positions)"
Values = tuple[float | None, ...]
Curve = tuple[str, tuple[int, ...], Values]  # name, steps, and a value for each
MetricPanel = tuple[str, str, tuple[Curve, ...]]  # title, unit, curves


@dataclass(frozen=True, eq=False)
class Kernels:
    """An encoding's kernel by step.

    steps: (n_steps,), int; values: (n_steps, n_distances), NaN where none is defined; quantity:
        with its unit
    """

    steps: tuple[int, ...]
    values: Floats
    quantity: str

    @classmethod
    def of(cls, run: Run, encoding: RunEncoding) -> "Kernels":
        """The kernels of the checkpoints that have the encoding."""
        values = np.array(
            [
                [np.nan if value is None else value for value in encoding.kernel[index]]
                for index in encoding.present
            ]
        )
        return cls(tuple(run.steps[index] for index in encoding.present), values, encoding.quantity)

    @property
    def limits(self) -> tuple[float, float]:
        """Limits of the vertical axis that hold all values."""
        low, high = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        room = HEADROOM * (high - low) or 1.0
        return low - room, high + room

    @property
    def distances(self) -> Array:
        """(n_distances,)"""
        return np.arange(self.values.shape[1])

    @property
    def last(self) -> str:
        """Name of the last step."""
        return f"step {self.steps[-1]:,} (last)"


def of_kernel(run: Run, encoding: RunEncoding) -> list[FigureSpec]:
    """Small multiples of the kernel at some steps, and lines of all steps; none where it has no
    value.
    """
    kernels = Kernels.of(run, encoding)
    if not kernels.values.size or np.isnan(kernels.values).all():
        return []
    alt = _kernel_alt(kernels)
    number = run.encodings.index(encoding)
    python = (
        'run = data["run"]\n'
        f'for member, values in zip(run["members"], run["encodings"][{number}]["kernel"]):\n'
        '    plt.plot(np.array(values, float), label=member["step"])\n'
        "plt.legend()"
    )
    return [
        FigureSpec(
            "steps",
            GivenTexts(
                WORDING("steps_caption", shown=len(_chosen(kernels)), total=len(kernels.steps)),
                WORDING("steps_how_to_read"),
                alt,
            ),
            partial(_draw_steps, kernels),
            python=python,
        ),
        FigureSpec(
            "lines",
            GivenTexts(WORDING("lines_caption"), WORDING("lines_how_to_read"), alt),
            partial(_draw_lines, kernels),
            python=python,
        ),
    ]


def of_metrics(
    run: Run,
    owner: RunEncoding | RunUse,
    metrics: Sequence[RunMetric],
    caption: str = "metrics_caption",
    measure: str = "",
) -> FigureSpec:
    """Curves of one metric of ``owner`` or several over the steps. caption: its name in the
    template; measure: of models, its title
    """
    titles = [metric.title for metric in metrics]
    of_owner = (
        f'["encodings"][{run.encodings.index(owner)}]'
        if isinstance(owner, RunEncoding)
        else f'["uses"][{run.uses.index(owner)}]'
    )
    return FigureSpec(
        "metrics",
        GivenTexts(
            WORDING(caption, title=measure) if measure else WORDING(caption),
            WORDING("metrics_how_to_read"),
            WORDING("metrics_alt", titles=titles),
        ),
        partial(draw_metrics, tuple(_panel(run, metric) for metric in metrics)),
        python="\n".join(
            (
                f'run, keys = data["run"], {[metric.key for metric in metrics]}',
                'steps = [member["step"] for member in run["members"]]',
                f'for metric in [one for one in run{of_owner}["metrics"] if one["key"] in keys]:',
                '    plt.plot(steps, np.array(metric["values"], float), "o-", label=metric["key"])',
                "plt.legend()",
            )
        ),
    )


def spread(values: Sequence[int], most: int) -> list[int]:
    """At most ``most`` of ``values``, evenly spread, the first and the last among them."""
    count = min(most, len(values))
    return [values[round(place * (len(values) - 1) / max(count - 1, 1))] for place in range(count)]


def _chosen(kernels: Kernels) -> list[int]:
    """Indices of the steps with a panel of their own."""
    return spread(range(len(kernels.steps)), MULTIPLES)


def _panel(run: Run, metric: RunMetric) -> MetricPanel:
    return metric.title, metric.unit, ((hidden(metric.title), tuple(run.steps), metric.values),)


def _kernel_alt(kernels: Kernels) -> str:
    first, last, distance = kernels.values[0], kernels.values[-1], kernels.values.shape[1] - 1
    near = min(1, distance)
    ends = [
        (step, float(row[near]), float(row[distance]))
        for step, row in ((kernels.steps[0], first), (kernels.steps[-1], last))
    ]
    return WORDING("kernel_alt", quantity=kernels.quantity, ends=ends, near=near, far=distance)


def _draw_steps(kernels: Kernels, _: Results) -> "Drawing":
    chosen = _chosen(kernels)
    figure, axes = panels(len(chosen), columns=COLUMNS, height=2.2)
    for number, (ax, index) in enumerate(zip(axes, chosen, strict=True)):
        _axis_of_kernel(ax, kernels)
        hidden = "_" if number else ""
        style: dict[str, Any] = {"dash": DASHES[1], "width": 1.0, "name": f"{hidden}{kernels.last}"}
        last = Line(kernels.distances, kernels.values[-1], colour=MUTED, **style)
        style = {"colour": SERIES[0], "name": f"{hidden}step of the panel"}
        add(ax, last, Line(kernels.distances, kernels.values[index], **style))
        ax.set_title(f"step {kernels.steps[index]:,}", fontsize=8.5)
        ax.set(xlabel=DISTANCE if number + COLUMNS >= len(chosen) else None)
    axes[0].set_ylabel(wrapped(kernels.quantity, 22))
    legend_below(figure)
    return figure


def _draw_lines(kernels: Kernels, _: Results) -> "Drawing":
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    figure, [axes] = panels(1, columns=1, height=3.8)
    _axis_of_kernel(axes, kernels)
    scale = Normalize(kernels.steps[0], max(kernels.steps[-1], kernels.steps[0] + 1))
    for step, row in zip(kernels.steps[:-1], kernels.values[:-1], strict=True):
        style: dict[str, Any] = {"width": 1.1, "name": f"_step {step:,}"}
        colour = colormaps[SEQUENTIAL](scale(step))
        add(axes, Line(kernels.distances, row, colour=colour, **style))
    style = {"colour": INK, "width": 1.8, "name": kernels.last}
    add(axes, Line(kernels.distances, kernels.values[-1], **style))
    axes.set(xlabel=DISTANCE, ylabel=kernels.quantity)
    colour_bar(figure, ScalarMappable(scale, SEQUENTIAL), [axes], STEP)
    legend_below(figure)
    return figure


def _axis_of_kernel(axes: "Axes", kernels: Kernels) -> None:
    add(axes, StraightLine("y", 0.0, colour=GRID, width=0.8, order=0.0))
    axes.set_ylim(*kernels.limits)
    axes.margins(x=0.02)


def draw_metrics(shown: tuple[MetricPanel, ...], _: Results) -> "Drawing":
    """A panel for each metric, with its curves; a legend of those whose names are not hidden."""
    figure, axes = panels(len(shown), height=2.3)
    for index, (ax, (title, unit, curves)) in enumerate(zip(axes, shown, strict=True)):
        for colour, (name, steps, values) in zip(SERIES, curves, strict=False):
            in_legend = hidden(name) if index and not name.startswith("_") else name
            style: dict[str, Any] = {"marker": dots(len(steps)), "size": 3, "name": in_legend}
            add(ax, Line(steps, np.array(values, dtype=np.float64), colour=colour, **style))
        ax.set_title(wrapped(title, 34), fontsize=9)
        ax.set(xlabel=STEP if index + 2 >= len(shown) else None, ylabel=unit or "value")
        ax.margins(x=0.03, y=0.12)
    if any(axes[0].get_legend_handles_labels()):
        legend_below(figure)
    return figure
