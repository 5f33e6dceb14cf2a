"""What builds leave for later ones, in one folder: outcomes by all that they depend on, a record of
the last one of each row, drawings and other artifacts, and digests of files.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from generator.cache.blobs import UNFINISHED, BlobCache
from generator.cache.fingerprint import NAME as DIGESTS
from generator.cache.fingerprint import of_parts
from generator.contracts import Call, Digest, Outcome
from generator.pipeline.packing import packed, unpack_file
from generator.reading.plan import Task, source_of

MOST_BYTES = 2 * 2**30  # What the present list needs stays even beyond this.


@dataclass(frozen=True)
class StoredOutcome:
    """The last evaluation of a row.

    key: of its outcome; code: digest of the program
    listed, revision, committed: the revision that the list had, its commit, and when that was made
    state, calls: of its files, as in ``Outcome``
    """

    key: str
    code: str
    listed: str | None
    revision: str | None
    committed: int | None
    state: str
    calls: tuple[Call, ...]


class Store:
    """The store in a folder, for one version of the program.

    code: digest of the program that evaluates; blobs: all entries
    """

    def __init__(self, folder: Path, code: str) -> None:
        self.folder, self.code, self.blobs = folder, code, BlobCache(folder)

    def record(self, task: Task) -> StoredOutcome | None:
        """That of the last build which evaluated the row of ``task``; None where none did."""
        data = self.blobs.get(_name(task))
        if data is not None:
            with suppress(Exception):  # Bytes that another program wrote may fail anywhere.
                found = StoredOutcome(**json.loads(data))
                return replace(found, calls=tuple(map(tuple, found.calls)))
        return None

    def current(self, task: Task, digest: Digest) -> str | None:
        """The key of the outcome of ``task``, where nothing has changed on which it depends.

        digest: returns that of a file or of a part
        """
        record = self.record(task)
        if record is None or record.code != self.code or not self._path(record.key).is_file():
            return None
        source = source_of(task.checkpoint)
        row = task.checkpoint
        if source.state(row, digest, record.calls) != record.state:
            return None
        committed = row.committed or record.committed
        now = replace(record, listed=task.listed, revision=row.revision, committed=committed)
        if now != record:  # The list may name the same commit in another way.
            self.blobs.put(_name(task), json.dumps(asdict(now)).encode())
        return record.key

    def get(self, key: str) -> Outcome | None:
        """The outcome under ``key``, or None.

        Its form, arrays and drawings stay on disk until they are loaded.
        """
        path = self._path(key)
        try:
            with self.blobs.open(path.name) as file:
                outcome = unpack_file(file, path)
            os.utime(path)  # ``limit`` removes what has not been used for longest.
        except Exception:  # noqa: BLE001  # Bytes that another program wrote may fail anywhere.
            return None
        return outcome if isinstance(outcome, Outcome) else None

    def put(self, task: Task, outcome: Outcome) -> str:
        """Store an outcome, and then that it is the last one of its row; its key.

        errors: OSError
        """
        row, code = task.checkpoint, self.code
        key = of_parts((row.evaluated, task.measure, outcome.state, code))
        # What cannot be found again is no name of what is made of it.
        named = replace(outcome, key=key if outcome.state else "")
        self.blobs.write(self._path(key).name, packed(named))
        record = StoredOutcome(
            key, code, task.listed, row.revision, row.committed, outcome.state, outcome.calls
        )
        if outcome.state:  # One that cannot be found again does not replace one that can.
            self.blobs.write(_name(task), [json.dumps(asdict(record)).encode()])
        return key

    def limit(self, tasks: Iterable[Task], used: set[str], most: int = MOST_BYTES) -> None:
        """Remove unfinished files, and the oldest until ``most`` bytes are left, except the last
        outcomes of ``tasks`` and the entries ``used``.

        An outcome is as old as its last use, anything else as when it was made.
        """
        wanted = {DIGESTS, *used}
        for task in tasks:
            record = self.record(task)
            wanted |= {_name(task), self._path(record.key).name} if record else set()
        # Also of folders, which an earlier version of the program made.
        files = [(path.stat(), path) for path in self.folder.rglob("*") if path.is_file()]
        left = sum(state.st_size for state, _ in files)
        for state, path in sorted(files, key=lambda file: (file[0].st_mtime_ns, file[1])):
            if path.suffix == UNFINISHED or (left > most and path.name not in wanted):
                path.unlink(missing_ok=True)
                left -= state.st_size

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.outcome"


def _name(task: Task) -> str:
    """The name of a task's record, whatever revision the list names."""
    row = replace(task.checkpoint, revision=None)
    return f"{of_parts((row.evaluated, task.measure))}.row"
