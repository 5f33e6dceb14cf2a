"""Rules of ``lint``: what of a checkpoint's position encoding others get wrong."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from generator.contracts.checkpoints import Encoding, Files
from generator.contracts.layer_map import Layer
from generator.contracts.model_config import Json
from generator.contracts.record import Record
from generator.contracts.usable_lengths import usable_length
from generator.contracts.wording import Wording
from generator.encodings import Form

# Of an error, a program computes other angles than the maker meant; a fact states what is normal.
Level = Literal["error", "warning", "note", "fact"]


@dataclass(frozen=True, eq=False)
class Examined:
    """A checkpoint as rules see it.

    encodings: with the origins of their parameters where they follow from settings
    followed: keys of the settings that an encoding follows from, nested ones with dots; of_layers:
        those that the layers follow from; unread: those that concern position and that nothing
        reads, with their values
    is_open: whether settings ask for an encoding that is not understood
    questions: what stays open, a sentence each, without ``unread`` and ``rejections``; rejections:
        a sentence for each config class that rejects the file
    reader: key of the one program of which it is said what it takes, "" for all
    """

    files: Files
    encodings: Sequence[Encoding[Form]]
    layers: Sequence[Layer]
    followed: frozenset[str] = frozenset()
    unread: Sequence[tuple[str, Any]] = ()
    is_open: bool = False
    questions: Sequence[str] = ()
    rejections: Sequence[str] = ()
    reader: str = ""
    of_layers: Sequence[str] = ()

    @property
    def context(self) -> int | None:
        """Positions that a text may have, by the settings and the tables. errors: RowError"""
        return usable_length(self.files.config.size("n_positions"), self.encodings)


@dataclass(frozen=True)
class LintFinding(Record):
    """What a rule of `lint` found."""

    rule: str
    """Its key."""
    level: Level
    """`error` where a program computes other angles than the maker meant, `warning`, `note`, or
    `fact` for what is normal."""
    text: str
    """A sentence."""
    keys: tuple[str, ...] = field(default=(), compare=False)
    """Keys of the file that it is about, with dots."""
    readers: tuple[str, ...] = field(default=(), compare=False)
    """Programs that take another value than transformers 5, with their versions, if it is about
    these."""
    values: Json = field(default_factory=dict, compare=False)
    """What its sentence says, by names that depend on its rule."""

    @property
    def is_question(self) -> bool:
        """Whether pages list what it says among what stays open."""
        return "question" in self.values


@dataclass(frozen=True)
class Linted:
    """What the rules find in a checkpoint.

    file: that with its settings, "" without one; lines: of the keys in it, where it is JSON
    """

    file: str
    findings: tuple[LintFinding, ...]
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Limit(Record):
    """A limit on the length of a text, as a file of a checkpoint states it."""

    file: str
    """The file."""
    key: str
    """The key, with dots, or the name of a table."""
    length: int | None
    """Tokens or positions; null where the file says that there is no limit."""
    text: str
    """The same in words."""


@dataclass(frozen=True)
class Rule:
    """A check of one checkpoint.

    key: the name of its module, with hyphens; levels: by the kinds of its findings, each a sentence
        of its template
    find: returns kinds, with the values in their sentences
    about: settings that it is about where a finding names none as its ``key``, ``path`` or
        ``paths``, the most telling first
    """

    key: str
    levels: Mapping[str, Level]
    find: Callable[[Examined], Iterator[tuple[str, Json]]]
    about: Sequence[str] = ()

    @property
    def wording(self) -> Wording:
        """Its title, what it looks for, why, how to mend that, an example with its thread, and a
        sentence for each kind.
        """
        return Wording(f"rules/{self.key.replace('-', '_')}.md.jinja")
