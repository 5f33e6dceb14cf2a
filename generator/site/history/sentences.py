"""Changes as text, for terminals and for summaries in Markdown."""

import re
from collections import Counter
from collections.abc import Sequence

from generator.contracts.wording import Wording
from generator.site.history.changes import Change, Document, changes, checkpoints
from generator.text import plural, significant, visible, with_unit

WORDING = Wording("wording/changes.jinja")
DIGITS = 12  # of a digest or a commit, hexadecimal
# What a forge makes of text that Markdown has left alone: people, issues, labels, links, emoji.
LIVE = re.compile(r"[@#!%^&~$:](?=\S)|\b(?:gh(?=-)|www(?=\.))", re.IGNORECASE)
MARKUP = re.compile(r"[|<>&`*_\[\]{}\\~$]")
APART = "\u2060"  # A word joiner, which is not seen.


def line(change: Change) -> str:
    """One change as a line of text."""
    return f"{change.encoding or change.title}: {_change_text(change)}"


def table(moved: Sequence[Change]) -> str:
    """Changes as a table in Markdown."""
    head = ["| Checkpoint | Change |", "| --- | --- |"]
    return "\n".join(
        [
            *head,
            *(
                f"| {cell(change.encoding or change.title)} | {cell(_change_text(change))} |"
                for change in moved
            ),
        ]
    )


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


def since(former: Document | None, atlas: Document) -> str:
    """What changed since the ``former`` atlas, in Markdown."""
    if former is None:
        return WORDING("nothing_published")
    found = changes(checkpoints(former), checkpoints(atlas))
    return table(found) if found else WORDING("nothing_changed")


def _change_text(change: Change) -> str:
    before, after = _value(change.before), _value(change.after)
    match change.kind:
        case "new" | "gone" | "new encoding" | "encoding gone":
            said = change.kind.replace("gone", "removed")
            return f"{said}, {change.what}" if change.what else said
        case "status":
            return f"{before} → {after}{f' ({change.what})' if change.what else ''}"
        case "revision":
            return f"revision {before} → {after}"
        case "verdict":
            return WORDING("verdict", before=before, after=after)
        case "numbers":
            return f"numbers changed ({change.what} {before} → {after})"
        case "metric":
            return f"{change.what} {before} → {with_unit(after, change.unit)}"


def _value(value: float | str | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, float | int):
        return significant(value, 6)
    return value if " " in value else value[:DIGITS]  # A digest has no spaces.


def cell(text: str) -> str:
    """``text`` as it stands in a table of Markdown on a forge, where nothing of it is markup, a
    mention or a link.
    """
    line = LIVE.sub(rf"\g<0>{APART}", visible(" ".join(text.split())))
    return MARKUP.sub(lambda mark: f"&#{ord(mark[0])};", line)
