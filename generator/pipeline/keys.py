"""Keys of the result store: digests of all that the outcome of a checkpoint depends on."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from generator.cache.blobs import BlobCache
from generator.cache.fingerprint import of_parts
from generator.contracts import Checkpoint, Digest, Outcome
from generator.pipeline.plan import Task, source_of


class Keys:
    """Keys of tasks before their evaluation.

    notes: the questions that evaluations asked of their files; digest: returns that of a file or a
        part; code: digest of the program
    """

    def __init__(self, notes: BlobCache, digest: Digest, code: str) -> None:
        self.notes, self.digest, self.code = notes, digest, code

    def of(self, task: Task) -> str | None:
        """The key of a task; None where it is not known before an evaluation."""
        checkpoint = task.checkpoint
        questions = json.loads(self.notes.get(_note(checkpoint)) or b"[]")
        state = source_of(checkpoint).state(checkpoint, self.digest, [*map(tuple, questions)])
        return None if state is None else key_of(checkpoint, state, self.code)

    def former(self, task: Task) -> Task | None:
        """``task`` at the commit at which an earlier build read it; None where the list names a
        commit, or none did.
        """
        note = self.notes.get(_revision_note(task))
        if note is None:
            return None
        commit, committed = json.loads(note)
        return replace(
            task, checkpoint=replace(task.checkpoint, revision=commit, committed=committed)
        )

    def last(self, task: Task) -> str | None:
        """The key under which the last build that evaluated ``task`` stored it, whatever has
        changed since; None where none did.
        """
        note = self.notes.get(_outcome_note(task))
        return None if note is None else note.decode()

    def note(self, outcomes: Mapping[Task, str | None]) -> None:
        """Write down under which keys the present build has ``outcomes``, and at which commits it
        read those of which the list names a branch or a tag.
        """
        for task, key in outcomes.items():
            if key:
                self.notes.put(_outcome_note(task), key.encode())
            if task.checkpoint.revision != task.listed:
                self.notes.put(
                    _revision_note(task),
                    json.dumps((task.checkpoint.revision, task.checkpoint.committed)).encode(),
                )


def key_of(checkpoint: Checkpoint, state: str, code: str) -> str:
    """The key of an outcome. state: of the checkpoint's files; code: digest of the program"""
    return of_parts((checkpoint.evaluated, state, code))


def note_questions(notes: BlobCache, outcome: Outcome) -> None:
    """Write down what the evaluation of ``outcome`` asked of its files, from which the next build
    knows its key.
    """
    if outcome.questions:
        notes.put(_note(outcome.checkpoint), json.dumps(outcome.questions).encode())


def notes_of(tasks: Iterable[Task]) -> set[str]:
    """The names of the notes of ``tasks``."""
    return {
        name
        for task in tasks
        for name in (_note(task.checkpoint), _revision_note(task), _outcome_note(task))
    }


def _revision_note(task: Task) -> str:
    return f"{_listed(task)}.revision"


def _outcome_note(task: Task) -> str:
    return f"{_listed(task)}.outcome"


def _listed(task: Task) -> str:
    """Digest of what the list says of a row, whatever its source has now."""
    return of_parts((replace(task.checkpoint, revision=task.listed).evaluated,))


def _note(checkpoint: Checkpoint) -> str:
    return f"{of_parts((checkpoint.evaluated,))}.questions"
