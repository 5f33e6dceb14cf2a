"""Where in a model the position can be read off its hidden states."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.checkpoints.model.running.stack import FEWEST, RunningStack
from generator.contracts import Analysis, FigureSpec, Finding, Metric, Overlay, Result, Results
from generator.contracts.results import error_key
from generator.contracts.wording import Wording
from generator.errors import NotApplicableError
from generator.figures.lines import hidden, legend_below, names_at_ends, with_line_styles
from generator.figures.panels import panels
from generator.figures.scene import DOTTED, Band, Dash, Line, add
from generator.figures.style import QUIET, REFERENCE
from generator.numerics.arrays import Array, Floats
from generator.numerics.certainty import jackknife
from generator.numerics.hidden_states import (
    Probe,
    Sums,
    probe,
    rank_of_positions,
    share_of_position,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORDING = Wording("analyses/probe.md.jinja")
LEFT_OUT = 4  # First positions, which much else tells apart.
ROWS_PER_FEATURE = 10
MOST_SEQUENCES = 128  # of a fit
# Shares of variance: that the input holds the position, that it holds nothing, and a change.
HELD, NOTHING, CHANGED = 0.8, 0.05, 0.1
DASHED: Dash = (0, (5, 2))
KNOWN = 0.03  # Standard error of R² that ends the reading.
FEWEST_OF_MODELS = 2  # of which a sentence says what models do
APART = 0.1  # Distance of two names in a panel of this height, as a share of it.
DEPTHS = 41  # at which lines of parts with different numbers of layers are compared
WHY = "under 1% of the variance is by position"  # There is no rank.
RANDOM, RANDOM_SEED = "r2_random", 0  # The reference, and the seed of its weights.
RANDOM_ERRORS = "r2_random_errors"
ERRORS = 2.0  # Standard errors by which a share is told apart from that of random weights.


@dataclass(frozen=True, eq=False)
class _Fit:
    """Of the input of the first layer and of the output of each, (n_layers + 1,) each.

    shares: of the states' variance between positions; ranks, ranks_without: stable rank of the
        positions' means, with and without massive components, NaN without a shape; n_massive: how
        many of these; errors: of the ends and of the layer with the highest share, (3,) each, the
        standard errors of the former three
    """

    probes: list[Probe]
    shares: Floats
    ranks: Floats
    ranks_without: Floats
    n_massive: Array
    errors: Mapping[int, Floats]


def compute(stack: RunningStack) -> Result:
    """A linear probe of the position on the states of each layer, on text, or on random words where
    a model has no text here; and the same of the model with random weights. A second time, the
    probes of the first read other sequences.

    arrays: ids (n_sequences, length), int, the tokens that were read; r2, r2_errors, error, share
        (n_layers + 1,) each: of the input of the first layer, then of the output of each;
        r2_random, r2_random_errors, share_random, rank, rank_without, n_massive (n_layers + 1,);
        text (), bool, whether a text was read, and no random words
    derived: means, weights (n_layers + 1, d_model), of the probes; others (n_sequences, length),
        int, for the second time
    errors: NotApplicableError
    """
    vocabulary = stack.text_vocabulary
    positions = np.arange(
        max(LEFT_OUT, len(vocabulary.before)), stack.length - len(vocabulary.after)
    )
    if stack.again is not None:
        known = stack.again.derived
        pairs = zip(known["means"], known["weights"], strict=True)
        probes = [Probe(*pair, positions - positions.mean()) for pair in pairs]
        missed = _tried(replace(stack, n_sequences=FEWEST), probes, known["others"], positions)
        return Result(_metrics(missed, positions), {"r2": 1.0 - missed.mean(axis=1)})
    n_fit = _n_fit(stack, len(positions))
    inputs, remarks = _inputs(stack, n_fit + stack.n_sequences + FEWEST)
    parts = inputs[:n_fit], inputs[n_fit:-FEWEST]
    fit = _fitted(stack, parts[0], positions)
    missed = _tried(stack, fit.probes, parts[1], positions)
    r2, n_tried = 1.0 - missed.mean(axis=1), missed.shape[1]
    untrained = stack.untrained(RANDOM_SEED)
    of_random = _fitted(untrained, parts[0], positions)
    missed_by_random = _tried(untrained, of_random.probes, parts[1], positions)
    metrics = (
        *_metrics(missed, positions),
        *_of_random(missed_by_random),
        *_of_shape(fit),
    )
    return Result(
        metrics,
        {
            "ids": inputs[: n_fit + n_tried],
            "r2": r2,
            "r2_errors": _standard_errors(missed),
            "error": _errors(r2, positions),
            "share": fit.shares,
            RANDOM: 1.0 - missed_by_random.mean(axis=1),
            RANDOM_ERRORS: _standard_errors(missed_by_random),
            "share_random": of_random.shares,
            "rank": fit.ranks,
            "rank_without": fit.ranks_without,
            "n_massive": fit.n_massive,
            "text": np.array(not remarks),
        },
        remarks,
        read={metric.key: n_fit + n_tried for metric in metrics},
        derived={
            "means": np.stack([probe.mean for probe in fit.probes]),
            "weights": np.stack([probe.weights for probe in fit.probes]),
            "others": inputs[-FEWEST:],
        },
    )


def _n_fit(stack: RunningStack, n_positions: int) -> int:
    """Sequences to which probes are fitted. errors: NotApplicableError where they are too many"""
    d_model = int(stack.model.config.get_text_config().hidden_size)
    needed = math.ceil(ROWS_PER_FEATURE * d_model / n_positions)
    if needed > max(MOST_SEQUENCES, stack.n_sequences):
        raise NotApplicableError(
            f"a probe of {d_model:,} components needs {needed:,} sequences of {stack.length}"
            f" tokens, but {stack.n_sequences:,} were asked for"
        )
    return max(needed, stack.n_sequences // 2)


def _inputs(stack: RunningStack, n: int) -> tuple[Array, tuple[Finding, ...]]:
    """Text, or random words, with a remark on why."""
    try:
        return stack.pieces(n), ()
    except NotApplicableError as error:
        return stack.inputs(n), (Finding(WORDING("random_words", why=str(error))),)


def _fitted(stack: RunningStack, inputs: Array, positions: Array) -> _Fit:
    """The probe of each layer, and the share and the shape of the positions in its states."""
    sums: list[Sums] = []
    for read in stack.run(inputs):
        states = read.states
        sums = sums or [Sums(positions.astype(float), state.shape[2]) for state in states]
        for of_layer, state in zip(sums, states, strict=True):
            of_layer.add(state[:, positions])
    probes = [probe(of_layer) for of_layer in sums]
    n_massive = np.array([int(each.massive.sum()) for each in sums])
    shares, ranks, ranks_without = np.stack([_shape(each) for each in sums], axis=1)
    errors = {
        layer: jackknife(np.stack(_shapes_without(sums[layer])))
        for layer in {0, int(shares.argmax()), len(sums) - 1}
    }
    return _Fit(probes, shares, ranks, ranks_without, n_massive, errors)


def _shape(sums: Sums, massive: Array | None = None) -> Floats:
    """Share of the variance by position, and stable rank of the positions' means with and without
    ``massive`` dimensions, its own without these: (3,), NaN without a shape.
    """
    others = ~(sums.massive if massive is None else massive)
    ranks = rank_of_positions(sums), rank_of_positions(sums, others)
    return np.array([share_of_position(sums), *ranks], float)


def _shapes_without(sums: Sums) -> list[Floats]:
    """``_shape`` without each block of sequences."""
    return [_shape(rest, sums.massive) for rest in sums.without_each()]


def _of_shape(fit: _Fit) -> Iterator[Metric]:
    """Share and stable rank of the positions at the ends, and how they are elsewhere."""
    share, rank = "Variance of the states by position", "Stable rank of the positions' means"
    without = f"{rank}, last layer, without massive dimensions"
    highest, last = int(fit.shares.argmax()), len(fit.shares) - 1
    for key, title, kind, layer in (
        ("share_input", f"{share}, input", 0, 0),
        ("share_last", f"{share}, last layer", 0, last),
        ("share_highest", f"{share}, highest", 0, highest),
        ("rank_input", f"{rank}, input", 1, 0),
        ("rank_last", f"{rank}, last layer", 1, last),
        ("rank_last_without", without, 2, last),
    ):
        value = (fit.shares, fit.ranks, fit.ranks_without)[kind][layer]
        scale, unit = (1.0, "") if kind else (100.0, "%")
        for name, words, found in (
            (key, title, value),
            (error_key(key), f"Standard error: {title}", fit.errors[layer][kind]),
        ):
            number = None if np.isnan(found) else scale * float(found)
            yield Metric(name, words, number, unit, WHY)
    yield Metric("massive_most", "Most massive dimensions of a layer's states", fit.n_massive.max())


def _tried(stack: RunningStack, probes: Sequence[Probe], inputs: Array, positions: Array) -> Floats:
    """The share of the variance that probes miss of each of as many sequences as it takes to know,
    which no fit has seen: (n_layers + 1, n_sequences).
    """
    missed = np.zeros((len(probes), 0))
    for batch in stack.batches():
        (read,) = stack.run(inputs[batch])
        pairs = zip(probes, read.states, strict=True)
        missed = np.hstack([missed, [each.missed(state[:, positions]) for each, state in pairs]])
        if batch.stop >= FEWEST and _standard_errors(missed).max() < KNOWN:
            break
    return missed


def _standard_errors(missed: Floats) -> Floats:
    """Standard errors of R² over sequences: (n_layers + 1,)."""
    return np.asarray(missed.std(axis=1, ddof=1) / np.sqrt(missed.shape[1]))


def _errors(r2: Floats, positions: Array) -> Floats:
    """Root mean square errors, in positions."""
    return np.asarray(np.sqrt((1.0 - r2) * positions.var()))


def _metrics(missed: Floats, positions: Array) -> tuple[Metric, ...]:
    """missed: (n_layers + 1, n_sequences)"""
    r2 = 1.0 - missed.mean(axis=1)
    best = int(r2.argmax())
    errors, uncertain = _errors(r2, positions), _standard_errors(missed)
    of_r2 = (
        ("r2_highest", "Highest R² of the position", best),
        ("r2_input", "R² at the input", 0),
        ("r2_last", "R² after the last layer", -1),
    )
    return (
        *(Metric(key, title, r2[layer]) for key, title, layer in of_r2),
        Metric("layer_highest", "Layers before the highest R²", float(best)),
        *(
            Metric(error_key(key), f"Standard error: {title}", uncertain[layer])
            for key, title, layer in of_r2
        ),
        Metric("error_input", "RMS error at the input", errors[0], "positions"),
        Metric("error_last", "RMS error after the last layer", errors[-1], "positions"),
    )


def _of_random(missed: Floats) -> Iterator[Metric]:
    """R² with random weights, and standard errors. missed: (n_layers + 1, n_sequences)"""
    r2, errors = 1.0 - missed.mean(axis=1), _standard_errors(missed)
    for key, title, layer in (
        (RANDOM, "Highest R², random weights", int(r2.argmax())),
        ("r2_random_last", "R² after the last layer, random weights", -1),
    ):
        yield Metric(key, title, r2[layer])
        yield Metric(error_key(key), f"Standard error: {title}", errors[layer])


def confirmed(first: Result, second: Result) -> tuple[Finding, ...]:
    """Where position fades or is built up, as both runs show it."""
    both = (first, second)
    random, errors = first.arrays[RANDOM], first.arrays[RANDOM_ERRORS]
    known, highest, last, layer = _of(first)
    if all(_fades(result, first) for result in both):
        error = first.value(error_key("r2_last"))
        of_random = {"random": float(random[-1]), "random_error": float(errors[-1])}
        ends = {"at_input": known, "at_end": last, "n_layers": random.size - 1}
        text = WORDING("fades", **ends, error=error, **of_random)
        of_end = ("r2_last", error_key("r2_last"), "r2_random_last")
        return (Finding(text, (*of_end, "r2_input"), 0.6),)
    if all(_is_built_up(result, first) for result in both):
        place = int(layer) if layer == _of(second)[3] else None
        values = {"highest": highest, "error": first.value(error_key("r2_highest"))}
        values |= {"random": float(random.max()), "random_error": float(errors[random.argmax()])}
        text = WORDING("built_up", layer=place, **values)
        rests_on = ("r2_highest", error_key("r2_highest"), "layer_highest", "r2_input", RANDOM)
        return (Finding(text, rests_on, 0.65),)
    return ()


def _fades(result: Result, first: Result) -> bool:
    """Whether the input holds the position, and the last layer less of it than with random
    weights, which let a table fade too. first: the run that read these too
    """
    known, _, last, _ = _of(result)
    random = float(first.arrays[RANDOM][-1])
    return known > HELD and last < min(known - CHANGED, random - _least(first, "r2_last", -1))


def _is_built_up(result: Result, first: Result) -> bool:
    """Whether layers make a position of nothing, more than with random weights: a causal mask, or a
    mark at the end, tells positions to these too. first: the run that read these too
    """
    known, highest, _, _ = _of(result)
    best = int(first.arrays[RANDOM].argmax())
    random = float(first.arrays[RANDOM][best])
    return known < NOTHING and highest > random + _least(first, "r2_highest", best)


def _least(result: Result, key: str, layer: int) -> float:
    """The difference of a share from that of random weights in a layer that is one: CHANGED, and
    ERRORS standard errors.
    """
    of_both = (result.value(error_key(key)) or 0.0, float(result.arrays[RANDOM_ERRORS][layer]))
    return max(CHANGED, ERRORS * math.hypot(*of_both))


def _of(result: Result) -> tuple[float, float, float, float]:
    keys = ("r2_input", "r2_highest", "r2_last", "layer_highest")
    known, highest, last, layer = (result.value(key) or 0.0 for key in keys)
    return known, highest, last, layer


def by_depth(result: Result) -> tuple[Array, Array]:
    """Relative depth, and the share of the position's variance there: (n_layers + 1,) each."""
    r2 = result.arrays["r2"]
    return np.linspace(0.0, 1.0, r2.size), r2


