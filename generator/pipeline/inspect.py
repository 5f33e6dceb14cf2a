"""What one checkpoint says of its encodings, without results and drawings, as ``inspect`` shows
it.
"""

from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.limits import limits
from generator.checkpoints.model.own_families import block
from generator.contracts import Atlas, EncodingRecord, Label, Outcome, Subject
from generator.contracts.model_config import UNKNOWN
from generator.pipeline.evaluate import all_analyses, reading_of
from generator.reading import lint
from generator.reading.evidence import look_closely, settings_of
from generator.reading.find import all_schemes, look, scheme_of
from generator.reading.plan import Task, opened
from generator.reading.questions import unresolved
from generator.site.rankings.peers import peers_of

LEADING = 3  # findings, as at the top of a page
NO_INPUT = "no sentence is read"
MOST_MEASURED = 4  # encodings that are measured for them


@dataclass(frozen=True)
class Inspected:
    """An inspected checkpoint.

    outcome: without readings; records: of its encodings, without their forms; n_analyses: how many
        understand each of these
    block: lines for families.yml to begin with, for a family whose code is not known
    """

    outcome: Outcome
    records: tuple[EncodingRecord, ...]
    n_analyses: tuple[int, ...]
    block: tuple[str, ...] = ()


def inspect(task: Task) -> Inspected:
    """The checkpoint of ``task``.

    errors: RowError, NotReachedError
    """
    if task.problem is not None:
        raise task.problem
    files = opened(task)
    found = look_closely(files)
    outcome = Outcome(
        task.checkpoint,
        "ok",
        revision=files.revision,
        unmeasured=tuple(encoding.record for encoding in found.unmeasured),
        layers=layer_map(files, found.all, is_complete=found.is_complete),
        settings=settings_of(files.config),
        unresolved=unresolved(files, found),
        lint=lint.findings(files, found),
        limits=limits(files, found.all),
    )
    n_analyses = (
        sum(isinstance(encoding.form, analysis.forms) for analysis in all_analyses())
        for encoding in found.measured
    )
    records = tuple(encoding.record for encoding in found.measured)
    text, stacks = files.config.text_model, files.resolved.stacks
    is_unknown = text.family != UNKNOWN and not any(stack.has_code for stack in stacks)
    return Inspected(outcome, records, tuple(n_analyses), block(text) if is_unknown else ())


def findings(task: Task) -> tuple[str, ...]:
    """The sentences with which the page of a checkpoint opens in an atlas of its own: the LEADING
    weightiest of its first encodings that tell position, at most MOST_MEASURED. Measures these.

    errors: RowError, NotReachedError
    """
    files = opened(task)
    found = look(files)
    telling = [one for one in found.measured if scheme_of(one).tells_position]
    with threadpool_limits(1):  # As in a build.
        readings = tuple(
            reading_of(Subject(one, no_input=NO_INPUT), Label(one.part, ""))
            for one in telling[:MOST_MEASURED]
        )
    layers = layer_map(files, found.all, is_complete=found.is_complete)
    outcome = Outcome(task.checkpoint, "ok", layers=layers, readings=readings)
    atlas = Atlas((outcome,), all_analyses(), all_schemes())
    statements = [one for reading in readings for one in peers_of(atlas).statements(reading)]
    statements.sort(key=lambda statement: -statement.weight)
    leading: dict[tuple[str, str], str] = {}
    for one in statements:
        leading.setdefault(one.subject, one.finding.text)
    return tuple(dict.fromkeys(leading.values()))[:LEADING]
