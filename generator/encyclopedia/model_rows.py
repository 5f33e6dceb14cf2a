"""Published configs of well-known models: their rows as pages show them, and as CSV."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any, get_args
from urllib.parse import quote, urlencode

from generator.checkpoints.model.limits import BESIDE, ORIGINAL, TOKENIZER
from generator.contracts import Atlas, Json, Limit, Mixer, Scheme
from generator.contracts.wording import Wording
from generator.encyclopedia import details
from generator.text import memory, significant

WORDING = Wording("wording/models.jinja")
KEY = "models"  # Of the guest.
FEWEST = 10  # models of which a page compares all
LAYERS = Wording("wording/layers.jinja")
UNKNOWN = "–"
# Families, each a model type of one maker, of which a share or a median says something: many sizes
# of a few are no sample of a year.
FEWEST_OF_A_YEAR = 10
HUB = "https://huggingface.co"
AT_POSITION = "models/position.html#model="
PAPER = re.compile(r"arXiv (\d\d)(0[1-9]|1[0-2])\.\d{4,5}")
KINDS: Mapping[Mixer, str] = {mixer: LAYERS("name", mixer=mixer) for mixer in get_args(Mixer)}
NO_LIMIT = "none"  # as a facet
STATING = frozenset({TOKENIZER, *(file for file, _ in BESIDE)})  # Limits, beside a config.
COLUMNS: Mapping[str, str] = {  # Their titles, by the names that addresses have.
    "model": "Model",
    "published": "Published",
    "context": "Configured context",
    "cache": "KV cache per token, bf16",
    "position": "Position encoding",
    "layers": "Layers",
    "base": "Rotary base",
    "original": "original_max_position_embeddings",
    "heads": "Heads for keys",
    "maker": "Developer",
    "parameters": "Parameters",
    "config": "Config",
}


@dataclass(frozen=True)
class ModelCell:
    """A cell. value: the number by which it is sorted, None where its text is; address: of a page
    of the site, or of another one; "" for none; hint: after the text, smaller; title: more of it
    limited: bytes of a further token in layers with a window, and the positions that fill it
    """

    text: str
    value: float | None = None
    address: str = ""
    hint: str = ""
    title: str = ""
    limited: tuple[tuple[int, int], ...] = ()

    @property
    def is_elsewhere(self) -> bool:
        """Whether its address is not of this site."""
        return self.address.startswith("https:")


@dataclass(frozen=True)
class KnownModelRow:
    """A model. cells: by COLUMNS

    facets: values of each, in words or as numbers; context: 0 without any; is_from_knowledge:
        whether its config was not checked against a copy
    """

    id: str
    cells: tuple[ModelCell, ...]
    facets: Mapping[str, tuple[str, ...]]
    context: int
    is_from_knowledge: bool


@dataclass(frozen=True)
class DatedModel:
    """A model whose month is known, of its weights or else of its paper.

    family: its maker and model type; time: the middle of that month, in years
    reads_text: or writes it; schemes, image_schemes: keys, of its text and of what reads images
    kinds: of its layers; bases: of rotations; context: positions; None where the config
        gives none; is_from_knowledge: whether the config was entered without a copy of the file
    is_by_paper: whether the month is that of its paper
    """

    title: str
    family: tuple[str | None, str | None]
    time: float
    reads_text: bool
    schemes: frozenset[str]
    image_schemes: frozenset[str]
    kinds: frozenset[Mixer]
    bases: tuple[float, ...]
    context: int | None
    is_from_knowledge: bool
    is_by_paper: bool

    @property
    def year(self) -> int:
        """Of its publication."""
        return int(self.time)


def dated_models(atlas: Atlas) -> tuple[DatedModel, ...]:
    """The models whose month is known, the oldest first."""
    found = (_dated(model) for model in records(atlas) if model["month"])
    return tuple(sorted(found, key=lambda model: (model.time, model.title.lower())))


def _dated(model: Json) -> DatedModel:
    year, _, month = model["month"].partition("-")
    return DatedModel(
        model["id"].rpartition("/")[2],
        (model["maker"], model["model_type"]),
        int(year) + (int(month) - 0.5) / 12.0,
        "text" in model["inputs"],
        frozenset(model["schemes"]),
        frozenset(model["image_schemes"]),
        frozenset(model["kinds"]),
        tuple(rotation["base"] for rotation in model["rotations"] if rotation["base"]),
        model["context"],
        model["from_knowledge"],
        is_by_paper(model),
    )


def rows(atlas: Atlas) -> tuple[KnownModelRow, ...]:
    """Every model, the newest first, those without any known month last."""
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    models = sorted(records(atlas), key=lambda model: model["id"].lower())
    near, measured, marks = best_months(models), measured_of(atlas), marks_of(atlas)
    dated = sorted(models, key=lambda model: near.get(model["id"], ""), reverse=True)
    return tuple(
        _row(
            model,
            titles,
            near.get(model["id"], ""),
            (measured.get(model["id"], ""), marks.get(model["id"], "")),
        )
        for model in dated
    )


def best_months(models: Sequence[Json]) -> dict[str, str]:
    """The best known month of each model, by its id: its own, or else that of the first dated model
    of its maker and model type, of a paper that its source names, or of its maker's first statement
    on its length; not there where nothing is known.
    """
    first: dict[tuple[str | None, str | None], str] = {}
    for model in models:
        if month := model["month"]:
            family = (model["maker"], model["model_type"])
            first[family] = min(month, first.get(family, month))
    found = {}
    for model in models:
        paper = PAPER.search(model["source"])
        stated = [one["date"] for one in (model["native"], *model["extends"]) if one]
        given = (
            model["month"],
            first.get((model["maker"], model["model_type"])) if model["maker"] else None,
            f"20{paper[1]}-{paper[2]}" if paper else None,
            min(filter(None, stated), default=None),
        )
        if month := next(filter(None, given), None):
            found[model["id"]] = month
    return found


def records(atlas: Atlas) -> list[Json]:
    """The models as in models.json; none on a site without them."""
    return [model for guest in atlas.guests if guest.key == KEY for model in _parsed(guest.table())]


@lru_cache(maxsize=1)
def _parsed(data: bytes) -> Sequence[Json]:
    models: list[Json] = json.loads(data)["models"]
    return models


def measured_of(atlas: Atlas) -> dict[str, str]:
    """Pages with numbers, by the models that they or the copies on them are of."""
    shown = replace(atlas, outcomes=tuple(one for one in atlas.outcomes if one.readings))
    return copies_of(shown) | pages_of(shown)


def marks_of(atlas: Atlas) -> dict[str, str]:
    """Whether the numbers on these pages are measured on weights, or computed from settings
    alone, as a name of a wording, by the models.
    """
    measured = tuple(one for one in atlas.outcomes if one.is_measured)
    marks = dict.fromkeys(measured_of(atlas), "computed")
    return marks | dict.fromkeys(measured_of(replace(atlas, outcomes=measured)), "measured")


def pages_of(atlas: Atlas) -> dict[str, str]:
    """Pages of checkpoints, by the models that they are of."""
    return {
        outcome.checkpoint.model: f"checkpoints/{outcome.checkpoint.slug}.html"
        for outcome in atlas.outcomes
    }


@lru_cache(maxsize=1)
def limits_of(atlas: Atlas) -> dict[str, Sequence[Limit]]:
    """What the files of listed models, or of their copies, state of the length of a text, the least
    first, where files beside the config state another one.
    """
    found = {
        outcome.checkpoint.original or outcome.checkpoint.model: [
            one for one in outcome.limits if one.length and not one.key.endswith(ORIGINAL)
        ]
        for outcome in atlas.outcomes
    }
    return {
        name: limits
        for name, limits in found.items()
        if len({one.length for one in limits}) > 1 and any(one.file in STATING for one in limits)
    }


def copies_of(atlas: Atlas) -> dict[str, str]:
    """Pages of checkpoints that the list calls copies, by the models of the Hub that they copy."""
    return {
        original: f"checkpoints/{outcome.checkpoint.slug}.html"
        for outcome in atlas.outcomes
        if (original := outcome.checkpoint.original)
    }


def named(atlas: Atlas) -> list[tuple[str, str, str, str]]:
    """The id of each model, its family, the address of its page and its size."""
    return [
        (model["id"], model["model_type"] or "", page_of(model["id"], ".html"), _total(model))
        for model in records(atlas)
    ]


def _total(model: Json) -> str:
    """All parameters of a model, as 7B; "" where they are not known."""
    count = model["parameters"]
    return "" if not count else f"{count / 1e9:g}B" if count >= 1e9 else f"{count / 1e6:g}M"


def users(atlas: Atlas, scheme: Scheme) -> tuple[int, str]:
    """How many models use a scheme, and the address of the table with these alone; of a scheme that
    acts nowhere, those with layers whose attention has no encoding.
    """
    if scheme.acts_in:
        facet = {"scheme": scheme.title}
        count = sum(
            scheme.key in (*one["schemes"], *one["image_schemes"]) for one in records(atlas)
        )
    else:
        facet = {"kind": WORDING("kind_without_encoding")}
        count = sum(one["without_encoding"] > 0 for one in records(atlas))
    return count, f"models.html#{urlencode(facet)}"


def page_of(hub_id: str, ending: str = ".md") -> str:
    """The page of a published config."""
    return f"models/{hub_id.replace('/', '--')}{ending}"


def kind_of(model: Json) -> str:
    """ "image", "speech" or "text", by what it reads and by its stacks."""
    if model["image"] and model["inputs"] == ["image"]:
        return "image"
    hears = "audio" in model["inputs"] and any(one["part"] == "encoder" for one in model["stacks"])
    return "speech" if hears else "text"


def _row(
    model: Json, titles: Mapping[str, str], near: str, numbers: tuple[str, str]
) -> KnownModelRow:
    """numbers: the address of its numbers, and whether they are measured; "" without any"""
    owner, _, name = model["id"].partition("/")
    config = f"{HUB}/{model['id']}/blob/main/config.json"
    bases = [rotation["base"] for rotation in model["rotations"]]
    known = WORDING("unchecked_short") if model["from_knowledge"] else ""
    address, mark = numbers[0], (WORDING(numbers[1]),) if numbers[1] else ()
    cells = (
        ModelCell(
            name,
            address=address or page_of(model["id"], ".html"),
            hint=" · ".join(filter(None, (owner, model["model_type"], *mark, known))),
            title=WORDING("unchecked") if known else "",
        ),
        _published(model, near),
        _context(model),
        _cache_bytes(model),
        _position(model, titles),
        _layers(model),
        ModelCell(
            "; ".join(f"{base:,.0f}" for base in dict.fromkeys(bases)) or UNKNOWN,
            max(bases, default=None),
            f"{AT_POSITION}{quote(model['id'], safe='')}" if model["at_position"] else "",
        ),
        _scaling(model),
        ModelCell(_heads(model), model["heads_for_keys"]),
        ModelCell(model["maker"] or UNKNOWN),
        ModelCell(_size(model) or UNKNOWN, model["parameters"]),
        ModelCell("config.json", address=config, hint=_check(model), title=_why(model)),
    )
    context = model["context"] or model["default_context"] or 0
    return KnownModelRow(
        model["id"], cells, _facets(model, titles), context, model["from_knowledge"]
    )


def _facets(model: Json, titles: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Values by which the table is narrowed, by the name of the facet; numbers as they are."""
    kinds = [KINDS[kind] for kind in KINDS if kind in model["kinds"]]
    further = {
        "everywhere": model["kinds"] == {"full": model["layers"]},
        "without_encoding": model["without_encoding"],
        "sinks": model["sinks"],
        "temperature": model["temperature"],
    }
    schemes = [titles.get(key, key) for key in (*model["schemes"], *model["image_schemes"])]
    limits = [KINDS[one["kind"]] for one in model["limits"]] or _unlimited(model)
    given: dict[str, Iterable[Any]] = {
        "scheme": schemes,
        "kind": [*kinds, *(WORDING(f"kind_{name}") for name, is_so in further.items() if is_so)],
        "limits": limits,
        "base": [one["base"] for one in model["rotations"]],
        "scaling": [one["scaling"] or NO_LIMIT for one in model["rotations"]],
        "context": [model["context"] or model["default_context"]],
        "original": [model["trained"]],
        "cache": [None if model["cache"] is None else growing(model)],
        "heads": [_heads(model) if model["cache"] else None],
        "parameters": [model["parameters"]],
        "year": [(model["month"] or "")[:4]],
        "maker": [model["maker"]],
        "input": [WORDING(f"input_{name}") for name in model["inputs"]],
        "config": [WORDING("of_knowledge" if model["from_knowledge"] else "of_copy")],
    }
    return {
        name: tuple(dict.fromkeys(_plain(value) for value in values if value not in (None, "")))
        for name, values in given.items()
    }


