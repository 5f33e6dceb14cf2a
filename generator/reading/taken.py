"""What each program takes from one config.json, and where two of them differ."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.weights import CONFIG
from generator.checkpoints.model import origins
from generator.checkpoints.model.families import COUNTED_AS_ROWS, TURN_HALVES
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.resolved import is_ungated
from generator.contracts import ConfigReader, Json, ModelConfig, discovery
from generator.contracts.model_config import ROPE, TEXT
from generator.encodings import Rotation
from generator.encodings.rotations import yarn_magnitude
from generator.errors import RowError
from generator.reading import programs
from generator.reading.find import find
from generator.reading.registered import WITH_OTHERS, registered, without_code

CLOSE = 1e-4  # Relative, of frequencies and factors.
# What the code of a program meets in settings of another type than it expects.
ODD = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError)
OURS = "transformers5"  # In whose words this program reads.
OLDER = "transformers4"
BASE = re.compile(r"theta|base")  # In names of settings.
OF_TABLE = (None, "absolute")  # Kinds of position encoding, by the word of a config.
FACTOR = "attention_factor"
WITHOUT: Json = {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": True}  # What YaRN has without.


@dataclass(frozen=True)
class Taken:
    """What one program takes.

    rotations: of words, by their part, and what defines each; windows: of each layer that is not of
        sound, in positions with the query, None without one; chunks: likewise; limit: of its
        positions, and limit_elsewhere: other files in which that is, where they have one
    pair_order: which components of a head it turns together, "" where that is not known; logits:
        by what it multiplies all attention logits where a scaling of latent attention says so
    refused: why it refuses the file, "" otherwise; is_known: whether what it takes is known
    without_code: architectures for which it has no code of its own
    """

    reader: ConfigReader
    rotations: Mapping[str, Rotation] = field(default_factory=dict)
    parameters: Mapping[str, Json] = field(default_factory=dict)
    windows: tuple[int | None, ...] = ()
    chunks: tuple[int | None, ...] = ()
    limit: int | None = None
    limit_elsewhere: tuple[str, ...] = ()
    pair_order: str = ""
    logits: float = 1.0
    refused: str = ""
    is_known: bool = True
    without_code: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The program and its version."""
        version = registered(self.reader.key)["version"] if self.without_code else ""
        return f"{self.reader.name} {version or self.reader.version}"

    @property
    def words(self) -> list[str]:
        """Its rotations, each once."""
        return list(dict.fromkeys(map(origins.rotation_in_words, self.parameters.values())))

    @property
    def windows_that_limit(self) -> list[Json]:
        """Windows below its limit, by their size, with the number of their layers."""
        return self._limiting(self.windows)

    def _limiting(self, given: Sequence[int | None]) -> list[Json]:
        sizes = [size for size in given if size and not (self.limit and size >= self.limit)]
        return [{"size": size, "count": sizes.count(size)} for size in dict.fromkeys(sizes)]

    def sentence(self, source: str, ours: "Taken") -> tuple[str, Json]:
        """What it takes, as a kind of sentence of the rule ``readers`` and the values in it.

        ours: what transformers 5 takes
        """
        readers = {"readers": [self.name]}
        if self.refused:
            return "refused", {**readers, "reason": self.refused}
        if self.without_code:
            is_own = self.reader.key in WITH_OTHERS
            return "no_code", {**readers, "names": self.without_code, "is_own": is_own}
        if not self.is_known:
            return "not_known", {**readers, "source": source}
        layers = {"windows": self.windows_that_limit, "n_layers": len(self.windows)}
        layers["chunks"] = self._limiting(self.chunks)
        limits = {"limit": self.limit, "elsewhere": self.limit_elsewhere}
        limits["has_limit"] = self.reader.has_limit
        apart = None if self.has_angles_of(ours) else self.apart(ours)
        rotation = {"theirs": self.words, "apart": apart, "factors": self.factors_apart(ours)}
        return "alone", {**readers, "source": source, **rotation, **layers, **limits}

    def turns_as(self, other: "Taken") -> bool:
        """Whether its rotations are those of ``other``."""
        return self.has_angles_of(other) and not self.factors_apart(other)

    def has_angles_of(self, other: "Taken") -> bool:
        """Whether its rotations turn the same pairs as those of ``other``, by the same angles."""
        return self.rotations.keys() == other.rotations.keys() and all(
            form.frequencies.shape == (twin := other.rotations[part]).frequencies.shape
            and np.allclose(form.frequencies, twin.frequencies, rtol=CLOSE, atol=0.0)
            for part, form in self.rotations.items()
        )

    def factors_apart(self, other: "Taken") -> list[tuple[float, float]]:
        """By what it and ``other`` multiply sines and cosines, of the first rotation in which the
        two differ; empty where they do not.
        """
        every = [
            (form.attention_factor, other.rotations[part].attention_factor)
            for part, form in self.rotations.items()
            if part in other.rotations
        ]
        return [pair for pair in every if not math.isclose(*pair, rel_tol=CLOSE)][:1]

    def settings_apart(self, other: "Taken") -> list[Json]:
        """Settings of scalings of one kind that ``other`` takes, and it does not, or otherwise;
        not those that say what it has without them.
        """
        every = [
            {"name": name, "theirs": form.scaling.get(name), "ours": value}
            for part, form in self.rotations.items()
            if (twin := other.rotations.get(part)) and form.rope_type == twin.rope_type
            for name, value in sorted(twin.scaling.items())
            if form.scaling.get(name, WITHOUT.get(name)) != value
            and not isinstance(value, list | tuple)
            and (
                name != FACTOR
                or not math.isclose(form.attention_factor, float(str(value)), rel_tol=CLOSE)
            )
        ]
        return [one for index, one in enumerate(every) if one not in every[:index]]

    def apart(self, other: "Taken") -> float | None:
        """Radians a position by which angles part at most; None where pairs are not the same."""
        steps = [
            np.abs(form.frequencies - twin.frequencies).max()
            for part, form in self.rotations.items()
            if (twin := other.rotations.get(part)) is not None
            and twin.frequencies.shape == form.frequencies.shape
        ]
        return float(max(steps)) if steps else None


