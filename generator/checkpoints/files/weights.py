"""The weights of a checkpoint: which file formats it has, and which of them is read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from generator.checkpoints.files import formats
from generator.contracts import FileFormat, Storage, StoredTensor, WeightsFile, discovery
from generator.errors import RowError


@dataclass(frozen=True)
class Choice:
    """What a row says of its weights.

    pickle: whether a pickle may be opened; name: of the file of weights, "" for the preferred one
    """

    pickle: bool = False
    name: str = ""


ANY = Choice()
# Files of training programs that end as files of weights do.
OF_TRAINING = (
    "training_args.bin",
    "optimizer*",
    "scheduler*",
    "scaler*",
    "rng_state*",
    "random_states*",
)


@dataclass(frozen=True)
class Weights:
    """The weights of a checkpoint in one format."""

    format: FileFormat
    file: WeightsFile

    def open(self) -> Mapping[str, StoredTensor]:
        """The tensors by name.

        errors: those of the format
        """
        return self.format.open(self.file)

    def texts(self) -> Mapping[str, bytes]:
        """Small files within the weights, by name.

        errors: those of the format
        """
        return self.format.texts(self.file)


def all_formats() -> tuple[FileFormat, ...]:
    """Every file format, in order of preference."""
    return discovery.load(formats, FileFormat)


def suffixes() -> tuple[str, ...]:
    """Ends of the names of files of weights, in all formats that are read."""
    return tuple(
        suffix
        for file_format in all_formats()
        if file_format.is_read
        for suffix in file_format.suffixes
    )


def allowed(storage: Storage, where: str, choice: Choice) -> Weights | None:
    """The weights in the first format that the row allows; without any, those of the pickle that it
    allows, which opening reports as missing, else None.

    errors: RowError where the row names a file that is missing or in no known format
    """
    first = next(
        (
            weights
            for weights in _stored(storage, where, choice.name)
            if choice.pickle or not weights.format.refusal
        ),
        None,
    )
    # The row expects a pickle; opening it reports that it is missing.
    if first is None and choice.pickle:
        pickled = next(file_format for file_format in all_formats() if file_format.refusal)
        return Weights(pickled, WeightsFile(storage, pickled.names[0], where))
    return first


def check_allowed(storage: Storage, where: str, choice: Choice) -> None:
    """Check that the row allows one of the formats that a checkpoint has weights in.

    errors: RowError
    """
    stored = next(_stored(storage, where, choice.name), None)
    if stored is not None and allowed(storage, where, choice) is None:
        raise RowError(f"{where}: {stored.format.refusal}")


def unread(storage: Storage) -> list[str]:
    """Files that end as weights do, beside config.json or one folder below, of which none has a
    name by which weights are found; sorted.
    """
    if next(_stored(storage, ""), None) is not None:
        return []
    patterns = {f"{folder}*{suffix}" for folder in ("", "*/") for suffix in suffixes()}
    names = sorted({name for pattern in patterns for name in storage.matching(pattern)})
    return [
        name
        for name in names
        if not any(fnmatchcase(name.rpartition("/")[2], pattern) for pattern in OF_TRAINING)
    ]


def is_complete(storage: Storage, where: str) -> bool:
    """Whether a storage has config.json and all files of the weights in their first format."""
    stored = next(_stored(storage, where), None)
    if stored is None or not stored.format.is_read:
        return False
    return all(map(storage.has, stored.format.files(stored.file))) and (
        storage.has("config.json") or "config.json" in stored.texts()
    )


def files(storage: Storage, where: str, name: str = "") -> set[str]:
    """The names of all files of weights, in any format, or of those that are opened through the
    file ``name``.
    """
    return {
        name
        for stored in _stored(storage, where, name)
        for name in stored.format.files(stored.file)
    }


def _stored(storage: Storage, where: str, name: str = "") -> Iterator[Weights]:
    if name:
        yield _named(storage, where, name)
        return
    found = [
        Weights(file_format, WeightsFile(storage, first, where))
        for file_format in all_formats()
        if (
            first := next(
                (name for pattern in file_format.names for name in storage.matching(pattern)), None
            )
        )
        is not None
    ]
    yield from [weights for weights in found if weights.format.is_read] or found


def _named(storage: Storage, where: str, name: str) -> Weights:
    by_name = (
        known
        for known in all_formats()
        if any(fnmatchcase(name, pattern) for pattern in known.names)
    )
    file_format = next(by_name, None) or next(
        (known for known in all_formats() if name.endswith(known.suffixes)), None
    )
    if file_format is None:
        raise RowError(
            f"{where}: {name!r} is no file of weights in a known format; expected one that ends"
            f" with {', '.join(suffixes())}"
        )
    if not storage.has(name):
        raise RowError(f"{where}: no file {name!r}; expected the weights that the row names")
    return Weights(file_format, WeightsFile(storage, name, where))
