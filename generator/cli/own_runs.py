"""Rows for the checkpoints and training runs in somebody's folders."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from textwrap import indent

from generator.cache import blobs
from generator.checkpoints import list_edit, list_file, series
from generator.checkpoints.files.weights import begins_as_its_format, scalar
from generator.checkpoints.list_row import PATH_LIKE
from generator.checkpoints.sources import folder as folders
from generator.checkpoints.survey import Survey, survey
from generator.cli.terminal import Terminal
from generator.contracts import Checkpoint
from generator.errors import BOUNDS, MOST_OPENED, AtlasError, RefusedError
from generator.pipeline import local_pool
from generator.pipeline.executor import Executor
from generator.pipeline.inspect import inspect
from generator.reading.plan import Task
from generator.text import plural, visible

LIST = Path("checkpoints.yml")
MOST_NAMED = 6  # folders with one reason
NOTHING = "no position encoding found; `position-atlas inspect` lists what was looked for"
NO_PICKLE = "has the ending of a torch file, but not its first bytes"
PERMISSION = """\
# These entries have their weights only in pickles. None was opened: a pickle can run code.
# `pickle: true` opens one by torch's weights_only. If you trust it, remove "# " from its lines.
"""


@dataclass
class FoundEntries:
    """What was found, as text of a list.

    active: a row each; waiting: rows that need ``pickle: true``; reasons: what each is left out for
    taken: slugs of the list; listed: what it names already, by ``folders.identities``; n_listed:
        how much of this was found
    """

    taken: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    active: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    n_listed: int = 0

    @property
    def text(self) -> str:
        """All of it, as lines of a list."""
        waiting = indent("".join(self.waiting), "# ")
        left_out = [_left_out(reason, names) for reason, names in self.reasons.items()]
        return "".join(
            (
                *self.active,
                *((PERMISSION, waiting) if waiting else ()),
                *(("# Left out, with the reason:\n", *left_out) if left_out else ()),
            )
        )

    def leave_out_known(self, text: str) -> None:
        """Forget the comments that the ``text`` of a list has."""
        known = {line.lstrip("# ") for line in text.splitlines()}
        new = [row for row in self.waiting if row.splitlines()[0] not in known]
        self.n_listed += len(self.waiting) - len(new)
        self.waiting = new
        self.reasons = {
            reason: names
            for reason, names in self.reasons.items()
            if _left_out(reason, names).lstrip("# ").rstrip() not in known
        }

    def counts(self, n_before: int | None = None) -> str:
        """How many there are of each, in words. n_before: as in ``_tell``"""
        n_new, of_all = len(self.active), ""
        if n_before is not None:
            of_all = f" of {n_before + n_new} {'is' if n_new == 1 else 'are'} new"
        n_left_out = sum(map(len, self.reasons.values()))
        return ", ".join(
            (
                plural(n_new, "entry", "entries") + of_all,
                *((f"{len(self.waiting)} waiting for your permission",) if self.waiting else ()),
                *((f"{n_left_out} left out, with the reason",) if n_left_out else ()),
                *((f"{self.n_listed} already listed",) if self.n_listed else ()),
            )
        )


@dataclass(frozen=True)
class _Group:
    """A checkpoint, or those of a training run in the order of their steps.

    row: which names them; title: "" for none; members: rows of each
    """

    row: Checkpoint
    title: str
    members: Sequence[Checkpoint]

    @property
    def label(self) -> str:
        """Its name in a comment."""
        count = len(self.members)
        return f"{self.row.id} ({count} checkpoints)" if count > 1 else self.row.id


def write(terminal: Terminal, given: Sequence[Path]) -> None:
    """Write LIST, in this folder, of what lies in the folders ``given``.

    errors: RefusedError where a list is there, or nothing is found; OSError
    """
    for path in (LIST, *(folder / LIST for folder in given)):
        if path.exists():
            raise RefusedError(
                f"{path}: found a list; expected none ('position-atlas add FOLDER' appends the"
                " checkpoints of a folder to an existing list)"
            )
    if not given:
        raise RefusedError(
            ".: found files; expected an empty or new folder ('position-atlas init .' searches"
            " this one for checkpoints)"
        )
    rows = _found(terminal, given, Path(), FoundEntries())
    if not rows.active and not rows.waiting:
        raise RefusedError(*_nothing(given, rows))
    text = f"models: listed\ncheckpoints:\n{indent(rows.text, '  ')}"
    blobs.write(LIST, [text.encode()])
    _tell(terminal, LIST, rows)


def append(
    terminal: Terminal, config_file: Path, listed: Sequence[Checkpoint], folder: Path
) -> None:
    """Append what lies in ``folder`` to a list, which has the rows ``listed``.

    errors: RefusedError where nothing is found, or for a list in flow style; OSError
    """
    names = {name for row in listed for one in _members(row) for name in folders.identities(one)}
    rows = FoundEntries({row.slug for row in listed}, names)
    rows = _found(terminal, [folder], config_file.parent, rows)
    rows.leave_out_known(list_file.read_text(config_file))
    if not rows.active and not rows.waiting:
        if rows.n_listed:
            terminal.print(f"{config_file}: nothing to add ({rows.n_listed} already listed)")
            return
        raise RefusedError(*_nothing([folder], rows))
    list_edit.append(config_file, rows.text)
    _tell(terminal, config_file, rows, len(listed))


def _tell(
    terminal: Terminal, config_file: Path, rows: FoundEntries, n_before: int | None = None
) -> None:
    """n_before: entries of the list before, None for a new one"""
    terminal.print(f"{config_file}: {rows.counts(n_before)}")
    if rows.active:
        terminal.print("'position-atlas build' builds the site")
    else:
        terminal.print("No entry is active yet; the comments in the list say what each one needs")


def _nothing(given: Sequence[Path], rows: FoundEntries) -> list[str]:
    """That nothing was found, and the reasons of what was left out."""
    where = ", ".join(map(str, given))
    return [
        f"{where}: found no checkpoint that can be read; expected folders with config.json, or"
        " weights files",
        *(f"{_named(names)}: {reason}" for reason, names in rows.reasons.items()),
    ]


def _left_out(reason: str, names: Sequence[str]) -> str:
    """The comment on what is left out for one ``reason``."""
    return f"# - {visible(_named(names))}: {visible(reason)}\n"


def _named(names: Sequence[str]) -> str:
    others = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {others:,} more" if others > 0 else "")


def _members(row: Checkpoint) -> list[Checkpoint]:
    """The row of a list, and its checkpoints; empty for one that is not of a folder."""
    if row.source != folders.SOURCE.key:
        return []
    for every in (1, row.every):  # All of them, unless these are too many.
        with suppress(AtlasError, OSError):  # Reported by a build.
            members = folders.SOURCE.members(replace(row, every=every), offline=True)
            return [row, *members]
    return [row]


def _found(
    terminal: Terminal, given: Sequence[Path], base: Path, rows: FoundEntries
) -> FoundEntries:
    """``rows`` with what lies in the folders ``given``. base: the folder of the list

    errors: OSError where one of ``given`` cannot be read
    """
    n_opened = 0
    with local_pool.processes(jobs=1) as executor:
        for top in given:
            terminal.print(f"searching {top}")
            seen = survey(top)
            written = _written(top, base)
            failed: list[tuple[_Group, str]] = []
            for group in _groups(seen, written):
                names = frozenset[str]().union(*map(folders.identities, group.members))
                if names & rows.listed:
                    rows.n_listed += 1
                elif n_opened == MOST_OPENED:
                    seen.is_whole = False
                else:
                    n_opened += 1
                    rows.listed |= names
                    if reason := _add(rows, group, executor):
                        failed.append((group, reason))
            for group, reason in failed:
                if not _is_above(group, seen):
                    rows.reasons.setdefault(reason, []).append(group.label)
            for name, reason in seen.left_out.items():
                rows.reasons.setdefault(reason, []).append(f"{written}/{name}")
            if not seen.is_whole:
                rows.reasons[f"searched only in part ({BOUNDS}); name a folder in it"] = [written]
    return rows


def _is_above(group: _Group, seen: Survey) -> bool:
    """Whether others were found in its folder, so that it is no checkpoint that fails."""
    [first, *others] = group.members
    place = Path(first.place)
    return not others and any(place in seen.top.joinpath(*parts).parents for parts in seen.found)


def _add(rows: FoundEntries, group: _Group, executor: Executor) -> str:
    """Add the row of ``group``; why it is left out, "" where it is not.

    Of a run, the first and the last checkpoint are opened.
    """
    ends = dict.fromkeys((group.members[0], group.members[-1]))
    waits = list(map(_waits, ends))
    if any(waits) and NO_PICKLE not in waits:
        rows.waiting.append(_row(rows, group, needs_pickle=True))
        return ""
    problems = {
        one.id: waiting or _problem(one, executor) for one, waiting in zip(ends, waits, strict=True)
    }
    if all(problems.values()):
        return next(iter(problems.values()))
    rows.active.append(_row(rows, group))
    for name, problem in problems.items():
        if problem:
            rows.reasons.setdefault(problem, []).append(name)
    return ""


def _waits(one: Checkpoint) -> str:
    """Why a checkpoint's only weights are not opened; "" where they may be, or it has none."""
    try:
        stored = folders.refused_weights(one)
        if stored is None:
            return ""
        return "only a pickle" if begins_as_its_format(stored) else NO_PICKLE
    except (AtlasError, OSError):  # Reported when it is opened.
        return ""


