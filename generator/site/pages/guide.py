"""Pages of the guide that are made from what the program reads: the keys of a row, its commands,
and the files of data.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import chain
from types import MappingProxyType
from typing import Any

from markupsafe import Markup
from ruamel.yaml import YAML

from generator.checkpoints import sources
from generator.checkpoints.list_file import MOST_BYTES
from generator.checkpoints.list_row import BESIDE, ROWS, ChoiceRow, ListKeys, UseRow, row_model
from generator.checkpoints.model.table_names import NAMES, NamedTensor
from generator.checkpoints.plain_yaml import MOST_DEPTH
from generator.contracts import Atlas, Command, Page, PageContext, PageKind, Rule, Source, discovery
from generator.site.data import schema as data_schema
from generator.site.data import schema_words
from generator.site.html.escape import literal
from generator.site.kinds import every_kind

OWN_KEYS = re.compile(rf"\b(?:{UseRow.__name__}|{ChoiceRow.__name__})s?\b")
SCHEMAS = "guide/data-schema"  # Whose docstrings take long to be read.
WIDTH = 100  # characters of a line of an example
GROUPS: Mapping[str, tuple[type, ...]] = {
    "of_atlas": data_schema.OF_ATLAS,
    "of_runs": data_schema.OF_RUNS,
    "of_releases": data_schema.OF_RELEASES,
}


@dataclass(frozen=True)
class Key:
    """A key of a row. default: "" where there is none; examples: whole lists, in YAML"""

    name: str
    kind: str
    default: str
    meaning: str
    examples: tuple[Markup, ...]


@dataclass(frozen=True)
class DataKey:
    """A key of a record of the data files.

    kind: its type in words, where each type with a table links to it
    """

    name: str
    kind: Markup
    meaning: Markup


@dataclass(frozen=True)
class RecordOfData:
    """A kind of record in the data files, and its keys."""

    title: str
    meaning: Markup
    fields: tuple[DataKey, ...]


@dataclass(frozen=True)
class ConfigurationContext(PageContext, template="guide_configuration.md.jinja"):
    """keys: of a row; head: of a list beside its rows; use_keys: of the ``use`` of a row
    places: keys of which a row has one; kinds: keys of the kinds of pages
    most_bytes, most_depth: of a list
    """

    keys: Sequence[Key]
    head: Sequence[Key]
    kinds: Sequence[str]
    use_keys: Sequence[Key]
    places: Sequence[str]
    most_bytes: int
    most_depth: int


@dataclass(frozen=True)
class CommandLineContext(PageContext, template="guide_command_line.md.jinja"):
    """All commands."""

    commands: Sequence[Command]


@dataclass(frozen=True)
class RulesContext(PageContext, template="guide_rules.md.jinja"):
    """All rules of ``lint``."""

    rules: Sequence[Rule]


@dataclass(frozen=True)
class TensorNamesContext(PageContext, template="guide_tensor_names.md.jinja"):
    """Names that libraries give to tables."""

    names: Sequence[NamedTensor]


@dataclass(frozen=True)
class DataSchemaContext(PageContext, template="guide_data_schema.md.jinja"):
    """records: by name of their group, those of guests too; parameters: of each form
    columns: of the tables of metrics, each with its meaning
    """

    records: Mapping[str, Sequence[RecordOfData]]
    parameters: Sequence[RecordOfData]
    columns: Sequence[tuple[str, Markup]]
    files_of_a_release: Sequence[str]


def pages(atlas: Atlas) -> list[Page]:
    """The pages of the guide that are not written by hand."""
    known = discovery.load(sources, Source)
    places = [source.key for source in known]
    listed = ConfigurationContext(
        row_keys(known),
        head_keys(known),
        sorted(kind.key for kind in every_kind()),
        use_keys(),
        places,
        MOST_BYTES,
        MOST_DEPTH,
    )
    return [
        Page("guide/configuration.md", listed),
        Page("guide/command-line.md", CommandLineContext(atlas.commands)),
        Page("guide/rules.md", RulesContext(atlas.rules)),
        Page("guide/tensor-names.md", TensorNamesContext(NAMES)),
        Page("guide/data-schema.md", data_schema_context(atlas)),
    ]


def data_schema_context(atlas: Atlas) -> DataSchemaContext:
    """What the page on the data files shows."""
    forms, groups = data_schema.PARAMETERS, dict(GROUPS)
    for guest in atlas.guests:
        groups |= guest.records
    every = tuple(chain(*groups.values()))
    made = atlas.submit(
        f"{SCHEMAS} {' '.join(record.__name__ for record in every)}",
        partial(data_schema.packed, *every, *forms.values()),
    )
    schemas = json.loads(made())
    linked = re.compile(rf"\b({'|'.join(model.__name__ for model in every)})s?\b")

    def record_of(model: type, title: str) -> RecordOfData:
        return _record_of(schemas[model.__name__], title, linked)

    return DataSchemaContext(
        {
            name: [record_of(model, model.__name__) for model in group]
            for name, group in groups.items()
        },
        [record_of(model, title) for title, model in forms.items()],
        [(name, schema_words.prose(meaning)) for name, meaning in data_schema.COLUMNS.items()],
        data_schema.FILES_OF_A_RELEASE,
    )


def _record_of(schema: Mapping[str, Any], title: str, linked: re.Pattern[str]) -> RecordOfData:
    """linked: names of records, which have tables"""
    fields = [
        (name, _linked(schema_words.kind(value), linked), schema_words.described(value))
        for name, value in schema["properties"].items()
    ]
    return RecordOfData(
        title,
        schema_words.prose(schema["description"]),
        tuple(DataKey(*field) for field in fields),
    )


def _linked(kind: str, names: re.Pattern[str]) -> Markup:
    """``kind`` with a link at the name of a record, in the singular or plural."""
    linked = names.sub(lambda name: f'<a href="#{name[1].lower()}">{name[0]}</a>', literal(kind))
    return Markup(linked)  # noqa: S704 (escaped by literal)


def row_keys(known: tuple[Source, ...]) -> list[Key]:
    """Every key of a row of checkpoints.yml, those that say where it is read first."""
    of_sources = {source.key: source.example for source in known}
    properties = row_model(known).model_json_schema()["properties"]
    order = sorted(properties, key=lambda name: name not in of_sources)
    place = {source.key: source.example for source in known if not source.is_path}
    beside = {
        name: {
            other: properties[other]["examples"][0] for other in properties[name].get(BESIDE, ())
        }
        for name in order
    }
    return [
        _key(name, properties[name], {} if name in of_sources else place, beside[name])
        for name in order
    ]


def head_keys(known: tuple[Source, ...]) -> list[Key]:
    """Every key of checkpoints.yml beside its rows."""
    properties = ListKeys.model_json_schema()["properties"]
    row = {source.key: source.example for source in known if not source.is_path}
    return [_key(name, schema, {}, {}, row) for name, schema in properties.items()]


def use_keys() -> list[Key]:
    """Every key of ``use`` in a row."""
    properties = UseRow.model_json_schema()["properties"]
    return [_key(name, schema, {}, {}) for name, schema in properties.items()]


def _key(
    name: str,
    schema: Mapping[str, Any],
    place: Mapping[str, str],
    beside: Mapping[str, object],
    row: Mapping[str, str] = MappingProxyType({}),
) -> Key:
    """place, beside: other keys of its examples; row: below it, where it is no key of a row"""
    options = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
    default = schema.get("default")
    examples = tuple(
        _listed({}, {name: value, ROWS: [dict(row)]})
        if row
        else _listed({**place, **beside, name: value})
        for value in schema.get("examples", ())
    )
    return Key(
        name,
        OWN_KEYS.sub("a mapping of its own keys", schema_words.kind({"anyOf": options})),
        _default(default),
        str(schema.get("description", "")),
        examples,
    )


def _default(value: object) -> str:
    if value is None or value == "":
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _listed(row: Mapping[str, object], whole: Mapping[str, object] | None = None) -> Markup:
    """A list of one row, or a ``whole`` one, in YAML."""
    yaml, stream = YAML(), StringIO()
    yaml.width = WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump(dict(whole or {ROWS: [dict(row)]}), stream)
    return Markup(stream.getvalue())  # noqa: S704 (values of this program, in a block of code)


PAGE = PageKind("guide", pages, ("guide/*.md",))
