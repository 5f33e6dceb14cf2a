"""A page for each published config: what its settings say, what a context costs, and what its maker
publishes for longer ones.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any
from urllib.parse import quote

from generator.contracts import Atlas, Json, Limit, Page, PageContext, PageKind
from generator.encodings.rotations import yarn_magnitude
from generator.encyclopedia import by_program, details
from generator.encyclopedia.compared_models import address, relatives
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.model_files import path
from generator.encyclopedia.model_rows import (
    WORDING,
    copies_of,
    dated,
    growing,
    is_by_paper,
    kind_of,
    limits_of,
    marks_of,
    page_of,
    pages_of,
    records,
)
from generator.encyclopedia.orders import Pairs, pairs_of
from generator.encyclopedia.reach import SightRow, Strip, sight_row
from generator.encyclopedia.start_commands import override, with_base
from generator.encyclopedia.turning import extended_name
from generator.text import pattern

LENGTHS = (4096, 32_768, 131_072)  # positions, beside the context
SIDES = (224, 448, 896)  # pixels, beside the size of the config
LEAST_CHANGE = 1e-3  # of a wavelength
OF_LIMITS = re.compile("window|sliding|chunk|pattern|layer_types")  # keys
# Names of types in configs, and those that engines give them.
SHORT = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8": "fp8"}


@dataclass(frozen=True)
class Group:
    """Layers of a stack that are alike. css: of their colour; kinds: how they mix positions; keys:
    of a window, chunk or convolution
    """

    css: str
    count: int
    layers: str
    kinds: list[str]
    keys: int | None
    is_bare: bool


@dataclass(frozen=True)
class StackOfLayers:
    """A stack of layers. strip: as a picture"""

    part: str
    strip: Strip
    groups: list[Group]

    @property
    def differs(self) -> bool:
        """Whether its layers do, so that there is something to draw."""
        return len(self.groups) > 1


@dataclass(frozen=True)
class PublishedContext(PageContext, template="published_model.md.jinja"):
    """model: as in models.json; titles: of schemes by key; measured: address of figures, or "";
        copied: of those of a copy; not_compared: schemes whose numbers in the copy were not
        compared with the model's; state: "measured" or "computed", as its figures are, or ""
        without any

    dated: its month, with a word where it is that of its paper; "" where none is known
    unchecked: what says that nobody checked a config; kind: "image", "speech" or "text", which
        decides what its five numbers are
    magnitudes: factor on all logits of each rotation, None for those of its cosine and sine alone
    growing: bytes of a further token in the cache, in bf16; None where that is not known
    pairs: which two components turn together, None where that is not known or nothing turns
    without_windows: programs that give no layer its window, so that each keeps every position
    limits: of its files, where it is listed, as ``limits_of``
    costs: numbers kept at some lengths; lengths: what names each; types: of a cache
    state_types: name, bytes of all its states and the key that says that it is so, "" for none
    convolution_types: name, bytes of the last inputs of all short convolutions without such a state
    image_sizes: side in pixels, grid of patches, positions of the encoder, tokens of the text or 0
    served: extensions, with settings as programs take them; keys: that give windows
    known: programs of which that is known; taken: what each takes, a sentence each; differ: as
        ``by_program.of``
    beside: names of its relatives, and the address of the page that shows all side by side
    file: its path
    """

    model: Json
    owner: str
    name: str
    titles: Mapping[str, str]
    dated: str
    is_by_paper: bool
    unchecked: str
    kind: str
    magnitudes: Sequence[float | None]
    growing: int | None
    pairs: Pairs | None
    without_windows: Sequence[str]
    limits: Sequence[Limit]
    stacks: Sequence[StackOfLayers]
    costs: Sequence[tuple[int, int]]
    lengths: Mapping[int, list[str]]
    types: Sequence[tuple[str, int, bool]]
    state_types: Sequence[tuple[str, int, str]]
    convolution_types: Sequence[tuple[str, int]]
    image_sizes: Sequence[tuple[int, tuple[int, int], int, int]]
    served: Sequence[Json]
    keys: Sequence[str]
    measured: str
    copied: str
    not_compared: Sequence[str]
    state: str
    known: Sequence[str]
    taken: Sequence[str]
    differ: Sequence[Json]
    beside: tuple[Sequence[str], str]
    file: str


def pages(atlas: Atlas) -> list[Page]:
    """A page of each model."""
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    family = relatives(atlas)
    of_atlas: dict[str, tuple[Mapping[str, Any], Any]] = {
        "measured": (pages_of(atlas), ""),
        "copied": (copies_of(atlas), ""),
        "not_compared": (_not_compared(atlas), ()),
        "state": (marks_of(atlas), ""),
        "limits": (limits_of(atlas), ()),
    }
    return [
        _page(
            model,
            titles,
            family.get(model["id"], ()),
            {name: found.get(model["id"], none) for name, (found, none) in of_atlas.items()},
        )
        for model in records(atlas)
    ]


def _not_compared(atlas: Atlas) -> dict[str, tuple[str, ...]]:
    """Of copies, by models as ``copies_of``: schemes whose numbers were not compared."""
    return {
        outcome.checkpoint.original: tuple(dict.fromkeys(outcome.copy.comparison.not_compared))
        for outcome in atlas.outcomes
        if outcome.copy and outcome.copy.comparison
    }


def _page(
    model: Json, titles: dict[str, str], family: Sequence[str], of_atlas: Mapping[str, Any]
) -> Page:
    """of_atlas: what else the atlas has on it, by names of ``PublishedContext``"""
    owner, _, name = model["id"].rpartition("/")
    sight, known = sight_row(model), known_model(model["id"])
    taken = by_program.NOTHING if known is None else by_program.of(known)
    context = PublishedContext(
        model=model,
        owner=owner,
        name=name,
        titles=titles,
        dated=dated(model),
        is_by_paper=is_by_paper(model),
        unchecked=WORDING("unchecked"),
        kind=kind_of(model),
        magnitudes=list(_magnitudes(model)),
        growing=None if model["cache"] is None else growing(model),
        pairs=pairs_of(model),
        without_windows=details.without_windows(model["id"]),
        stacks=list(_stacks(model, sight)),
        costs=_costs(model),
        lengths=_lengths(model),
        types=list(_types(model["cache_type"])),
        state_types=list(_state_types(model["state"])),
        convolution_types=list(_convolution_types(model["convolutions"])),
        image_sizes=list(_image_sizes(model["image"])),
        served=[_served(one, model) for one in model["extends"]],
        keys=[key for key in model["keys_of_layers"] if OF_LIMITS.search(key)],
        beside=_beside(model["id"], family),
        file=path(model["id"]),
        **{name: taken[name] for name in by_program.NOTHING},
        **of_atlas,
    )
    return Page(page_of(model["id"]), context)


def _beside(hub_id: str, family: Sequence[str]) -> tuple[Sequence[str], str]:
    """The names of its relatives, and where all of them stand side by side."""
    names = [one.rpartition("/")[2] for one in family if one != hub_id]
    return names, address(family) if names else ""


def _served(extension: Json, model: Json) -> Json:
    """An extension with the settings as programs take them: with the base of the config, and within
    the section of the text model.
    """
    given = extension.get("rope_parameters")
    if given is None:
        return {**extension, "rope": ""}
    address = f"position.html#model={quote(extended_name(model['id'], extension['to']), safe='')}"
    slower = _slower(model["at_position"], extension.get("at_position"))
    return {
        **extension,
        "rope": json.dumps({"rope_parameters": with_base(model, given)}),
        "override": override(model, extension),
        "address": address,
        "slower": slower,
    }


def _slower(without: Json | None, given: Json | None) -> Json | None:
    """How many pairs of how many an extension slows down in texts of every length, and by which
    factor at most; None where a model has several rotations, or other angles for longer texts.
    """
    both = [one["rotations"] for one in (without, given) if one and not one["longer"]]
    if len(both) < 2 or any(len(rotations) != 1 for rotations in both):
        return None
    pairs = both[0][0]["pairs"]
    before, after = (
        rotations[0]["slower"] * (pairs if len(rotations[0]["slower"]) == 1 else 1)
        for rotations in both
    )
    ratios = [new / old for old, new in zip(before, after, strict=True)]
    changed = [ratio for ratio in ratios if ratio > 1.0 + LEAST_CHANGE]
    return {"pairs": len(changed), "of": pairs, "most": max(changed)} if changed else None


def _stacks(model: Json, sight: SightRow) -> Iterator[StackOfLayers]:
    """Each stack of layers with its groups."""
    for stack, strip in zip(model["stacks"], sight.stacks, strict=True):
        _, strokes = strip
        groups = []
        for number, (group, stroke) in enumerate(zip(stack["groups"], strokes, strict=True)):
            indices = [at for at, own in enumerate(stack["layers"]) if own == number]
            alike = group["kinds"], group["keys"], group["without_encoding"]
            groups.append(Group(stroke.css, len(indices), pattern(indices), *alike))
        yield StackOfLayers(stack["part"], strip, groups)


def _state_types(state: Json | None) -> Iterator[tuple[str, int, str]]:
    """The bytes of all states in the type that the config gives, or in those that programs take."""
    if state is None:
        return
    numbers = state["layers"] * prod(state["sizes"])
    own = state["type"]
    if own is not None:
        yield SHORT[own["name"]], numbers * own["bytes"], own["by"]
    else:
        yield from ((name, numbers * size, "") for name, size in (("fp32", 4), ("bf16", 2)))


def _convolution_types(convolutions: Sequence[Json]) -> Iterator[tuple[str, int]]:
    """The bytes of all inputs that short convolutions keep, in the types that programs take."""
    numbers = sum(one["layers"] * sum(one["channels"]) * one["width"] for one in convolutions)
    if numbers:
        yield from ((name, numbers * size) for name, size in (("fp32", 4), ("bf16", 2)))


def _magnitudes(model: Json) -> Iterator[float | None]:
    """What the code of latent attention multiplies all logits by, for each rotation."""
    is_latent = any(one["latent"] for one in model["cache"] or ())
    for scaling in model["scalings"]:
        yield yarn_magnitude(scaling) if is_latent and scaling else None


def _image_sizes(image: Json | None) -> Iterator[tuple[int, tuple[int, int], int, int]]:
    """Square images of some sizes, if the model is known to read others than that of its config."""
    if image is None or not (image["resizing"] if image["size"] else image["merged"]):
        return
    if image["resizing"] and not image["resizing"]["read"]:
        return
    own = set(image["size"] or ()) if len(set(image["size"] or ())) == 1 else set()
    merged = 1 if image["tokens"] else image["merged"] or 1
    for side in sorted({*SIDES, *own}):
        along = side // image["patch"]
        if along % merged == 0:
            tokens = (along // merged) ** 2 if merged > 1 else 0
            yield side, (along, along), along**2 + (image["extra"] or 0), tokens


def _types(own: Json | None) -> Iterator[tuple[str, int, bool]]:
    """Types in which a cache is measured, each with the bytes of a number, and whether it is that
    of the config: those that programs are mostly given, and its own.
    """
    name = "" if own is None else SHORT[own["name"]]
    common = {"bf16": 2, "fp8": 1}
    both = {"bf16": "fp16 or bf16"} if name == "fp16" else {}  # Of one size.
    if own is not None and not both and name not in common:
        yield name, own["bytes"], True
    for short, size in common.items():
        yield both.get(short, short), size, short == name or short in both


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
