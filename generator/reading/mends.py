"""What would make one checkpoint encode position as another: changes of its settings, each of which
is tried before it is said.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

from generator.checkpoints.files.json_object import parse_config
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import CONFIG
from generator.checkpoints.model.keys import concerns_position, with_value
from generator.contracts import Comparison, Encoding, Json, Mend
from generator.contracts.model_config import HEAD_DIM, PAIR_ORDER, ROPE, ROTATED_PART, SIZES, TEXT
from generator.encodings import Rotation
from generator.errors import RowError
from generator.reading import json_patch, mends_in_gguf
from generator.reading.comparison import WORDING, compared
from generator.reading.evidence import evidence
from generator.reading.plan import Task
from generator.reading.sides import Side, sides_of
from generator.reading.taken import agreed, by_rotation, is_read, ours_of, taken

# Shapes of weights follow from them.
OF_WEIGHTS = frozenset(
    {name for size, names in SIZES.items() if size != "n_positions" for name in names}
    | {*HEAD_DIM, ROTATED_PART}
)
# Differences of weights, whatever the settings are.
WEIGHTS_DIFFER = frozenset({"n_layers", "shape", "values", "scheme_alone"})
PARAMETERS, SCALING = ROPE
BASE, LOCAL_BASE = "rope_theta", "rope_local_base_freq"
# What stands in each file in its own words.
IN_WORDS = frozenset({*ROPE, BASE, LOCAL_BASE, *SIZES["n_positions"]})
UNSCALED = {"rope_type": "default"}
ABSENT = object()


def mended(one: Task, other: Task) -> Mend:
    """What would make the checkpoint of ``other`` encode position as that of ``one``.

    errors: RowError, NotReachedError
    """
    return mend_of(*sides_of(one, other))


def mend_of(one: Side, other: Side) -> Mend:
    """What would make ``other`` encode position as ``one``."""
    found, files = compared(one, other), other.files
    if found.verdict != "different":
        return Mend(found.verdict, sentences=_incomparable(found))
    tried, mend = [found], None
    if isinstance(files, FolderFiles) and is_read(files.config):
        mend = _of_config(one, other, files, tried)
    elif isinstance(files, FolderFiles) and files.config.source.endswith(mends_in_gguf.GGUF):
        mend = _of_gguf(one, other, files, tried)
    else:
        return Mend(found.verdict, sentences=(WORDING("not_mended", source=files.config.source),))
    left = min(tried, key=lambda each: len(each.differences))
    return mend or Mend(found.verdict, sentences=(_left(left, one, other),))


def _of_config(one: Side, other: Side, files: FolderFiles, tried: list[Comparison]) -> Mend | None:
    own = _own(files)
    for settings in _settings(one, other, own):
        if _makes_equal(one, files, settings, tried):
            patch = json_patch.operations(own, _for_all(settings, files.where))
            return Mend("different", tuple(patch))
    return None


def _of_gguf(one: Side, other: Side, files: FolderFiles, tried: list[Comparison]) -> Mend | None:
    for settings in mends_in_gguf.tries(one, other):
        if _makes_equal(one, files, settings, tried):
            needed = dict(settings)
            for key in mends_in_gguf.cannot_be_set(settings, other):
                value = needed.pop(key)
                if not _makes_equal(one, files, needed, tried):
                    needed[key] = value
            return mends_in_gguf.mend(needed, other)
    return None


def _incomparable(found: Comparison) -> tuple[str, ...]:
    return () if found.verdict.startswith("equal") else (WORDING("incomparable"),)


def _left(found: Comparison, one: Side, other: Side) -> str:
    """That no change of settings was found, and what would still differ."""
    sizes = [
        {(each.part, each.form.head_dim) for each in side.rotations.values() if each.is_of_words}
        for side in (one, other)
    ]
    is_of_weights = sizes[0] != sizes[1] or any(
        each.kind in WEIGHTS_DIFFER for each in found.differences
    )
    texts = [each.text for each in found.differences]
    return WORDING("unmended", texts=texts, is_of_weights=is_of_weights)


def _makes_equal(one: Side, files: FolderFiles, changed: Json, tried: list[Comparison]) -> bool:
    """Whether files with other settings encode position as ``one``; what is found is added to
    ``tried``.
    """
    with suppress(RowError):
        if changed and (other := files.with_settings(changed)) is not None:
            tried.append(compared(one, Side.of("B", other)))
            return tried[-1].verdict.startswith("equal")
    return False


def _own(files: FolderFiles) -> Json:
    """What stands in config.json."""
    return parse_config(files.read(CONFIG) or b"{}", files.where)


def _settings(one: Side, other: Side, own: Json) -> Iterator[Json]:
    """Settings with which ``other`` may encode position as ``one``: with its keys, or its values
    in keys that ``other`` has.
    """
    files = one.files
    followed = {
        key.split(".")[-1]
        for side in (one, other)
        for by_parameter in evidence(side.files.config).keys.values()
        for keys in by_parameter.values()
        for key in keys
    } | PAIR_ORDER.keys()
    if isinstance(files, FolderFiles) and is_read(files.config):
        yield _with_theirs(own, _own(files), followed)
    yield _in_own_words(one, other, own, followed)


def _with_theirs(
    own: Json, theirs: Json, followed: Collection[str], path: tuple[str, ...] = ()
) -> Json:
    """``own`` with those of ``theirs`` that concern position or are ``followed``, and without those
    that these lack.
    """
    made = {}
    for name in dict.fromkeys((*own, *theirs)):
        a, b = theirs.get(name, ABSENT), own.get(name, ABSENT)
        is_of_position = concerns_position((*path, name)) or name in followed
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            value: Any = _with_theirs(b, a, followed, (*path, name))
        else:
            value = a if is_of_position and name not in OF_WEIGHTS else b
        if value is not ABSENT:
            made[name] = value
    return made


def _in_own_words(one: Side, other: Side, settings: Json, followed: Collection[str]) -> Json:
    """``settings`` with rotation, context and layers of ``one``, as ``other`` writes them."""
    config, inner, path = other.files.config, settings, tuple[str, ...]()
    while name := next((name for name in TEXT if isinstance(inner.get(name), Mapping)), ""):
        path, inner = (*path, name), inner[name]
    theirs = {n: v for n, v in one.files.config.text_model.settings.items() if n not in IN_WORDS}
    merged = _with_theirs(inner, {**inner, **theirs}, followed)
    changed = {**merged, **_rotation(one, other, inner)}
    changed = {name: value for name, value in changed.items() if value is not ABSENT}
    settings = with_value(settings, path, changed) if path else changed
    length = config.path_of("n_positions")
    return with_value(settings, length, one.context) if length and one.context else settings


def _rotation(one: Side, other: Side, inner: Json) -> Json:
    """Keys for base, scaling and share of the rotation of ``one``."""
    by_kind = {
        layer.type.replace(" ", "_"): one.rotations[key]
        for layers in one.layers.values()
        for layer in layers
        for key in layer.encodings or ()
        if key in one.rotations and one.rotations[key].is_of_words
    }
    if not by_kind:
        return {}
    first = by_kind.get("full_attention", next(iter(by_kind.values())))
    block = inner.get(PARAMETERS)
    shares = _share(first, other)
    if isinstance(block, Mapping) and any(isinstance(each, Mapping) for each in block.values()):
        of_kinds = {kind: _block(by_kind.get(kind, first), each) for kind, each in block.items()}
        return {PARAMETERS: of_kinds, **shares}
    if isinstance(block, Mapping):
        return {PARAMETERS: {**_block(first, block), **shares}}
    parameters = first.record.parameters
    made = {BASE: parameters["base"], SCALING: parameters["scaling"] or ABSENT, **shares}
    if LOCAL_BASE in inner and "sliding_attention" in by_kind:
        made[LOCAL_BASE] = by_kind["sliding_attention"].record.parameters["base"]
    return made


def _block(rotation: Encoding[Rotation], own: Json) -> Json:
    """A section for a rotation; own: the one there, of which what is no scaling stays"""
    parameters = rotation.record.parameters
    kept = {name: own[name] for name in ("partial_rotary_factor", "mrope_section") if name in own}
    return {**kept, **(parameters["scaling"] or UNSCALED), BASE: parameters["base"]}


def _share(rotation: Encoding[Rotation], other: Side) -> Json:
    """The key of ``other`` for the rotated components, where it has other ones."""
    size, head = rotation.form.rotary_dim, rotation.form.head_dim
    for each in other.rotations.values():
        origin = each.record.origins.get("rotary_dim")
        if each.is_of_words and each.form.rotary_dim != size and origin is not None:
            names = [key.split(".")[-1] for key in origin.keys]
            return {name: size if "dim" in name else size / head for name in names
                    if name not in OF_WEIGHTS}  # fmt: skip
    return {}


def _for_all(settings: Json, where: str) -> Json:
    """``settings`` with the rotation in both spellings, where programs take different ones."""
    every = taken(settings, where)
    ours = ours_of(every)
    if ours.rotations and not all(group[0].turns_as(ours) for group in by_rotation(every)):
        for path, value in agreed(settings, where).items():
            settings = with_value(settings, tuple(path.split(".")), value)
    return settings