def sentence(results: Results, _: int) -> str:
    """How many parts hold the position at the input, and at the end."""
    missing, given = _groups(results)
    built = [
        (_of(result)[1], float(result.arrays[RANDOM].max()))
        for result in missing
        if _is_built_up(result, result)
    ]
    held, fading = len(given), sum(_fades(result, result) for result in given)
    return WORDING(
        "parts", held=held, fading=fading, built=built, n_parts=len(results), changed=CHANGED
    )


def _groups(results: Results) -> tuple[list[Result], list[Result]]:
    """Those whose input holds no position, and those whose input holds it."""
    at_input = [(_of(result)[0], result) for result in results.values()]
    missing = [result for known, result in at_input if known < NOTHING]
    return missing, [result for known, result in at_input if known > HELD]


def headline(results: Results) -> str:
    """Whether layers build up position where the input has none, and lose part where it has it: of
    each, those of all parts, or of more than half of at least two.
    """
    missing, given = _groups(results)
    built = [_is_built_up(result, result) for result in missing]
    dropped = [_fades(result, result) for result in given]
    return WORDING("headline", built=_how_many(built), dropped=_how_many(dropped))


def _how_many(flags: Sequence[bool]) -> str:
    """ "all" or "most"; "" of half or fewer, or where there are fewer than two."""
    if len(flags) < FEWEST_OF_MODELS or 2 * sum(flags) <= len(flags):
        return ""
    return "all" if all(flags) else "most"


