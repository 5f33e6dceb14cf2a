"""Analyses, their results, and figures of results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import count
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, Literal

from generator.cache.lazy import Lazy, LazyMapping
from generator.contracts.checkpoints import Scope
from generator.contracts.oracle import Oracle
from generator.contracts.subjects import FormT, Subject, subject_of
from generator.contracts.wording import FigureTexts, Wording
from generator.encodings import Form
from generator.numerics.arrays import Array
from generator.numerics.certainty import is_beyond_chance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from generator.contracts.outcomes import Outcome, Reading


A_FEW = 4  # rows
REMARK = 0.25  # Weight of a finding below which it is a remark.
BEYOND = 3.0  # standard errors between a value and its chance level that are no chance
LEAST = 0.05  # of the chance level, where that has no standard error
STANDINGS = Wording("wording/standings.jinja")
# Metadata of a field that the result store leaves out; its records come back with the default.
NOT_STORED = "not stored"
Arrays = Mapping[str, Array]
Course = Literal["rise", "height", "change"]


@dataclass(frozen=True)
class Metric:
    """A number with its unit. reason: why value is None, dropped where it is not"""

    key: str
    title: str
    value: float | None
    unit: str = ""
    reason: str | None = None

    def __post_init__(self) -> None:
        """Keep a value of any type of number as one of Python's."""
        if self.value is not None:
            object.__setattr__(self, "value", float(self.value))
            object.__setattr__(self, "reason", None)

    @property
    def finite(self) -> float | None:
        """The value; None where there is none, or where it is infinite or no number."""
        return self.value if self.value is not None and isfinite(self.value) else None


def error_key(key: str) -> str:
    """Key of the metric that is the standard error of the one with ``key``."""
    return f"{key}_error"


@dataclass(frozen=True)
class Spot:
    """A point of a figure. figure: key of its spec; x, y: in the coordinates of its axes; panel:
    which of these
    """

    figure: str
    x: float
    y: float
    panel: int = 0


@dataclass(frozen=True)
class Finding:
    """A sentence derived from metrics.

    rests_on: keys of these metrics, of the same result; that which it speaks of comes first
    weight: from 0, a remark, to 1, the first sentence of a page: how far the metrics are from what
        one would expect. Where the atlas has other encodings of the scheme, these decide instead
    context: a possible explanation from a cited source, not from the data
    spots: what it speaks of, marked in the figures of the result
    of_single_rows: whether it names odd rows, and so holds in a table without other structure
    rows: positions that it names as odd, which a picture of the table marks; what speaks of A_FEW
        at most comes last on a page
    """

    text: str
    rests_on: tuple[str, ...] = ()
    weight: float = 0.0
    context: str = ""
    spots: tuple[Spot, ...] = ()
    of_single_rows: bool = False
    rows: tuple[int, ...] = ()

    @property
    def is_of_few_rows(self) -> bool:
        """Whether it speaks of odd rows alone, and of few."""
        return 0 < len(self.rows) <= A_FEW

    @property
    def is_remark(self) -> bool:
        """Whether it says little about the encoding, so that pages print it in small."""
        return self.weight < REMARK


@dataclass(frozen=True, eq=False)
class Result:
    """Result of an analysis of one encoding.

    metrics: the most important first; reason: why the analysis does not apply, in which case
        everything else is empty
    read: of a model, the number of sequences that were read for a metric, by its key
    derived: arrays for figures that follow from the form and from ``arrays``, or that a second
        run needs; they are neither stored nor published
    """

    metrics: tuple[Metric, ...] = ()
    arrays: Arrays = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    read: Mapping[str, int] = field(default_factory=dict)
    derived: Arrays = field(default_factory=dict, metadata={NOT_STORED: True})

    def deriving(self, analysis: "Analysis", form: Lazy[Form]) -> "Result":
        """The result with the arrays that follow from ``form``, computed on access."""
        if self.reason is not None:
            return self
        makers = {
            name: partial(_derived, make, form, self.arrays)
            for name, make in analysis.derived.items()
        }
        return replace(self, derived=LazyMapping(makers))

    @property
    def numbered(self) -> tuple[tuple[int | None, Finding], ...]:
        """Every finding with the number that marks it in figures, from 1; None for one without
        spots.
        """
        numbers = count(1)
        return tuple(
            (next(numbers) if finding.spots else None, finding) for finding in self.findings
        )

    def spots(self, figure: str) -> tuple[tuple[int, Spot], ...]:
        """The spots of all findings in the figure with this key, each with the number of its
        finding.
        """
        return tuple(
            (number, spot)
            for number, finding in self.numbered
            if number
            for spot in finding.spots
            if spot.figure == figure
        )

    def find(self, key: str) -> Metric | None:
        """The metric with this key; None where the analysis has none."""
        return next((metric for metric in self.metrics if metric.key == key), None)

    def error_of(self, key: str) -> Metric | None:
        """The standard error of the metric with this key; None where it has none."""
        return self.find(error_key(key))

    def error(self, key: str) -> float | None:
        """The value of that standard error; None without one."""
        found = self.error_of(key)
        return found.value if found else None

    def metric(self, key: str) -> Metric:
        """The metric with this key. errors: KeyError"""
        if found := self.find(key):
            return found
        raise KeyError(
            f"no metric {key!r}; expected one of {', '.join(metric.key for metric in self.metrics)}"
        )

    def value(self, key: str) -> float | None:
        """Value of the metric with this key; None where it is not applicable. errors: KeyError"""
        return self.metric(key).value