@cache
def all_readers() -> tuple[ConfigReader, ...]:
    """Every reader, by its key."""
    return tuple(sorted(discovery.load(programs, ConfigReader), key=lambda reader: reader.key))


def is_read(config: ModelConfig) -> bool:
    """Whether settings are those of a config.json, in its own words."""
    return bool(config.settings) and config.source == CONFIG and config.keys_of_file is None


def without_base(config: ModelConfig) -> str:
    """Where a config.json has a section of a rotation as transformers 5 writes it, which has a base
    always, and neither there nor around it a base; "" where it has none such.
    """
    for part in config.nested() if is_read(config) else ():
        block = part.section(ROPE[0])
        inner = list(block.sections.values()) if block is not None else []
        blocks = inner or ([block] if block is not None and block.settings else [])
        if any(BASE.search(name) for name in part.settings):
            continue
        if any(not any(map(BASE.search, each.settings)) for each in blocks):
            return ROPE[0]
    return ""


def taken(settings: Json, where: str) -> tuple[Taken, ...]:
    """What each reader takes from the settings of a config.json."""
    return _taken(json.dumps(settings, default=str), where)


@lru_cache(maxsize=4)  # Several rules ask.
def _taken(text: str, where: str) -> tuple[Taken, ...]:
    settings = json.loads(text)
    known: dict[str, Taken] = {}  # Most take the same.
    return tuple(taken_by(reader, settings, where, known) for reader in all_readers())


def taken_by(reader: ConfigReader, settings: Json, where: str, known: dict[str, Taken]) -> Taken:
    """What one reader takes. known: by what settings mean to transformers 5, to which that of this
    reader is added
    """
    if (names := without_code(reader.key, settings)) is not None:
        return Taken(reader, is_known=False, without_code=names)
    try:
        meant = reader.takes(settings)
    except RowError as error:
        return Taken(reader, refused=str(error))
    except ODD:
        meant = None
    if meant is None:
        return Taken(reader, is_known=False)
    files, key = ConfigAlone(meant, where), json.dumps(meant, sort_keys=True, default=str)
    try:
        if files.resolved.refused and meant == settings:  # By the class that this reader uses.
            return Taken(reader, refused=files.resolved.refused)
        one = known[key] = known.get(key) or _of(reader, files)
        return _with_own_ways(one, reader, files, settings)
    except (*ODD, RowError):  # This program cannot read it.
        return Taken(reader, is_known=False)


def _of(reader: ConfigReader, files: ConfigAlone) -> Taken:
    """errors: RowError"""
    if files.resolved.refused:
        raise RowError(files.resolved.refused)
    found = find(files)
    turning = {
        one.part: one
        for one in found
        if isinstance(one.form, Rotation) and one.is_of_words
    }  # fmt: skip
    of_sound = {stack.part for stack in files.resolved.stacks if stack.modality == "audio"}
    layers = [layer for layer in layer_map(files, found) if layer.part not in of_sound]
    is_dropped = any(map(is_ungated, files.config.nested()))
    windows = [
        layer.width if "sliding" in layer.mixers and not is_dropped else None for layer in layers
    ]
    chunks = [layer.width if "chunked" in layer.mixers else None for layer in layers]
    forms: dict[str, Any] = {part: one.form for part, one in turning.items()}
    parameters = {part: one.record.parameters for part, one in turning.items()}
    limit = _without_rows_before(files.resolved.config.text_model)
    magnitudes = [yarn_magnitude(form.scaling) for form in forms.values()]
    logits = max(filter(None, magnitudes), default=1.0) if files.config.is_latent else 1.0
    return Taken(reader, forms, parameters, tuple(windows), tuple(chunks), limit, logits=logits)


def _without_rows_before(text: ModelConfig) -> int | None:
    """The length without rows of a position table that stand for no position (RoBERTa's)."""
    length = text.size("n_positions")
    has_rows = text.family in COUNTED_AS_ROWS and text.text("position_embedding_type") in OF_TABLE
    if length is None or not has_rows:
        return length
    padding = text.integer("pad_token_id")
    return length - 1 - (1 if padding is None else padding)


