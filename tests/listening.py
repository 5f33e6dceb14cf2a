"""What small models of transformers with random weights do inside while they run, and what the
atlas reads from them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Encoding, Files
from generator.encodings import Form, OffsetBias, RelativeTable
from generator.numerics.arrays import Floats
from tests.support import form_of, save_model

ATOL = 1e-6  # Theirs are computed in single precision, from values of about 1.
SPEECH = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16,
    "layerdrop": 0.0,
}  # fmt: skip
HEARING = {
    "conv_dim": (4, 4),
    "conv_kernel": (5, 3),
    "conv_stride": (5, 8),
    "num_feat_extract_layers": 2,
}
WAVES: dict[str, Any] = {
    **SPEECH, **HEARING, "num_conv_pos_embeddings": 6, "num_conv_pos_embedding_groups": 2,
    "conv_pos_kernel_size": 5,
}  # fmt: skip


def made(name: str, **options: Any) -> Any:
    """The model class ``name`` of transformers, ready to run, every weight drawn at random."""
    import torch
    import transformers

    torch.manual_seed(0)
    model_class = getattr(transformers, name)
    model = model_class(model_class.config_class(**options)).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return model


def ids(n_tokens: int, *names: str) -> dict[str, Any]:
    """The same tokens under every name."""
    import torch

    return {name: torch.arange(n_tokens)[None] % 30 + 5 for name in names or ("input_ids",)}


def as_numbers(value: Any) -> Floats:
    value = value[0] if isinstance(value, tuple) else value
    return np.asarray(value.detach().double().numpy())


def by_pair(encoding: Encoding[Form], n_positions: int) -> Floats:
    """The vector of each pair of positions, query by key: (n, n, width); farther offsets have that
    of the last.
    """
    form, position = form_of(encoding, RelativeTable), np.arange(n_positions)
    rows = position[None] - position[:, None] - int(form.offsets[0])
    return np.asarray(form.vectors[np.clip(rows, 0, form.offsets.size - 1)])


def returned(model: Any, *methods: str, **inputs: Any) -> list[Floats]:
    """What these methods of any of its modules return while the model runs, in the order in which
    they are called.
    """
    import torch

    heard: list[Floats] = []

    def listening(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            value = method(*args, **options)
            heard.append(as_numbers(value))
            return value

        return call

    for module in model.modules():
        for name in methods:
            if hasattr(module, name):
                setattr(module, name, listening(getattr(module, name)))
    with torch.no_grad():
        model(**inputs)
    return heard


def read(
    find: Callable[[Files], list[Encoding[Form]]], model: Any, folder: Path
) -> dict[str, Encoding[Form]]:
    """The encodings of the saved model, by part."""
    encodings = find(FolderFiles(save_model(model, folder), "tiny"))
    assert len({encoding.record.key for encoding in encodings}) == len(encodings)
    return {encoding.part: encoding for encoding in encodings}


def same(encoding: Encoding[Form], theirs: Floats) -> None:
    """The bias for each pair of the first positions, (n_heads, n, n), wherever a query can look."""
    ours = form_of(encoding, OffsetBias).kernel(theirs.shape[-1])
    seen = ~np.isnan(ours)
    assert seen.any()
    np.testing.assert_allclose(
        ours[seen], theirs[:, : ours.shape[1], : ours.shape[2]][seen], rtol=0, atol=ATOL
    )