def _problem(one: Checkpoint, executor: Executor) -> str:
    """Why a checkpoint cannot be shown; "" where it can."""
    try:
        seen = local_pool.within_limits(executor, inspect, Task(one, offline=False))
    except AtlasError as error:
        return str(error).removeprefix(f"{one.id}: ").removeprefix(f"{one.id}/")
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if seen.records or seen.outcome.unmeasured else NOTHING


def _row(rows: FoundEntries, group: _Group, needs_pickle: bool = False) -> str:
    """The lines of the row of ``group``, whose page has a name that no other has."""
    row = group.row
    names = (
        [group.title, f"{group.title}, in training"] if len(group.members) > 1 else [group.title]
    )
    numbered = (f"{group.title} {number}" for number in range(2, len(rows.taken) + 3))
    title = next(
        name for name in (*names, *numbered) if list_file.slug_of(name, row.id) not in rows.taken
    )
    rows.taken.add(list_file.slug_of(title, row.id))
    options = {row.source: scalar(row.id), "title": scalar(title)}
    options |= {"every": str(row.every)} if row.every > 1 else {}
    options |= {"pickle": "true"} if needs_pickle else {}
    lines = [f"{key}: {value}" for key, value in options.items()]
    return "- " + "\n  ".join(lines) + "\n"