def _derived(make: Callable[[Any, Arrays], Array], form: Lazy[Form], arrays: Arrays) -> Array:
    return make(form.load(), arrays)


@dataclass(frozen=True, eq=False)
class UseResult:
    """Result of an analysis of one part of a model.

    key: of the analysis; part: as in the layer map; second: values of its metrics in a run with
        another seed, by key
    drawings: files by key of the figure; alts: alternative texts by the same keys
    """

    key: str
    part: str
    result: Result
    second: Mapping[str, float | None] = field(default_factory=dict)
    drawings: Mapping[str, bytes] = field(default_factory=dict)
    alts: Mapping[str, str] = field(default_factory=dict)

    def is_of(self, part: str) -> bool:
        """Whether an encoding of ``part`` is in this part of the model."""
        return self.part in part.split()

    @property
    def path(self) -> str:
        """Its name in paths and addresses, unlike that of any other of the checkpoint."""
        return f"{self.part}-{self.key}"


@dataclass(frozen=True)
class Label:
    """Name of an encoding, which is also its title in figures, and its colour, as #rrggbb.

    is_quiet: whether its line stands back behind those that a figure speaks of
    """

    title: str
    colour: str
    is_quiet: bool = False


Results = Mapping[Label, Result]


@dataclass(frozen=True)
class FigureSpec:
    """A kind of figure, of one result or of several on a common scale.

    texts: what it shows, an explanation for newcomers, and its alternative text
    appeal: how much the figure of a result invites to look closer, from 0, not at all, to 1; the
        front page opens with the highest, and the page on how to read figures shows the highest of
        each analysis
    brief: what it shows, as a sentence of at most 14 words for the front page, given a result and
        what its positions are ("token"); "" for none
    varies: whether the figure of a result alone shows more than its findings say
    python: lines for readers that plot what it shows with np and plt: of ``arrays``, the file of an
        encoding by name, and of ``vectors``, the rows of a table; "" where no file has it
    overlays: whether it draws all results as lines in the same panels
    maps_rows: whether the rows of its first panel are positions: a page opens with it, and marks
        those that findings name
    """

    key: str
    texts: FigureTexts
    draw: "Callable[[Results], Drawing]"
    appeal: Callable[[Result], float] = lambda _: 0.0
    brief: Callable[[Result, str], str] = lambda _, __: ""
    varies: Callable[[Result], bool] = lambda _: True
    python: str = ""
    overlays: bool = False
    maps_rows: bool = False

    @property
    def caption(self) -> str:
        """What the figure shows."""
        return self.texts.caption

    @property
    def how_to_read(self) -> str:
        """An explanation for newcomers."""
        return self.texts.how_to_read

    def alt(self, results: Results) -> str:
        """The alternative text, made from the numbers."""
        return self.texts.alt(results)


