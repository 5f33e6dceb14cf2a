"""Causes of changes as text, for terminals and for summaries in Markdown."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from generator.contracts.wording import Wording
from generator.site.history.causes import Cause
from generator.site.history.changes import Change, Document
from generator.site.history.curves import DrawnCurve
from generator.text import plural, short, significant, times, visible, with_unit

WORDING = Wording("wording/changes.jinja")
DIGITS = 12  # of a digest or a commit, hexadecimal
COMMIT = re.compile("[0-9a-f]{40,64}")
DIGEST = "sha256:"
LONGEST = 120  # characters of a value
MOST_ROWS = 60  # of a table in a comment, which forges limit to 65,536 characters
PERCENT = 2  # significant digits
# What a forge makes of text that Markdown has left alone: people, issues, labels, links, emoji.
LIVE = re.compile(r"[@#!%^&~$:](?=\S)|\b(?:gh(?=-)|www(?=\.))", re.IGNORECASE)
MARKUP = re.compile(r"[|<>&`*_\[\]{}\\~$]")
APART = "\u2060"  # A word joiner, which is not seen.


def line(cause: Cause) -> str:
    """One cause as a line of text, with the number of values that changed with it."""
    said = named(cause)
    if cause.change is None or not cause.follows:
        return said
    return WORDING("followed", line=said, n_values=len(cause.follows))


def named(cause: Cause) -> str:
    """One cause, without what follows from it."""
    if cause.change is not None:
        return _change_text(cause.change)
    values = cause.follows
    if cause.libraries:
        return WORDING(
            "libraries",
            moved=[
                WORDING("moved", name=name, before=before, after=after)
                for name, (before, after) in cause.libraries.items()
            ],
            n_values=len(values),
            n_rows=len({value.slug for value in values}),
        )
    if len(values) == 1:
        return WORDING("unknown_one", line=value_line(values[0]))
    steps = sorted({value.step for value in values if value.step is not None})
    return WORDING("unknown", title=values[0].title, n_values=len(values), steps=steps)


def value_line(change: Change) -> str:
    """A value that changed, as a line of text."""
    return WORDING(
        "value",
        name=change.encoding,
        what=change.what,
        step=change.step,
        before=_value(change.before),
        after=with_unit(_value(change.after), change.unit),
    )


def count(found: Sequence[Cause]) -> str:
    """How many causes there are, and how many values changed with them."""
    n_values = sum(len(cause.follows) for cause in found)
    return WORDING("summed", n_causes=len(found), n_values=n_values)


def title(found: Sequence[Cause]) -> str:
    """The first cause, and how many more there are."""
    return WORDING("first_of", line=named(found[0]), n_more=len(found) - 1) if found else ""


def table(found: Sequence[Cause]) -> str:
    """Causes as a table in Markdown."""
    rows = [f"| {cell(named(cause))} | {len(cause.follows):,} |" for cause in found]
    return "\n".join([WORDING("markdown_head"), "| --- | ---: |", *rows])


def counts(atlas: Document) -> str:
    """How many checkpoints and training runs an atlas has, and in Markdown which of them could not
    be read, and why.
    """
    rows, runs = atlas["checkpoints"], atlas.get("runs", [])
    heads = (
        [f"**{plural(len(rows), 'checkpoint')}**: {_statuses(rows)}"] if rows or not runs else []
    )
    members = [
        {"title": f"{run['title']}, step {member['step']:,}", **member}
        for run in runs
        for member in run["unread"]
    ]
    if runs:
        n_read = sum(len(run["steps"]) for run in runs) - len(members)
        found = _statuses([*members, *({"status": "ok"} for _ in range(n_read))])
        of_runs = f"**{plural(len(runs), 'training run')}**"
        heads.append(f"{of_runs} of {plural(n_read + len(members), 'checkpoint')}: {found}")
    failed = [
        f"| {cell(row['title'])} | {cell(row['reason'] or '')} |"
        for row in [*rows, *members]
        if row["status"] != "ok"
    ]
    return "\n".join(
        [
            "; ".join(heads),
            "",
            *(["| Not read | Reason |", "| --- | --- |", *failed, ""] if failed else []),
        ]
    )


def _statuses(rows: Sequence[Document]) -> str:
    counted = sorted(Counter(row["status"] for row in rows).items(), reverse=True)
    return ", ".join(f"{count} {status}" for status, count in counted)


def since(found: Sequence[Cause] | None, drawn: Sequence[DrawnCurve] = ()) -> str:
    """What changed since the published site, in Markdown; None where there is none.

    drawn: figures that changed
    """
    if found is None:
        return WORDING("nothing_published")
    rows = [f"| {cell(one.name)} | `{one.before}` | `{one.after}` |" for one in drawn]
    of_figures = ["", WORDING("pictures_head"), "| --- | --- | --- |", *rows] if rows else []
    more = len(found) - MOST_ROWS
    rest = ["", WORDING("more", count=more)] if more > 0 else []
    said = table(found[:MOST_ROWS]) if found else WORDING("nothing_changed")
    return "\n".join([said, *rest, *of_figures])


def _change_text(change: Change) -> str:
    kind = _kind(change)
    n_layers, n_all = change.layers or (0, 0)
    values = {
        "title": change.title,
        "name": change.encoding,
        "key": short(change.what),
        "what": change.what.replace("_", " "),
        "before": _value(change.before),
        "after": _value(change.after),
        "reason": change.reason.removeprefix(f"{change.title}: "),
        "n_layers": n_layers,
        "n_all": n_all,
        "keys": [short(key) for key in change.keys],
        **(_of_steps(change) if kind == "steps" else _of_numbers(change)),
    }
    return WORDING(kind, **{name: values[name] for name in WORDING.arguments(kind)})


def _kind(change: Change) -> str:
    """Name of the sentence on a change."""
    match change.kind:
        case "setting" if any(str(one).startswith(DIGEST) for one in (change.before, change.after)):
            return "setting_other"
        case "numbers" if None not in change.shape and change.shape[0] != change.shape[1]:
            return "resized"
        case "numbers" if change.rows is not None:
            return "rows"
    return change.kind.replace(" ", "_")


def _of_steps(change: Change) -> dict[str, Any]:
    before, after = change.before, change.after
    return {
        "added": [step for step in after if step not in set(before)],
        "removed": [step for step in before if step not in set(after)],
        "was": f"{before[-1]:,}",
        "last": f"{after[-1]:,}",
    }


def _of_numbers(change: Change) -> dict[str, Any]:
    """What sentences on stored numbers say of them."""
    former, later = change.dtype
    is_retyped = None not in change.dtype and former != later
    sizes = {
        f"{side}_size": times(shape or ())
        for side, shape in zip(("former", "later"), change.shape, strict=True)
    }
    rows: dict[str, Any] = {**change.rows} if change.rows else {}
    by = rows.get("by")
    return {
        **sizes,
        **rows,
        "by": "" if by is None else significant(by, PERCENT),
        "dtype": WORDING("dtype", before=former, after=later) if is_retyped else "",
    }


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return short(", ".join(f"{key} {_value(one)}" for key, one in value.items()), LONGEST)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | int):
        return significant(value, 6)
    text = str(value)
    return text[:DIGITS] if COMMIT.fullmatch(text) else short(text, LONGEST)


def cell(text: str) -> str:
    """``text`` as it stands in a table of Markdown on a forge, where nothing of it is markup, a
    mention or a link.
    """
    line = LIVE.sub(rf"\g<0>{APART}", visible(" ".join(text.split())))
    return MARKUP.sub(lambda mark: f"&#{ord(mark[0])};", line)
