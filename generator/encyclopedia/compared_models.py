"""Published models side by side: what of each is compared, and which belong together."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from urllib.parse import quote

from generator.contracts import Atlas, Json
from generator.encyclopedia.model_rows import (
    COLUMNS,
    UNKNOWN,
    WORDING,
    ModelCell,
    cache_at,
    records,
    rows,
)
from generator.encyclopedia.start_commands import command, command_title

MOST, MOST_SUGGESTED = 4, 8  # models side by side; groups that are suggested
NATIVE = "Length its maker states"
LEFT_OUT = ("Model", "Config")  # titles of COLUMNS
LENGTHS = (4096, 32768, 131072)  # tokens of the caches that are compared
OF_ELSE = ("Published", "Developer", "Parameters")  # than position


def compared(atlas: Atlas) -> dict[str, list[str]]:
    """What the table says of each model, by its id in order: one text for each of ``titles``, in
    which ``start_commands.ID`` stands for the id.
    """
    models = {model["id"]: model for model in records(atlas)}
    kept = [number for number, title in enumerate(COLUMNS.values()) if title not in LEFT_OUT]
    found = {}
    for row in sorted(rows(atlas), key=lambda row: row.id.lower()):
        model = models[row.id]
        stated = model["native"]
        sizes = [cache_at(model, length) for length in LENGTHS]
        cells = [row.cells[number] for number in kept]
        texts = [_text(one) for one in cells]
        scaling = _titles().index(COLUMNS["original"])
        texts[scaling : scaling + 1] = [cells[scaling].text, cells[scaling].hint or UNKNOWN]
        behind = _titles().index(COLUMNS["cache"]) + 1
        texts[behind:behind] = sizes
        length = f"{stated['length']:,}" if stated else UNKNOWN
        found[row.id] = [length, command(model), *texts]
    return found


def _text(cell: ModelCell) -> str:
    """What a cell has, in one text."""
    between = " " if cell.limited and not cell.value else "; "
    return between.join(one for one in (cell.text, cell.hint) if one)


def titles() -> list[str]:
    """What is compared, in the order of the page."""
    found = _titles()
    found.insert(found.index(COLUMNS["original"]) + 1, WORDING("scaling"))
    behind = found.index(COLUMNS["cache"]) + 1
    return [NATIVE, command_title(), *found[:behind], *_caches(), *found[behind:]]


def _titles() -> list[str]:
    """Of the columns that are compared."""
    return [title for title in COLUMNS.values() if title not in LEFT_OUT]


def _caches() -> list[str]:
    return [WORDING("cache_of", length=length) for length in LENGTHS]


def relatives(atlas: Atlas) -> dict[str, list[str]]:
    """The models of the same maker, model type and size, by id: at most MOST with the model itself,
    nearest by name; nothing for a model without any.
    """
    families: dict[tuple[str, str, str], list[Json]] = {}
    for model in records(atlas):
        if model["maker"] and model["model_type"] and model["size"]:
            key = (model["maker"], model["model_type"], model["size"])
            families.setdefault(key, []).append(model)
    return {
        model["id"]: _nearest(model, family)
        for family in families.values()
        for model in family
        if len(family) > 1
    }


def _nearest(model: Json, family: Sequence[Json]) -> list[str]:
    """The model and those whose names have the longest beginning in common with it, oldest
    first.
    """
    others = [one for one in family if one is not model]
    others.sort(key=lambda one: -_common(one, model))
    chosen = sorted([model, *others[: MOST - 1]], key=lambda one: (one["month"] or "~", one["id"]))
    return [one["id"] for one in chosen]


def _common(one: Json, other: Json) -> int:
    """Letters with which both names begin."""
    first, second = one["id"], other["id"]
    return next(
        (at for at, pair in enumerate(zip(first, second, strict=False)) if len(set(pair)) > 1),
        min(len(first), len(second)),
    )


def suggested(atlas: Atlas) -> list[list[str]]:
    """Groups of relatives that differ in what is compared, those first that do in most of it, with
    no model twice.
    """
    values = compared(atlas)
    groups = list({tuple(sorted(group)): group for group in relatives(atlas).values()}.values())
    found: list[list[str]] = []
    for ids in sorted(groups, key=lambda ids: (-_differences(ids, values), ids)):
        if _differences(ids, values) and not any(set(ids) & set(other) for other in found):
            found.append(ids)
    return found[:MOST_SUGGESTED]


def _differences(ids: Sequence[str], values: Mapping[str, Sequence[str]]) -> float:
    """In how many settings of position two of these models differ, on average."""
    # Caches and commands for a length follow from other rows.
    others = (*OF_ELSE, *_caches(), command_title())
    settings = [at for at, title in enumerate(titles()) if title not in others]
    counts = [
        sum(values[one][at] != values[other][at] for at in settings)
        for one, other in combinations(ids, 2)
    ]
    return sum(counts) / len(counts)


def address(ids: Sequence[str]) -> str:
    """Of the page with these models."""
    return f"models/compare.html#models={','.join(quote(one, safe='') for one in ids)}"


def script(atlas: Atlas) -> bytes:
    """data/beside.js."""
    text = json.dumps(compared(atlas), ensure_ascii=False, separators=(",", ":"))
    return f"window.atlasBeside = {text};\n".encode()