@dataclass(frozen=True)
class Chance:
    """What a metric is where there is nothing to find.

    metric: key of that value; best: the value that is farthest from it
    samples, shuffles: key of a standard deviation with the number of values whose mean is taken: of
        the headline, and of its chance level; None where it is not known
    total: key of the number of cases of which the headline is a share, in per cent, "" for others
    """

    metric: str
    best: float = 0.0
    samples: tuple[str, int] | None = None
    shuffles: tuple[str, int] | None = None
    total: str = ""

    def placed(self, result: Result, value: float) -> "Placed":
        """``value`` beside its chance level; not apart from it where there is none."""
        found = result.find(self.metric)
        if found is None or found.finite is None or found.finite == self.best:
            return Placed(value, value, is_apart=False)
        chance = found.finite
        known = [
            (result.value(one[0]) or 0.0, one[1]) for one in (self.samples, self.shuffles) if one
        ]
        widest = max((spread for spread, _ in known), default=0.0)
        least = BEYOND * widest * sqrt(sum(1.0 / count for _, count in known))
        if self.shuffles is None:
            least = LEAST * abs(chance)
        error = known[0][0] / sqrt(known[0][1]) if self.samples else None
        away = value - chance
        share = value / chance if self.best == 0.0 else away / abs(self.best - chance)
        is_apart = abs(away) > least
        if self.total:
            total = int(result.value(self.total) or 0)
            is_apart = is_beyond_chance(round(value / 100.0 * total), total, chance / 100.0)
        return Placed(value, share, is_apart, chance, error)


@dataclass(frozen=True)
class Placed:
    """A finite value, and where it is in an order.

    share: by which it is ranked: of its chance level where 0 is best, of the way from there to the
        best value otherwise, the value itself where the metric has no chance level
    is_apart: whether it is told apart from chance; error: standard error of ``value``
    """

    value: float
    share: float
    is_apart: bool = True
    chance: float | None = None
    error: float | None = None


@dataclass(frozen=True)
class Headline:
    """A metric that the table of all encodings has as a column.

    metric: its key; wording: has title and sentence of it; chance: its chance level, None for one
        that has none; where: name of the clause that says what is so where it has a value; "" where
        it always has
    """

    metric: str
    wording: Callable[[str], str] = lambda _: ""
    chance: Chance | None = None
    where: str = ""

    def placed(self, result: Result) -> Placed | None:
        """The value of a result beside its chance level; None where it has no finite one."""
        found = result.find(self.metric)
        if found is None or found.finite is None:
            return None
        if self.chance is None:
            return Placed(found.finite, found.finite)
        return self.chance.placed(result, found.finite)

    @property
    def title(self) -> str:
        """A few words, which the unit stands beside."""
        return self.wording(f"{self.metric}_title")

    @property
    def sentence(self) -> str:
        """What a value means, with {} for it and {texts} for the clause on texts of which it holds,
        without capital and full stop; "" where an order of values means nothing.
        """
        return self.wording(f"{self.metric}_sentence")

    def says(self, amount: str, what: str = "", *, of_all_texts: bool = False) -> str:
        """The sentence with a value, or with the ends of a range; what: has it, "" for any form;
        of_all_texts: whether the same holds in texts of any length
        """
        return self._with_amount(self.sentence, amount, what, of_all_texts=of_all_texts)

    def says_in_brief(self, amount: str) -> str:
        """As ``says``, in the shorter sentence, ``in_brief``, where the metric has one."""
        brief = f"{self.metric}_in_brief"
        is_brief = isinstance(self.wording, Wording) and brief in self.wording
        return self._with_amount(self.wording(brief) if is_brief else self.sentence, amount)

    def _with_amount(
        self, sentence: str, amount: str, what: str = "", *, of_all_texts: bool = False
    ) -> str:
        texts = "" if of_all_texts else STANDINGS("in_short_texts")
        text = sentence.format(amount, what=what or STANDINGS("of_any_form"), texts=texts)
        return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Overlay:
    """A line of each result, which the compare page lays over those of other encodings. The
    analysis words it: overlay_how_to_read, at most 60 words, and overlay_title where its section
    has another title.

    x, y: labels of the axes, quantity (unit); points: returns places and values, (n,) each, of a
        result that applies
    logarithmic: the axis with a logarithmic scale, "" for none
    """

    x: str
    y: str
    points: Callable[[Result], tuple[Array, Array]]
    logarithmic: Literal["", "x", "y"] = ""


@dataclass(frozen=True)
class Bars:
    """A small chart of all models, a bar for each, on the page that tells of them. The analysis
    words its title, which is that of the metric with ``_bars`` behind.

    metric: its key; sentence: returns what follows from results, given how many models were
        measured, "" where nothing does
    random: name of the array with the value for random weights, "" where there is none
    base: key of the metric from which it is a rise, "" where it is none
    """

    metric: str
    sentence: Callable[[Results, int], str]
    random: str = ""
    base: str = ""


@dataclass(frozen=True)
class Overview:
    """What opens the page of an analysis: a sentence on all encodings, "" where nothing follows,
    and figures that are drawn without results.
    """

    sentence: str = ""
    figures: tuple[FigureSpec, ...] = ()


