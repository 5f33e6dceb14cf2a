"""checkpoints.yml: read strictly, every problem told at once with its place in the file."""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent

from generator.contracts import Checkpoint, Source
from generator.errors import RefusedError

MOST_BYTES = 2**20
LONGEST_TITLE = 120  # Longer ones are cut there, on every page.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PATH_LIKE = re.compile(r"^[/~]|^[A-Za-z]:[\\/]|(^|[\\/])\.\.([\\/]|$)|%2e", re.IGNORECASE)
RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)$", re.IGNORECASE)  # File names that Windows keeps for itself.
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)


class Options(BaseModel):
    """What a row may say beside the place that it reads from."""

    model_config = ConfigDict(extra="forbid", strict=True)

    revision: str | None = Field(None, description="Branch, tag or full commit on the Hub; a full commit keeps the site the same for ever.")
    title: str | None = Field(None, description="Name on the site; without one, the id or folder.")
    group: str = Field("Checkpoints", description="Heading under which the front page lists it.")
    notes: str = Field("", description="A sentence or two for its page: origin, licence, what to look at.")
    sentence: str | Annotated[list[int], Field(min_length=1, max_length=24)] = Field(
        Checkpoint.__dataclass_fields__["sentence"].default, description="Sentence whose input is taken apart; token ids where there is no tokenizer."
    )
    pickle: bool = Field(False, description="Open pytorch_model.bin, with torch's weights_only, where there is no safetensors file.")


@dataclass(frozen=True)
class _Place:
    """A place in the file, counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def load(path: Path, sources: Sequence[Source]) -> tuple[Checkpoint, ...]:
    """The checkpoints that ``path`` lists, in order of their slugs.

    errors: RefusedError with every problem found, each as file:line:column: where: what was found; what was expected
    """
    rows = _rows(path)
    model = row_model(sources)
    problems: list[str] = []
    found: list[tuple[_Place, Checkpoint]] = []
    for index in range(len(rows)):
        place = _Place(str(path), rows.lc.item(index)[0] + 1, rows.lc.item(index)[1] + 1)
        row, where = rows[index], f"checkpoints[{index}]"
        mapping = CommentedMap({"hub": row}) if isinstance(row, str) else row
        wrong = list(_problems(mapping, model, sources, place, where))
        problems += wrong
        if not wrong:
            found.append((place, _checkpoint(mapping, path, sources)))
    found = _distinct_slugs(found)
    problems += _twice(found)
    if problems:
        raise RefusedError(*problems)
    return tuple(sorted((checkpoint for _, checkpoint in found), key=lambda checkpoint: checkpoint.slug))


def row_model(sources: Sequence[Source]) -> type[BaseModel]:
    """The model of a row: ``Options`` and one optional field for each source."""
    fields: Any = {source.key: (str | None, Field(None, description=source.describes)) for source in sources}
    return create_model("Row", __base__=Options, **fields)


def schema(sources: Sequence[Source]) -> str:
    """A JSON Schema of checkpoints.yml, for editors."""
    row = row_model(sources).model_json_schema()
    row["oneOf"] = [{"required": [source.key]} for source in sources]
    whole = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Checkpoints of a Position Atlas",
        "type": "object",
        "required": ["checkpoints"],
        "additionalProperties": False,
        "properties": {"checkpoints": {"type": "array", "minItems": 1, "items": {"anyOf": [{"type": "string"}, row]}}},
    }
    return json.dumps(whole, indent=2) + "\n"


def slugify(text: str) -> str:
    """``text`` as lower-case ASCII words joined by hyphens; empty where nothing of it is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:80]


