"""What a model loses when its positions are switched off, shifted, stretched or reversed."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.checkpoints.model.running.losses import (
    NO_RISE,
    NOTHING,
    PredictionTask,
    Rise,
    check_predicts,
    losses,
    rise_of,
    task,
)
from generator.checkpoints.model.running.positions import Moved, Places, moved, places
from generator.checkpoints.model.running.stack import FEWEST, RunningStack
from generator.contracts import Analysis, Bars, FigureSpec, Finding, Metric, Result, Results
from generator.contracts.results import error_key
from generator.contracts.wording import Wording
from generator.errors import NotApplicableError
from generator.figures.lines import legend_below
from generator.figures.panels import panels
from generator.figures.scene import Line, add
from generator.numerics.arrays import Floats
from generator.numerics.certainty import mean_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("analyses/position.md.jinja")
SHIFT = 64  # positions
UNIT = "nats"
NAMES = {
    "off": "all equal",
    "shift_64": "shifted by 64",
    "shift_most": "shifted farthest",
    "half": "halved",
    "double": "doubled",
    "reversed": "reversed",
}
AS_IS = "Loss with unchanged positions"
TITLES = {
    "off": "Loss rise, all positions equal",
    "shift_64": "Loss rise, positions shifted by 64",
    "shift_most": "Loss rise, positions shifted farthest",
    "half": "Loss rise, positions halved",
    "double": "Loss rise, positions doubled",
    "reversed": "Loss rise, positions reversed",
}


def compute(stack: RunningStack) -> Result:
    """Loss on text with other positions than those of the words.

    Off is the mean row of a table, no turn of a rotation, the mean of a bias. The farthest shift is
    to the end of a table; for any other, by the most positions of a text that the config gives.
    arrays: ids (n_sequences, length), int, the tokens that were read; rises, errors (6,), in nats,
        in the order of the metrics after the first; NaN where not applicable
    errors: NotApplicableError
    """
    check_predicts(stack)
    texts = stack.pieces()
    given = task(stack, texts)
    found = places(stack)

    @cache
    def as_is(batch: range) -> Floats:
        return losses(stack, given[batch])

    rises: dict[str, Rise] = {}
    reasons: dict[str, str] = {}
    for key, to in _variants(stack, found).items():
        if stack.wants(key):
            try:
                rises[key] = rise_of(stack, partial(_losses, stack, given, found, to), as_is)
            except NotApplicableError as error:
                reasons[key] = str(error)
    n_read = max((by.n_sequences for by in rises.values()), default=FEWEST)
    before = np.concatenate([as_is(batch) for batch in stack.batches(n_read)])
    return Result(
        metrics=(
            *_with_error("as_is", float(np.nanmean(before)), mean_error(before)),
            *(
                metric
                for key in TITLES
                if stack.wants(key)
                for metric in _risen(key, rises.get(key), reasons.get(key, ""))
            ),
        ),
        arrays={
            "ids": texts[:n_read],
            "rises": np.array([rises.get(key, NO_RISE).mean for key in TITLES]),
            "errors": np.array([rises.get(key, NO_RISE).error for key in TITLES]),
        },
        read={"as_is": n_read, **{key: by.n_sequences for key, by in rises.items()}},
    )


def _risen(key: str, rise: Rise | None, reason: str) -> Iterator[Metric]:
    """How much the loss rises, with its standard error unless it is given as 0."""
    if rise is None:
        yield Metric(key, TITLES[key], None, UNIT, reason)
    elif rise.is_none:
        yield Metric(key, TITLES[key], 0.0, UNIT)
    else:
        yield from _with_error(key, rise.mean, rise.error)


def _with_error(key: str, value: float, error: float) -> Iterator[Metric]:
    """A loss or its rise, and its standard error."""
    title = TITLES.get(key, AS_IS)
    yield Metric(key, title, value, UNIT)
    yield Metric(error_key(key), f"Standard error: {title}", error, UNIT)


def _losses(
    stack: RunningStack, given: PredictionTask, found: Places, to: Moved, batch: range
) -> Floats:
    with moved(found, to):
        return losses(stack, given[batch])


def _variants(stack: RunningStack, found: Places) -> Mapping[str, Moved]:
    rows = found.n_positions
    farthest = stack.longest if rows is None else rows - stack.length

    def shifted(by: int) -> Moved:
        return lambda n: _range(n) + by

    return {
        "off": lambda _: None,
        "shift_64": shifted(SHIFT),
        "shift_most": shifted(farthest),
        "half": lambda n: _range(n) / 2.0,
        "double": lambda n: _range(n) * 2.0,
        "reversed": lambda n: _range(n)[::-1].copy(),
    }


def _range(n: int) -> Floats:
    return np.arange(n, dtype=np.float64)


def confirmed(first: Result, second: Result) -> tuple[Finding, ...]:
    """What the model loses, where both runs say so."""
    found = []
    if (off := _certain(first, second, "off")) is not None:
        found.append(
            Finding(
                WORDING("equal", raised=_raised(first, off)),
                ("off", error_key("off"), "as_is", error_key("as_is")),
                0.6,
            )
        )
    shifts = [result.value("shift_most") for result in (first, second)]
    text = ""
    if all(shift is not None and abs(shift) < NOTHING for shift in shifts):
        text = WORDING("shifted_alike")
    elif (far := _certain(first, second, "shift_most")) is not None:
        text = WORDING("farthest", rise=far)
    if text:
        found.append(Finding(text, ("shift_64", "shift_most"), 0.4))
    return tuple(found)


def _certain(first: Result, second: Result, key: str) -> float | None:
    """The rise of the first run, where it lies three standard errors above 0 in both."""
    place = list(TITLES).index(key)
    for result in (first, second):
        mean, error = result.arrays["rises"][place], _error(result, key)
        if not mean > max(3.0 * error, NOTHING):
            return None
    return float(first.arrays["rises"][place])


def _error(result: Result, key: str) -> float:
    """The standard error of a rise, in nats per token."""
    return float(result.arrays["errors"][list(TITLES).index(key)])


def _raised(result: Result, rise: float) -> tuple[float, float, float | None, float | None]:
    """A rise without positions and its standard error, then the loss before it, and its error."""
    return rise, _error(result, "off"), result.value("as_is"), result.error("as_is")


def sentence(results: Results, n_models: int) -> str:
    """What models lose without positions."""
    known = {
        label.title: _raised(result, value)
        for label, result in results.items()
        if (value := _certain(result, result, "off"))
    }
    if not known:
        return ""
    by_rise = sorted(known, key=lambda title: known[title][0])
    ends = [(title, known[title]) for title in dict.fromkeys((by_rise[0], by_rise[-1]))]
    return WORDING("all_equal", ends=ends, n_models=n_models if len(results) == 1 else 0)


def draw(results: Results) -> "Figure":
    """What each change of the positions costs, with its standard error."""
    figure, (axes,) = panels(1, height=2.8)
    for number, (label, result) in enumerate(results.items()):
        rises, errors = result.arrays["rises"], result.arrays["errors"]
        places = np.arange(len(rises)) + 0.2 * (number - (len(results) - 1) / 2)
        for rise_, error, place in zip(rises, errors, places, strict=True):
            ends = [rise_ - error, rise_ + error]
            add(axes, Line(ends, [place] * 2, colour=label.colour, width=1.0, is_aside=True))
        style: dict[str, Any] = {"colour": label.colour, "marker": "o", "is_joined": False}
        add(axes, Line(rises, places, name=label.title, **style))
    axes.set_yticks(range(len(NAMES)), list(NAMES.values()))
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="rise of the loss (nats per token)")
    axes.grid()
    legend_below(figure)
    return figure


def _costs(result: Result) -> dict[str, Any]:
    rises = zip(NAMES.values(), result.arrays["rises"], strict=True)
    return {"rises": {name: rise for name, rise in rises if not np.isnan(rise)}}


FIGURE = FigureSpec(
    "moved",
    WORDING.figure("moved", _costs),
    draw=draw,
    python=(
        f"places = {list(NAMES.values())}\n"
        'rises, errors = arrays["position.rises"], arrays["position.errors"]\n'
        'plt.errorbar(rises, places, xerr=errors, fmt="o")'
    ),
)
ANALYSIS = Analysis(
    key="position",
    after="heads",
    subject="model",
    units=dict.fromkeys(("as_is", *TITLES), UNIT),
    compute=compute,
    confirmed=confirmed,
    across=replace(FIGURE, texts=WORDING.figure("across", alt=FIGURE.alt)),
    sentence=sentence,
    bars=(Bars("off", sentence, base="as_is"),),
    figures=(FIGURE,),
)
