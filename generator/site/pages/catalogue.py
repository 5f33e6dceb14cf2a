"""The list of checkpoints: a table of all encodings with the headline metrics of the analyses, and
the checkpoints without an encoding.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from generator.checkpoints.model.facts import TITLES
from generator.contracts import Atlas, Outcome, Page, PageContext, PageKind, Reading, Run, Scheme
from generator.site.pictures.layer_strips import LayerStrip, layer_strips
from generator.site.pictures.reach_bars import context_of
from generator.site.rankings.columns import NOTHING, Column, columns_of, place
from generator.site.rankings.peers import in_order

MOST_ROWS = 4  # of one checkpoint
SHADES = 7
CONTEXT = TITLES["n_positions"]


@dataclass(frozen=True)
class Cell:
    """A value as text. shade: its rank in the column, from 0 to SHADES - 1; None where it has
    none
    """

    text: str
    shade: int | None


@dataclass(frozen=True)
class EncodingRow:
    """An encoding. more: encodings of the same checkpoint that have no row; acts_in, numbers: in
    words, NOTHING where it is no encoding at all
    context: positions that config.json allows, or that the table has; None where neither says
    windows: of the n_layers that it acts in, in positions with the query itself, each with how many
        layers have it, the narrowest first; base: of a rotation
    """

    outcome: Outcome
    reading: Reading
    scheme: Scheme
    context: int | None
    windows: Sequence[tuple[int, int]]
    n_layers: int
    base: float | None
    acts_in: str
    numbers: str
    cells: tuple[Cell, ...]
    more: int


@dataclass(frozen=True)
class CatalogueContext(PageContext, template="checkpoints.md.jinja"):
    """rows: those of a checkpoint follow each other; others: without a row, each with its
        schemes whose numbers are in weights that were not read
    shades: of cells
    layered: stacks of which there is something to say, each with the context of its model; n_known:
        models whose layers are known
    common: schemes with the number of models in which each was measured, the most common first
    listed, n_read: entries of the list, and those that this build read; n_of_weights: those with
        numbers of weights
    """

    columns: Sequence[Column]
    rows: Sequence[EncodingRow]
    others: Sequence[tuple[Outcome, Sequence[Scheme]]]
    shades: Sequence[int]
    runs: Sequence[Run]
    layered: Sequence[tuple[Outcome, int | None, LayerStrip]]
    n_known: int
    common: Sequence[tuple[Scheme, int]]
    listed: int
    n_read: int
    n_of_weights: int


def pages(atlas: Atlas) -> list[Page]:
    """The table, with the other checkpoints below it."""
    columns = columns_of(atlas)
    context = CatalogueContext(
        columns,
        list(_rows(atlas, columns)),
        list(_others(atlas)),
        range(SHADES),
        atlas.runs,
        list(_layered(atlas)),
        sum(bool(outcome.layers) for outcome in atlas.outcomes),
        _common(atlas),
        len(atlas.outcomes),
        sum(outcome.status == "ok" for outcome in atlas.outcomes),
        sum(outcome.is_measured and bool(outcome.readings) for outcome in atlas.outcomes),
    )
    return [Page("checkpoints/index.md", context)]


def _common(atlas: Atlas) -> list[tuple[Scheme, int]]:
    uses = {
        (outcome.checkpoint.slug, reading.encoding.scheme) for outcome, reading in atlas.encodings
    }
    counts = Counter(scheme for _, scheme in uses)
    found = [(scheme, counts[scheme.key]) for scheme in atlas.schemes if counts[scheme.key]]
    return sorted(found, key=lambda pair: -pair[1])


def _layered(atlas: Atlas) -> Iterator[tuple[Outcome, int | None, LayerStrip]]:
    """Stacks with windows, recurrent states, or layers that differ."""
    for outcome in atlas.outcomes:
        records = [*(reading.encoding for reading in outcome.readings), *outcome.unmeasured]
        for strip in layer_strips(outcome.layers, records, atlas.schemes):
            if strip.finding:
                yield outcome, context_of(outcome), strip


def _rows(atlas: Atlas, columns: Sequence[Column]) -> Iterator[EncodingRow]:
    schemes = {scheme.key: scheme for scheme in atlas.schemes}
    shares = [_shares(atlas, column) for column in columns]
    for outcome, pairs in groupby(atlas.encodings, key=lambda pair: pair[0]):
        readings = [reading for _, reading in pairs]
        for number, reading in enumerate(readings[:MOST_ROWS], start=1):
            more = len(readings) - MOST_ROWS if number == MOST_ROWS else 0
            cells = tuple(_cells(reading, columns, shares))
            yield _row(outcome, reading, schemes[reading.encoding.scheme], cells, more)


def _row(
    outcome: Outcome, reading: Reading, scheme: Scheme, cells: tuple[Cell, ...], more: int
) -> EncodingRow:
    where, is_trained = place(reading), reading.encoding.provenance.tensor and not scheme.by_formula
    numbers = "trained" if is_trained else "by formula"
    if where == NOTHING:
        numbers = NOTHING
    context = next((fact.value for fact in outcome.facts if fact.name == CONTEXT), None)
    parameters = reading.encoding.parameters
    layers = [one for one in outcome.layers if reading.encoding.key in (one.encodings or ())]
    limits = Counter(layer.width for layer in layers if layer.width is not None)
    return EncodingRow(
        outcome,
        reading,
        scheme,
        context if isinstance(context, int) else parameters.get("n_positions"),
        sorted(limits.items()),
        len(layers),
        parameters.get("base"),
        where,
        numbers,
        cells,
        more,
    )


def _cells(
    reading: Reading, columns: Sequence[Column], shares: Sequence[Mapping[Reading, float]]
) -> Iterator[Cell]:
    for column, of_column in zip(columns, shares, strict=True):
        share = of_column.get(reading)
        among = sorted(
            other
            for beside, other in of_column.items()
            if not column.has_units or beside.encoding.modality == reading.encoding.modality
        )
        yield Cell(column.text(reading), None if share is None else shade(share, among))


def _shares(atlas: Atlas, column: Column) -> Mapping[Reading, float]:
    """By what the encodings in the order are shaded: equal texts are alike."""
    by_text: dict[str, list[float]] = defaultdict(list)
    texts = {}
    for _, reading in atlas.encodings:
        if placed := in_order(atlas, column.analysis, column.headline, reading):
            texts[reading] = column.text(reading)
            by_text[texts[reading]].append(placed.share)
    return {reading: median(by_text[text]) for reading, text in texts.items()}


def shade(value: float, ascending: Sequence[float]) -> int | None:
    """Rank of ``value`` in its column: the share of the other, different values that are lower, in
    SHADES steps.

    ascending: all values of the column; None where they are equal
    """
    first, last = bisect_left(ascending, value), bisect_right(ascending, value)
    n_different = len(ascending) - (last - first)
    return min(SHADES * first // n_different, SHADES - 1) if n_different else None


def _others(atlas: Atlas) -> Iterator[tuple[Outcome, list[Scheme]]]:
    schemes = {scheme.key: scheme for scheme in atlas.schemes}
    shown = {outcome.checkpoint.slug for outcome, _ in atlas.encodings}
    for outcome in atlas.outcomes:
        if outcome.checkpoint.slug not in shown:
            keys = dict.fromkeys(record.scheme for record in outcome.unmeasured)
            yield outcome, [schemes[key] for key in keys]


PAGE = PageKind("catalogue", pages, ("checkpoints/index.md",))
