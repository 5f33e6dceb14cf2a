"""Schema and validation of one row of checkpoints.yml."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from ruamel.yaml.comments import CommentedMap

from generator.checkpoints.series import ANY, EXPECTED_RANGE, range_of
from generator.contracts import SENTENCE, Source, paper_address
from generator.contracts.checkpoints import FIRST_LAYER, MOST_PARAMETERS, ON_HUB

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
PATH_LIKE = re.compile(r"^[/~]|^[A-Za-z]:[\\/]|(^|[\\/])\.\.([\\/]|$)|%2e", re.IGNORECASE)
# Reserved file names of Windows.
RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)$", re.IGNORECASE)
BOOLEANS = re.compile(r"^(yes|no|on|off)$", re.IGNORECASE)  # Booleans of YAML 1.1.
SHOULD = re.compile(r"^\w+ should (be|have) ")  # The beginning of messages of pydantic.
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
USE, ANALYSES, PAGES = "use", "analyses", "pages"
ROWS = "checkpoints"  # The key of all rows.
REPOSITORY = re.compile(r"https?://[^\s/?#<>\"'{}\\]+/[^\s?#<>\"'{}\\]+")
OF_REPORTS = "repository"
PLAIN = "some text without control or direction marks"
A_REPOSITORY = "an address such as https://github.com/owner/name"
OF = "of"  # The key of the published model that a row is of.
NOT_AN_ID = "a Hub id, 'owner/name'"
BESIDE = "x-beside"  # In the schema: keys that an example of this one needs beside it.


class UseRow(BaseModel):
    """The keys of ``use``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(
        "",
        description="A text of the model's own kind, relative to this file; by default, English.",
        examples=["texts/reactions.txt"],
    )
    length: int = Field(
        64, ge=32, le=512, description="Number of tokens in a sequence.", examples=[128]
    )
    sequences: int = Field(
        64, ge=64, le=1024, description="Largest number of sequences for a measure.", examples=[128]
    )
    seed: int = Field(0, ge=0, le=2**31, description="Seed of the first of two runs.", examples=[7])
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto",
        description="Device on which it runs; auto takes a GPU if there is one.",
        examples=["cpu"],
    )
    most_parameters: int | None = Field(
        None,
        ge=1,
        description=(
            "Largest number of parameters of a model that is run; by default"
            f" {MOST_PARAMETERS:,}, or what fits on a GPU."
        ),
        examples=[8_000_000_000],
    )


class ChoiceRow(BaseModel):
    """The keys of ``analyses``, and of ``pages`` of a list."""

    model_config = ConfigDict(extra="forbid", strict=True)

    include: list[str] = Field([], description="Those alone.", min_length=1)
    exclude: list[str] = Field([], description="All but those.", min_length=1)