def _plain(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, int | float) else str(value)


def growing(model: Json) -> int:
    """Bytes that each further token takes, in bf16, in layers that keep all positions."""
    growing = [one for one in model["cache"] if one["positions"] is None]
    return sum(2 * int(one["layers"]) * int(one["values"]) for one in growing)


def cache_at(model: Json, length: int) -> str:
    """Size of the whole cache of a sequence of ``length`` tokens, in bf16, in words."""
    if model["cache"] is None:
        return UNKNOWN
    each = [(2 * one["layers"] * one["values"], one["positions"]) for one in model["cache"]]
    context = model["context"] or model["default_context"]
    return WORDING(
        "cache_takes",
        size=sum(size * min(length, limit or length) for size, limit in each),
        beyond=bool(context) and context < length,
        unlimited=length * sum(size for size, _ in each),
        without=details.without_windows(model["id"]),
    )


def _cache_bytes(model: Json) -> ModelCell:
    """What each further token takes, in bf16, in layers that keep all positions; where all have
    windows, what it takes until these are full, which is sorted as nothing.
    """
    if model["cache"] is None:
        return ModelCell(UNKNOWN)
    size = growing(model)
    before = sum(2 * one["layers"] * one["values"] for one in model["cache"])
    chunks = any(one["kind"] == "chunked" for one in model["limits"])
    without = details.without_windows(model["id"]) if before > size else ()
    limited = [one for one in model["cache"] if one["positions"] is not None]
    widths = {one["positions"] for one in limited}
    only = max(widths) if not size and len(widths) == 1 else None
    about = {"size": before if size else 0, "chunks": chunks, "only": only, "without": without}
    hint = WORDING("until_full", **about) if before > size else ""
    address = f"{page_of(model['id'], '.html')}#cost" if before else ""
    filled = tuple((2 * one["layers"] * one["values"], one["positions"]) for one in limited)
    title = WORDING("without_windows", names=without)
    return ModelCell(memory(size or before), size, address, hint, title, filled)


