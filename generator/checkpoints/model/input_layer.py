"""The input of the first layer for a sentence: tokens, and the rows of the tables that are added
up.
"""

import math
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from itertools import takewhile
from typing import Any

from generator.checkpoints.model.families import WORDS_SCALED
from generator.checkpoints.model.families_by_name import family_of
from generator.checkpoints.model.transformers_layer import embedding_modules, own_layer
from generator.contracts import (
    Checkpoint,
    Encoding,
    Files,
    InputLayer,
    LayerNorm,
    Sentence,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import Form, PositionTable
from generator.errors import NotApplicableError, RowError
from generator.numerics.arrays import Floats, frozen

NOTES = Wording("wording/notes.jinja")
# The last names are those of Whisper as first published, and of llama.cpp.
WORD_TENSORS = (
    "word_embeddings.weight", "wte.weight", "shared.weight", "embed_tokens.weight",
    "tokens_embed.weight", "decoder.token_embedding.weight",
    "token_embd.weight",
)  # fmt: skip
TYPE_TENSORS = ("embeddings.token_type_embeddings.weight", "token_types.weight")
# LayerNorm between the sum and the first layer: the module, and the key and the default of its ε.
NORMS = (
    ("embeddings.LayerNorm", "layer_norm_eps", 1e-12),
    ("layernorm_embedding", "layer_norm_eps", 1e-5),
    ("word_embeddings_layernorm", "layer_norm_epsilon", 1e-5),
    ("token_embd_norm", "layer_norm_eps", 1e-12),
)
MAPPED = ("embedding_hidden_mapping_in.weight", "project_in.weight", "embeddings_project.weight")
MOST_TOKENS = 24
NO_WORD_VECTORS = (
    "it needs the whole word matrix, which is large and is read only if the checkpoint's entry"
    " has “words: true”"
)
AROUND = ("[CLS]", "[SEP]")
SPECIAL = ("pad_token_id", "bos_token_id", "eos_token_id", "unk_token_id", "mask_token_id",
           "sep_token_id", "cls_token_id", "decoder_start_token_id")  # fmt: skip
EVERYDAY = (  # For a lesson in which readers type sentences.
    "the a an this that my your his her our their one two three some every no not very never always"
    " often now then here there dog cat man woman boy girl child king queen bird horse fish house"
    " tree river road city school book letter song story word name day night morning year time"
    " water fire stone gold door window table hand eye heart head friend teacher doctor soldier is"
    " was are were has had can will saw sees chased loves loved gave gives found made took eats ate"
    " runs ran sings reads wrote said big small old new young red blue green black white good bad"
    " happy sad first last long short high and or but because before after in on at to from of with"
    " without under over near"
)


@dataclass(frozen=True)
class Tokens:
    """Tokens of one sentence. reserved: whether a token is a special one, of the tokenizer or,
    where the entry gives ids, of the config.
    """

    strings: tuple[str, ...]
    ids: tuple[int, ...]
    reserved: tuple[bool, ...]


def subjects(
    files: Files, checkpoint: Checkpoint, encodings: Sequence[Encoding[Form]]
) -> list[Subject[Form]]:
    """A subject for each encoding; the first whose positions are those of words has the input, the
    others a reason why not.

    errors: RowError for an invalid tokenizer.json, or a row that a tensor does not have
    """
    first = next((encoding for encoding in encodings if encoding.modality == "text"), None)
    plain = [
        replace(_subject(files, checkpoint, encoding, first), family=family_of(files.resolved))
        for encoding in encodings
    ]
    if not any(_beside_words(encoding) for encoding in encodings):
        return plain
    vectors, why_none = _word_vectors(files, checkpoint)
    return [
        (
            replace(subject, word_vectors=vectors, no_word_vectors=why_none)
            if _beside_words(subject.encoding)
            else subject
        )
        for subject in plain
    ]


def _beside_words(encoding: Encoding[Form]) -> bool:
    """Whether the vectors of an encoding are added to those of words."""
    return isinstance(encoding.form, PositionTable) and encoding.modality in ("text", "page")


def word_tensor(files: Files) -> str | None:
    """Name of the tensor of all words; None without one."""
    return _ending(files, WORD_TENSORS)


def _word_vectors(files: Files, checkpoint: Checkpoint) -> tuple[Floats | None, str]:
    """The whole word matrix (vocab_size, d_model), or the reason why there is none."""
    if not checkpoint.words:
        return None, NO_WORD_VECTORS
    name = word_tensor(files)
    if name is None:
        return None, _no_word_table(files)
    return files.tensor(name), ""


def _no_word_table(files: Files) -> str:
    return (
        "there is no word table among the tensors" if files.tensors else "there are no weights here"
    )


def _subject(
    files: Files, checkpoint: Checkpoint, encoding: Encoding[Form], first: Encoding[Form] | None
) -> Subject[Form]:
    if first is None or encoding.modality != "text":
        return Subject(encoding, no_input="its positions are not word positions")
    if encoding is not first:
        return Subject(encoding, no_input=f"the sentence is shown under “{first.part}”")
    try:
        layer = read(files, checkpoint, encoding.provenance.tensor or "")
        if isinstance(encoding.form, PositionTable) and encoding.provenance.tensor is not None:
            _check_width(
                files, encoding.provenance.tensor, encoding.form.shape[1:], layer.word_tensor
            )
        return Subject(encoding, layer)
    except NotApplicableError as error:
        return Subject(encoding, no_input=str(error))


def read(files: Files, checkpoint: Checkpoint, beside: str = "") -> InputLayer:
    """The input for the sentence of a checkpoint and for its words in reverse order.

    beside: a tensor of the same side, of a model that has two
    errors: NotApplicableError without weights, word table or tokenizer; RowError for an invalid
        tokenizer.json
    """
    name = _ending(files, WORD_TENSORS, beside)
    if name is None:
        raise NotApplicableError(_no_word_table(files))
    forward, backward, notes = _sentences(files, checkpoint)
    sentence = _rows(files, name, forward)
    _check_added(files, name, beside)
    if _ending(files, MAPPED):
        notes += (NOTES("mapped"),)
    types, family = _ending(files, TYPE_TENSORS), files.config.family
    is_scaled = files.config.flag("scale_embedding") is True or family.startswith(WORDS_SCALED)
    return InputLayer(
        sentence=sentence,
        reversed=_rows(files, name, backward),
        word_tensor=name,
        token_type=None if types is None else frozen(files.rows(types, [0])[0]),
        norm=_norm(files, beside),
        word_scale=math.sqrt(files.tensors[name].shape[1]) if is_scaled else 1.0,
        own=own_layer(files, name, forward.ids),
        modules=embedding_modules(files, name),
        notes=notes,
        lexicon=(
            _lexicon(files) if checkpoint.words and isinstance(checkpoint.sentence, str) else ()
        ),
    )


def _sentences(files: Files, checkpoint: Checkpoint) -> tuple[Tokens, Tokens, tuple[str, ...]]:
    sentence = checkpoint.sentence
    if not isinstance(sentence, str):
        config = files.resolved.config
        special = [one for key in SPECIAL for one in (config.integer(key), *config.listed(key))]
        forward, backward = (_numbered(ids, special) for ids in (sentence, sentence[::-1]))
        return forward, backward, (NOTES("token_ids"),)
    words = sentence.split()
    if (text := files.read("tokenizer.json")) is not None:
        return _tokenize(text, words, files), _tokenize(text, words[::-1], files), ()
    if (text := files.read("vocab.txt")) is not None:
        return _look_up(text, words), _look_up(text, words[::-1]), (NOTES("split_at_spaces"),)
    raise NotApplicableError(
        "there is neither a tokenizer.json nor a vocab.txt, and the entry gives no token ids"
    )


def _numbered(ids: Sequence[int], special: Container[int | None]) -> Tokens:
    reserved = tuple(index in special for index in ids)
    return Tokens(tuple(f"id {index}" for index in ids), tuple(ids), reserved)


def _tokenize(text: bytes, words: Sequence[str], files: Files) -> Tokens:
    (encoded,) = _encoded(text, [" ".join(words)], files, reserved=True)
    n_ids, n_tokens = len(encoded.ids), len(encoded.tokens)
    if n_ids != n_tokens:
        raise RowError(
            f"{files.where}/tokenizer.json: makes {n_ids} ids and {n_tokens} tokens of a sentence;"
            " expected as many ids as tokens"
        )
    shown = slice(0, MOST_TOKENS)
    reserved = tuple(bool(mask) for mask in encoded.special_tokens_mask[shown])
    return Tokens(tuple(encoded.tokens[shown]), tuple(encoded.ids[shown]), reserved)


def _encoded(
    tokenizer_json: bytes, texts: Sequence[str], files: Files, reserved: bool
) -> list[Any]:
    """Encodings of ``texts``, perhaps with reserved tokens around them.

    errors: RowError for an invalid tokenizer.json
    """
    with tokenizer_of(tokenizer_json, files.where) as tokenizer:
        return [tokenizer.encode(text, add_special_tokens=reserved) for text in texts]


@contextmanager
def tokenizer_of(tokenizer_json: bytes, where: str) -> Iterator[Any]:
    """The tokenizer of a tokenizer.json, without padding and without an end.

    errors: RowError, also from within the block, for one that the library cannot use
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_buffer(tokenizer_json)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        yield tokenizer
    except (KeyboardInterrupt, SystemExit, MemoryError, NotApplicableError):
        raise
    except BaseException as error:  # noqa: BLE001  # A panic in Rust is not an Exception.
        raise RowError(
            f"{where}/tokenizer.json: {error!s:.200}; expected a file of the tokenizers library"
        ) from None


def _lexicon(files: Files) -> tuple[tuple[str, int], ...]:
    """The EVERYDAY words that a tokenizer makes one token of, within a sentence.

    errors: RowError for an invalid tokenizer.json
    """
    text = files.read("tokenizer.json")
    if text is None:
        return ()
    words = EVERYDAY.split()
    encoded = _encoded(text, [f" {word}" for word in words], files, reserved=False)
    known = [
        (word, found.ids[0])
        for word, found in zip(words, encoded, strict=True)
        if len(found.ids) == 1
    ]
    counts = Counter(index for _, index in known)
    # Unknown words share one token.
    return tuple((word, index) for word, index in known if counts[index] == 1)


def _look_up(text: bytes, words: Sequence[str]) -> Tokens:
    lines = StringIO(
        text.decode("utf-8", errors="replace"), newline=None
    )  # Splits at line ends only; str.splitlines does at ten more characters.
    vocabulary = {line.removesuffix("\n"): index for index, line in enumerate(lines)}
    pieces = [word if word in vocabulary else "[UNK]" for word in words[: MOST_TOKENS - 2]]
    tokens = [token for token in (AROUND[0], *pieces, AROUND[1]) if token in vocabulary]
    return Tokens(
        tuple(tokens),
        tuple(vocabulary[token] for token in tokens),
        tuple(token in AROUND for token in tokens),
    )


def _rows(files: Files, name: str, tokens: Tokens) -> Sentence:
    if not tokens.ids:
        raise NotApplicableError("the sentence has no tokens")
    return Sentence(
        tokens.strings, tokens.ids, tokens.reserved, frozen(files.rows(name, tokens.ids))
    )


def _check_added(files: Files, words: str, beside: str) -> None:
    """Check that what is added to the rows of the tensor ``words``, and the LayerNorm after that,
    has their width.

    errors: NotApplicableError
    """
    weight, bias, *_ = next(_norms(files, beside), ("", ""))
    for name in filter(None, (_ending(files, TYPE_TENSORS), weight, bias)):
        _check_width(files, name, files.tensors[name].shape[-1:], words)


def _check_width(files: Files, name: str, width: tuple[int, ...], words: str) -> None:
    shape = files.tensors[words].shape
    if width != shape[1:]:
        raise NotApplicableError(
            f"{name} of shape {files.tensors[name].shape} does not fit {words} of shape {shape};"
            " expected equal widths"
        )


def _norm(files: Files, beside: str) -> LayerNorm | None:
    found = next(_norms(files, beside), None)
    if found is None:
        return None
    weight, bias, key, default = found
    return LayerNorm(
        frozen(files.tensor(weight)),
        frozen(files.tensor(bias)),
        files.config.positive(key, default),
    )


def _norms(files: Files, beside: str) -> Iterator[tuple[str, str, str, float]]:
    """Weight and bias of each LayerNorm before the first layer, with the key and the default of its
    ε; the first one acts.
    """
    for stem, key, default in NORMS:
        weight, bias = (
            _ending(files, (f"{stem}.weight", f"{stem}.gamma"), beside),
            _ending(files, (f"{stem}.bias", f"{stem}.beta"), beside),
        )
        if weight is not None and bias is not None:
            yield weight, bias, key, default


def _ending(files: Files, ends: Sequence[str], beside: str = "") -> str | None:
    """The tensor whose name ends with the first of ``ends`` that any has; of several, the one whose
    name begins most like ``beside``.
    """
    for end in ends:
        found = [name for name in files.tensors if name == end or name.endswith(f".{end}")]
        if found:
            return max(found, key=partial(_n_alike, beside))
    return None


def _n_alike(one: str, other: str) -> int:
    """Leading words that two names of tensors share."""
    pairs = zip(one.split("."), other.split("."), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