class ListKeys(BaseModel):
    """The keys of a list beside its checkpoints."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str = Field(
        "",
        max_length=120,
        description="Name of the atlas; a list with one, or with fewer than ten entries, has a"
        " front page of its own entries.",
        examples=["Encodings of our models"],
    )
    description: str = Field(
        "",
        max_length=300,
        description="First sentence of the front page.",
        examples=["How the models that we train encode position, week by week."],
    )
    models: Literal["all", "listed", "none"] = Field(
        "all",
        description=(
            "Published models with pages of their own: all that the program knows, those that an"
            " entry names by hub, of or copy_of, or none."
        ),
        examples=["listed"],
    )
    analyses: ChoiceRow = Field(
        default_factory=partial(ChoiceRow.model_validate, {}),
        description=(
            "Analyses to make, and measures of use, by their keys, which are the last parts of the"
            " addresses of their pages."
        ),
        examples=[{"exclude": ["order_probe", "position_probe"]}],
    )
    pages: ChoiceRow = Field(
        default_factory=partial(ChoiceRow.model_validate, {}),
        description=(
            "Kinds of pages to make, by their keys. A link to a page that is not made becomes its"
            " words."
        ),
        examples=[{"exclude": ["lesson", "notebooks"]}],
    )
    repository: str = Field(
        "",
        description=(
            "Address of the repository where readers report a wrong number: each page of an entry"
            " leads to a new issue there, with page, revision and version filled in."
        ),
        examples=["https://github.com/owner/name"],
    )


class Options(BaseModel):
    """The optional keys of a row."""

    model_config = ConfigDict(extra="forbid", strict=True)

    revision: str | None = Field(
        None,
        description="Branch, tag or full commit on the Hub; a full commit never changes.",
        examples=["step143000"],
    )
    title: str | None = Field(
        None,
        description="Name on the site; by default, the id or folder.",
        examples=["Pythia, 160M"],
    )
    group: str = Field(
        "Checkpoints",
        description="Heading under which the compare page lists it.",
        examples=["Language models"],
    )
    notes: str = Field(
        "",
        max_length=2000,
        description="A sentence or two for its page, such as its origin and what to look for.",
        examples=["Biderman et al. 2023; EleutherAI."],
    )
    paper: str = Field(
        "",
        description="The paper that describes it: an arXiv id in quotes, or an https:// address.",
        examples=["2304.01373"],
    )
    licence: str = Field(
        "",
        max_length=120,
        description="Licence of its weights, as an SPDX identifier if it has one.",
        examples=["Apache-2.0"],
    )
    sentence: str | Annotated[list[int], Field(min_length=1, max_length=24)] = Field(
        SENTENCE,
        description=(
            "Sentence whose way into the model is shown step by step; token ids if there is no"
            " tokenizer."
        ),
        examples=["Time flies like an arrow.", [101, 2051, 10029, 102]],
    )
    pickle: bool = Field(
        False,
        description=(
            "Allow pickled weights to be opened with torch's weights_only, if there are none in a"
            " safer format."
        ),
        examples=[True],
    )
    weights: str = Field(
        "",
        description="The weights file to open, if there are several or its name is unusual.",
        examples=["variants/small.safetensors"],
    )
    config: str = Field(
        "",
        description="A config.json for weights that have none, relative to this file.",
        examples=["references/flan-t5-small/config.json"],
    )
    words: bool = Field(
        False,
        description=(
            "Read the whole token embedding matrix, which is large, to compare the directions of"
            " positions and tokens."
        ),
        examples=[True],
    )
    arrays: bool = Field(
        True,
        description=(
            "Publish the arrays behind its figures, which make up most of the size of a site with"
            " tables."
        ),
        examples=[False],
    )
    use: bool | Literal["first_layer"] | UseRow = Field(
        False,
        description=(
            "Measure how the trained model uses position: true runs the model, and first_layer"
            " needs only the weights of its first layer."
        ),
        examples=[True, "first_layer"],
    )
    analyses: ChoiceRow = Field(
        default_factory=partial(ChoiceRow.model_validate, {}),
        description="Analyses to make of it, and measures of use, by their keys.",
        examples=[{"exclude": ["order_probe"]}],
    )
    base: bool = Field(
        False,
        description="For an adapter such as LoRA, read the model that it adapts.",
        examples=[True],
    )
    copy_of: str = Field(
        "",
        description=(
            "What it is a copy of, such as the source of a conversion: the last part of the address"
            " of another checkpoint's page, or hub: and an id. The page of copies says whether both"
            " encode position identically."
        ),
        examples=["hub:Qwen/Qwen3-8B"],
    )
    of: str = Field(
        "",
        description=(
            "The published model on the Hub, owner/name, that it is of, such as one whose config a"
            " folder has. The page names that model in place of the folder, and links to it."
        ),
        examples=["Qwen/Qwen3-8B"],
    )
    revisions: str | list[str] = Field(
        "",
        description=(
            "Branches and tags on the Hub that are the checkpoints of a training run: either a"
            " list, or the first and the last, as in 'step1000 … step143000'."
        ),
        examples=["step1000 … step143000"],
    )
    every: int = Field(
        1,
        ge=1,
        description="Take every n-th checkpoint of a training run, and the last.",
        examples=[10],
        json_schema_extra={BESIDE: ["revisions"]},
    )


# Keys whose value is a mapping: its model, and where its keys begin in the place of a problem.
INNER: Mapping[str, tuple[type[BaseModel], int]] = {
    USE: (UseRow, 2),
    ANALYSES: (ChoiceRow, 1),
    PAGES: (ChoiceRow, 1),
}
KEYS = "include or exclude, each a list of keys"
EXPECTED_INNER = {
    USE: f"true, {FIRST_LAYER}, or a mapping of its options",
    ANALYSES: KEYS,
    PAGES: KEYS,
}


@dataclass(frozen=True)
class FilePlace:
    """A line and column of the list, from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def row_model(sources: Sequence[Source]) -> type[BaseModel]:
    """The pydantic model of a row: ``Options`` and one optional field for each source."""
    fields: Any = {
        source.key: (
            str | None,
            Field(None, description=source.describes, examples=[source.example]),
        )
        for source in sources
    }
    return create_model("Row", __base__=Options, **fields)