def _heads(model: Json) -> str:
    if any(one["latent"] for one in model["cache"] or ()):
        return WORDING("latent")
    return str(model["heads_for_keys"] or UNKNOWN)


def _context(model: Json) -> ModelCell:
    """That of the config, or else of its config class, which is said, as are rows that are none."""
    value, by_default = model["context"], model["default_context"]
    if value is None and by_default is not None:
        return ModelCell(f"{by_default:,}", by_default, hint=WORDING("by_default"))
    rows = WORDING("of_rows", count=model["table_rows"]) if model["table_rows"] else ""
    return ModelCell(UNKNOWN) if value is None else ModelCell(f"{value:,}", value, hint=rows)


def _unlimited(model: Json) -> tuple[str, ...]:
    """That no layer has a window or chunks, where its layers are known."""
    return (NO_LIMIT,) if model["layers"] else ()


def is_by_paper(model: Json) -> bool:
    """Whether its month is that of its paper, since none of its weights is known."""
    return str(model["dated_by"] or "").startswith(("arXiv ", "its paper"))


def dated(model: Json) -> str:
    """Its month, "" where none is known; that of a paper says so."""
    month = str(model["month"] or "")
    return WORDING("of_paper", month=month) if month and is_by_paper(model) else month


def _published(model: Json, near: str) -> ModelCell:
    """Its month, with a word where it is its paper's; that near which it is sorted is marked."""
    if not near:
        return ModelCell(UNKNOWN)
    return ModelCell(
        str(model["month"] or "") or WORDING("near", month=near),
        float(near.replace("-", "")),
        hint=WORDING("by_paper") if is_by_paper(model) else "",
        title=WORDING("by_paper_more") if is_by_paper(model) else "",
    )


