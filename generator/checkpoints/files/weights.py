"""Which of a checkpoint's files are weights, as the file formats say, and which of these are read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from generator.checkpoints.files import formats
from generator.contracts import FileFormat, Storage, StoredTensor, WeightsFile, discovery
from generator.errors import RowError


@dataclass(frozen=True)
class Weights:
    """Weights that a checkpoint has in one format."""

    format: FileFormat
    file: WeightsFile

    def open(self) -> Mapping[str, StoredTensor]:
        """The tensors by name; errors: those of the format."""
        return self.format.open(self.file)

    def texts(self) -> Mapping[str, bytes]:
        """The small files that they hold in themselves; errors: those of the format."""
        return self.format.texts(self.file)


def all_formats() -> tuple[FileFormat, ...]:
    return discovery.load(formats, FileFormat)


def allowed(storage: Storage, where: str, pickle: bool) -> Weights | None:
    """The weights that are read: of the formats that the row allows, those in the first; None where there are none."""
    found = next((weights for weights in _held(storage, where) if pickle or not weights.format.refusal), None)
    if found is None and pickle:  # The row promises a pickle; opening says that there is none.
        needed = next(known for known in all_formats() if known.refusal)
        return Weights(needed, WeightsFile(storage, needed.names[0], where))
    return found


def check_allowed(storage: Storage, where: str, pickle: bool) -> None:
    """errors: RowError where the row allows none of the weights that there are"""
    held = next(_held(storage, where), None)
    if held is not None and allowed(storage, where, pickle) is None:
        raise RowError(f"{where}: {held.format.refusal}")


def is_complete(storage: Storage, where: str) -> bool:
    """Whether there are weights, all files of those in the first format, and config.json."""
    held = next(_held(storage, where), None)
    if held is None:
        return False
    return all(map(storage.has, held.format.files(held.file))) and (storage.has("config.json") or "config.json" in held.texts())


def files(storage: Storage, where: str) -> set[str]:
    """The names of all files of weights, in whichever format."""
    return {name for held in _held(storage, where) for name in held.format.files(held.file)}


def _held(storage: Storage, where: str) -> Iterator[Weights]:
    for known in all_formats():
        names = (name for pattern in known.names for name in storage.matching(pattern))
        if (name := next(names, None)) is not None:
            yield Weights(known, WeightsFile(storage, name, where))
