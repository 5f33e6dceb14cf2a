"""All limits on the length of a text that the files of a checkpoint state."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from generator.checkpoints.model import keys
from generator.contracts import Encoding, Files, Limit
from generator.contracts.model_config import ROPE, SIZES, TEXT, is_no_length
from generator.contracts.wording import Wording
from generator.encodings import Form, PositionTable, Rotation
from generator.errors import RowError

TEXTS = Wording("wording/limits.jinja")
UNLIMITED = 10**8  # Libraries write 10^30 for no limit.
ORIGINAL = "original_max_position_embeddings"
# What a kind of scaling multiplies.
ORIGINAL_TIMES, LINEAR = "original × factor", "context × linear factor"
DYNAMIC = "context × dynamic factor"
FACTOR = {"yarn": ORIGINAL_TIMES, "longrope": ORIGINAL_TIMES, "linear": LINEAR, "dynamic": DYNAMIC}
# Files of small JSON objects, and their keys.
BESIDE = (
    ("tokenizer_config.json", ("model_max_length", "max_length")),
    ("sentence_bert_config.json", ("max_seq_length",)),
    ("generation_config.json", ("max_length",)),
    ("preprocessor_config.json", ("model_max_length", "max_length")),
)
TOKENIZER = "tokenizer.json"
TRUNCATION = b'"truncation"'
ESCAPED = re.compile(rb"\\u00[67]")  # A small letter, which JSON may write so.
# The beginning of most files: the library tokenizers writes it second, before all words.
NO_TRUNCATION = re.compile(rb'\s*\{[^{}\[\]]*"truncation"\s*:\s*null\s*,')


def limits(files: Files, encodings: Sequence[Encoding[Form]]) -> tuple[Limit, ...]:
    """Each, the least first; those that say that there is none last."""
    of_config, beside = (
        [one for each in stated for one in _limit(*each)]
        for stated in (_of_config(files), _beside(files))
    )
    every = [*of_config, *_scaled(files, encodings), *_of_tables(encodings), *beside]
    return tuple(sorted(dict.fromkeys(every), key=lambda one: one.length or math.inf))


def no_lengths(files: Files) -> Iterator[tuple[str, str, int]]:
    """Files and keys that give 0 or -1 in place of a length, with that."""
    for _, file, key, value in (*_of_config(files), *_beside(files)):
        if is_no_length(value):
            yield file, key, value


# The kind of a limit, its file and key, and the value there, of any type.
Stated = tuple[str, str, str, Any]


def _of_config(files: Files) -> Iterator[Stated]:
    config = files.config
    for path, value in keys.leaves(config.settings):
        of_text = all(name in (*TEXT, *ROPE) for name in path[:-1])
        if of_text and path[-1] in (*SIZES["n_positions"], ORIGINAL):
            name = keys.dotted(path)
            own = (config.keys_of_file or {}).get(name, {})
            given = (one for one, number in own.items() if number == value)
            kind = "original" if path[-1] == ORIGINAL else "stated"
            yield kind, config.source, (*given, *own, name)[0], value


def _beside(files: Files) -> Iterator[Stated]:
    for file, names in BESIDE:
        try:
            given: Any = json.loads(files.read(file) or b"{}")
        except (RowError, ValueError, RecursionError):  # Whoever needs the file says so.
            continue
        for name in names if isinstance(given, dict) else ():
            yield "stated", file, name, given.get(name)
    with suppress(RowError):
        length = _truncation(files.read(TOKENIZER) or b"")
        yield "stated", TOKENIZER, "truncation.max_length", length


def _truncation(text: bytes) -> int | None:
    """The length at which the library tokenizers cuts a text; None without one."""
    is_plain = text.count(TRUNCATION) < 2 and not ESCAPED.search(text)
    if is_plain and (TRUNCATION not in text or NO_TRUNCATION.match(text)):
        return None  # Without reading ten thousands of words.
    try:
        given: Any = json.loads(text.decode("utf-8"))
        length: Any = given["truncation"]["max_length"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    is_whole = isinstance(length, int) and not isinstance(length, bool)
    return length if is_whole and 0 <= length < 2**64 else None


def _scaled(files: Files, encodings: Sequence[Encoding[Form]]) -> Iterator[Limit]:
    """Of rotations of text whose scaling multiplies a length, if all layers have it."""
    forms = [one.form for one in encodings if one.is_of_words and isinstance(one.form, Rotation)]
    if not all(form.is_rescaled for form in forms):
        return
    for form in forms:
        factor, original = form.scaling.get("factor"), form.scaling.get(ORIGINAL)
        if not form.is_length_known or not isinstance(factor, int | float) or factor <= 1.0:
            continue
        if form.rope_type not in FACTOR:
            continue
        if FACTOR[form.rope_type] != ORIGINAL_TIMES:  # In transformers, it reads the context.
            original = form.n_positions
        if isinstance(original, int) and factor * original < UNLIMITED:
            length = round(factor * original)
            text = TEXTS(
                "scaled", kind=form.rope_type, factor=factor, original=original, length=length
            )
            yield Limit(files.config.source, FACTOR[form.rope_type], length, text)


def _of_tables(encodings: Sequence[Encoding[Form]]) -> Iterator[Limit]:
    for one in encodings:
        form, tensor = one.form, one.provenance.tensor
        if one.is_of_words and tensor and isinstance(form, PositionTable):
            # Of an axial table, no tensor has a row for each position.
            is_whole = form.shape[0] <= max(one.provenance.shape, default=0)
            n_rows = form.shape[0] if is_whole and form.acts_in == "input" else None
            yield from _limit("rows", one.provenance.file, tensor, n_rows)


def _limit(kind: str, file: str, key: str, length: Any) -> Iterator[Limit]:
    if isinstance(length, bool) or not isinstance(length, int | float) or not length >= 1:
        return
    known = int(length) if length < UNLIMITED else None
    values = {"file": file, "key": key}
    text = TEXTS(kind, **values, length=known) if known else TEXTS("unlimited", **values)
    yield Limit(file, key, known, text)
