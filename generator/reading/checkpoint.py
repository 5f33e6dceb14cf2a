"""What the files of one checkpoint say of position, as the record that programs in Python get."""

from generator.checkpoints.model import origins
from generator.contracts import Encoding, ReadCheckpoint, ReadEncoding, names
from generator.encodings import Form
from generator.reading.find import all_schemes, scheme_of
from generator.reading.plan import Task, opened
from generator.reading.questions import unresolved
from generator.reading.sides import Side


def read(task: Task) -> ReadCheckpoint:
    """The checkpoint of ``task``.

    errors: RowError, NotReachedError
    """
    if task.problem is not None:
        raise task.problem
    files = opened(task)
    side = Side.of(task.checkpoint.id, files)
    records = [(task.checkpoint, encoding.record) for encoding in side.found.all]
    titles = names.names(records, all_schemes())
    encodings = (
        _encoding(task.checkpoint.slug, title, encoding, encoding in side.found.measured)
        for title, encoding in zip(titles, side.found.all, strict=True)
    )
    layers = (layer for of_part in side.layers.values() for layer in of_part)
    questions = unresolved(files, side.found)
    return ReadCheckpoint(
        side.name, files.revision, side.context, tuple(encodings), tuple(layers), questions
    )


def _encoding(
    checkpoint: str, name: str, encoding: Encoding[Form], has_numbers: bool
) -> ReadEncoding:
    record = encoding.record
    return ReadEncoding(
        key=record.key,
        part=record.numbered_part,
        scheme=record.scheme,
        title=scheme_of(encoding).title,
        parameters=record.parameters,
        origins={name: origins.of_parameter(record, name) for name in record.origins},
        has_numbers=has_numbers,
        name=name,
        checkpoint=checkpoint,
        encoding=encoding,
    )
