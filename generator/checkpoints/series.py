"""Series of checkpoints of one training run: the steps in their names, ranges of names, and the
rows of the members.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from generator.contracts import Checkpoint, Series
from generator.errors import RowError

ANY = "*"  # In a folder: any characters of one part of a path.
MOST = 256  # checkpoints of a run, which take that many evaluations
RANGE = re.compile(r"(?P<first>\S+)\s+(?:…|\.\.\.)\s+(?P<last>\S+)")
NUMBERS = re.compile(r"(?<!\d)\d{1,15}(?!\d)")  # Longer ones are no steps.
# Names that training programs give the folders and files of steps. Others have numbers for other
# reasons: seeds, sizes, versions.
STEP = re.compile(
    r"(?<![a-z])(?:checkpoints?|ckpt|(?:global[-_]?)?steps?|iter(?:ation)?s?|epochs?|ep|ba)"
    r"[-_=. ]?\d{1,15}(?!\d)",
    re.IGNORECASE,
)
AFTER_STEP = re.compile(r"step[-_=. ]?$", re.IGNORECASE)
EXPECTED_RANGE = (
    "two names that differ by their numbers alone, the lower first, such as 'step1000 … step143000'"
)


@dataclass(frozen=True)
class Range:
    """Names between two, by the first number in which these differ.

    letters: what all of them have beside numbers
    """

    letters: tuple[str, ...]
    before: tuple[int, ...]
    first: int
    last: int

    def holds(self, name: str) -> bool:
        """Whether ``name`` lies within the range, its ends included."""
        if _letters(name) != self.letters:
            return False
        numbers, place = _numbers(name), len(self.before)
        return numbers[:place] == self.before and self.first <= numbers[place] <= self.last


def range_of(text: str) -> Range | None:
    """The range that ``text`` names, as “first … last”; None where it is none."""
    ends = RANGE.fullmatch(text.strip())
    if ends is None or _letters(ends["first"]) != _letters(ends["last"]):
        return None
    first, last = _numbers(ends["first"]), _numbers(ends["last"])
    place = next(
        (index for index, (low, high) in enumerate(zip(first, last, strict=True)) if low != high),
        None,
    )
    if place is None or first[place] > last[place]:
        return None
    return Range(_letters(ends["first"]), first[:place], first[place], last[place])


def steps(names: Sequence[str]) -> list[int] | None:
    """The step of each name: of names alike but for numbers, the first that differs from name to
    name, one after the word "step" before others; else the last number. None unless all have
    different ones.
    """
    numbers = [_numbers(name) for name in names]
    if not all(numbers):
        return None
    place, letters = -1, _letters(names[0])
    if all(_letters(name) == letters for name in names):
        apart = [
            index
            for index, values in enumerate(zip(*numbers, strict=True))
            if len(set(values)) == len(values) > 1
        ]
        named = [index for index in apart if AFTER_STEP.search(letters[index])]
        place = [*named, *apart, -1][0]
    found = [values[place] for values in numbers]
    return found if len(set(found)) == len(found) else None


def members(
    row: Checkpoint, run: tuple[str, str], named: Mapping[str, Mapping[str, Any]], where: str
) -> list[Checkpoint]:
    """The rows of a run's checkpoints, in order of their steps, one in ``row.every`` and the last.

    run: its slug and title; named: what the row of each checkpoint has that ``row`` has not, by the
        name that holds its step
    errors: RowError for names without steps, and for too many
    """
    found = steps(list(named))
    if found is None:
        names = ", ".join(repr(name) for name in list(named)[:3])
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        raise RowError(
            f"{where}: found {names}{more}; expected names with different numbers, such as"
            " checkpoint-500"
        )
    ordered = sorted(zip(found, named, strict=True))
    taken = ordered[:: row.every]
    taken += [] if taken[-1] == ordered[-1] else [ordered[-1]]
    if len(taken) > MOST:
        raise RowError(
            f"{where}: found {len(taken):,} checkpoints; expected at most {MOST}, which 'every:"
            f" {thinned(len(ordered))}' leaves"
        )
    slug, title = run
    plain = replace(row, revisions="", every=1)
    return [
        replace(
            plain,
            slug=f"{slug}--{step}",
            title=f"{title}, step {step:,}",
            series=Series(slug, title, step, name),
            **named[name],
        )
        for step, name in taken
    ]


def distinct(slug: str, taken: Sequence[str]) -> str:
    """``slug``, with a number where it is among ``taken``."""
    return next(
        name
        for name in (slug, *(f"{slug}-{number}" for number in range(2, len(taken) + 3)))
        if name not in taken
    )


def step_part(path: Sequence[str]) -> int | None:
    """Index of the last part of a path that names a step; None without one."""
    return next((index for index in reversed(range(len(path))) if STEP.search(path[index])), None)


def runs_of(paths: Iterable[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
    """Paths, each as its parts, of one run together: those alike but for the numbers of the last
    part that names a step. Any other is by itself.
    """
    groups: dict[object, list[tuple[str, ...]]] = {}
    for path in paths:
        place = step_part(path)
        key: object = path
        if place is not None:
            key = (path[:place], _letters(path[place]), path[place + 1 :])
        groups.setdefault(key, []).append(path)
    return list(groups.values())


def patterns(paths: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Patterns that match the ``paths`` of one run, the plainest first; others may match too."""
    for number in (ANY, f"[0-9]{ANY}"):
        yield "/".join(
            names[0] if len(set(names)) == 1 else _pattern(names, number)
            for names in zip(*paths, strict=True)
        )


def _pattern(names: Sequence[str], number: str) -> str:
    """Names alike but for numbers, with ``number`` in place of those that differ."""
    numbers = zip(*map(NUMBERS.findall, names), strict=True)
    written = [values[0] if len(set(values)) == 1 else number for values in numbers]
    return "".join(
        letters + value for letters, value in zip(_letters(names[0]), [*written, ""], strict=True)
    )


def thinned(count: int) -> int:
    """``every`` of a row that takes at most MOST of ``count`` checkpoints."""
    return 1 if count <= MOST else -(-count // (MOST - 1))


def _letters(name: str) -> tuple[str, ...]:
    return tuple(NUMBERS.split(name))


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in NUMBERS.findall(name))