def _written(top: Path, base: Path) -> str:
    """``top`` as a row of a list in the folder ``base`` names it."""
    return top.as_posix() if top.is_absolute() else Path(os.path.relpath(top, base)).as_posix()


def _groups(seen: Survey, written: str) -> Iterator[_Group]:
    """What was found, each run as one where a pattern names its checkpoints and no others."""
    for run in series.runs_of(seen.found):
        ordered = _of_run(seen.top, written, run) if len(run) > 1 else None
        if ordered is not None:
            yield ordered
            continue
        for parts in run:
            one = _checkpoint(seen.top, written, parts)
            yield _Group(one, _title(seen.top, parts), [one])


def _of_run(top: Path, written: str, run: Sequence[tuple[str, ...]]) -> _Group | None:
    """The group of a run; None where no pattern names its checkpoints alone."""
    places = {str(top.joinpath(*parts)) for parts in run}
    for pattern in series.patterns(run):
        row = replace(_checkpoint(top, written, (pattern,)), every=series.thinned(len(run)))
        with suppress(AtlasError):
            members = folders.SOURCE.members(row, offline=True)
            found = {member.place for member in members}
            if found == places or (row.every > 1 and found < places):
                return _Group(row, _title(top, run[0][: series.step_part(run[0])]), members)
    return None


def _checkpoint(top: Path, written: str, parts: Sequence[str]) -> Checkpoint:
    """A row of what lies at ``parts`` below ``top``."""
    name = PurePosixPath(written, *parts).as_posix()
    return Checkpoint("own", folders.SOURCE.key, name, str(top.joinpath(*parts)), name)


def _title(top: Path, parts: Sequence[str]) -> str:
    """The title of what lies at ``parts`` below ``top``, which a list takes."""
    title = "/".join(parts) or top.resolve().name
    is_one = title.strip() and not PATH_LIKE.search(title)
    return title if is_one else list_file.slug_of(title, title)
