"""Which heads attend by position: mean attention by offset while a model reads random tokens."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.checkpoints.model.running.losses import KNOWN
from generator.checkpoints.model.running.stack import FEWEST, RunningStack
from generator.contracts import (
    Analysis,
    Bars,
    FigureSpec,
    Finding,
    Metric,
    Overlay,
    Result,
    Results,
)
from generator.contracts.results import error_key
from generator.contracts.wording import Wording
from generator.errors import NotApplicableError
from generator.figures.charts import Images
from generator.figures.grids_of_heads import pictures, strips
from generator.figures.style import SEQUENTIAL
from generator.numerics.arrays import Array, Floats
from generator.numerics.attention_profiles import (
    Attended,
    OffsetProfile,
    chance,
    falls,
    grid_profile,
    of_texts,
    profile,
)
from generator.numerics.certainty import mean_error, resamples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("analyses/heads.md.jinja")
LARGE = 0.3  # Share of a head's attention that makes it a head of that kind.
NEAR = 8  # positions
IMAGES = 6
HALF = 0.5  # heads
FEW, RANDOM_SEED = 2, 0  # Sequences that the model reads with random weights, and their seed.
KINDS = {"previous": -1, "own": 0, "next": 1}
ON_EACH = "_on_each"  # of both kinds of images: the ending of an array
SHOWN = 8  # Offsets on each side that a strip shows.
LIMIT = 0.6  # of the colours of strips
BARS = ("first", "previous")
CONFIRMED = ("first", "previous", "next", "own", "beside")  # Kinds, in the order of findings.
FALLS = {
    "power": ("Heads whose attention falls as a power of the distance", "%"),
    "exponent": ("Exponent of the fall, median of these heads", ""),
    "exponent_r2": ("R² of the fall, median of these heads", ""),
}
NO_FALL = "no head's attention falls so"
LEAST_SINKS = 1.0  # % of heads, beyond that of random weights
ONE_TOKEN, REPEATED = "sinks_repeated", 24  # Sequences of one token each, repeated.
SINKS = {
    "sinks": "Attention sinks, random tokens",
    "sinks_text": "Attention sinks, text",
    ONE_TOKEN: "Attention sinks, one token repeated",
}


def compute(stack: RunningStack) -> Result:
    """Attention by offset of each layer and head.

    Words are random, so that content says nothing; words that are all the same would leave every
    position of a model with relative positions in the same state.
    arrays: ids (n_sequences, length), int, the tokens that were read; offsets (n_offsets,), int;
        by_offset (n_layers, n_heads, n_offsets); first (n_layers, n_heads), to the first position;
        for images pictures (n_layers, n_heads, n_rows, n_columns) in place of the first three, and
        …_on_each (), the share of heads of a kind in %, on plain and on noisy images alike;
        to_one_place (n_layers, n_heads), the most attention to the place of a kind; exponents,
        exponents_r2 (n_layers, n_heads), of power laws of distance, NaN where it is none, for
        tokens; …_random (), the share of heads of a kind, or of sinks, with random weights
    errors: NotApplicableError
    """
    found = _measured(stack)
    if stack.again is not None:
        return found
    random = _measured(replace(stack.untrained(RANDOM_SEED), n_sequences=FEW))
    by_random = {
        f"{metric.key}_random": np.array(metric.value)
        for metric in random.metrics
        if metric.key in {*TITLES, *SINKS, "power"} and metric.value is not None
    }
    return replace(found, arrays={**found.arrays, **by_random})


def _measured(stack: RunningStack) -> Result:
    found = (_of_images if stack.grid else _of_words)(stack)
    sinks = tuple(_sinks(stack))
    n_read = {
        metric.key: _n_read(stack, metric.key) for metric in sinks if metric.value is not None
    }
    return replace(found, metrics=(*found.metrics, *sinks), read={**found.read, **n_read})


def _n_read(stack: RunningStack, key: str) -> int:
    """Sequences that are read for the sinks ``key``, or for their error."""
    most = REPEATED if key.startswith(ONE_TOKEN) else stack.n_sequences
    return min(most, stack.n_sequences)


def _sinks(stack: RunningStack) -> Iterator[Metric]:
    """Attention sinks (Gu et al. 2025, section 3.1) on random tokens, on text, and on one token
    repeated: the share of all heads of all texts in % with over ``LARGE`` of attention on the first
    position, as a mean over all queries; and its standard error over texts.
    """
    for key, title in SINKS.items():
        share, error, reason = None, None, ""
        if stack.wants(key):
            try:
                by_text = 100.0 * _shares_of_sinks(stack, key)
                share, error = by_text.mean(), by_text.std(ddof=1) / np.sqrt(len(by_text))
            except NotApplicableError as why:
                reason = str(why)
            yield Metric(key, title, share, "%", reason)
            yield Metric(error_key(key), f"Standard error: {title}", error, "%", reason)


def _shares_of_sinks(stack: RunningStack, key: str) -> Floats:
    """Of each sequence that ``key`` of ``SINKS`` names, the share of heads that are sinks: (n,).

    None begins or ends with a mark, which would be the first position instead.

    errors: NotApplicableError
    """
    if not stack.is_causal:
        raise NotApplicableError("its positions also see later ones")
    vocabulary, count = stack.text_vocabulary, _n_read(stack, key)
    n, start = stack.length + vocabulary.n_reserved, len(vocabulary.before)
    if key == "sinks_text":
        framed = stack.pieces(count, n)
    else:
        framed = vocabulary.random(count, n, stack.seed)
    by_layer: defaultdict[int, list[Floats]] = defaultdict(list)

    def note(layer: int, weights: Any) -> None:
        to_first = weights[..., 0].double().mean(dim=-1)  # (batch, n_heads)
        by_layer[layer].append((to_first > LARGE).double().mean(dim=1).cpu().numpy())

    inputs = framed[:, start : start + stack.length]
    if key == ONE_TOKEN:
        inputs = np.repeat(inputs[:, :1], stack.length, axis=1)
    for _ in stack.run(inputs, note):
        pass
    return np.asarray(np.mean([np.concatenate(each) for each in by_layer.values()], axis=0))


def _of_words(stack: RunningStack) -> Result:
    inputs = stack.inputs()
    read: list[Attended] = []
    counts: list[list[int]] = []
    for batch in stack.batches():
        read.append(_attended(stack, inputs[batch]))
        shares, _ = _shares(*read[-1].mean())
        counts.append([int((values > LARGE).sum()) for values in shares.values()])
        if batch.stop >= FEWEST and _are_known(np.array(counts)):
            break
    by_offset = np.concatenate([each.by_offset for each in read])
    found = Attended(read[0].offsets, by_offset, np.concatenate([each.first for each in read]))
    offsets, mean, first = found.mean()
    shares, within = _shares(offsets, mean, first)
    farthest = stack.length // 2
    metrics = (
        *_metrics(shares, within, chance(stack.length, stack.is_causal)),
        *_of_falls(_counted(found.mean(), farthest)),
    )
    fall = falls(offsets, mean, farthest)
    return Result(
        tuple(_with_errors(metrics, _errors(found, farthest))),
        {
            "ids": inputs[: batch.stop],
            "offsets": offsets,
            "by_offset": mean,
            "first": first,
            "to_one_place": np.max([*shares.values()], axis=0),
            "exponents": fall.exponents,
            "exponents_r2": fall.r2,
        },
        read={key: batch.stop for metric in metrics for key in (metric.key, error_key(metric.key))},
    )


def _attended(stack: RunningStack, inputs: Array) -> Attended:
    """Attention while ``stack`` reads ``inputs``."""
    by_layer: defaultdict[int, list[OffsetProfile]] = defaultdict(list)

    def note(layer: int, weights: Any) -> None:
        each = weights.double().cpu().numpy()
        by_layer[layer] += [profile(of_text, stack.is_causal) for of_text in each]

    for _ in stack.run(inputs, note):
        pass
    return of_texts([by_layer[layer] for layer in sorted(by_layer)])


def _counted(mean: tuple[Array, Floats, Floats], farthest: int) -> dict[str, float]:
    """By the key of its metric, each number that rests on how many heads are beyond a limit; NaN
    without one.
    """
    offsets, by_offset, _ = mean
    fall = falls(offsets, by_offset, farthest)
    are = ~np.isnan(fall.exponents)
    return {
        **_of_kinds(_shares(*mean)[0]),
        "power": 100.0 * float(are.mean()),
        "exponent": float(np.median(fall.exponents[are])) if are.any() else np.nan,
        "exponent_r2": float(np.median(fall.r2[are])) if are.any() else np.nan,
    }


def _errors(found: Attended, farthest: int) -> dict[str, float]:
    """The standard error over sequences of each number, by its key; NaN where it is not known."""
    n = len(found.first)
    if n == 1:
        return {}
    samples = [_counted(found.mean(weights), farthest) for weights in resamples(n)]
    errors = {key: float(np.std([each[key] for each in samples], ddof=1)) for key in samples[0]}
    of_each = [
        _shares(found.offsets, *pair) for pair in zip(found.by_offset, found.first, strict=True)
    ]
    for kind, values in _shares(*found.mean())[0].items():
        by_text = [shares[kind].flat[values.argmax()] for shares, _ in of_each]
        errors[f"{kind}_highest"] = 100.0 * mean_error(np.array(by_text))
    by_text = [within.mean() for _, within in of_each]
    return errors | {"within": 100.0 * mean_error(np.array(by_text))}


def _with_errors(metrics: Sequence[Metric], errors: dict[str, float]) -> Iterator[Metric]:
    """Each metric, and its standard error behind it."""
    for metric in metrics:
        yield metric
        if metric.key in errors:
            error = errors[metric.key]
            value = None if metric.value is None or np.isnan(error) else error
            title, why = f"Standard error: {metric.title}", f"{NO_FALL}, or in some sequences alone"
            yield Metric(error_key(metric.key), title, value, metric.unit, why)


def _of_falls(found: dict[str, float]) -> Iterator[Metric]:
    """How many heads have a power law of distance, and the median of these."""
    for key, (title, unit) in FALLS.items():
        value = found[key]
        yield Metric(key, title, None if np.isnan(value) else value, unit, NO_FALL)


def _shares(offsets: Array, by_offset: Floats, first: Floats) -> tuple[dict[str, Floats], Floats]:
    """Attention (n_layers, n_heads) to the place of each kind of heads, and nearby."""
    at_offset = {
        kind: by_offset[:, :, offsets == offset].sum(axis=2) for kind, offset in KINDS.items()
    }
    return {**at_offset, "first": first}, by_offset[:, :, np.abs(offsets) <= NEAR].sum(axis=2)


def _are_known(counts: Array) -> bool:
    """Whether more batches would hardly change the number of heads of each kind.

    counts: (n_batches, n_kinds), int, by batch
    """
    if len(counts) == 1:
        return False
    errors = counts.std(axis=0, ddof=1) / np.sqrt(len(counts))
    return bool((errors <= np.maximum(KNOWN * counts.mean(axis=0), HALF)).all())


def _of_images(stack: RunningStack) -> Result:
    size: list[int] = []

    def pictured(weights: Any) -> Floats:
        mean = weights[0].cpu().numpy()
        picture, first = grid_profile(mean, stack.grid or (0, 0), stack.n_first)
        size[:] = picture.shape[1:]
        return np.column_stack([first, picture.reshape(len(picture), -1)])

    inputs = stack.inputs(FEW if stack.again is not None else min(IMAGES, stack.n_sequences))
    n_plain = len(inputs) - len(inputs) // 2  # The first.
    kinds = [images for images in (inputs[:n_plain], inputs[n_plain:]) if len(images)]
    of_kinds = [stack.attended(images, pictured, batch=1) for images in kinds]
    found = np.average(of_kinds, axis=0, weights=[*map(len, kinds)])
    by_layer, shares, within = _of_pictures(found, size)
    least, *others = [_of_pictures(one, size)[1] for one in of_kinds]
    for other in others:
        least = {kind: np.minimum(values, other[kind]) for kind, values in least.items()}
    metrics = _metrics(shares, within, 1.0 / stack.attention.shape[2])
    return Result(
        metrics,
        {
            "pictures": by_layer,
            "first": shares["first"],
            "to_one_place": np.max([*shares.values()], axis=0),
            **{
                f"{kind}{ON_EACH}": np.array(100.0 * float((values > LARGE).mean()))
                for kind, values in least.items()
            },
        },
        read={metric.key: len(inputs) for metric in metrics},
    )


def _of_pictures(found: Floats, size: Sequence[int]) -> tuple[Floats, dict[str, Floats], Floats]:
    """Attention by offset (n_layers, n_heads, n_rows, n_columns), that to the place of each kind of
    heads, (n_layers, n_heads), and that nearby.

    found: (n_layers, n_heads, 1 + n_rows * n_columns), to the first position and by offset
    """
    pictures = found[:, :, 1:].reshape(*found.shape[:2], *size)
    row, column = (length // 2 for length in size)
    middle = pictures[:, :, row - 1 : row + 2, column - 1 : column + 2]
    shares = {
        "own": middle[:, :, 1, 1],
        "beside": middle[:, :, [0, 2, 1, 1], [1, 1, 0, 2]].sum(axis=2),
        "first": found[:, :, 0],
    }
    return pictures, shares, middle.sum(axis=(2, 3))


PLACES = {
    "previous": "the previous token",
    "own": "the query's own position",
    "next": "the next token",
    "beside": "the four patches next to the query",
    "first": "the first position",
}
TITLES = {kind: f"Heads on {place}" for kind, place in PLACES.items()}
TITLES["first"] += ", by the second or middle half of queries"
NONE, BOTH = "None of these", ", mean over plain and noisy images"


def _of_kinds(shares: dict[str, Floats]) -> dict[str, float]:
    """Of the heads, the share of each kind, and that of none, in %."""
    are_of = {kind: values > LARGE for kind, values in shares.items()}
    none = ~np.any(list(are_of.values()), axis=0)
    return {kind: 100.0 * float(are.mean()) for kind, are in {**are_of, "none": none}.items()}


def _metrics(shares: dict[str, Floats], within: Floats, uniform: float) -> tuple[Metric, ...]:
    """shares: (n_layers, n_heads) by kind; within: attention nearby; uniform: attention to one key
    of a head that tells none apart
    """
    are_images = "beside" in shares
    nearby, of_both = ("one patch", BOTH) if are_images else (f"{NEAR} positions", "")
    return (
        *(
            Metric(kind, f"{TITLES.get(kind, NONE)}{of_both}", share, "%")
            for kind, share in _of_kinds(shares).items()
        ),
        *(
            Metric(
                f"{kind}_highest",
                f"Highest attention of a head to {PLACES[kind]}",
                100.0 * float(values.max()),
                "%",
            )
            for kind, values in shares.items()
        ),
        Metric(
            "within",
            f"Attention within {nearby}, mean over heads",
            100.0 * float(within.mean()),
            "%",
        ),
        Metric("uniform", "Attention to a key by chance", 100.0 * uniform, "%"),
    )


def confirmed(first: Result, second: Result) -> tuple[Finding, ...]:
    """Which kinds of heads there are, as many as both runs show."""
    n_heads, is_of_images = first.arrays["first"].size, "pictures" in first.arrays
    found = [*_of_sinks(first, second)]
    # What sinks are counted by is another mean of the same attention.
    kinds = [kind for kind in CONFIRMED if first.find(kind) and not (kind == "first" and found)]
    for kind in kinds:
        share = min(_share_of(kind, first), _share_of(kind, second))
        # What the rule of an encoding does with any weights is no finding.
        if share <= float(first.arrays[f"{kind}_random"]):
            continue
        if count := round(share * n_heads / 100.0):
            text = WORDING(
                "attend",
                count=count,
                n_heads=n_heads,
                kind=kind,
                by_mean=round((first.value(kind) or 0.0) * n_heads / 100.0)
                if is_of_images
                else count,
                of_images=is_of_images,
                is_special=kind == "first" and _begins_all(first),
                error=first.error(kind),
                random=float(first.arrays[f"{kind}_random"]),
            )
            weight = 0.3 + 0.5 * share / 100.0
            rests_on = (kind, *_error_keys(first, kind), f"{kind}_highest")
            found.append(Finding(text, rests_on, weight))
    return (*found, *_that_fall(first, second))


def _error_keys(result: Result, *keys: str) -> tuple[str, ...]:
    """Keys of the standard errors of those of ``keys`` that have one."""
    return tuple(error_key(key) for key in keys if result.error_of(key))


def _share_of(kind: str, result: Result) -> float:
    """Of the heads, the share of a kind in %: of images, on the plain and on the noisy alike, since
    a head may find a patch by what it shows.
    """
    on_each = result.arrays.get(f"{kind}{ON_EACH}")
    return result.value(kind) or 0.0 if on_each is None else float(on_each)


def _that_fall(first: Result, second: Result) -> Iterator[Finding]:
    """A finding on power laws of distance, where both runs show more than random weights do."""
    if not first.find("power"):
        return
    shares = [result.value("power") or 0.0 for result in (first, second)]
    random = float(first.arrays["power_random"])
    n_heads = first.arrays["first"].size
    if round(min(shares) * n_heads / 100.0) and min(shares) > random:
        runs = [
            (round(share * n_heads / 100.0), result.value("exponent"))
            for share, result in zip(shares, (first, second), strict=True)
        ]
        keys = tuple(FALLS)
        errors = {key: first.error(key) for key in keys}
        values = {"share": shares[0], "r2": first.value("exponent_r2"), "random": random}
        text = WORDING("fall", n_heads=n_heads, runs=runs, errors=errors, **values)
        yield Finding(text, (*keys, *_error_keys(first, *keys)), 0.3)


def _of_sinks(first: Result, second: Result) -> Iterator[Finding]:
    """A finding on attention sinks, where both runs show more than random weights do."""
    random = max(float(first.arrays.get(f"{key}_random", 0.0)) for key in SINKS)
    least = LEAST_SINKS + random
    both = [result.find("sinks") for result in (first, second)]
    if any(found is None or (found.value or 0.0) <= least for found in both):
        return
    share = first.value("sinks") or 0.0
    values = {
        "share": share,
        "error": first.value(error_key("sinks")),
        "by_mean": first.value("first"),
        "by_mean_error": first.error("first"),
        "random": random,
    }
    for name, key in (("text", "sinks_text"), ("repeated", ONE_TOKEN)):
        values |= {name: first.value(key), f"{name}_error": first.error(key)}
    rests_on = [key for key in SINKS if first.value(key) is not None]
    yield Finding(
        WORDING("sinks", **values),
        (*rests_on, *map(error_key, rests_on)),
        0.3 + 0.5 * share / 100.0,
    )


def _begins_all(result: Result) -> bool:
    """Whether all sequences of tokens that were read begin with the same one."""
    return "ids" in result.arrays and bool(np.ptp(result.arrays["ids"][:, 0]) == 0)


def mean_profile(result: Result) -> tuple[Array, Array]:
    """Offsets and mean attention there, over all heads: (n,) each; of images along a row."""
    if "pictures" in result.arrays:
        picture = result.arrays["pictures"].mean(axis=(0, 1))
        row = picture[len(picture) // 2]
        return np.arange(len(row)) - len(row) // 2, row
    return result.arrays["offsets"], result.arrays["by_offset"].mean(axis=(0, 1))


def sentence(results: Results, _: int) -> str:
    """The parts with the fewest and the most heads of a kind; "" where all have as many."""
    found = {label.title: (100.0 - (r.value("none") or 0.0), r) for label, r in results.items()}
    every = [share for share, _ in found.values()]
    ends = [
        (
            share,
            next(result for each, result in found.values() if each == share).error("none"),
            [title for title, (each, _) in found.items() if each == share],
        )
        for share in sorted({min(every), max(every)})
    ]
    return WORDING("look", ends=ends) if len(ends) > 1 else ""


def _of_kind(kind: str, results: Results, _: int) -> str:
    """In how many parts more heads are of a kind than with random weights, and in which of these
    most are.
    """
    known = {
        label.title: (found.value, float(result.arrays.get(f"{kind}_random", 0.0)))
        for label, result in results.items()
        if (found := result.find(kind)) and found.value is not None
    }
    more = {title: value for title, (value, random) in known.items() if value > random}
    if not more:
        return ""
    most = max(more, key=lambda title: more[title])
    return WORDING(
        "bars",
        n_more=len(more),
        n_parts=len(known),
        title=most,
        most=more[most],
        error=next(one.error(kind) for label, one in results.items() if label.title == most),
        kind=kind,
        is_explained=kind != "first" and bool(_of_kind("first", results, _)),
        of_images=any("pictures" in result.arrays for result in results.values()),
    )


def _to_one_place(result: Result) -> Floats:
    """The most attention of each head to the place of a kind: (n_layers, n_heads)."""
    return result.arrays["to_one_place"]


def draw_across(results: Results) -> "Figure":
    """The most attention of each head to one place, of the parts that have several heads."""
    several = {one: found for one, found in results.items() if _to_one_place(found).size > 1}
    labels = ("head", "layer", "attention to one place")
    draw_images = Images(_to_one_place, (0.0, 1.0), SEQUENTIAL, labels, square=False)
    return draw_images(several or results)


def _kinds(result: Result) -> dict[str, Any]:
    shares = {title: _share(result, kind) for kind, title in TITLES.items()}
    return {"shares": {title: share for title, share in shares.items() if share}}


def _share(result: Result, kind: str) -> float:
    return next((metric.value or 0.0 for metric in result.metrics if metric.key == kind), 0.0)


def draw(results: Results) -> "Figure":
    """Each head as a strip of its profile, or as a picture of it."""
    (result,) = results.values()
    if "pictures" in result.arrays:
        return pictures(result.arrays["pictures"])
    offsets, by_offset = result.arrays["offsets"], result.arrays["by_offset"]
    shown = (offsets >= -SHOWN) & (offsets <= SHOWN)
    first = result.arrays["first"][:, :, None]
    gap = np.full(first.shape, np.nan)
    strip = np.concatenate([first, first, gap, by_offset[:, :, shown]], axis=2)
    ends = offsets[shown][[0, -1]]
    across = f"head; its number is below offset 0 of offsets {ends[0]} to {ends[1]}"
    across = across.replace("-", "−")
    middle = 3.0 - ends[0]  # After both columns of the first position and the gap.
    return strips(strip, LIMIT, f"attention ({LIMIT:g} or more)", across, middle)


def alt(results: Results) -> str:
    """Alternative text: how many heads are of each kind."""
    (result,) = results.values()
    return WORDING("strips_alt", shares=[each for each in result.metrics if each.key in TITLES])


ANALYSIS = Analysis(
    key="heads",
    after="probe",
    subject="model",
    units={
        **dict.fromkeys(
            (*SINKS, "previous", "own", "next", "beside", "first", "none", "power"), "%"
        ),
        "exponent": "",
    },
    over_steps={"sinks": "rise", "sinks_text": "rise", "power": "rise"},
    compute=compute,
    confirmed=confirmed,
    across=FigureSpec(
        "kinds",
        WORDING.figure("kinds", _kinds),
        draw_across,
    ),
    overlay=Overlay(
        x="offset of the key from the query (positions)",
        y="attention, mean over heads",
        points=mean_profile,
    ),
    sentence=sentence,
    bars=tuple(Bars(kind, partial(_of_kind, kind), f"{kind}_random") for kind in BARS),
    figures=(
        FigureSpec(
            "strips",
            WORDING.figure("strips", alt=alt),
            draw=draw,
            python=(
                'heads = np.concatenate(arrays["heads.by_offset"])\n'
                'plt.pcolormesh(arrays["heads.offsets"], np.arange(len(heads)), heads, vmax=0.5)'
            ),
        ),
    ),
)
