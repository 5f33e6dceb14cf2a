"""Figures that changed, as text for places that show no pictures of ours: the curve of each before
and after, on one scale.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from generator.contracts.wording import Wording
from generator.errors import RowError
from generator.numerics.arrays import Floats, row_norms
from generator.site.history.causes import Cause
from generator.site.history.changes import RUNS, Change
from generator.site.history.published_numbers import (
    PLACE,
    TABLE,
    Read,
    arrays,
    arrays_of,
    run_of,
)

WORDING = Wording("wording/changes.jinja")
BARS, GAP = "▁▂▃▄▅▆▇█", "·"
MOST, WIDTH = 6, 32  # pictures; columns of each
MOST_READ = 24  # encodings that are looked at
PROFILE = "decay_with_distance.profile"


@dataclass(frozen=True)
class DrawnCurve:
    """A curve before and after, each as ``WIDTH`` bars at most. name: what it shows, of what"""

    name: str
    before: str
    after: str


def drawn(found: Sequence[Cause], read: Read, read_later: Read) -> tuple[DrawnCurve, ...]:
    """The first ``MOST`` curves of which something is seen to change, in the order of causes."""
    changed = chain.from_iterable((cause.change, *cause.follows) for cause in found)
    places = {(one.slug, one.key): one for one in changed if one and one.key}
    found_curves = (
        picture
        for one in islice(places.values(), MOST_READ)
        for picture in _of_encoding(one, read, read_later)
    )
    return tuple(islice(found_curves, MOST))


def _of_encoding(one: Change, read: Read, read_later: Read) -> Iterator[DrawnCurve]:
    former, later = (dict(_curves(one, function)) for function in (read, read_later))
    for what in (what for what in former if what in later):
        before, after = _bars(former[what], later[what])
        if before != after:
            yield DrawnCurve(WORDING(what, name=one.encoding), before, after)


def _curves(one: Change, read: Read) -> Iterator[tuple[str, Floats]]:
    """Curves of an encoding, (n,) each, by the name of the sentence on them; of a training run the
    one of its last checkpoint.
    """
    is_run = one.slug.startswith(RUNS)
    path = f"data/{one.slug}.json" if is_run else arrays_of(one.slug, one.key)
    content = read(path) if PLACE.fullmatch(path) else None
    if is_run:
        yield from _of_run(one, content)
        return
    found = arrays(content, PROFILE, TABLE)
    if PROFILE in found and found[PROFILE].ndim == 1:
        yield "by_distance", found[PROFILE]
    if TABLE in found and found[TABLE].ndim == 2:
        yield "by_row", row_norms(found[TABLE].astype(np.float64))


def _of_run(one: Change, content: bytes | None) -> Iterator[tuple[str, Floats]]:
    try:
        run = run_of(content, one.slug)
    except RowError:
        return
    for encoding in run.encodings:
        if encoding.key == one.key and encoding.present:
            yield "by_distance", np.array(encoding.kernel[encoding.present[-1]], dtype=np.float64)


def _bars(before: Floats, after: Floats) -> tuple[str, str]:
    """Two curves, (n,) each, as bars between the least and the largest value of both."""
    both = [
        np.array([block.mean() for block in np.array_split(curve, min(WIDTH, len(curve)))])
        for curve in (before, after)
        if len(curve)
    ]
    if len(both) < 2 or not any(np.isfinite(means).any() for means in both):
        return "", ""
    low, high = (bound(list(map(bound, both))) for bound in (np.nanmin, np.nanmax))
    step = (high - low) / len(BARS) or 1.0
    first, second = (
        "".join(
            BARS[min(int((value - low) / step), len(BARS) - 1)] if np.isfinite(value) else GAP
            for value in means
        )
        for means in both
    )
    return first, second
