"""Tiny checkpoints with exact contents: one per form, and some without an encoding or that cannot
be opened.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from generator.numerics.arrays import Floats

Contents = Mapping[str, bytes]


def _weights(**arrays: Floats) -> bytes:
    return bytes(
        save(
            {
                name.replace("__", "."): np.ascontiguousarray(array, dtype=np.float32)
                for name, array in arrays.items()
            }
        )
    )


def _config(**values: object) -> bytes:
    return json.dumps(values).encode()


def binary(n_positions: int, n_bits: int) -> Floats:
    """Positions in binary, ±1/4 per bit: (n_positions, n_bits).

    Norms are powers of two, so that cosines are exact.
    """
    return np.where((np.arange(n_positions)[:, None] >> np.arange(n_bits)) & 1, 0.25, -0.25)


def _powers(n_rows: int, n_columns: int) -> Floats:
    """Powers of two, from 1 to 1/16: (n_rows, n_columns)."""
    return np.asarray(2.0 ** -(np.arange(n_rows * n_columns).reshape(n_rows, n_columns) % 5))


WORDS = ("[CLS]", "[SEP]", "one", "two", "three")
BIAS = "block__0__layer__0__SelfAttention__relative_attention_bias__weight"

# A table of 16 positions by 4 dimensions, and words of the same width.
TABLE: Contents = {
    "config.json": _config(model_type="gpt2", n_positions=16, n_embd=4, n_layer=1, n_head=2),
    "model.safetensors": _weights(wpe__weight=binary(16, 4), wte__weight=binary(5, 4) * 4.0),
    "vocab.txt": "\n".join(WORDS).encode(),
}
# The same with digits of different weight, so that no two of its principal components are equal,
# which processors would turn differently.
GRADED: Contents = {
    **TABLE,
    "model.safetensors": _weights(
        wpe__weight=binary(16, 4) * np.array([1.0, 0.5, 0.25, 0.125]),
        wte__weight=binary(5, 4) * 4.0,
    ),
}
# TABLE without a vocabulary, so that no sentence is tokenized and no layer of transformers runs.
WORDLESS: Contents = {name: content for name, content in TABLE.items() if name != "vocab.txt"}
# A bias of 8 buckets by 2 heads in the encoder, and another in the decoder.
BUCKETS: Contents = {
    "config.json": _config(model_type="t5", d_model=4, num_heads=2, num_layers=1,
        relative_attention_num_buckets=8, relative_attention_max_distance=16),
    "model.safetensors": _weights(**{f"encoder__{BIAS}": _powers(8, 2),
        f"decoder__{BIAS}": -_powers(8, 2), "shared__weight": binary(8, 4)}),
}  # fmt: skip
# A rotation of 4 pairs, each 8 times slower than the one before.
ROTATION: Contents = {
    "config.json": _config(model_type="llama", hidden_size=16, num_attention_heads=2,
        num_hidden_layers=1, max_position_embeddings=128, rope_theta=4096.0),
}  # fmt: skip
NOTHING: Contents = {"config.json": _config(model_type="convnet", hidden_size=4)}
BROKEN: Contents = {"config.json": b"no JSON"}
PICKLED: Contents = {
    "config.json": _config(model_type="gpt2", n_positions=16, n_embd=4),
    "pytorch_model.bin": b"not opened",
}


def write_folder(folder: Path, contents: Contents) -> Path:
    """``folder`` with these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def write_list(folder: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """checkpoints.yml in ``folder`` with these rows, as JSON, which is valid YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "checkpoints.yml"
    path.write_text(
        json.dumps({"checkpoints": rows}, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    return path
