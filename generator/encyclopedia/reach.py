"""How far each published model sees: lengths, bars on a logarithmic axis and a strip of its layers,
as rows of a page.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from generator.contracts import Atlas, Json
from generator.encyclopedia.model_rows import UNKNOWN, WORDING, dated, page_of, records
from generator.site.pictures.layer_strips import KINDS, strokes
from generator.site.pictures.reach_bars import CONTEXT_TITLE, TRAINED_TITLE, ReachBar


@dataclass(frozen=True)
class Stroke:
    """Layers of one kind in a strip. kind: a key of ``layer_strips.COLOURS``; line: data of an SVG
    path
    """

    kind: str
    is_bare: bool
    line: str

    @property
    def css(self) -> str:
        """Its classes."""
        return f"pa-layer-{self.kind}{' pa-layer-bare' if self.is_bare else ''}"


Strip = tuple[int, tuple[Stroke, ...]]  # Its number of layers, and their strokes.


@dataclass(frozen=True)
class SightRow:
    """A model.

    address: of its page; hint: its maker and its month
    sees: positions that a layer reaches by itself, None where that is not known
    context, trained: configured and declared original positions, None without; note: on rows that
        are no positions, or what is not known, "" without one
    windows: the width of each limit as text, and in which layers
    stacks: for each its number of layers and its strokes
    """

    title: str
    address: str
    hint: str
    sees: int | None
    context: int | None
    trained: int | None
    note: str
    windows: tuple[tuple[str, str], ...]
    bars: tuple[ReachBar, ...]
    stacks: tuple[Strip, ...]


def sight_rows(atlas: Atlas) -> tuple[SightRow, ...]:
    """Every model, the one that sees farthest first, those of unknown length last."""
    models = sorted(records(atlas), key=lambda model: model["id"].lower())
    models.sort(key=lambda model: model["sees"] or 0, reverse=True)
    return tuple(sight_row(model) for model in models)


def sight_row(model: Json) -> SightRow:
    """A model as in models.json."""
    return SightRow(
        model["id"].rpartition("/")[2],
        page_of(model["id"], ".html"),
        " · ".join(text for text in (model["maker"], dated(model)) if text),
        model["sees"],
        model["context"],
        model["trained"],
        _note(model),
        tuple(_windows(model)),
        tuple(_bars(model)),
        tuple(_strip(stack) for stack in model["stacks"]),
    )


def _note(model: Json) -> str:
    if model["table_rows"]:
        return WORDING("of_rows", count=model["table_rows"])
    return "layers unknown" if model["context"] is not None and not model["layers"] else ""


def _windows(model: Json) -> Iterator[tuple[str, str]]:
    for limit in model["limits"]:
        kind = "chunks in " if KINDS[limit["kind"]] == "chunk" else ""
        width = f"{limit['keys']:,}" if limit["keys"] else UNKNOWN
        yield width, f"{kind}{limit['layers']} of {model['layers']} layers"


def _bars(model: Json) -> Iterator[ReachBar]:
    if model["context"]:
        yield ReachBar(CONTEXT_TITLE, "context", model["context"])
    if model["trained"]:
        yield ReachBar(TRAINED_TITLE, "trained", model["trained"])
    for limit in model["limits"]:
        if limit["keys"]:
            kind = KINDS[limit["kind"]]
            where = f"{limit['layers']} of {model['layers']} layers"
            yield ReachBar(f"{kind.capitalize()}, in {where}", kind, limit["keys"])


def _strip(stack: Json) -> Strip:
    layers, groups = stack["layers"], stack["groups"]
    return len(layers), tuple(
        Stroke(KINDS[group["kinds"][0]], group["without_encoding"], line)
        for group, line in zip(groups, strokes(layers), strict=True)
    )
