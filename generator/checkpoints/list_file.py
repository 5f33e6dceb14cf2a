"""checkpoints.yml: read strictly, every problem told at once with its place in the file."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, CollectionStartEvent

from generator.checkpoints.list_row import RESERVED, Options, Place, place_of_key, problems, row_model
from generator.contracts import Checkpoint, Source
from generator.errors import RefusedError

MOST_BYTES = 2**19  # About 10,000 rows, which take the parser 4 seconds; its time grows with the bytes.
MOST_DEPTH = 8  # Twice what a row can use; the parser's time grows with the square of the depth.
LONGEST_TITLE = 120  # Longer ones are cut there, on every page.


class _NotPlainError(Exception):
    """What makes a small file large or slow, and where it stands."""

    def __init__(self, said: str, mark: Any) -> None:
        super().__init__(said)
        self.mark = mark


class _PlainComposer(Composer):  # type: ignore[misc]  # The library's types are not read.
    """Takes what a list can hold, and stops at the first alias or at deep nesting."""

    nesting = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        if isinstance(event, AliasEvent):
            raise _NotPlainError(f"an alias (*{event.anchor}); expected values written out", event.start_mark)
        deeper = isinstance(event, CollectionStartEvent)
        if self.nesting + deeper > MOST_DEPTH:
            raise _NotPlainError(f"nested more than {MOST_DEPTH} deep; expected a list of checkpoints", event.start_mark)
        self.nesting += deeper
        node = super().compose_node(parent, index)
        self.nesting -= deeper
        return node


def load(path: Path, sources: Sequence[Source]) -> tuple[Checkpoint, ...]:
    """The checkpoints that ``path`` lists, in order of their slugs.

    errors: RefusedError with every problem found, each as file:line:column: where: what was found; what was expected
    """
    rows = _rows(path)
    model = row_model(sources)
    bare = next(source.key for source in sources if not source.is_path)
    wrong: list[str] = []
    found: list[tuple[Place, Checkpoint]] = []
    for index in range(len(rows)):
        place = Place(str(path), rows.lc.item(index)[0] + 1, rows.lc.item(index)[1] + 1)
        row, where = rows[index], f"checkpoints[{index}]"
        mapping = CommentedMap({bare: row}) if isinstance(row, str) else row
        told = list(problems(mapping, model, sources, place, where))
        wrong += told
        if not told:
            found.append((place, _checkpoint(mapping, path, sources)))
    found = _distinct_slugs(found)
    wrong += _twice(found)
    if wrong:
        raise RefusedError(*wrong)
    return tuple(sorted((checkpoint for _, checkpoint in found), key=lambda checkpoint: checkpoint.slug))


def slugify(text: str) -> str:
    """``text`` as lower-case ASCII words joined by hyphens; empty where nothing of it is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:80]


def _rows(path: Path) -> CommentedSeq:
    text, top = _text(path), Place(str(path), 1, 1)
    try:
        yaml = YAML(typ="rt")
        yaml.Composer = _PlainComposer
        document = yaml.load(text)
    except _NotPlainError as error:
        raise RefusedError(f"{Place(str(path), error.mark.line + 1, error.mark.column + 1)}: {error}") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(str(path), mark.line + 1, mark.column + 1) if mark else top
        raise RefusedError(f"{place}: not YAML: {' '.join(str(error.problem).split())}; expected a list under 'checkpoints'") from None
    except (YAMLError, RecursionError, ValueError) as error:
        place = _place_of(path, text, getattr(error, "position", 0))
        raise RefusedError(f"{place}: not YAML: {' '.join(str(error).split())[:200]}; expected a list under 'checkpoints'") from None
    if not isinstance(document, CommentedMap):
        raise RefusedError(f"{top}: found {document!r:.60}; expected one key, 'checkpoints'")
    if list(document) != ["checkpoints"]:
        place = next((place_of_key(document, str(key), top) for key in document if key != "checkpoints"), top)
        raise RefusedError(f"{place}: found {list(document)}; expected one key, 'checkpoints'")
    rows = document["checkpoints"]
    if not isinstance(rows, CommentedSeq) or not rows:
        place = place_of_key(document, "checkpoints", top)
        raise RefusedError(f"{place}: checkpoints: found {rows!r:.60}; expected a list of at least one checkpoint")
    return rows


def _text(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise RefusedError(f"{path}: not a regular file; expected the list of checkpoints")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RefusedError(f"{path}: cannot be read ({error.strerror}); expected the list of checkpoints") from None
    if len(data) > MOST_BYTES:
        raise RefusedError(f"{path}:1:1: {len(data):,} bytes; expected at most {MOST_BYTES:,}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place_of(path, data.decode("latin-1"), error.start)
        raise RefusedError(f"{place}: byte 0x{data[error.start]:02x} is not UTF-8; expected UTF-8 text") from None


def _place_of(path: Path, text: str, position: int) -> Place:
    return Place(str(path), text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position))


def expanded(given: str) -> Path:
    """A path with a home at its beginning spelt out, where there is such a home."""
    with suppress(RuntimeError):
        return Path(given).expanduser()
    return Path(given)


def _plain(value: Any) -> Any:
    """``value`` of a row as Python's own, without what YAML's library keeps of how it was written."""
    match value:
        case list():
            return tuple(_plain(item) for item in value)
        case str():
            return str(value)
        case int() if not isinstance(value, bool):
            return int(value)
        case _:
            return value


def _checkpoint(row: CommentedMap, path: Path, sources: Sequence[Source]) -> Checkpoint:
    source = next(source for source in sources if row.get(source.key) is not None)
    given = str(row[source.key])
    place = str(path.parent / expanded(given)) if source.is_path else given
    options = {key: _plain(row[key]) for key in Options.model_fields if key != "title" and row.get(key) is not None}
    title = str(row.get("title") or given)
    slug = slugify(title) or slugify(given) or "checkpoint"
    slug = f"{slug}-checkpoint" if slug == "index" or RESERVED.match(slug) else slug
    short = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
    return Checkpoint(slug=slug, source=source.key, id=given, place=place, title=short, **options)


def _distinct_slugs(found: list[tuple[Place, Checkpoint]]) -> list[tuple[Place, Checkpoint]]:
    """Rows that differ in their revision alone get it into their slug."""
    counts = Counter(checkpoint.slug for _, checkpoint in found)
    return [
        (place, replace(row, slug=f"{row.slug}-{slugify(row.revision)[:12]}") if counts[row.slug] > 1 and row.revision else row)
        for place, row in found
    ]


def _twice(found: list[tuple[Place, Checkpoint]]) -> Iterator[str]:
    by_slug: defaultdict[str, list[Place]] = defaultdict(list)
    for place, row in found:
        by_slug[row.slug].append(place)
    for slug, places in by_slug.items():
        for place in places[1:]:
            yield f"{place}: found the page name {slug!r} a second time, after line {places[0].line}; expected different titles or revisions"
