"""The weights of a checkpoint: which file formats it has, and which of them is read."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase

from generator.checkpoints.files import formats
from generator.checkpoints.files.library_errors import as_row_error
from generator.checkpoints.files.unread_folders import unread_folder
from generator.contracts import FileFormat, Storage, StoredTensor, WeightsFile, discovery
from generator.contracts.file_formats import FIRST_BYTES, file_label
from generator.errors import RowError
from generator.text import enumerated


@dataclass(frozen=True)
class Choice:
    """What a row says of its weights.

    pickle: whether a pickle may be opened; name: of the file of weights, "" for the preferred one
    place: key and value by which the row names the checkpoint; empty without a row
    """

    pickle: bool = False
    name: str = ""
    place: Sequence[str] = ()

    def row(self, known: "FileFormat", name: str) -> str:
        """The row that opens the file ``name`` in the format ``known``, as a list has it."""
        where = self.place[-1] if self.place else ""
        is_found = file_label(where, name) == where or _has_name(known, name)
        options = dict(zip(self.place[::2], self.place[1::2], strict=True))
        options |= {} if is_found else {"weights": name}
        return f"`{row_text(options, bool(known.refusal))}`"


ANY = Choice()
CONFIG = "config.json"
MOST_TRIED = 32  # files without a known name whose first bytes are looked at
MOST_NAMED = 3  # files that a message names
# Text that YAML reads as text, within braces too.
PLAIN = re.compile(r"(?!(true|false|null|yes|no|on|off)$)([A-Za-z_/]|\.{1,2}/)[\w./@+=*-]*", re.I)
# Files of training programs that end as files of weights do.
OF_TRAINING = (
    "training_args.bin",
    "optimizer*",
    "scheduler*",
    "scaler*",
    "rng_state*",
    "random_states*",
    "sampler*.bin",
    "hyperparameters*",
)
TEXTS = (".*", "*.md", "*.txt", "*.json", "*.jsonl", "*.py", "*.yaml", "*.yml", "*.model", "*.log")
DATA = ("*.npy",)  # Such a file beside a config.json may hold anything.


@dataclass(frozen=True)
class Weights:
    """The weights of a checkpoint in one format."""

    format: FileFormat
    file: WeightsFile

    def open(self) -> Mapping[str, StoredTensor]:
        """The tensors by name.

        errors: RowError, and those of ``Storage``
        """
        with as_row_error(self.file.label, "a complete file of weights"):
            return self.format.open(self.file)

    def texts(self) -> Mapping[str, bytes]:
        """Small files within the weights, by name.

        errors: RowError, and those of ``Storage``
        """
        with as_row_error(self.file.label, "a complete file of weights"):
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
        check_none_unread(storage, where, choice)
        pickled = next(file_format for file_format in all_formats() if file_format.refusal)
        return Weights(pickled, WeightsFile(storage, pickled.names[0], where))
    return first


def check_allowed(storage: Storage, where: str, choice: Choice) -> None:
    """Check that the row allows one of the formats that a checkpoint has weights in.

    errors: RowError
    """
    stored = refused(storage, where, choice)
    if stored is not None:
        row = choice.row(stored.format, stored.file.name)
        raise RowError(f"{where}: {stored.format.refusal.format(row=row)}")


def refused(storage: Storage, where: str, choice: Choice) -> Weights | None:
    """The weights of a checkpoint that has them only in formats that the row does not allow; None
    for any other.

    errors: RowError where the row names a file that is missing or in no known format
    """
    stored = next(_stored(storage, where, choice.name), None)
    return stored if stored and allowed(storage, where, choice) is None else None


def begins_as_its_format(stored: Weights) -> bool:
    """Whether a file begins as those of its format do, as far as they begin alike."""
    return not stored.format.begins or (
        _by_first_bytes(stored.file.storage, stored.file.name) is stored.format
    )


def checkpoints_in(storage: Storage, where: str) -> list[str]:
    """What rows may name of a folder, without those below: "" for the folder itself, or each of
    several files in it that may be weights; empty where it holds no checkpoint.

    Looks at names, and at the first bytes of files whose names say nothing.

    errors: those of ``Storage``
    """
    stored = next(_stored(storage, where), None)
    if stored is not None and "/" not in stored.file.name:
        return [] if any(fnmatchcase(stored.file.name, kind) for kind in DATA) else [""]
    is_layout = unread_folder(storage, where) is not None
    own = [name for name in _unread(storage) if "/" not in name]
    named = [name for name in own if not any(fnmatchcase(name, kind) for kind in DATA)]
    if named and stored is None and not is_layout:
        return named
    return [""] if storage.has(CONFIG) or is_layout else []


def check_none_unread(storage: Storage, where: str, choice: Choice) -> None:
    """Check that there are no weights besides those that are found by their names.

    errors: RowError, with a row that would open them or a way to convert them
    """
    if choice.name or next(_stored(storage, where), None) is not None:
        return
    if (unread := unread_folder(storage, where)) is not None:
        found, advice = unread
        raise RowError(f"{where}: {found}, which is not read; expected whole tensors ({advice})")
    names = _unread(storage)
    row = (
        choice.row(known, names[-1]) if names and (known := _format_of(storage, names[-1])) else ""
    )
    if storage.has(CONFIG) and names:
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        raise RowError(
            f"{where}: weights only in {names[-1]!r}{more}, which no row reads unasked; expected"
            f" weights beside config.json under their usual name, or the row {row}"
        )
    if names:
        others = [f"{len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else []
        listed = enumerated([*names[-MOST_NAMED:], *others])
        raise RowError(
            f"{where}: no config.json, and {len(names):,} files that may be the weights ({listed});"
            f" expected one, by an entry such as {row}"
        )


def is_complete(storage: Storage, where: str) -> bool:
    """Whether a storage has config.json and all files of the weights in their first format."""
    stored = next(_stored(storage, where), None)
    if stored is None or not stored.format.is_read:
        return False
    return all(map(storage.has, stored.format.files(stored.file))) and (
        storage.has(CONFIG) or CONFIG in stored.texts()
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
    if not found and not storage.has(CONFIG) and unread_folder(storage, where) is None:
        names = _unread(storage)
        if len(names) == 1:
            yield _named(storage, where, names[0])


def _named(storage: Storage, where: str, name: str) -> Weights:
    if not storage.has(name):
        raise RowError(f"{where}: no file {name!r}; expected the weights that the row names")
    file_format = _format_of(storage, name)
    if file_format is None:
        raise RowError(
            f"{where}: {name!r} is no file of weights in a known format; expected one that ends"
            f" with {', '.join(suffixes())}"
        )
    return Weights(file_format, WeightsFile(storage, name, where))


def _unread(storage: Storage) -> list[str]:
    """Files that may be weights, of which none has a name by which weights are found: those that
    end as such files do, beside config.json or one folder below, sorted.

    Without config.json, those in the folder come before those below, and both before those that
    only begin as such files do.
    """
    ends = {f"*{suffix}" for suffix in suffixes()}
    if storage.has(CONFIG):
        return _plausible(storage, [*ends, *(f"*/{end}" for end in ends)], DATA)
    below = [] if storage.matching(f"*/{CONFIG}") else [f"*/{end}" for end in ends]
    names = _plausible(storage, ends) or _plausible(storage, below)
    tried = () if names else _plausible(storage, ["*"], TEXTS)[:MOST_TRIED]
    indexes = [name for name in names if name.endswith(".json")]
    return indexes or names or [name for name in tried if _by_first_bytes(storage, name)]


def _plausible(
    storage: Storage, patterns: Sequence[str] | set[str], others: Sequence[str] = ()
) -> list[str]:
    """Files that match one of ``patterns`` and neither ``others`` nor a file of a training
    program.
    """
    names = sorted({name for pattern in patterns for name in storage.matching(pattern)})
    left_out = (*OF_TRAINING, *others)
    return [
        name
        for name in names
        if not any(fnmatchcase(name.rpartition("/")[2], pattern) for pattern in left_out)
    ]


def _has_name(known: FileFormat, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in known.names)


def _format_of(storage: Storage, name: str) -> FileFormat | None:
    by_name = (known for known in all_formats() if _has_name(known, name))
    by_end = (known for known in all_formats() if name.endswith(known.suffixes))
    return next(by_name, None) or next(by_end, None) or _by_first_bytes(storage, name)


def _by_first_bytes(storage: Storage, name: str) -> FileFormat | None:
    with suppress(RowError):  # As for a folder.
        first = storage.part(name, 0, min(FIRST_BYTES, storage.size(name)))
        return next(
            (known for known in all_formats() if known.begins and known.begins.match(first)), None
        )
    return None


def row_text(options: Mapping[str, str], pickle: bool) -> str:
    """A row of a list in one line. options: by key; pickle: whether it allows one"""
    written = [f"{key}: {scalar(value)}" for key, value in options.items()]
    return f"- {{{', '.join(written + ['pickle: true'] * pickle)}}}"


def scalar(text: str) -> str:
    """``text`` as YAML has it."""
    if PLAIN.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())