def _rows(path: Path) -> CommentedSeq:
    text = _text(path)
    yaml = YAML(typ="rt")
    try:
        for event in YAML(typ="rt").parse(text):
            if isinstance(event, AliasEvent):
                place = _Place(str(path), event.start_mark.line + 1, event.start_mark.column + 1)
                raise RefusedError(f"{place}: an alias (*{event.anchor}); expected values written out")
        document = yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _Place(str(path), mark.line + 1, mark.column + 1) if mark else _Place(str(path), 1, 1)
        raise RefusedError(f"{place}: not YAML: {' '.join(str(error.problem).split())}; expected a list under 'checkpoints'") from None
    except (YAMLError, RecursionError, ValueError) as error:
        raise RefusedError(f"{path}:1:1: not YAML: {' '.join(str(error).split())[:200]}; expected a list under 'checkpoints'") from None
    if not isinstance(document, CommentedMap) or list(document) != ["checkpoints"]:
        keys = list(document) if isinstance(document, CommentedMap) else type(document).__name__
        raise RefusedError(f"{path}:1:1: found {keys}; expected one key, 'checkpoints'")
    rows = document["checkpoints"]
    if not isinstance(rows, CommentedSeq) or not rows:
        raise RefusedError(f"{path}:1:1: checkpoints: found {rows!r:.60}; expected a list of at least one checkpoint")
    return rows


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RefusedError(f"{path}: cannot be read ({error.strerror}); expected the list of checkpoints") from None
    if len(data) > MOST_BYTES:
        raise RefusedError(f"{path}:1:1: {len(data):,} bytes; expected at most {MOST_BYTES:,}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise RefusedError(f"{path}:{line}:{column}: byte 0x{data[error.start]:02x} is not UTF-8; expected UTF-8 text") from None


def _problems(row: Any, model: type[BaseModel], sources: Sequence[Source], place: _Place, where: str) -> Iterator[str]:
    if not isinstance(row, CommentedMap):
        yield f"{place}: {where}: found {row!r:.60}; expected a Hub id or a mapping"
        return
    try:
        model.model_validate(dict(row))
    except ValidationError as error:
        for problem in error.errors():
            yield _say(problem, row, model, place, where)
        return
    given = [source.key for source in sources if row.get(source.key) is not None]
    if len(given) != 1:
        names = " or ".join(f"'{source.key}'" for source in sources)
        yield f"{place}: {where}: found {' and '.join(given) or 'no place to read from'}; expected {names}"
        return
    for key in (given[0], "title", "group", "revision"):
        if (value := row.get(key)) is not None and (expected := _unfit(key, value, sources)):
            yield f"{_at(row, key, place)}: {where}.{key}: found {value!r:.80}; expected {expected}"


def _say(problem: Mapping[str, Any], row: CommentedMap, model: type[BaseModel], place: _Place, where: str) -> str:
    key = str(problem["loc"][0])
    at = _at(row, key, place)
    if problem["type"] == "extra_forbidden":
        known = list(model.model_fields)
        close = get_close_matches(key, known, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        return f"{at}: {where}: found the unknown key {key!r}{hint}; expected one of {', '.join(known)}"
    return f"{at}: {where}.{key}: found {problem['input']!r:.60}; expected {problem['msg'].removeprefix('Input should be ')}"


def _at(row: CommentedMap, key: str, place: _Place) -> _Place:
    try:
        line, column = row.lc.key(key)
    except (KeyError, TypeError, AttributeError):
        return place
    return replace(place, line=line + 1, column=column + 1)


def _unfit(key: str, value: str, sources: Sequence[Source]) -> str | None:
    if not value.strip() or FORBIDDEN.search(value):
        return "some text without control or direction marks"
    if any(source.key == key and source.is_path for source in sources):
        return None
    if key != "group" and PATH_LIKE.search(value):
        return "a name, not a path"
    if any(source.key == key for source in sources) and not _is_hub_id(value):
        return "a Hub id, 'owner/name'"
    return None


def _is_hub_id(value: str) -> bool:
    words = value.split("/")
    named = all(not RESERVED.match(word) and not word.endswith((".", "-", ".git")) for word in words)
    return bool(HUB_ID.fullmatch(value)) and named and not re.search(r"--|\.\.", value) and len(value) <= 96


def _checkpoint(row: CommentedMap, path: Path, sources: Sequence[Source]) -> Checkpoint:
    source = next(source for source in sources if row.get(source.key) is not None)
    given = str(row[source.key])
    place = str(path.parent / Path(given).expanduser()) if source.is_path else given
    options = {key: row[key] for key in ("revision", "group", "notes", "pickle") if row.get(key) is not None}
    if (sentence := row.get("sentence")) is not None:
        options["sentence"] = str(sentence) if isinstance(sentence, str) else tuple(int(index) for index in sentence)
    title = str(row.get("title") or given)
    slug = slugify(title) or slugify(given) or "checkpoint"
    slug = f"{slug}-checkpoint" if slug == "index" or RESERVED.match(slug) else slug
    short = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
    return Checkpoint(slug=slug, source=source.key, id=given, place=place, title=short, **options)


def _distinct_slugs(found: list[tuple[_Place, Checkpoint]]) -> list[tuple[_Place, Checkpoint]]:
    """Rows that differ in their revision alone get it into their slug."""
    counts = Counter(checkpoint.slug for _, checkpoint in found)
    return [
        (place, replace(row, slug=f"{row.slug}-{slugify(row.revision)[:12]}") if counts[row.slug] > 1 and row.revision else row)
        for place, row in found
    ]


def _twice(found: list[tuple[_Place, Checkpoint]]) -> Iterator[str]:
    by_slug: defaultdict[str, list[_Place]] = defaultdict(list)
    for place, row in found:
        by_slug[row.slug].append(place)
    for slug, places in by_slug.items():
        for place in places[1:]:
            yield f"{place}: found the page name {slug!r} a second time, after line {places[0].line}; expected different titles or revisions"
