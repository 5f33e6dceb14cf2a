"""GGUF, the format of llama.cpp: settings, tokenizer and tensors in one file, or in several with
the settings in the first.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from generator.checkpoints.files.formats.gguf import architectures, models
from generator.checkpoints.files.formats.gguf.header import Header, Unread, read
from generator.checkpoints.files.formats.gguf.quantised import stored_tensor
from generator.checkpoints.files.formats.gguf.settings import config
from generator.checkpoints.model import keys
from generator.contracts import FileFormat, Json, StoredTensor, TensorInfo, WeightsFile
from generator.contracts.file_formats import file_label
from generator.errors import RowError
from generator.numerics.arrays import Floats

PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")
MOST_PARTS = 1_000
MOST_IN_SETTINGS = 2**16  # numbers of a tensor that belongs to the settings
TOKENIZER = "tokenizer.huggingface.json"


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The tensors of a file, or of all parts of a model, in their order.

    errors: RowError for an invalid header, a missing part, or a tensor that stands in two
    """
    tensors: dict[str, StoredTensor] = {}
    for name, header in _headers(file).items():
        label = file_label(file.where, name)
        for tensor, span in header.spans.items():
            if tensor in tensors:
                raise RowError(
                    f"{label}: {tensor!r:.80} is also in {tensors[tensor].header.file};"
                    " expected it in one part"
                )
            info = TensorInfo(name, span.type, span.shape)
            tensors[tensor] = stored_tensor(
                file.storage, info, span.start, span.stop, f"{file.where}: {tensor}"
            )
    return tensors


def files(file: WeightsFile) -> list[str]:
    """The file, or all parts of the model of which it is one; a number of parts that
    ``open_weights`` rejects has none but itself.
    """
    match = PART.search(file.name)
    if match is None or not 1 <= int(match[2]) <= MOST_PARTS:
        return [file.name]
    return [
        f"{file.name[: match.start()]}-{number:05d}-of-{match[2]}.gguf"
        for number in range(1, int(match[2]) + 1)
    ]


def texts(file: WeightsFile, changed: Json = MappingProxyType({})) -> Mapping[str, bytes]:
    """config.json from the settings of the file, of which these are ``changed``, and the
    tokenizer.json within it if there is one.
    """
    headers = _headers(file)
    settings = {
        key: value
        for header in reversed(list(headers.values()))
        for key, value in header.settings.items()
    }
    whole = Header(
        {**settings, **changed},
        {name: span for header in headers.values() for name, span in header.spans.items()},
    )

    def tensor(name: str) -> Floats:
        stored = open_weights(file)[name]
        if len(stored.header.shape) != 1 or not 0 < stored.header.shape[0] <= MOST_IN_SETTINGS:
            raise RowError(
                f"{file.where}: {name} has shape {stored.header.shape}; expected a number for each"
                " pair of a rotation"
            )
        return stored.decode(stored.part(0, stored.n_bytes), stored.header.shape)

    _check_heads(whole, file.where)
    tokenizer = whole.text(TOKENIZER)
    return {
        "config.json": json.dumps(_settings(whole, tensor), default=str).encode(),
        **({"tokenizer.json": tokenizer.encode()} if tokenizer else {}),
    }


def _check_heads(whole: Header, where: str) -> None:
    """errors: RowError where more components of a head are rotated than it has, or fewer in
    architectures that rotate all, which llama.cpp refuses, too (llama-model.cpp, ggml_rope)
    """
    architecture = whole.text("general.architecture")
    turned, size, width, heads = (
        whole.integer(f"{architecture}.{end}") or 0
        for end in ("rope.dimension_count", "attention.key_length", "embedding_length",
                    "attention.head_count")
    )  # fmt: skip
    size = size or (width // heads if heads > 0 else 0)
    is_whole = architecture in architectures.TURNED_WHOLE
    if turned > size > 0 or (is_whole and 0 < turned < size):
        raise RowError(
            f"{where}: {architecture}.rope.dimension_count is {turned:,}, and a head has {size:,}"
            f" components; expected {'' if is_whole else 'at most '}as many, as llama.cpp does"
        )


def _settings(whole: Header, tensor: Callable[[str], Floats]) -> Json:
    """The settings, with the keys of the file that they follow from, and those that none does."""
    stored = cache(tensor)

    def read_from(given: Json) -> Json:
        return config(Header({**whole.settings, **given}, whole.spans), stored)

    architecture = whole.text("general.architecture")
    own = {
        key: value
        for key, value in whole.settings.items()
        if key.startswith(f"{architecture}.") and not isinstance(value, Unread)
    }
    return keys.traced(own, read_from, "llama.cpp") or {}


def of_model(file: WeightsFile, tensors: Mapping[str, Floats], model: Any) -> Mapping[str, Floats]:
    """The tensors under the names, and in the order of rows, of a model of transformers.

    errors: RowError for an architecture whose order is not known
    """
    first = next(iter(_headers(file).values()))
    architecture = first.text("general.architecture")
    return models.of_model(architecture, tensors, model, file.where)


def tokenizer(file: WeightsFile) -> bytes | None:
    """The tokenizer.json that the settings amount to; None where there is no telling."""
    return models.tokenizer(str(file.storage.path(files(file)[0])))


# The settings and the tensors of a checkpoint are asked for one after the other.
@lru_cache(maxsize=4)
def _headers(file: WeightsFile) -> Mapping[str, Header]:
    """The header of every part by the name of its file.

    errors: RowError for a missing part, or one that says another number of parts
    """
    headers = {}
    names = files(file)
    for name in names:
        headers[name], label = read(file, name), file_label(file.where, name)
        count = headers[name].integer("split.count") or 1
        if count != len(names):
            raise RowError(
                f"{label}: a part of {count:,}; expected one of {len(names)}, as its name says"
            )
    return headers


FORMAT = FileFormat(
    key="gguf",
    after="torch_pickle",
    # mmproj-*.gguf, an encoder of images beside a model, comes last.
    names=("[!m]*.gguf", "m[!m]*.gguf", "mm[!p]*.gguf", "*.gguf"),
    suffixes=(".gguf",),
    begins=re.compile(rb"GGUF"),
    open=open_weights,
    files=files,
    texts=texts,
    with_settings=texts,
    of_model=of_model,
    tokenizer=tokenizer,
)
