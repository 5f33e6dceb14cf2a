"""What the numbers of a training run say in sentences, each printed only where its premises
hold.
"""

from collections.abc import Iterator, Sequence

from generator.contracts import Run, RunEncoding, RunMember, RunMetric
from generator.contracts.wording import Wording
from generator.text import measured, with_unit

WORDING = Wording("wording/runs.jinja")
CLEARLY = 0.1  # A value hardly beyond both ends is no turn.
LISTED = 3  # unread checkpoints that are named
Point = tuple[int, float]  # step, value


def sentences(run: Run, encoding: RunEncoding, metrics: Sequence[RunMetric]) -> list[str]:
    """How the kernel and each of ``metrics`` changed from the first checkpoint to the last, what
    changed most first.

    A metric with the ends of the kernel at distance 1 is left out, since it says the same.
    """
    near = _ends(encoding, 1)
    ranked = sorted(metrics, key=lambda metric: -change(run, metric))
    others = [
        metric for metric in ranked if near is None or (metric.values[0], metric.values[-1]) != near
    ]
    return [
        *_of_kernel(run, encoding),
        *(text for metric in others for text in _of_metric(run, metric)),
    ]


def change(run: Run, metric: RunMetric) -> float:
    """Difference of its last and its first value, relative to the larger size; 0 where it has fewer
    than two values.
    """
    points = _points(run, metric.values)
    if len(points) < 2:
        return 0.0
    first, last = points[0][1], points[-1][1]
    return abs(last - first) / (max(abs(first), abs(last)) or 1.0)


def unread(run: Run) -> str | None:
    """How many checkpoints could not be read, and the steps of the first ``LISTED``; None where all
    could.
    """
    if not run.unread:
        return None
    return WORDING(
        "unread", count=len(run.unread), total=len(run.members), steps=_steps(run.unread)
    )


def reasons(run: Run) -> list[tuple[str, str]]:
    """Why checkpoints could not be read: each reason once, with the steps that have it. The name of
    a checkpoint is no part of it.
    """
    by_reason: dict[str, list[RunMember]] = {}
    for member in run.unread:
        reason = (member.reason or "").replace(f"{run.id}/{member.name}", "").lstrip(":/ ")
        if reason:
            by_reason.setdefault(reason, []).append(member)
    return [(_steps(members), reason) for reason, members in by_reason.items()]


def _steps(members: Sequence[RunMember]) -> str:
    """Their steps in words, the first ``LISTED`` by number."""
    few = ", ".join(f"{member.step:,}" for member in members[:LISTED])
    more = f" and {len(members) - LISTED} more" if len(members) > LISTED else ""
    return f"step{'s' if len(members) > 1 else ''} {few}{more}"


def _points(run: Run, values: Sequence[float | None]) -> list[Point]:
    return [
        (step, value) for step, value in zip(run.steps, values, strict=True) if value is not None
    ]


def _ends(encoding: RunEncoding, distance: int) -> tuple[float, float] | None:
    """The kernel at a distance, at the first and at the last checkpoint that have the encoding;
    None where there are not two such values.
    """
    rows = [encoding.kernel[index] for index in encoding.present]
    if len(rows) < 2 or any(distance >= len(row) for row in rows):
        return None
    before, after = rows[0][distance], rows[-1][distance]
    return None if before is None or after is None else (before, after)


def _of_kernel(run: Run, encoding: RunEncoding) -> Iterator[str]:
    """The kernel of neighbours and of the farthest distance."""
    farthest = min((len(encoding.kernel[index]) for index in encoding.present), default=0) - 1
    near, far = _ends(encoding, 1), _ends(encoding, farthest)
    if near is None or far is None or farthest < 2:
        return
    first, last = (run.steps[encoding.present[index]] for index in (0, -1))
    quantity = encoding.quantity.partition(",")[0]
    moves = {"near": _moves(*near), "far": _moves(*far)}
    yield WORDING(
        "kernel_moved", first=first, last=last, quantity=quantity, farthest=farthest, **moves
    )


def _moves(before: float, after: float, unit: str = "") -> str:
    """Verb and ends of a change, by the numbers as they are printed."""
    first, last = measured(before, unit), measured(after, unit)
    if first == last:
        return f"stayed at {with_unit(first, unit)}"
    return f"{'rose' if after > before else 'fell'} from {first} to {with_unit(last, unit)}"


def _of_metric(run: Run, metric: RunMetric) -> Iterator[str]:
    points = _points(run, metric.values)
    if len(points) < 2:
        return
    (start, before), (stop, after) = points[0], points[-1]
    if measured(before, metric.unit) == measured(after, metric.unit):
        return
    half, is_whole = _half(points), (start, stop) == (run.steps[0], run.steps[-1])
    yield WORDING(
        "metric_moved",
        title=f"{metric.title}," if ", " in metric.title else metric.title,
        moves=_moves(before, after, metric.unit),
        steps=None if is_whole else (start, stop),
        beyond=_beyond(points, metric.unit),
        half=half if half < stop else None,
    )


def _half(points: Sequence[Point]) -> int:
    """The first step from which on the values stay nearer to the last than to the first."""
    (_, before), (_, after) = points[0], points[-1]
    nearer = [abs(value - before) > abs(value - after) for _, value in points]
    first = next(index for index in range(len(points)) if all(nearer[index:]))
    return points[first][0]


def _beyond(points: Sequence[Point], unit: str) -> str:
    """A sentence on values beyond both ends by ``CLEARLY`` of their distance or more; "" where
    there is none.
    """
    room = CLEARLY * abs(points[-1][1] - points[0][1])
    low, high = min(points, key=lambda point: point[1]), max(points, key=lambda point: point[1])
    *ends, lowest, highest = (
        measured(value, unit) for _, value in (points[0], points[-1], low, high)
    )
    extremes = (("lowest", low, lowest), ("highest", high, highest))
    found = [
        f"{word} at step {step:,} ({with_unit(text, unit)})"
        for word, (step, value), text in extremes
        if text not in ends and min(abs(value - points[index][1]) for index in (0, -1)) >= room
    ]
    return f"It was {' and '.join(found)}." if found else ""
