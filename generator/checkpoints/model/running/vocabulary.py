"""What a model reads: random words of its own vocabulary, and pieces of a text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.input_layer import SPECIAL, tokenizer_of
from generator.contracts import Checkpoint
from generator.errors import NotApplicableError
from generator.numerics.arrays import Array

# A whole word in the spelling of each kind of tokenizer; that of WordPiece has no mark.
MARKED = re.compile(r"[Ġ▁][a-z]{3,}")
PLAIN = re.compile(r"[a-z]{3,}")
RESERVED = re.compile(r"^(\[(PAD|UNK|CLS|SEP|MASK|unused\d*)\]|<[^>]*>)$")
FEWEST_WORDS = 20
FEWEST_INNER = 2  # Words of a sequence.
MOST_UNKNOWN = 0.01  # Share of a text's tokens.
MOST_PIECES = 1.8  # Tokens of a word of the text, beyond which the model has another language.


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The tokens of a model.

    ids: (n_words,), int, ids from which random words are drawn; before, after: ids of the tokens
        that begin and end every text
    mask: id of the token for a masked one, None without one; tokenizer: None without one
    of_model: the id in the whole model of each id, where only a few are loaded; None where all are
    """

    ids: Array
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    mask: int | None = None
    unknown: int | None = None
    tokenizer: Any = None
    of_model: Array | None = None

    @property
    def originals(self) -> Array:
        """The id in the whole model of each id here."""
        most = max([*self.ids, *self.before, *self.after], default=0)
        return np.arange(most + 1) if self.of_model is None else self.of_model

    def framed(self, inner: Array) -> Array:
        """Sequences (n, length) of ids with the tokens before and after each."""
        ends = [
            np.tile(np.array(ids, dtype=np.int64), (len(inner), 1))
            for ids in (self.before, self.after)
        ]
        return np.hstack([ends[0], inner, ends[1]])

    @property
    def n_reserved(self) -> int:
        """Tokens before and after each text."""
        return len(self.before) + len(self.after)

    def random(self, n: int, length: int, seed: int) -> Array:
        """Sequences of random words, independent of each other: (n, length), int.

        errors: NotApplicableError where ``length`` leaves no room for two
        """
        draws = np.random.default_rng(seed)
        return self.framed(draws.choice(self.ids, (n, self._inner(length))))

    def pieces(self, text: str, n: int, length: int, seed: int) -> Array:
        """Pieces of a text from random places, which do not overlap: (n, length), int.

        errors: NotApplicableError without a tokenizer, for a text in another language, or too
            short
        """
        ids = self._ids(text)
        inner = self._inner(length)
        most = len(ids) // inner
        if most < n:
            raise NotApplicableError(
                f"the text has {len(ids):,} tokens, enough for {most:,} pieces of {inner}, but"
                f" {n:,} are needed"
            )
        starts = np.random.default_rng(seed).permutation(most)[:n] * inner
        return self.framed(np.stack([ids[start : start + inner] for start in starts]))

    def _inner(self, length: int) -> int:
        """Words of a sequence of so many tokens."""
        if length - self.n_reserved < FEWEST_INNER:
            raise NotApplicableError(
                f"a sequence of {length:,} tokens includes {self.n_reserved:,} special ones, which"
                f" leaves fewer than the {FEWEST_INNER} words needed"
            )
        return length - self.n_reserved

    def _ids(self, text: str) -> Array:
        if self.tokenizer is None:
            raise NotApplicableError("there is no tokenizer, so no text can be read")
        ids = _encoded(self.tokenizer, text)
        unknown = np.count_nonzero(ids == self.unknown) if self.unknown is not None else 0
        if unknown > MOST_UNKNOWN * len(ids) or len(ids) > MOST_PIECES * len(text.split()):
            raise NotApplicableError("the text is in a language other than the model's")
        return ids


