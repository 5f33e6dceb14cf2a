"""Strict parser of checkpoints.yml, which reports all problems at once, with file, line and
column.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.json_object import parse_config
from generator.checkpoints.files.named_paths import MOST_TEXT_BYTES, beginning, expanded
from generator.checkpoints.list_row import (
    A_REPOSITORY,
    ANALYSES,
    PAGES,
    REPOSITORY,
    RESERVED,
    ROWS,
    USE,
    FilePlace,
    Options,
    place_of_key,
    problems,
    problems_of_head,
    row_model,
)
from generator.checkpoints.plain_yaml import PlainComposer, UnsupportedYamlError
from generator.checkpoints.series import ANY
from generator.contracts import Checkpoint, Source, UseOptions
from generator.contracts.checkpoints import FIRST_LAYER, LONGEST_TEXT, Scope
from generator.contracts.list_settings import ListSettings, Selection
from generator.errors import RefusedError, RowError, message
from generator.text import slugify

# About 10,000 rows, which take the parser 4 seconds; its time grows with the bytes.
MOST_BYTES = 2**19
REPOSITORY_URL = "REPOSITORY_URL"  # An environment variable.
CONFIG = "config"  # The key of a row that names a file.
WEIGHTS = "weights"  # That of one that names a file within its folder.
TEXT = "text"  # The key of ``use`` that names one.
LONGEST_TITLE = 120  # Longer ones are cut there, on every page.


def load(path: Path, sources: Sequence[Source]) -> tuple[Checkpoint, ...]:
    """The checkpoints in the list at ``path``, in order of their slugs.

    errors: RefusedError with all problems, one a line, as file:line:column: row: actual value;
        expected value
    """
    document = _document(path)
    rows, settings = document[ROWS], _settings(document)
    model = row_model(sources)
    bare = next(source.key for source in sources if not source.is_path)
    messages: list[str] = []
    entries: list[tuple[FilePlace, Checkpoint]] = []
    for index in range(len(rows)):
        place = FilePlace(str(path), rows.lc.item(index)[0] + 1, rows.lc.item(index)[1] + 1)
        row, where = rows[index], f"checkpoints[{index}]"
        mapping = CommentedMap({bare: row}) if isinstance(row, str) else row
        row_problems = list(problems(mapping, model, sources, place, where))
        if not row_problems:
            try:
                entries.append((place, _checkpoint(mapping, path, sources, settings.analyses)))
            except (RowError, OSError) as error:  # Of a file that it names.
                row_problems.append(f"{place}: {where}: {error}")
        messages += row_problems
    entries = _distinct_slugs(entries)
    messages += _duplicate_slugs(entries)
    messages += _unknown_originals(entries)
    if messages:
        raise RefusedError(*messages)
    return tuple(
        sorted((checkpoint for _, checkpoint in entries), key=lambda checkpoint: checkpoint.slug)
    )


def missing(path: Path, sources: Sequence[Source]) -> list[str]:
    """A message for each row of the list at ``path``, which ``load`` takes, whose folder or file is
    not there, or does not have the weights that the row names.

    errors: RefusedError
    """
    rows, messages = read_rows(path), []
    for index, row in enumerate(rows):
        key = next((source.key for source in sources if source.is_path and source.key in row), None)
        if isinstance(row, str) or key is None:
            continue
        written, name = str(row[key]), str(row.get(WEIGHTS) or "")
        place = path.parent / expanded(written)
        try:
            if not _is_there(place):
                found = f"{written!r:.80}, and no such folder or file"
            elif name and place.is_dir() and not (place / name).exists():
                key, found = WEIGHTS, f"{name!r:.80}, and no such file in {written!r:.80}"
            else:
                continue
        except OSError as error:
            found = f"{written!r:.80} ({error.strerror})"
        line = FilePlace(str(path), rows.lc.item(index)[0] + 1, rows.lc.item(index)[1] + 1)
        messages.append(
            f"{place_of_key(row, key, line)}: checkpoints[{index}].{key}: found {found}; expected a"
            " path relative to this file"
        )
    return messages


def _is_there(place: Path) -> bool:
    """Whether a path, or what a pattern with * matches, exists."""
    if place.exists() or ANY not in str(place):
        return place.exists()
    first = next(index for index, part in enumerate(place.parts) if ANY in part)
    pattern = "/".join(place.parts[first:])
    return any(True for _ in Path(*place.parts[:first]).glob(pattern))


def read_settings(path: Path) -> ListSettings:
    """What the list at ``path`` says of the whole atlas, and the environment of its repository
    where the list does not.

    errors: RefusedError
    """
    settings, given = _settings(_document(path)), os.environ.get(REPOSITORY_URL, "")
    if settings.repository or not given:
        return settings
    if not REPOSITORY.fullmatch(given):
        raise RefusedError(f"{REPOSITORY_URL}: found {given!r:.80}; expected {A_REPOSITORY}")
    return replace(settings, repository=given)


def _settings(head: CommentedMap) -> ListSettings:
    given = {key: _plain(value) for key, value in head.items() if key != ROWS}
    given |= {key: _choice(head[key]) for key in (ANALYSES, PAGES) if key in head}
    return ListSettings(**given)


def read_rows(path: Path) -> CommentedSeq:
    """The rows of the list at ``path``, with their places in the file. errors: RefusedError"""
    return _document(path)[ROWS]


def _document(path: Path) -> CommentedMap:
    """The list at ``path``, whose keys are valid but for those of its rows. errors: RefusedError"""
    document, top = _parsed(path), FilePlace(str(path), 1, 1)
    if not isinstance(document, CommentedMap):
        raise RefusedError(f"{top}: found {document!r:.60}; expected the key '{ROWS}'")
    place, rows = place_of_key(document, ROWS, top), document.get(ROWS)
    messages = list(problems_of_head(document, top))
    if not messages and [*document][-1:] != [ROWS]:
        messages.append(f"{place}: found {[*document]}; expected '{ROWS}' as the last key")
    elif not messages and not (isinstance(rows, CommentedSeq) and rows):
        messages.append(
            f"{place}: {ROWS}: found {rows!r:.60}; expected a list of at least one checkpoint"
        )
    if messages:
        raise RefusedError(*messages)
    return document


def _parsed(path: Path) -> Any:
    """errors: RefusedError for what is not YAML, or not of the kinds that are read"""
    text = read_text(path)
    try:
        yaml = YAML(typ="rt")
        yaml.Composer = PlainComposer
        return yaml.load(text)
    except (UnsupportedYamlError, YAMLError, RecursionError, ValueError, OverflowError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        reason = str(error)
        if not isinstance(error, UnsupportedYamlError):
            problem = message(getattr(error, "problem", None) or error)[:200]
            reason = f"not YAML: {problem}; expected a list under '{ROWS}'"
        raise RefusedError(f"{FilePlace(str(path), line, column)}: {reason}") from None


def read_text(path: Path) -> str:
    """The text of the list at ``path``. errors: RefusedError"""
    try:
        data = beginning(path, MOST_BYTES)
    except OSError as error:
        raise RefusedError(
            f"{path}: cannot be read ({error.strerror}); expected the list of checkpoints"
        ) from None
    if len(data) > MOST_BYTES:
        raise RefusedError(f"{path}:1:1: more than {MOST_BYTES:,} bytes; expected no more")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefusedError(f"{path}:1:1: {_not_utf8(error)}") from None


def _not_utf8(error: UnicodeDecodeError) -> str:
    return f"byte {error.start + 1:,}, 0x{error.object[error.start]:02x}, is not UTF-8"


def _name(folder: str) -> str:
    """A folder as the site names it: as written if that is relative, else by its last part, for the
    rest is a path of the builder's machine.

    Of an absolute pattern, the parts from the one before the first with a *.
    """
    path = expanded(folder)
    if not path.is_absolute():
        return folder
    marked = next((index for index, part in enumerate(path.parts) if ANY in part), None)
    first = len(path.parts) - 1 if marked is None else max(marked - 1, 1)
    return "/".join(path.parts[first:])


def _plain(value: Any) -> Any:
    """``value`` of a row as a plain Python type, without the formatting data of ruamel.yaml."""
    match value:
        case list():
            return tuple(_plain(item) for item in value)
        case str():
            return str(value)
        case int() if not isinstance(value, bool):
            return int(value)
        case _:
            return value


def _checkpoint(
    row: CommentedMap, path: Path, sources: Sequence[Source], chosen: Selection
) -> Checkpoint:
    """The checkpoint of a row. chosen: analyses of the whole list

    errors: RowError, OSError for a file that it names
    """
    source = next(source for source in sources if row.get(source.key) is not None)
    value = str(row[source.key])
    place, name = (
        (str(path.parent / expanded(value)), _name(value)) if source.is_path else (value, value)
    )
    options = {
        key: _plain(row[key])
        for key in Options.model_fields
        if key != "title" and row.get(key) is not None
    }
    if CONFIG in options:
        options[CONFIG] = config_text(path.parent / expanded(options[CONFIG]), options[CONFIG])
    if USE in options:
        options[USE] = _use(row[USE], path)
    choices = (chosen, _choice(options.pop(ANALYSES, {})))
    options[ANALYSES] = tuple(choice for choice in choices if choice != Selection())
    title = str(row.get("title") or name)
    slug = slug_of(title, name)
    short = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
    return Checkpoint(slug=slug, source=source.key, id=name, place=place, title=short, **options)


def slug_of(title: str, name: str) -> str:
    """The name in addresses of the row of ``name``."""
    slug = slugify(title) or slugify(name) or "checkpoint"
    return f"{slug}-checkpoint" if slug == "index" or RESERVED.match(slug) else slug


def _choice(value: Mapping[str, Any]) -> Selection:
    return Selection(**{str(key): _plain(item) for key, item in value.items()})


def _use(value: Any, path: Path) -> UseOptions | None:
    """What a row measures of the trained model; None for nothing.

    errors: RowError when the text that it names cannot be read
    """
    if not isinstance(value, Mapping):
        scope: Scope = FIRST_LAYER if value == FIRST_LAYER else "model"
        return UseOptions(scope) if value else None
    options = {str(key): _plain(item) for key, item in value.items()}
    if named := options.get(TEXT):
        options[TEXT] = _text(path.parent / expanded(named), named, LONGEST_TEXT)
    return UseOptions(**options)


def config_text(path: Path, where: str) -> str:
    """The text of a config.json that a row names.

    errors: RowError unless it is a JSON object in UTF-8
    """
    text = _text(path, where, MOST_TEXT_BYTES)
    parse_config(text.encode(), where)
    return text


def _text(path: Path, where: str, most: int) -> str:
    """errors: RowError unless it is text in UTF-8 of at most ``most`` bytes"""
    content = Folder(path.parent, where, named=path.name).read(path.name)
    if content is None:
        raise RowError(f"found {where!r:.80}, and no such file; expected one")
    if len(content) > most:
        raise RowError(f"found {where!r:.80} of {len(content):,} bytes; expected at most {most:,}")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise RowError(f"{where}: {_not_utf8(error)}; expected UTF-8 text") from None


def _distinct_slugs(rows: list[tuple[FilePlace, Checkpoint]]) -> list[tuple[FilePlace, Checkpoint]]:
    """Add the revision to slugs that occur more than once."""
    counts = Counter(checkpoint.slug for _, checkpoint in rows)
    return [
        (
            place,
            (
                replace(row, slug=f"{row.slug}-{slugify(row.revision)[:12]}")
                if counts[row.slug] > 1 and row.revision
                else row
            ),
        )
        for place, row in rows
    ]


def _unknown_originals(rows: list[tuple[FilePlace, Checkpoint]]) -> Iterator[str]:
    slugs = {row.slug for _, row in rows}
    for place, row in rows:
        original = row.copy_of
        if original and not row.original and original not in slugs - {row.slug}:
            close = get_close_matches(original, slugs - {row.slug}, n=1)
            hint = f" (did you mean '{close[0]}'?)" if close else ""
            yield (
                f"{place}: found copy_of: {original!r:.80}, and no other such page{hint}; expected"
                " the last part of a page's address, or hub: and an id"
            )


def _duplicate_slugs(rows: list[tuple[FilePlace, Checkpoint]]) -> Iterator[str]:
    by_slug: defaultdict[str, list[FilePlace]] = defaultdict(list)
    for place, row in rows:
        by_slug[row.slug].append(place)
    for slug, places in by_slug.items():
        for place in places[1:]:
            yield (
                f"{place}: found the page name {slug!r} a second time, after line {places[0].line};"
                " expected different titles or revisions"
            )
