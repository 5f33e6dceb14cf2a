"""Known models beside config.json as the Hub has it now: what their files keep of it, and what that
changes in position.
"""

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.json_object import parse_config
from generator.checkpoints.hub import revisions
from generator.checkpoints.hub.repository import Repository
from generator.checkpoints.model.keys import SIZE_NAMES, concerns_position, dotted, leaves
from generator.checkpoints.model.kv_cache import type_of_cache
from generator.contracts import Json, ModelConfig
from generator.contracts.wording import Wording
from generator.encyclopedia.known_models import file_of
from generator.errors import RowError
from generator.reading.comparison import compared
from generator.reading.sides import Side
from generator.site.history.sentences import cell
from generator.text import short

WORDING = Wording("wording/refreshed.jinja")
FILE, SOURCE = "config.json", "config.json on the Hub"
SECONDS = 60.0  # that all requests for a model may take
LONGEST = 200  # characters of a value in the table
ALWAYS = SIZE_NAMES | {"architectures", "model_type", "intermediate_size", "num_key_value_heads"}
# Names of labels and of tensors may contain any word.
OF_ELSE = frozenset({"id2label", "label2id", "quantization_config", "task_specific_params"})
# Of a source, all before the sources of what the config does not say.
OF_CONFIG = re.compile(r"^.*?(?=; | and model card|$)")
# What a file has on one line: lists of values, and these records.
SHORT = re.compile(
    r"(?<=\[)\n *([^\][{}]*?)\n *(?=\])"
    r'|("(?:auto_map|cache_type|native|parameters|published)": \{)\n *([^{}]*?)\n *(?=\})'
)
TYPE = "cache_type"
WAYS, MARK = "extends", "<extends>"  # Each of these on one, too; what stands for them meanwhile.


@dataclass(frozen=True)
class Refreshed:
    """A known model after a look at the Hub.

    text: of its new file, "" where that stays as it is
    position: what changed, a sentence each; settings: those that differ, each with both values
    preview: of a new one, what its page says first; doubts: why a person should look closely
    """

    id: str
    text: str
    position: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    preview: str = ""
    doubts: tuple[str, ...] = ()


def refreshed(hub_id: str, day: str) -> Refreshed:
    """A known model with its config as main has it; day: as YYYY-MM-DD.

    The file stays as it is where it names a commit, and its settings are those of main.

    errors: RowError, NotReachedError
    """
    record: Json = json.loads(file_of(hub_id).read_text(encoding="utf-8"))
    end = time.monotonic() + SECONDS
    commit, given = published_config(hub_id, end)
    former = record["config"]
    config = settings_of(hub_id, given, {path for path, _ in leaves(former)})
    had, has = {TYPE: record[TYPE]} if TYPE in record else {}, type_of(ModelConfig(given, hub_id))
    if (config, has) == (former, had) and "commit" in record:
        return Refreshed(hub_id, "")
    source = {"source": OF_CONFIG.sub(SOURCE, record["source"], count=1), "commit": commit}
    read: Json = {"source": {**source, "read": day}, "config": {**has, "config": config}}
    new: dict[str, Any] = {}
    for key in (key for key in record if key not in ("from_knowledge", "commit", "read", TYPE)):
        new |= read.get(key, {key: record[key]})
    position = _position(hub_id, former, config, "expected" in record)
    settings = _settings({**had, **former}, {**has, **config})
    return Refreshed(hub_id, f"{as_text(new)}\n", tuple(position), tuple(settings))


def published_config(hub_id: str, end: float) -> tuple[str, Json]:
    """The commit of main, and its config; end: by ``time.monotonic``.

    errors: RowError, NotReachedError
    """
    listing = revisions.current(hub_id, hub_id, end)
    content = Repository(hub_id, listing, hub_id, False, end).read(FILE) or b"{}"
    return listing.commit, parse_config(content, f"{hub_id}: {FILE}")


def type_of(config: ModelConfig) -> dict[str, Json]:
    """The type of its cache, for a file; empty where it is not known."""
    found = type_of_cache(config)
    return {} if found is None else {TYPE: {"name": found[0], "by": found[1]}}


def as_text(record: Json) -> str:
    """A file in the form of the others, where some values stand on one line."""
    ways = ",\n    ".join(json.dumps(way, ensure_ascii=False) for way in record.get(WAYS, ()))
    marked = {key: MARK if key == WAYS else value for key, value in record.items()}
    text = SHORT.sub(
        lambda found: re.sub(r"\n *", " ", "".join(filter(None, found.groups()))),
        json.dumps(marked, indent=2, ensure_ascii=False),
    )
    return text.replace(json.dumps(MARK), f"[\n    {ways}\n  ]")


def settings_of(hub_id: str, given: Json, former: set[tuple[str, ...]]) -> Json:
    """As ``relevant``. errors: RowError where it is nothing"""
    if config := relevant(given, former):
        return config
    raise RowError(f"{hub_id}: {FILE} has no settings of a model; expected some")


def relevant(given: Json, former: set[tuple[str, ...]], around: tuple[str, ...] = ()) -> Json:
    """The settings that a file keeps: those that it has, sizes, and what concerns position."""
    found = {}
    for name, value in given.items():
        path = (*around, name)
        if isinstance(value, dict) and value:
            if name not in OF_ELSE and (inner := relevant(value, former, path)):
                found[name] = inner
        elif path in former or name in ALWAYS or concerns_position(path):
            found[name] = value
    return found


def table(changed: Sequence[Refreshed]) -> str:
    """What changed, as a table in Markdown with a line on its columns."""
    rows = [
        f"| {cell(model.id)} | {cell(' '.join(_sentences(model)) or WORDING('same'))}"
        f" | {cell('; '.join(model.settings) or WORDING('new' if model.preview else 'same'))} |"
        for model in changed
    ]
    lines = [WORDING("head"), "| --- | --- | --- |", *rows, "", WORDING("columns")]
    return "\n".join(lines) if changed else WORDING("nothing")


def _sentences(model: Refreshed) -> Iterator[str]:
    yield from (model.preview, *model.position) if model.preview else model.position
    yield from (WORDING("doubt", text=text) for text in model.doubts)


def _position(hub_id: str, former: Json, config: Json, is_stated: bool) -> Iterator[str]:
    """What differs, and that what the authors state of layers, which was that of the former config,
    has to be read anew.
    """
    try:
        one, other = (Side.of("AB"[i], ConfigAlone(settings, hub_id))
                      for i, settings in enumerate((former, config)))  # fmt: skip
    except RowError as error:
        yield WORDING("unread", reason=str(error))
        return
    found, before = compared(one, other), compared(one, replace(one, name="B"))
    yield from (difference.text for difference in found.differences)
    # What cannot be said of the new config, and could be said of the former one.
    known = {*before.untold, *before.notes}
    yield from (text for text in (*found.untold, *found.notes) if text not in known)
    if is_stated and any(difference.kind != "context" for difference in found.differences):
        yield WORDING("stated")


def _settings(former: Json, config: Json) -> Iterator[str]:
    sides = dict(leaves(former)), dict(leaves(config))
    for path in dict.fromkeys((*sides[0], *sides[1])):
        given = [side.get(path, WORDING("absent")) for side in sides]
        if given[0] != given[1]:
            one, other = (short(json.dumps(value).strip('"'), LONGEST) for value in given)
            yield f"{dotted(path)}: {one} → {other}"