def _position(model: Json, titles: Mapping[str, str]) -> ModelCell:
    """What tells position, in words."""
    shares = dict.fromkeys(rotation["share"] for rotation in model["rotations"])
    schemes, images = (
        [titles.get(key, key) for key in model[name]] for name in ("schemes", "image_schemes")
    )
    hint = WORDING(
        "position_more",
        shares=[100 * share for share in shares if share < 1],
        images=images if schemes else [],
    )
    return ModelCell(WORDING("position", schemes=schemes or images), hint=hint, title=hint)


def _layers(model: Json) -> ModelCell:
    """Their number, and of how many kinds they are."""
    if not model["layers"]:
        return ModelCell(WORDING("unknown"))
    more = WORDING("mixing", model=model)
    return ModelCell(f"{model['layers']:,}", model["layers"], hint=more, title=more)


def _scaling(model: Json) -> ModelCell:
    """The context before scaling, with the rule and its factor in smaller letters."""
    rules = dict.fromkeys(
        rotation["scaling"]
        + (
            f" × {significant(rotation['factor'], 4)}"
            if rotation["factor"] not in (None, 1.0)
            else ""
        )
        for rotation in model["rotations"]
        if rotation["scaling"]
    )
    if not rules:
        return ModelCell(UNKNOWN, model["trained"])
    trained = f"{model['trained']:,}" if model["trained"] else UNKNOWN
    return ModelCell(trained, model["trained"], hint=", ".join(rules))