def schema(sources: Sequence[Source]) -> str:
    """The JSON Schema of checkpoints.yml, for editors."""
    row = row_model(sources).model_json_schema()
    row["oneOf"] = [{"required": [source.key]} for source in sources]
    head = ListKeys.model_json_schema()
    inner = {**row.pop("$defs"), **head.pop("$defs")}
    whole = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Checkpoints of a Position Atlas",
        "type": "object",
        "required": [ROWS],
        "additionalProperties": False,
        "properties": {
            **head.pop("properties"),
            ROWS: {
                "type": "array",
                "minItems": 1,
                "items": {"anyOf": [{"type": "string"}, row]},
            },
        },
        "$defs": inner,
    }
    return json.dumps(whole, indent=2) + "\n"


def problems(
    row: Any, model: type[BaseModel], sources: Sequence[Source], place: FilePlace, where: str
) -> Iterator[str]:
    """The problems of a row, as file:line:column: where: actual value; expected value.

    place: line and column of the row; where: its name in messages
    """
    if not isinstance(row, CommentedMap):
        yield f"{place}: {where}: found {row!r:.60}; expected a Hub id or a mapping"
        return
    invalid = _invalid(row, model)
    yield from dict.fromkeys(_message(problem, row, model, place, where) for problem in invalid)
    keys = [source.key for source in sources if row.get(source.key) is not None]
    if len(keys) != 1 and not invalid:
        names = ", ".join(f"'{source.key}'" for source in sources)
        yield (
            f"{place}: {where}: found {' and '.join(keys) or 'no place to read from'}; expected one"
            f" of {names}"
        )
    for key in (*keys, "title", "group", "revision", "weights", "paper", "licence", "copy_of", OF):
        if isinstance(value := row.get(key), str) and (expected := unfit(key, value, sources)):
            yield (
                f"{place_of_key(row, key, place)}: {where}.{key}: found {value!r:.80}; expected"
                f" {expected}"
            )
    if not invalid:
        yield from (
            f"{place_of_key(row, key, place)}: {where}.{key}: {problem}"
            for key, problem in _of_series(row, sources)
        )


def problems_of_head(document: CommentedMap, place: FilePlace) -> Iterator[str]:
    """As ``problems``, of the keys of a list beside its checkpoints."""
    head = {key: value for key, value in document.items() if key != ROWS}
    invalid = [one for one in _invalid(head, ListKeys) if one["loc"][:1] != (OF_REPORTS,)]
    yield from dict.fromkeys(
        _message(problem, document, ListKeys, place, "") for problem in invalid
    )
    for key in (OF_REPORTS, "title", "description"):
        value = head.get(key)
        expected = A_REPOSITORY if key == OF_REPORTS else PLAIN
        if isinstance(value, str):
            fits = REPOSITORY.fullmatch(value) if key == OF_REPORTS else _is_plain(value)
        else:
            fits = value is None or key != OF_REPORTS
        if not fits:
            at = place_of_key(document, key, place)
            yield f"{at}: {key}: found {value!r:.80}; expected {expected}"


def _is_plain(text: str) -> bool:
    return bool(text.strip()) and not FORBIDDEN.search(text)


def place_of_key(mapping: CommentedMap, key: str, otherwise: FilePlace) -> FilePlace:
    """Line and column of ``key`` in a mapping; ``otherwise`` if it is missing."""
    try:
        name = key if key in mapping else next(name for name in mapping if str(name) == key)
        line, column = mapping.lc.key(name)
    except (StopIteration, KeyError, TypeError, AttributeError):
        return otherwise
    return replace(otherwise, line=line + 1, column=column + 1)


def _invalid(row: Mapping[str, Any], model: type[BaseModel]) -> Sequence[Mapping[str, Any]]:
    """The problems of each key in the form of its value that fits best: those of inner keys, where
    there are such.
    """
    try:
        model.model_validate(dict(row))
    except ValidationError as error:
        found = sorted(error.errors(), key=lambda problem: len(problem["loc"]))
        deepest = {problem["loc"][:1]: len(problem["loc"]) for problem in found}
        return [
            problem
            for problem in error.errors()
            if len(problem["loc"]) == deepest[problem["loc"][:1]]
        ]
    return ()


