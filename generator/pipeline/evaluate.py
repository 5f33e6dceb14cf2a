"""One checkpoint, from opening its files to the last figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
from threadpoolctl import threadpool_limits

from generator import analyses, schemes
from generator.checkpoints.files.planned import PlannedFiles
from generator.checkpoints.files.reader import CONFIG, FolderFiles
from generator.checkpoints.model import input_layer
from generator.checkpoints.model.code_files import NoOutlineError, code_files
from generator.checkpoints.model.facts import facts
from generator.checkpoints.model.halves import is_of_class
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.module_tree import layout
from generator.checkpoints.model.open_questions import TYPE, open_questions
from generator.checkpoints.model.stacks import is_read
from generator.contracts import (
    Analysis,
    Checkpoint,
    Encoding,
    FigureSpec,
    Files,
    Finding,
    Label,
    Outcome,
    Reading,
    Result,
    Results,
    Scheme,
    Subject,
    discovery,
    names,
)
from generator.encodings import Form, NoEncoding, PositionTable
from generator.errors import NotApplicableError, NotReachedError, RowError
from generator.figures import output
from generator.figures.panels import thumbnail
from generator.figures.spots import DrawnPlace, mark
from generator.figures.style import REFERENCE as REFERENCE_COLOUR
from generator.figures.style import series_colour
from generator.pipeline import failures, use
from generator.pipeline.plan import Task, source_of
from generator.pipeline.references import Reference, References
from generator.pipeline.untrained import is_untrained
from generator.text import short, significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THUMBNAIL = 96  # positions
MOST_TABLES = 12  # of vectors that are measured in one checkpoint; each takes seconds.
MOST_NAMES = 100  # of tensors in one sentence
NO_CODE = (
    "Neither transformers nor this atlas has the code of this family ({}). What is said here"
    " follows from its settings."
)
UNKNOWN_FAMILY = (
    "Read from settings of an unknown family ({}): neither transformers nor this atlas has its"
    " code, which may do otherwise."
)
NOT_LOOKED_THROUGH = (
    "What the weights would hold is unknown: transformers makes no model of this config"
)
NOTHING_CACHED = References()
# A checkpoint that is one has a colour of its own.
REFERENCE = Label("Sinusoid of the same size", REFERENCE_COLOUR)


def all_schemes() -> tuple[Scheme, ...]:
    """Every scheme, by its order."""
    return discovery.load(schemes, Scheme)


def all_analyses() -> tuple[Analysis, ...]:
    """Every analysis, by its order."""
    return discovery.load(analyses, Analysis)


def evaluate(task: Task, references: References = NOTHING_CACHED) -> Outcome:
    """Every encoding of one checkpoint with its results and drawings; failures are part of the
    outcome.

    references: beside which figures show the encodings
    errors: MemoryError
    """
    try:
        # More threads would change the last digits, and with them the bytes.
        with threadpool_limits(1):
            return _evaluate(task, references)
    except RowError as error:
        return failures.failed(task.checkpoint, str(error))
    except NotReachedError as error:
        return failures.not_reached(task.checkpoint, error)
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
        open_files(task.checkpoint, offline=True)
    except NotReachedError as error:
        return failures.not_reached(task.checkpoint, error)
    except RowError:  # Reported when the row is evaluated.
        return None
    return None


def open_files(checkpoint: Checkpoint, offline: bool) -> Files:
    """The files of a checkpoint, from its source.

    errors: RowError, NotReachedError
    """
    return source_of(checkpoint).open(checkpoint, offline)


def needed(task: Task) -> Mapping[str, int]:
    """Bytes that the evaluation of one checkpoint reads of its weights, by tensor, or by file where
    a file is read as a whole. Reads headers.

    errors: RowError, NotReachedError
    """
    if (run_of := source_of(task.checkpoint).run) is not None:
        run_of(task.checkpoint)
        return {}  # Numbers, and no weights.
    files = cast("FolderFiles", open_files(task.checkpoint, task.offline))
    if whole := files.whole_files():
        return whole
    planned = PlannedFiles(files)
    input_layer.subjects(planned, task.checkpoint, find(planned))
    return planned.needed


def find(files: Files) -> list[Encoding[Form]]:
    """The encodings that any scheme recognises, in order of the schemes, those of a decoder last;
    their absence only where there is no other.

    errors: RowError, also where two schemes find their encodings in one tensor
    """
    by_scheme = {scheme: scheme.find(files) for scheme in all_schemes()}
    owners = _owners(files, by_scheme)

    def is_claimed(name: str) -> bool:
        return name in owners or any(
            scheme.claims.search(name) for scheme in by_scheme if scheme.claims
        )

    by_scheme = {
        scheme: found + (scheme.find_last(files, is_claimed) if scheme.find_last else [])
        for scheme, found in by_scheme.items()
    }
    _owners(files, by_scheme)  # Again: two of the last may have one tensor, too.
    encodings = [
        _with_notes(files, encoding)
        for found in by_scheme.values()
        for encoding in found
        if is_of_class(files.config, encoding)
    ]
    if not all(isinstance(encoding.form, NoEncoding) for encoding in encodings):
        encodings = [
            encoding for encoding in encodings if not isinstance(encoding.form, NoEncoding)
        ]
    return names.numbered(sorted(encodings, key=lambda encoding: encoding.stack == "decoder"))


def _owners(files: Files, by_scheme: Mapping[Scheme, Sequence[Encoding[Form]]]) -> dict[str, str]:
    """The key of the scheme that has an encoding in a tensor, by its name.

    errors: RowError where two schemes have one
    """
    owners: dict[str, str] = {}
    for scheme, encodings in by_scheme.items():
        for encoding in encodings:
            name = encoding.provenance.tensor
            if name is not None and owners.setdefault(name, scheme.key) != scheme.key:
                raise RowError(
                    f"{files.where}: {name} is taken by the schemes {owners[name]} and"
                    f" {scheme.key}; expected one"
                )
    return owners


@dataclass(frozen=True)
class Found:
    """What there is of a checkpoint's encodings.

    measured: from settings or weights; unmeasured: in trained tensors that the code of the family
        has, with zeros for their numbers; none where there are weights
    is_complete: whether there is no other, as weights or the family's code show
    question: why that code could not be looked through, as a sentence, "" otherwise
    """

    measured: list[Encoding[Form]]
    unmeasured: list[Encoding[Form]] = field(default_factory=list)
    is_complete: bool = True
    question: str = ""

    @property
    def all(self) -> list[Encoding[Form]]:
        """Every encoding, the measured first."""
        return [*self.measured, *self.unmeasured]


def look(files: Files) -> Found:
    """Every encoding in the settings, the weights, or the code of the family without weights.

    errors: RowError, also where weights that may hold encodings are in files that are not read
    """
    measured = find(files)
    if files.tensors:
        return Found(measured)
    found = _with_code(files, measured)
    if (found.unmeasured or not measured) and isinstance(files, FolderFiles):
        files.check_none_unread()
    return found


def _with_code(files: Files, measured: list[Encoding[Form]]) -> Found:
    """``measured``, with the encodings in trained tensors that the code of the family has, those of
    other schemes alone.
    """
    if is_untrained(files.config):
        return Found(measured)
    schemes_found = {encoding.scheme for encoding in measured}
    try:
        code = code_files(files.config)
        in_code = [] if code is None else find(code)
    # As where a size that a scheme needs is missing.
    except (NoOutlineError, RowError) as error:
        return Found(measured, is_complete=False, question=f"{NOT_LOOKED_THROUGH} ({error}).")
    unmeasured = [
        encoding
        for encoding in in_code
        if encoding.provenance.tensor is not None and encoding.scheme not in schemes_found
    ]
    # A state that decays tells position.
    if any(encoding.form.tells_position for encoding in unmeasured):
        measured = [encoding for encoding in measured if not isinstance(encoding.form, NoEncoding)]
    missing = "" if code is None else code.missing
    question = (
        f"{NOT_LOOKED_THROUGH} ({missing}); its parts were looked through." if missing else ""
    )
    return Found(measured, unmeasured, code is not None and not missing, question)


def _is_guess(files: Files, encoding: Encoding[Form]) -> bool:
    """Whether an encoding follows from settings whose meaning no known code shows, and which do not
    name its scheme.
    """
    config = files.config
    if not config.settings or encoding.provenance.tensor is not None or is_read(config):
        return False
    words = {config.anywhere.text(name) for name in TYPE}
    scheme = next(scheme for scheme in all_schemes() if scheme.key == encoding.scheme)
    return words.isdisjoint(scheme.words)


def _with_notes(files: Files, encoding: Encoding[Form]) -> Encoding[Form]:
    """``encoding`` with what there is to say of how its tensor is stored, and with the file that
    holds the settings where that is no config.json.
    """
    origin, settings_file = encoding.provenance, files.config.source
    if _is_guess(files, encoding):
        note = UNKNOWN_FAMILY.format(files.config.family)
        encoding = replace(encoding, notes=(*encoding.notes, note), is_guess=True)
    if origin.tensor is not None:
        encoding = replace(encoding, notes=(*encoding.notes, *files.notes(origin.tensor)))
    if settings_file == CONFIG:
        return encoding
    notes = tuple(note.replace(CONFIG, settings_file) for note in encoding.notes)
    return replace(
        encoding,
        notes=notes,
        provenance=replace(origin, file=settings_file) if origin.file == CONFIG else origin,
    )


def _evaluate(task: Task, references: References) -> Outcome:
    checkpoint = task.checkpoint
    if task.problem is not None:
        raise task.problem
    run_of = source_of(checkpoint).run
    if run_of is not None:
        return Outcome(checkpoint, "ok", run=run_of(checkpoint))
    files = open_files(checkpoint, task.offline)
    found = look(files)
    encodings, others = _measured(found.measured)
    subjects = input_layer.subjects(files, checkpoint, encodings)
    colour = series_colour(checkpoint.slug)
    titles = names.names([(checkpoint, encoding.record) for encoding in encodings], all_schemes())
    uses, no_use = use.measured(files, checkpoint, references.cache)
    if checkpoint.series is None:
        label = Label(checkpoint.title, colour)
        uses = tuple(use.drawn(found, label) for found in uses)
    # Pages show a whole run in figures of its own.
    read = partial(_drawn_reading, references) if checkpoint.series is None else _reading
    outcome = Outcome(
        checkpoint,
        "ok",
        revision=files.revision,
        facts=facts(files.config),
        layout=layout(
            files.tensors, files.unopened if isinstance(files, FolderFiles) else frozenset()
        ),
        layers=layer_map(files, found.all, is_complete=found.is_complete),
        readings=tuple(
            read(subject, Label(title, colour))
            for subject, title in zip(subjects, titles, strict=True)
        ),
        unmeasured=tuple(encoding.record for encoding in found.unmeasured),
        unresolved=(*unresolved(files, found), *others),
        looked_for=_looked_for(found.all),
        uses=uses,
        no_use=no_use,
    )
    state, questions = source_of(checkpoint).seen(files)
    return replace(outcome, state=state, questions=questions)


def unresolved(files: Files, found: Found) -> tuple[str, ...]:
    """What stays open about a checkpoint, a sentence each."""
    questions = [*open_questions(files, found.all, all_schemes()), found.question]
    if any(encoding.is_guess for encoding in found.measured):
        questions.append(NO_CODE.format(files.config.family))
    return tuple(filter(None, questions))


def _measured(encodings: list[Encoding[Form]]) -> tuple[list[Encoding[Form]], tuple[str, ...]]:
    """The encodings without the tables of vectors beyond ``MOST_TABLES``, and a sentence that names
    these.
    """
    tables = [encoding for encoding in encodings if isinstance(encoding.form, PositionTable)]
    left_out = tables[MOST_TABLES:]
    if not left_out:
        return encodings, ()
    tensors = [short(encoding.provenance.tensor or encoding.part) for encoding in left_out]
    more = f" and {len(tensors) - MOST_NAMES:,} more" if len(tensors) > MOST_NAMES else ""
    counts = f"{len(tables):,} tables of position vectors were found. Measured: {MOST_TABLES}."
    measured = [encoding for encoding in encodings if encoding not in left_out]
    return measured, (f"{counts} Not measured: {', '.join(tensors[:MOST_NAMES])}{more}.",)


def _looked_for(encodings: list[Encoding[Form]]) -> tuple[str, ...]:
    """What the schemes look for, where none of ``encodings`` tells position."""
    telling = {scheme.key: scheme.looked_for for scheme in all_schemes() if scheme.tells_position}
    if any(encoding.scheme in telling for encoding in encodings):
        return ()
    return tuple(telling.values())


def _reading(subject: Subject[Form], label: Label) -> Reading:
    """An encoding with its results, without drawings."""
    results = {
        analysis.key: _standing(analysis, subject.encoding, _compute(analysis, subject))
        for analysis in all_analyses()
    }
    return Reading.of(
        replace(subject.encoding, form=subject.encoding.form.settled), label, results, {}, {}
    )


def _standing(analysis: Analysis, encoding: Encoding[Form], result: Result) -> Result:
    """``result`` with the findings that a table without structure would not have just as well, and
    a warning where values are stored in steps that take part in it.

    A guess has no findings, and a table whose tail holds nothing has none of the whole.
    """
    form = encoding.form
    if encoding.is_guess:
        return replace(result, findings=())
    if not isinstance(form, PositionTable) or not result.findings or analysis.about == "structure":
        return result
    if form.structure.tail is not None:
        return replace(result, findings=_of_single_rows(result))
    if analysis.feels_steps and form.steps is not None:
        size = significant(float(np.median(form.steps)), 2)
        warning = Finding(
            f"Values are stored in steps of {size}, whose rounding takes part in this."
        )
        result = replace(result, findings=(*result.findings, warning))
    kind = form.structure.kind
    if not kind or (kind == "unordered" and analysis.about == "values"):
        return result
    return replace(result, findings=_of_single_rows(result))


def _of_single_rows(result: Result) -> tuple[Finding, ...]:
    return tuple(finding for finding in result.findings if finding.of_single_rows)


def _drawn_reading(references: References, subject: Subject[Form], label: Label) -> Reading:
    reading = _reading(subject, label)
    drawings, alts = {}, {}
    # A table by formula is its own reference, or nearly so.
    reference = None if _is_by_formula(subject.encoding) else references.of(subject.encoding.form)
    for analysis in all_analyses():
        result = reading.results[analysis.key]
        shown = _beside(analysis, reference, label, result)
        if not shown:
            continue
        for spec in analysis.figures:
            if not spec.varies(result):
                continue
            name = f"{analysis.key}-{spec.key}"
            drawings[name] = output.encode(_drawn, spec, shown, result)
            alts[name] = spec.alt(shown)
    form = subject.encoding.form
    drawings["thumbnail"] = output.encode(thumbnail, form.kernel(THUMBNAIL).mean(axis=0))
    return replace(reading, drawings=drawings, alts=alts)


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
        return Result(reason=f"for another form of encoding; this one is {form.noun}")
    try:
        return analysis.compute(subject)
    except NotApplicableError as error:
        return Result(reason=str(error))
    except MemoryError:
        return Result(
            reason="too large: this analysis needs more memory than one checkpoint may take"
        )


def _is_by_formula(encoding: Encoding[Form]) -> bool:
    return any(scheme.by_formula for scheme in all_schemes() if scheme.key == encoding.scheme)


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
