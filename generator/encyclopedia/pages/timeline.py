"""The page on time: which schemes models use since when, how the bases of rotations and contexts
grew, and when windows and recurrent layers came.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from generator.cache.fingerprint import of_parts
from generator.contracts import (
    Atlas,
    Figure,
    FigureSpec,
    Mixer,
    Page,
    PageContext,
    PageKind,
    Results,
    Scheme,
)
from generator.contracts.wording import GivenTexts, Wording
from generator.encyclopedia.model_rows import FEWEST, FEWEST_OF_A_YEAR, DatedModel, dated_models
from generator.figures.lines import hidden, legend_below, names_at_ends
from generator.figures.panels import panels
from generator.figures.scene import DOTTED, Line, add
from generator.figures.style import QUIET, SERIES
from generator.text import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

WORDING = Wording("wording/timeline.jinja")
MOST_SCHEMES = 6
LEAST_OF_LAST = 5  # families of a last year that is shown as one so far
MONTH = 0.9 / 12.0  # in years, over which points of one month and value are spread
TURN = 3.0  # percentage points beyond both ends, from which a sentence names the year
DATA = "data/models.json"


@dataclass(frozen=True)
class Share:
    """Share of the models of each year that have one of ``keys``, in percent.

    keys: as in models.json; values: (n_years,); so_far: of a later year with few families, None
        without one
    """

    title: str
    keys: tuple[str, ...]
    values: tuple[float, ...]
    so_far: float | None = None

    @property
    def first(self) -> str:
        """Of the first year, without a sign."""
        return rounded(self.values[0], 0)

    @property
    def last(self) -> str:
        """Of the last year, without a sign."""
        return rounded(self.values[-1], 0)

    @property
    def growth(self) -> float:
        """From the first year to the last."""
        return self.values[-1] - self.values[0]

    def turn(self, years: Sequence[int]) -> tuple[int, str] | None:
        """The year between, and the value there, that lies beyond both ends by ``TURN``; None
        without one.
        """
        low, high = sorted((self.values[0], self.values[-1]))
        beyond = [max(low - value, value - high) for value in self.values]
        far = beyond.index(max(beyond))
        return (years[far], rounded(self.values[far], 0)) if beyond[far] >= TURN else None

    def since(self, years: Sequence[int]) -> int | None:
        """The first of the ``years`` that has any; None without one."""
        return next((year for year, value in zip(years, self.values, strict=True) if value), None)


@dataclass(frozen=True)
class Years:
    """Years that are compared. whole: those with enough families, in order; last: a later one with
    few, None without one; counts: models of each of them
    """

    whole: tuple[int, ...]
    last: int | None
    counts: tuple[int, ...]

    @property
    def shown(self) -> tuple[int, ...]:
        """All of them."""
        return (*self.whole, *((self.last,) if self.last else ()))


@dataclass(frozen=True)
class Quantity:
    """A number of each model. unit: "" without one; points: of title, time and value; years: those
    with enough families for a median
    """

    title: str
    unit: str
    points: tuple[tuple[str, float, float], ...]
    years: tuple[int, ...]

    @property
    def medians(self) -> list[float]:
        """Of the values of each of the years."""
        return [
            median(value for _, time, value in self.points if int(time) == year)
            for year in self.years
        ]

    @property
    def ends(self) -> tuple[str, str]:
        """The median of the first year and that of the last."""
        return rounded(self.medians[0], 0), rounded(self.medians[-1], 0)


@dataclass(frozen=True)
class TimelineContext(PageContext, template="timeline.md.jinja"):
    """years, image_years: with enough models of text, and of images; medians: of bases and contexts
    newest: a later year of text with few models, None without one; n_newest, n_families: how many
        models and families
    n_models, n_from_knowledge: in the years shown, and those whose config was entered without a
        copy of the file; n_by_paper: those dated by the month of their paper
    since: schemes with a year, the first first
    """

    figures: Sequence[Figure]
    years: Sequence[int]
    image_years: Sequence[int]
    newest: int | None
    n_newest: int
    n_families: int
    schemes: Sequence[Share]
    image_schemes: Sequence[Share]
    medians: tuple[Quantity, Quantity]
    layers: Sequence[Share]
    n_models: int
    n_from_knowledge: int
    n_by_paper: int
    since: Sequence[Scheme]


def pages(atlas: Atlas) -> list[Page]:
    """The page, none of few models; without figures where no two years have enough."""
    models = [model for model in dated_models(atlas) if model.reads_text]
    if len(models) < FEWEST:
        return []
    years = _years(models)
    shown = [model for model in models if model.year in years.shown]
    of_text = _schemes(atlas, [(model.year, model.schemes) for model in models], years)
    of_images, of_image_years = _of_images(atlas)
    image_years = of_image_years.whole
    layers, bases, contexts = _layers(models, years), _bases(models), _contexts(models)
    figures: tuple[Figure, ...] = (
        (
            _shares("schemes", years, of_text, "schemes"),
            _growth(bases, contexts),
            _shares("layers", years, layers, "kinds"),
        )
        if len(years.whole) > 1
        else ()
    )
    if figures and len(image_years) > 1:
        figures = (
            *figures,
            _shares("image_schemes", of_image_years, of_images, "image_schemes"),
        )
    context = TimelineContext(
        figures=figures,
        years=years.whole,
        image_years=image_years,
        newest=years.last,
        n_newest=years.counts[-1] if years.last else 0,
        n_families=len({model.family for model in models if model.year == years.last}),
        schemes=of_text,
        image_schemes=of_images,
        medians=(bases, contexts),
        layers=layers,
        n_models=len(shown),
        n_from_knowledge=sum(model.is_from_knowledge for model in shown),
        n_by_paper=sum(model.is_by_paper for model in shown),
        since=sorted(
            (scheme for scheme in atlas.schemes if scheme.year),
            key=lambda scheme: (scheme.year or 0, scheme.paper),
        ),
    )
    return [Page("timeline.md", context, figures)]


def _years(models: Sequence[DatedModel]) -> Years:
    """Years with enough families for a share or a median, in order, and the last one where it has
    fewer, but ``LEAST_OF_LAST``.
    """
    families: dict[int, set[object]] = defaultdict(set)
    for model in models:
        families[model.year].add(model.family)
    whole = tuple(sorted(year for year, of in families.items() if len(of) >= FEWEST_OF_A_YEAR))
    newest = max(families, default=0)
    is_later = whole and newest > whole[-1] and len(families[newest]) >= LEAST_OF_LAST
    last = newest if is_later else None
    shown = (*whole, *((last,) if last else ()))
    return Years(whole, last, tuple(sum(model.year == year for model in models) for year in shown))


def _of_images(atlas: Atlas) -> tuple[tuple[Share, ...], Years]:
    """The schemes of what reads images, and the years with enough of such models."""
    models = [model for model in dated_models(atlas) if model.image_schemes]
    years = _years(models)
    return _schemes(atlas, [(model.year, model.image_schemes) for model in models], years), years


def _schemes(
    atlas: Atlas, used: Sequence[tuple[int, frozenset[str]]], years: Years
) -> tuple[Share, ...]:
    """The schemes that most models use, by how many do. used: the year and the schemes of each"""
    counts = {scheme.key: sum(scheme.key in keys for _, keys in used) for scheme in atlas.schemes}
    most = sorted(atlas.schemes, key=lambda scheme: -counts[scheme.key])[:MOST_SCHEMES]
    return tuple(
        _share(scheme.title, (scheme.key,), used, years) for scheme in most if counts[scheme.key]
    )


def _share(
    title: str, keys: tuple[str, ...], used: Sequence[tuple[int, frozenset[Any]]], years: Years
) -> Share:
    values = [
        _percent(not of.isdisjoint(keys) for year, of in used if year == shown)
        for shown in years.shown
    ]
    n = len(years.whole)
    return Share(title, keys, tuple(values[:n]), values[n] if years.last else None)


def _layers(models: Sequence[DatedModel], years: Years) -> tuple[Share, ...]:
    kinds: dict[str, tuple[Mixer, ...]] = {
        "windows or chunks": ("sliding", "chunked"),
        "recurrent layers": ("recurrent",),
    }
    used = [(model.year, model.kinds) for model in models]
    return tuple(_share(title, keys, used, years) for title, keys in kinds.items())


def _percent(flags: Iterable[bool]) -> float:
    return 100.0 * float(np.mean([*flags]))


def _shares(key: str, years: Years, shares: Sequence[Share], found: str) -> Figure:
    """found: key of models.json; models without any count where it is of text"""
    counted = "one['image_schemes']" if found == "image_schemes" else "'text' in one['inputs']"
    return _figure(
        key,
        (
            WORDING(f"{key}_caption"),
            WORDING("shares_how_to_read", fewest=FEWEST_OF_A_YEAR, last=years.last),
            WORDING("shares_alt", shares=shares, first=years.whole[0], last=years.whole[-1]),
        ),
        partial(_draw_shares, years, tuple(shares), found == "image_schemes"),
        f"years = {list(years.shown)}\n"
        f"for title, keys in {[(share.title, share.keys) for share in shares]}:\n"
        f"    has = [(one['month'], any(key in one['{found}'] for key in keys))"
        f" for one in data['models'] if one['month'] and {counted}]\n"
        "    of_years = [[100 * value for month, value in has if month[:4] == str(year)]"
        " for year in years]\n"
        "    plt.plot(years, list(map(np.mean, of_years)), 'o-', label=title)\n"
        "plt.legend()",
    )


def _growth(bases: Quantity, contexts: Quantity) -> Figure:
    largest = max(bases.points, key=lambda point: point[2])
    longest = max(contexts.points, key=lambda point: point[2])
    return _figure(
        "growth",
        (
            WORDING("growth_caption"),
            WORDING("growth_how_to_read", fewest=FEWEST_OF_A_YEAR),
            WORDING("growth_alt", largest=largest, longest=longest),
        ),
        partial(_draw_growth, bases, contexts),
        "dated = [one for one in data['models'] if one['month']]\n"
        "time = lambda one: int(one['month'][:4]) + (int(one['month'][5:]) - 0.5) / 12\n"
        "turns = [(time(one), turn['base']) for one in dated for turn in one['rotations']]\n"
        "bases = [(place, base) for place, base in turns if base]\n"
        "contexts = [(time(one), one['context']) for one in dated if one['context']]\n"
        "plt.semilogy(*zip(*bases), 'o', *zip(*contexts), 'o')\n"
        "plt.legend(['base', 'context'])",
    )


def _bases(models: Sequence[DatedModel]) -> Quantity:
    of = [one for one in models if one.bases]
    return Quantity(
        "rotary base",
        "",
        tuple((one.title, one.time, max(one.bases)) for one in of),
        _years(of).whole,
    )


def _contexts(models: Sequence[DatedModel]) -> Quantity:
    of = [one for one in models if one.context]
    return Quantity(
        "configured context",
        "tokens",
        tuple((one.title, one.time, float(one.context or 0)) for one in of),
        _years(of).whole,
    )


def _figure(key: str, texts: tuple[str, str, str], draw: "partial[Drawing]", python: str) -> Figure:
    """A figure that is drawn again only where what ``draw`` is given differs.

    texts: its caption, how to read it, and its alternative text
    """
    caption, how_to_read, alt = texts
    spec = FigureSpec(key, GivenTexts(caption, how_to_read, alt), draw, python=python)
    return Figure(f"figures/timeline/{key}", spec, alt, DATA, cache_key=(of_parts(draw.args),))


def _draw_shares(years: Years, shares: tuple[Share, ...], of_images: bool, _: Results) -> "Drawing":
    figure, (axes,) = panels(1, height=3.4)
    style: dict[str, Any] = {"marker": "o", "size": 3}
    lines, ends = [], []
    for share, colour in zip(shares, SERIES, strict=False):
        # A name at the end of a line is in no legend; nor is that of one whose end is another.
        name = hidden(share.title) if years.last else share.title
        lines.append(Line(years.whole, share.values, colour=colour, name=name, **style))
        if share.so_far is None or years.last is None:
            ends.append(lines[-1])
        else:
            places, values = (years.whole[-1], years.last), (share.values[-1], share.so_far)
            far: dict[str, Any] = {"is_hollow": True, "dash": DOTTED, "name": hidden(share.title)}
            ends.append(Line(places, values, colour=colour, order=1.9, **far, **style))
    add(axes, *(end for end in ends if end not in lines), *lines)
    what = "models that read images" if of_images else "text models"
    axes.set(xlabel=f"year (number of {what})", ylabel="share of models (%)", ylim=(0.0, 102.0))
    names = [f"{year} ({n})" for year, n in zip(years.shown, years.counts, strict=True)]
    axes.set_xticks(years.shown, names)
    axes.grid(axis="y")
    names_at_ends(axes, ends)
    return figure


def _spread(points: Sequence[tuple[str, float, float]]) -> list[float]:
    """Times of points, those of one month and value apart within the month: (n_points,)."""
    together: dict[tuple[float, float], list[int]] = defaultdict(list)
    for number, (_, time, value) in enumerate(points):
        together[time, value].append(number)
    times = [time for _, time, _ in points]
    for numbers in together.values():
        for place, number in enumerate(numbers):
            times[number] += MONTH * ((place + 0.5) / len(numbers) - 0.5)
    return times


def _draw_growth(bases: Quantity, contexts: Quantity, _: Results) -> "Drawing":
    figure, axes = panels(2, height=3.6, sharey=None)
    for panel, quantity in zip(axes, (bases, contexts), strict=True):
        for (title, *_year, value), time in zip(
            quantity.points, _spread(quantity.points), strict=True
        ):
            style: dict[str, Any] = {"marker": "o", "size": 3, "is_joined": False, "alpha": 0.7}
            style |= {"colour": QUIET, "is_quiet": True, "name": hidden(title)}
            add(panel, Line([time], [value], **style))
        years = [year + 0.5 for year in quantity.years]
        style = {"colour": SERIES[1], "marker": "o", "size": 4, "name": "median"}
        add(panel, Line(years, quantity.medians, **style))
        first, last = (int(end(point[1] for point in quantity.points)) for end in (min, max))
        panel.set(
            xlabel="year of publication",
            ylabel=f"{quantity.title} ({quantity.unit})" if quantity.unit else quantity.title,
            yscale="log",
            xticks=range(first, last + 2, max((last - first) // 4, 1)),
        )
        panel.grid(axis="y")
    legend_below(figure)
    return figure


PAGE = PageKind("timeline", pages, ("timeline.md",))
