"""What one checkpoint says of its encodings, without results and drawings, as ``inspect`` shows
it.
"""

from dataclasses import dataclass

from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import EncodingRecord, Outcome
from generator.pipeline.evaluate import all_analyses, opened
from generator.pipeline.find import look, unresolved
from generator.pipeline.plan import Task


@dataclass(frozen=True)
class Inspected:
    """An inspected checkpoint.

    outcome: without readings; records: of its encodings, without their forms; n_analyses: how many
        understand each of these
    """

    outcome: Outcome
    records: tuple[EncodingRecord, ...]
    n_analyses: tuple[int, ...]


def inspect(task: Task) -> Inspected:
    """The checkpoint of ``task``.

    errors: RowError, NotReachedError
    """
    if task.problem is not None:
        raise task.problem
    files = opened(task)
    found = look(files)
    outcome = Outcome(
        task.checkpoint,
        "ok",
        revision=files.revision,
        unmeasured=tuple(encoding.record for encoding in found.unmeasured),
        layers=layer_map(files, found.all, is_complete=found.is_complete),
        unresolved=unresolved(files, found),
    )
    n_analyses = (
        sum(isinstance(encoding.form, analysis.forms) for analysis in all_analyses())
        for encoding in found.measured
    )
    records = tuple(encoding.record for encoding in found.measured)
    return Inspected(outcome, records, tuple(n_analyses))