def _encoded(tokenizer: Any, text: str) -> Array:
    """errors: NotApplicableError where the library gives up"""
    try:
        found = tokenizer.encode(text, add_special_tokens=False).ids
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001  # A panic in Rust is not an Exception.
        raise NotApplicableError(f"its tokenizer cannot read the text ({error!s:.120})") from None
    return np.array(found, dtype=np.int64)


def vocabulary(files: FolderFiles, checkpoint: Checkpoint, size: int) -> Vocabulary:
    """The tokens of a checkpoint.

    size: rows of its word matrix
    errors: RowError for an invalid tokenizer.json, NotApplicableError with too few words
    """
    text = files.tokenizer()
    if text is not None:
        with tokenizer_of(text, files.where) as tokenizer:
            return _of_tokenizer(tokenizer, files, size)
    if (lines := files.read("vocab.txt")) is not None:
        return _of_lines(lines.decode(errors="replace").splitlines(), size)
    return _of_numbers(files, checkpoint, size)


def _of_tokenizer(tokenizer: Any, files: FolderFiles, size: int) -> Vocabulary:
    ids = {token: index for token, index in tokenizer.get_vocab().items() if index < size}
    marked = sorted(index for token, index in ids.items() if MARKED.fullmatch(token))
    plain = sorted(index for token, index in ids.items() if PLAIN.fullmatch(token))
    before, after = _around(tokenizer)
    if not before and not after:
        first = files.resolved.config.integer("bos_token_id")
        before = (first,) if first is not None and 0 <= first < size else ()
    return Vocabulary(
        _enough(marked or plain),
        before,
        after,
        next((ids[name] for name in ("[MASK]", "<mask>") if name in ids), None),
        next((ids[name] for name in ("[UNK]", "<unk>") if name in ids), None),
        tokenizer,
    )


def _around(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What a tokenizer puts before and after a text."""
    encoded = tokenizer.encode("a")
    own = [place for place, special in enumerate(encoded.special_tokens_mask) if not special] or [0]
    return tuple(encoded.ids[: own[0]]), tuple(encoded.ids[own[-1] + 1 :])


def _of_lines(tokens: Sequence[str], size: int) -> Vocabulary:
    """Of a vocab.txt alone, whose tokenizer is not known."""
    ids = {token: index for index, token in enumerate(tokens) if index < size}
    words = [index for token, index in ids.items() if token and not RESERVED.match(token)]
    return Vocabulary(
        _enough(words),
        tuple(ids[name] for name in ("[CLS]",) if name in ids),
        tuple(ids[name] for name in ("[SEP]",) if name in ids),
        ids.get("[MASK]"),
    )


def _of_numbers(files: FolderFiles, checkpoint: Checkpoint, size: int) -> Vocabulary:
    """Without any file of tokens: all ids but the special ones of the config. A sentence of ids in
    the row shows what begins and ends a text.
    """
    config = files.resolved.config
    named = {
        name: number
        for name in SPECIAL
        if (number := config.integer(name)) is not None and 0 <= number < size
    }
    special = set(named.values())
    sentence = checkpoint.sentence if not isinstance(checkpoint.sentence, str) else ()
    before = sentence[:1] if sentence and sentence[0] in special else ()
    after = sentence[-1:] if sentence and sentence[-1] in special else ()
    if not sentence:
        first = named.get("decoder_start_token_id", named.get("bos_token_id"))
        before = () if first is None else (first,)
    # Behind the start of a transcript stand marks of languages and times alone (Whisper).
    start = named.get("decoder_start_token_id", 0)
    end = start if start > size / 2 else size
    words = [index for index in range(end) if index not in special]
    return Vocabulary(_enough(words), tuple(before), tuple(after))


def _enough(words: Sequence[int]) -> Array:
    if len(words) < FEWEST_WORDS:
        raise NotApplicableError(
            f"its vocabulary has {len(words)} whole words, but at least {FEWEST_WORDS} are needed"
        )
    return np.array(words, dtype=np.int64)
