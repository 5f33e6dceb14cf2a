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
from generator.site.history import files
from generator.site.history.causes import Cause
from generator.site.history.changes import RUNS, Change

WORDING = Wording("wording/changes.jinja")
BARS, GAP = "▁▂▃▄▅▆▇█", "·"
MOST, WIDTH = 6, 32  # pictures; columns of each
MOST_READ = 24  # encodings that are looked at
PROFILE = "decay_with_distance.profile"


@dataclass(frozen=True)
class Picture:
    """A curve before and after, each as ``WIDTH`` bars at most. name: what it shows, of what"""

    name: str
    before: str
    after: str


def pictures(
    found: Sequence[Cause], read: files.Read, read_later: files.Read
) -> tuple[Picture, ...]:
    """The first ``MOST`` curves of which something is seen to change, in the order of causes."""
    changed = chain.from_iterable((cause.change, *cause.follows) for cause in found)
    places = {(one.slug, one.key): one for one in changed if one and one.key}
    drawn = (
        picture
        for one in islice(places.values(), MOST_READ)
        for picture in _of_encoding(one, read, read_later)
    )
    return tuple(islice(drawn, MOST))


def _of_encoding(one: Change, read: files.Read, read_later: files.Read) -> Iterator[Picture]:
    former, later = (dict(_curves(one, function)) for function in (read, read_later))
    for what in former.keys() & later.keys():
        before, after = _bars(former[what], later[what])
        if before != after:
            yield Picture(WORDING(what, name=one.encoding), before, after)


def _curves(one: Change, read: files.Read) -> Iterator[tuple[str, Floats]]:
    """Curves of an encoding, (n,) each, by the name of the sentence on them; of a training run the
    one of its last checkpoint.
    """
    if one.slug.startswith(RUNS):
        yield from _of_run(one, read(f"data/{one.slug}.json"))
        return
    path = files.arrays_of(one.slug, one.key)
    arrays = files.arrays(read(path) if files.PLACE.fullmatch(path) else None, PROFILE, files.TABLE)
    if PROFILE in arrays and arrays[PROFILE].ndim == 1:
        yield "by_distance", arrays[PROFILE]
    if files.TABLE in arrays and arrays[files.TABLE].ndim == 2:
        yield "by_row", row_norms(arrays[files.TABLE].astype(np.float64))


def _of_run(one: Change, content: bytes | None) -> Iterator[tuple[str, Floats]]:
    try:
        run = files.run_of(content, one.slug)
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
