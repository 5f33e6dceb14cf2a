"""The two checkpoints of a comparison: what is known of each alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from generator.checkpoints.files.planned import PartlyReadFiles
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.families import NOT_MAPPED
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.open_questions import rejections
from generator.contracts import (
    Difference,
    Encoding,
    Files,
    Layer,
    ModelConfig,
    usable_length,
)
from generator.contracts.wording import Wording
from generator.encodings import Form, NoEncoding, Rotation
from generator.errors import NotNumbersError
from generator.reading.evidence import look_closely
from generator.reading.find import Found, all_schemes
from generator.reading.plan import Task, opened
from generator.reading.questions import parts_not_understood
from generator.reading.shipped import opened_or_shipped
from generator.reading.taken import is_read

WORDING = Wording("wording/comparison.jinja")
Key = tuple[str, str]
# Pairs that turn by time, by height and by width, and the kind of a rotation with them.
SECTIONS, OF_SECTIONS = "mrope_section", "mrope"
WIDTH = "head_dim"  # of an attention head


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two.

    encodings: by key; layers: by part; asked: on encodings that its settings ask for, and parts,
        that are not understood, a sentence each
    shipped: that its settings are those that the program has of it, as a sentence; "" where its
        own files are open
    """

    name: str
    files: Files
    found: Found
    encodings: Mapping[str, Encoding[Form]]
    layers: Mapping[str, list[Layer]]
    asked: tuple[str, ...]
    shipped: str = ""

    @classmethod
    def of(cls, name: str, files: Files) -> "Side":
        """The side of a checkpoint. errors: RowError"""
        found = look_closely(files)
        layers: dict[str, list[Layer]] = {}
        for layer in layer_map(files, found.all, is_complete=found.is_complete):
            layers.setdefault(layer.part, []).append(layer)
        asked = [sentence for scheme in all_schemes() for sentence in scheme.asks(files)]
        asked += [*parts_not_understood(files), *rejections(files)]
        return cls(name, files, found, {one.key: one for one in found.all}, layers, tuple(asked))

    @property
    def rotations(self) -> dict[str, Encoding[Rotation]]:
        """Its rotations, by key."""
        found: dict[str, Any] = {
            key: one for key, one in self.encodings.items() if isinstance(one.form, Rotation)
        }
        return found

    @property
    def context(self) -> int | None:
        """Positions that a text may have; None where its settings do not give them."""
        return usable_length(self.files.config.size("n_positions"), self.encodings.values())

    @property
    def blocks_of_sections(self) -> list[ModelConfig]:
        """Its settings of rotations with pairs for time, height and width."""
        return [each for each in self.files.config.nested() if each.listed(SECTIONS)]

    @property
    def word_of_sections(self) -> str | None:
        """The kind of rotation that such settings name, None where they name none."""
        words = [each.text("type") or each.text("rope_type") for each in self.blocks_of_sections]
        return next(filter(None, words), None)

    @property
    def filled_context(self) -> int | None:
        """``context``, or that of the config class of its family where its settings give none."""
        given = self.files.resolved.config.size("n_positions") if self.class_of_words else None
        return self.context or usable_length(given, self.encodings.values())

    @property
    def class_of_words(self) -> str:
        """The config class that fills in what its settings of words lack, "" without one."""
        parts = [one.part for one in self.encodings.values() if one.is_of_words]
        is_own = self.files.config.keys_of_file is not None  # Of another program's words.
        return self.files.resolved.default_of(parts[0]) if parts and not is_own else ""

    @property
    def without_layers(self) -> str:
        """Why none of its layers is known, as a sentence."""
        resolved, family = self.files.resolved, self.files.resolved.readable.family
        about = {"is_known": resolved.stacks[0].has_code, "is_unsaid": family in NOT_MAPPED}
        return WORDING("no_layers", side=self.name, family=family, **about)

    def unmapped_layers(self, other: "Side") -> Iterator[Difference]:
        """Other numbers of layers, of parts of which no more is known, as of families whose layers
        do what no map can say.
        """
        if self.layers or other.layers:
            return
        a, b = (
            {one.part: len(one.layers) for one in side.files.resolved.stacks if one.has_code}
            for side in (self, other)
        )
        for part in (one for one in a if a[one] and b.get(one, a[one]) not in (0, a[one])):
            text = WORDING("n_layers", part=part, a=a[part], b=b[part])
            yield Difference("n_layers", part, text)

    @property
    def is_open(self) -> bool:
        """Whether it may have more encodings than were found."""
        return bool(self.asked) or not self.found.is_complete

    def has_other_heads(self, key: str, other: "Side", other_key: str) -> bool:
        """Whether the heads of a rotation have another width than those of one of ``other``, where
        both are of one family, and a key of each config.json gives it; not of latent attention,
        whose keys give other widths.
        """
        one, another = self._heads(key), other._heads(other_key)
        if one is None or another is None:
            return False
        return one[0] == another[0] and one[1] != another[1]

    def _heads(self, key: str) -> tuple[str, int] | None:
        config, record = self.files.config, self.rotations[key].record
        origin = record.origins.get(WIDTH)
        is_given = origin is not None and {each.split(".")[-1] for each in origin.keys} == {WIDTH}
        if not is_given or config.is_latent or not is_read(config):
            return None
        return config.text_model.family, int(record.parameters[WIDTH])

    def beside(self, parts: Sequence[str]) -> dict[Key, Encoding[Form]]:
        """Encodings by part and scheme, without the rotations in layers of ``parts``."""
        in_layers = {
            key for part in parts for layer in self.layers[part] for key in layer.encodings or ()
        }
        return {
            (one.part, one.scheme): one
            for key, one in self.encodings.items()
            if not isinstance(one.form, NoEncoding)
            and not (isinstance(one.form, Rotation) and key in in_layers)
        }


Sides = tuple[Side, Side]


def comparable(name: str, files: Files) -> Side:
    """The side of a checkpoint, where tensors of types that are no numbers have none.

    errors: RowError
    """
    try:
        return Side.of(name, files)
    except NotNumbersError:
        if not isinstance(files, FolderFiles):
            raise
        return Side.of(name, PartlyReadFiles(files))


def sides_of(one: Task, other: Task) -> "Sides":
    """The sides of two tasks. errors: RowError, NotReachedError"""
    for task in (one, other):
        if task.problem is not None:
            raise task.problem
    return comparable("A", opened(one)), comparable("B", opened(other))


def sides_or_shipped(one: Task, other: Task) -> "Sides":
    """As ``sides_of``, where one that is not reached and names no revision may have the published
    config that the program has of it.
    """
    if any(task.problem or task.listed for task in (one, other)):
        return sides_of(one, other)
    named = zip("AB", (one, other), strict=True)
    a, b = (_or_shipped(name, task) for name, task in named)
    return a, b


def _or_shipped(name: str, task: Task) -> Side:
    files, source = opened_or_shipped(task)
    said = WORDING("shipped", side=name, id=task.checkpoint.id, source=source) if source else ""
    return replace(comparable(name, files), shipped=said)