def draw_across(results: Results) -> "Figure":
    """Share of the variance of the position by relative depth, one line a part, named at its end,
    above a band of the same parts with random weights: parts that begin without position, and the
    others.
    """
    starts = {label: _of(result)[0] < NOTHING for label, result in results.items()}
    groups = {
        title: {label: result for label, result in results.items() if starts[label] == is_without}
        for title, is_without in (("no position at the input", True), ("position given", False))
    }
    shown = {title: group for title, group in groups.items() if group}
    figure, every_axes = panels(len(shown), columns=1, height=2.1)
    for axes, (title, group) in zip(every_axes, shown.items(), strict=True):
        _draw_group(axes, group, is_first=axes is every_axes[0])
        axes.set_title(title)
        axes.set(ylabel="held-out R²", xticks=np.linspace(0.0, 1.0, 5))
    right = max(axes.get_xlim()[1] for axes in every_axes)
    for axes in every_axes:
        axes.set_xlim(right=right)
    every_axes[-1].set(xlabel="relative depth")
    legend_below(figure)
    return figure


def _draw_group(axes: "Axes", group: Results, *, is_first: bool) -> None:
    places = np.linspace(0.0, 1.0, DEPTHS)
    random = [result.arrays[RANDOM] for result in group.values()]
    curves = [np.interp(places, np.linspace(0.0, 1.0, each.size), each) for each in random]
    low, high = np.min(curves, axis=0), np.max(curves, axis=0)
    name = "random weights, lowest to highest"
    band: dict[str, Any] = {"colour": QUIET, "alpha": 0.25}
    lines = [
        Line(*by_depth(result), colour=label.colour, dash=dash, name=hidden(label.title))
        for label, result, dash in with_line_styles(group)
    ]
    add(axes, Band(places, low, high, name=name if is_first else hidden(name), **band), *lines)
    axes.set_ylim(-0.05, 1.05)
    axes.grid(axis="y")
    names_at_ends(axes, lines, apart=APART)


