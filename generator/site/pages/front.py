"""The front page: a box that finds a model, a finding for each scheme, and all checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import (
    Atlas,
    Figure,
    Finding,
    Outcome,
    Page,
    PageKind,
    Reading,
    Scheme,
    untyped,
)
from generator.encodings import NoEncoding
from generator.site.outline import Outline, applicable, figures_of
from generator.site.rankings.peers import peers_of
from generator.site.ways import Way, uses, way

# of all groups; other checkpoints are on the pages of their schemes and in the list
MOST_CARDS = 64


@dataclass(frozen=True)
class FrontRemark:
    """A finding with its encoding and figure.

    number: that marks it in the figure, if any; chapter: address of the chapter about the encoding;
        address: of the section that explains it
    """

    number: int | None
    finding: Finding
    outcome: Outcome
    reading: Reading
    figure: Figure
    chapter: str
    address: str


@dataclass(frozen=True)
class GalleryEntry:
    """A checkpoint in the gallery. readings: at most two, with pictures; schemes: by which it tells
    position
    """

    outcome: Outcome
    readings: tuple[Reading, ...]
    schemes: tuple[Scheme, ...]


def pages(atlas: Atlas) -> list[Page]:
    """The front page."""
    built = [outcome for outcome in atlas.outcomes if outcome.status == "ok"]
    used = [
        scheme
        for scheme in atlas.schemes
        if scheme.tells_position and any(uses(scheme, outcome) for outcome in built)
    ]
    encodings = [
        reading
        for outcome, reading in atlas.encodings
        if outcome in built and reading.encoding.form != NoEncoding.__name__
    ]
    shown = {reading.encoding.scheme for reading in encodings} | {
        record.scheme for outcome in built for record in outcome.unmeasured
    }
    without = [outcome for outcome in built if not outcome.readings and not outcome.unmeasured]
    complete = (
        len(without) + sum(uses(scheme, outcome) for scheme in used for outcome in built)
        <= MOST_CARDS
    )
    most = MOST_CARDS if complete else max(MOST_CARDS // (len(used) + 1), 4)
    ways = [way(scheme, built, most, atlas.schemes) for scheme in used]
    hero = _hero(atlas)
    context = {
        "hero": hero,
        "remarks": _by_scheme(atlas, hero),
        "measures": {analysis.key for analysis in applicable(atlas)},
        "ways": sorted(ways, key=lambda one: not one.measured),
        "gallery": _gallery(ways),
        "families": sorted({outcome.family for outcome in built} - {""}),
        "without_encoding": without[:most],
        "complete": complete,
        "counts": {
            "checkpoints": len(built),
            "encodings": len(encodings),
            "schemes": len([scheme for scheme in used if scheme.key in shown]),
            "figures": sum(len(reading.alts) for outcome in built for reading in outcome.readings),
        },
        "listed": len(atlas.outcomes),
        "versions": atlas.versions,
    }
    return [Page("index.md", untyped("index.md.jinja", context))]


def _gallery(ways: Sequence[Way]) -> list[GalleryEntry]:
    """Each member of the ways once, those with pictures first."""
    schemes: dict[str, list[Scheme]] = {}
    pictured: dict[str, tuple[Outcome, tuple[Reading, ...]]] = {}
    for one in ways:
        for outcome, readings in one.members:
            slug = outcome.checkpoint.slug
            schemes.setdefault(slug, []).append(one.scheme)
            _, former = pictured.get(slug, (outcome, ()))
            pictured[slug] = outcome, (*former, *readings)[:2]
    entries = [
        GalleryEntry(outcome, readings, tuple(schemes[slug]))
        for slug, (outcome, readings) in pictured.items()
    ]
    return sorted(entries, key=lambda entry: not entry.readings)


def _hero(atlas: Atlas) -> FrontRemark | None:
    """The figure that most invites to look closer, with what its analysis finds; None where none
    does.
    """
    best, most = None, 0.0
    for outcome, reading in atlas.encodings:
        for analysis in atlas.analyses:
            result = reading.results[analysis.key]
            for figure in figures_of(outcome, reading, analysis) if result.findings else ():
                if (appeal := figure.spec.appeal(result)) > most:
                    best, most = (outcome, reading, analysis, figure), appeal
    if best is None:
        return None
    outcome, reading, analysis, figure = best
    outline = Outline.of(outcome)
    finding = max(reading.results[analysis.key].findings, key=lambda finding: finding.weight)
    return FrontRemark(
        None,
        finding,
        outcome,
        reading,
        figure,
        outline.encoding(reading),
        outline.address(reading, analysis),
    )


def _by_scheme(atlas: Atlas, hero: FrontRemark | None) -> dict[str, FrontRemark]:
    """The most unusual remark on an encoding of each scheme, but that of ``hero``."""
    peers = peers_of(atlas)
    best: dict[str, tuple[float, FrontRemark]] = {}
    for outcome in atlas.outcomes:
        for reading in outcome.readings:
            scheme = reading.encoding.scheme
            for key, remark in _remarks_of(atlas, outcome, reading):
                weight = peers.weight(reading, key, remark.finding)
                is_new = hero is None or remark.finding is not hero.finding
                if is_new and (scheme not in best or weight > best[scheme][0]):
                    best[scheme] = weight, remark
    return {scheme: remark for scheme, (_, remark) in best.items()}


def _remarks_of(atlas: Atlas, outcome: Outcome, reading: Reading) -> list[tuple[str, FrontRemark]]:
    """Remarks on an encoding, each with the key of its analysis."""
    remarks = []
    outline = Outline.of(outcome)
    for analysis in atlas.analyses:
        spec, chapter, address = (
            analysis.figures[0],
            outline.encoding(reading),
            outline.address(reading, analysis),
        )
        if f"{analysis.key}-{spec.key}" in reading.drawings:
            figure, result = (
                Figure.of(outcome, reading, analysis, spec),
                reading.results[analysis.key],
            )
            marked = {number for number, _ in result.spots(spec.key)}
            for number, finding in result.numbered:
                remark = FrontRemark(
                    number if number in marked else None,
                    finding,
                    outcome,
                    reading,
                    figure,
                    chapter,
                    address,
                )
                remarks.append((analysis.key, remark))
    return remarks


PAGE = PageKind("front", pages)