def _message(
    problem: Mapping[str, Any],
    row: CommentedMap,
    model: type[BaseModel],
    place: FilePlace,
    where: str,
) -> str:
    # A key that is no string has no location.
    key = str(problem["loc"][0] if problem["loc"] else problem["input"])
    inner_model, n_outer = INNER.get(key, (None, 0))
    is_inner = inner_model is not None and bool(problem["loc"])
    inner = ".".join(map(str, problem["loc"][n_outer:])) if is_inner else ""
    at, name = place_of_key(row, key, place), ".".join(filter(None, (where, key)))
    if not problem["loc"] or problem["type"] in ("extra_forbidden", "invalid_key"):
        if inner_model and inner:
            return f"{at}: {name}: {_unknown(inner, inner_model)}"
        return f"{at}: {where and f'{where}: '}{_unknown(key, model)}"
    expected = SHOULD.sub("", problem["msg"])
    if is_inner and not inner:
        expected = EXPECTED_INNER[key]
    name = ".".join(filter(None, (name, inner)))
    return f"{at}: {name}: found {problem['input']!r:.60}; expected {expected}"


def _unknown(key: str, model: type[BaseModel]) -> str:
    """That ``key`` is none of ``model``, and which are."""
    keys = [*model.model_fields, *((ROWS,) if model is ListKeys else ())]
    close = get_close_matches(key, keys, n=1)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    return f"found the unknown key {key!r}{hint}; expected one of {', '.join(keys)}"


def _of_series(row: CommentedMap, sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Problems of the keys that name the checkpoints of a training run, each with its key."""
    revisions = row.get("revisions")
    paths = [str(row[source.key]) for source in sources if source.is_path and row.get(source.key)]
    if revisions is not None and paths:
        expected = "expected it beside a repository of the Hub"
        yield "revisions", f"found it beside the path {paths[0]!r:.60}; {expected}"
    if revisions is not None and row.get("revision") is not None:
        yield "revision", "found it beside 'revisions'; expected one of the two"
    if row.get("copy_of") is not None and (revisions is not None or ANY in "".join(paths)):
        yield "copy_of", "found it in a training run; expected it in an entry of one checkpoint"
    if isinstance(revisions, str) and range_of(revisions) is None:
        yield "revisions", f"found {revisions!r:.80}; expected a list, or {EXPECTED_RANGE}"
    if isinstance(revisions, list) and not _are_names(revisions):
        expected = "expected different names of branches or tags, not paths"
        yield "revisions", f"found {list(revisions)!r:.80}; {expected}"
    if row.get("every") is not None and revisions is None and ANY not in "".join(paths):
        yield (
            "every",
            "found it in an entry of one checkpoint; expected 'revisions', or a folder with *",
        )


def _are_names(revisions: Sequence[str]) -> bool:
    plain = all(_is_plain(name) and not PATH_LIKE.search(name) for name in revisions)
    return plain and 0 < len(revisions) == len(set(revisions))


def unfit(key: str, value: str, sources: Sequence[Source]) -> str | None:
    """What is expected in place of ``value`` as that of ``key``; None where it fits."""
    if not _is_plain(value):
        return PLAIN
    if any(source.key == key and source.is_path for source in sources):
        return None
    if key == "paper":
        return (
            None
            if paper_address(value)
            else "an arXiv id in quotes, such as '1706.03762', or an https:// address"
        )
    if key != "group" and PATH_LIKE.search(value):
        return "a name, not a path"
    is_on_hub = key == "copy_of" and value.startswith(ON_HUB)
    name = value.removeprefix(ON_HUB).partition("@")[0] if is_on_hub else value
    if key == OF and "/" not in name:
        return NOT_AN_ID
    is_id = is_on_hub or key == OF or any(source.key == key for source in sources)
    return NOT_AN_ID if is_id and not _is_hub_id(name) else None


def _is_hub_id(value: str) -> bool:
    words = value.split("/")
    named = not BOOLEANS.match(value) and all(
        not RESERVED.match(word) and not word.endswith((".", "-", ".git")) for word in words
    )
    return (
        bool(HUB_ID.fullmatch(value))
        and named
        and not re.search(r"--|\.\.", value)
        and len(value) <= 96
    )
