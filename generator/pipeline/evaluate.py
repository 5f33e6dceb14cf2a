"""One checkpoint, from opening its files to the last figure."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, cast

import numpy as np
from threadpoolctl import threadpool_limits

from generator import analyses
from generator.checkpoints.files.planned import PlannedFiles
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model import input_layer
from generator.checkpoints.model.facts import facts
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.limits import limits
from generator.checkpoints.model.module_tree import tensor_rows
from generator.contracts import (
    Analysis,
    Encoding,
    FigureSpec,
    Files,
    Finding,
    Label,
    Outcome,
    Reading,
    Result,
    Results,
    Subject,
    discovery,
    names,
)
from generator.contracts.wording import Wording
from generator.encodings import Form, PositionTable
from generator.errors import NotApplicableError, NotReachedError, RowError
from generator.figures import svg
from generator.figures.panels import thumbnail
from generator.figures.spots import DrawnPlace, mark
from generator.figures.style import REFERENCE as REFERENCE_COLOUR
from generator.figures.style import series_colour
from generator.pipeline import failures, use
from generator.pipeline.references import Reference, reference_of
from generator.pipeline.store import Store
from generator.reading import lint
from generator.reading.evidence import look_closely, settings_of
from generator.reading.find import all_schemes, find, scheme_of
from generator.reading.plan import Task, opened, source_of
from generator.reading.questions import unresolved
from generator.text import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDING = Wording("wording/outcome.jinja")
THUMBNAIL = 96  # positions
MOST_TABLES = 12  # of vectors that are measured in one checkpoint; each takes seconds.
SAID_SMALL = 0.2  # Weight of what a formula makes true.
MOST_NAMES = 100  # of tensors in one sentence
# A checkpoint that is one has a colour of its own.
REFERENCE = Label("Sinusoid of the same size", REFERENCE_COLOUR)


def all_analyses() -> tuple[Analysis, ...]:
    """Every analysis of encodings, in order."""
    found = discovery.load(analyses, Analysis)
    return tuple(analysis for analysis in found if analysis.subject == "encoding")


def outcome_of(task: Task, store: Store | None = None) -> Outcome:
    """Every encoding of one checkpoint with its results and drawings, or one measure of its model;
    failures are part of the outcome. A row of a training run's file has the run.

    store: of the forms beside which figures show the encodings
    errors: MemoryError
    """
    try:
        # More threads would change the last digits, and with them the bytes.
        with threadpool_limits(1):
            return _outcome_of(task, store)
    except NotReachedError as error:
        return failures.not_reached(task.checkpoint, error)
    except RowError as error:
        return failures.failed(task.checkpoint, str(error))
    except MemoryError:
        raise  # The pool that set the limit names it.
    # A bug of ours, or a disk's, must not take the other checkpoints' pages with it.
    except Exception as error:  # noqa: BLE001
        return failures.unexpected(task.checkpoint, error)


def unreached(task: Task) -> Outcome | None:
    """The outcome of a row whose source does not answer and whose files no cache has; None for
    every other row.
    """
    if not task.offline:
        return None
    try:
        opened(task)
    except NotReachedError as error:
        return failures.not_reached(task.checkpoint, error)
    except (RowError, OSError):  # Reported when the row is evaluated.
        return None
    return None


def needed(task: Task) -> Mapping[str, int]:
    """Bytes that the evaluation of one checkpoint reads of its weights for its encodings, by
    tensor, or by file where a file is read as a whole. Reads headers.

    What the measures of ``use`` read is not among them.

    errors: RowError, NotReachedError
    """
    if (source := source_of(task.checkpoint)).has_runs:
        source.run(task.checkpoint)
        return {}  # Numbers, and no weights.
    files = cast("FolderFiles", opened(task))
    if local := files.local_files():
        return local
    planned = PlannedFiles(files)
    input_layer.subjects(planned, task.checkpoint, find(planned))
    return planned.needed


def _outcome_of(task: Task, store: Store | None) -> Outcome:
    checkpoint = task.checkpoint
    if task.problem is not None:
        raise task.problem
    if (source := source_of(checkpoint)).has_runs:
        return Outcome(checkpoint, "ok", run=source.run(checkpoint))
    if task.measure:
        return _measure(task)
    files = opened(task)
    found = look_closely(files)
    told = lint.findings(files, found)
    encodings, others = _measured(found.measured)
    subjects = input_layer.subjects(files, checkpoint, encodings)
    colour = series_colour(checkpoint.slug)
    titles = names.names([(checkpoint, encoding.record) for encoding in encodings], all_schemes())
    # Pages show a whole run in figures of its own.
    read = partial(_drawn_reading, store) if checkpoint.series is None else reading_of
    read = partial(read, takes=checkpoint.takes)
    outcome = Outcome(
        checkpoint,
        "ok",
        revision=files.revision,
        facts=facts(files.resolved, found.all),
        inventory=tensor_rows(
            files.tensors, files.unopened if isinstance(files, FolderFiles) else frozenset()
        ),
        layers=layer_map(files, found.all, is_complete=found.is_complete),
        readings=tuple(
            read(subject, Label(title, colour))
            for subject, title in zip(subjects, titles, strict=True)
        ),
        unmeasured=tuple(encoding.record for encoding in found.unmeasured),
        unresolved=(*unresolved(files, found), *others),
        lint=told,
        limits=limits(files, found.all),
        taken=lint.sentences(files.config) if any(one.readers for one in told) else (),
        looked_for=_looked_for(found.all),
        settings=settings_of(files.config),
    )
    return _with_state(outcome, files)


def _measure(task: Task) -> Outcome:
    """What one measure finds in the trained model of a row."""
    checkpoint = task.checkpoint
    files = _for_measures(replace(task, measure=""))
    uses, no_use = use.measured(files, checkpoint, task.measure)
    if checkpoint.series is None:  # Pages show a whole run in figures of its own.
        label = Label(checkpoint.title, series_colour(checkpoint.slug))
        uses = tuple(use.drawn(found, label) for found in uses)
    outcome = Outcome(checkpoint, "ok", revision=files.revision, use=uses, no_use=no_use)
    return _with_state(outcome, files)


@lru_cache(maxsize=1)
def _for_measures(task: Task) -> Files:
    """The files of a row, the same for all measures. errors: as ``opened``"""
    return opened(task)


def _with_state(outcome: Outcome, files: Files) -> Outcome:
    state, calls = source_of(outcome.checkpoint).seen(files)
    return replace(outcome, state=state, calls=calls)


def _measured(encodings: list[Encoding[Form]]) -> tuple[list[Encoding[Form]], tuple[str, ...]]:
    """The encodings without the tables of vectors beyond ``MOST_TABLES``, and a sentence that names
    these.
    """
    tables = [encoding for encoding in encodings if isinstance(encoding.form, PositionTable)]
    left_out = tables[MOST_TABLES:]
    if not left_out:
        return encodings, ()
    tensors = [short(encoding.provenance.tensor or encoding.part) for encoding in left_out]
    measured = [encoding for encoding in encodings if encoding not in left_out]
    text = WORDING(
        "many_tables",
        found=len(tables),
        measured=MOST_TABLES,
        others=tensors[:MOST_NAMES],
        n_more=len(tensors[MOST_NAMES:]),
    )
    return measured, (text,)


def _looked_for(encodings: list[Encoding[Form]]) -> tuple[str, ...]:
    """What the schemes look for, where none of ``encodings`` tells position."""
    telling = {scheme.key: scheme.looked_for for scheme in all_schemes() if scheme.tells_position}
    if any(encoding.scheme in telling for encoding in encodings):
        return ()
    return tuple(telling.values())


def reading_of(
    subject: Subject[Form], label: Label, takes: Callable[[str], bool] = lambda _key: True
) -> Reading:
    """An encoding with its results, without drawings. takes: whether an analysis is made"""
    results = {
        analysis.key: result_of(analysis, subject)
        if takes(analysis.key)
        else Result(reason=WORDING("left_out"))
        for analysis in all_analyses()
    }
    return Reading.of(
        replace(subject.encoding, form=subject.encoding.form.settled), label, results, {}, {}
    )


def result_of(analysis: Analysis, subject: Subject[Form]) -> Result:
    """What one analysis finds, with its ``reason`` where it does not apply."""
    return _standing(analysis, subject.encoding, _compute(analysis, subject))


def _standing(analysis: Analysis, encoding: Encoding[Form], result: Result) -> Result:
    """``result`` with the findings that a table without structure would not have just as well, and
    a warning where values are stored in steps that take part in it.

    A guess has no findings, and a table whose tail holds nothing has none of the whole. Those of a
    table by formula are remarks: it makes them true of every such table.
    """
    form = encoding.form
    if encoding.is_guess:
        return replace(result, findings=())
    if not isinstance(form, PositionTable) or not result.findings or analysis.about == "structure":
        return result
    if form.structure.tail is not None:
        return replace(result, findings=_of_single_rows(result))
    if form.formula is not None:
        light = (replace(each, weight=min(each.weight, SAID_SMALL)) for each in result.findings)
        return replace(result, findings=tuple(light))
    if analysis.feels_steps and form.steps is not None:
        warning = Finding(WORDING("steps", size=float(np.median(form.steps))))
        result = replace(result, findings=(*result.findings, warning))
    kind = form.structure.kind
    if not kind or (kind == "unordered" and analysis.about == "values"):
        return result
    return replace(result, findings=_of_single_rows(result))


def _of_single_rows(result: Result) -> tuple[Finding, ...]:
    return tuple(finding for finding in result.findings if finding.of_single_rows)


def _drawn_reading(
    store: Store | None, subject: Subject[Form], label: Label, takes: Callable[[str], bool]
) -> Reading:
    reading = reading_of(subject, label, takes)
    drawings, alts = {}, {}
    reference = _reference_of(subject.encoding, store)
    for analysis in all_analyses():
        result = reading.results[analysis.key]
        shown = _beside(analysis, reference, label, result)
        if not shown:
            continue
        for spec in analysis.figures:
            if not spec.varies(result):
                continue
            name = f"{analysis.key}-{spec.key}"
            drawings[name], alts[name] = svg.encode(_drawn, spec, shown, result), spec.alt(shown)
    form = subject.encoding.form
    drawings["thumbnail"] = svg.encode(thumbnail, form.kernel(THUMBNAIL).mean(axis=0))
    return replace(reading, drawings=drawings, alts=alts)


def drawing_of(
    analysis: Analysis, spec: FigureSpec, encoding: Encoding[Form], label: Label, result: Result
) -> tuple[bytes, str]:
    """A figure of a result that applies, as a page has it, and its alternative text."""
    shown = _beside(analysis, _reference_of(encoding), label, result)
    return svg.encode(_drawn, spec, shown, result), spec.alt(shown)


def _reference_of(encoding: Encoding[Form], store: Store | None = None) -> Reference | None:
    """The reference of an encoding: a table by formula is its own, or nearly so."""
    return None if scheme_of(encoding).by_formula else reference_of(encoding.form, store)


def _drawn(spec: FigureSpec, shown: Results, result: Result) -> "Figure":
    """The figure of ``shown`` with the spots of the findings of ``result``."""
    figure = spec.draw(shown)
    mark(
        figure,
        [DrawnPlace(number, spot.panel, spot.x, spot.y) for number, spot in result.spots(spec.key)],
    )
    return figure


def _compute(analysis: Analysis, subject: Subject[Form]) -> Result:
    form = subject.encoding.form
    if not isinstance(form, analysis.forms):
        return Result(reason=f"for forms of encoding other than {form.noun}")
    try:
        return analysis.compute(subject)
    except NotApplicableError as error:
        return Result(reason=str(error))
    except MemoryError:
        return Result(
            reason="too large: this analysis needs more memory than one checkpoint may take"
        )


def _beside(
    analysis: Analysis, reference: Reference | None, label: Label, result: Result
) -> Results:
    """The result, and that of ``reference`` where it teaches something; empty where the analysis
    does not apply.
    """
    if result.reason is not None:
        return {}
    if reference is None or not analysis.beside_reference:
        return {label: result}
    try:
        beside = reference.result(analysis)
    except MemoryError:
        return {label: result}
    return {label: result} if beside.reason else {label: result, REFERENCE: beside}