def draw(results: Results) -> "Figure":
    """Share of the variance of the position by layer, and that of random weights, dashed."""
    figure, (axes,) = panels(1, height=3.4)
    for label, result, dash in with_line_styles(results):
        r2, random = result.arrays["r2"], result.arrays[RANDOM]
        style: dict[str, Any] = {"dash": dash, "marker": "o", "size": 3.0, "name": label.title}
        add(axes, Line(np.arange(r2.size), r2, colour=label.colour, **style))
        style = {"dash": DOTTED, "name": "random weights"}
        add(axes, Line(np.arange(random.size), random, colour=REFERENCE, **style))
    axes.set(ylabel="held-out R² of the position", ylim=(min(-0.05, axes.get_ylim()[0]), 1.05))
    _finish(axes)
    legend_below(figure)
    return figure


def draw_shape(results: Results) -> "Figure":
    """Share of the variance by position, and stable rank of the positions' means, by layer."""
    figure, (share, rank) = panels(2, height=3.2)
    for label, result, dash in with_line_styles(results):
        arrays, layers = result.arrays, np.arange(result.arrays["share"].size)
        style: dict[str, Any] = {"colour": label.colour, "dash": dash}
        random: dict[str, Any] = {"colour": REFERENCE, "dash": DOTTED, "name": "random weights"}
        name = label.title
        add(
            share,
            Line(layers, 100.0 * arrays["share"], marker="o", size=3.0, name=name, **style),
            Line(layers, 100.0 * arrays["share_random"], **random),
        )
        add(rank, Line(layers, arrays["rank"], marker="o", size=3.0, **style))
        if arrays["n_massive"].any():
            name = "without massive dimensions"
            add(rank, Line(layers, arrays["rank_without"], **{**style, "dash": DASHED}, name=name))
    share.set(title="share of the variance by position (%)")
    rank.set(title="stable rank", xlim=share.get_xlim())
    for axes in (share, rank):
        low, high = axes.get_ylim()
        axes.set(ylim=(min(low, 0.0), high + 0.1 * abs(high)))
        _finish(axes)
    legend_below(figure)
    return figure


