"""A page for each training run: how its position encoding forms from checkpoint to checkpoint."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.cache.fingerprint import of_parts
from generator.contracts import (
    KERNEL_POSITIONS,
    Analysis,
    Atlas,
    Figure,
    FigureSpec,
    Page,
    PageContext,
    PageKind,
    Run,
    RunEncoding,
    RunMetric,
    RunUse,
    Scheme,
)
from generator.site.runs import courses
from generator.site.runs.downloads_of_runs import path_of
from generator.site.runs.findings import change, reasons, sentences, unread
from generator.site.runs.run_figures import of_kernel, of_metrics, spread
from generator.site.runs.side_by_side import SideBySide, side_by_side

MOST_CURVES = 6  # measures that are drawn: those that changed most
MOST_SENTENCES = 5
MOST_CHAPTERS = 3  # encodings on the page; the data have all
MOST_ROWS = 120  # measures in all tables of a page
MOST_COLUMNS = 4  # steps in a table
MOST_REASONS = 4  # why checkpoints could not be read


@dataclass(frozen=True)
class RunChapter:
    """An encoding on the page.

    scheme: None where this program does not know it; kernels: figures of its kernel, the last with
        a line for each step
    curves: figures of its measures; columns: checkpoints in the table, by their index
    """

    encoding: RunEncoding
    scheme: Scheme | None
    findings: tuple[str, ...]
    kernels: tuple[Figure, ...]
    curves: tuple[Figure, ...]
    columns: Sequence[int]


@dataclass(frozen=True)
class MeasureOfRun:
    """A measure of a model over the steps."""

    measure: Analysis
    findings: Sequence[str]
    figure: Figure


@dataclass(frozen=True)
class RunsContext(PageContext, template="runs.md.jinja"):
    """All runs, one by one and side by side."""

    runs: Sequence[Run]
    beside: SideBySide


@dataclass(frozen=True)
class RunContext(PageContext, template="run.md.jinja"):
    """unread: how many checkpoints could not be read, in words; reasons: why, each with its steps
    several: whether there are other runs
    positions: of kernels, at most; uses: each with the measures of which enough is known
    most_rows: of one encoding in a table
    """

    run: Run
    chapters: Sequence[RunChapter]
    unread: str | None
    reasons: Sequence[tuple[str, str]]
    several: bool
    positions: int
    uses: Sequence[tuple[RunUse, Sequence[MeasureOfRun]]]
    most_rows: int


def pages(atlas: Atlas) -> list[Page]:
    """The page of each run, and a list of them where there are several."""
    of_runs = [_page(atlas, run) for run in atlas.runs]
    return [*([_index(atlas)] if len(atlas.runs) > 1 else []), *of_runs]


def _index(atlas: Atlas) -> Page:
    """The list of runs, and all of them side by side."""
    main = {f"{one.key}.{column.metric}" for one in atlas.analyses for column in one.headlines}
    beside = side_by_side(atlas.runs, main, atlas.measures)
    return Page("runs/index.md", RunsContext(atlas.runs, beside), beside.figures)


def _page(atlas: Atlas, run: Run) -> Page:
    shown = run.encodings[:MOST_CHAPTERS]
    chapters = [_chapter(atlas, run, encoding) for encoding in shown]
    uses = [(use, list(_of_use(atlas, run, use))) for use in run.uses]
    context = RunContext(
        run,
        chapters,
        unread(run),
        reasons(run)[:MOST_REASONS],
        len(atlas.runs) > 1,
        KERNEL_POSITIONS,
        uses,
        MOST_ROWS // max(len(shown), 1),
    )
    of_chapters = (figure for one in chapters for figure in (*one.kernels, *one.curves))
    of_uses = (one.figure for _, found in uses for one in found)
    return Page(f"runs/{run.slug}.md", context, (*of_chapters, *of_uses))


def _of_use(atlas: Atlas, run: Run, use: RunUse) -> Iterator[MeasureOfRun]:
    """The main numbers of each measure that are known at two steps or more, as curves."""
    for measure in atlas.measures:
        main = {f"{measure.key}.{key}" for key in measure.units}
        chosen = [
            metric
            for metric in use.metrics
            if metric.key in main and sum(value is not None for value in metric.values) > 1
        ]
        if chosen:
            spec = of_metrics(run, use, chosen, "of_use_caption", measure.title)
            path = f"figures/runs/{run.slug}/use-{use.part}-{measure.key}"
            key = (of_parts((run, use.part, measure.key)),)
            figure = Figure(path, spec, spec.alt({}), path_of(run), cache_key=key)
            yield MeasureOfRun(measure, courses.sentences(run, use, measure), figure)


def _chapter(atlas: Atlas, run: Run, encoding: RunEncoding) -> RunChapter:
    tracked = _tracked(atlas, run, encoding)
    kernels = tuple(_figure(run, encoding, spec) for spec in of_kernel(run, encoding))
    curves = (_figure(run, encoding, of_metrics(run, encoding, tracked)),) if tracked else ()
    scheme = next((scheme for scheme in atlas.schemes if scheme.key == encoding.scheme), None)
    findings = tuple(sentences(run, encoding, tracked)[:MOST_SENTENCES])
    return RunChapter(
        encoding,
        scheme,
        findings,
        kernels,
        curves,
        spread(encoding.present, MOST_COLUMNS),
    )


def _figure(run: Run, encoding: RunEncoding, spec: FigureSpec) -> Figure:
    path = f"figures/runs/{run.slug}/{encoding.key}-{spec.key}"
    return Figure(
        path, spec, spec.alt({}), path_of(run), cache_key=(of_parts((run, encoding.key)),)
    )


def _tracked(atlas: Atlas, run: Run, encoding: RunEncoding) -> list[RunMetric]:
    """Of the headline metrics with two values or more, those that changed most, in the order of the
    analyses.
    """
    keys = [
        f"{analysis.key}.{headline.metric}"
        for analysis in atlas.analyses
        for headline in analysis.headlines
    ]
    known = [
        metric
        for key in keys
        if (metric := encoding.metric(key))
        and sum(value is not None for value in metric.values) > 1
    ]
    most = sorted(known, key=lambda metric: -change(run, metric))[:MOST_CURVES]
    return [metric for metric in known if metric in most]


PAGE = PageKind("training_run", pages, ("runs/*.md",))
