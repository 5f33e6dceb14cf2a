"""What tells position in a checkpoint: the encodings that its settings, its weights and the code
of its family have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from generator import schemes
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import CONFIG
from generator.checkpoints.model.code_files import (
    NoOutlineError,
    is_built_as_by_default,
)
from generator.checkpoints.model.known_code import code_of, untrained
from generator.checkpoints.model.open_questions import TYPE
from generator.checkpoints.model.own_families import own_families
from generator.contracts import Encoding, Files, Resolved, Scheme, discovery, names
from generator.contracts.wording import Wording
from generator.encodings import Form, NoEncoding
from generator.errors import RowError

QUESTIONS = Wording("wording/questions.jinja")
NOTES = Wording("wording/notes.jinja")


def all_schemes() -> tuple[Scheme, ...]:
    """Every scheme, in order."""
    return discovery.load(schemes, Scheme)


def scheme_of(encoding: Encoding[Form]) -> Scheme:
    """The scheme that has found an encoding."""
    return next(scheme for scheme in all_schemes() if scheme.key == encoding.scheme)


def find(files: Files) -> list[Encoding[Form]]:
    """The encodings that any scheme recognises, in order of the schemes, those of a decoder last;
    their absence only where there is no other.

    errors: RowError, also where two schemes find their encodings in one tensor
    """
    by_scheme = {scheme: scheme.find(files) for scheme in all_schemes()}
    owners = _owners(files, by_scheme)

    def is_claimed(name: str) -> bool:
        return name in owners or any(
            scheme.claims.search(name) for scheme in by_scheme if scheme.claims
        )

    by_scheme = {
        scheme: found + (scheme.find_last(files, is_claimed) if scheme.find_last else [])
        for scheme, found in by_scheme.items()
    }
    _owners(files, by_scheme)  # Again: two of the last may have one tensor, too.
    encodings = [
        _with_notes(files, encoding)
        for found in by_scheme.values()
        for encoding in found
        if _is_of_class(files, encoding)
    ]
    if not all(isinstance(encoding.form, NoEncoding) for encoding in encodings):
        encodings = [
            encoding for encoding in encodings if not isinstance(encoding.form, NoEncoding)
        ]
    return names.numbered(sorted(encodings, key=lambda encoding: encoding.stack == "decoder"))


def _is_of_class(files: Files, encoding: Encoding[Form]) -> bool:
    """Whether the named class has the side of an encoding that no stored tensor shows."""
    sides = (None, encoding.stack)
    return encoding.provenance.tensor is not None or files.resolved.side in sides


def _owners(files: Files, by_scheme: Mapping[Scheme, Sequence[Encoding[Form]]]) -> dict[str, str]:
    """The key of the scheme that has an encoding in a tensor, by its name.

    errors: RowError where two schemes have one
    """
    owners: dict[str, str] = {}
    for scheme, encodings in by_scheme.items():
        for encoding in encodings:
            name = encoding.provenance.tensor
            if name is not None and owners.setdefault(name, scheme.key) != scheme.key:
                raise RowError(
                    f"{files.where}: {name} is taken by the schemes {owners[name]} and"
                    f" {scheme.key}; expected one"
                )
    return owners


def _with_notes(files: Files, encoding: Encoding[Form]) -> Encoding[Form]:
    """``encoding`` with what there is to say of how its tensor is stored, and with the file that
    holds the settings where that is no config.json.
    """
    origin, settings_file = encoding.provenance, files.config.source
    if _is_guess(files, encoding):
        encoding = replace(encoding, is_guess=True)
    family = files.resolved.family_of(encoding.part)
    if (taught := own_families().get(family)) is not None and origin.tensor is None:
        names = [name for name in taught.settings if name not in files.config.anywhere]
        note = NOTES("own_family", family=family, source=taught.source, names=names)
        encoding = replace(encoding, notes=(*encoding.notes, note))
    if origin.tensor is not None:
        encoding = replace(encoding, notes=(*encoding.notes, *files.notes(origin.tensor)))
    if settings_file == CONFIG:
        return encoding
    notes = tuple(note.replace(CONFIG, settings_file) for note in encoding.notes)
    return replace(
        encoding,
        notes=notes,
        provenance=replace(origin, file=settings_file) if origin.file == CONFIG else origin,
    )


def _is_guess(files: Files, encoding: Encoding[Form]) -> bool:
    """Whether an encoding follows from settings whose meaning no known code shows, and which do not
    name its scheme.
    """
    config = files.config
    acts_in = files.resolved.stacks_of(encoding.part) or files.resolved.stacks
    if (
        not config.settings
        or encoding.provenance.tensor is not None
        or any(stack.has_code for stack in acts_in)
    ):
        return False
    words = {config.anywhere.text(name) for name in TYPE}
    return words.isdisjoint(scheme_of(encoding).asked_by)


@dataclass(frozen=True)
class Found:
    """What there is of a checkpoint's encodings.

    measured: from settings or weights; unmeasured: in trained tensors that the code of the family
        has, with zeros for their numbers; none where there are weights
    is_complete: whether there is no other, as weights or the family's code show
    question: why that code could not be looked through, as a sentence, "" otherwise
    """

    measured: list[Encoding[Form]]
    unmeasured: list[Encoding[Form]] = field(default_factory=list)
    is_complete: bool = True
    question: str = ""

    @property
    def all(self) -> list[Encoding[Form]]:
        """Every encoding, the measured first."""
        return [*self.measured, *self.unmeasured]


def look(files: Files) -> Found:
    """Every encoding in the settings, the weights, or the code of the family without weights.

    errors: RowError, also where weights that may hold encodings are in files that are not read
    """
    measured = find(files)
    if files.tensors:
        return Found(measured)
    found = _with_code(files, measured)
    if (found.unmeasured or not measured) and isinstance(files, FolderFiles):
        files.check_none_unread()
    return found


def _with_code(files: Files, measured: list[Encoding[Form]]) -> Found:
    """``measured``, with the encodings in trained tensors that the code of the family has, those of
    other schemes alone.
    """
    if is_untrained(files.resolved):
        return Found(measured)
    schemes_found = {encoding.scheme for encoding in measured}
    try:
        code = code_of(files.resolved)
        in_code = [] if code is None else find(code)
    # As where a size that a scheme needs is missing.
    except (NoOutlineError, RowError) as error:
        question = QUESTIONS("no_code", reason=str(error), is_partly=False)
        return Found(measured, is_complete=False, question=question)
    unmeasured = [
        encoding
        for encoding in in_code
        if encoding.provenance.tensor is not None and encoding.scheme not in schemes_found
    ]
    # A state that decays tells position.
    if any(encoding.form.tells_position for encoding in unmeasured):
        measured = [encoding for encoding in measured if not isinstance(encoding.form, NoEncoding)]
    missing = "" if code is None else code.missing
    question = QUESTIONS("no_code", reason=missing, is_partly=True) if missing else ""
    is_whole = code is not None and not missing and files.resolved.stacks[0].has_code
    return Found(measured, unmeasured, is_whole, question)


def is_untrained(resolved: Resolved) -> bool:
    """Whether the family's code is known to make no trained tensor with an encoding for a config;
    False also where only that code can tell.

    Such a config needs neither torch nor that code, whose imports take longer than all else that a
    config needs.
    """
    return resolved.given.family in untrained() and is_built_as_by_default(resolved)
