"""What was asked of a storage, and digests of its answers: an evaluation that gets the same answers
has the same outcome.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from generator.cache import fingerprint
from generator.checkpoints.files.folder import Folder
from generator.contracts import Call, Digest
from generator.errors import RowError

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class RecordedFolder:
    """A folder as a ``Storage``, with a record of what was asked of it.

    digest: returns that of a file
    """

    folder: Folder
    digest: Digest = fingerprint.of_file
    digests: dict[Call, str] = field(default_factory=dict)

    def matching(self, pattern: str) -> list[str]:
        """As in ``Storage``."""
        return self._noted(("matching", pattern), lambda: self.folder.matching(pattern), repr)

    def has(self, name: str) -> bool:
        """As in ``Storage``."""
        return self._noted(("has", name), lambda: self.folder.has(name), repr)

    def size(self, name: str) -> int:
        """As in ``Storage``."""
        return self._noted(("size", name), lambda: self.folder.size(name), repr)

    def part(self, name: str, start: int, stop: int) -> bytes:
        """As in ``Storage``."""
        return self._noted(
            ("part", name, start, stop), lambda: self.folder.part(name, start, stop), _of_bytes
        )

    def read(self, name: str) -> bytes | None:
        """As in ``Storage``."""
        return self._noted(("read", name), lambda: self.folder.read(name), _of_bytes)

    def path(self, name: str) -> Path:
        """As in ``Storage``; whoever has the path may read the whole file, so its digest is the
        answer.
        """
        return self._noted(("path", name), lambda: self.folder.path(name), self.digest)

    def _noted(self, call: Call, ask: Callable[[], T], digest_of: Callable[[T], str]) -> T:
        try:
            answer = ask()
        except RowError as error:
            self.digests[call] = str(error)
            raise
        if call not in self.digests:
            self.digests[call] = digest_of(answer)
        return answer


def current_digests(folder: Folder, calls: Iterable[Call], digest: Digest) -> dict[Call, str]:
    """The present answers of ``folder`` to ``calls``; of files, ``digest`` reads only the parts
    that these ask for.

    errors: OSError for a file that cannot be read; ValueError for a call that is none
    """
    return {call: _answer(folder, call, digest) for call in calls}


def digest_of(answers: Mapping[Call, str]) -> str:
    """Hex digest of calls with their answers, in whatever order they were asked."""
    return fingerprint.of_parts(sorted(answers.items(), key=repr))


def _answer(folder: Folder, call: Call, digest: Digest) -> str:
    try:
        match call:
            case ("part", str(name), int(start), int(stop)):
                return digest(folder.path(name), start, stop)
            case ("read", str(name)) if not folder.has(name):
                return _of_bytes(None)
            case ("read" | "path", str(name)):
                return digest(folder.path(name))
            case ("matching" | "has" | "size" as method, str(argument)):
                return repr(getattr(folder, method)(argument))
    except RowError as error:
        return str(error)
    raise ValueError(call)


def _of_bytes(content: bytes | None) -> str:
    return "" if content is None else sha256(content).hexdigest()
