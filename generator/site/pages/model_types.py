"""The pages of model types: layer maps by the defaults of the config classes of transformers."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from generator.contracts import Atlas, Json, Mixer, Page, PageKind
from generator.contracts.layer_map import ATTENTION
from generator.site.pictures.layer_strips import WORDS, described

UNREAD, UNKNOWN, UNTURNED = "not said by the settings", "unknown without weights", "no rotation"
# Types of layers with attention to all.
PLAIN = frozenset({"full attention", "attention", "global"})
MARKS: Mapping[Mixer, str] = dict(zip(WORDS, "■□□▤▥○~≈·", strict=True))
OTHER = "◆"
# Initials of the model types on a page, so that none is longer than some screens.
INITIALS = ("ab", "c", "de", "f", "g", "hijk", "l", "m", "no", "p", "q", "rs", "tuv", "wxyz")


@dataclass(frozen=True)
class ModelTypeRow:
    """A stack of a model type. stack: its name, "" for the only one

    mixing, position: in words; windows: their settings, in positions; cells: a mark for each layer,
        "" where all are alike
    """

    model_type: str
    stack: str
    n_layers: int
    mixing: str
    windows: tuple[int, ...]
    position: str
    cells: str


@dataclass(frozen=True)
class ModelTypeTable:
    """All model types. version: of transformers; without: those without a stack that the atlas
    reads; failed: with the reason
    """

    version: str
    rows: tuple[ModelTypeRow, ...]
    n_types: int
    without: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]


def pages(atlas: Atlas) -> list[Page]:
    """What the columns mean, and the model types by their initials."""
    shared = {
        "read": partial(read, atlas),
        "marks": MARKS,
        "other": OTHER,
        "parts": [(_range(initials), f"families/{initials}") for initials in INITIALS],
    }
    return [
        Page("families.md", "model_types.md.jinja", {**shared, "initials": "", "title": ""}),
        *(
            Page(
                f"families/{initials}.md",
                "model_types.md.jinja",
                {**shared, "initials": initials, "title": _range(initials)},
            )
            for initials in INITIALS
        ),
    ]


def _range(initials: str) -> str:
    """The first and the last of initials, in capitals."""
    ends = dict.fromkeys((initials[0], initials[-1]))
    return "–".join(ends).upper()


def read(atlas: Atlas) -> ModelTypeTable:
    """The table, from data/families.json."""
    data = json.loads(atlas.families())
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    families = data["families"]
    return ModelTypeTable(
        data["transformers"],
        tuple(row for family in families for row in _rows(family, titles)),
        sum(bool(family["stacks"]) for family in families),
        tuple(
            family["model_type"]
            for family in families
            if not family["stacks"] and family["reason"] is None
        ),
        tuple(
            (family["model_type"], family["reason"])
            for family in families
            if family["reason"] is not None
        ),
    )


def _rows(family: Json, titles: Mapping[str, str]) -> Iterator[ModelTypeRow]:
    texts = {
        encoding["key"]: described(
            titles.get(encoding["scheme"], encoding["scheme"]), encoding["parameters"]
        )
        for encoding in family["encodings"]
    }
    for stack in family["stacks"]:
        groups = stack["groups"]
        windows = {group["limit"]["value"] for group in groups if group["limit"]}
        yield ModelTypeRow(
            family["model_type"],
            _name(stack, [other["model_type"] for other in family["stacks"]]),
            stack["n_layers"],
            _counted([(len(group["layers"]), _mixing(group)) for group in groups]),
            tuple(sorted(windows)),
            _position(stack, texts),
            _cells(stack),
        )


def _name(stack: Json, model_types: Sequence[str]) -> str:
    """The model type of a nested config, with its part where several have that type; the side of a
    model of two; "" for the only stack.
    """
    is_named = stack["sides"] or model_types.count(stack["model_type"]) > 1
    return " ".join(
        name
        for name in (
            stack["model_type"] if stack["nested"] else "",
            stack["part"] if is_named else "",
        )
        if name
    )


def _mixing(group: Json) -> str:
    """How the layers of a group mix positions, in words; by the name of their type where they
    choose among the keys.
    """
    if group["kinds"] is None:
        return UNREAD
    if _is_other(group):
        return str(group["type"])
    return " and ".join(WORDS[kind] for kind in group["kinds"])


def _is_other(group: Json) -> bool:
    """Whether the type of layers names another attention, as to chosen or compressed keys, without
    a limit of distance.
    """
    return bool(group["kinds"] == ["full"] and group["type"] not in PLAIN)


def _position(stack: Json, texts: Mapping[str, str]) -> str:
    """What tells position in a stack, in words."""
    at_input = [texts[key] for key in stack["input"]]
    inside = [
        (len(group["layers"]), text)
        for group in stack["groups"]
        if (text := _position_inside(group, texts, bool(at_input)))
    ]
    return (
        "; ".join(text for text in (*at_input, _counted(inside, stack["n_layers"])) if text)
        or UNKNOWN
    )


def _position_inside(group: Json, texts: Mapping[str, str], is_at_input: bool) -> str:
    """What tells position within the layers of a group.

    is_at_input: whether something does so before them
    """
    if group["encodings"] is None or (group["kinds"] is None and not group["encodings"]):
        return "" if is_at_input else UNKNOWN
    attends = not ATTENTION.isdisjoint(group["kinds"] or ())
    return " and ".join(texts[key] for key in group["encodings"]) or (
        UNTURNED if attends and not is_at_input else ""
    )


def _counted(texts: Sequence[tuple[int, str]], n_layers: int = 0) -> str:
    """Texts with the number of layers that each is true of, equal ones together; without it where
    that is all of them.
    """
    counts: Counter[str] = Counter()
    for count, text in texts:
        counts[text] += count
    total = n_layers or sum(counts.values())
    return "; ".join(
        text if count == total else f"{text} ({count})" for text, count in counts.most_common()
    )


def _cells(stack: Json) -> str:
    """A mark for each layer, by what mixes its positions first; "" where all are alike."""
    marks: dict[int, str] = {}
    for group in stack["groups"]:
        kinds: Any = group["kinds"]
        mark = "?"
        if kinds is not None:
            mark = OTHER if _is_other(group) else MARKS[kinds[0]]
        marks |= dict.fromkeys(group["layers"], mark)
    return "".join(marks[index] for index in sorted(marks)) if len(set(marks.values())) > 1 else ""


PAGE = PageKind("model_types", pages)
