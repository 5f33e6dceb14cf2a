"""The front page. Of a list of one's own: what changed, then each entry with its first finding.
Else: a box that finds a model, a finding for each scheme, and all checkpoints.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.contracts import (
    Analysis,
    Atlas,
    Figure,
    Finding,
    Outcome,
    Page,
    PageContext,
    PageKind,
    Reading,
    Run,
    Scheme,
)
from generator.encodings import NoEncoding
from generator.site.history import sentences
from generator.site.history.releases import steps
from generator.site.outline import applicable, figures_of
from generator.site.rankings.peers import peers_of
from generator.site.ways import Way, uses, way

# of all groups; other checkpoints are on the pages of their schemes and in the list
MOST_CARDS = 64
OWN = 10  # A list with fewer entries, or with a title, is somebody's own.
MOST_CHANGES = 6  # of the last release


@dataclass(frozen=True)
class FrontRemark:
    """A finding of an analysis of an encoding, and a figure of it."""

    finding: Finding
    outcome: Outcome
    reading: Reading
    analysis: Analysis
    figure: Figure


@dataclass(frozen=True)
class GalleryEntry:
    """A checkpoint in the gallery. readings: at most two, with pictures; schemes: by which it tells
    position
    """

    outcome: Outcome
    readings: tuple[Reading, ...]
    schemes: tuple[Scheme, ...]


@dataclass(frozen=True)
class Hero:
    """What the page opens with.

    brief: its finding in at most 14 words, "" without such a sentence
    last: number of the last position, None without an end
    is_learned: whether training made its numbers
    """

    remark: FrontRemark
    brief: str
    last: int | None
    is_learned: bool


@dataclass(frozen=True)
class FrontContext(PageContext, template="index.md.jinja"):
    """hero: finding with the figure that opens the page; remarks: by scheme, others
    measures: keys of the analyses that have a page
    ways: those with pictures first; gallery: checkpoints of theirs, each once
    without_encoding: some of those that have none; is_complete: whether all of them are here
    built: what could be read, and how many encodings and schemes it has; listed: entries
    n_measured, n_computed: how many of these have numbers of weights, and how many others have
        numbers that are computed from their settings
    published: how many models each guest has, by its key
    """

    hero: Hero | None
    remarks: Mapping[str, FrontRemark]
    measures: Collection[str]
    ways: Sequence[Way]
    gallery: Sequence[GalleryEntry]
    without_encoding: Sequence[Outcome]
    is_complete: bool
    built: Sequence[Outcome]
    n_encodings: int
    n_schemes: int
    n_measured: int
    n_computed: int
    published: Mapping[str, int]
    listed: int
    versions: Mapping[str, str]


@dataclass(frozen=True)
class OwnEntry:
    """An entry of a list of one's own. pictured: its first encoding with a picture; schemes: by
    which it tells position; remark: the most unusual finding on it; None without any
    """

    outcome: Outcome
    pictured: Reading | None
    schemes: tuple[Scheme, ...]
    remark: FrontRemark | None


@dataclass(frozen=True)
class OwnFrontContext(PageContext, template="own_index.md.jinja"):
    """title, description: of the list, "" where it has none

    entries: at most MOST_CARDS of the total; runs: training runs
    measuring, measured: entries whose models are being measured, and those that are done
    since: id of the last release, "" where it is the first; changes: its first changes in words;
        n_more: those that are not shown
    """

    title: str
    description: str
    entries: Sequence[OwnEntry]
    total: int
    runs: Sequence[Run]
    measuring: int
    measured: int
    since: str
    changes: Sequence[str]
    n_more: int
    versions: Mapping[str, str]


def pages(atlas: Atlas) -> list[Page]:
    """The front page."""
    is_own = atlas.settings.title or len(atlas.outcomes) + len(atlas.runs) < OWN
    return [Page("index.md", _own(atlas) if is_own else _general(atlas))]


def _own(atlas: Atlas) -> OwnFrontContext:
    remarks = _most_unusual(atlas, lambda remark: remark.outcome.checkpoint.slug)
    entries = [
        OwnEntry(
            outcome,
            next((one for one in outcome.readings if one.alts), None),
            tuple(one for one in atlas.schemes if one.tells_position and uses(one, outcome)),
            remarks.get(outcome.checkpoint.slug),
        )
        for outcome in atlas.outcomes[:MOST_CARDS]
    ]
    last = steps(atlas.releases)[0] if len(atlas.releases) > 1 else None
    lines = [sentences.line(cause) for cause in last.causes] if last else []
    asked = [one for one in atlas.outcomes if one.checkpoint.use and one.status == "ok"]
    return OwnFrontContext(
        title=atlas.settings.title,
        description=atlas.settings.description,
        entries=entries,
        total=len(atlas.outcomes),
        runs=atlas.runs,
        measuring=len(atlas.measuring),
        measured=sum(one.checkpoint.slug not in atlas.measuring for one in asked),
        since=last.release.id if last else "",
        changes=lines[:MOST_CHANGES],
        n_more=len(lines[MOST_CHANGES:]),
        versions=atlas.versions,
    )


def _general(atlas: Atlas) -> FrontContext:
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
    return FrontContext(
        _opening(atlas, hero) if hero else None,
        _most_unusual(atlas, lambda remark: remark.reading.encoding.scheme, hero),
        {analysis.key for analysis in applicable(atlas)},
        sorted(ways, key=lambda one: not one.measured),
        _gallery(ways),
        without[:most],
        complete,
        built,
        len(encodings),
        sum(scheme.key in shown for scheme in used),
        sum(outcome.is_measured for outcome in built),
        sum(bool(outcome.readings) and not outcome.is_measured for outcome in built),
        {guest.key: len(guest.named(atlas)) for guest in atlas.guests},
        len(atlas.outcomes),
        atlas.versions,
    )


def _gallery(ways: Sequence[Way]) -> list[GalleryEntry]:
    """Each member of the ways once."""
    schemes: dict[str, list[Scheme]] = {}
    pictured: dict[str, tuple[Outcome, tuple[Reading, ...]]] = {}
    for one in ways:
        for outcome, readings in one.members:
            slug = outcome.checkpoint.slug
            schemes.setdefault(slug, []).append(one.scheme)
            _, former = pictured.get(slug, (outcome, ()))
            pictured[slug] = outcome, (*former, *readings)[:2]
    return [
        GalleryEntry(outcome, readings, tuple(schemes[slug]))
        for slug, (outcome, readings) in pictured.items()
    ]


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
                    finding = max(result.findings, key=lambda finding: finding.weight)
                    best, most = FrontRemark(finding, outcome, reading, analysis, figure), appeal
    return best


def _opening(atlas: Atlas, hero: FrontRemark) -> Hero:
    encoding, result = hero.reading.encoding, hero.reading.results[hero.analysis.key]
    by_formula = {scheme.key for scheme in atlas.schemes if scheme.by_formula}
    extent = hero.reading.form.load().extent
    return Hero(
        hero,
        hero.figure.spec.brief(result, "token" if encoding.is_of_words else "position"),
        None if extent is None else extent - 1,
        encoding.provenance.tensor is not None and encoding.scheme not in by_formula,
    )


def _most_unusual(
    atlas: Atlas, key: Callable[[FrontRemark], str], hero: FrontRemark | None = None
) -> dict[str, FrontRemark]:
    """The most unusual remark of each ``key``, but that of ``hero``."""
    peers = peers_of(atlas)
    best: dict[str, tuple[float, FrontRemark]] = {}
    for remark in _remarks(atlas):
        weight = peers.weight(remark.reading, remark.analysis.key, remark.finding)
        is_new = hero is None or remark.finding is not hero.finding
        if is_new and (key(remark) not in best or weight > best[key(remark)][0]):
            best[key(remark)] = weight, remark
    return {name: remark for name, (_, remark) in best.items()}


def _remarks(atlas: Atlas) -> Iterator[FrontRemark]:
    """Findings of the analyses whose first figure is drawn."""
    for outcome in atlas.outcomes:
        for reading in outcome.readings:
            for analysis in atlas.analyses:
                spec = analysis.figures[0]
                if f"{analysis.key}-{spec.key}" in reading.drawings:
                    figure = Figure.of(outcome, reading, analysis, spec)
                    for finding in reading.results[analysis.key].findings:
                        yield FrontRemark(finding, outcome, reading, analysis, figure)


PAGE = PageKind("front", pages, ("index.md",))