def _finish(axes: Any) -> None:
    axes.set(xlabel="number of layers")
    axes.locator_params(axis="x", integer=True)
    axes.grid(axis="y")


ANALYSIS = Analysis(
    key="probe",
    subject="model",
    units={
        **dict.fromkeys(("r2_input", "r2_highest", "r2_last", "layer_highest"), ""),
        **dict.fromkeys((RANDOM, "r2_random_last"), ""),
        **dict.fromkeys(("share_input", "share_highest", "share_last"), "%"),
        **dict.fromkeys(("rank_last", "rank_last_without"), ""),
    },
    over_steps={"share_highest": "height", "rank_last": "change"},
    compute=compute,
    confirmed=confirmed,
    across=FigureSpec(
        "depth",
        WORDING.figure("depth"),
        draw=draw_across,
    ),
    overlay=Overlay(
        x="relative depth (share of the layers)",
        y="held-out R² of the position",
        points=by_depth,
    ),
    sentence=sentence,
    headline=headline,
    figures=(
        FigureSpec(
            "layers",
            WORDING.figure("layers"),
            draw=draw,
            python=(
                'plt.plot(arrays["probe.r2"], "o-")\n'
                'plt.plot(arrays["probe.r2_random"], ":")  # the same with random weights'
            ),
        ),
        FigureSpec(
            "shape",
            WORDING.figure("shape"),
            draw=draw_shape,
            python=(
                'plt.plot(arrays["probe.share"], "o-")\n'
                'plt.twinx().plot(arrays["probe.rank"], "s-")  # on a scale of its own'
            ),
        ),
    ),
)