@dataclass(frozen=True)
class Analysis:
    """A question about encodings, or about what a trained model does: how its answer is computed
    and drawn.

    after: key of the analysis that it follows, the last without one; stage: of a checkpoint's page
        that shows an encoding
    compute: raises NotApplicableError where the answer is not defined. It gets a subject, or a
        ``RunningStack`` of ``checkpoints.model.running``
    subject: what that is; forms: types of form that an encoding may have
    per_figure: most encodings that one figure compares
    beside_reference: whether the sinusoid of the same size beside a table teaches something
    oracles: values that it must reproduce; headlines: its metrics in the table of all encodings,
        which say most across schemes
    answer: the metric whose lowest and highest value answer ``question``, with words for both; None
        for the first of ``headlines``, if that has any
    overlay: the line by which the compare page lays several encodings over each other; None without
        one
    opening: the line with which a page opens in place of ``overlay``, on a plain axis
    overview: what follows from all encodings to which it applies
    derived: for each name in ``Result.derived``, a function that returns that array for a form and
        ``Result.arrays``
    follows: names in ``Result.arrays`` that data files leave out, since the page on arrays has the
        lines by which they follow from others
    exact: names in ``Result.arrays`` that data files keep in double precision
    about: what its findings speak of: order, which a table whose rows show none has not; values,
        which random numbers have not; structure itself, of which it always speaks
    feels_steps: whether rounding to steps, as by quantisation, takes part in its measures
    also: names of what it measures, which readers search for

    Of a model alone:
    units: of its main metrics, by key, which every part has, with a reason where it has no value
    over_steps: metrics of which the page of a training run may have a sentence, ``{key}_by_step``
        of its template, and what of them: a rise above step 0, their height, or any change
    confirmed: findings that two results with other seeds support; the second has the metrics alone
        on which those rest that the first supports
    across: the figure of all models, on the page that tells of them; None where it has none there
    sentence: returns the sentence beside that figure, from the results in it and the number of
        models that were measured, "" without one
    headline: returns the clause with which that page opens, from the same results, above the figure
        of the first measure that has one; "" where nothing follows
    bars: small charts of all models on that page
    """

    key: str
    compute: Callable[[Any], Result]
    figures: tuple[FigureSpec, ...]
    subject: Literal["encoding"] | Scope = "encoding"
    after: str = ""
    stage: Literal["see", "measure", "place"] = "measure"
    forms: tuple[type, ...] = ()
    per_figure: int = 8
    beside_reference: bool = True
    oracles: tuple[Oracle, ...] = ()
    headlines: tuple[Headline, ...] = ()
    answer: Headline | None = None
    overlay: Overlay | None = None
    opening: Overlay | None = None
    overview: "Callable[[Sequence[tuple[Outcome, Reading]]], Overview]" = lambda _: Overview()
    derived: Mapping[str, Callable[[Any, Arrays], Array]] = field(default_factory=dict)
    follows: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()
    about: Literal["order", "values", "structure"] = "order"
    feels_steps: bool = False
    also: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    over_steps: Mapping[str, Course] = field(default_factory=dict)
    confirmed: Callable[[Result, Result], tuple[Finding, ...]] = lambda _, __: ()
    across: FigureSpec | None = None
    sentence: Callable[[Results, int], str] = lambda _, __: ""
    headline: Callable[[Results], str] = lambda _: ""
    bars: tuple[Bars, ...] = ()

    @property
    def wording(self) -> Wording:
        """The texts and sentences of its template."""
        return Wording(f"analyses/{self.key}.md.jinja")

    @cached_property
    def title(self) -> str:
        """Its title."""
        return self.wording("title")

    @cached_property
    def question(self) -> str:
        """What it asks."""
        return self.wording("question")

    @cached_property
    def source(self) -> str:
        """What its measures are from."""
        return self.wording("source")

    @property
    def shown(self) -> tuple[Headline, ...]:
        """Its columns and its answer."""
        return (*self.headlines, *((self.answer,) if self.answer else ()))

    @property
    def answering(self) -> Headline | None:
        """The metric whose order answers the question; None where no metric does."""
        first = self.answer or next(iter(self.headlines), None)
        return first if first and first.sentence else None


@lru_cache(maxsize=32)
def compute_alone(compute: Callable[[Subject[FormT]], Result], form: FormT) -> Result:
    """Result of ``compute`` for ``form``, cached by the identity of ``form``.

    errors: NotApplicableError
    """
    return compute(subject_of(form))