def _with_own_ways(one: Taken, reader: ConfigReader, files: ConfigAlone, file: Json) -> Taken:
    """file: settings of the config.json, which ``files`` have in words of transformers 5"""
    config: Any = files.resolved.config.settings
    text = next((config[name] for name in TEXT if isinstance(config.get(name), Mapping)), config)
    limit, windows = one.limit if reader.has_limit else None, one.windows
    if reader.limit is not None:
        blocks = [p["scaling"] for p in one.parameters.values() if p.get("scaling")]
        limit = reader.limit(text, blocks)
    elsewhere = tuple(reader.limit_elsewhere(file)) if reader.limit_elsewhere is not None else ()
    if reader.has_windows is not None and not reader.has_windows(file):
        windows = (None,) * len(windows)
    order = "halves" if files.config.text_model.family in TURN_HALVES else ""
    if reader.pair_order is not None:
        order = reader.pair_order(file)
    return replace(
        one,
        reader=reader,
        limit=limit,
        limit_elsewhere=elsewhere,
        windows=windows,
        pair_order=order,
    )


def by_rotation(every: Sequence[Taken]) -> list[list[Taken]]:
    """Those that take rotations, in groups with the same, the largest group first."""
    groups: list[list[Taken]] = []
    for one in every:
        if one.is_known and not one.refused:
            group = next((group for group in groups if group[0].turns_as(one)), None)
            if group is None:
                groups.append([one])
            else:
                group.append(one)
    return sorted(groups, key=len, reverse=True)


def together(every: Sequence[Taken], source: str) -> list[tuple[str, Json]]:
    """What each takes, as ``Taken.sentence``, once for all that take the same."""
    ours, groups = ours_of(every), dict[str, tuple[str, Json]]()
    for one in every:
        kind, values = one.sentence(source, ours)
        key = json.dumps([kind, {**values, "readers": None}], default=str)
        _, same = groups.setdefault(key, (kind, {**values, "readers": []}))
        same["readers"].append(one.name)
    return sorted(groups.values(), key=lambda group: -len(group[1]["readers"]))


def agreed(settings: Json, where: str) -> Json:
    """Keys that give the rotation in words of every program, by their path, where these make all
    that know the family take what transformers 5 takes; empty otherwise.
    """
    return next((keys for keys, others in _spelled(settings, where) if not others), {})


def beyond_mend(settings: Json, where: str) -> list[Taken]:
    """What programs take with base and scaling in both spellings that still turn otherwise than
    transformers 5; nothing where there are several rotations.
    """
    *_, (_, others) = [({}, []), *_spelled(settings, where)]
    return others


def _spelled(settings: Json, where: str) -> Iterator[tuple[Json, list[Taken]]]:
    """The base in words of every program, then with the scaling, by their path; and what programs
    take with these that turn otherwise, or refuse the file.
    """
    ours = ours_of(taken(settings, where))
    if len(ours.parameters) != 1:
        return
    [parameters] = ours.parameters.values()
    name = next((name for name in TEXT if isinstance(settings.get(name), Mapping)), "")
    base, block = {"rope_theta": parameters["base"]}, parameters.get("scaling")
    both = {**block, "type": block["rope_type"]} if block else None  # Some require the key.
    scaled = {**base, "rope_scaling": both}
    for written in (base, scaled):
        part = {**(settings[name] if name else settings), **written}
        every = taken({**settings, name: part} if name else part, where)
        others = [one for one in every if one.refused or not one.turns_as(ours)]
        keys = {f"{name}.{key}" if name else key: value for key, value in written.items()}
        yield keys, [one for one in others if one.is_known]


def ours_of(every: Sequence[Taken]) -> Taken:
    """What transformers 5 takes."""
    return next(one for one in every if one.reader.key == OURS)


def scalings_apart(one: Json, other: Json) -> list[Json]:
    """Settings of two scalings of one kind that differ, of lists the place where they do most; not
    one that says what YaRN has without it.
    """
    if one.get("rope_type") != other.get("rope_type"):
        return []
    found: list[Json] = []
    for name in sorted(one.keys() | other.keys()):
        a, b = one.get(name), other.get(name)
        if isinstance(a, list) and isinstance(b, list) and (most := most_apart(a, b)):
            found.append({"name": f"{name}[{most['place']}]", "a": most["a"], "b": most["b"]})
        elif one.get(name, WITHOUT.get(name)) != other.get(name, WITHOUT.get(name)) and all(
            isinstance(each, int | float | None) for each in (a, b)
        ):
            found.append({"name": name, "a": a, "b": b})
    return found


def most_apart(one: Sequence[float], other: Sequence[float]) -> Json | None:
    """Where two lists of positive numbers part most, and the numbers there; None where they have no
    place in common, or are equal up to rounding.
    """
    if len(one) != len(other) or np.allclose(one, other, rtol=CLOSE, atol=0.0):
        return None
    place = int(np.abs(np.log(np.divide(one, other))).argmax())
    return {"place": place, "a": one[place], "b": other[place]}