def _size(model: Json) -> str:
    """Parameters in all and active ones, or as its name gives them."""
    total, active = (
        f"{model[name] / 1e9:g}B" if model[name] else ""
        for name in ("parameters", "active_parameters")
    )
    return WORDING("size", total=total, active=active) if active else model["size"] or total


def _check(model: Json) -> str:
    """Where the code of transformers does not confirm the row, in words."""
    return WORDING("check", check=model["check"] or {"outcome": None})


def _why(model: Json) -> str:
    return (model["check"] or {}).get("why") or ""


def table(atlas: Atlas) -> Iterator[tuple[str, list[Any]]]:
    """Columns of models.csv by their names; lists are joined by “; ”."""
    models = records(atlas)
    plain = ("id", "maker", "month", "dated_by", "size", "model_type")
    for name in plain:
        yield name, [model[name] for model in models]
    for name in ("inputs", "schemes", "image_schemes"):
        yield name, ["; ".join(model[name]) for model in models]
    for name in ("base", "share", "scaling", "factor"):
        yield (
            name,
            [
                "; ".join(f"{rotation[name]}" for rotation in model["rotations"] if rotation[name])
                for model in models
            ],
        )
    numbers = ("parameters", "active_parameters", "context", "table_rows", "trained", "sees")
    for name in (*numbers, "layers"):
        yield name, [model[name] for model in models]
    for kind in KINDS:
        yield kind, [model["kinds"].get(kind, 0) for model in models]
    yield "limits", ["; ".join(f"{limit['keys']}" for limit in model["limits"]) for model in models]
    cached = [None if model["cache"] is None else growing(model) for model in models]
    yield "kv_bytes_per_token_bf16", cached
    yield "cache_type", [model["cache_type"] and model["cache_type"]["name"] for model in models]
    yield "heads_for_keys", [model["heads_for_keys"] for model in models]
    states = [model["state"] for model in models]
    yield "state_numbers", [one and one["layers"] * prod(one["sizes"]) for one in states]
    for name in ("outcome", "transformers", "why"):
        yield f"check_{name}", [model["check"] and model["check"][name] for model in models]
    for name in ("without_encoding", "sinks", "temperature", "from_knowledge", "source", "reason"):
        yield name, [model[name] for model in models]
