"""Checkpoints of the size of published ones, in the layout of the Hub, with random weights."""

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

SENTENCE = "The cat sat on the mat because it was tired ."
CONFIGS: Mapping[str, dict[str, Any]] = {
    "google-bert/bert-base-uncased": {
        "model_type": "bert", "architectures": ["BertForPreTraining"],
    },
    "openai-community/gpt2": {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]},
    "google-t5/t5-small": {
        "model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 512,
        "d_ff": 2048, "num_layers": 6, "num_heads": 8,
    },
}  # fmt: skip
TOKENIZER_BYTES = {"bert": 466_062, "gpt2": 1_355_256, "t5": 1_389_353}  # as published
GPT2_MASK = (1, 1, 1024, 1024)  # Its file also has a mask per layer.


def write(folder: Path) -> dict[str, Path]:
    """Write every checkpoint into ``folder``; their paths by Hub id."""
    return {name: _write(folder / name, config) for name, config in CONFIGS.items()}


def _write(folder: Path, config: dict[str, Any]) -> Path:
    from transformers import CONFIG_MAPPING

    folder.mkdir(parents=True)
    complete = {**CONFIG_MAPPING[config["model_type"]](**config).to_dict(), **config}
    (folder / "config.json").write_text(json.dumps(complete), encoding="utf-8")
    (folder / "tokenizer.json").write_text(
        _tokenizer(TOKENIZER_BYTES[config["model_type"]], complete["vocab_size"]), encoding="utf-8"
    )
    _write_weights(folder / "model.safetensors", dict(sorted(_shapes(config))))
    return folder


def _shapes(config: dict[str, Any]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Tensors with the names of the published file: BERT with gamma and beta, GPT-2 without a
    prefix and with its masks.
    """
    import torch
    import transformers

    with torch.device("meta"):
        model = getattr(transformers, config["architectures"][0])(
            transformers.CONFIG_MAPPING[config["model_type"]](**config)
        )
    for name, tensor in model.state_dict().items():
        if name.startswith(("lm_head", "cls.predictions.decoder")) or name.endswith(
            "embed_tokens.weight"
        ):
            continue  # Tied to the word table.
        published = (
            name.removeprefix("transformer.")
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta")
        )
        yield published, tuple(tensor.shape)
    if config["model_type"] == "gpt2":
        yield from ((f"h.{layer}.attn.bias", GPT2_MASK) for layer in range(12))


def _write_weights(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> None:
    entries, start = {}, 0
    for name, shape in shapes.items():
        stop = start + 4 * int(np.prod(shape))
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, stop]}
        start = stop
    header = json.dumps({"__metadata__": {"format": "pt"}, **entries}).encode()
    random = np.random.default_rng(0)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for shape in shapes.values():
            file.write(
                (random.standard_normal(int(np.prod(shape)), dtype=np.float32) * 0.02).tobytes()
            )


def _tokenizer(n_bytes: int, n_words: int) -> str:
    """A tokenizer of whole words, of the size of the published one."""
    words = ["[UNK]", *dict.fromkeys(SENTENCE.split())]
    letters = np.array(list(ascii_lowercase))[
        np.random.default_rng(0).integers(0, 26, (n_words, max(1, n_bytes // n_words - 20)))
    ]
    # Random: repetition would compress too well.
    fillers = ("".join(row) + str(index) for index, row in enumerate(letters[len(words) :]))
    vocabulary = {word: index for index, word in enumerate([*words, *fillers])}
    # A word, not a password.
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = Whitespace()
    text = tokenizer.to_str()
    return text + " " * max(0, n_bytes - len(text.encode()))
