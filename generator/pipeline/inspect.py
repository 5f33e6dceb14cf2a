"""What one checkpoint says of its encodings, without results and drawings, as ``inspect`` shows
it.
"""

from dataclasses import dataclass

from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.open_questions import open_questions
from generator.contracts import EncodingRecord, Outcome
from generator.pipeline.evaluate import (
    all_analyses,
    all_schemes,
    find,
    find_unmeasured,
    open_files,
)
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
    files = open_files(task.checkpoint, task.offline)
    encodings = find(files)
    unmeasured = find_unmeasured(files, encodings)
    known = [*encodings, *(unmeasured or ())]
    outcome = Outcome(
        task.checkpoint,
        "ok",
        revision=files.revision,
        unmeasured=tuple(encoding.record for encoding in unmeasured or ()),
        layers=layer_map(files, known, is_complete=unmeasured is not None),
        unresolved=tuple(open_questions(files, known, all_schemes())),
    )
    n_analyses = (
        sum(isinstance(encoding.form, analysis.forms) for analysis in all_analyses())
        for encoding in encodings
    )
    return Inspected(outcome, tuple(encoding.record for encoding in encodings), tuple(n_analyses))
