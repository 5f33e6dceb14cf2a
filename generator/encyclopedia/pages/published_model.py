"""A page for each published config: what its settings say, what a context costs, and what its maker
publishes for longer ones.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from generator.contracts import Atlas, Json, Page, PageContext, PageKind
from generator.encyclopedia import details
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.model_rows import KINDS, WORDING, page_of, pages_of, records
from generator.encyclopedia.reach import SightRow, Strip, sight_row
from generator.encyclopedia.turning import extended_name
from generator.text import pattern

LENGTHS = (4096, 32_768, 131_072)  # positions, beside the context
OF_LIMITS = re.compile("window|sliding|chunk|pattern|layer_types")  # keys
# Names of types in configs, and those that engines give them.
SHORT = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8": "fp8"}


@dataclass(frozen=True)
class Group:
    """Layers of a stack that are alike. css: of their colour; kinds: how they mix positions, in
    words; keys: of a window or chunk
    """

    css: str
    count: int
    layers: str
    kinds: list[str]
    keys: int | None
    is_bare: bool


@dataclass(frozen=True)
class PublishedContext(PageContext, template="published_model.md.jinja"):
    """model: as in models.json; titles: of schemes by key; measured: address of figures, "" without

    unchecked: what says that nobody checked a config; stacks: name, strip and groups of each
    costs: numbers kept at some lengths; lengths: what names each; types: of a cache
    served: extensions, with settings as programs take them; keys: that give windows
    taken: a sentence on what each program takes, where two differ, and whether tests run it
    """

    model: Json
    owner: str
    name: str
    titles: Mapping[str, str]
    unchecked: str
    stacks: Sequence[tuple[str, Strip, list[Group]]]
    costs: Sequence[tuple[int, int]]
    lengths: Mapping[int, list[str]]
    types: Sequence[tuple[str, int, bool]]
    served: Sequence[Json]
    keys: Sequence[str]
    measured: str
    taken: Sequence[tuple[str, bool]]


def pages(atlas: Atlas) -> list[Page]:
    """A page of each model."""
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    measured = pages_of(atlas)
    return [_page(model, titles, measured) for model in records(atlas)]


def _page(model: Json, titles: dict[str, str], measured: dict[str, str]) -> Page:
    owner, _, name = model["id"].rpartition("/")
    sight = sight_row(model)
    context = PublishedContext(
        model=model,
        owner=owner,
        name=name,
        titles=titles,
        unchecked=WORDING("unchecked"),
        stacks=list(_stacks(model, sight)),
        costs=_costs(model),
        lengths=_lengths(model),
        types=list(_types(model["cache_type"])),
        served=[_served(one, model) for one in model["extends"]],
        keys=[key for key in model["keys_of_layers"] if OF_LIMITS.search(key)],
        measured=measured.get(model["id"], ""),
        taken=() if (known := known_model(model["id"])) is None else details.of(known)["taken"],
    )
    return Page(page_of(model["id"]), context)


def _served(extension: Json, model: Json) -> Json:
    """An extension with the settings as programs take them: with the base of the config, and within
    the section of the text model.
    """
    given = extension.get("rope_parameters")
    if given is None:
        return {**extension, "rope": ""}
    rope = {"rope_theta": model["rotations"][0]["base"], **given}
    section = model["text_section"]
    override = {"rope_parameters": rope}
    text = json.dumps({section: override} if section else override)
    address = f"position.html#model={quote(extended_name(model['id'], extension['to']), safe='')}"
    return {**extension, "rope": json.dumps(override), "override": text, "address": address}


def _stacks(model: Json, sight: SightRow) -> Iterator[tuple[str, Strip, list[Group]]]:
    """Each stack of layers with its name, its strip, and its groups."""
    for stack, strip in zip(model["stacks"], sight.stacks, strict=True):
        _, strokes = strip
        groups = []
        for number, (group, stroke) in enumerate(zip(stack["groups"], strokes, strict=True)):
            indices = [at for at, own in enumerate(stack["layers"]) if own == number]
            kinds = [KINDS[kind] for kind in group["kinds"]]
            which = pattern(indices)
            bare = group["without_encoding"]
            groups.append(Group(stroke.css, len(indices), which, kinds, group["keys"], bare))
        yield stack["part"], strip, groups


def _types(own: Json | None) -> Iterator[tuple[str, int, bool]]:
    """Types in which a cache is measured, each with the bytes of a number, and whether it is that
    of the config: those that programs are mostly given, and its own.
    """
    name = "" if own is None else SHORT[own["name"]]
    common = {"bf16": 2, "fp8": 1}
    if own is not None and name not in common:
        yield name, own["bytes"], True
    yield from ((short, size, short == name) for short, size in common.items())


def _costs(model: Json) -> list[tuple[int, int]]:
    """Numbers that all layers keep at some lengths, up to the longest that is named; none where
    what they keep is not known.
    """
    named = _lengths(model)
    farthest = max(named, default=0)
    lengths = sorted({length for length in LENGTHS if length < farthest or not named} | {*named})
    if not model["cache"]:
        return []
    return [
        (
            length,
            sum(
                one["layers"] * one["values"] * min(length, one["positions"] or length)
                for one in model["cache"]
            ),
        )
        for length in lengths
    ]


def _lengths(model: Json) -> dict[int, list[str]]:
    """Lengths that config or maker name, each with what names it."""
    native = model["native"] or {"length": 0}
    given = [
        ("context", model["context"] or model["default_context"] or 0),
        ("native", native["length"]),
        *(("extended", one["to"]) for one in model["extends"]),
    ]
    return {
        length: [kind for kind, other in given if other == length]
        for length in sorted({length for _, length in given} - {0})
    }


PAGE = PageKind("published_model", pages, ("models/*.md",))
